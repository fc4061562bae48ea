package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// RescaleFlinkJob carries out one decision: preflight, apply once, verify on
// Flink itself, and where that shows that the job is not well, back to the size
// before. It never returns an error: it ends with an outcome and what
// Flink shows (I5). It depends on nobody: the workflow that started it may be
// cancelled, terminated or started again meanwhile. A cancel of its own changes
// nothing either: half a rescale is no outcome.
func RescaleFlinkJob(ctx workflow.Context, in activities.RescaleInput) (core.Outcome, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	r := &rescale{in: in, lease: leaseOf(in), out: core.Outcome{
		DecisionID: in.DecisionID, Attempt: in.Attempt, From: in.From, Wanted: in.Wanted, StartedAt: workflow.Now(ctx).UTC(),
		JobID: in.JobID, Cause: in.Cause,
	}}
	if err := r.answer(ctx); err != nil {
		return core.Outcome{}, err
	}
	r.show(ctx, "checking whether the job may be changed now")
	r.lease.keep(ctx)
	r.run(ctx)
	r.trim(ctx)
	r.prune(ctx)
	r.wentBack()
	r.lease.release(ctx, r.out.Kind)
	r.out.EndedAt = workflow.Now(ctx).UTC()
	r.show(ctx, fmt.Sprintf("%s: %s", r.out.Kind, r.out.Note))
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"cluster": in.Key.Cluster, "outcome": string(r.out.Kind), "reason": orNone(string(r.out.Reason))}).
		Counter(MetricRescales).Inc(1)
	workflow.GetLogger(ctx).Info("rescale ended", "job", in.Key.String(), "decision", in.DecisionID, "outcome", r.out.Kind, "reason", r.out.Reason, "note", r.out.Note)
	r.tell(ctx)
	return r.out, nil
}

// wentBack has the outcome of an undo say what it was for.
func (r *rescale) wentBack() {
	if r.in.Cause != core.ReasonUndo || r.in.Undoes == "" {
		return
	}
	r.out.Note = spec.Cut(r.in.Note+"; "+r.out.Note, maxOutcomeNote)
	if r.out.Kind == core.Applied {
		r.out.Reason = r.in.Undoes
	}
}

// changeTell guards the command that tells of an outcome.
const changeTell = "tell-outcome"

// tell sends the alarm of a change that was taken back or after which the job is
// not well, once, whoever follows the rescale or nobody does. What cannot be sent
// in half a minute is lost, and said in the log.
func (r *rescale) tell(ctx workflow.Context) {
	if !r.out.Alarm() || workflow.GetVersion(ctx, changeTell, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	o := r.out
	if err := callReport(ctx, activities.ReportInput{Key: r.in.Key, Target: r.in.Target, Outcome: &o}); err != nil {
		workflow.GetLogger(ctx).Warn("the outcome could not be told as an event", "job", r.in.Key.String(), "decision", r.in.DecisionID, "error", rootCause(err))
	}
}

// QueryProgress asks a rescale how far it is.
const QueryProgress = "progress"

// RescaleBeat is the heartbeat of the activity that waits for a size.
type RescaleBeat = activities.Progress

// RescaleProgress is a rescale that runs, or its outcome. What Flink shows while
// it is waited for is in the heartbeat of the activity Verify, RescaleBeat.
type RescaleProgress struct {
	DecisionID string      `json:"decision"`
	Attempt    int         `json:"attempt"`
	Cause      core.Reason `json:"cause"`
	Phase      string      `json:"phase"`
	// Method is "redeploy" where the job is stopped and started again, empty for a
	// change in place.
	Method string    `json:"method,omitempty"`
	Since  time.Time `json:"since"`
	// Deadline is when the wait for the size ends, DeadlineWhy what it is made
	// of; zero outside of a wait.
	Deadline    time.Time         `json:"deadline,omitzero"`
	DeadlineWhy string            `json:"deadlineWhy,omitempty"`
	From        []core.VertexSize `json:"from,omitempty"`
	Wanted      []core.VertexSize `json:"wanted,omitempty"`
	// Outcome is nil until it has ended.
	Outcome *core.Outcome `json:"outcome,omitempty"`
}

// rescale is one run of the saga.
type rescale struct {
	in    activities.RescaleInput
	out   core.Outcome
	at    RescaleProgress
	lease *lease
	// spare is the job whose TaskManagers may be too many since a write was tried, nil
	// for none.
	spare *core.JobRef
	// managers is how many TaskManagers the platform held before, 0 where that is not
	// known.
	managers int
	// alive is the job that runs after a redeploy.
	alive core.JobRef
}

// answer lets people ask how far it is.
func (r *rescale) answer(ctx workflow.Context) error {
	r.at = RescaleProgress{DecisionID: r.in.DecisionID, Attempt: r.in.Attempt, Cause: r.in.Cause, From: r.in.From, Wanted: r.in.Wanted}
	return workflow.SetQueryHandlerWithOptions(ctx, QueryProgress, func() (RescaleProgress, error) { return r.at, nil },
		workflow.QueryHandlerOptions{Description: "How far the rescale is, and until when it waits."})
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
	if len(pre.Before) > 0 && r.in.Cause != core.ReasonUndo {
		// An undo goes from the size that is asked for: what runs may be less.
		r.out.From = pre.Before
	}
	if !r.lease.take(ctx) {
		r.end(core.Rejected, core.ReasonSlotsShared, "not attempted: the lease of its slots has ended, and others may have them")
		return
	}
	if pre.Redeploy != nil {
		r.redeploy(ctx, pre)
		return
	}
	if pre.Trim {
		r.spare, r.managers = &pre.Job, pre.Managers
	}
	r.show(ctx, "writing the requirements")
	written, err := callApply(ctx, activities.ApplyInput{Key: r.in.Key, Job: pre.Job, DecisionID: r.in.DecisionID, Held: pre.Held, Wish: pre.Wish, Checkpoint: pre.Checkpoint})
	if activities.IsFinal(err) {
		r.end(core.Rejected, activities.ReasonOf(err, core.ReasonRefused), rootCause(err))
		return
	}
	// Without an answer in all that time the wish may be in force or not: Flink
	// itself will show it.
	r.out.WrittenAt = written.At
	if err == nil {
		r.out.Wish = pre.Wish
	}
	r.verify(ctx, pre, err)
}

func (r *rescale) verify(ctx workflow.Context, pre activities.Preflight, unwritten error) {
	got, err := r.wait(ctx, pre, r.in.Wanted, "waiting for the new size")
	if err != nil {
		r.end(core.Failed, activities.ReasonOf(err, core.ReasonUnreachable), "written, but what came of it could not be read: "+rootCause(err))
		return
	}
	r.out.Got, r.out.RunningAt = got.Got, got.RunningAt
	if got.Job != nil {
		pre.Job = *got.Job
		r.moved(pre.Job)
	}
	if got.WishHeld {
		r.out.Wish = pre.Wish
	}
	if unwritten != nil && !got.WishHeld && got.Kind == core.Partial {
		r.end(core.Rejected, activities.ReasonOf(unwritten, core.ReasonUnreachable), "could not be written: "+rootCause(unwritten))
		return
	}
	note := got.Note
	if pre.Note != "" {
		note += "; when it began, " + pre.Note
	}
	r.end(got.Kind, got.Reason, note)
	if got.Undo != "" {
		r.undo(ctx, pre, got)
	}
}

// moved notes that the job has another id since the change.
func (r *rescale) moved(job core.JobRef) {
	r.out.JobID = job.ID
	if r.spare != nil {
		r.spare = &job
	}
}

// trim gives TaskManagers back that the size which came of it does not need, or that
// were asked for and did not come. That it could not be done is told, and changes
// nothing about the outcome.
func (r *rescale) trim(ctx workflow.Context) {
	if r.spare == nil {
		return
	}
	r.show(ctx, "giving back TaskManagers that are not needed")
	got, err := callTrim(ctx, activities.TrimInput{
		Key: r.in.Key, Job: *r.spare, DecisionID: r.in.DecisionID, Wish: r.out.Wish, Managers: r.managers,
	})
	if got.Withdrawn != nil {
		r.out.Withdrawn, r.out.Wish = got.Withdrawn, got.Wish
	}
	note := got.Note
	if got.Withdrawn != nil && err == nil {
		r.end(r.out.Kind, r.out.Reason, note+"; "+r.out.Note) // first: the rest may be cut
		return
	}
	if err != nil {
		note = "TaskManagers that are not needed could not be given back: " + rootCause(err)
	}
	if note != "" {
		r.end(r.out.Kind, r.out.Reason, r.out.Note+"; "+note)
	}
}

// leastVerify is the wait of a preflight that did not say how long: one that an
// earlier version recorded.
const leastVerify = 5 * time.Minute

// wait is one Verify, with a deadline that is shown.
func (r *rescale) wait(ctx workflow.Context, pre activities.Preflight, wanted []core.VertexSize, phase string) (activities.Verified, error) {
	within := pre.VerifyFor
	if within <= 0 {
		within = max(r.in.VerifyTimeout, 0)
	}
	if within == 0 {
		within = leastVerify
	}
	r.at.Deadline, r.at.DeadlineWhy = workflow.Now(ctx).Add(within).UTC(), pre.VerifyWhy
	r.show(ctx, phase)
	got, err := callVerify(ctx, activities.VerifyInput{
		Key: r.in.Key, Target: r.in.Target, Job: pre.Job, Wanted: wanted, Before: pre.Before, Wish: pre.Wish,
		RunningSince: pre.RunningSince, Since: pre.At, Undoing: r.out.Undo != nil || r.in.Cause == core.ReasonUndo, Deadline: r.at.Deadline,
	})
	r.at.Deadline, r.at.DeadlineWhy = time.Time{}, ""
	return got, err
}

// undo asks for the size before again: the job is not well since the change. It
// is a decision of its own, with its own id, and the outcome has both. Recorded
// results alone lead here, and those of earlier versions never do.
func (r *rescale) undo(ctx workflow.Context, pre activities.Preflight, bad activities.Verified) {
	u := &core.Undo{DecisionID: r.in.DecisionID + "-undo", Cause: bad.Undo, Note: r.out.Note}
	r.out.Undo = u
	kind, reason, note := core.Rejected, core.ReasonUndoOff, "switched off by job.autoscaler.rescale.undo.enabled"
	if !r.in.NoUndo {
		r.show(ctx, fmt.Sprintf("not well (%s): checking whether the size before may be asked for again", bad.Undo))
		kind, reason, note = r.goBack(ctx, pre, u)
	}
	u.Kind, u.Reason = kind, reason
	switch {
	case kind == core.Applied:
		r.end(core.Undone, bad.Undo, fmt.Sprintf("%s; undone: %s", u.Note, note))
	case kind == core.Partial && reason != core.ReasonForeignWriter:
		r.end(core.Undone, bad.Undo, fmt.Sprintf("%s; undone in part (%s): %s", u.Note, reason, note))
	default:
		r.end(core.Failed, bad.Undo, fmt.Sprintf("%s; not undone (%s): %s", u.Note, reason, note))
	}
	u.Note = spec.Cut(u.Note, maxNote)
}

// goBack is the undo itself: the same steps with the same care.
func (r *rescale) goBack(ctx workflow.Context, pre activities.Preflight, u *core.Undo) (core.OutcomeKind, core.Reason, string) {
	check, err := callCheckUndo(ctx, activities.UndoInput{
		Key: r.in.Key, Target: r.in.Target, Job: pre.Job, Wish: pre.Wish, Back: pre.Before, Restarts: r.in.Restarts, VerifyTimeout: r.in.VerifyTimeout,
	})
	switch {
	case err != nil:
		return core.Rejected, activities.ReasonOf(err, core.ReasonUnreachable), rootCause(err)
	case check.Reason != "":
		return core.Rejected, check.Reason, check.Note
	}
	r.show(ctx, "writing the size before")
	written, err := callApply(ctx, activities.ApplyInput{Key: r.in.Key, Job: check.Job, DecisionID: u.DecisionID, Held: check.Held, Wish: check.Wish, Checkpoint: check.Checkpoint})
	if activities.IsFinal(err) {
		return core.Rejected, activities.ReasonOf(err, core.ReasonRefused), rootCause(err)
	}
	u.WrittenAt = written.At
	r.out.Wish = check.Wish
	if err != nil {
		r.out.Wish = nil
	}
	got, err := r.wait(ctx, check, pre.Before, "waiting for the size before")
	if err != nil {
		return core.Failed, activities.ReasonOf(err, core.ReasonUnreachable), "written, but what came of it could not be read: " + rootCause(err)
	}
	u.Got, r.out.Got, r.out.RunningAt = got.Got, got.Got, got.RunningAt
	if got.Job != nil {
		r.moved(*got.Job)
	}
	if got.WishHeld {
		r.out.Wish = check.Wish
	}
	return got.Kind, got.Reason, got.Note
}

func (r *rescale) end(k core.OutcomeKind, reason core.Reason, note string) {
	r.out.Kind, r.out.Reason, r.out.Note = k, reason, spec.Cut(note, maxOutcomeNote)
}

// maxOutcomeNote has room for what went wrong and for what came of the undo.
const maxOutcomeNote = 2 * maxNote

// show keeps the current details in the Temporal UI fresh, and the answer of
// the query.
func (r *rescale) show(ctx workflow.Context, phase string) {
	r.at.Phase, r.at.Since = phase, workflow.Now(ctx).UTC()
	if !r.out.EndedAt.IsZero() {
		o := r.out
		r.at.Outcome = &o
	}
	until := ""
	if !r.at.Deadline.IsZero() {
		until = fmt.Sprintf(", at the latest until %s", r.at.Deadline.Format("2006-01-02 15:04:05 UTC"))
		if r.at.DeadlineWhy != "" {
			until += " (" + r.at.DeadlineWhy + ")"
		}
	}
	sizes := sizesText(r.in.From, r.in.Wanted)
	if r.in.Changes != "" {
		sizes = "- " + plain(r.in.Changes)
	}
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("**%s** of %s, attempt %d: %s%s\n\n%s\n\n%s%s",
		r.in.Cause, plain(r.in.Key.String()), r.in.Attempt, plain(phase), plain(until), plain(r.in.Note), sizes, lastLine))
}
