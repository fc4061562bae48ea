package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
	"flinkscaler/core/spec"
)

func isGone(err error) bool { return errors.Is(err, core.ErrNotFound) }

// tryAgain is a failure that may pass although its meaning is usually final.
func tryAgain(err error) error {
	return temporal.NewApplicationErrorWithOptions(err.Error(), ErrTypeTryAgain, temporal.ApplicationErrorOptions{
		Category: temporal.ApplicationErrorCategoryBenign, Details: []any{string(core.ReasonFor(err))},
	})
}

// SubmitInput is a job to be started from a savepoint.
type SubmitInput struct {
	Key  core.JobKey `json:"key"`
	Name string      `json:"name"`
	// Trigger is that of the stop, Number how many jobs of this attempt have been
	// seen ended: both make the id of this one.
	Trigger   string                 `json:"trigger"`
	Number    int                    `json:"n,omitempty"`
	Savepoint string                 `json:"savepoint"`
	Vertices  []core.SubmittedVertex `json:"vertices"`
	// Extras are the platform's, from the plan.
	Extras map[string]string `json:"extras,omitempty"`
	// Repeated is true when an earlier call with this number was given up: what it
	// began may still be on its way.
	Repeated bool `json:"repeated,omitempty"`
}

// ref is the job as it will be.
func (in SubmitInput) ref() core.JobRef {
	return core.JobRef{Key: in.Key, ID: redeploy.JobID(in.Trigger, in.Number), Name: in.Name, Extras: in.Extras}
}

// Submitted says what became of a submission: exactly one of the fields but At
// and Note tells it.
type Submitted struct {
	// JobID is the job that lives, started by this attempt; Job is the same with what
	// the platform finds it by, nil where that needs nothing else.
	JobID string       `json:"jobId,omitempty"`
	Job   *core.JobRef `json:"job,omitempty"`
	// Other is a live job of that name that somebody else started: none of ours was.
	Other string `json:"other,omitempty"`
	// Ended is true when the job of this id is there and has ended; Refused then says
	// why, where that is known.
	Ended bool `json:"ended,omitempty"`
	// Refused is why there is no job.
	Refused core.Reason `json:"refused,omitempty"`
	Note    string      `json:"note,omitempty"`
	At      time.Time   `json:"at"`
}

// SubmitJob starts the job, unless it is there already: it looks before and,
// where the answer was no plain yes, after it. The id is derived from the
// attempt, so that neither a retry nor a call whose answer was lost can ever run
// two copies. A live job of the same name that is not ours is left alone.
func (a *Activities) SubmitJob(ctx context.Context, in SubmitInput) (Submitted, error) {
	at := a.submitting(ctx, in)
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	b.show(ctx, at)
	deployer, _, err := a.mustRedeploy(in.Key.Cluster)
	if err != nil {
		return Submitted{}, toTemporal(err)
	}
	s := core.Submission{
		JobID: in.ref().ID, Name: in.Name, Savepoint: in.Savepoint, Vertices: in.Vertices, Extras: in.Extras,
		Repeated: in.Repeated || activity.GetInfo(ctx).Attempt > 1, Elsewhere: at.Elsewhere,
	}
	out, found, err := lookFor(ctx, deployer, in.ref())
	if err != nil {
		return Submitted{}, retryable(err)
	}
	if !found {
		activity.GetLogger(ctx).Info("submitting the job", "job", in.Key.String(), "flinkJob", s.JobID, "savepoint", s.Savepoint, "vertices", s.Vertices)
		out, err = submit(ctx, deployer, s, in.ref())
		if err != nil {
			return Submitted{}, retryable(err)
		}
	}
	out.At = a.s.Now().UTC()
	return out, nil
}

// retryable makes every failure of a submission one that is tried again: the job
// is down, and only a plain refusal is an answer.
func retryable(err error) error {
	if isFinal(err) {
		return tryAgain(err)
	}
	return toTemporal(err)
}

// Submitting is what the heartbeat of a submission shows: where it is made, so
// that the next call knows where to look for what this one began.
type Submitting struct {
	Place string `json:"place,omitempty"`
	// Elsewhere is a moment after which no call of this submission was begun at
	// another place, zero where none ever was.
	Elsewhere time.Time `json:"elsewhere,omitzero"`
}

// submitting is what is known of earlier calls: of one that nothing is known of,
// that it may have been anywhere, until now.
func (a *Activities) submitting(ctx context.Context, in SubmitInput) Submitting {
	now := Submitting{Place: a.s.Place}
	var last Submitting
	switch known := activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &last) == nil; {
	case known && last.Place != "" && last.Place == a.s.Place:
		now.Elsewhere = last.Elsewhere
	case known || in.Repeated || activity.GetInfo(ctx).Attempt > 1:
		now.Elsewhere = a.s.Now().UTC()
	}
	return now
}

func submit(ctx context.Context, deployer Redeployer, s core.Submission, job core.JobRef) (Submitted, error) {
	started, err := deployer.Submit(ctx, s)
	if err == nil {
		return lives(started), nil
	}
	out, found, lookErr := lookFor(ctx, deployer, job)
	switch {
	case lookErr == nil && found:
		if out.Ended {
			out.Note = spec.Cut(err.Error(), maxNote)
		}
		if out.Ended && errors.Is(err, core.ErrNoRoom) {
			out.Refused = core.ReasonNoRoom
		}
		return out, nil
	case lookErr == nil && errors.Is(err, core.ErrRefused):
		return Submitted{Refused: core.ReasonFor(err), Note: spec.Cut(err.Error(), maxNote)}, nil
	}
	return Submitted{}, err
}

// lives is a job of this attempt.
func lives(job core.JobRef) Submitted {
	s := Submitted{JobID: job.ID}
	if len(job.Extras) > 0 {
		s.Job = &job
	}
	return s
}

// lookFor finds the job of this id, or another live one of its name.
func lookFor(ctx context.Context, deployer Redeployer, job core.JobRef) (Submitted, bool, error) {
	copies, err := deployer.Copies(ctx, job)
	if err != nil {
		return Submitted{}, false, err
	}
	var own *core.JobRef
	other := ""
	for _, j := range copies {
		switch {
		case j.ID == job.ID:
			own = &j
		case !j.State.Ended():
			other = j.ID
		}
	}
	switch {
	case own != nil && !own.State.Ended():
		return lives(*own), true, nil
	case other != "":
		return Submitted{Other: other, Note: fmt.Sprintf("job %s of that name runs, which somebody else started", other)}, true, nil
	case own != nil:
		return Submitted{Ended: true, Note: fmt.Sprintf("job %s is %s", own.ID, own.State)}, true, nil
	}
	return Submitted{}, false, nil
}
