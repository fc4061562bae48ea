package activities

import (
	"context"
	"errors"
	"slices"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
)

// Apply has the wish in force: it reads what is wanted now, and writes only on
// a difference. So a repeat after a crash, a lost answer or a retry writes
// nothing twice (I4). It makes at most one write per attempt.
func (a *Activities) Apply(ctx context.Context, in ApplyInput) (ApplyResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go beat(ctx, awaitBeat)
	platform, err := a.platform(in.Key.Cluster)
	if err != nil {
		return ApplyResult{}, toTemporal(err)
	}
	held, err := platform.Wanted(ctx, in.Job)
	if err != nil {
		return ApplyResult{}, toTemporal(err)
	}
	if slices.Equal(held, in.Wish) {
		return ApplyResult{Already: true, At: a.s.Now().UTC()}, nil
	}
	log := activity.GetLogger(ctx)
	log.Info("writing resource requirements", "job", in.Key.String(), "decision", in.DecisionID, "requirements", in.Wish)
	err = platform.Want(ctx, in.Job, in.Wish)
	if err == nil {
		return ApplyResult{At: a.s.Now().UTC()}, nil
	}
	if errors.Is(err, core.ErrUnreachable) {
		// It may have been taken: the next attempt reads first and finds out.
		log.Warn("no answer to the write; it is read back before anything is written again", "job", in.Key.String(), "error", err)
	}
	return ApplyResult{}, toTemporal(err)
}
