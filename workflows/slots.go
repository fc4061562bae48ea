package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/share"
)

// lease is the part of a rescale in the slots that the jobs of its cluster share.
// Nil is one on a cluster that shares nothing: it does nothing.
type lease struct {
	activities.SlotsPart
	key core.JobKey
	// id is the decision that it is known by.
	id string
	// taken is true from the write on: the job may hold all of it.
	taken bool
	stop  workflow.CancelFunc
}

func leaseOf(in activities.RescaleInput) *lease {
	if in.Slots == nil {
		return nil
	}
	l := &lease{SlotsPart: *in.Slots, key: in.Key, id: in.Slots.Lease}
	if l.id == "" {
		l.id = in.DecisionID
	}
	if l.For <= 0 {
		l.For = share.DefaultLease
	}
	return l
}

// grows is true for a rescale after which the job holds more slots. Only that
// one has something to renew.
func (l *lease) grows() bool { return l != nil && l.Slots > 0 }

// keep renews the lease now and then, beside the caller, until release.
func (l *lease) keep(ctx workflow.Context) {
	if !l.grows() {
		return
	}
	l.renew(ctx)
	ctx, l.stop = workflow.WithCancel(ctx)
	workflow.GoNamed(ctx, "renew slots", func(ctx workflow.Context) {
		for {
			timer := workflow.NewTimerWithOptions(ctx, renewAfter(l.For), workflow.TimerOptions{Summary: "renew the lease of slots"})
			if timer.Get(ctx, nil) != nil {
				return
			}
			l.renew(ctx)
		}
	})
}

// renewAfter is how often a lease is renewed and a request repeated: a lease
// survives that two in a row are lost or late.
func renewAfter(lease time.Duration) time.Duration { return max(lease/3, time.Second) }

func (l *lease) renew(ctx workflow.Context) {
	m := l.message()
	m.ReplyTo, m.Slots = workflow.GetInfo(ctx).WorkflowExecution.ID, l.Slots
	if l.taken {
		m.Held, m.Slots = l.Need(), 0
	}
	sent := workflow.Now(ctx)
	// One that has run out is not alive again by being told late.
	if tellSharing(ctx, activities.SignalSlotsRenew, m) && !l.over(sent) {
		l.Until = sent.Add(l.For).UTC()
	}
}

// over is true when a lease has run out: others may have the slots.
func (l *lease) over(now time.Time) bool { return l.Lease != "" && !now.Before(l.Until) }

// take says, right before the write, that the job may hold all of it from here
// on, whatever becomes of this workflow. False where the lease has run out:
// nothing may be written then.
func (l *lease) take(ctx workflow.Context) bool {
	if !l.grows() {
		return true
	}
	if l.over(workflow.Now(ctx)) {
		return false
	}
	l.taken = true
	l.renew(ctx)
	return true
}

// release gives the lease back and says how many slots the job holds now. So
// does a rescale that made the job smaller: others may have what it gave up.
func (l *lease) release(ctx workflow.Context, o core.OutcomeKind) {
	if l == nil {
		return
	}
	if l.stop != nil {
		l.stop()
	}
	m := l.message()
	m.Held = holds(l.SlotsWish, o)
	tellSharing(ctx, activities.SignalSlotsRelease, m)
}

func (l *lease) message() activities.SlotsMessage {
	return activities.SlotsMessage{Cluster: l.key.Cluster, Job: l.key.Job, DecisionID: l.id, Held: l.Held}
}

// holds is how many slots a job counts with after a rescale: where it is not
// known what it has, the most that it may have.
func holds(w activities.SlotsWish, kind core.OutcomeKind) int {
	switch kind {
	case core.Applied:
		return w.Need()
	case core.Rejected, core.Undone:
		return w.Held
	case core.Partial, core.Failed:
	}
	return max(w.Held, w.Need())
}

// tellSharing leaves a signal with the workflow that shares the cluster's slots.
// Where there is none, nobody holds anything against the job, and what was
// forgotten is taken up with the next renewal.
func tellSharing(ctx workflow.Context, name string, m activities.SlotsMessage) bool {
	err := workflow.SignalExternalWorkflow(ctx, share.ID(m.Cluster), "", name, m).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Debug("nobody shares the slots of this cluster now", "job", m.Job, "message", name, "error", err)
	}
	return err == nil
}
