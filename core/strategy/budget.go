package strategy

import (
	"time"

	"flinkscaler/core"
	"flinkscaler/core/stabilize"
)

// spent holds what the budget of rescales does not allow any more. An operator's
// order passes, and so does what brings a late job back to its objective.
func (c *cycle) spent() bool {
	note := c.book.Over()
	if note == "" || c.d.Reason == core.ReasonOverride || c.d.Reason == core.ReasonUndo || c.saves() {
		return false
	}
	c.forbid(core.ReasonBudget, note+"; would do: "+c.d.Note)
	return true
}

// broken holds everything while rescales keep failing, but an order that was
// given after the last of them.
func (c *cycle) broken() bool {
	note, since := c.book.Broken()
	if note == "" || c.d.Reason == core.ReasonUndo || (c.d.Reason == core.ReasonOverride && c.ctx.Override.Since.After(since)) {
		return false
	}
	c.forbid(core.ReasonBreaker, note+"; would do: "+c.d.Note)
	return true
}

// saves is true for a change that makes the job larger while a source is
// further behind than the objective allows.
func (c *cycle) saves() bool {
	objective := c.p.ObjectiveLag
	return objective > 0 && c.d.Reason == core.ReasonScaleUp && !c.d.Shrinks() && c.late() > objective
}

// late is how far the sources are behind: the most time that one of them needs
// to read its lag at the rate at which records arrive.
func (c *cycle) late() time.Duration {
	worst := time.Duration(0)
	for _, v := range c.d.Vertices {
		worst = max(worst, stabilize.Behind(v.Lag, v.TargetRate))
	}
	return worst
}
