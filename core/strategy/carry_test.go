package strategy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// carrying says how changes are carried out.
type carrying struct {
	kind core.OutcomeKind
	// takes is from the decision until the job runs again.
	takes time.Duration
	// most is the size that slots allow, for a partial outcome.
	most int
	// open is the rescale under way, nil for none.
	open    *core.Outcome
	attempt int
}

// carryOut reads the word apply: "2m", "partial:12", "rejected", "undone",
// "failed".
func (s *scene) carryOut(v string) {
	if s.carry == nil {
		s.carry = &carrying{}
	}
	c := s.carry
	kind, most, _ := strings.Cut(v, ":")
	switch core.OutcomeKind(kind) {
	case core.Partial:
		c.kind, c.most = core.Partial, int(s.number(most))
	case core.Rejected, core.Undone, core.Failed:
		c.kind = core.OutcomeKind(kind)
	default:
		c.kind, c.takes = core.Applied, s.duration(v)
	}
	if c.takes == 0 {
		c.takes = time.Minute
	}
}

// begin starts to carry out a change; without the word apply the case ends.
func (s *scene) begin(d core.Decision) {
	if s.carry == nil {
		s.over = true
		return
	}
	c := s.carry
	c.attempt++
	o := &core.Outcome{Kind: c.kind, DecisionID: d.ID, Cause: d.Reason, Attempt: c.attempt, From: s.sizes(), Wanted: d.Sizes(), StartedAt: s.now, EndedAt: s.now.Add(c.takes)}
	o.Got = slices.Clone(o.Wanted)
	o.WrittenAt, o.RunningAt = s.now, o.EndedAt
	switch c.kind {
	case core.Applied:
		o.Reason = d.Reason
	case core.Partial:
		o.Reason = core.ReasonNoSlots
		for i := range o.Got {
			if o.Got[i].Parallelism != o.From[i].Parallelism {
				o.Got[i].Parallelism = min(o.Got[i].Parallelism, max(c.most, o.From[i].Parallelism))
			}
		}
		if slices.Equal(o.Got, o.From) && s.asks == nil {
			// Nothing came of it: what was asked for is withdrawn.
			o.Kind, o.RunningAt = core.Undone, time.Time{}
		}
	case core.Rejected:
		o.Reason, o.Got, o.EndedAt = core.ReasonRefused, slices.Clone(o.From), s.now
		o.WrittenAt, o.RunningAt = time.Time{}, time.Time{}
	case core.Undone, core.Failed:
		o.Reason, o.Got = core.ReasonNotReached, slices.Clone(o.From)
	}
	s.ask(o)
	c.open, s.ctx.RescaleOpen = o, true
}

func (s *scene) sizes() []core.VertexSize {
	var out []core.VertexSize
	for _, a := range s.vertices {
		out = append(out, core.VertexSize{ID: a.ID, Parallelism: a.Parallelism})
	}
	return out
}

// restarting is true while the job restarts because of a rescale.
func (s *scene) restarting() bool {
	return s.carry != nil && s.carry.open != nil && !s.carry.open.RunningAt.IsZero()
}

// carried takes in the outcome of a rescale once it is over, as a workflow
// does.
func (s *scene) carried() {
	if s.carry == nil || s.carry.open == nil || s.now.Before(s.carry.open.EndedAt) {
		return
	}
	o := s.carry.open
	s.carry.open, s.ctx.RescaleOpen, s.ctx.LastOutcome, s.ctx.RetryAfter = nil, false, o, time.Time{}
	if !o.RunningAt.IsZero() {
		s.restart(o.RunningAt)
		for _, g := range o.Got {
			s.resize(g.ID, g.Parallelism)
		}
	}
	if o.Kind == core.Applied {
		return
	}
	wait := max(s.policy.Backoff, s.cycle)
	if o.Kind == core.Rejected {
		wait = min(wait, 2*s.cycle)
	}
	s.ctx.RetryAfter = s.now.Add(wait)
	var sizes []string
	for _, g := range o.Got {
		sizes = append(sizes, fmt.Sprintf("%s %d", g.ID, g.Parallelism))
	}
	s.write(fmt.Sprintf("rescale %s: %s: runs at %s", o.Kind, o.Reason, strings.Join(sizes, ", ")))
}
