package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/collect"
)

// Preflight says whether the decided change may be written now, and what
// exactly to write. A doubt is an answer with a reason, not an error: nothing
// was attempted. Only what may pass in a moment (no leader, no answer) is an
// error, so that Temporal tries again.
func (a *Activities) Preflight(ctx context.Context, in RescaleInput) (Preflight, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	platform, err := a.platform(in.Key.Cluster)
	if err != nil {
		return Preflight{}, toTemporal(err)
	}
	job, err := platform.Locate(ctx, in.Target)
	job.Key = in.Key
	if err != nil {
		return refuseOrRetry(err)
	}
	if job.ID != in.JobID {
		return no(core.ReasonJobRestarted, "the job has a new id %s since the decision", job.ID), nil
	}
	if in.Cause == core.ReasonUndo {
		// The job need not run: that is why the size before is asked for.
		out, err := a.preflightUndo(ctx, platform, job, in)
		if out.Reason != core.ReasonNotAdaptive {
			return out, err
		}
	}
	out, err := a.preflightJob(ctx, platform, job, in)
	if err != nil {
		return refuseOrRetry(err)
	}
	out.Job = job
	return out, nil
}

func (a *Activities) preflightJob(ctx context.Context, platform Platform, job core.JobRef, in RescaleInput) (Preflight, error) {
	others := a.s.Clusters[in.Key.Cluster]
	if r, note := others.mayChange(ctx, job, in); r != "" {
		return no(r, "%s", note), nil
	}
	status, err := platform.Status(ctx, job)
	if err != nil {
		return Preflight{}, err
	}
	if r, note := unfit(status, in); r != "" {
		return no(r, "%s", note), nil
	}
	held, err := platform.Wanted(ctx, job)
	if errors.Is(err, core.ErrNotAdaptive) {
		return a.preflightRedeploy(ctx, platform, job, status, in)
	}
	if err != nil {
		return Preflight{}, err
	}
	if r, note := unfitRequirements(held, status.Topology, in); r != "" {
		return no(r, "%s", note), nil
	}
	health, err := platform.Inspect(ctx, job)
	if err != nil {
		return Preflight{}, err
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
	slots.Elastic = slots.Elastic || job.Means != nil && job.Means.Elastic
	r, short := tooFewSlots(slots, status.Topology, in)
	if r != "" {
		return no(r, "%s", short), nil
	}
	wish := held.Want(in.Wanted)
	r, room, longer := others.roomFor(ctx, job, wish, in)
	if r != "" {
		return no(r, "%s", room), nil
	}
	out := Preflight{
		Note: also(also(also(note, storage), short), room), Checkpoint: checkpoint, Trim: job.Means != nil && (job.Means.Trims || job.Means.Withdraws), Managers: others.holds(ctx, job), Before: status.Topology.Sizes(), RunningSince: status.RunningSince, At: status.Now,
		Held: held, Wish: wish,
	}
	out.VerifyFor, out.VerifyWhy, err = a.verifyFor(ctx, platform, job, in.VerifyTimeout, in.Restarts)
	return out.withMore(longer), err
}

// mayRestart says whether a restart now would do harm. A note without a reason
// is to be told with the outcome.
func (a *Activities) mayRestart(ctx context.Context, platform Platform, job core.JobRef, status core.JobStatus, health core.JobHealth, in RescaleInput) (core.Reason, string) {
	shrinks := shrinks(status.Topology, in.Wanted)
	r, note := unhealthy(health, status, in, shrinks)
	if r == "" && shrinks && !ordered(in.Cause) {
		if r, stale := a.stillFresh(ctx, platform, job); r != "" {
			return r, stale
		}
	}
	return r, note
}

// ordered is true for a change that no strategy decided: what it makes smaller
// needs no evidence (I1), but storage that answers (I13).
func ordered(cause core.Reason) bool {
	return cause == core.ReasonOverride || cause == core.ReasonUndo
}

func also(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// unfit judges the job itself.
func unfit(s core.JobStatus, in RescaleInput) (core.Reason, string) {
	if s.State != core.JobRunning {
		return core.ReasonJobNotRunning, fmt.Sprintf("the job is %s", s.State)
	}
	if !s.AllTasksRunning() {
		return core.ReasonTasksNotRunning, "not all tasks are running"
	}
	if len(in.Wanted) != len(s.Topology.Vertices) {
		return core.ReasonVertexChanged, fmt.Sprintf("the decision knows %d vertices, the job has %d", len(in.Wanted), len(s.Topology.Vertices))
	}
	for _, v := range s.Topology.Vertices {
		p, ok := core.FindSize(in.Wanted, v.ID)
		if !ok {
			return core.ReasonVertexChanged, fmt.Sprintf("vertex %s is new since the decision", v.Name)
		}
		if from, ok := core.FindSize(in.From, v.ID); ok && from != v.Parallelism {
			return core.ReasonVertexChanged, fmt.Sprintf("vertex %s runs at %d now, the decision was made when it ran at %d", v.Name, v.Parallelism, from)
		}
		if p < 1 || (v.MaxParallelism > 0 && p > v.MaxParallelism) {
			return core.ReasonRefused, fmt.Sprintf("vertex %s cannot run at %d: its max parallelism is %d", v.Name, p, v.MaxParallelism)
		}
	}
	return "", ""
}

// lateAfter is how many checkpoint intervals may pass without a completed
// checkpoint before it counts as late; lateAtLeast covers short intervals.
const (
	lateAfter   = 3
	lateAtLeast = time.Minute
)

// unhealthy judges whether a restart now would lose state or progress (I13). A
// note without a reason tells of late checkpoints that do not forbid it.
func unhealthy(h core.JobHealth, s core.JobStatus, in RescaleInput, shrinks bool) (core.Reason, string) {
	if !h.Checkpointing {
		if in.NoCheckpoints {
			return "", ""
		}
		return core.ReasonNoCheckpoints, "the job takes no checkpoints"
	}
	if h.SavepointInProgress {
		return core.ReasonBusy, "a savepoint is in progress"
	}
	// Where none was ever completed, all work since the start is at stake.
	since := h.LastCompleted
	if since.IsZero() {
		since = s.RunningSince
	}
	if since.IsZero() {
		since = s.StartedAt
	}
	without := s.Now.Sub(since)
	failing := h.LastFailed.After(h.LastCompleted)
	late := without > max(lateAfter*h.Interval, lateAtLeast)
	if failing && storageTrouble(h.FailureNote) {
		return core.ReasonStorage, "the newest checkpoint failed: " + h.FailureNote
	}
	if !failing && !late {
		return "", ""
	}
	note := fmt.Sprintf("no checkpoint completed for %s", without.Round(time.Second))
	if shrinks && !ordered(in.Cause) {
		return core.ReasonCheckpoints, note
	}
	return "", note
}

// stillFresh proves that no TaskManager hangs: a frozen one lets the clock of
// the JobManager move once more, but not twice (I12). Two rounds of metrics
// cost a few seconds, and only before a scale-down.
func (a *Activities) stillFresh(ctx context.Context, platform Platform, job core.JobRef) (core.Reason, string) {
	for range 2 {
		m, err := platform.Measure(ctx, job, func(core.Vertex, []string) []string { return nil })
		if err != nil {
			return core.ReasonFor(err), err.Error()
		}
		if s, _ := collect.Sample(m, nil); s.Fault != "" {
			return s.Fault, s.Note
		}
	}
	return "", ""
}

func shrinks(t core.Topology, wanted []core.VertexSize) bool {
	for _, v := range t.Vertices {
		if p, ok := core.FindSize(wanted, v.ID); ok && p < v.Parallelism {
			return true
		}
	}
	return false
}

func no(r core.Reason, format string, args ...any) Preflight {
	return Preflight{Reason: r, Note: fmt.Sprintf(format, args...)}
}

// refuseOrRetry turns what is final into an answer and the rest into an error.
func refuseOrRetry(err error) (Preflight, error) {
	if isFinal(err) {
		return no(core.ReasonFor(err), "%s", err.Error()), nil
	}
	return Preflight{}, toTemporal(err)
}
