package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

// asks is a world whose changes wait for a yes.
func asks(t *testing.T, apply bool) *world {
	t.Helper()
	w := newWorld(t)
	w.ask = &core.Proposal{Within: 20 * time.Minute, Quiet: 30 * time.Minute, Apply: apply}
	return w
}

// told gives the orders of the history in short.
func (w *world) told(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, o := range w.history(t).Orders {
		s := o.Message
		if o.By != "" {
			s += " by " + o.By
		}
		out = append(out, s+": "+o.Ended)
	}
	return out
}

// open is the proposal that waits, which must be there.
func (w *world) open(t *testing.T) core.Proposal {
	t.Helper()
	s := w.status(t)
	if s.Proposal == nil {
		t.Errorf("no proposal waits: %s %s", s.State, s.Reason)
		return core.Proposal{}
	}
	return *s.Proposal
}

func TestAChangeWaitsForAYes(t *testing.T) {
	t.Parallel()
	w := asks(t, false)
	var early, answer, twice callbacks
	w.at(90*time.Second, func() { w.set(func() { w.want = 4 }) })
	w.at(10*time.Minute, func() {
		s, p := w.status(t), w.open(t)
		if s.State != workflows.Awaiting || s.Reason != core.ReasonApproval || w.writes != 0 || w.observed < 9 {
			t.Errorf("while it waits: %s %s, %d writes, %d looks", s.State, s.Reason, w.writes, w.observed)
		}
		if diff := cmp.Diff([]core.VertexSize{{ID: vertexID, Parallelism: 4}}, p.To); diff != "" || p.Deadline.Sub(p.At) != 20*time.Minute {
			t.Errorf("proposal %+v (-want +got):\n%s", p, diff)
		}
		for _, want := range []string{p.ID, "Source: orders 2 -> 4", "then it is rejected"} {
			if lines := w.explained(t); !strings.Contains(lines, want) {
				t.Errorf("explain: no %q in\n%s", want, lines)
			}
		}
		if n := len(w.history(t).Decisions); n != 2 {
			t.Errorf("%d records of decisions, want the first hold and the proposal", n)
		}
		w.env.UpdateWorkflow(workflows.MsgApprove, "u0", &early, map[string]any{"decision": "1-1"})
		w.env.UpdateWorkflow(workflows.MsgApprove, "u1", &answer, map[string]any{"decision": p.ID, "by": "ann", "reason": "sale"})
		w.env.UpdateWorkflow(workflows.MsgApprove, "u2", &twice, map[string]any{"decision": p.ID, "by": "bob"})
	})
	w.at(12*time.Minute, func() {
		s := w.status(t)
		if s.Parallelism != 4 || w.writes != 1 || s.Proposal != nil || s.Approval != nil {
			t.Errorf("after the yes: parallelism %d, %d writes, %+v %+v", s.Parallelism, w.writes, s.Proposal, s.Approval)
		}
		if diff := cmp.Diff([]string{"proposal: approved by ann", "approve by ann: carried out by rescale 1"}, w.told(t)); diff != "" {
			t.Errorf("orders (-want +got):\n%s", diff)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if early.rejected == nil || !strings.Contains(early.rejected.Error(), "the one that does is") {
		t.Errorf("a wrong id: %v", early.rejected)
	}
	if answer.rejected != nil || !strings.Contains(answer.answer.Message, "is approved until") || len(answer.answer.Sizes) != 1 {
		t.Errorf("the yes: %v %+v", answer.rejected, answer.answer)
	}
	if twice.rejected == nil || !strings.Contains(twice.rejected.Error(), "answered like that already") {
		t.Errorf("a second yes: %v", twice.rejected)
	}
}

// TestAYesIsForWhatWasSeen: on fresh evidence less is carried out; of more as
// much as was agreed to, and the rest is a new proposal.
func TestAYesIsForWhatWasSeen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		fresh  int
		size   int
		again  bool
		ended  string
	}{
		"less": {"in the same direction", 3, 3, false, "carried out by rescale 1"},
		"more": {"as far as was agreed to", 6, 4, true, "carried out by rescale 1"},
		"none": {"the load went away", 2, 2, false, "withdrawn"},
		"down": {"the other direction", 1, 2, true, "replaced by"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asks(t, false)
			w.want = 4
			w.at(5*time.Minute, func() {
				w.set(func() { w.want = tt.fresh })
				w.env.SignalWorkflow(workflows.MsgApprove, map[string]any{"decision": w.open(t).ID, "by": "ann"})
			})
			w.at(7*time.Minute, func() {
				s := w.status(t)
				if s.Parallelism != tt.size || (s.Proposal != nil) != tt.again || s.Approval != nil {
					t.Errorf("%s: parallelism %d, proposal %+v, approval %+v", tt.reason, s.Parallelism, s.Proposal, s.Approval)
				}
				if o := w.history(t).Orders; !strings.HasPrefix(o[1].Ended, tt.ended) {
					t.Errorf("%s: the yes ended %q", tt.reason, o[1].Ended)
				}
				w.env.CancelWorkflow()
			})
			w.start(input())
		})
	}
}

// TestAStaleProposalIsWithdrawn, and one that is grown is another.
func TestAStaleProposalIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := asks(t, true)
	w.want = 4
	w.at(5*time.Minute, func() { w.set(func() { w.want = 6 }) })
	w.at(10*time.Minute, func() { w.set(func() { w.want = 5 }) })
	w.at(15*time.Minute, func() { w.set(func() { w.want = 2 }) })
	w.at(40*time.Minute, func() {
		if s := w.status(t); s.Proposal != nil || s.State != workflows.Watching || w.writes != 0 {
			t.Errorf("%s, proposal %+v, %d writes", s.State, s.Proposal, w.writes)
		}
		o := w.history(t).Orders
		if len(o) != 2 || !strings.HasPrefix(o[0].Ended, "replaced by "+o[1].Decision) || !strings.HasPrefix(o[1].Ended, "withdrawn: within-target") {
			t.Errorf("orders %+v", o)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestAYesToWhatWasReplaced: the wish grew while a person read the proposal. The
// yes counts as far as it goes; a no is for the proposal that waits.
func TestAYesToWhatWasReplaced(t *testing.T) {
	t.Parallel()
	w := asks(t, false)
	w.want = 4
	var first, second core.Proposal
	var no, yes, late callbacks
	w.at(5*time.Minute, func() { first = w.open(t); w.set(func() { w.want = 6 }) })
	w.at(8*time.Minute, func() {
		if second = w.open(t); second.ID == first.ID {
			t.Errorf("the wish grew, and %s still waits", first.ID)
		}
		w.env.UpdateWorkflow(workflows.MsgReject, "u0", &no, map[string]any{"decision": first.ID, "by": "bob"})
		w.env.UpdateWorkflow(workflows.MsgApprove, "u1", &yes, map[string]any{"decision": first.ID, "by": "ann"})
	})
	w.at(11*time.Minute, func() {
		s := w.status(t)
		if s.Parallelism != 4 || w.writes != 1 || s.Proposal == nil || s.Proposal.To[0].Parallelism != 6 || s.Proposal.ID == second.ID {
			t.Errorf("after the yes: parallelism %d, %d writes, proposal %+v", s.Parallelism, w.writes, s.Proposal)
		}
		if diff := cmp.Diff([]string{
			"proposal: replaced by " + second.ID + ": fresh evidence asks for something else",
			"proposal: withdrawn: " + first.ID + " was approved and is carried out", "approve by ann: carried out by rescale 1", "proposal: ",
		}, w.told(t)); diff != "" {
			t.Errorf("orders (-want +got):\n%s", diff)
		}
		w.env.UpdateWorkflow(workflows.MsgApprove, "u2", &late, map[string]any{"decision": first.ID, "by": "bob"})
	})
	w.at(12*time.Minute, func() { w.env.CancelWorkflow() })
	w.start(input())
	if no.rejected == nil || !strings.Contains(no.rejected.Error(), "the one that does is "+second.ID) {
		t.Errorf("a no to what was replaced: %v", no.rejected)
	}
	if yes.rejected != nil || !strings.Contains(yes.answer.Message, first.ID+" is approved") {
		t.Errorf("a yes to what was replaced: %v %+v", yes.rejected, yes.answer)
	}
	if late.rejected == nil {
		t.Error("a yes to what was carried out already is taken")
	}
}

func TestANoHoldsForAWhile(t *testing.T) {
	t.Parallel()
	w := asks(t, false)
	w.want = 4
	w.at(5*time.Minute, func() {
		w.env.SignalWorkflow(workflows.MsgReject, map[string]any{"decision": w.open(t).ID, "by": "bob", "reason": "not now"})
	})
	w.at(30*time.Minute, func() {
		if s := w.status(t); s.State != workflows.Watching || s.Reason != core.ReasonDeclined || s.Proposal != nil || len(s.Rejections) != 1 {
			t.Errorf("%s %s, proposal %+v, %d noes", s.State, s.Reason, s.Proposal, len(s.Rejections))
		}
	})
	w.at(36*time.Minute+30*time.Second, func() {
		p := w.open(t)
		w.env.SignalWorkflow(workflows.MsgReject, map[string]any{"decision": p.ID, "by": "bob"})
		w.set(func() { w.want = 5 })
	})
	w.at(38*time.Minute, func() {
		if p := w.open(t); p.To[0].Parallelism != 5 {
			t.Errorf("what has grown is proposed: %+v", p)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	if w.writes != 0 {
		t.Errorf("%d writes", w.writes)
	}
}

// TestTheLastAnswerCounts, as long as it is not carried out.
func TestTheLastAnswerCounts(t *testing.T) {
	t.Parallel()
	w := asks(t, false)
	w.want = 4
	w.at(0, func() { w.env.SignalWorkflow(workflows.MsgPause, nil) })
	w.at(time.Minute, func() { w.env.SignalWorkflow(workflows.MsgResume, nil) })
	w.at(2*time.Minute, func() { w.env.SignalWorkflow(workflows.MsgPause, map[string]any{"by": "eve"}) })
	answer := func(at time.Duration, name, by string) {
		w.at(at, func() {
			id := ""
			for _, o := range w.history(t).Orders {
				if o.Decision != "" {
					id = o.Decision
				}
			}
			w.env.SignalWorkflow(name, map[string]any{"decision": id, "by": by})
		})
	}
	answer(3*time.Minute, workflows.MsgApprove, "ann")
	answer(4*time.Minute, workflows.MsgReject, "bob")
	answer(5*time.Minute, workflows.MsgApprove, "cid")
	w.at(6*time.Minute, func() {
		if s := w.status(t); w.writes != 0 || s.Approval == nil || s.Approval.By != "cid" || len(s.Rejections) != 0 || len(s.Rejected) != 0 {
			t.Errorf("pause wins: %d writes, %+v", w.writes, s.Approval)
		}
		w.env.SignalWorkflow(workflows.MsgResume, nil)
	})
	w.at(8*time.Minute, func() {
		want := []string{
			"pause: resumed", "resume: done", "proposal: approved by ann", "pause by eve: resumed", "approve by ann: overruled by bob", "reject by bob: overruled by cid",
			"approve by cid: carried out by rescale 1", "resume: done",
		}
		if diff := cmp.Diff(want, w.told(t)); diff != "" || w.writes != 1 {
			t.Errorf("%d writes, orders (-want +got):\n%s", w.writes, diff)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestTheDeadlineIsExact, also over a worker's restart and continue-as-new: the
// proposal carries it as a time.
func TestTheDeadlineIsExact(t *testing.T) {
	t.Parallel()
	for _, apply := range []bool{true, false} {
		for _, cycles := range []int{0, 3} {
			t.Run(fmt.Sprintf("apply %v, %d cycles per run", apply, cycles), func(t *testing.T) {
				t.Parallel()
				var made time.Time
				w := asks(t, apply)
				w.interval, w.want, w.cyclesPerRun = 7*time.Minute, 4, cycles
				c := newChain(w)
				c.at(time.Minute, func() { made = w.open(t).At })
				c.at(20*time.Minute-time.Second, func() {
					if w.writes != 0 || w.status(t).Proposal == nil {
						t.Errorf("before the deadline: %d writes", w.writes)
					}
				})
				c.at(20*time.Minute+10*time.Second, func() {
					s, o := w.status(t), w.history(t).Orders
					if apply != (w.writes == 1) || apply == (s.Reason == core.ReasonDeclined) || !o[0].EndedAt.Equal(made.Add(20*time.Minute)) || !strings.Contains(o[0].Ended, "by default") {
						t.Errorf("after the deadline: %d writes, %s, orders %+v, made %s", w.writes, s.Reason, o, made)
					}
				})
				c.run(t, 30*time.Minute)
			})
		}
	}
}

// TestAnOverrideNeedsNoYes, and withdraws what waits.
func TestAnOverrideNeedsNoYes(t *testing.T) {
	t.Parallel()
	w := asks(t, false)
	w.want = 4
	w.at(5*time.Minute, func() { w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"parallelism": 7}) })
	w.at(7*time.Minute, func() {
		if s := w.status(t); s.Parallelism != 7 || s.Proposal != nil {
			t.Errorf("parallelism %d, proposal %+v", s.Parallelism, s.Proposal)
		}
		if got := w.told(t); !strings.Contains(got[0], "set by order") {
			t.Errorf("orders %q", got)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

func (w *world) explained(t *testing.T) string {
	t.Helper()
	v, err := w.env.QueryWorkflow(workflows.QueryExplain)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	if err := v.Get(&lines); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// TestTheStateIsMeasuredWhereItCounts: it costs two requests more a cycle; a run
// that continues another knows that it is asked for.
func TestTheStateIsMeasuredWhereItCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cyclesPerRun = 4
	w.at(2*time.Minute+30*time.Second, func() { w.set(func() { w.stateSize = true }) })
	w.start(input())
	s := carried(t, w.env.GetWorkflowError())
	if w.observed != 4 || w.sized != 0 {
		t.Fatalf("%d of %d looks had the size of the state, but only the last decision asked for it", w.sized, w.observed)
	}
	w.next(t)
	w.at(90*time.Second, w.env.CancelWorkflow)
	w.start(s)
	if w.sized == 0 || w.observed != 4+w.sized {
		t.Errorf("%d of %d looks had the size of the state, want all but the first four", w.sized, w.observed)
	}
}
