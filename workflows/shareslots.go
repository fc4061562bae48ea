package workflows

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core/share"
	"flinkscaler/core/spec"
)

// ShareSlots shares the slots of one cluster among the jobs that want to grow: a
// thin loop around core/share. Rescales start it with their first request, and it
// ends by itself when nobody asked for a day. Its rules are computed in the
// workflow: a change of what they command needs workflow.GetVersion here.
func ShareSlots(ctx workflow.Context, raw converter.RawValue) error {
	l := &sharing{wake: workflow.NewBufferedChannel(ctx, 1)}
	if err := l.handle(ctx); err != nil {
		return err
	}
	if err := l.begin(ctx, raw); err != nil {
		return err
	}
	return l.run(ctx)
}

// QuerySlots asks who has leases, who waits and why.
const QuerySlots = "slots"

const (
	// sharingIdle is how long it stays without a message and without anybody who
	// grows or waits. By then nothing is known of any job any more.
	sharingIdle = share.KeepFor
	// maxSharingSignals is after how many signals a run continues as new: the
	// state is some hundred KiB at most, and a run may have 10,000.
	maxSharingSignals = 2000
	// maxEnded bounds what is kept of leases and requests that ended by themselves.
	maxEnded = 20
)

// SlotsState is everything that a ShareSlots knows, carried over
// continue-as-new. Changes are additive.
type SlotsState struct {
	Version int         `json:"version"`
	Cluster string      `json:"cluster"`
	Share   share.State `json:"share"`
	// Asked are those who are to be answered.
	Asked []asked `json:"asked,omitempty"`
	// LastAt is when the last message came.
	LastAt time.Time `json:"lastAt"`
	Runs   int       `json:"runs"`
	// Messages counts the signals that came, Granted the leases that were given.
	Messages int         `json:"messages,omitempty"`
	Granted  int         `json:"granted,omitempty"`
	Ended    []EndedSlot `json:"ended,omitempty"`
	Rejected []Rejected  `json:"rejected,omitempty"`
}

// EndedSlot is a lease or a request that ended by itself.
type EndedSlot struct {
	At time.Time `json:"at"`
	share.Ended
	// Why is for people.
	Why string `json:"why"`
}

// asked is a request that has no answer yet.
type asked struct {
	Job        string       `json:"job"`
	DecisionID string       `json:"decision"`
	ReplyTo    string       `json:"replyTo"`
	Answer     share.Answer `json:"answer"`
}

// sharing is one run of ShareSlots.
type sharing struct {
	s        SlotsState
	channels []signal
	wake     workflow.Channel
	// now is the time of the last turn: what is shown is as of then.
	now time.Time
	// told is the place that a job was last told, to tell it only what is new.
	told map[string]string
	// sending counts the signals under way, signals those that came.
	sending, signals int
	// timer is the one that is set, timerAt when it ends.
	timer   workflow.Future
	timerAt time.Time
	stop    workflow.CancelFunc
}

// begin takes over the state of the run before, or checks a new input.
func (l *sharing) begin(ctx workflow.Context, raw converter.RawValue) error {
	now := workflow.Now(ctx).UTC()
	l.told, l.now = map[string]string{}, now
	if workflow.GetInfo(ctx).ContinuedExecutionRunID != "" {
		if err := json.Unmarshal(data(raw), &l.s); err != nil {
			return temporal.NewNonRetryableApplicationError("the state of the run before cannot be read", activities.ErrTypeInvalidInput, err)
		}
		l.s.Runs++
		return nil
	}
	start, problems := decodeSlotsStart(data(raw))
	if len(problems) > 0 {
		return invalid(problems)
	}
	l.s = SlotsState{Version: 1, Cluster: start.Cluster, Share: share.State{Limits: start.Limits}, LastAt: now, Runs: 1}
	return nil
}

// run takes what came, gives what there is, and waits.
func (l *sharing) run(ctx workflow.Context) error {
	for {
		l.drainAll(ctx)
		l.turn(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case l.idle():
			workflow.SetCurrentDetails(ctx, "**ended**: nobody asked for a day; the next request starts it again")
			return nil
		case l.full(ctx):
			return l.again(ctx)
		}
		l.wait(ctx)
	}
}

// turn ends what has run out, gives leases, and answers.
func (l *sharing) turn(ctx workflow.Context) {
	l.now = workflow.Now(ctx).UTC()
	for _, e := range l.s.Share.Expire(l.now) {
		if e.What == "job" {
			continue
		}
		l.ended(e, "it was not renewed")
		workflow.GetLogger(ctx).Warn("ended by itself, what the job last said that it holds counts", "cluster", l.s.Cluster, "job", e.Job, "decision", e.DecisionID, "what", e.What)
	}
	for _, g := range l.s.Share.Grants(l.now) {
		l.s.Granted++
		delete(l.told, g.Job)
		workflow.GetLogger(ctx).Info("slots granted", "cluster", l.s.Cluster, "job", g.Job, "decision", g.DecisionID, "slots", g.Slots)
		l.grant(ctx, g)
	}
	l.answerAll(ctx)
	workflow.SetCurrentDetails(ctx, l.details())
}

func (l *sharing) ended(e share.Ended, why string) {
	delete(l.told, e.Job)
	l.s.Ended = tail(append(l.s.Ended, EndedSlot{At: l.now, Ended: e, Why: why}), maxEnded)
}

// answerAll answers every request since the last turn. A lease given in this
// turn was told already.
func (l *sharing) answerAll(ctx workflow.Context) {
	for _, a := range l.s.Asked {
		out := activities.SlotsAnswer{Cluster: l.s.Cluster, Job: a.Job, DecisionID: a.DecisionID, Answer: a.Answer}
		switch a.Answer {
		case share.Granted:
			if g, ok := l.lease(a.Job, a.DecisionID); ok {
				l.grant(ctx, g)
			}
			continue
		case share.Queued:
			p, ok := l.s.Share.Place(a.Job, l.now)
			if !ok || p.DecisionID != a.DecisionID {
				continue
			}
			// Only what is new: so many wait, and each asks again and again.
			news := fmt.Sprintf("%s %d %s", p.DecisionID, p.Place, p.Why)
			if l.told[a.Job] == news {
				continue
			}
			l.told[a.Job], out.Place = news, &p
		case share.Over, share.Full, share.Growing:
		}
		l.send(ctx, a.ReplyTo, activities.SignalSlotsPlace, out)
	}
	l.s.Asked = nil
}

func (l *sharing) lease(job, decision string) (share.Lease, bool) {
	for _, g := range l.s.Share.Leases {
		if g.Job == job && g.DecisionID == decision {
			return g, true
		}
	}
	return share.Lease{}, false
}

func (l *sharing) grant(ctx workflow.Context, g share.Lease) {
	l.send(ctx, g.ReplyTo, activities.SignalSlotsGranted, activities.SlotsAnswer{
		Cluster: l.s.Cluster, Job: g.Job, DecisionID: g.DecisionID, Answer: share.Granted, Until: g.Until,
	})
}

// send leaves a signal with another workflow, beside the loop. Who does not run
// any more has no use for slots.
func (l *sharing) send(ctx workflow.Context, to, name string, a activities.SlotsAnswer) {
	l.sending++
	workflow.GoNamed(ctx, "answer", func(ctx workflow.Context) {
		err := workflow.SignalExternalWorkflow(ctx, to, "", name, a).Get(ctx, nil)
		l.sending--
		if err != nil && ctx.Err() == nil {
			if l.s.Share.Lost(a.Job, a.DecisionID) {
				l.ended(share.Ended{Job: a.Job, DecisionID: a.DecisionID, What: "request"}, spec.Cut("its workflow could not be told: "+rootCause(err), maxNote))
				l.wake.SendAsync(true)
			}
		}
	})
}

// idle is true when it may end: the next request starts it again.
func (l *sharing) idle() bool {
	return l.sending == 0 && l.s.Share.Empty() && !l.now.Before(l.s.LastAt.Add(sharingIdle))
}

func (l *sharing) full(ctx workflow.Context) bool {
	return l.signals >= maxSharingSignals || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// again continues as new with everything: answers sent, channels empty. What
// comes in the last moment is granted and answered by the next run.
func (l *sharing) again(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return l.sending == 0 }); err != nil {
		return err
	}
	l.drainAll(ctx)
	return workflow.NewContinueAsNewError(ctx, ShareName, l.s)
}

// wait waits for a message, or until something changes by itself. A timer that
// ends too early is kept: a renewal every minute must not cost one each time.
func (l *sharing) wait(ctx workflow.Context) {
	next := l.s.Share.Next(l.now)
	if end := l.s.LastAt.Add(sharingIdle); l.s.Share.Empty() && end.After(l.now) && (next.IsZero() || end.Before(next)) {
		next = end
	}
	l.arm(ctx, next)
	sel := workflow.NewSelector(ctx)
	for _, c := range l.channels {
		sel.AddReceive(c.channel, func(workflow.ReceiveChannel, bool) { l.drain(ctx, c) })
	}
	sel.AddReceive(l.wake, func(c workflow.ReceiveChannel, _ bool) { c.ReceiveAsync(nil) })
	sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	if l.timer != nil {
		sel.AddFuture(l.timer, func(workflow.Future) { l.timer = nil })
	}
	sel.Select(ctx)
}

func (l *sharing) arm(ctx workflow.Context, next time.Time) {
	if next.IsZero() || (l.timer != nil && !l.timerAt.After(next)) {
		return
	}
	if l.timer != nil {
		l.stop()
	}
	timerCtx, stop := workflow.WithCancel(ctx)
	l.timer = workflow.NewTimerWithOptions(timerCtx, max(next.Sub(l.now), time.Millisecond), workflow.TimerOptions{Summary: "something ends or is kept"})
	l.timerAt, l.stop = next, stop
}

// handle registers the query and the signals.
func (l *sharing) handle(ctx workflow.Context) error {
	for _, o := range []struct{ name, description string }{
		{activities.SignalSlotsRequest, "A rescale wants to grow. Sent by workers."},
		{activities.SignalSlotsRenew, "A rescale that grows is still at it. Sent by rescales."},
		{activities.SignalSlotsRelease, `A rescale is through, or a job holds other slots: {"cluster": "dev", "job": "orders", "decision": "7-1796025590", "held": 4}.`},
	} {
		l.channels = append(l.channels, signal{o.name, workflow.GetSignalChannelWithOptions(ctx, o.name, workflow.SignalChannelOptions{Description: o.description})})
	}
	return workflow.SetQueryHandlerWithOptions(ctx, QuerySlots, func() (Slots, error) { return l.slots(), nil },
		workflow.QueryHandlerOptions{Description: "Who grows, who waits in which place and why, and what counts as taken."})
}

func (l *sharing) drainAll(ctx workflow.Context) {
	for _, c := range l.channels {
		l.drain(ctx, c)
	}
}

// drain takes everything that waits in a channel, raw: what does not decode must
// not block it.
func (l *sharing) drain(ctx workflow.Context, c signal) {
	for {
		var raw converter.RawValue
		if !c.channel.ReceiveAsync(&raw) {
			return
		}
		l.signals++
		l.s.Messages++
		m, problems := decodeSlots(c.name, l.s.Cluster, data(raw))
		if len(problems) > 0 {
			l.s.Rejected = tail(append(l.s.Rejected, Rejected{At: workflow.Now(ctx).UTC(), Message: c.name, Problems: problems}), maxRejected)
			workflow.GetLogger(ctx).Warn("signal rejected, nothing was done", "cluster", l.s.Cluster, "message", c.name, "error", joined(problems))
			continue
		}
		l.take(c.name, m, workflow.Now(ctx).UTC())
	}
}

// take applies a message.
func (l *sharing) take(name string, m activities.SlotsMessage, now time.Time) {
	l.s.LastAt = now
	if m.Limits != nil {
		l.s.Share.SetLimits(*m.Limits)
	}
	switch name {
	case activities.SignalSlotsRequest:
		a := l.s.Share.Request(share.Request{
			Job: m.Job, DecisionID: m.DecisionID, ReplyTo: m.ReplyTo, Held: m.Held, Slots: m.Slots, Priority: m.Priority,
		}, now)
		// One answer per job: what is sent again is answered once.
		l.s.Asked = append(slices.DeleteFunc(l.s.Asked, func(x asked) bool { return x.Job == m.Job }),
			asked{Job: m.Job, DecisionID: m.DecisionID, ReplyTo: m.ReplyTo, Answer: a})
	case activities.SignalSlotsRenew:
		l.s.Share.Renew(share.Lease{Job: m.Job, DecisionID: m.DecisionID, ReplyTo: m.ReplyTo, Held: m.Held, Slots: m.Slots}, now)
	case activities.SignalSlotsRelease:
		l.s.Share.Release(m.Job, m.DecisionID, m.Held, m.Again, now)
	}
}

// Slots is the answer of the query "slots".
type Slots struct {
	Cluster string       `json:"cluster"`
	Limits  share.Limits `json:"limits"`
	// At is the time that all of it is about.
	At time.Time `json:"at"`
	// Used is how many slots count as taken, by jobs that said what they hold and
	// by those that grow.
	Used     int           `json:"used"`
	Leases   []share.Lease `json:"leases"`
	Queue    []share.Place `json:"queue"`
	Jobs     []share.Use   `json:"jobs"`
	Messages int           `json:"messages"`
	Granted  int           `json:"granted"`
	Ended    []EndedSlot   `json:"ended,omitempty"`
	Rejected []Rejected    `json:"rejectedSignals,omitempty"`
	Runs     int           `json:"runs"`
}

func (l *sharing) slots() Slots {
	s := &l.s.Share
	return Slots{
		Cluster: l.s.Cluster, Limits: s.Limits, At: l.now, Used: s.Used(), Leases: s.Leases, Queue: s.Places(l.now), Jobs: s.Uses,
		Messages: l.s.Messages, Granted: l.s.Granted, Ended: l.s.Ended, Rejected: l.s.Rejected, Runs: l.s.Runs,
	}
}

// maxShown bounds the rows of the current details.
const maxShown = 20

// details are a few lines of Markdown for the Temporal UI.
func (l *sharing) details() string {
	v := l.slots()
	lines := []string{fmt.Sprintf("**%s**: %s, %d grow, %d wait", plain(v.Cluster), limitsText(v), len(v.Leases), len(v.Queue)), ""}
	for i, g := range v.Leases {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("- and %d more that grow", len(v.Leases)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("- %s grows by %d slots since %s, until %s", plain(g.Job), g.Slots, clock(g.Since), clock(g.Until)))
	}
	for i, p := range v.Queue {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("- and %d more that wait", len(v.Queue)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("- place %d: %s, for %d slots since %s (%s): %s", p.Place, plain(p.Job), p.Slots, clock(p.Since), p.Why, plain(p.Note)))
	}
	if n := len(v.Rejected); n > 0 {
		r := v.Rejected[n-1]
		lines = append(lines, fmt.Sprintf("- rejected signal `%s` (%s): %s", r.Message, clock(r.At), cell(joined(r.Problems))))
	}
	// The Web UI cuts off the end of the last paragraph.
	return strings.Join(append(lines, "", "\u00a0"), "\n")
}

func limitsText(v Slots) string {
	text := fmt.Sprintf("%d slots in use", v.Used)
	if v.Limits.Slots > 0 {
		text = fmt.Sprintf("%d of %d slots in use", v.Used, v.Limits.Slots)
	}
	if v.Limits.Rescales > 0 {
		text += fmt.Sprintf(", %d rescales at once", v.Limits.Rescales)
	}
	return text
}
