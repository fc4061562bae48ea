package strategy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
)

// approval holds a change that needs a person's yes and has none. What a person
// ordered needs no other's.
func (c *cycle) approval() bool {
	if c.d.Reason == core.ReasonOverride || c.d.Reason == core.ReasonUndo || c.p.ApprovalFor == policy.ApproveNone {
		return false
	}
	state := stateSize(c.ctx.Window)
	needed := needsApproval(c.p, c.d.Vertices, state, c.ctx.Now)
	consent, would := c.ctx.Consent, c.d.Note+c.stateNote(state)
	no, refused := consent.FindRefused(c.d.Vertices)
	yes, open := consent.Given, consent.Open
	switch {
	case yes != nil && c.carry(*yes):
		return false
	case needed && open != nil && open.Covers(c.d.Vertices):
		c.forbid(core.ReasonApproval, fmt.Sprintf("proposal %s waits for an answer until %s; would do: %s", open.ID, clock(open.Deadline), would))
	case refused && (needed || !no.Default):
		c.forbid(core.ReasonDeclined, fmt.Sprintf("proposal %s was rejected%s and is not made again until %s; would do: %s", no.Proposal.ID, answerer(no), clock(no.Until), would))
	case needed:
		c.propose(would)
	default:
		return false
	}
	return true
}

// carry makes the change that a yes allows: what is wanted, but no farther than
// was agreed to. Not where the size on the way has failed before, or an edge
// would break by it: that nobody has seen.
func (c *cycle) carry(yes core.Answered) bool {
	sizes, ok := yes.Proposal.Carry(c.d.Vertices)
	if !ok {
		return false
	}
	vertices, wanted, cut := slices.Clone(c.d.Vertices), c.d.Note, false
	for i := range vertices {
		v := &vertices[i]
		to, allowed := core.FindSize(sizes, v.ID)
		if !allowed {
			to = v.From
		}
		if to == v.To {
			continue
		}
		if nearest, _ := c.book.Avoid(v.ID, v.From, to); nearest != to {
			return false
		}
		v.Steps = append(slices.Clone(v.Steps), core.Step{By: byApproval, To: to, Note: fmt.Sprintf("%s was approved, %d is wanted now", yes.Proposal.ID, v.To)})
		v.To, cut = to, true
		if to == v.From {
			v.Why = core.ReasonApproval
		}
	}
	if cut {
		if !slices.ContainsFunc(vertices, func(v core.VertexDecision) bool { return v.To != v.From && v.Outside }) {
			return false
		}
		if !c.p.Quirks.Has(policy.QuirkForward) && breaksJoined(vertices, c.ctx.Topology) {
			return false
		}
		c.d.Vertices, c.d.Memory = vertices, nil
		c.sumUp()
		c.d.Note += "; more is wanted meanwhile: " + wanted
	}
	c.d.Note += fmt.Sprintf("; %s was approved%s", yes.Proposal.ID, answerer(yes))
	return true
}

// byApproval names the step that keeps a change to what was approved.
const byApproval = "approval"

// breaksJoined is true where vertices that a FORWARD edge joins get unequal.
func breaksJoined(vertices []core.VertexDecision, t core.Topology) bool {
	for _, ids := range scale.Groups(t) {
		size := 0
		for _, v := range vertices {
			switch {
			case !slices.Contains(ids, v.ID):
			case size != 0 && v.To != size:
				return true
			default:
				size = v.To
			}
		}
	}
	return false
}

// answerer says who answered, and why.
func answerer(a core.Answered) string {
	if a.Default {
		return " by default, since nobody answered"
	}
	s := ""
	if a.By != "" {
		s = " by " + a.By
	}
	if a.Reason != "" {
		s += fmt.Sprintf(" (%s)", a.Reason)
	}
	return s
}

// propose holds a change for a person's yes that nobody was asked for yet.
func (c *cycle) propose(would string) {
	p := core.NewProposal(c.d)
	p.Within, p.Quiet, p.Apply = c.p.ApprovalDeadline, c.p.ApprovalQuiet, c.p.ApprovalDefault == policy.ApplyUnanswered
	note := fmt.Sprintf("proposal %s waits for an answer for %s", p.ID, policy.FormatDuration(p.Within))
	if yes := c.ctx.Consent.Given; yes != nil {
		note += fmt.Sprintf("; %s was approved%s, but this is something else", yes.Proposal.ID, answerer(*yes))
	} else if open := c.ctx.Consent.Open; open != nil {
		note += fmt.Sprintf("; it replaces %s, which was something else", open.ID)
	}
	c.forbid(core.ReasonApproval, note+"; would do: "+would)
	c.d.Proposal = &p
}

// stateSize is the newest that is known of the job's state; a job does not
// lose its state with one read that failed.
func stateSize(window []core.Sample) core.Reading {
	for _, s := range slices.Backward(window) {
		if s.Global.StateSize.State() == core.Present {
			return s.Global.StateSize
		}
	}
	return core.Reading{}
}

// stateNote is what a person should know of the state where the policy asks for
// a yes because of it.
func (c *cycle) stateNote(state core.Reading) string {
	if !c.p.AsksStateSize() {
		return ""
	}
	bytes, known := state.Value()
	if !known {
		return "; how much state the job has is not known"
	}
	return fmt.Sprintf("; the job has %s of state", roughMemory(int64(bytes)))
}

// roughMemory drops what is less than a megabyte of more than that.
func roughMemory(bytes int64) string {
	const megabyte = 1 << 20
	if bytes > megabyte {
		bytes -= bytes % megabyte
	}
	return policy.FormatMemory(bytes)
}

// needsApproval is true when the policy asks for a person's yes to these
// changes now. A state whose size is not known may be a large one.
func needsApproval(p policy.Policy, vertices []core.VertexDecision, state core.Reading, now time.Time) bool {
	if !p.AsksNow(now) || state.Or(math.Inf(1)) < float64(p.ApprovalMinState) {
		return false
	}
	for _, v := range vertices {
		up, down := v.To > v.From, v.To < v.From
		asked := up && p.ApprovalFor != policy.ApproveDown || down && p.ApprovalFor != policy.ApproveUp
		if asked && float64(max(v.To-v.From, v.From-v.To)) >= p.ApprovalMinStep*float64(v.From) {
			return true
		}
	}
	return false
}
