package strategy

import (
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
)

// finish lets those have their say who look at a change as a whole: the
// policy's executors, whole TaskManagers, the quotas. A change that is left
// comes with a recommendation of memory.
func (c *cycle) finish(job scale.Job) {
	decided, veto := scale.RunExecutors(c.executors, job, c.d.Vertices)
	if veto != "" {
		c.forbid(core.ReasonVetoed, veto+"; would do: "+c.d.Note)
		return
	}
	c.d.Vertices = decided
	c.keepJoined(job)
	scale.WholeTaskManagers(c.d.Vertices, job)
	scale.Uniform(c.d.Vertices, job)
	c.sumUp()
	if c.d.Verdict != core.Change {
		return
	}
	check := scale.CheckQuota
	if c.p.Quirks.Has(policy.QuirkQuota) {
		check = scale.JavaQuota
	}
	if q := check(c.d.Vertices, job); q.Blocked {
		c.forbid(core.ReasonQuota, q.Note+"; would do: "+c.d.Note)
		return
	}
	c.d.Memory = scale.Tune(scale.Tuning{Job: job, Decisions: c.d.Vertices, Config: c.ctx.Config})
}

// keepJoined lets vertices stay that a FORWARD edge joins and an executor has
// made unequal: what one of them must not, all must not.
func (c *cycle) keepJoined(job scale.Job) {
	if job.Policy.Quirks.Has(policy.QuirkForward) {
		return
	}
	for _, ids := range scale.Groups(job.Topology) {
		var members []*core.VertexDecision
		for i := range c.d.Vertices {
			if slices.Contains(ids, c.d.Vertices[i].ID) {
				members = append(members, &c.d.Vertices[i])
			}
		}
		if !slices.ContainsFunc(members, func(d *core.VertexDecision) bool { return d.To != members[0].To }) {
			continue
		}
		for _, d := range members {
			scale.Hold(d, d.From, scale.ByForward, "an executor left a vertex that it is joined to at another size")
			d.Why = core.ReasonVetoed
		}
	}
}
