package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/workflows"
)

func TestUndoGoesBackForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var nothing, undone, again callbacks
	w.at(10*time.Second, func() { w.env.UpdateWorkflow(workflows.MsgUndo, "u0", &nothing, nil) })
	w.at(90*time.Second, func() { w.set(func() { w.want = 4 }) })
	w.at(5*time.Minute, func() {
		if w.status(t).Parallelism != 4 {
			t.Errorf("it did not grow")
		}
		w.env.UpdateWorkflow(workflows.MsgUndo, "u1", &undone, map[string]any{"by": "ann", "reason": "worse", "for": "20 min"})
		w.env.UpdateWorkflow(workflows.MsgUndo, "u1", &again, map[string]any{"by": "ann", "reason": "worse", "for": "20 min"})
	})
	w.at(10*time.Minute, func() {
		if s := w.status(t); s.Parallelism != 2 || s.Override == nil || s.Override.Reason != "undo of rescale 1: worse" {
			t.Errorf("parallelism %d, override %+v", s.Parallelism, s.Override)
		}
	})
	w.at(27*time.Minute, func() {
		if s := w.status(t); s.Parallelism != 4 || s.Override != nil {
			t.Errorf("after its end: parallelism %d, override %+v", s.Parallelism, s.Override)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if nothing.rejected == nil || !strings.Contains(nothing.rejected.Error(), "nothing to undo") {
		t.Errorf("with nothing to undo: %v", nothing.rejected)
	}
	want := "undo of rescale 1: worse until 2026-11-29T12:25:00Z: Source: orders 4 -> 2"
	if undone.answer.Message != want {
		t.Errorf("it says %q, want %q, %v", undone.answer.Message, want, undone.rejected)
	}
	if diff := cmp.Diff([]workflows.SizeChange{{ID: vertexID, Name: "Source: orders", From: 4, To: 2}}, undone.answer.Sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if w.writes != 3 {
		t.Errorf("%d writes: up, back, up again", w.writes)
	}
}

// TestAnUndoWhileARescaleIsUnderWay is of that rescale, and waits for its end.
func TestAnUndoWhileARescaleIsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	sent := false
	w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
		if !sent {
			sent = true
			w.env.SignalWorkflow(workflows.MsgUndo, map[string]any{"by": "ann"})
		}
		w.set(func() { w.size, w.running = in.Wanted[0].Parallelism, w.env.Now() })
		return activities.Verified{Kind: core.Applied, Got: in.Wanted, RunningAt: w.env.Now(), WishHeld: true}, nil
	}
	w.at(10*time.Minute, func() {
		s := w.status(t)
		if s.Parallelism != 2 || len(s.Rejected) != 0 || w.writes != 2 {
			t.Errorf("parallelism %d, %d writes, rejected %+v", s.Parallelism, w.writes, s.Rejected)
		}
		if o := w.history(t).Orders; len(o) != 1 || !strings.Contains(o[0].Did, "rescale 1 first runs to its end") {
			t.Errorf("orders %+v", o)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestAnOverrideSaysWhatItWillDo, before it does, and why it cannot.
func TestAnOverrideSaysWhatItWillDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var early, good, same, bad, paused callbacks
	order := func(at time.Duration, id string, c *callbacks, payload map[string]any) {
		w.at(at, func() { w.env.UpdateWorkflow(workflows.MsgOverride, id, c, payload) })
	}
	order(0, "u0", &early, map[string]any{"parallelism": 2})
	order(10*time.Second, "u1", &good, map[string]any{"parallelism": 5})
	order(5*time.Minute, "u2", &same, map[string]any{"parallelism": 5})
	order(8*time.Minute+30*time.Second, "u3", &bad, map[string]any{"parallelism": 25})
	w.at(7*time.Minute, func() { w.env.SignalWorkflow(workflows.MsgPause, nil) })
	order(8*time.Minute, "u4", &paused, map[string]any{"parallelism": 6})
	w.stopAt(9 * time.Minute)
	w.start(input())
	for _, c := range []struct {
		got  callbacks
		want string
	}{
		{good, "override is set: Source: orders 2 -> 5"}, {same, "override is set; everything runs as it says"},
		{bad, "must be between 1 and 24"}, {paused, "Source: orders 5 -> 6; the job is paused"},
	} {
		if !strings.Contains(c.got.answer.Message, c.want) {
			t.Errorf("it says %q, want %q; %v", c.got.answer.Message, c.want, c.got.rejected)
		}
	}
	if early.rejected != nil || early.failed != nil {
		t.Errorf("an override before the first look: %v %v", early.rejected, early.failed)
	}
}

// TestAMistypedSignalIsShown: nobody answers a signal, so the one whose name is
// wrong must be seen; it changes nothing and wakes nobody.
func TestAMistypedSignalIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	looks := 0
	w.at(90*time.Second, func() {
		looks = w.observed
		w.env.SignalWorkflow("puase", map[string]any{"by": "ann"})
		w.env.SignalWorkflow("puase", "not JSON")
		w.env.SignalWorkflow("aaa", nil)
		w.env.SignalWorkflow(workflows.MsgPause, `{"by": 7}`)
	})
	w.at(91*time.Second, func() {
		if w.observed != looks {
			t.Errorf("%d looks before, %d after", looks, w.observed)
		}
	})
	w.at(5*time.Minute, func() {
		s := w.status(t)
		var got []string
		for _, r := range s.Rejected {
			got = append(got, r.Message+": "+r.Problems[0].String())
		}
		const unknown = ": signal: no such message; known are pause, resume, override, clear-override, undo, approve, reject, set-policy, evaluate-now"
		if diff := cmp.Diff([]string{"pause: pause.by: must be a string, got 7", "aaa" + unknown, "puase" + unknown, "puase" + unknown}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if s.Refused != 4 || s.Orders != 0 || s.Pause != nil || s.State != workflows.Watching {
			t.Errorf("%d refused, %d carried out, %s", s.Refused, s.Orders, s.State)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}
