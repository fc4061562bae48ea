package strategy

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/scale"
)

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

// follows is true where something else decides on the TaskManagers.
func (c *cycle) follows() bool { return c.ctx.Means != nil && c.ctx.Means.Follows }

// follow keeps the job in step with the slots that there are. They are what
// somebody else decided on, so no load is looked at. A job that runs at less than
// is wanted of it needs no other wish: it takes slots as they come.
func (c *cycle) follow() {
	c.d.Vertices = c.unseen(core.ReasonWithinTarget)
	slots, ok := c.newest().Global.SlotsTotal.Value()
	if !ok || slots < 1 {
		c.hold(core.ReasonMetricsMissing, "follow mode: the slots of the cluster are not known")
		return
	}
	scale.Follow(c.d.Vertices, c.job(evaluate.Result{}), int(slots))
	c.sumUp()
	if c.d.Verdict == core.Hold {
		c.hold(core.ReasonWithinTarget, fmt.Sprintf("follow mode: the job takes the %d slots that are there; something else decides on their number", int(slots)))
	}
}
