package strategy

import (
	"fmt"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/scale"
)

// show fills in what is known of every vertex, all staying as they are.
func (c *cycle) show(result evaluate.Result, why core.Reason) {
	if len(c.window.Samples) < 2 || result.Failed {
		return
	}
	for i, v := range c.ctx.Topology.Vertices {
		d := scale.Decision(v, result.Vertices[i])
		d.Outside, d.Why = false, why
		if result.Vertices[i].Unjudged == core.ReasonExcluded {
			d.Why = core.ReasonExcluded
		}
		c.d.Vertices = append(c.d.Vertices, d)
	}
}

// unseen are vertices of which nothing but the size is known, all staying.
func (c *cycle) unseen(why core.Reason) []core.VertexDecision {
	out := make([]core.VertexDecision, 0, len(c.ctx.Topology.Vertices))
	for _, v := range c.ctx.Topology.Vertices {
		out = append(out, core.VertexDecision{ID: v.ID, From: v.Parallelism, To: v.Parallelism, Wanted: v.Parallelism, Why: why})
	}
	return out
}

// override carries out an operator's order: no evidence is asked for, the
// limits of Flink and the partitions of a source hold.
func (c *cycle) override() {
	o := *c.ctx.Override
	sizes, problems := o.Resolve(c.ctx.Topology)
	if len(problems) > 0 {
		c.d.Problems = problems
		c.hold(core.ReasonOverrideInvalid, fmt.Sprintf("%d problem(s) in the override, the first: %s", len(problems), problems[0]))
		return
	}
	c.show(c.evaluate(), core.ReasonOverride)
	if len(c.d.Vertices) == 0 {
		c.d.Vertices = c.unseen(core.ReasonOverride)
	}
	for i := range c.d.Vertices {
		if p, ok := core.FindSize(sizes, c.d.Vertices[i].ID); ok {
			c.order(&c.d.Vertices[i], p)
		}
	}
	scale.Uniform(c.d.Vertices, c.job(evaluate.Result{}))
	by := ""
	if o.By != "" {
		by = " of " + o.By
	}
	if o.Reason != "" {
		by += fmt.Sprintf(" (%s)", o.Reason)
	}
	if !slices.ContainsFunc(c.d.Vertices, func(d core.VertexDecision) bool { return d.To != d.From }) {
		c.hold(core.ReasonOverride, fmt.Sprintf("the override%s is in force, and everything runs as it says", by))
		return
	}
	c.d.Verdict, c.d.Reason = core.Change, core.ReasonOverride
	c.d.Note = fmt.Sprintf("override%s: %s", by, c.changes())
}

// order sets one vertex to the size that was ordered.
func (c *cycle) order(d *core.VertexDecision, p int) {
	v, _ := c.ctx.Topology.Find(d.ID)
	v = scale.Known(v, c.p)
	d.Why, d.Steps = core.ReasonOverride, nil
	if v.Finished {
		d.Why, d.Note = core.ReasonExcluded, "finished"
		return
	}
	d.Wanted, d.To = p, p
	if n := v.Partitions; v.IsSource() && n > 0 && p > n {
		d.To = n
		d.Steps = []core.Step{{By: string(core.ReasonOverride), To: p}, {By: scale.ByPartitions, To: n, Note: fmt.Sprintf("capped by %d partitions", n)}}
	}
}
