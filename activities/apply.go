package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
)

// Apply has the wish in force: it reads what is wanted now, and writes only on
// a difference. So a repeat after a crash, a lost answer or a retry writes
// nothing twice (I4). It makes at most one write per attempt.
//
// Somebody else's change since the preflight is not overwritten (I8). Once a
// write has had no answer, no later error proves that nothing was written: the
// error is then of the type ErrTypeMaybeWritten, and Flink itself has to show
// what came of it (I5).
func (a *Activities) Apply(ctx context.Context, in ApplyInput) (ApplyResult, error) {
	w := write{in: in, sent: activity.HasHeartbeatDetails(ctx) && lastSent(ctx)}
	ctx, w.pulse = startBeat(ctx, nil)
	defer w.pulse.stop()
	if w.sent {
		w.note(ctx, true)
	}
	platform, err := a.platform(in.Key.Cluster)
	if err != nil {
		return ApplyResult{}, w.fail(err)
	}
	already, err := w.run(ctx, platform, func() error { return a.stillAnswers(ctx, in.Key.Cluster, in.Checkpoint) })
	if err != nil {
		return ApplyResult{}, w.fail(err)
	}
	return ApplyResult{Already: already, At: a.s.Now().UTC()}, nil
}

// write is one attempt to have a wish in force.
type write struct {
	in    ApplyInput
	pulse *pulse
	// sent is true from a write until it is certain that it was not taken,
	// over all attempts: heartbeats carry it.
	sent bool
}

// writeProgress is what Apply's heartbeat carries from attempt to attempt.
type writeProgress struct {
	Sent bool `json:"sent"`
}

func lastSent(ctx context.Context) bool {
	var p writeProgress
	// What cannot be read is taken as sent: the careful side.
	return activity.GetHeartbeatDetails(ctx, &p) != nil || p.Sent
}

func (w *write) note(ctx context.Context, sent bool) {
	w.sent = sent
	w.pulse.show(ctx, writeProgress{Sent: sent})
}

// run reads, and writes only on a difference, and while ready does not say that it
// must not. It is true when nothing had to be written.
func (w *write) run(ctx context.Context, platform Platform, ready func() error) (already bool, err error) {
	held, err := platform.Wanted(ctx, w.in.Job)
	switch {
	case err != nil:
		return false, err
	case slices.Equal(held, w.in.Wish):
		return true, nil
	case len(w.in.Held) > 0 && !slices.Equal(held, w.in.Held):
		return false, &core.OpError{Op: "set resource requirements", Subject: w.in.Job.ID, Err: errForeign}
	}
	if err := ready(); err != nil {
		return false, err
	}
	log := activity.GetLogger(ctx)
	log.Info("writing resource requirements", "job", w.in.Key.String(), "decision", w.in.DecisionID, "requirements", w.in.Wish)
	doubt := w.sent
	w.note(ctx, true)
	err = platform.Want(ctx, w.in.Job, w.in.DecisionID, w.in.Wish)
	switch {
	case err == nil:
	case errors.Is(err, core.ErrBusy), isFinal(err):
		w.note(ctx, doubt) // this one was not taken
	default:
		// It may have been taken: the next attempt reads first and finds out.
		log.Warn("no answer to the write; it is read back before anything is written again", "job", w.in.Key.String(), "error", err)
	}
	return false, err
}

// errForeign: the requirements are neither those of the preflight nor the
// wish, so somebody else wrote them. It is final although busy is not: writing
// later would still overwrite somebody's change.
var errForeign = fmt.Errorf("%w: somebody else changed them since they were checked", core.ErrBusy)

// fail makes the Temporal error of this attempt.
func (w *write) fail(err error) error {
	typ, foreign := ErrTypeMaybeWritten, errors.Is(err, errForeign)
	switch {
	case !foreign && (!w.sent || !isFinal(err)):
		return toTemporal(err)
	case !w.sent:
		typ = ErrTypeRefused
	}
	reason := core.ReasonFor(err)
	if foreign {
		reason = core.ReasonForeignWriter
	}
	return finalError(err, typ, reason)
}
