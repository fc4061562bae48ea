package activities

import (
	"context"
	"fmt"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// Names of the steps of a redeploy, part of the compatibility promise.
const (
	NameStopJob        = "StopJob"
	NameAwaitStop      = "AwaitStop"
	NameCheckSavepoint = "CheckSavepoint"
	NameSubmitJob      = "SubmitJob"
	NameMakeWay        = "MakeWay"
	NameTidy           = "Tidy"
)

// RedeployPlan is how one attempt stops a job and starts it again. It is
// recorded before anything is done, so that every repeat does the same.
type RedeployPlan struct {
	Stop     core.StopRequest       `json:"stop"`
	Vertices []core.SubmittedVertex `json:"vertices"`
	// Extras are the platform's, for the submission.
	Extras map[string]string `json:"extras,omitempty"`
	// ByHand is how a person starts the job where nothing else can be tried.
	ByHand core.ByHand `json:"byHand,omitzero"`
}

// Back gives the vertices at the sizes before.
func (p RedeployPlan) Back() []core.SubmittedVertex {
	out := make([]core.SubmittedVertex, 0, len(p.Vertices))
	for _, v := range p.Vertices {
		v.Parallelism = v.Was
		out = append(out, v)
	}
	return out
}

// redeployer gives what changes a job of the cluster by a redeploy; false where
// the worker's file does not say how.
func (a *Activities) redeployer(cluster string) (Redeployer, Savepoints, bool) {
	c := a.s.Clusters[cluster]
	return c.Redeployer, c.Savepoints, c.Redeployer != nil
}

// mustRedeploy is redeployer for a step of a redeploy that has begun. A worker
// that is not configured for it must not end the saga: another one may be.
func (a *Activities) mustRedeploy(cluster string) (Redeployer, Savepoints, error) {
	if _, err := a.platform(cluster); err != nil {
		return nil, nil, err
	}
	r, s, ok := a.redeployer(cluster)
	if !ok {
		return nil, nil, &core.OpError{
			Op: "redeploy", Subject: cluster, Err: fmt.Errorf("%w by this worker", core.ErrUnreachable),
			Hint: "its file does not say any more how jobs of the cluster are submitted",
		}
	}
	return r, s, nil
}

// preflightRedeploy is the rest of the check of a job that is fit, but whose
// scheduler cannot change it in place.
func (a *Activities) preflightRedeploy(ctx context.Context, platform Platform, job core.JobRef, status core.JobStatus, in RescaleInput) (Preflight, error) {
	deployer, savepoints, configured := a.redeployer(in.Key.Cluster)
	switch {
	case !in.Redeploy:
		return no(core.ReasonNotAdaptive, "the job's scheduler is not adaptive; job.autoscaler.redeploy.enabled: true allows to stop it with a savepoint and to start it again"), nil
	case !configured:
		return no(core.ReasonNotAdaptive, "the job's scheduler is not adaptive, and %s of the cluster %s in the worker's file, which says how jobs are submitted, is missing", section(in.Target), in.Key.Cluster), nil
	}
	if r, note := breaksForward(status.Topology, in.Wanted); r != "" {
		return no(r, "%s", note), nil
	}
	health, err := platform.Inspect(ctx, job)
	if err != nil {
		return Preflight{}, err
	}
	if !health.Checkpointing {
		return no(core.ReasonNoCheckpoints, "the job takes no checkpoints: nothing proves that a savepoint of it can be written"), nil
	}
	r, note := a.mayRestart(ctx, platform, job, status, health, in)
	if r != "" {
		return no(r, "%s", note), nil
	}
	checkpoint, r, storage, err := a.storageAnswers(ctx, in.Key.Cluster, platform, job, health)
	if err != nil || r != "" {
		return no(r, "%s", storage), err
	}
	slots, err := platform.Slots(ctx, job)
	if err != nil {
		return Preflight{}, err
	}
	if r, short := slotsForAll(slots, status.Topology, in.Wanted); r != "" {
		return no(r, "%s", short), nil
	}
	r, room, longer := a.s.Clusters[in.Key.Cluster].roomFor(ctx, restarted(job), exactly(in.Wanted), in)
	if r != "" {
		return no(r, "%s", room), nil
	}
	plan := a.plan(status.Topology, in)
	prepared, err := deployer.Prepare(ctx, job, plan.Vertices)
	if err != nil {
		return Preflight{}, err
	}
	if _, err := savepoints.List(ctx, prepared.Savepoints); err != nil {
		return no(core.ReasonStorage, "the directory for savepoints cannot be read: %s", err.Error()), nil
	}
	r, space := a.roomForSavepoint(ctx, in.Key.Cluster, prepared.Savepoints, health)
	if r != "" {
		return no(r, "%s", space), nil
	}
	plan.Extras, plan.ByHand = prepared.Extras, prepared.ByHand
	plan.Stop.Directory = redeploy.Directory(prepared.Savepoints, in.Key, in.DecisionID, plan.Stop.Trigger)
	out := Preflight{Note: also(also(also(note, storage), room), space), Checkpoint: checkpoint, Before: status.Topology.Sizes(), RunningSince: status.RunningSince, At: status.Now, Redeploy: &plan}
	out.VerifyFor, out.VerifyWhy = redeployFor(in)
	return out.withMore(longer), nil
}

// restarted is the job as one whose change starts it anew.
func restarted(job core.JobRef) core.JobRef {
	means := core.Means{}
	if job.Means != nil {
		means = *job.Means
	}
	means.Restarts = true
	job.Means = &means
	return job
}

// exactly are requirements of a scheduler that runs a job at its whole size or not at
// all.
func exactly(sizes []core.VertexSize) core.Requirements {
	out := make(core.Requirements, 0, len(sizes))
	for _, v := range sizes {
		out = append(out, core.Bounds{ID: v.ID, Lower: v.Parallelism, Upper: v.Parallelism})
	}
	return out
}

func (a *Activities) plan(t core.Topology, in RescaleInput) RedeployPlan {
	plan := RedeployPlan{Stop: core.StopRequest{Trigger: redeploy.Trigger(in.Key, in.DecisionID, in.Attempt)}}
	for _, v := range t.Vertices {
		p, _ := core.FindSize(in.Wanted, v.ID)
		plan.Vertices = append(plan.Vertices, core.SubmittedVertex{ID: v.ID, Name: v.Name, Parallelism: p, Was: v.Parallelism})
	}
	return plan
}

// section is where the worker's file says how jobs of a target are submitted.
func section(t core.Target) string {
	if t.Yarn != nil {
		return "yarn.redeploy"
	}
	return "flink.redeploy"
}

// slotsForAll forbids a redeploy whose job would not find all its slots: the
// default scheduler runs it at its whole size or not at all.
func slotsForAll(s core.Slots, t core.Topology, wanted []core.VertexSize) (core.Reason, string) {
	held, need := t.Slots(t.Sizes()), t.Slots(wanted)
	if s.Elastic || need <= s.Free+held {
		return "", ""
	}
	return core.ReasonNoSlots, fmt.Sprintf("the wanted size needs %d slots, the job has %d and %d of %d are free", need, held, s.Free, s.Total)
}

// startingFor covers a program that takes its time to submit its job, and
// Flink's handing out of slots.
const startingFor = 2 * time.Minute

// redeployFor is how long a submitted job may take until all tasks run.
func redeployFor(in RescaleInput) (time.Duration, string) {
	if in.VerifyTimeout > 0 {
		return in.VerifyTimeout, "as the policy says"
	}
	restart, measured := time.Duration(0), "measured"
	for _, r := range in.Restarts {
		restart = max(restart, r.Took)
	}
	if len(in.Restarts) == 0 {
		restart, measured = unknownRestart, "not measured yet"
	}
	return restartsFor*restart + startingFor + margin,
		fmt.Sprintf("twice a restart of %s (%s), %s for the program and its slots, and %s", round(restart), measured, startingFor, margin)
}
