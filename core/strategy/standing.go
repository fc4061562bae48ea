package strategy

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/stabilize"
)

// newest is the last look; there is one in a cycle that got past fit.
func (c *cycle) newest() core.Sample { return c.ctx.Window[len(c.ctx.Window)-1] }

// look is what the newest sample shows of what is wanted of Flink; false where
// that was not read.
func (c *cycle) look() (stabilize.Look, bool) {
	s, sizes := c.newest(), c.ctx.Topology.Sizes()
	return stabilize.Look{
		JobID: c.ctx.JobID, Wanted: core.Beside(s.Wanted, sizes), Sizes: sizes,
		Asked: c.ctx.AskedAt, Now: c.ctx.Now, AcceptAfter: c.p.ForeignAcceptAfter,
	}, s.Asked
}

// asked takes in what is wanted of Flink, and how many slots are free.
func (c *cycle) asked() {
	if !c.ctx.RescaleOpen {
		c.book.Wiped(c.newest().Mark, c.ctx.AskedAt)
	}
	if l, ok := c.look(); ok && !c.ctx.RescaleOpen {
		c.book.Compare(l)
	}
	c.book.FreeThen(c.newest().Global.SlotsFree, c.ctx.Now)
}

// given is true for a hold that no other fact may hide: what is wrong with the
// input comes first.
func (c *cycle) given() bool {
	switch c.d.Reason {
	case core.ReasonPolicyInvalid, core.ReasonOverrideInvalid, core.ReasonInternal:
		return true
	}
	return false
}

// foreign holds while somebody else's requirements are in force, whatever is
// wanted: an order that was given before them, too (I8).
func (c *cycle) foreign() bool {
	note := c.book.Foreign(c.name)
	if note == "" {
		note = c.book.Reverts()
	}
	if note == "" || c.given() {
		return false
	}
	c.forbid(core.ReasonForeignWriter, c.would(note))
	return true
}

// degraded holds while the job runs at less than is wanted of Flink: what is
// measured then is no measure of a size, and Flink itself goes up as soon as it
// can. An operator's order passes, and so does the way back from a change.
func (c *cycle) degraded() bool {
	l, ok := c.look()
	if !ok || c.follows() || c.given() || c.d.Reason == core.ReasonOverride || c.d.Reason == core.ReasonUndo {
		return false
	}
	note := c.book.Degraded(l, c.name)
	if note == "" {
		return false
	}
	c.book.Delays.ClearAll()
	c.forbid(core.ReasonDegraded, c.would(note))
	return true
}

// would adds what would be done.
func (c *cycle) would(note string) string {
	if c.d.Verdict == core.Change {
		return note + "; would do: " + c.d.Note
	}
	return note
}

// standing holds where all of the change is asked of Flink already: it waits for
// slots, and takes them when they come. Nothing is gained by asking again.
func (c *cycle) standing() bool {
	l, ok := c.look()
	if !ok || !stabilize.Standing(l.Wanted, c.d.Sizes()) {
		return false
	}
	if !slices.ContainsFunc(c.d.Vertices, func(v core.VertexDecision) bool { return v.To > v.From }) {
		c.forbid(core.ReasonNotReached, "it is asked of Flink already, which has not gone there yet: "+c.d.Note)
		return true
	}
	free := ""
	if n, ok := c.newest().Global.SlotsFree.Value(); ok {
		free = fmt.Sprintf(" (%.0f are free)", n)
	}
	c.forbid(core.ReasonNoSlots, fmt.Sprintf("it is asked of Flink already, which goes there as soon as it has the slots%s: %s", free, c.d.Note))
	return true
}

// moreSlots is true when a rescale that lacked slots may be tried again before
// its time: more are free than when it ended.
func (c *cycle) moreSlots() bool {
	o := c.ctx.LastOutcome
	if o == nil || (o.Kind != core.Partial && o.Reason != core.ReasonNoSlots) {
		return false
	}
	then, ok := c.freeThen()
	now, known := c.newest().Global.SlotsFree.Value()
	return ok && known && now > then.Slots.Or(now)
}

// noSlotsYet holds a change for which no slot could be had, for the back-off of
// a rescale that did not succeed or until there are more.
func (c *cycle) noSlotsYet() bool {
	o := c.ctx.LastOutcome
	if o == nil || o.Kind != core.Rejected || o.Reason != core.ReasonNoSlots || c.d.Reason != core.ReasonScaleUp || c.moreSlots() {
		return false
	}
	then, ok := c.freeThen()
	if !ok || !c.ctx.Now.Before(then.At.Add(c.p.Backoff)) {
		return false
	}
	c.forbid(core.ReasonNoSlots, fmt.Sprintf("%s; looked at again when more slots are free, or at %s; would do: %s", o.Note, clock(then.At.Add(c.p.Backoff)), c.d.Note))
	return true
}

func (c *cycle) freeThen() (core.FreeThen, bool) {
	f := c.book.FreeThen(core.Reading{}, time.Time{})
	if f == nil {
		return core.FreeThen{}, false
	}
	return *f, true
}

// unattempted tells of a change that was held back before anything was written
// by what held it back, not as a failure.
func (c *cycle) unattempted(would string) bool {
	o := c.ctx.LastOutcome
	if o == nil || o.Kind != core.Rejected || !o.WrittenAt.IsZero() || o.Reason == "" || o.Reason == core.ReasonRefused {
		return false
	}
	c.forbid(o.Reason, fmt.Sprintf("%s; tried again at %s; would do: %s", o.Note, clock(c.ctx.RetryAfter), would))
	return true
}

// growing is true when more records wait in front of the sources at the end of
// the window than at its beginning.
func growing(samples []core.Sample) bool {
	if len(samples) < 2 {
		return false
	}
	first, ok1 := waiting(samples[0])
	last, ok2 := waiting(samples[len(samples)-1])
	return ok1 && ok2 && last > first
}

// waiting counts the records in front of all sources that tell.
func waiting(s core.Sample) (float64, bool) {
	i := slices.IndexFunc(s.Vertices, func(v core.VertexSample) bool { return v.Lag.State() == core.Present })
	if i < 0 {
		return 0, false
	}
	total := 0.0
	for _, v := range s.Vertices[i:] {
		total += v.Lag.Or(0)
	}
	return total, true
}
