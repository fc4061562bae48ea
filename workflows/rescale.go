package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// RescaleFlinkJob carries out one decision: preflight, apply once, verify on
// Flink itself. It never returns an error: it ends with an outcome and what
// Flink shows (I5). It depends on nobody: the workflow that started it may be
// cancelled, terminated or started again meanwhile. A cancel of its own changes
// nothing either: half a rescale is no outcome.
func RescaleFlinkJob(ctx workflow.Context, in activities.RescaleInput) (core.Outcome, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	r := &rescale{in: in, out: core.Outcome{
		DecisionID: in.DecisionID, Attempt: in.Attempt, From: in.From, Wanted: in.Wanted, StartedAt: workflow.Now(ctx).UTC(),
	}}
	r.show(ctx, "checking whether the job may be changed now")
	r.run(ctx)
	r.out.EndedAt = workflow.Now(ctx).UTC()
	r.show(ctx, fmt.Sprintf("%s: %s", r.out.Kind, r.out.Note))
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"cluster": in.Key.Cluster, "outcome": string(r.out.Kind), "reason": orNone(string(r.out.Reason))}).
		Counter(MetricRescales).Inc(1)
	workflow.GetLogger(ctx).Info("rescale ended", "job", in.Key.String(), "decision", in.DecisionID, "outcome", r.out.Kind, "reason", r.out.Reason, "note", r.out.Note)
	return r.out, nil
}

// rescale is one run of the saga.
type rescale struct {
	in  activities.RescaleInput
	out core.Outcome
}

func (r *rescale) run(ctx workflow.Context) {
	pre, err := callPreflight(ctx, r.in)
	if err != nil {
		r.end(core.Rejected, activities.ReasonOf(err, core.ReasonUnreachable), "not attempted: "+rootCause(err))
		return
	}
	if pre.Reason != "" {
		r.end(core.Rejected, pre.Reason, "not attempted: "+pre.Note)
		return
	}
	r.out.From = pre.Before
	r.show(ctx, "writing the requirements")
	written, err := callApply(ctx, activities.ApplyInput{Key: r.in.Key, Job: pre.Job, DecisionID: r.in.DecisionID, Held: pre.Held, Wish: pre.Wish})
	if activities.IsFinal(err) {
		r.end(core.Rejected, activities.ReasonOf(err, core.ReasonRefused), rootCause(err))
		return
	}
	// Without an answer in all that time the wish may be in force or not: Flink
	// itself will show it.
	r.out.WrittenAt = written.At
	r.show(ctx, "waiting for the new size")
	r.verify(ctx, pre, err)
}

func (r *rescale) verify(ctx workflow.Context, pre activities.Preflight, unwritten error) {
	got, err := callVerify(ctx, activities.VerifyInput{
		Key: r.in.Key, Target: r.in.Target, Job: pre.Job, Wanted: r.in.Wanted, Before: pre.Before, Wish: pre.Wish,
		RunningSince: pre.RunningSince, Deadline: workflow.Now(ctx).Add(r.in.VerifyTimeout).UTC(),
	})
	if err != nil {
		r.end(core.Failed, activities.ReasonOf(err, core.ReasonUnreachable), "written, but what came of it could not be read: "+rootCause(err))
		return
	}
	r.out.Got, r.out.RunningAt = got.Got, got.RunningAt
	if unwritten != nil && !got.WishHeld && got.Kind == core.Partial {
		r.end(core.Rejected, activities.ReasonOf(unwritten, core.ReasonUnreachable), "could not be written: "+rootCause(unwritten))
		return
	}
	note := got.Note
	if pre.Note != "" {
		note += "; when it began, " + pre.Note
	}
	r.end(got.Kind, got.Reason, note)
}

func (r *rescale) end(k core.OutcomeKind, reason core.Reason, note string) {
	r.out.Kind, r.out.Reason, r.out.Note = k, reason, spec.Cut(note, maxNote)
}

// show keeps the current details in the Temporal UI fresh.
func (r *rescale) show(ctx workflow.Context, phase string) {
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("**%s** attempt %d of %s: %s\n\n%s\n\n%s",
		r.in.Cause, r.in.Attempt, plain(r.in.Key.String()), plain(phase), plain(r.in.Note), sizesText(r.in.From, r.in.Wanted)))
}
