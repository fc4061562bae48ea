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
	"flinkscaler/core/spec"
)

const (
	// answerWithin is how long a cycle waits for the answer to a request: where
	// slots are free it comes at once, and costs no cycle.
	answerWithin = 10 * time.Second
	// askAgain is how soon it is asked again where nobody could be asked.
	askAgain = 30 * time.Second
	// tellEvery is how often a job says what it holds although nothing changed: it
	// is forgotten after share.KeepFor.
	tellEvery = time.Hour
)

// Turn is a job's part in the slots that the jobs of its cluster share.
type Turn struct {
	// Held is how many slots the job last said that it holds, TellAt when it says
	// so again; zero for at once.
	Held   int       `json:"held"`
	TellAt time.Time `json:"tellAt,omitzero"`
	// Asked is what it waits for, nil for nothing.
	Asked *SlotsAsked `json:"asked,omitempty"`
	// Used is the lease that a rescale had last: it is that one's to give back.
	Used string `json:"used,omitempty"`
}

// SlotsAsked is a job that wants to grow and waits for its turn, or has it.
type SlotsAsked struct {
	DecisionID string `json:"decision"`
	activities.SlotsWish
	// Since is since when it waits, AgainAt when it is asked again.
	Since   time.Time `json:"since"`
	AgainAt time.Time `json:"againAt"`
	// Place is where it stands and why, as it was last told; nil before.
	Place *share.Place `json:"place,omitempty"`
	// Trouble says why it has no place, empty where it has or nobody answered yet.
	Trouble string `json:"trouble,omitempty"`
	// For is how long a lease lasts without being renewed, Until when the one that
	// was given ends; zero while it waits.
	For   time.Duration `json:"for,omitempty"`
	Until time.Time     `json:"until,omitzero"`
	// Off is true when nobody is to be asked after all.
	Off bool `json:"off,omitempty"`
	// Away is true while it does not wait, and its place is kept for a while: the
	// job could not be judged.
	Away bool `json:"away,omitempty"`
}

// granted is how many slots the job may hold. A lease that has half of its time
// left is asked for again before it is used.
func (a *SlotsAsked) granted(now time.Time) int {
	if a.Off || now.Before(a.Until.Add(-a.For/2)) {
		return a.Need()
	}
	return 0
}

// answered is true when there is an answer to the last request.
func (a *SlotsAsked) answered() bool {
	return a.Off || a.Trouble != "" || a.Place != nil || !a.Until.IsZero()
}

// due is true when what is wanted was not asked for, or not lately.
func (a *SlotsAsked) due(w activities.SlotsWish, now time.Time) bool {
	return a == nil || a.Away || a.SlotsWish != w || !now.Before(a.AgainAt)
}

// Standing says for people where it waits, and why.
func (a *SlotsAsked) Standing() string {
	switch {
	case a.Away:
		return "does not wait at present; its place is kept for a while"
	case a.Trouble != "":
		return a.Trouble
	case a.Place != nil:
		return fmt.Sprintf("place %d of %d since %s (%s), %s", a.Place.Place, a.Place.Of, clock(a.Since), a.Place.Why, a.Place.Note)
	case !a.Until.IsZero():
		return fmt.Sprintf("%d were given, until %s", a.Slots, clock(a.Until))
	}
	return "asked for since " + clock(a.Since) + ", no answer yet"
}

// turn is what a decision may know of it, nil where it waits for nothing.
func (s *State) turn(now time.Time) *core.Turn {
	if s.Turn == nil || s.Turn.Asked == nil || s.Turn.Asked.Away {
		return nil
	}
	return &core.Turn{Granted: s.Turn.Asked.granted(now), Standing: s.Turn.Asked.Standing()}
}

// shares is the version of all of this, asked where it is taken alone: without a
// limit nothing of it is in any history.
func (l *loop) shares(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "share-slots", workflow.DefaultVersion, 1) != workflow.DefaultVersion
}

// ask asks for the slots that a decision waits for, when it is time to, and gives
// the answer a moment to come. True when there is one, and it is to be decided
// anew. The request is the job's: a later one keeps its place.
func (l *loop) ask(ctx workflow.Context, d core.Decision, w *activities.SlotsWish) bool {
	now := workflow.Now(ctx).UTC()
	if d.Reason != core.ReasonSlotsShared || w == nil || ctx.Err() != nil || !l.shares(ctx) {
		return false
	}
	if l.s.Turn == nil {
		l.s.Turn = &Turn{}
	}
	before := l.s.Turn.Asked
	if !before.due(*w, now) {
		return false
	}
	a := &SlotsAsked{DecisionID: d.ID, SlotsWish: *w, Since: now}
	if before != nil {
		a.Since = before.Since
	}
	l.s.Turn.Asked, l.s.Turn.Held, l.s.Turn.TellAt = a, w.Held, time.Time{}
	l.asking = true
	defer func() { l.asking = false }()
	got, err := callAskSlots(ctx, activities.AskSlotsInput{
		Key: l.s.Spec.Key, DecisionID: d.ID, ReplyTo: workflow.GetInfo(ctx).WorkflowExecution.ID, SlotsWish: *w,
	})
	now = workflow.Now(ctx).UTC()
	if err != nil {
		a.AgainAt, a.Trouble = now.Add(askAgain), spec.Cut("nobody could be asked: "+rootCause(err), maxNote)
		return true
	}
	a.For, a.Off, a.AgainAt = got.Lease, got.Off, now.Add(renewAfter(got.Lease))
	l.s.Turn.TellAt = now.Add(tellEvery)
	_, _ = workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: answerWithin, TimerOptions: workflow.TimerOptions{Summary: "wait for the answer, a moment"},
	}, a.answered)
	return a.answered()
}

// heard are the answers of the workflow that shares.
func heard() []struct{ name, description string } {
	return []struct{ name, description string }{
		{activities.SignalSlotsGranted, "The job may grow. Sent by the workflow that shares the cluster's slots."},
		{activities.SignalSlotsPlace, "Where the job waits, and why. Sent by the workflow that shares the cluster's slots."},
	}
}

// hear takes an answer. One that is about another decision is late: a lease that
// nobody wants any more is given back.
func (l *loop) hear(ctx workflow.Context, raw converter.RawValue) {
	var got activities.SlotsAnswer
	if err := json.Unmarshal(data(raw), &got); err != nil || !l.shares(ctx) || l.s.Turn == nil {
		return
	}
	a := l.s.Turn.Asked
	if a == nil || a.Away || a.DecisionID != got.DecisionID {
		if got.Answer == share.Granted && (a == nil || a.Away) && got.DecisionID != l.s.Turn.Used {
			l.release(ctx, got.DecisionID, false)
		}
		return
	}
	a.Place, a.Trouble, a.Until = nil, "", time.Time{}
	switch got.Answer {
	case share.Granted:
		a.Until = got.Until
		if !l.asking {
			l.hurry(workflow.Now(ctx).UTC())
		}
	case share.Queued:
		a.Place = got.Place
	case share.Growing:
		a.Trouble = "an earlier rescale of the job has its slots still"
	case share.Full:
		a.Trouble = fmt.Sprintf("%d jobs wait already; it is asked again", share.MaxRequests)
	case share.Over:
		a.Trouble, a.AgainAt = "the request was over when it came; it is asked again", time.Time{}
	}
	l.changed(ctx)
}

// takePart does at the end of a cycle what the decision leaves to do: what is not
// wanted any more is given back, and others hear what the job holds. A rescale
// under way does that by itself.
func (l *loop) takePart(ctx workflow.Context, w *activities.SlotsWish) {
	d := l.s.Last
	if (w == nil && l.s.Turn == nil) || ctx.Err() != nil || !l.shares(ctx) {
		return
	}
	if w == nil && d.Reason == core.ReasonInternal {
		return // it could not be decided, not even whether anything is shared
	}
	if w == nil {
		l.leave(ctx, false)
		l.s.Turn = nil
		return
	}
	if l.s.Turn == nil {
		l.s.Turn = &Turn{}
	}
	if d.Reason == core.ReasonSlotsShared && l.s.Open == nil {
		return
	}
	// A look that found nothing says nothing of what is wanted: the place is kept.
	l.leave(ctx, l.s.Misses > 0 || d.Reason == core.ReasonUnreachable)
	if l.s.Open == nil {
		l.say(ctx, d, *w)
	}
}

// say tells what the job holds, when that is news.
func (l *loop) say(ctx workflow.Context, d core.Decision, w activities.SlotsWish) {
	t, now := l.s.Turn, workflow.Now(ctx).UTC()
	if w.Held == t.Held && now.Before(t.TellAt) {
		return
	}
	w.Slots = 0
	if _, err := callAskSlots(ctx, activities.AskSlotsInput{Key: l.s.Spec.Key, DecisionID: d.ID, SlotsWish: w}); err != nil {
		workflow.GetLogger(ctx).Warn("others could not be told how many slots the job holds", "job", l.s.Spec.Key.String(), "error", rootCause(err))
		return
	}
	t.Held, t.TellAt = w.Held, workflow.Now(ctx).UTC().Add(tellEvery)
}

// leave gives up what is waited for, or was given and not used. again keeps the
// place for a while.
func (l *loop) leave(ctx workflow.Context, again bool) {
	if l.s.Turn == nil || l.s.Turn.Asked == nil {
		return
	}
	a := l.s.Turn.Asked
	if again && a.Away {
		return
	}
	if !a.Off {
		l.release(ctx, a.DecisionID, again)
	}
	a.Away = again
	if !again {
		l.s.Turn.Asked = nil
	}
}

// release says that a request or a lease is not needed, beside the loop. Where
// nobody shares any more there is nobody to tell.
func (l *loop) release(ctx workflow.Context, decision string, again bool) {
	m := activities.SlotsMessage{Cluster: l.s.Spec.Key.Cluster, Job: l.s.Spec.Key.Job, DecisionID: decision, Held: l.s.Turn.Held, Again: again}
	l.telling++
	free, _ := workflow.NewDisconnectedContext(ctx)
	workflow.GoNamed(free, "release slots", func(free workflow.Context) {
		defer func() { l.telling-- }()
		tellSharing(free, activities.SignalSlotsRelease, m)
	})
}

// slotsPart is what a rescale takes over of it, nil where nothing is shared.
func (s *State) slotsPart(w *activities.SlotsWish) *activities.SlotsPart {
	if w == nil {
		return nil
	}
	p := &activities.SlotsPart{SlotsWish: *w}
	if s.Turn == nil || s.Turn.Asked == nil || w.Slots <= 0 {
		return p
	}
	a := s.Turn.Asked
	if a.Off {
		return nil
	}
	p.Lease, p.For, p.Until = a.DecisionID, a.For, a.Until
	return p
}

// handedOver notes that a rescale has begun: the lease is its own from here on,
// and what the job then holds is to be said anew.
func (s *State) handedOver(p *activities.SlotsPart) {
	if p == nil {
		return
	}
	if s.Turn == nil {
		s.Turn = &Turn{}
	}
	s.Turn.TellAt = time.Time{}
	if p.Lease != "" {
		s.Turn.Used, s.Turn.Asked = p.Lease, nil
	}
}

// turnLines tell what it waits for.
func (s *State) turnLines() []string {
	if s.Turn == nil || s.Turn.Asked == nil {
		return nil
	}
	return []string{"", fmt.Sprintf("waits for %d slots: %s", s.Turn.Asked.Slots, s.Turn.Asked.Standing())}
}
