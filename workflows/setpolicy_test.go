package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core/policy"
	"flinkscaler/workflows"
)

// policyOf asks the running workflow.
func (w *world) policyOf(t *testing.T) workflows.Policy {
	t.Helper()
	v, err := w.env.QueryWorkflow(workflows.QueryPolicy)
	if err != nil {
		t.Fatalf("query policy: %v", err)
	}
	var p workflows.Policy
	if err := v.Get(&p); err != nil {
		t.Fatalf("query policy: %v", err)
	}
	return p
}

func setting(keys map[string]any, more map[string]any) map[string]any {
	out := map[string]any{"policy": keys}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestSetPolicyReachesDecisionsAndIsShown(t *testing.T) {
	t.Parallel()
	const most, window = "job.autoscaler.vertex.max-parallelism", "job.autoscaler.metrics.window"
	w := newWorld(t)
	var answer callbacks
	w.at(10*time.Second, func() {
		w.env.UpdateWorkflow(workflows.MsgSetPolicy, "u1", &answer, setting(map[string]any{most: 40}, map[string]any{"by": "ann", "reason": "sale"}))
	})
	w.at(20*time.Second, func() {
		w.env.SignalWorkflow(workflows.MsgSetPolicy, `{"policy": {"job.autoscaler.metrics.window": "5 min"}, "by": "bob", "for": "10 min"}`)
	})
	w.at(30*time.Second, func() {
		if diff := cmp.Diff(map[string]string{most: "40", window: "5 min"}, w.inputs[len(w.inputs)-1].Set); diff != "" {
			t.Errorf("the decision was given (-want +got):\n%s", diff)
		}
		p := w.policyOf(t)
		var notes []string
		for _, o := range p.Keys {
			if o.From == "set-policy" {
				notes = append(notes, o.Key+" = "+o.Value+" "+o.Note)
			}
		}
		want := []string{window + " = 5 min set by bob until 2026-11-29T12:10:20Z", most + " = 40 set by ann (sale)"}
		if diff := cmp.Diff(want, notes); diff != "" || len(p.Set) != 2 || len(p.Problems) != 0 {
			t.Errorf("policy %+v (-want +got):\n%s", p.Set, diff)
		}
	})
	w.at(10*time.Minute+25*time.Second, func() {
		if diff := cmp.Diff(map[string]string{most: "40"}, w.inputs[len(w.inputs)-1].Set); diff != "" {
			t.Errorf("after its end the decision was given (-want +got):\n%s", diff)
		}
		w.env.SignalWorkflow(workflows.MsgSetPolicy, setting(map[string]any{"kubernetes.operator." + most: nil}, nil))
	})
	w.at(11*time.Minute, func() {
		if n := len(w.inputs[len(w.inputs)-1].Set); n != 0 {
			t.Errorf("%d keys are left", n)
		}
		var ends []string
		for _, o := range w.history(t).Orders {
			ends = append(ends, o.Message+" by "+o.By+" "+o.Ended)
		}
		if diff := cmp.Diff([]string{"set-policy by ann done", "set-policy by bob ran out", "set-policy by  done"}, ends); diff != "" {
			t.Errorf("orders (-want +got):\n%s", diff)
		}
		w.env.CancelWorkflow()
	})
	w.start(map[string]any{"cluster": "dev", "job": "orders", "policy": map[string]any{most: 10}})
	if answer.rejected != nil || answer.failed != nil {
		t.Fatalf("refused: %v %v", answer.rejected, answer.failed)
	}
	if diff := cmp.Diff([]policy.Changed{{Key: most, Before: "10", After: "40", From: "set-policy"}}, answer.answer.Policy); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if !strings.Contains(answer.answer.Message, most+" 10 -> 40") {
		t.Errorf("it says %q", answer.answer.Message)
	}
}

// TestABadPolicyIsRefusedWhole: every problem at once, and nothing changed; as
// an update it leaves no trace, as a signal it is shown.
func TestABadPolicyIsRefusedWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := setting(map[string]any{
		"job.autoscaler.vertex.max-parallelism": "many", "job.autoscaler.nonsense": 1, "job.autoscaler.interval": "30 min",
		"job.autoscaler.scaling.enabled": false, "job.autoscaler.time-zone": []int{1},
	}, map[string]any{"whom": "me"})
	whole := setting(map[string]any{"job.autoscaler.vertex.max-parallelism": "many", "job.autoscaler.nonsense": 1, "job.autoscaler.interval": "30 min", "job.autoscaler.scaling.enabled": false}, nil)
	var typed, update callbacks
	w.at(10*time.Second, func() {
		w.env.UpdateWorkflow(workflows.MsgSetPolicy, "u1", &typed, bad)
		w.env.UpdateWorkflow(workflows.MsgSetPolicy, "u2", &update, whole)
		w.env.SignalWorkflow(workflows.MsgSetPolicy, whole)
		w.env.SignalWorkflow(workflows.MsgSetPolicy, nil)
		w.env.SignalWorkflow(workflows.MsgSetPolicy, map[string]any{"policy": map[string]any{}})
		w.env.SignalWorkflow(workflows.MsgSetPolicy, map[string]any{"by": "ann"})
	})
	w.at(70*time.Second, func() {
		s := w.status(t)
		if len(s.Rejected) != 4 || len(s.Set) != 0 || s.Orders != 0 || len(w.history(t).Orders) != 0 {
			t.Errorf("rejected %+v, set %+v, %d orders", s.Rejected, s.Set, s.Orders)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	for _, want := range []string{"set-policy.whom", "set-policy.policy[\"job.autoscaler.time-zone\"]"} {
		if typed.rejected == nil || !strings.Contains(typed.rejected.Error(), want) {
			t.Errorf("no %q in %v", want, typed.rejected)
		}
	}
	for _, want := range []string{"vertex.max-parallelism", "nonsense", "metrics.window"} {
		if update.rejected == nil || !strings.Contains(update.rejected.Error(), want) {
			t.Errorf("no %q in %v", want, update.rejected)
		}
	}
}

// TestTwoPeopleAtOnce: the last one wins, and both are in the history.
func TestTwoPeopleAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(10*time.Second, func() {
		w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"parallelism": 5, "by": "ann"})
		w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"parallelism": 6, "by": "bob", "for": "10 min"})
		w.env.SignalWorkflow(workflows.MsgPause, map[string]any{"by": "ann"})
		w.env.SignalWorkflow(workflows.MsgResume, map[string]any{"by": "bob"})
	})
	w.at(15*time.Minute, func() {
		var got []string
		for _, o := range w.history(t).Orders {
			got = append(got, o.Message+" by "+o.By+": "+o.Did+" | "+o.Ended)
		}
		want := []string{
			"override by ann: override is set: Source: orders 2 -> 5 | replaced by bob",
			"override by bob: override is set until 2026-11-29T12:10:10Z: Source: orders 2 -> 6 | ran out",
			"pause by ann: paused | resumed by bob",
			"resume by bob: resumed | done",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("orders (-want +got):\n%s", diff)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if w.writes != 2 {
		t.Errorf("%d writes: to 6 and back", w.writes)
	}
}

// TestOrdersBeforeTheFirstLook are judged by what is known then, and kept.
func TestOrdersBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(0, func() {
		w.env.SignalWorkflow(workflows.MsgSetPolicy, setting(map[string]any{"job.autoscaler.vertex.max-parallelism": 40}, nil))
		w.env.SignalWorkflow(workflows.MsgUndo, nil)
		w.env.SignalWorkflow(workflows.MsgApprove, map[string]any{"decision": "1-1"})
		w.env.SignalWorkflow(workflows.MsgReject, nil)
	})
	w.at(5*time.Minute, func() {
		s := w.status(t)
		if len(s.Set) != 1 || len(s.Rejected) != 3 || s.Orders != 1 || w.inputs[0].Set["job.autoscaler.vertex.max-parallelism"] != "40" {
			t.Errorf("set %+v, rejected %+v, first decision with %v", s.Set, s.Rejected, w.inputs[0].Set)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}
