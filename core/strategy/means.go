package strategy

import "flinkscaler/core"

// rival holds while somebody else changes the job's size: nothing of ours is
// written then, not even an order (I8). A dry run may look on.
func (c *cycle) rival() bool {
	newest := c.ctx.Window[len(c.ctx.Window)-1]
	if newest.Rival == "" || !c.p.ScalingEnabled {
		return false
	}
	c.keepBack(core.ReasonRival, newest.Rival)
	return true
}

// unsafe holds a job whose set-up has no safe way to another size.
func (c *cycle) unsafe() bool {
	if c.ctx.Means == nil || c.ctx.Means.Refused == "" || !c.p.ScalingEnabled {
		return false
	}
	c.keepBack(core.ReasonNoSafeWay, c.ctx.Means.Refused)
	return true
}

// keepBack forbids a change, and tells it where one was wanted.
func (c *cycle) keepBack(r core.Reason, why string) {
	if c.d.Verdict == core.Change {
		why += "; would do: " + c.d.Note
	}
	c.forbid(r, why)
}

// beware adds what else may get in the way of the job.
func (c *cycle) beware() {
	if b := c.ctx.Window[len(c.ctx.Window)-1].Beware; b != "" {
		c.d.Note += "; beware of " + b
	}
}
