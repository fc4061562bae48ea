package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// tell sends the events of a decision beside the loop, which never waits for a
// sink: only the end of a run does, for half a minute at most. An order to stop
// does not take events back. What cannot be sent is lost, and said in the log.
//
// No version guards the new command: events come with the recorded decision, and
// a history from before there were any has none.
func (l *loop) tell(ctx workflow.Context, events []core.Event) {
	if len(events) > 0 {
		l.report(ctx, activities.ReportInput{Key: l.s.Spec.Key, Target: l.s.Spec.Target, Events: events})
	}
}

// changeTellLost guards the command that tells of a rescale that ended without an
// outcome of its own.
const changeTellLost = "tell-lost-outcome"

// tellLost sends the alarm that a rescale sends itself as long as it is not
// terminated.
func (l *loop) tellLost(ctx workflow.Context, o core.Outcome) {
	if workflow.GetVersion(ctx, changeTellLost, workflow.DefaultVersion, 1) != workflow.DefaultVersion {
		l.report(ctx, activities.ReportInput{Key: l.s.Spec.Key, Target: l.s.Spec.Target, Outcome: &o})
	}
}

func (l *loop) report(ctx workflow.Context, in activities.ReportInput) {
	l.telling++
	free, _ := workflow.NewDisconnectedContext(ctx)
	workflow.GoNamed(free, "report", func(free workflow.Context) {
		defer func() { l.telling-- }()
		if err := callReport(free, in); err != nil {
			workflow.GetLogger(free).Warn("events could not be sent and are lost", "job", in.Key.String(), "events", max(len(in.Events), 1), "error", rootCause(err))
		}
	})
}

// carriedOut leaves out the report of a change that did not begin after all.
func carriedOut(events []core.Event, began bool) []core.Event {
	if began {
		return events
	}
	return slices.DeleteFunc(events, func(e core.Event) bool { return e.Kind == core.EventReport })
}
