package strategy

import (
	"fmt"

	"flinkscaler/core"
)

// turn holds a change that needs more slots than the job has, where the jobs of
// its cluster share them, until so many are given to it. An operator's order
// waits too; the way back from a change does not, since the job is not well.
func (c *cycle) turn() bool {
	t := c.ctx.Turn
	if t == nil {
		return false
	}
	held, need := c.ctx.SlotsHeld(), c.ctx.Topology.Slots(c.d.Sizes())
	if need <= max(held, t.Granted) || c.d.Reason == core.ReasonUndo {
		return false
	}
	standing := t.Standing
	if standing == "" {
		standing = "they are going to be asked for"
	}
	c.d.Needs = need
	c.forbid(core.ReasonSlotsShared, fmt.Sprintf("needs %d slots besides its %d of those that the jobs of the cluster share: %s; would do: %s", need-held, held, standing, c.d.Note))
	return true
}
