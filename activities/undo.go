package activities

import (
	"context"
	"errors"
	"slices"

	"flinkscaler/core"
)

// CheckUndo says whether the size before a change that went wrong may be asked
// for again, and what exactly to write. It must not when somebody else, or
// another submission of the job, came in between (I8), nor while the storage of
// checkpoints does not answer (I13): a restart could then end the job for good.
// A job that fails, or checkpoints that are late, are no reason against it.
func (a *Activities) CheckUndo(ctx context.Context, in UndoInput) (Preflight, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	platform, err := a.platform(in.Key.Cluster)
	if err != nil {
		return Preflight{}, toTemporal(err)
	}
	out, err := a.checkUndo(ctx, platform, in)
	if err != nil {
		return refuseOrRetry(err)
	}
	return out, nil
}

// preflightUndo is the check of an undo that was decided after the change had
// ended well.
func (a *Activities) preflightUndo(ctx context.Context, platform Platform, job core.JobRef, in RescaleInput) (Preflight, error) {
	out, err := a.checkUndo(ctx, platform, UndoInput{
		Key: in.Key, Target: in.Target, Job: job, Wish: in.Seen, Back: in.Wanted, Restarts: in.Restarts, VerifyTimeout: in.VerifyTimeout,
	})
	if err != nil {
		return refuseOrRetry(err)
	}
	return out, nil
}

func (a *Activities) checkUndo(ctx context.Context, platform Platform, in UndoInput) (Preflight, error) {
	found, err := platform.Locate(ctx, in.Target)
	if err != nil {
		return Preflight{}, err
	}
	if found.ID != in.Job.ID {
		return no(core.ReasonJobRestarted, "the job was submitted anew as %s", found.ID), nil
	}
	if rival, _ := a.s.Clusters[in.Key.Cluster].rivals(ctx, found); rival != "" {
		return no(core.ReasonRival, "%s", rival), nil
	}
	status, err := platform.Status(ctx, in.Job)
	if err != nil {
		return Preflight{}, err
	}
	held, err := platform.Wanted(ctx, in.Job)
	if err != nil {
		return Preflight{}, err
	}
	if len(in.Wish) > 0 && !slices.Equal(held, in.Wish) {
		return no(core.ReasonForeignWriter, "somebody changed what is wanted of Flink meanwhile: %s", in.Wish.Difference(held, titles(status.Topology))), nil
	}
	health, err := platform.Inspect(ctx, in.Job)
	if err != nil {
		return Preflight{}, err
	}
	r, note := unhealthy(health, status, RescaleInput{Cause: core.ReasonUndo, NoCheckpoints: true}, true)
	if r != "" {
		return no(r, "%s", note), nil
	}
	checkpoint, r, storage, err := a.storageAnswers(ctx, in.Key.Cluster, platform, in.Job, health)
	if err != nil || r != "" {
		return no(r, "%s", storage), err
	}
	out := Preflight{
		Job: in.Job, Note: also(note, storage), Checkpoint: checkpoint, Trim: found.Means != nil && (found.Means.Trims || found.Means.Withdraws), Before: status.Topology.Sizes(), RunningSince: status.RunningSince, At: status.Now,
		Held: held, Wish: held.Want(in.Back),
	}
	out.VerifyFor, out.VerifyWhy, err = a.verifyFor(ctx, platform, in.Job, in.VerifyTimeout, in.Restarts)
	if errors.Is(err, core.ErrNotReady) { // a job on its way down or up need not tell
		out.VerifyFor, out.VerifyWhy, err = longestUndo, "Flink could not tell its waits", nil
	}
	return out, err
}

// longestUndo is the wait for an undo of which nothing is known.
const longestUndo = 10 * unknownRestart
