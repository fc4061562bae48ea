package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"flinkscaler/core"
)

// FindRescale finds the newest rescale of a target, so that a workflow that
// was started again adopts what its predecessor left open, and attempt numbers
// go on.
func (a *Activities) FindRescale(ctx context.Context, in FindRescaleInput) (FoundRescale, error) {
	return a.s.Temporal.Find(ctx, in)
}

// awaitBeat is how often AwaitRescale says that it is alive.
const awaitBeat = 5 * time.Second

// AwaitRescale waits until an open rescale has ended and gives its outcome. A
// rescale that ended without one (terminated by a person) is a failed one:
// what Flink shows is looked at again in the next cycle.
func (a *Activities) AwaitRescale(ctx context.Context, in AwaitRescaleInput) (core.Outcome, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go beat(ctx, awaitBeat)
	o, err := a.s.Temporal.Await(ctx, in)
	var ended *temporal.WorkflowExecutionError
	if errors.As(err, &ended) {
		return core.Outcome{Kind: core.Failed, Reason: core.ReasonInternal, Note: "the rescale workflow ended without an outcome: " + ended.Error(), EndedAt: a.s.Now().UTC()}, nil
	}
	return o, err
}

func beat(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			activity.RecordHeartbeat(ctx)
		}
	}
}
