package scale

import "flinkscaler/core"

// Gate is all or nothing: as long as no vertex that would change is outside of
// its bounds, none changes.
func Gate(vertices []core.VertexDecision) {
	for _, v := range vertices {
		if v.To != v.From && v.Outside {
			return
		}
	}
	for i := range vertices {
		v := &vertices[i]
		if v.To == v.From {
			continue
		}
		v.Steps = append(v.Steps, core.Step{By: ByGate, To: v.From})
		v.To, v.Why = v.From, core.ReasonWithinTarget
	}
}
