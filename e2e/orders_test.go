//go:build integration

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// signal sends a message with tctl, execute one with the temporal CLI, which
// waits for the answer.
func (r *rig) signal(name, input string) {
	r.t.Helper()
	args := []string{"workflow", "signal", "--wid", r.workflow(), "--name", name}
	if input != "" {
		args = append(args, "--input", input)
	}
	r.tctl(args...)
}

func (r *rig) execute(name, input string) (string, error) {
	args := []string{"workflow", "update", "execute", "--workflow-id", r.workflow(), "--name", name}
	if input != "" {
		args = append(args, "--input", input)
	}
	return r.command(bin.temporal, args...)
}

// orderOf finds the newest order of a kind in the history.
func (r *rig) orderOf(name string) workflows.Order {
	r.t.Helper()
	orders := r.history(job).Orders
	for i := len(orders) - 1; i >= 0; i-- {
		if orders[i].Message == name {
			return orders[i]
		}
	}
	return workflows.Order{}
}

// TestOrderSetPolicy by each of the three programs: it reaches the decisions, the
// answer says what changed, and a bad one changes nothing.
func TestOrderSetPolicy(t *testing.T) {
	t.Parallel()
	c := sim(t, 3000)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(map[string]string{"job.autoscaler.vertex.max-parallelism": "2"}))
	r.await(job, "the limit of its input", func(s workflows.Status) bool { return size(s) == 2 && s.Reason == core.ReasonAtLimit })

	r.signal(workflows.MsgSetPolicy, `{"policy": {"job.autoscaler.vertex.max-parallelism": "3"}, "by": "ann"}`)
	r.await(job, "the limit that tctl set", func(s workflows.Status) bool { return size(s) == 3 && s.Rescale == nil })

	out, err := r.execute(workflows.MsgSetPolicy, `{"policy": {"job.autoscaler.vertex.max-parallelism": 6}, "by": "bob", "reason": "sale"}`)
	if err != nil || !strings.Contains(out, "job.autoscaler.vertex.max-parallelism 3 -> 6 (set-policy)") {
		t.Errorf("the temporal CLI: %v\n%s", err, out)
	}
	r.await(job, "the limit that the temporal CLI set", func(s workflows.Status) bool { return size(s) >= 4 && s.Rescale == nil })
	if out := r.starter("policy", r.name(), "--changed"); !strings.Contains(out, "set by bob (sale)") {
		t.Errorf("the policy shows\n%s", out)
	}

	out, err = r.execute(workflows.MsgSetPolicy, `{"policy": {"job.autoscaler.vertex.max-parallelism": "many", "job.autoscaler.metrics.window": "1 ms", "job.autoscaler.scaling.enabled": false}}`)
	if err == nil || !strings.Contains(out, "max-parallelism") || !strings.Contains(out, "metrics.window") {
		t.Errorf("a bad policy: %v\n%s", err, out)
	}
	if s := r.await(job, "its status", func(workflows.Status) bool { return true }); len(s.Set) != 1 || s.Set[0].Value != "6" {
		t.Errorf("a bad policy changed something: %+v", s.Set)
	}

	if out := r.starter("set-policy", r.name(), "--remove", "vertex.max-parallelism", "--policy", "scale-down.interval=1 h"); !strings.Contains(out, "vertex.max-parallelism 6 -> 2 (input)") {
		t.Errorf("the starter says\n%s", out)
	}
	if s := r.await(job, "its status", func(workflows.Status) bool { return true }); len(s.Set) != 1 || s.Set[0].Key != "job.autoscaler.scale-down.interval" {
		t.Errorf("after --remove: %+v", s.Set)
	}
}

// TestOrderUndo by each of the three programs, back and forth.
func TestOrderUndo(t *testing.T) {
	t.Parallel()
	c := sim(t, 1200)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(nil))
	s := r.await(job, "a quiet start", rests)
	if out, err := r.execute(workflows.MsgUndo, ""); err == nil || !strings.Contains(out, "nothing to undo") {
		t.Errorf("with nothing to undo: %v\n%s", err, out)
	}
	small := size(s)
	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	large := size(r.await(job, "growth", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) }))

	out, err := r.execute(workflows.MsgUndo, `{"by": "ann"}`)
	if want := fmt.Sprintf("%d -> %d", large, small); err != nil || !strings.Contains(out, want) {
		t.Errorf("the temporal CLI: no %q: %v\n%s", want, err, out)
	}
	r.await(job, "the size before", func(s workflows.Status) bool { return size(s) == small && s.Rescale == nil })
	r.signal(workflows.MsgUndo, "")
	r.await(job, "the size before that", func(s workflows.Status) bool { return size(s) == large && s.Rescale == nil })
	if out := r.starter("undo", r.name(), "--for", "5s", "--reason", "once more"); !strings.Contains(out, "undo of rescale") {
		t.Errorf("the starter says\n%s", out)
	}
	r.await(job, "the size before", func(s workflows.Status) bool { return size(s) == small && s.Rescale == nil })
	r.await(job, "growth when the undo has ended", func(s workflows.Status) bool { return size(s) >= 4 && s.Override == nil && rests(s) })
	if o := r.orderOf(workflows.MsgUndo); o.Ended != "ran out" || o.Reason != "once more" {
		t.Errorf("the last undo: %+v", o)
	}
}

// asking is a policy under which changes wait for a yes.
func asking(more map[string]string) map[string]string {
	p := brisk(map[string]string{
		"job.autoscaler.approval.for": "ALL", "job.autoscaler.approval.quiet": "3 s", "job.autoscaler.approval.deadline": "10 min",
		// A lag that grows while a proposal waits would make each next one larger.
		"job.autoscaler.catch-up.duration": "0 s",
	})
	for k, v := range more {
		p[k] = v
	}
	return p
}

func waits(s workflows.Status) bool { return s.Proposal != nil && s.State == workflows.Awaiting }

// TestOrderApproval by each of the three programs, with a rejection by each. The
// workflow continues as new all the time.
func TestOrderApproval(t *testing.T) {
	t.Parallel()
	c := sim(t, 1200)
	r := shared(t, c.URL(), 2)
	r.start(job, asking(nil))
	r.await(job, "a quiet start", rests)
	before := len(c.Writes())
	loads := []float64{2400, 4400, 1200} // the last one is a way down
	for i, answer := range []func(name, id string){
		func(name, id string) { r.signal(name, fmt.Sprintf(`{"decision": %q, "by": "ann"}`, id)) },
		func(name, id string) {
			if out, err := r.execute(name, fmt.Sprintf(`{"decision": %q, "by": "ann"}`, id)); err != nil {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		},
		func(name, id string) {
			if out := r.starter(name, r.name(), id); !strings.Contains(out, id+" is "+name) {
				t.Errorf("the starter says\n%s", out)
			}
		},
	} {
		must(t, c.SetLoad(job, flinksim.Constant(loads[i])))
		s := r.await(job, "a proposal", waits)
		runs, old := s.Runs, size(s)
		s = r.await(job, "it to wait over two runs", func(s workflows.Status) bool { return waits(s) && s.Runs > runs+2 })
		if n := len(c.Writes()) - before; n != 0 {
			t.Fatalf("%d writes without a yes", n)
		}
		answer(workflows.MsgReject, s.Proposal.ID)
		r.await(job, "the no to hold", func(s workflows.Status) bool { return s.Reason == core.ReasonDeclined })
		s = r.await(job, "the same again when the no is over", waits)
		answer(workflows.MsgApprove, s.Proposal.ID)
		r.await(job, "the change", func(s workflows.Status) bool { return size(s) != old && s.Rescale == nil })
		before = len(c.Writes())
	}
	if o := r.orderOf(workflows.MsgApprove); !strings.HasPrefix(o.Ended, "carried out by rescale") {
		t.Errorf("the last yes: %+v", o)
	}
	if out := r.starter("history", r.name()); !strings.Contains(out, "rejected by") || !strings.Contains(out, "approved by") {
		t.Errorf("the history shows\n%s", out)
	}
}

// TestOrderNobodyAnswers: the deadline comes while no worker runs; the policy's
// answer then stands, once.
func TestOrderNobodyAnswers(t *testing.T) {
	t.Parallel()
	c := sim(t, 1200)
	r := newRig(t, c.URL(), rigOptions{})
	r.start(job, asking(map[string]string{"job.autoscaler.approval.default": "APPLY", "job.autoscaler.approval.deadline": "25 s"}))
	r.await(job, "a quiet start", rests)
	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	s := r.await(job, "a proposal", waits)
	// The load grows in the window, and with it what is proposed.
	for settled := false; !settled; {
		next := r.await(job, "six more looks", func(now workflows.Status) bool { return waits(now) && now.Cycle >= s.Cycle+6 })
		settled, s = next.Proposal.ID == s.Proposal.ID, next
	}
	must(t, r.Worker.Kill())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, "the deadline", func(context.Context) (string, bool, error) {
		return "not yet", time.Now().After(s.Proposal.Deadline), nil
	}))
	if n := len(c.Writes()); n != 0 {
		t.Errorf("%d writes before the deadline", n)
	}
	r.launchWorker()
	r.await(job, "the change", func(s workflows.Status) bool { return size(s) >= 4 && s.Rescale == nil })
	answered := 0
	for _, o := range r.history(job).Orders {
		if o.Decision == s.Proposal.ID {
			answered++
			if o.Ended != "approved by default: nobody answered in time" || o.EndedAt.Before(o.Until) {
				t.Errorf("the proposal ended as %+v", o)
			}
		}
	}
	if answered != 1 || len(c.Writes()) != 1 {
		t.Errorf("the proposal was answered %d times, with %d writes", answered, len(c.Writes()))
	}
}
