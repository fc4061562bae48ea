package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
)

// Trim takes back what was asked for and did not come, gives TaskManagers back that
// no job needs, where Flink does not do so by itself, and says how many are held. It
// is tried again while tasks still run on them: Flink takes a while to move them.
func (a *Activities) Trim(ctx context.Context, in TrimInput) (Trimmed, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	c := a.s.Clusters[in.Key.Cluster]
	withdraws := in.Job.Means != nil && in.Job.Means.Withdraws
	if c.Trimmer == nil && !withdraws {
		return Trimmed{}, toTemporal(&core.OpError{Op: "give TaskManagers back", Subject: in.Key.String(), Err: core.ErrRefused, Hint: "this worker does not know how"})
	}
	var out Trimmed
	if withdraws {
		platform, err := a.platform(in.Key.Cluster)
		if err != nil {
			return Trimmed{}, toTemporal(err)
		}
		w := withdrawal{in: in, pulse: b, sent: activity.HasHeartbeatDetails(ctx) && lastSent(ctx), now: a.s.Now}
		if out, err = w.run(ctx, platform); err != nil {
			return a.lateOrAgain(ctx, out, err, "what did not come could not be taken back")
		}
	}
	if c.Trimmer != nil {
		note, err := c.Trimmer.Trim(ctx, in.Job, in.DecisionID)
		if out.Note = also(out.Note, note); err != nil {
			return out, toTemporal(err)
		}
	}
	note, err := c.fallen(ctx, in, out.Withdrawn != nil)
	if out.Note = also(out.Note, note); err != nil {
		return a.lateOrAgain(ctx, out, err, "")
	}
	return out, nil
}

// giveBackWithin is how long Flink may take until it has given back what it does not
// need: its time-outs for idle slots (50 s) and for idle TaskManagers (30 s), and
// time to look.
const giveBackWithin = 2 * time.Minute

// lateOrAgain has Temporal try again what is not there yet; what takes too long is
// told, and is no error.
func (a *Activities) lateOrAgain(ctx context.Context, out Trimmed, err error, late string) (Trimmed, error) {
	if isFinal(err) || a.s.Now().Sub(activity.GetInfo(ctx).ScheduledTime) >= giveBackWithin {
		if late != "" {
			out.Note = also(out.Note, late+": "+err.Error())
		}
		return out, nil
	}
	return out, toTemporal(err)
}

// holds counts what the platform holds for the job's cluster, 0 where it is not known.
func (c Cluster) holds(ctx context.Context, job core.JobRef) int {
	if c.Holder == nil {
		return 0
	}
	h, err := c.Holder.Holds(ctx, job)
	if err != nil {
		return 0
	}
	return h.Held
}

// fallen says how many TaskManagers are held now and were before. core.ErrNotReady:
// more than are needed, or asked for, and Flink is about to give some back.
func (c Cluster) fallen(ctx context.Context, in TrimInput, withdrawn bool) (string, error) {
	if c.Holder == nil {
		return "", nil
	}
	h, err := c.Holder.Holds(ctx, in.Job)
	if err != nil {
		return fmt.Sprintf("how many %s are held could not be seen: %s", orWhat(h.What), err), nil
	}
	before := ""
	if in.Managers > 0 {
		before = fmt.Sprintf("%d before, ", in.Managers)
	}
	note := fmt.Sprintf("%s held for TaskManagers: %s%d now", orWhat(h.What), before, h.Held)
	more := h.Needed > 0 && h.Held > h.Needed
	if more {
		note += fmt.Sprintf(", %d are needed", h.Needed)
	}
	if withdrawn && h.Waits {
		note += ", and requests for more still wait"
	}
	// It became smaller, or what was asked for was taken back: some of them go.
	if more && (h.Needed < in.Managers || withdrawn) || withdrawn && h.Waits {
		return note, &core.OpError{Op: "give TaskManagers back", Subject: in.Job.ID, Err: fmt.Errorf("%w: %s", core.ErrNotReady, note)}
	}
	return note, nil
}

func orWhat(what string) string {
	if what == "" {
		return "TaskManagers"
	}
	return what
}

// withdrawal takes back what of a wish did not come.
type withdrawal struct {
	in    TrimInput
	pulse *pulse
	now   func() time.Time
	// sent is true once it may have been written, over all attempts.
	sent bool
}

// run lowers the upper bounds to what runs, with the same care as any write: what
// somebody else wants meanwhile is left alone (I8). Nothing that runs gets smaller, so
// no evidence is asked for (I1).
func (w withdrawal) run(ctx context.Context, platform Platform) (Trimmed, error) {
	if len(w.in.Wish) == 0 {
		return Trimmed{}, nil // what is in force is not known
	}
	status, err := platform.Status(ctx, w.in.Job)
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && status.State.Ended():
		return Trimmed{}, nil // with the job its requests have ended
	case err != nil:
		return Trimmed{}, err
	case !status.AllTasksRunning():
		return Trimmed{}, &core.OpError{Op: "take back what did not come", Subject: w.in.Job.ID, Err: fmt.Errorf("%w: the job is %s and not all tasks run", core.ErrNotReady, status.State)}
	}
	left := capped(w.in.Wish, status.Topology)
	if slices.Equal(left, w.in.Wish) {
		return Trimmed{}, nil
	}
	id := w.in.DecisionID + "-withdraw"
	out := Trimmed{Wish: left, Withdrawn: &core.Withdrawal{DecisionID: id, Note: w.in.Wish.Difference(left, titles(status.Topology))}}
	write := write{pulse: w.pulse, sent: w.sent, in: ApplyInput{Key: w.in.Key, Job: w.in.Job, DecisionID: id, Held: w.in.Wish, Wish: left}}
	if w.sent {
		write.note(ctx, true)
	}
	_, err = write.run(ctx, platform, anyTime)
	switch {
	case errors.Is(err, errForeign):
		return Trimmed{Note: "what did not come was not taken back: somebody else changed what is wanted of Flink meanwhile"}, nil
	case err != nil:
		return Trimmed{}, err
	}
	out.Withdrawn.At = w.now().UTC()
	out.Note = fmt.Sprintf("what did not come was withdrawn (%s): %s", id, out.Withdrawn.Note)
	return out, nil
}

// capped are requirements of no more than runs.
func capped(wish core.Requirements, t core.Topology) core.Requirements {
	out := make(core.Requirements, 0, len(wish))
	for _, b := range wish {
		if v, ok := t.Find(b.ID); ok && v.Parallelism > 0 && b.Upper > v.Parallelism {
			b.Upper, b.Lower = v.Parallelism, min(b.Lower, v.Parallelism)
		}
		out = append(out, b)
	}
	return out
}
