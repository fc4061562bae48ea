package workflows

import (
	"fmt"
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
	// askWithin bounds all attempts to ask for slots: the job is looked at again
	// meanwhile.
	askWithin = time.Minute
	// reportWithin bounds all attempts to send events together: the end of a run
	// waits for them.
	reportWithin = 30 * time.Second
	reportLimit  = 10 * time.Second
)

func retry(attempts int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: attempts}
}

// result waits for an activity and decodes what it gave.
func result[T any](ctx workflow.Context, f workflow.Future) (T, error) {
	var out T
	err := f.Get(ctx, &out)
	return out, err
}

func callAccept(ctx workflow.Context, in activities.AcceptInput) (activities.Accepted, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: localLimit, RetryPolicy: retry(5), Summary: "check the input",
	})
	return result[activities.Accepted](ctx, workflow.ExecuteLocalActivity(ctx, activities.NameAccept, in))
}

func callObserve(ctx workflow.Context, in activities.ObserveInput) (core.Observation, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: observeLimit, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(3), Summary: "look at " + in.Key.Job,
	})
	return result[core.Observation](ctx, workflow.ExecuteActivity(ctx, activities.NameObserve, in))
}

func callDecide(ctx workflow.Context, in activities.DecideInput) (activities.Decided, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: localLimit, RetryPolicy: retry(3),
	})
	return result[activities.Decided](ctx, workflow.ExecuteLocalActivity(ctx, activities.NameDecide, in))
}

func callFindRescale(ctx workflow.Context, in activities.FindRescaleInput) (activities.FoundRescale, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: findLimit, RetryPolicy: retry(5), Summary: "find the last rescale of this target",
	})
	return result[activities.FoundRescale](ctx, workflow.ExecuteActivity(ctx, activities.NameFindRescale, in))
}

func callAwaitRescale(ctx workflow.Context, in activities.AwaitRescaleInput) (core.Outcome, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longest, ScheduleToCloseTimeout: longest, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "wait for the open rescale",
	})
	return result[core.Outcome](ctx, workflow.ExecuteActivity(ctx, activities.NameAwaitRescale, in))
}

func callPreflight(ctx workflow.Context, in activities.RescaleInput) (activities.Preflight, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: preflightLimit, HeartbeatTimeout: beatTimeout,
		RetryPolicy: retry(6), Summary: "may it be changed now?",
	})
	return result[activities.Preflight](ctx, workflow.ExecuteActivity(ctx, activities.NamePreflight, in))
}

// trimWithin bounds all attempts to give TaskManagers back: tasks move off them
// first.
const trimWithin = 15 * time.Minute

func callTrim(ctx workflow.Context, in activities.TrimInput) (activities.Trimmed, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: applyLimit, ScheduleToCloseTimeout: trimWithin, HeartbeatTimeout: beatTimeout,
		RetryPolicy: retry(0), Summary: "give TaskManagers back that nobody needs",
	})
	return result[activities.Trimmed](ctx, workflow.ExecuteActivity(ctx, activities.NameTrim, in))
}

func callCheckUndo(ctx workflow.Context, in activities.UndoInput) (activities.Preflight, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: preflightLimit, HeartbeatTimeout: beatTimeout,
		RetryPolicy: retry(10), Summary: "may the size before be asked for again?",
	})
	return result[activities.Preflight](ctx, workflow.ExecuteActivity(ctx, activities.NameCheckUndo, in))
}

func callApply(ctx workflow.Context, in activities.ApplyInput) (activities.ApplyResult, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: applyLimit, ScheduleToCloseTimeout: writeWithin, HeartbeatTimeout: beatTimeout,
		RetryPolicy: retry(0), Summary: "write the requirements, once",
	})
	return result[activities.ApplyResult](ctx, workflow.ExecuteActivity(ctx, activities.NameApply, in))
}

func callVerify(ctx workflow.Context, in activities.VerifyInput) (activities.Verified, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longest, ScheduleToCloseTimeout: longest, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "watch Flink until it runs at the new size",
	})
	return result[activities.Verified](ctx, workflow.ExecuteActivity(ctx, activities.NameVerify, in))
}

func callAskSlots(ctx workflow.Context, in activities.AskSlotsInput) (activities.AskedSlots, error) {
	summary := "say how many slots the job holds"
	if in.Slots > 0 {
		summary = fmt.Sprintf("ask for %d slots", in.Slots)
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: findLimit, ScheduleToCloseTimeout: askWithin, RetryPolicy: retry(0), Summary: summary,
	})
	return result[activities.AskedSlots](ctx, workflow.ExecuteActivity(ctx, activities.NameAskSlots, in))
}

func callReport(ctx workflow.Context, in activities.ReportInput) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: reportLimit, ScheduleToCloseTimeout: reportWithin, RetryPolicy: retry(0), Summary: "tell what happens",
	})
	return workflow.ExecuteActivity(ctx, activities.NameReport, in).Get(ctx, nil)
}

// checkWithin bounds all attempts to read a savepoint: the job is down meanwhile.
const checkWithin = time.Minute

func callStopJob(ctx workflow.Context, in activities.StopInput) (activities.StopTaken, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: applyLimit, ScheduleToCloseTimeout: writeWithin, HeartbeatTimeout: beatTimeout,
		RetryPolicy: retry(0), Summary: "stop the job with a savepoint",
	})
	return result[activities.StopTaken](ctx, workflow.ExecuteActivity(ctx, activities.NameStopJob, in))
}

func callAwaitStop(ctx workflow.Context, in activities.StopInput) (activities.StopEnded, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longest, ScheduleToCloseTimeout: longest, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "watch Flink until the job has stopped",
	})
	return result[activities.StopEnded](ctx, workflow.ExecuteActivity(ctx, activities.NameAwaitStop, in))
}

func callCheckSavepoint(ctx workflow.Context, in activities.CheckSavepointInput) (core.Savepoint, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: applyLimit, ScheduleToCloseTimeout: checkWithin, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "is the savepoint there?",
	})
	return result[core.Savepoint](ctx, workflow.ExecuteActivity(ctx, activities.NameCheckSavepoint, in))
}

// submitLimit covers a main method that takes its time, and on YARN a queue that
// is full and an earlier submission that may be on its way. What a platform waits
// for has shorter time-outs of its own.
const submitLimit = time.Hour

func callSubmitJob(ctx workflow.Context, in activities.SubmitInput) (activities.Submitted, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: submitLimit, ScheduleToCloseTimeout: longest, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "start the job from the savepoint, once",
	})
	return result[activities.Submitted](ctx, workflow.ExecuteActivity(ctx, activities.NameSubmitJob, in))
}

// pruneWithin bounds all attempts to delete old savepoints: nothing depends on it.
const pruneWithin = 2 * time.Minute

func callTidySavepoints(ctx workflow.Context, in activities.PruneInput) (activities.Pruned, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: pruneWithin, ScheduleToCloseTimeout: pruneWithin, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(3), Summary: "delete savepoints that nobody needs any more",
	})
	return result[activities.Pruned](ctx, workflow.ExecuteActivity(ctx, activities.NameTidySavepoints, in))
}

func callMakeWay(ctx workflow.Context, in activities.MakeWayInput) (activities.Way, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longest, ScheduleToCloseTimeout: longest, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "end the job that is not well, where that loses nothing",
	})
	return result[activities.Way](ctx, workflow.ExecuteActivity(ctx, activities.NameMakeWay, in))
}

// tidyWithin bounds all attempts to clear up: nothing depends on it.
const tidyWithin = 5 * time.Minute

func callTidy(ctx workflow.Context, in activities.TidyInput) (activities.Tidied, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: preflightLimit, ScheduleToCloseTimeout: tidyWithin, HeartbeatTimeout: beatTimeout, RetryPolicy: retry(0), Summary: "clear up after the submissions",
	})
	return result[activities.Tidied](ctx, workflow.ExecuteActivity(ctx, activities.NameTidy, in))
}
