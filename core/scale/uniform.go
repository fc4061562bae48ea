package scale

import (
	"fmt"

	"flinkscaler/core"
)

// ByUniform is the rule of a Step that gives all vertices one size.
const ByUniform = "one size for all"

// Uniform gives all vertices of a job one size, where nothing else can be had:
// the largest that any of them asks for, each as far as its max parallelism goes.
// A vertex within its bounds asks for what it has, so that none gets smaller than
// its own evidence allows, and none larger for the rounding of another. Sizes are
// multiples of the means' step; where that would go beyond what the policy allows,
// it is a step less. Vertices that the policy excludes have no say: they cannot be
// left out.
func Uniform(decisions []core.VertexDecision, j Job) {
	if j.Means == nil || !j.Means.Uniform {
		return
	}
	now, lead := 0, -1
	for i, d := range decisions {
		now = max(now, d.From)
		if d.Why != core.ReasonExcluded && (lead < 0 || asks(d) > asks(decisions[lead])) {
			lead = i
		}
	}
	if lead < 0 {
		return
	}
	size := j.rounded(decisions[lead], now)
	note := fmt.Sprintf("as large as %s, which needs most", j.Topology.Title(decisions[lead].ID, 40))
	if step := j.Means.Step; step > 1 {
		note += fmt.Sprintf("; %d slots to a TaskManager", step)
	}
	for i := range decisions {
		d := &decisions[i]
		to := size
		if v, ok := j.Topology.Find(d.ID); ok && v.MaxParallelism > 0 {
			to = min(to, v.MaxParallelism)
		}
		set(d, to, ByUniform, note)
		if i != lead && d.To == d.From {
			d.Why = core.ReasonWithinTarget // the job as a whole has what it needs
		}
	}
}

// asks is the size that a vertex has a reason to ask for.
func asks(d core.VertexDecision) int {
	if d.Outside || d.Why == core.ReasonOverride {
		return d.To
	}
	return d.From
}

// rounded is the size that the leading vertex asks for as a multiple of the step.
// now is what the job has: no rounding makes it larger than that for a vertex that
// asks for less.
func (j Job) rounded(lead core.VertexDecision, now int) int {
	step := max(1, j.Means.Step)
	asked := asks(lead)
	size := (asked + step - 1) / step * step
	switch {
	case asked <= now:
		size = min(size, now)
	case size > asked && size > j.permitted(lead.ID):
		size = max(now, asked/step*step)
	}
	return max(1, size)
}

// permitted is the most that the policy allows a vertex. What Flink and partitions
// allow is left out: Flink caps each vertex by itself, and a source gets what the
// others need.
func (j Job) permitted(id string) int {
	v, _ := j.Topology.Find(id)
	_, upper := soft(v, j.Policy)
	if j.Policy.HardMax > 0 {
		upper = min(upper, j.Policy.HardMax)
	}
	return upper
}

// ByFollow is the rule of a Step that goes by the slots there are.
const ByFollow = "follow mode"

// Follow gives all vertices the size of the slots that there are, where something
// else decides on those: each as far as Flink and the policy allow it.
func Follow(decisions []core.VertexDecision, j Job, slots int) {
	for i := range decisions {
		d := &decisions[i]
		v, ok := j.Topology.Find(d.ID)
		if !ok || d.Why == core.ReasonExcluded {
			continue
		}
		to := min(max(1, slots), j.permitted(v.ID))
		if v.MaxParallelism > 0 {
			to = min(to, v.MaxParallelism)
		}
		d.Wanted, d.Outside = to, to != d.From
		set(d, to, ByFollow, fmt.Sprintf("%d slots are there", slots))
	}
}
