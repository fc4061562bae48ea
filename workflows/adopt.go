package workflows

import (
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// adopt takes over what an earlier workflow of this job left: the number of
// the last attempt, and a rescale that is still open.
func (l *loop) adopt(ctx workflow.Context) error {
	found, err := l.find(ctx)
	if err != nil {
		// Nothing may be started without knowing; the next attempt asks again.
		workflow.GetLogger(ctx).Warn("could not look for an earlier rescale", "job", l.s.Spec.Key.String(), "error", err)
		return ctx.Err()
	}
	l.s.Attempt = max(l.s.Attempt, found.Attempt)
	if found.Outcome != nil {
		l.s.Rescales = []core.Outcome{*found.Outcome}
	}
	if found.Open && !found.OwnedElsewhere {
		l.await(ctx, found)
	}
	return nil
}

// find asks for the newest rescale of the target, and notes another owner.
func (l *loop) find(ctx workflow.Context) (activities.FoundRescale, error) {
	found, err := callFindRescale(ctx, activities.FindRescaleInput{
		RescaleID: spec.RescaleID(l.s.Spec.Key.Cluster, l.s.Spec.Target), Owner: workflow.GetInfo(ctx).WorkflowExecution.ID,
	})
	if err != nil {
		return found, err
	}
	l.s.ManagedBy = ""
	if found.OwnedElsewhere {
		l.s.ManagedBy = found.Owner
	}
	return found, nil
}

// await follows a rescale that this run did not start.
func (l *loop) await(ctx workflow.Context, found activities.FoundRescale) {
	l.s.Open = &OpenRescale{DecisionID: found.DecisionID, Attempt: found.Attempt, RunID: found.RunID, Since: workflow.Now(ctx).UTC()}
	free, _ := workflow.NewDisconnectedContext(ctx)
	workflow.GoNamed(free, "adopted rescale", func(free workflow.Context) {
		o, err := callAwaitRescale(free, activities.AwaitRescaleInput{
			RescaleID: spec.RescaleID(l.s.Spec.Key.Cluster, l.s.Spec.Target), RunID: found.RunID,
		})
		l.closed(free, o, err)
	})
}

// rescale carries out a change: as a child that outlives this workflow, one
// open run per target. What is open already is adopted instead. What operators
// order while the last rescale is looked up still counts (I6).
func (l *loop) rescale(ctx workflow.Context, v verdict) {
	found, err := l.find(ctx)
	l.expire(ctx)
	switch {
	case err != nil:
		l.heldBack(core.ReasonUnreachable, "the last rescale could not be looked up: "+rootCause(err))
		return
	case ctx.Err() != nil:
		l.heldBack(core.ReasonPaused, "the management of the job was ended meanwhile")
		return
	case l.s.Pause != nil:
		l.heldBack(core.ReasonPaused, "paused after it was decided")
		return
	case l.asked() != v.asked:
		l.heldBack(core.ReasonOverride, "an order came or ended after it was decided; it is decided anew at once")
		return
	case found.OwnedElsewhere:
		l.heldBack(core.ReasonManagedElsewhere, "the target is managed by workflow "+found.Owner)
		return
	case found.Open:
		l.await(ctx, found)
		l.heldBack(core.ReasonRescaleOpen, "an earlier rescale of the same target is still open")
		return
	}
	l.s.Attempt = max(l.s.Attempt, found.Attempt) + 1
	if err := l.start(ctx, v); err != nil {
		l.heldBack(core.ReasonRescaleOpen, "the rescale could not be started: "+rootCause(err))
	}
}

// start starts the child and follows it. Both contexts are disconnected: a
// cancelled parent must not cancel a rescale half-way.
func (l *loop) start(ctx workflow.Context, v verdict) error {
	d := v.Decision
	in := activities.RescaleInput{
		Key: l.s.Spec.Key, Target: l.s.Spec.Target, JobID: l.s.Job.ID, DecisionID: d.ID, Attempt: l.s.Attempt,
		Owner: workflow.GetInfo(ctx).WorkflowExecution.ID, Cause: d.Reason, Note: d.Note, Undoes: d.Undoes,
		From: froms(d), Wanted: d.Sizes(), Changes: l.s.changesText(froms(d), d.Sizes()), VerifyTimeout: l.s.VerifyTimeout, NoCheckpoints: l.s.NoCheckpoints, NoSlots: l.s.NoSlots, NoUndo: l.s.NoUndo, Redeploy: l.s.Redeploy,
		Seen: l.s.inForce(), Restarts: l.s.Memory.Restarts,
		Slots: l.s.slotsPart(v.slots),
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	free = workflow.WithChildOptions(free, workflow.ChildWorkflowOptions{
		WorkflowID:            spec.RescaleID(in.Key.Cluster, in.Target),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         fmt.Sprintf("%s of %s, attempt %d", d.Reason, in.Key.Job, in.Attempt),
		Memo:                  map[string]any{activities.MemoOwner: in.Owner, activities.MemoAttempt: in.Attempt, activities.MemoDecision: in.DecisionID},
	})
	child := workflow.ExecuteChildWorkflow(free, RescaleName, in)
	var exec workflow.Execution
	if err := child.GetChildWorkflowExecution().Get(free, &exec); err != nil {
		return err
	}
	l.s.Open = &OpenRescale{DecisionID: d.ID, Attempt: in.Attempt, RunID: exec.RunID, Since: workflow.Now(ctx).UTC(), Wanted: in.Wanted}
	l.s.handedOver(in.Slots)
	workflow.GoNamed(free, "rescale", func(free workflow.Context) {
		var o core.Outcome
		err := child.Get(free, &o)
		l.closed(free, o, err)
	})
	return nil
}

// froms is what the decision goes from.
func froms(d core.Decision) []core.VertexSize {
	out := make([]core.VertexSize, 0, len(d.Vertices))
	for _, v := range d.Vertices {
		out = append(out, core.VertexSize{ID: v.ID, Parallelism: v.From})
	}
	return out
}

// asks notes an order that shows that somebody looks at the job: what another
// wrote over ours by then is known to them.
func (s *State) asks(message string, now time.Time) {
	switch message {
	case MsgEvaluateNow, MsgResume, MsgOverride, MsgUndo:
		s.AskedAt = now
	}
}

// inForce is what was wanted of Flink at the newest look, nil where it is not
// known.
func (s *State) inForce() core.Requirements {
	n := len(s.Window)
	if n == 0 || !s.Window[n-1].Asked {
		if ours := s.Memory.Ours; ours != nil && ours.JobID == s.Job.ID {
			return ours.Wish // what a job that is down should still have
		}
		return nil
	}
	return core.Beside(s.Window[n-1].Wanted, s.Topology.Sizes())
}

// closed takes in the outcome of a rescale and has the job looked at at once.
func (l *loop) closed(ctx workflow.Context, o core.Outcome, err error) {
	now := workflow.Now(ctx).UTC()
	if err != nil {
		o = core.Outcome{Kind: core.Failed, Reason: core.ReasonInternal, Note: spec.Cut("the rescale workflow ended without an outcome: "+rootCause(err), maxNote), EndedAt: now}
	}
	if open := l.s.Open; open != nil && o.DecisionID == "" {
		o.DecisionID, o.Attempt, o.StartedAt, o.Wanted = open.DecisionID, open.Attempt, open.Since, open.Wanted
	}
	l.s.ended(o, now)
	if err != nil {
		l.tellLost(ctx, o)
	}
	l.hurry(now)
	l.changed(ctx)
}

// heldBack turns the last decision into a hold: it was not carried out.
func (l *loop) heldBack(r core.Reason, note string) {
	d := l.s.Last
	d.Verdict, d.Reason, d.Note, d.Vertices = core.Hold, r, spec.Cut(note, maxNote), slices.Clone(d.Vertices)
	for i := range d.Vertices {
		v := &d.Vertices[i]
		if v.To != v.From {
			v.Steps = append(slices.Clone(v.Steps), core.Step{By: string(r), To: v.From})
			v.To, v.Why = v.From, r
		}
	}
	if n := len(l.s.Decisions); n > 0 {
		l.s.Decisions = l.s.Decisions[:n-1]
	}
	l.s.decided(d)
}
