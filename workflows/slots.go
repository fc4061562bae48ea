package workflows

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/share"
)

// slotsPatience is how long a rescale waits for slots before it gives up: longer
// than share.ReserveAfter, so that slots are kept for it while it waits, and
// short enough that what it was decided on still holds. The next attempt finds
// its place kept.
const slotsPatience = 10 * time.Minute

// slots is the part of a rescale that has to do with other jobs of its cluster.
type slots struct {
	Key        core.JobKey
	DecisionID string
	activities.SlotsWish
	// Within is how long to wait, 0 for slotsPatience.
	Within time.Duration
	// Show is told where the job stands; nil for nobody.
	Show func(note string)

	// granted is true while there is a lease to renew and to give back.
	granted bool
	lease   time.Duration
	place   share.Place
	until   time.Time
	stop    workflow.CancelFunc
}

// awaitSlots waits until the job may grow. What makes it no larger waits for
// nobody, nor does a job of a cluster that shares nothing. Not granted: the note
// says why, and nothing may be written. An error only where nobody could be
// asked at all.
func awaitSlots(ctx workflow.Context, s *slots) (granted bool, note string, err error) {
	if s.Slots <= 0 {
		return true, "", nil
	}
	w := waiting{
		slots: s, grants: workflow.GetSignalChannel(ctx, activities.SignalSlotsGranted), places: workflow.GetSignalChannel(ctx, activities.SignalSlotsPlace),
		stops: workflow.GetSignalChannel(ctx, activities.SignalSlotsStop), deadline: workflow.Now(ctx).Add(s.patience()),
	}
	for {
		if w.ask(ctx) {
			return true, "", nil
		}
		if w.wait(ctx) {
			return true, "", nil
		}
		if w.stopped != "" || ctx.Err() != nil || !workflow.Now(ctx).Before(w.deadline) {
			break
		}
	}
	return w.giveUp(ctx)
}

// giveUp ends the wait. Who stopped for the job's own sake does not come back
// soon; who ran out of time does, and its place is kept.
func (w *waiting) giveUp(ctx workflow.Context) (granted bool, note string, err error) {
	// Also where asking failed: it may have been heard all the same.
	w.send(ctx, activities.SignalSlotsRelease, w.stopped == "").wait(ctx)
	switch {
	case w.stopped != "":
		return false, "stopped waiting for slots: " + w.stopped, nil
	case w.failed != nil:
		return false, "nobody could be asked for slots: " + rootCause(w.failed), w.failed
	}
	return false, fmt.Sprintf("%d more slots were not given within %s: %s", w.Slots, w.patience(), w.standing()), ctx.Err()
}

func (s *slots) patience() time.Duration {
	if s.Within > 0 {
		return s.Within
	}
	return slotsPatience
}

// standing says where the job stands, and why.
func (s *slots) standing() string {
	if s.place.Place == 0 {
		return "nobody answered"
	}
	return fmt.Sprintf("place %d of %d, %s", s.place.Place, s.place.Of, s.place.Note)
}

// waiting is a rescale that waits for slots.
type waiting struct {
	*slots

	grants, places, stops workflow.ReceiveChannel
	deadline              time.Time
	// stopped says why the wait was ended from outside, empty when it was not.
	stopped string
	// failed is the error of every attempt to ask, nil once somebody was asked.
	failed error
	// reached is true once somebody was asked.
	reached bool
}

// askAgain is how soon it asks again where nobody could be asked.
const askAgain = 15 * time.Second

// ask asks, also again: what was asked or answered may be lost with whoever was
// asked. It is true when nothing is shared.
func (w *waiting) ask(ctx workflow.Context) (off bool) {
	got, err := callAskSlots(ctx, activities.AskSlotsInput{
		Key: w.Key, DecisionID: w.DecisionID, ReplyTo: workflow.GetInfo(ctx).WorkflowExecution.ID, SlotsWish: w.SlotsWish,
	})
	if err != nil {
		if !w.reached {
			w.failed = err
		}
		return false
	}
	w.failed, w.reached, w.lease = nil, true, got.Lease
	return got.Off
}

// wait waits for the answer until it is time to ask again.
func (w *waiting) wait(ctx workflow.Context) bool {
	again := workflow.Now(ctx).Add(w.period())
	if !w.reached {
		again = workflow.Now(ctx).Add(askAgain)
	}
	if w.deadline.Before(again) {
		again = w.deadline
	}
	timerCtx, stop := workflow.WithCancel(ctx)
	defer stop()
	timer := workflow.NewTimerWithOptions(timerCtx, max(again.Sub(workflow.Now(ctx)), time.Millisecond), workflow.TimerOptions{Summary: "ask again for slots"})
	for !timer.IsReady() && ctx.Err() == nil {
		if w.look(ctx) {
			return true
		}
		if w.stopped != "" {
			return false
		}
		sel := workflow.NewSelector(ctx)
		sel.AddFuture(timer, func(workflow.Future) {})
		sel.AddReceive(w.grants, func(workflow.ReceiveChannel, bool) {})
		sel.AddReceive(w.places, func(workflow.ReceiveChannel, bool) {})
		sel.AddReceive(w.stops, func(workflow.ReceiveChannel, bool) {})
		sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
		sel.Select(ctx)
	}
	return w.look(ctx)
}

// look takes what was said; true when it is a lease. To stop goes before.
func (w *waiting) look(ctx workflow.Context) bool {
	var raw converter.RawValue
	for w.stops.ReceiveAsync(&raw) {
		if w.stopped = "an order"; json.Unmarshal(data(raw), &w.stopped) != nil || w.stopped == "" {
			w.stopped = "an order"
		}
	}
	if w.stopped != "" {
		return false
	}
	for {
		a, ok := w.next(w.places)
		if !ok {
			break
		}
		if a.Place != nil {
			w.place = *a.Place
			w.show(fmt.Sprintf("waiting for %d slots: %s", w.Slots, w.standing()))
		}
	}
	for {
		a, ok := w.next(w.grants)
		if !ok {
			return false
		}
		if a.DecisionID == w.DecisionID && a.Until.After(workflow.Now(ctx)) {
			w.granted, w.until = true, a.Until
			return true
		}
	}
}

// next takes one answer of this decision, raw: what does not decode is nothing.
func (w *waiting) next(c workflow.ReceiveChannel) (activities.SlotsAnswer, bool) {
	for {
		var raw converter.RawValue
		if !c.ReceiveAsync(&raw) {
			return activities.SlotsAnswer{}, false
		}
		var a activities.SlotsAnswer
		if json.Unmarshal(data(raw), &a) == nil && a.DecisionID == w.DecisionID {
			return a, true
		}
	}
}

func (s *slots) show(note string) {
	if s.Show != nil {
		s.Show(note)
	}
}

// period is how often a lease is renewed and a request repeated: a lease
// survives that two in a row are lost or late.
func (s *slots) period() time.Duration {
	lease := s.lease
	if lease <= 0 {
		lease = share.DefaultLease
	}
	return max(lease/3, time.Second)
}

// keep renews the lease, beside the caller, until release.
func (s *slots) keep(ctx workflow.Context) {
	if !s.granted || s.stop != nil {
		return
	}
	ctx, s.stop = workflow.WithCancel(ctx)
	workflow.GoNamed(ctx, "renew slots", func(ctx workflow.Context) {
		for {
			timer := workflow.NewTimerWithOptions(ctx, s.period(), workflow.TimerOptions{Summary: "renew the lease of slots"})
			if timer.Get(ctx, nil) != nil {
				return
			}
			s.send(ctx, activities.SignalSlotsRenew, false).wait(ctx)
		}
	})
}

// wrote says that the larger size is wanted of Flink now: from here on the job
// may hold all of it, whatever becomes of this workflow.
func (s *slots) wrote(ctx workflow.Context) {
	if !s.granted {
		return
	}
	s.Held, s.Slots = s.Held+s.Slots, 0
	s.send(ctx, activities.SignalSlotsRenew, false).wait(ctx)
}

// release gives the lease back and says how many slots the job holds now. It is
// also for a job that became smaller, so that others may have what it gave up.
func (s *slots) release(ctx workflow.Context, held int) {
	if s.stop != nil {
		s.stop()
	}
	s.Held, s.granted = max(held, 0), false
	s.send(ctx, activities.SignalSlotsRelease, false).wait(ctx)
}

// sent is a signal under way.
type sent struct {
	workflow.Future
	s    *slots
	name string
}

// send tells the workflow that shares. A message about a job says what it holds.
func (s *slots) send(ctx workflow.Context, name string, again bool) sent {
	m := activities.SlotsMessage{Cluster: s.Key.Cluster, Job: s.Key.Job, DecisionID: s.DecisionID, Held: s.Held, Again: again}
	if name == activities.SignalSlotsRenew {
		m.ReplyTo, m.Slots = workflow.GetInfo(ctx).WorkflowExecution.ID, s.Slots
	}
	return sent{workflow.SignalExternalWorkflow(ctx, share.ID(s.Key.Cluster), "", name, m), s, name}
}

// wait waits until the server has it. An error means that there is nobody to
// tell: who knows nothing of this job holds nothing against it, and a lease that
// was forgotten ends by itself.
func (x sent) wait(ctx workflow.Context) {
	if err := x.Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Debug("nobody shares the slots of this cluster now", "job", x.s.Key.String(), "message", x.name, "error", err)
	}
}

func callAskSlots(ctx workflow.Context, in activities.AskSlotsInput) (activities.AskedSlots, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: findLimit, ScheduleToCloseTimeout: time.Minute, RetryPolicy: retry(0), Summary: fmt.Sprintf("ask for %d slots", in.Slots),
	})
	return result[activities.AskedSlots](ctx, workflow.ExecuteActivity(ctx, activities.NameAskSlots, in))
}

// holds is how many slots a job counts with after a rescale: where it is not
// known what it has, the most that it may have.
func holds(w activities.SlotsWish, kind core.OutcomeKind) int {
	switch kind {
	case core.Applied:
		return w.Held + w.Slots
	case core.Rejected, core.Undone:
		return w.Held
	case core.Partial, core.Failed:
	}
	return w.Held + max(w.Slots, 0)
}
