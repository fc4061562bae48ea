package workflows

import (
	"slices"
	"time"

	"flinkscaler/core/spec"
)

// Order is a message that was carried out: who, what, since and until when, and
// how it ended. A look that was ordered is none: nobody asks later.
type Order struct {
	Message string `json:"message"`
	// Decision is the proposal that it is about.
	Decision string    `json:"decision,omitempty"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	At       time.Time `json:"at"`
	Until    time.Time `json:"until,omitzero"`
	// Did says what came of it.
	Did string `json:"did,omitempty"`
	// Ended says how it ended, and EndedAt when; empty while it is in force.
	Ended   string    `json:"ended,omitempty"`
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// Bounds of the list of orders (I10).
const (
	maxOrders     = 50
	maxOrderBytes = 48 << 10
)

// endDone is the end of an order that is over when it is carried out.
const endDone = "done"

// give keeps an order that was carried out. What ends at once is entered as
// ended.
func (s *State) give(m message, did string, now time.Time) {
	if m.Name == MsgEvaluateNow {
		return
	}
	o := Order{Message: m.Name, Decision: m.Decision, By: m.By, Reason: m.Reason, At: now, Until: m.Until, Did: spec.Cut(did, maxNote)}
	if !stands(m) {
		o.Ended, o.EndedAt = endDone, now
	}
	s.enter(o)
}

func (s *State) enter(o Order) {
	s.Given = within(tail(append(s.Given, o), maxOrders), maxOrderBytes)
}

// stands is true for an order that is in force for a while. A policy that was
// set for good is what holds from then on; only one with an end can end.
func stands(m message) bool {
	switch m.Name {
	case MsgPause, MsgOverride, MsgUndo, MsgApprove, MsgReject:
		return true
	case MsgSetPolicy:
		return !m.Until.IsZero()
	}
	return false
}

// end ends the orders of a kind that are still in force.
func (s *State) end(how string, now time.Time, names ...string) {
	for i := range s.Given {
		if o := &s.Given[i]; o.Ended == "" && slices.Contains(names, o.Message) {
			o.Ended, o.EndedAt = how, now
		}
	}
}

// ranOut ends the orders of a kind whose time has come.
func (s *State) ranOut(now time.Time, names ...string) {
	for i := range s.Given {
		if o := &s.Given[i]; o.Ended == "" && slices.Contains(names, o.Message) && passed(o.Until, now) {
			o.Ended, o.EndedAt = "ran out", now
		}
	}
}

// ended says by what, and by whom.
func endedBy(what, by string) string {
	if by == "" {
		return what
	}
	return what + " by " + by
}
