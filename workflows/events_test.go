package workflows_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/workflows"
)

// onChange reports every change, as Decide does, and says with it what else is
// known.
func onChange(d core.Decision) []core.Event {
	if d.Verdict != core.Change {
		return nil
	}
	return []core.Event{
		{Kind: core.EventReport, Reason: "ScalingReport", Key: "ScalingReport/1", DecisionID: d.ID, At: d.At},
		{Kind: core.EventError, Reason: "ScalingLimited", Key: "ScalingLimited/1", DecisionID: d.ID, At: d.At},
	}
}

func kinds(events []core.Event) (out []core.EventKind) {
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// TestEventsAreSentOnce: those of the one change, and nothing in idle cycles.
func TestEventsAreSentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.events = onChange
	w.at(90*time.Second, func() { w.set(func() { w.want = 4 }) })
	w.stopAt(30 * time.Minute)
	w.start(input())
	if diff := cmp.Diff([]core.EventKind{core.EventReport, core.EventError}, kinds(w.reported)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if w.decided < 25 {
		t.Errorf("only %d decisions", w.decided)
	}
}

// TestAReportIsOfAChangeThatBegan: what was decided and then held back is no
// news; what else is known of it is.
func TestAReportIsOfAChangeThatBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.events, w.want = onChange, 4
	w.find = func() activities.FoundRescale {
		return activities.FoundRescale{Exists: true, Owner: "flink/dev/other", OwnedElsewhere: w.decided > 0}
	}
	w.stopAt(5 * time.Minute)
	w.start(input())
	if diff := cmp.Diff([]core.EventKind{core.EventError}, kinds(w.reported)); diff != "" || w.writes != 0 {
		t.Errorf("writes %d, events (-want +got):\n%s", w.writes, diff)
	}
}

// TestAFailingSinkDisturbsNothing: the job is looked at, changed and shown as
// ever, though every cycle has something to tell and none can be told.
func TestAFailingSinkDisturbsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.interval = 5 * time.Second
	w.report = func(activities.ReportInput) error { return errors.New("disk full") }
	w.events = func(d core.Decision) []core.Event {
		return append(onChange(d), core.Event{Kind: core.EventError, Reason: "AutoscalerError", Key: "k", DecisionID: d.ID})
	}
	w.at(90*time.Second, func() { w.set(func() { w.want = 4 }) })
	w.at(10*time.Minute, func() {
		s := w.status(t)
		if s.Parallelism != 4 || s.State != workflows.Watching || w.writes != 1 {
			t.Errorf("state %s, parallelism %d, writes %d", s.State, s.Parallelism, w.writes)
		}
		if s.Cycle < 110 {
			t.Errorf("only %d cycles of 5 s in ten minutes", s.Cycle)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if !w.env.IsWorkflowCompleted() || len(w.reported) > 0 {
		t.Errorf("the workflow has ended: %v, events %v", w.env.IsWorkflowCompleted(), w.reported)
	}
}

// TestEndsWaitForEvents: neither a cancel nor the end of a run takes back what
// is being sent, and neither waits for long.
func TestEndsWaitForEvents(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world){
		"cancel":          func(w *world) { w.env.CancelWorkflow() },
		"continue as new": func(w *world) { w.env.SetContinueAsNewSuggested(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, works := range []bool{true, false} {
				w := newWorld(t)
				var tried atomic.Int32
				// A run may end right after the cycle that decided; a cancel could come
				// before the decision, so it waits until that is being told.
				ends := func() { w.env.RegisterDelayedCallback(func() { end(w) }, 0) }
				w.report = func(activities.ReportInput) error {
					n := tried.Add(1)
					if n == 1 && name == "cancel" {
						ends()
					}
					if works && n > 2 {
						return nil
					}
					return errors.New("not now")
				}
				var decided time.Time
				w.events = func(d core.Decision) []core.Event {
					if w.decided != 3 {
						return nil
					}
					decided = w.env.Now()
					if name != "cancel" {
						ends()
					}
					return []core.Event{{Kind: core.EventError, Reason: "AutoscalerError", Key: "k", DecisionID: d.ID}}
				}
				w.stopAt(time.Hour)
				w.start(input())
				if sent := slices.Equal(kinds(w.reported), []core.EventKind{core.EventError}); sent != works {
					t.Errorf("the sink works: %v, sent %v after %d attempts", works, w.reported, tried.Load())
				}
				if took := w.env.Now().Sub(decided); took > 45*time.Second {
					t.Errorf("the sink works: %v, the end took %s", works, took)
				}
				var next *workflow.ContinueAsNewError
				if is := errors.As(w.env.GetWorkflowError(), &next); is != (name == "continue as new") {
					t.Errorf("the end is %v", w.env.GetWorkflowError())
				}
			}
		})
	}
}
