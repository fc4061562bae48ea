package workflows_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/workflows"
)

func startOptions(id string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue}
}

func TestInputIsStrict(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		input  any
		want   []string
	}{
		"nothing":        {"tctl without --input", nil, []string{"input: is empty"}},
		"unknown fields": {"a typo must not be a silent default", map[string]any{"cluster": "dev", "jobb": "orders"}, []string{"jobb: unknown field", "job: is missing"}},
		"bad policy": {"every problem at once", map[string]any{"cluster": "dev", "job": "orders", "target": map[string]any{"kubernetes": map[string]any{}}, "policy": map[string]any{"job.autoscaler.metrics.window": "5 fortnights"}},
			[]string{"target.kubernetes", `policy["job.autoscaler.metrics.window"]`}},
		"not an object": {"a list is no input", []int{1}, []string{"must be one JSON object"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.start(tt.input)
			err := w.env.GetWorkflowError()
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != activities.ErrTypeInvalidInput || !app.NonRetryable() {
				t.Fatalf("%s: got error %v", tt.reason, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(app.Message(), want) {
					t.Errorf("%s: %q is not in\n%s", tt.reason, want, app.Message())
				}
			}
			if w.observed != 0 {
				t.Errorf("%s: it observed %d times", tt.reason, w.observed)
			}
		})
	}
}

func TestDoubleEncodedInputIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stopAt(90 * time.Second)
	w.start(`{"cluster": "dev", "job": "orders"}`)
	if w.observed == 0 {
		t.Fatalf("it did not start: %v", w.env.GetWorkflowError())
	}
}

func TestScaleUpIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(90*time.Second, func() { w.set(func() { w.want = 4 }) })
	w.at(10*time.Minute, func() {
		s, h := w.status(t), w.history(t)
		if s.Parallelism != 4 || s.State != workflows.Watching || s.LastRescale == nil || s.LastRescale.Kind != core.Applied || s.LastRescale.Attempt != 1 {
			t.Errorf("status after the rescale: %+v", s)
		}
		var reasons []core.Reason
		for _, r := range h.Decisions {
			reasons = append(reasons, r.Reason)
		}
		if diff := cmp.Diff([]core.Reason{core.ReasonWithinTarget, core.ReasonScaleUp, core.ReasonWithinTarget}, reasons); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if w.writes != 1 {
		t.Errorf("writes = %d, want 1", w.writes)
	}
	var cancelled *temporal.CanceledError
	if err := w.env.GetWorkflowError(); !errors.As(err, &cancelled) {
		t.Errorf("the end is %v, want cancelled", err)
	}
}

func TestPausedWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.at(0, func() { w.env.SignalWorkflow(workflows.MsgPause, nil) })
	w.at(30*time.Minute, func() {
		if s := w.status(t); s.State != workflows.Paused || s.Reason != core.ReasonPaused || w.writes != 0 || w.observed < 25 {
			t.Errorf("while paused: state %s, reason %s, writes %d, observed %d", s.State, s.Reason, w.writes, w.observed)
		}
		w.env.SignalWorkflow(workflows.MsgResume, map[string]any{"by": "ann"})
	})
	w.at(31*time.Minute, func() {
		if s := w.status(t); s.Parallelism != 4 || w.writes != 1 {
			t.Errorf("after resume: parallelism %d, writes %d", s.Parallelism, w.writes)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

func TestPauseEndsByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.at(0, func() {
		w.env.SignalWorkflow(workflows.MsgPause, map[string]any{"for": "90 s", "reason": "release"})
	})
	w.at(89*time.Second, func() {
		if w.writes != 0 {
			t.Error("it wrote while paused")
		}
	})
	w.at(100*time.Second, func() {
		if s := w.status(t); s.Pause != nil || w.writes != 1 {
			t.Errorf("after the pause ran out: pause %v, writes %d", s.Pause, w.writes)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

func TestOverrideEndsByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(30*time.Second, func() {
		w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"parallelism": 7, "for": "10 min", "by": "ann"})
	})
	w.at(5*time.Minute, func() {
		if s := w.status(t); s.Parallelism != 7 || s.Override == nil || s.Override.By != "ann" {
			t.Errorf("override in force: parallelism %d, override %+v", s.Parallelism, s.Override)
		}
	})
	w.at(12*time.Minute, func() {
		if s := w.status(t); s.Parallelism != 2 || s.Override != nil {
			t.Errorf("override ran out: parallelism %d, override %+v", s.Parallelism, s.Override)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if w.writes != 2 {
		t.Errorf("writes = %d, want 2", w.writes)
	}
}

func TestMalformedSignalsAreHarmlessAndShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := []struct {
		name  string
		value any
	}{
		{workflows.MsgOverride, nil},
		{workflows.MsgOverride, false},
		{workflows.MsgOverride, "false"},
		{workflows.MsgOverride, map[string]any{"parallelism": "many"}},
		{workflows.MsgOverride, map[string]any{"parallelism": 0}},
		{workflows.MsgOverride, map[string]any{"parallelism": 3, "vertices": map[string]int{"a": 1}}},
		{workflows.MsgPause, []int{1}},
		{workflows.MsgPause, map[string]any{"fro": "1 h"}},
		{workflows.MsgPause, map[string]any{"for": "1 h", "until": "2027-01-01T00:00:00Z"}},
		{workflows.MsgResume, strings.Repeat("x", 1<<20)},
	}
	w.at(30*time.Second, func() {
		for _, b := range bad {
			w.env.SignalWorkflow(b.name, b.value)
		}
	})
	w.at(10*time.Minute, func() {
		s := w.status(t)
		if len(s.Rejected) != len(bad) || s.Pause != nil || s.Override != nil {
			t.Errorf("%d of %d rejected, pause %v, override %v:\n%+v", len(s.Rejected), len(bad), s.Pause, s.Override, s.Rejected)
		}
		if w.observed < 9 {
			t.Errorf("the loop stood still: %d looks in 10 minutes", w.observed)
		}
		w.env.SignalWorkflow(workflows.MsgPause, `{"by": "tctl batch encodes twice"}`)
	})
	w.at(11*time.Minute, func() {
		if s := w.status(t); s.Pause == nil {
			t.Error("a double-encoded pause was not accepted")
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if w.writes != 0 {
		t.Errorf("writes = %d", w.writes)
	}
}

func TestARepeatedMessageHasOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pause := map[string]any{"id": "p1"}
	w.at(10*time.Second, func() { w.env.SignalWorkflow(workflows.MsgPause, pause) })
	w.at(20*time.Second, func() { w.env.SignalWorkflow(workflows.MsgResume, nil) })
	w.at(30*time.Second, func() { w.env.SignalWorkflow(workflows.MsgPause, pause) })
	w.at(40*time.Second, func() {
		if s := w.status(t); s.Pause != nil {
			t.Error("the repeated message paused again")
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// callbacks of an update, for tests.
type callbacks struct {
	rejected, failed error
	answer           workflows.Answer
}

func (c *callbacks) Accept()          {}
func (c *callbacks) Reject(err error) { c.rejected = err }
func (c *callbacks) Complete(v any, err error) {
	c.failed = err
	if a, ok := v.(workflows.Answer); ok {
		c.answer = a
	}
}

func TestUpdatesAnswerOrRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var good, bad callbacks
	w.at(10*time.Second, func() {
		w.env.UpdateWorkflow(workflows.MsgPause, "u1", &good, map[string]any{"by": "ann", "for": "1 h"})
		w.env.UpdateWorkflow(workflows.MsgOverride, "u2", &bad, map[string]any{"parallelism": -1, "what": 1})
	})
	w.at(20*time.Second, w.env.CancelWorkflow)
	w.start(input())
	if good.rejected != nil || good.failed != nil || good.answer.Status.Pause == nil || !strings.HasPrefix(good.answer.Message, "paused until") {
		t.Errorf("good update: %+v", good)
	}
	if bad.rejected == nil || !strings.Contains(bad.rejected.Error(), "override.parallelism") || !strings.Contains(bad.rejected.Error(), "override.what") {
		t.Errorf("bad update: %v", bad.rejected)
	}
}

func TestAJobThatIsGoneIsLookedForMoreRarely(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(90*time.Second, func() { w.set(func() { w.fault = core.ReasonJobGone }) })
	var before int
	w.at(3*time.Hour, func() {
		if s := w.status(t); s.State != workflows.JobGone {
			t.Errorf("state %s", s.State)
		}
		before = w.observed
		if before > 30 {
			t.Errorf("%d looks in 3 hours", before)
		}
		w.set(func() { w.fault, w.jobID = "", "job-2" })
	})
	w.at(3*time.Hour+11*time.Minute, func() {
		if s := w.status(t); s.State != workflows.Watching || s.FlinkJobID != "job-2" {
			t.Errorf("after it came back: %s %s", s.State, s.FlinkJobID)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

func TestOneMissIsNoAlarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	states := map[time.Duration]workflows.Health{}
	look := func(at time.Duration) { w.at(at, func() { states[at] = w.status(t).State }) }
	w.set(func() { w.fault = core.ReasonMetricsFrozen })
	look(time.Second)
	w.at(2*time.Second, func() { w.set(func() { w.fault = "" }) })
	look(70 * time.Second)
	w.at(3*time.Minute, func() { w.set(func() { w.fault = core.ReasonNoLeader }) })
	look(4*time.Minute + 5*time.Second)
	look(6*time.Minute + 5*time.Second)
	w.stopAt(7 * time.Minute)
	w.start(input())
	want := map[time.Duration]workflows.Health{
		time.Second: workflows.Starting, 70 * time.Second: workflows.Watching,
		4*time.Minute + 5*time.Second: workflows.Watching, 6*time.Minute + 5*time.Second: workflows.Blocked,
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAfterAFailureTheNextRescaleWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.verify = func(activities.VerifyInput) (activities.Verified, error) {
		return activities.Verified{Kind: core.Partial, Reason: core.ReasonNotReached}, nil
	}
	w.at(4*time.Minute, func() {
		if s := w.status(t); s.Reason != core.ReasonBackoff || w.writes != 1 {
			t.Errorf("reason %s, writes %d", s.Reason, w.writes)
		}
	})
	w.at(8*time.Minute, func() {
		if s := w.status(t); w.writes != 2 || s.LastRescale.Attempt != 2 {
			t.Errorf("writes %d, last %+v", w.writes, s.LastRescale)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

func TestCancelLetsAnOpenRescaleEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	verified := false
	w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
		if in.Wanted[0].Parallelism != 4 {
			t.Errorf("wanted %+v", in.Wanted)
		}
		w.env.CancelWorkflow()
		verified = true
		return activities.Verified{Kind: core.Applied, Got: in.Wanted}, nil
	}
	w.start(input())
	var cancelled *temporal.CanceledError
	if err := w.env.GetWorkflowError(); !errors.As(err, &cancelled) || !verified {
		t.Errorf("the end is %v, verified %v", err, verified)
	}
}

func TestAnOpenRescaleIsAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.find = func() activities.FoundRescale {
		return activities.FoundRescale{Exists: true, Open: true, RunID: "r", Owner: "flink/dev/orders", Attempt: 3, DecisionID: "9-9"}
	}
	w.at(30*time.Second, func() {
		if s := w.status(t); s.LastRescale == nil || s.LastRescale.Attempt != 3 {
			t.Errorf("the outcome was not adopted: %+v", s.LastRescale)
		}
		w.find = func() activities.FoundRescale { return activities.FoundRescale{Exists: true, Attempt: 3} }
		w.set(func() { w.want = 4 })
	})
	w.at(5*time.Minute, func() {
		if s := w.status(t); s.LastRescale.Attempt != 4 {
			t.Errorf("attempt numbers restarted: %+v", s.LastRescale)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

func TestATargetManagedElsewhereIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.find = func() activities.FoundRescale {
		return activities.FoundRescale{Exists: true, Owner: "flink/dev/other", OwnedElsewhere: true}
	}
	w.at(5*time.Minute, func() {
		if s := w.status(t); s.Reason != core.ReasonManagedElsewhere || w.writes != 0 {
			t.Errorf("reason %s, writes %d", s.Reason, w.writes)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestNothingIsLostOverContinueAsNew sends a burst of signals into a run that
// is about to continue as new, and compares the state that is carried (I9).
func TestNothingIsLostOverContinueAsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(5*time.Minute+time.Second, func() {
		w.env.SetContinueAsNewSuggested(true)
		w.env.SignalWorkflow(workflows.MsgPause, map[string]any{"by": "one"})
		w.env.SignalWorkflow(workflows.MsgResume, nil)
		w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"parallelism": 5, "for": "2 h", "by": "bo"})
		w.env.SignalWorkflow(workflows.MsgPause, map[string]any{"by": "last", "for": "3 h"})
		w.env.SignalWorkflow(workflows.MsgOverride, "nonsense")
	})
	w.start(input())
	s := carried(t, w.env.GetWorkflowError())
	if s.Pause == nil || s.Pause.By != "last" || s.Override == nil || s.Override.By != "bo" || len(s.Rejected) != 1 {
		t.Errorf("carried: pause %+v, override %+v, rejected %+v", s.Pause, s.Override, s.Rejected)
	}
	if s.Cycle < 5 || len(s.Window) < 5 || s.Job.ID != "job-1" || s.NextAt.IsZero() {
		t.Errorf("carried: cycle %d, window %d, job %q, next %s", s.Cycle, len(s.Window), s.Job.ID, s.NextAt)
	}
}

func TestNoContinueAsNewWhileARescaleIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.env.SetContinueAsNewSuggested(true)
	w.start(input())
	s := carried(t, w.env.GetWorkflowError())
	if s.Open != nil || len(s.Rescales) != 1 || s.Rescales[0].Kind != core.Applied {
		t.Errorf("carried: open %+v, rescales %+v", s.Open, s.Rescales)
	}
}

// carried takes the state out of a continue-as-new error.
func carried(t *testing.T, err error) workflows.State {
	t.Helper()
	var again *workflow.ContinueAsNewError
	if !errors.As(err, &again) {
		t.Fatalf("the end is %v, want continue-as-new", err)
	}
	var s workflows.State
	if err := json.Unmarshal(again.Input.GetPayloads()[0].GetData(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEveryFieldOfTheStateSurvivesJSON fills the state by reflection, so that
// a field that someone adds without a way through JSON is found.
func TestEveryFieldOfTheStateSurvivesJSON(t *testing.T) {
	t.Parallel()
	var s workflows.State
	fill(reflect.ValueOf(&s).Elem(), 0)
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back workflows.State
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back); diff != "" {
		t.Errorf("lost over JSON (-before +after):\n%s", diff)
	}
}

// fill sets every field to something that is not its zero.
func fill(v reflect.Value, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *core.Reading:
		*x = core.Read(1.5)
		return
	case *time.Time:
		*x = time.Date(2026, 1, 2, 3, 4, 5, 6000000, time.UTC)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(2.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k"), reflect.ValueOf("v"))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	}
}
