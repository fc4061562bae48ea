package workflows

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
	"flinkscaler/core/spec"
)

// MethodRedeploy is how RescaleProgress calls a change by a stop and a new start.
const MethodRedeploy = "redeploy"

// Attempts to start a job that was stopped: the first at the wanted size, all
// others at the size before, with pauses that double. What merely has no answer
// is not counted: it is tried for as long as it takes.
const (
	startAttempts = 12
	startPause    = 10 * time.Second
	longestPause  = 5 * time.Minute
)

// redeploy changes a job that cannot be changed in place: stopped with a
// savepoint, started again from it. A job that was not stopped runs on as it was;
// one that was is started again, at the size before where the new one does not
// do, until it lives or nothing more can be tried.
func (r *rescale) redeploy(ctx workflow.Context, pre activities.Preflight) {
	plan := *pre.Redeploy
	r.at.Method = MethodRedeploy
	r.out.Redeploy = &core.Redeploy{Trigger: plan.Stop.Trigger, Directory: plan.Stop.Directory, From: pre.Job.ID}
	in := activities.StopInput{Key: r.in.Key, Job: pre.Job, Stop: plan.Stop, Checkpoint: pre.Checkpoint}
	r.show(ctx, "redeploy: asking Flink to stop the job with a savepoint")
	taken, err := callStopJob(ctx, in)
	r.out.WrittenAt = taken.At
	if err != nil {
		// It may have been taken all the same: the job itself will show it.
		r.out.WrittenAt = workflow.Now(ctx).UTC()
	}
	r.show(ctx, "redeploy: waiting for the savepoint and the end of the job")
	stopped, waitErr := callAwaitStop(ctx, in)
	switch {
	case waitErr != nil:
		r.left(plan, core.ReasonUnreachable, "it could not be seen how the stop ended: "+rootCause(waitErr))
	case stopped.Ending == redeploy.RunsOn:
		note := "the job was not stopped and runs on as before: " + stopped.Note
		if err != nil {
			note += "; " + rootCause(err)
		}
		r.end(core.Rejected, core.ReasonSavepoint, note)
	case stopped.Ending == redeploy.Stopped:
		r.out.Redeploy.Savepoint = stopped.Savepoint
		r.restart(ctx, pre, plan)
	default:
		r.left(plan, core.ReasonLeftStopped, stopped.Note)
	}
}

// restart starts a stopped job again.
func (r *rescale) restart(ctx workflow.Context, pre activities.Preflight, plan activities.RedeployPlan) {
	savepoint := r.out.Redeploy.Savepoint
	r.show(ctx, "redeploy: checking the savepoint")
	note := pre.Note
	switch found, err := callCheckSavepoint(ctx, activities.CheckSavepointInput{Key: r.in.Key, Path: savepoint}); {
	case err != nil:
		// Flink calls it complete, and it is the only way on: it is tried.
		note = join(note, "the savepoint could not be read: "+rootCause(err))
	case found.Note != "":
		note = join(note, "of the savepoint: "+found.Note)
	}
	s := &start{
		r: r, pre: pre, wanted: r.in.Wanted, before: pre.Before, phase: "the new size",
		in: activities.SubmitInput{
			Key: r.in.Key, Name: pre.Job.Name, Trigger: plan.Stop.Trigger, Savepoint: savepoint, Vertices: plan.Vertices, Extras: plan.Extras,
		},
	}
	defer s.tidy(ctx, plan)
	if done := s.try(ctx); done {
		r.out.Note = spec.Cut(join(r.out.Note, note), maxOutcomeNote)
		r.stopped()
		return
	}
	u := &core.Undo{DecisionID: r.in.DecisionID + "-undo", Cause: s.why, Note: spec.Cut(join(s.note, note), maxNote)}
	r.out.Undo = u
	s.in.Vertices, s.wanted, s.phase, s.back = plan.Back(), pre.Before, "the size before", true
	pause := startPause
	for n := 1; n < startAttempts; n++ {
		if n > 1 {
			r.show(ctx, fmt.Sprintf("redeploy: THE JOB IS DOWN (%s: %s); it is started again from %s in %s", s.why, s.note, s.in.Savepoint, pause))
			_ = workflow.Sleep(ctx, pause) // disconnected: nothing cancels it
			pause = min(2*pause, longestPause)
		}
		u.WrittenAt = workflow.Now(ctx).UTC()
		if s.try(ctx) {
			s.undone(u)
			r.stopped()
			return
		}
	}
	u.Kind, u.Reason = core.Failed, s.why
	r.left(plan, core.ReasonLeftStopped, u.Note+"; not started again: "+s.note)
}

// start is a stopped job that is brought back to life.
type start struct {
	r   *rescale
	pre activities.Preflight
	in  activities.SubmitInput
	// wanted is the size of this attempt.
	wanted, before []core.VertexSize
	phase          string
	// job is the one that lives, nil for none.
	job *core.JobRef
	// back is true for the size before: a job at that one is never ended, it is
	// the last that there is.
	back bool
	// why and note say what went wrong last.
	why  core.Reason
	note string
}

// try is one attempt. It is true when the job lives, or must not be started
// again; the outcome then says how it is.
func (s *start) try(ctx workflow.Context) (done bool) {
	s.r.show(ctx, "redeploy: submitting the job at "+s.phase)
	sub, err := callSubmitJob(ctx, s.in)
	switch {
	case err != nil:
		s.in.Repeated = true // it may be on its way
		return s.failed(activities.ReasonOf(err, core.ReasonUnreachable), "the job could not be submitted: "+rootCause(err))
	case sub.Other != "":
		s.r.end(core.Failed, core.ReasonForeignWriter, fmt.Sprintf("the job was stopped, but %s; ours was not started; the savepoint is %s", sub.Note, s.in.Savepoint))
		return true
	case sub.Ended:
		s.next() // its id is used up
		return s.failed(cmp.Or(sub.Refused, core.ReasonJobNotRunning), sub.Note)
	case sub.Refused != "":
		return s.failed(sub.Refused, sub.Note)
	}
	job := core.JobRef{Key: s.r.in.Key, ID: sub.JobID, Name: s.in.Name, FlinkVersion: s.pre.Job.FlinkVersion}
	if sub.Job != nil {
		job.Extras = sub.Job.Extras
	}
	return s.verify(ctx, job)
}

// next uses another id.
func (s *start) next() {
	s.in.Number++
	s.in.Repeated = false
}

func (s *start) failed(why core.Reason, note string) bool {
	s.why, s.note = why, spec.Cut(note, maxNote)
	return false
}

// verify waits for a submitted job. One that is not well makes way for another
// attempt, where that loses nothing.
func (s *start) verify(ctx workflow.Context, job core.JobRef) (done bool) {
	within := s.pre.VerifyFor
	if within <= 0 {
		within = leastVerify
	}
	r := s.r
	r.at.Deadline, r.at.DeadlineWhy = workflow.Now(ctx).Add(within).UTC(), s.pre.VerifyWhy
	r.show(ctx, "redeploy: waiting for "+s.phase)
	got, err := callVerify(ctx, activities.VerifyInput{
		Key: r.in.Key, Target: r.in.Target, Job: job, Wanted: s.wanted, Before: s.before, Since: s.pre.At, Restored: s.in.Savepoint, Deadline: r.at.Deadline,
	})
	r.at.Deadline, r.at.DeadlineWhy = time.Time{}, ""
	if err != nil {
		got = activities.Verified{Kind: core.Failed, Reason: activities.ReasonOf(err, core.ReasonUnreachable), Note: rootCause(err)}
	}
	if got.Kind != core.Failed {
		s.lives(job, got)
		r.end(got.Kind, got.Reason, got.Note)
		return true
	}
	_ = s.failed(got.Reason, got.Note)
	r.show(ctx, fmt.Sprintf("redeploy: job %s is not well (%s): making way, where that loses nothing; the heartbeat of MakeWay says what is waited for", job.ID, got.Reason))
	way, err := callMakeWay(ctx, activities.MakeWayInput{
		Key: r.in.Key, Job: job, Unwell: got.Undo != "" && !s.back && !r.in.NoUndo, Restored: s.in.Savepoint, Newest: got.Newest,
		Checkpoints: redeploy.Checkpoints(s.pre.Checkpoint, s.pre.Job.ID, job.ID),
	})
	switch {
	case err != nil:
		way.Note = rootCause(err)
	case way.Clear:
		s.in.Savepoint = way.From
		if way.Ended {
			s.next()
		}
		s.note = spec.Cut(join(s.note, way.Note), maxNote)
		return false
	}
	s.lives(job, got)
	r.end(core.Failed, got.Reason, fmt.Sprintf("%s; job %s: %s", got.Note, job.ID, way.Note))
	if got.Undo != "" && r.out.Undo == nil {
		why := core.ReasonSavepoint
		if r.in.NoUndo {
			why = core.ReasonUndoOff
		}
		r.out.Undo = &core.Undo{DecisionID: r.in.DecisionID + "-undo", Cause: got.Undo, Note: s.note, Kind: core.Rejected, Reason: why}
	}
	return true
}

// tidy clears up after the submissions, on platforms where they leave something.
// What cannot be cleared up is told: the change itself is over.
func (s *start) tidy(ctx workflow.Context, plan activities.RedeployPlan) {
	if len(plan.Extras) == 0 {
		return
	}
	s.r.show(ctx, "redeploy: clearing up")
	in := activities.TidyInput{Key: s.r.in.Key, Job: core.JobRef{Key: s.r.in.Key, Name: s.in.Name, Extras: plan.Extras}}
	in.Submitted = append(in.Submitted, s.pre.Job.ID)
	for n := 0; n <= s.in.Number; n++ {
		in.Submitted = append(in.Submitted, redeploy.JobID(plan.Stop.Trigger, n))
	}
	if s.job != nil {
		in.Job = *s.job
	}
	done, err := callTidy(ctx, in)
	if err != nil {
		done.Note = "not cleared up: " + rootCause(err)
	}
	s.r.out.Note = spec.Cut(join(s.r.out.Note, done.Note), maxOutcomeNote)
}

// lives notes the job that runs in the place of the old one.
func (s *start) lives(job core.JobRef, got activities.Verified) {
	s.job, s.r.alive = &job, job
	s.r.out.JobID, s.r.out.Redeploy.To = job.ID, job.ID
	s.r.out.Got, s.r.out.RunningAt = got.Got, got.RunningAt
}

// undone turns the outcome of the last attempt into that of the undo.
func (s *start) undone(u *core.Undo) {
	o := &s.r.out
	u.Kind, u.Reason, u.Got = o.Kind, o.Reason, o.Got
	if o.Kind == core.Failed {
		s.r.end(core.Failed, o.Reason, fmt.Sprintf("%s; at the size before: %s", u.Note, o.Note))
		return
	}
	s.r.end(core.Undone, u.Cause, fmt.Sprintf("%s; undone: %s", u.Note, o.Note))
}

// left ends with an alarm: nothing more can be tried. The note says what a
// person needs to start the job.
func (r *rescale) left(plan activities.RedeployPlan, reason core.Reason, note string) {
	from := r.out.Redeploy.Savepoint
	if from == "" {
		from = "<the newest savepoint in " + r.out.Redeploy.Directory + ", else the newest checkpoint of job " + r.out.Redeploy.From + ">"
	}
	// What is needed comes first: the rest may be cut.
	r.end(core.Failed, reason, fmt.Sprintf("look whether the job runs, and if not start it with: %s; %s", redeploy.Command(plan.ByHand, from, r.out.From), note))
}

// stopped tells with the outcome that the job was down for it.
func (r *rescale) stopped() {
	if to := r.out.Redeploy.To; to != "" {
		r.out.Note = spec.Cut(fmt.Sprintf("redeployed as job %s from %s: %s", to, r.out.Redeploy.Savepoint, r.out.Note), maxOutcomeNote)
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
