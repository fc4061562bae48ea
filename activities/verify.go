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

// verifyEvery is how often Verify looks. Flink caches what it shows for
// web.refresh-interval (3 s by default), so more would show nothing more.
const verifyEvery = time.Second

// Progress is what Verify's heartbeat shows while it waits.
type Progress struct {
	Phase       string `json:"phase"`
	SecondsLeft int    `json:"secondsLeft"`
}

// Verify waits until the job runs at what was wanted, judged by Flink itself
// and never by a 200, or until the deadline; then it says what Flink shows.
func (a *Activities) Verify(ctx context.Context, in VerifyInput) (Verified, error) {
	platform, err := a.platform(in.Key.Cluster)
	if err != nil {
		return Verified{}, toTemporal(err)
	}
	ctx, b := startBeat(ctx, activity.GetWorkerStopChannel(ctx))
	defer b.stop()
	w := watch{in: in, now: a.s.Now}
	for {
		w.look(ctx, platform)
		if ctx.Err() == nil && w.done() {
			return w.verdict(), nil
		}
		b.show(ctx, Progress{Phase: w.phase(), SecondsLeft: int(in.Deadline.Sub(a.s.Now()).Seconds())})
		select {
		case <-ctx.Done():
			if b.handedOver() {
				return Verified{}, errStopping()
			}
			return Verified{}, ctx.Err()
		case <-time.After(verifyEvery):
		}
	}
}

// watch is the state of one wait.
type watch struct {
	in  VerifyInput
	now func() time.Time

	status core.JobStatus
	held   core.Requirements
	err    error
	// replaced is the id under which the job was submitted anew, empty when it
	// was not: the change that is watched is then over with the old one.
	replaced string
}

// look reads the job once; what cannot be read is kept as the error.
func (w *watch) look(ctx context.Context, platform Platform) {
	var status core.JobStatus
	if status, w.err = platform.Status(ctx, w.in.Job); w.err != nil {
		if errors.Is(w.err, core.ErrNotFound) {
			w.err = w.confirmGone(ctx, platform)
		}
		return
	}
	w.status = status
	w.held, w.err = platform.Wanted(ctx, w.in.Job)
}

// confirmGone asks the job list as well: right after a failover the job can be
// unknown for a moment though it is about to be recovered.
func (w *watch) confirmGone(ctx context.Context, platform Platform) error {
	found, err := platform.Locate(ctx, w.in.Target)
	if err != nil {
		return err
	}
	if found.ID != w.in.Job.ID {
		w.replaced = found.ID
		return &core.OpError{Op: "verify", Subject: w.in.Job.ID, Err: core.ErrNotFound}
	}
	return &core.OpError{Op: "verify", Subject: w.in.Job.ID, Err: core.ErrNotReady}
}

// done is true when waiting longer can change nothing.
func (w *watch) done() bool {
	if !w.now().Before(w.in.Deadline) || w.replaced != "" {
		return true
	}
	if w.err != nil {
		return false
	}
	return w.status.State.Ended() || w.reached()
}

// reached is true when everything that was wanted is true at once.
func (w *watch) reached() bool {
	return w.err == nil && w.status.AllTasksRunning() && slices.Equal(w.held, w.in.Wish) &&
		slices.Equal(w.status.Topology.Sizes(), w.in.Wanted) && w.restarted()
}

// restarted is true when the job entered RUNNING anew since the preflight, or
// had no reason to.
func (w *watch) restarted() bool {
	return slices.Equal(w.in.Before, w.in.Wanted) || w.status.RunningSince.After(w.in.RunningSince)
}

func (w *watch) phase() string {
	switch {
	case w.err != nil:
		return "asking: " + string(core.ReasonFor(w.err))
	case !w.status.AllTasksRunning():
		return "waiting for all tasks to run"
	case !w.restarted():
		return "waiting for Flink to rescale"
	}
	return "waiting for the wanted size"
}

// verdict says how it ended, with what Flink shows.
func (w *watch) verdict() Verified {
	v := Verified{Got: w.status.Topology.Sizes(), RunningAt: w.status.RunningSince, WishHeld: w.err == nil && slices.Equal(w.held, w.in.Wish)}
	if w.replaced != "" {
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonJobRestarted, "the job was submitted anew while it was rescaled; it has the new id "+w.replaced
		return v
	}
	if w.err != nil {
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonFor(w.err), "at the deadline Flink could not tell: "+w.err.Error()
		return v
	}
	if w.reached() {
		v.Kind, v.Reason, v.Note = core.Applied, "", "every vertex runs at the wanted size"
		return v
	}
	switch reached, total := w.count(); {
	case w.status.State.Ended():
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonJobNotRunning, fmt.Sprintf("the job ended as %s", w.status.State)
	case !w.status.AllTasksRunning():
		v.Kind, v.Reason, v.Note = core.Failed, core.ReasonTasksNotRunning, fmt.Sprintf("at the deadline the job is %s and not all tasks run", w.status.State)
	case !slices.Equal(w.held, w.in.Wish):
		v.Kind, v.Reason, v.Note = core.Partial, core.ReasonNotReached, "somebody else changed the requirements while the job was rescaled"
	default:
		v.Kind, v.Reason, v.Note = core.Partial, core.ReasonNotReached, fmt.Sprintf("%d of %d changed vertices run at the wanted size at the deadline; probably slots are missing", reached, total)
	}
	return v
}

// count gives how many of the vertices to change run at their wanted size.
func (w *watch) count() (reached, total int) {
	for _, want := range w.in.Wanted {
		if before, _ := core.FindSize(w.in.Before, want.ID); before == want.Parallelism {
			continue
		}
		total++
		if got, _ := core.FindSize(w.status.Topology.Sizes(), want.ID); got == want.Parallelism {
			reached++
		}
	}
	return reached, total
}
