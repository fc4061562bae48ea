package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// maxRefused bounds the noes that are kept (I10); the oldest is forgotten.
const maxRefused = 3

// proposed is the name under which proposals are in the list of orders: they
// are no message, but end by one.
const proposed = "proposal"

// answerable judges an answer to a proposal. As long as it is not carried out
// the last answer counts: who changes his mind, or another's, may.
func (s *State) answerable(m message) judgement {
	c := s.Consent
	yes := c.Given != nil && c.Given.Proposal.ID == m.Decision
	no := s.refused(m.Decision) >= 0
	approve := m.Name == MsgApprove
	switch {
	case c.Open != nil && c.Open.ID == m.Decision, approve && no, !approve && yes:
		return judgement{}
	case approve && s.replaced(m.Decision):
		return judgement{}
	case yes || no:
		return judgement{Problems: []core.Problem{{Path: m.Name + ".decision", Message: fmt.Sprintf("%s was answered like that already", spec.Cut(m.Decision, maxText))}}}
	}
	text := fmt.Sprintf("no proposal %q waits for an answer", spec.Cut(m.Decision, maxText))
	if c.Open != nil {
		text += fmt.Sprintf("; the one that does is %s: %s", c.Open.ID, s.proposalText(*c.Open))
	}
	return judgement{Problems: []core.Problem{{Path: m.Name + ".decision", Message: text}}}
}

// refused finds a no by the proposal's id, -1 for none.
func (s *State) refused(id string) int {
	return slices.IndexFunc(s.Consent.Refused, func(a core.Answered) bool { return a.Proposal.ID == id })
}

// replaced is true for a proposal that another took the place of not long ago.
func (s *State) replaced(id string) bool {
	_, ok := s.Consent.FindReplaced(id)
	return ok
}

// take takes the proposal that an answer is about out of where it is.
func (s *State) take(m message, now time.Time) core.Proposal {
	c := &s.Consent
	if c.Open != nil && c.Open.ID == m.Decision {
		p := *c.Open
		c.Open = nil
		return p
	}
	if p, ok := c.FindReplaced(m.Decision); ok {
		// What took its place waits on: the yes may not reach as far.
		c.Replaced = slices.DeleteFunc(slices.Clone(c.Replaced), func(x core.Proposal) bool { return x.ID == p.ID })
		return p
	}
	if c.Given != nil && c.Given.Proposal.ID == m.Decision {
		p := c.Given.Proposal
		s.end(endedBy("overruled", m.By), now, MsgApprove)
		c.Given = nil
		return p
	}
	if i := s.refused(m.Decision); i >= 0 {
		p := c.Refused[i].Proposal
		c.Refused = slices.Delete(slices.Clone(c.Refused), i, i+1)
		s.endDecision(endedBy("overruled", m.By), now, m.Decision, MsgReject)
		return p
	}
	return core.Proposal{}
}

// answer takes in a yes or a no. A yes is no order to write: the job is looked
// at and judged anew first.
func (s *State) answer(m message, now time.Time) (message, Answer) {
	p := s.take(m, now)
	s.Stand++
	a := core.Answered{Proposal: p, By: m.By, Reason: m.Reason, At: now}
	if m.Name == MsgReject {
		s.endDecision(endedBy("rejected", m.By), now, p.ID, proposed)
		m.Until = s.refuse(a, now)
		return m, Answer{Message: fmt.Sprintf("%s is rejected%s: %s; the same is not proposed again before, unless it grows", p.ID, untilText(m.Until), s.proposalText(p))}
	}
	s.endDecision(endedBy("approved", m.By), now, p.ID, proposed)
	m.Until = s.agree(a, now)
	return m, Answer{
		Message: fmt.Sprintf("%s is approved%s: %s; carried out as far as a fresh look asks for it, and no farther", p.ID, untilText(m.Until), s.proposalText(p)) + s.waits(),
		Sizes:   s.changes(p.To),
	}
}

func (s *State) agree(a core.Answered, now time.Time) time.Time {
	s.end("replaced", now, MsgApprove)
	a.Until = now.Add(a.Proposal.Within)
	s.Consent.Given = &a
	return a.Until
}

func (s *State) refuse(a core.Answered, now time.Time) time.Time {
	a.Until = now.Add(a.Proposal.Quiet)
	s.Consent.Refused = tail(append(slices.Clone(s.Consent.Refused), a), maxRefused)
	return a.Until
}

// endDecision ends the entries of one proposal that are still in force.
func (s *State) endDecision(how string, now time.Time, id string, name string) {
	for i := range s.Given {
		if o := &s.Given[i]; o.Ended == "" && o.Message == name && o.Decision == id {
			o.Ended, o.EndedAt = spec.Cut(how, maxNote), now
		}
	}
}

// settle takes in what a decision leaves of the proposals: a new one waits
// until its deadline, one that is withdrawn is said to be.
func (s *State) settle(next core.Consent, said string, now time.Time) {
	before := s.Consent
	if p := next.Open; p != nil && p.Deadline.IsZero() {
		kept := *p
		kept.At, kept.Deadline = now, now.Add(p.Within)
		next.Open = &kept
	}
	s.Consent = next
	if o := before.Open; o != nil && (next.Open == nil || next.Open.ID != o.ID) {
		s.endDecision(said, now, o.ID, proposed)
	}
	if before.Given != nil && next.Given == nil {
		s.end(spec.Cut(said, maxNote), now, MsgApprove)
	}
	if p := next.Open; p != nil && (before.Open == nil || before.Open.ID != p.ID) {
		s.enter(Order{Message: proposed, Decision: p.ID, At: now, Until: p.Deadline, Did: spec.Cut(fmt.Sprintf("%s: %s", p.Reason, s.proposalText(*p)), maxNote)})
	}
}

// carriedOut ends a yes: its change has begun.
func (s *State) carriedOut(attempt int, now time.Time) {
	if s.Consent.Given == nil {
		return
	}
	s.Consent.Given = nil
	s.end(fmt.Sprintf("carried out by rescale %d", attempt), now, MsgApprove)
}

// expireConsent has the policy's answer stand for those that nobody gave, and
// ends a yes that was not carried out in time and noes whose time is over.
func (s *State) expireConsent(now time.Time) bool {
	ended := false
	if p := s.Consent.Open; p != nil && passed(p.Deadline, now) {
		ended = true
		s.Consent.Open = nil
		a := core.Answered{Proposal: *p, At: now, Default: true}
		if p.Apply {
			s.agree(a, now)
			s.endDecision("approved by default: nobody answered in time", now, p.ID, proposed)
		} else {
			s.refuse(a, now)
			s.endDecision("rejected by default: nobody answered in time", now, p.ID, proposed)
		}
	}
	if a := s.Consent.Given; a != nil && passed(a.Until, now) {
		ended = true
		s.Consent.Given = nil
		s.end("ran out before it could be carried out", now, MsgApprove)
	}
	s.ranOut(now, MsgReject)
	s.Consent.Replaced = slices.DeleteFunc(slices.Clone(s.Consent.Replaced), func(p core.Proposal) bool { return passed(p.Deadline, now) })
	s.Consent.Refused = slices.DeleteFunc(slices.Clone(s.Consent.Refused), func(a core.Answered) bool { return passed(a.Until, now) })
	if ended {
		s.Stand++
	}
	return ended
}

// proposalText lists what a proposal changes: "Enrich 4 -> 6".
func (s *State) proposalText(p core.Proposal) string {
	var parts []string
	for i, to := range p.To {
		if i == maxTold {
			parts = append(parts, fmt.Sprintf("%d more", len(p.To)-i))
			break
		}
		from, _ := core.FindSize(p.From, to.ID)
		parts = append(parts, fmt.Sprintf("%s %d -> %d", s.Topology.Title(to.ID, maxTitle), from, to.Parallelism))
	}
	return strings.Join(parts, ", ")
}

// proposalLines tell the proposal that waits, and the yes that does.
func (s *State) proposalLines() []string {
	var out []string
	if p := s.Consent.Open; p != nil {
		then := "rejected"
		if p.Apply {
			then = "carried out"
		}
		out = append(out, "", fmt.Sprintf("proposal %s waits for an answer until %s, then it is %s: %s", p.ID, clock(p.Deadline), then, s.proposalText(*p)))
	}
	if a := s.Consent.Given; a != nil {
		out = append(out, "", fmt.Sprintf("proposal %s is approved%s%s%s: %s", a.Proposal.ID, byWhom(a.By), forWhat(a.Reason), untilText(a.Until), s.proposalText(a.Proposal)))
	}
	return out
}
