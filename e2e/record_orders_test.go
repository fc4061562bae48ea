//go:build integration && record

package e2e

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// answers are the orders that came later: a policy that is set, a proposal that
// is rejected and one that is approved, an undo, each as signal and as update.
func (w *recorder) answers(c *flinksim.Cluster) {
	w.r.signal(workflows.MsgSetPolicy, `{"policy": {"job.autoscaler.approval.for": "ALL", "job.autoscaler.approval.quiet": "3 s"}, "by": "ann"}`)
	w.r.signal(workflows.MsgSetPolicy, `{"policy": {"job.autoscaler.nonsense": 1}}`)
	w.r.signal(workflows.MsgApprove, `{"decision": "none"}`)
	must(w.t, c.SetLoad(job, flinksim.Constant(3000)))
	s := w.r.await(job, "a proposal", waits)
	w.r.signal(workflows.MsgReject, fmt.Sprintf(`{"decision": %q, "by": "bob"}`, s.Proposal.ID))
	w.r.await(job, "the no to hold", func(s workflows.Status) bool { return s.Reason == core.ReasonDeclined || waits(s) })
	grown := func(s workflows.Status) bool { return size(s) >= 4 && s.Rescale == nil }
	for range 20 { // the load grows in the window, and with it what is proposed
		s = w.r.await(job, "a proposal, or the change", func(s workflows.Status) bool { return waits(s) || grown(s) })
		if grown(s) {
			break
		}
		_, _ = w.r.execute(workflows.MsgApprove, fmt.Sprintf(`{"decision": %q, "by": "ann"}`, s.Proposal.ID))
		w.r.await(job, "the answer", func(now workflows.Status) bool { return now.Cycle > s.Cycle+1 && now.Rescale == nil })
	}
	w.r.starter("undo", "dev/"+job, "--for", "5s")
	w.r.await(job, "the size before", func(s workflows.Status) bool { return size(s) < 4 && s.Rescale == nil })
	w.r.await(job, "the end of the undo", func(s workflows.Status) bool { return s.Override == nil && s.Rescale == nil })
	w.r.signal(workflows.MsgUndo, `{"for": "3 s"}`)
	w.r.starter("set-policy", "dev/"+job, "--remove", "approval.for", "--remove", "approval.quiet")
	must(w.t, c.SetLoad(job, flinksim.Constant(1000)))
	w.r.await(job, "a smaller size", func(s workflows.Status) bool { return s.Override == nil && size(s) <= 2 && rests(s) })
	w.save(scaleID, "answers", "set-policy, approve, reject and undo, as signals and as updates, good ones and bad ones")
}

// proposed is a run that began by continue-as-new with a proposal open.
func (w *recorder) proposed() {
	c := sim(w.t, 1200)
	w.r = newRig(w.t, c.URL(), rigOptions{attributes: true, cyclesPerRun: 8})
	w.r.start(job, asking(map[string]string{"job.autoscaler.approval.deadline": "30 s", "job.autoscaler.approval.quiet": "10 min"}))
	w.r.await(job, "a quiet start", rests)
	must(w.t, c.SetLoad(job, flinksim.Constant(3000)))
	s := w.r.await(job, "a proposal", waits)
	for settled := false; !settled; {
		next := w.r.await(job, "it to settle", func(now workflows.Status) bool { return waits(now) && now.Cycle >= s.Cycle+6 })
		settled, s = next.Proposal.ID == s.Proposal.ID, next
	}
	w.r.await(job, "its deadline", func(s workflows.Status) bool { return s.Reason == core.ReasonDeclined })
	w.save(scaleID, "proposed", "a run that goes on from the state of the run before with a proposal in it, up to its deadline")
}
