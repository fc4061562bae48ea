package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// This file is the only one that calls activities: typed, each with its time
// limits. Long ones heartbeat, so that a killed worker is noticed in seconds.

const (
	beatTimeout = 15 * time.Second
	// observeLimit covers two fetch intervals of Flink's metrics at the
	// default of 10 s, and the reads.
	observeLimit   = 90 * time.Second
	preflightLimit = 2 * time.Minute
	applyLimit     = 30 * time.Second
	localLimit     = 8 * time.Second
	findLimit      = 20 * time.Second
	// longest bounds what waits for Flink and has a deadline of its own: a
	// worker that cannot do it must not hold a job for ever.
	longest = 25 * time.Hour
	// writeWithin bounds all attempts of one write together. What came of it
	// is then read from Flink.
	writeWithin = 5 * time.Minute
)

func retry(attempts int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: attempts}
}

func callAccept(ctx workflow.Context, in activities.AcceptInput) (activities.Accepted, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: localLimit, RetryPolicy: retry(5), Summary: "check the input",
	})
	var out activities.Accepted
	err := workflow.ExecuteLocalActivity(ctx, activities.NameAccept, in).Get(ctx, &out)
	return out, err
}

func callObserve(ctx workflow.Context, in activities.ObserveInput) (core.Observation, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: observeLimit, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(3), Summary: "look at " + in.Key.Job,
	})
	var out core.Observation
	err := workflow.ExecuteActivity(ctx, activities.NameObserve, in).Get(ctx, &out)
	return out, err
}

func callDecide(ctx workflow.Context, in activities.DecideInput) (activities.Decided, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: localLimit, RetryPolicy: retry(3),
	})
	var out activities.Decided
	err := workflow.ExecuteLocalActivity(ctx, activities.NameDecide, in).Get(ctx, &out)
	return out, err
}

func callFindRescale(ctx workflow.Context, in activities.FindRescaleInput) (activities.FoundRescale, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: findLimit, RetryPolicy: retry(5), Summary: "find the last rescale of this target",
	})
	var out activities.FoundRescale
	err := workflow.ExecuteActivity(ctx, activities.NameFindRescale, in).Get(ctx, &out)
	return out, err
}

func callAwaitRescale(ctx workflow.Context, in activities.AwaitRescaleInput) (core.Outcome, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longest, ScheduleToCloseTimeout: longest, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "wait for the open rescale",
	})
	var out core.Outcome
	err := workflow.ExecuteActivity(ctx, activities.NameAwaitRescale, in).Get(ctx, &out)
	return out, err
}

func callPreflight(ctx workflow.Context, in activities.RescaleInput) (activities.Preflight, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: preflightLimit, HeartbeatTimeout: beatTimeout,
		RetryPolicy: retry(6), Summary: "may it be changed now?",
	})
	var out activities.Preflight
	err := workflow.ExecuteActivity(ctx, activities.NamePreflight, in).Get(ctx, &out)
	return out, err
}

func callApply(ctx workflow.Context, in activities.ApplyInput) (activities.ApplyResult, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: applyLimit, ScheduleToCloseTimeout: writeWithin, HeartbeatTimeout: beatTimeout,
		RetryPolicy: retry(0), Summary: "write the requirements, once",
	})
	var out activities.ApplyResult
	err := workflow.ExecuteActivity(ctx, activities.NameApply, in).Get(ctx, &out)
	return out, err
}

func callVerify(ctx workflow.Context, in activities.VerifyInput) (activities.Verified, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longest, ScheduleToCloseTimeout: longest, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "watch Flink until it runs at the new size",
	})
	var out activities.Verified
	err := workflow.ExecuteActivity(ctx, activities.NameVerify, in).Get(ctx, &out)
	return out, err
}
