package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
)

// notFull holds until there is enough to judge, and shows what there is.
func (c *cycle) notFull() {
	reason := core.ReasonWindowNotFull
	note := fmt.Sprintf("%d sample(s) over %s of %s", len(c.window.Samples), c.window.Span().Round(time.Second), policy.FormatDuration(c.p.MetricsWindow))
	if c.window.Stabilizing {
		reason = core.ReasonStabilizing
		note = fmt.Sprintf("the job is younger than %sstabilization.interval (%s)", policy.Prefix, policy.FormatDuration(c.p.StabilizationInterval))
	}
	if !c.window.Ends.IsZero() {
		note += "; full at " + clock(c.window.Ends)
	}
	c.show(c.evaluate(), reason)
	c.hold(reason, note)
	c.lift()
}

// lift obeys the policy's floors and hard least sizes, which need no evidence:
// a peak that is known to come does not wait for a window.
func (c *cycle) lift() {
	all := c.d.Vertices
	if len(all) == 0 {
		all = c.unseen(c.d.Reason)
	}
	lifted := false
	for i := range all {
		d := &all[i]
		v, _ := c.ctx.Topology.Find(d.ID)
		if v.Finished || slices.Contains(c.p.Exclude, v.ID) {
			continue
		}
		if to, steps := scale.Rest(v, c.p, c.ctx.Now); to > d.From {
			d.To, d.Wanted, d.Steps, d.Outside, d.Why = to, to, steps, true, core.ReasonScaleUp
			lifted = true
		}
	}
	if lifted {
		c.d.Vertices = all
		c.sumUp()
	}
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

// sumUp makes one verdict of what the rule says of each vertex.
func (c *cycle) sumUp() {
	up, changed := false, false
	for _, v := range c.d.Vertices {
		changed = changed || v.To != v.From
		up = up || (v.To > v.From && v.Outside)
	}
	switch {
	case !changed:
		c.sumUpHold()
		return
	case up:
		c.d.Reason = core.ReasonScaleUp
	default:
		c.d.Reason = core.ReasonScaleDown
	}
	c.d.Verdict, c.d.Note = core.Change, c.changes()
}

// holdReasons are the reasons of a vertex that explain the hold of the job, the
// most telling first.
func holdReasons() []core.Reason {
	return []core.Reason{core.ReasonIncomplete, core.ReasonMetricsMissing, core.ReasonWindowNotFull, core.ReasonContradiction, core.ReasonIneffective, core.ReasonFailedBefore, core.ReasonNoDownPeriod, core.ReasonDownDelayed, core.ReasonVetoed, core.ReasonAtLimit}
}

func (c *cycle) sumUpHold() {
	for _, r := range holdReasons() {
		i := slices.IndexFunc(c.d.Vertices, func(v core.VertexDecision) bool { return v.Why == r })
		if i < 0 {
			continue
		}
		c.hold(r, c.whyStays(c.d.Vertices[i]))
		return
	}
	if !slices.ContainsFunc(c.d.Vertices, func(v core.VertexDecision) bool { return v.Why != core.ReasonExcluded }) {
		c.hold(core.ReasonExcluded, "every vertex is excluded, finished, or cannot be judged by its nature")
		return
	}
	c.hold(core.ReasonWithinTarget, c.nearest())
}

// whyStays says for one vertex why it stays, with its numbers.
func (c *cycle) whyStays(v core.VertexDecision) string {
	name := c.name(v.ID)
	last := core.Step{}
	if len(v.Steps) > 0 {
		last = v.Steps[len(v.Steps)-1]
	}
	switch v.Why {
	case core.ReasonDownDelayed, core.ReasonNoDownPeriod:
		return fmt.Sprintf("%s could run at %d instead of %d (%s); %s: %s", name, v.Wanted, v.From, can(v), last.By, last.Note)
	case core.ReasonAtLimit, core.ReasonIneffective, core.ReasonFailedBefore, core.ReasonVetoed:
		return fmt.Sprintf("%s stays at %d (%s): %s: %s", name, v.From, can(v), last.By, last.Note)
	}
	if v.Wanted < v.From {
		return fmt.Sprintf("%s could run at %d instead of %d, but not on this evidence: %s", name, v.Wanted, v.From, v.Note)
	}
	return fmt.Sprintf("%s: %s", name, v.Note)
}

// can says what a vertex has to do and could do.
func can(v core.VertexDecision) string {
	if v.TrueRate.State() == core.NotApplicable {
		return fmt.Sprintf("has to do %s/s, idle", core.Decimal(v.TargetRate))
	}
	return fmt.Sprintf("has to do %s/s, could do %s/s", core.Decimal(v.TargetRate), core.Decimal(v.TrueRate))
}

// nearest names the vertex that is closest to being scaled up.
func (c *cycle) nearest() string {
	best, at := core.VertexDecision{}, -1.0
	for _, v := range c.d.Vertices {
		up, ok1 := v.UpBelow.Value()
		rate, ok2 := v.TrueRate.Value()
		if ok1 && ok2 && v.Why != core.ReasonExcluded && rate > 0 && up/rate > at {
			best, at = v, up/rate
		}
	}
	if at < 0 {
		return "every vertex is within its bounds"
	}
	return fmt.Sprintf("every vertex is within its bounds; nearest to more is %s: could do %s/s, gets more below %s/s",
		c.name(best.ID), core.Decimal(best.TrueRate), core.Decimal(best.UpBelow))
}

// changes names the largest change and counts the others.
func (c *cycle) changes() string {
	var changed []core.VertexDecision
	for _, v := range c.d.Vertices {
		if v.To != v.From {
			changed = append(changed, v)
		}
	}
	// Those that are the cause come first, then the largest.
	slices.SortStableFunc(changed, func(a, b core.VertexDecision) int {
		if a.Outside != b.Outside {
			if a.Outside {
				return -1
			}
			return 1
		}
		return cmp.Compare(factor(b), factor(a))
	})
	v := changed[0]
	note := fmt.Sprintf("%s %d -> %d", c.name(v.ID), v.From, v.To)
	if v.TargetRate.State() == core.Present {
		note += ": " + can(v)
	}
	if n := len(changed) - 1; n > 0 {
		note += fmt.Sprintf("; %d more of %d vertices change", n, len(c.d.Vertices))
	}
	return note + c.byRedeploy()
}

// byRedeploy says where a change is none in place: what is wanted of Flink can
// be read wherever the scheduler is adaptive.
func (c *cycle) byRedeploy() string {
	if !c.p.Redeploy || c.newest().Asked {
		return ""
	}
	return "; by a redeploy: the job is stopped with a savepoint and started again from it"
}

// factor is how large a change is, up or down.
func factor(v core.VertexDecision) float64 {
	lo, hi := min(v.From, v.To), max(v.From, v.To)
	return float64(hi) / float64(max(1, lo))
}

// name is a vertex' name, cut short, for sentences.
func (c *cycle) name(id string) string { return c.ctx.Topology.Title(id, 40) }

// veto forbids what must not be done now. A pause, another owner or an open
// rescale is told even when nothing would change; the others only when they
// are what keeps a change back.
func (c *cycle) veto() {
	defer c.beware()
	now := c.ctx.Now
	would := c.d.Note
	switch {
	case c.ctx.ManagedBy != "":
		c.forbid(core.ReasonManagedElsewhere, fmt.Sprintf("the workflow %s manages the same target", c.ctx.ManagedBy))
	case c.ctx.RescaleOpen && !c.p.Quirks.Has(policy.QuirkPending):
		c.forbid(core.ReasonRescaleOpen, "a rescale of this job is under way")
	case c.ctx.Pause.Active(now):
		c.forbid(core.ReasonPaused, c.pauseNote(would))
	case c.rival():
	case c.unsafe():
	case c.foreign():
	case c.degraded():
	case c.d.Verdict != core.Change:
	case c.excluded():
	case !c.p.ScalingEnabled:
		c.forbid(core.ReasonScalingDisabled, "would do: "+would)
	case c.standing():
	case c.broken():
	case c.spent():
	case c.noSlotsYet():
	case now.Before(c.ctx.RetryAfter) && !c.orderedSince() && !c.moreSlots():
		note := "the last rescale did not succeed; the next may start at " + clock(c.ctx.RetryAfter)
		if o := c.ctx.LastOutcome; o != nil {
			note = fmt.Sprintf("the last rescale ended as %s (%s); the next may start at %s", o.Kind, o.Reason, clock(c.ctx.RetryAfter))
		}
		if c.unattempted(would) {
			return
		}
		c.forbid(core.ReasonBackoff, note+"; would do: "+would)
	case c.approval():
	case c.turn():
	}
}

// excluded holds in the policy's excluded periods, an operator's override too
// (I6).
func (c *cycle) excluded() bool {
	period, ok := c.p.Excluded(c.ctx.Now)
	if !ok {
		return false
	}
	until := ""
	if t := c.p.NextChange(c.ctx.Now); !t.IsZero() {
		until = ", at least until " + clock(t)
	}
	c.forbid(core.ReasonExcludedPeriod, fmt.Sprintf("now is in %s (%s)%s; would do: %s", period, c.p.Zone, until, c.d.Note))
	return true
}

// orderedSince is true when an override was set after the rescale that did not
// succeed: such an order does not wait.
func (c *cycle) orderedSince() bool {
	o := c.ctx.LastOutcome
	return c.d.Reason == core.ReasonOverride && o != nil && c.ctx.Override.Since.After(o.EndedAt)
}

func (c *cycle) pauseNote(would string) string {
	p := c.ctx.Pause
	note := "paused"
	if p.By != "" {
		note += " by " + p.By
	}
	if p.Reason != "" {
		note += fmt.Sprintf(" (%s)", p.Reason)
	}
	if !p.Until.IsZero() {
		note += " until " + p.Until.UTC().Format("2006-01-02 15:04") + " UTC"
	}
	if c.d.Verdict == core.Change {
		return note + "; would do: " + would
	}
	return fmt.Sprintf("%s; would hold: %s", note, c.d.Reason)
}

// forbid turns the decision into a hold.
func (c *cycle) forbid(r core.Reason, note string) {
	for i := range c.d.Vertices {
		v := &c.d.Vertices[i]
		if v.To != v.From {
			v.Steps = append(v.Steps, core.Step{By: string(r), To: v.From})
			v.To, v.Why = v.From, r
		}
	}
	c.hold(r, note)
}
