package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// FindRescale finds the newest rescale of a target, so that a workflow that
// was started again adopts what its predecessor left open, and attempt numbers
// go on.
func (a *Activities) FindRescale(ctx context.Context, in FindRescaleInput) (FoundRescale, error) {
	return a.s.Temporal.Find(ctx, in)
}

// AwaitRescale waits until an open rescale has ended and gives its outcome. A
// rescale that ended without one (terminated by a person) is a failed one:
// what Flink shows is looked at again in the next cycle.
func (a *Activities) AwaitRescale(ctx context.Context, in AwaitRescaleInput) (core.Outcome, error) {
	ctx, b := startBeat(ctx, activity.GetWorkerStopChannel(ctx))
	defer b.stop()
	o, err := a.s.Temporal.Await(ctx, in)
	if b.handedOver() {
		return core.Outcome{}, errStopping()
	}
	var ended *temporal.WorkflowExecutionError
	switch {
	case errors.As(err, &ended):
		return a.noOutcome("the rescale workflow ended without an outcome: " + ended.Error()), nil
	case errors.Is(err, core.ErrNotFound):
		// Deleted by a person, or past its retention: asking again would
		// never end.
		return a.noOutcome("the rescale workflow is no longer there, and its outcome with it"), nil
	}
	return o, err
}

func (a *Activities) noOutcome(note string) core.Outcome {
	return core.Outcome{Kind: core.Failed, Reason: core.ReasonInternal, Note: spec.Cut(note, maxNote), EndedAt: a.s.Now().UTC()}
}
