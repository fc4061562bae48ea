package core

import (
	"fmt"
	"slices"
	"time"
)

// Proposal is a change that waits for a person's yes.
type Proposal struct {
	// ID is that of the decision that made it.
	ID string `json:"id"`
	// At is when it was made, and Deadline until when it waits, by the clock of
	// whoever keeps it; zero until it is kept.
	At       time.Time `json:"at,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`
	// Reason and Note are those of the change.
	Reason Reason `json:"reason"`
	Note   string `json:"note,omitempty"`
	// From and To are the sizes of the vertices that change, sorted by id.
	From []VertexSize `json:"from,omitempty"`
	To   []VertexSize `json:"to,omitempty"`
	// Within is how long it waits, Quiet how long a no holds. Apply is true when
	// it is carried out where nobody answers, else that counts as a no.
	Within time.Duration `json:"within"`
	Quiet  time.Duration `json:"quiet,omitempty"`
	Apply  bool          `json:"apply,omitempty"`
}

// Answered is a proposal with its answer: who gave it, and how long it holds.
type Answered struct {
	Proposal Proposal `json:"proposal"`
	// By is empty where nobody answered in time.
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until,omitzero"`
	// Default is true when it is the policy's answer, at the deadline.
	Default bool `json:"default,omitempty"`
}

// Consent is what people said to proposals, and what they were not yet asked
// long enough.
type Consent struct {
	// Open waits for an answer.
	Open *Proposal `json:"open,omitempty"`
	// Given is a yes that is not carried out yet.
	Given *Answered `json:"given,omitempty"`
	// Refused are the noes that still hold, oldest first.
	Refused []Answered `json:"refused,omitempty"`
	// Replaced are the proposals that Open took the place of, oldest first: who
	// read one of them may still agree to it until its deadline.
	Replaced []Proposal `json:"replaced,omitempty"`
}

// NewProposal makes a proposal of a change that was decided.
func NewProposal(d Decision) Proposal {
	p := Proposal{ID: d.ID, Reason: d.Reason, Note: d.Note}
	for _, v := range d.Vertices {
		if v.To != v.From {
			p.From = append(p.From, VertexSize{ID: v.ID, Parallelism: v.From})
			p.To = append(p.To, VertexSize{ID: v.ID, Parallelism: v.To})
		}
	}
	return p
}

// Covers is true when vertices change as the proposal says or less far in the
// same direction, and no others do: who agreed to the proposal, or refused it,
// has judged that too.
func (p Proposal) Covers(vertices []VertexDecision) bool {
	for _, v := range vertices {
		if v.To == v.From {
			continue
		}
		from, ok1 := FindSize(p.From, v.ID)
		to, ok2 := FindSize(p.To, v.ID)
		up, down := from < v.To && v.From < v.To && v.To <= to, from > v.To && v.From > v.To && v.To >= to
		if !ok1 || !ok2 || !(up || down) {
			return false
		}
	}
	return true
}

// Carry gives what a yes to the proposal allows of a change: each vertex as far
// as is wanted now, but no farther than was agreed to. Vertices that the
// proposal does not name wait for a proposal of their own; ok is false where
// nothing is left, where a vertex is to go the other way, and where others are
// to go another way than all of the proposal, since nobody saw these together.
func (p Proposal) Carry(vertices []VertexDecision) (sizes []VertexSize, ok bool) {
	up, down := p.directions()
	for _, v := range vertices {
		if v.To == v.From {
			continue
		}
		from, known := FindSize(p.From, v.ID)
		to, _ := FindSize(p.To, v.ID)
		switch grows := v.To > v.From; {
		case grows && !up, !grows && !down, known && (from < to) != grows:
			return nil, false
		case !known:
			if up && down {
				return nil, false
			}
		case grows && from < v.To && v.From < to:
			sizes = append(sizes, VertexSize{ID: v.ID, Parallelism: min(v.To, to)})
		case !grows && from > v.To && v.From > to:
			sizes = append(sizes, VertexSize{ID: v.ID, Parallelism: max(v.To, to)})
		}
	}
	return sizes, len(sizes) > 0
}

// directions tells whether vertices of the proposal get larger, and smaller.
func (p Proposal) directions() (up, down bool) {
	for _, to := range p.To {
		from, _ := FindSize(p.From, to.ID)
		up, down = up || to.Parallelism > from, down || to.Parallelism < from
	}
	return up, down
}

// FindReplaced is a proposal that another took the place of.
func (c Consent) FindReplaced(id string) (Proposal, bool) {
	i := slices.IndexFunc(c.Replaced, func(p Proposal) bool { return p.ID == id })
	if i < 0 {
		return Proposal{}, false
	}
	return c.Replaced[i], true
}

// maxReplaced bounds the proposals that are kept (I10).
const maxReplaced = 3

// FindRefused is the newest no that covers a change.
func (c Consent) FindRefused(vertices []VertexDecision) (Answered, bool) {
	for i := len(c.Refused) - 1; i >= 0; i-- {
		if c.Refused[i].Proposal.Covers(vertices) {
			return c.Refused[i], true
		}
	}
	return Answered{}, false
}

// Empty is true when nobody was asked, or all is settled.
func (c Consent) Empty() bool { return c.Open == nil && c.Given == nil && len(c.Refused) == 0 }

// After is what a decision leaves of the proposals. A yes stays until it is
// carried out. said tells why a proposal or a yes is no more, empty where both
// are as before.
func (c Consent) After(d Decision) (next Consent, said string) {
	next = c
	switch {
	case d.Proposal != nil:
		next.Open, next.Given = d.Proposal, nil
		if c.Open != nil {
			next.Replaced = append(slices.Clone(c.Replaced), *c.Open)
			next.Replaced = next.Replaced[max(0, len(next.Replaced)-maxReplaced):]
		}
		said = fmt.Sprintf("replaced by %s: fresh evidence asks for something else", d.Proposal.ID)
	case d.Reason == ReasonApproval:
		next.Given = nil
		said = "not carried out: fresh evidence asks for what still waits for an answer"
	case d.Reason == ReasonDeclined:
		next.Open, next.Given = nil, nil
		said = "withdrawn: fresh evidence asks for what was rejected"
	case d.Reason == ReasonOverride || d.Reason == ReasonUndo:
		next.Open, next.Given = nil, nil
		said = fmt.Sprintf("withdrawn: the size is set by order (%s)", d.Reason)
	case d.Verdict == Change:
		next.Open = nil
		said = "withdrawn: what is wanted now needs no approval any more"
		if c.Given != nil {
			said = fmt.Sprintf("withdrawn: %s was approved and is carried out", c.Given.Proposal.ID)
		}
	case settled(d.Reason):
		next.Open, next.Given = nil, nil
		said = fmt.Sprintf("withdrawn: %s: %s", d.Reason, d.Note)
	}
	if next.Open == nil {
		next.Replaced = nil
	}
	if next.Open == c.Open && next.Given == c.Given {
		return next, ""
	}
	if c.Open == nil && c.Given == nil {
		said = ""
	}
	return next, said
}

// settled is true for a hold that says: on good evidence, no change is wanted.
// Where something only keeps a change from being made or judged, a proposal
// waits on.
func settled(r Reason) bool {
	return slices.Contains([]Reason{
		ReasonWithinTarget, ReasonAtLimit, ReasonDownDelayed, ReasonNoDownPeriod, ReasonExcluded, ReasonIneffective, ReasonContradiction, ReasonFailedBefore,
	}, r)
}
