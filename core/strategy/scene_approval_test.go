package strategy

import (
	"slices"

	"flinkscaler/core"
)

// answer is a person's word on the proposal that waits, else on the one that
// was answered last.
func (s *scene) answer(word, by string) {
	c := &s.ctx.Consent
	var p core.Proposal
	switch {
	case c.Open != nil:
		p, c.Open = *c.Open, nil
	case c.Given != nil:
		p, c.Given = c.Given.Proposal, nil
	case len(c.Refused) > 0:
		n := len(c.Refused) - 1
		p, c.Refused = c.Refused[n].Proposal, slices.Clone(c.Refused[:n])
	default:
		s.t.Fatalf("%s=%s: no proposal waits", word, by)
	}
	a := core.Answered{Proposal: p, By: by, At: s.now, Until: s.now.Add(p.Within)}
	if word == "approve" {
		c.Given = &a
		return
	}
	a.Until = s.now.Add(p.Quiet)
	c.Refused = append(slices.Clone(c.Refused), a)
}

// consentAfter is what a workflow does with proposals after a decision.
func (s *scene) consentAfter(d core.Decision) {
	before := s.ctx.Consent
	next, said := before.After(d)
	if p := next.Open; p != nil && p.Deadline.IsZero() {
		kept := *p
		kept.At, kept.Deadline = s.now, s.now.Add(p.Within)
		next.Open = &kept
	}
	if d.Verdict == core.Change {
		next.Given = nil
	}
	s.ctx.Consent = next
	if said != "" {
		s.write(said)
	}
}

// consentEnds is what a workflow does when the time of a proposal or of an
// answer is over.
func (s *scene) consentEnds() {
	c := &s.ctx.Consent
	if p := c.Open; p != nil && !s.now.Before(p.Deadline) {
		a := core.Answered{Proposal: *p, At: s.now, Until: s.now.Add(p.Quiet), Default: true}
		c.Open = nil
		if p.Apply {
			a.Until = s.now.Add(p.Within)
			c.Given = &a
		} else {
			c.Refused = append(slices.Clone(c.Refused), a)
		}
	}
	c.Replaced = slices.DeleteFunc(slices.Clone(c.Replaced), func(p core.Proposal) bool { return !s.now.Before(p.Deadline) })
	if c.Given != nil && !s.now.Before(c.Given.Until) {
		c.Given = nil
	}
	c.Refused = slices.DeleteFunc(slices.Clone(c.Refused), func(a core.Answered) bool { return !s.now.Before(a.Until) })
}
