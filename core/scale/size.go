package scale

import (
	"fmt"
	"math"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// The rules that a core.Step names besides policy keys.
const (
	ByFormula        = "formula"
	ByMaxParallelism = "max parallelism"
	ByPartitions     = "partitions"
	ByGate           = "gate: no vertex is outside"
)

// Sizing is a vertex on its way to a number.
type Sizing struct {
	Vertex core.Vertex
	Policy policy.Policy
	// Factor is the capacity that is needed over the one there is.
	Factor float64
	// To is the number so far, Steps how it came about.
	To    int
	Steps []core.Step
}

// Limit moves the number of a Sizing, and says so in a step.
type Limit func(*Sizing)

// Limits are the limits of the flink strategy in their order.
func Limits() []Limit {
	return []Limit{Factor, AtLeast, AtMost, MaxParallelism, Partitions, Align}
}

// Size computes what a vertex should run at, before delays and vetoes.
func Size(v core.Vertex, e evaluate.Vertex, p policy.Policy) core.VertexDecision {
	out := Decision(v, e)
	if e.Unjudged != "" {
		out.Why = e.Unjudged
		return out
	}
	capacity := e.Capacity.Or(0)
	s := Sizing{Vertex: v, Policy: p}
	if rate, ok := e.TrueRate.Value(); ok {
		s.Factor = capacity / rate
	}
	s.To = subtasks(s.Factor, v.Parallelism)
	s.Steps = []core.Step{{By: ByFormula, To: s.To}}
	for _, limit := range Limits() {
		limit(&s)
	}
	out.Wanted, out.To = s.To, s.To
	if len(s.Steps) > 1 {
		// The formula's own number is kept only where something moved it.
		out.Steps = s.Steps
	}
	return out
}

// Decision is a vertex' decision to stay, with the numbers of the evaluation.
func Decision(v core.Vertex, e evaluate.Vertex) core.VertexDecision {
	return core.VertexDecision{
		ID: v.ID, From: v.Parallelism, To: v.Parallelism, Wanted: v.Parallelism,
		TrueRate: e.TrueRate, TargetRate: e.TargetRate, CatchUpRate: e.CatchUpRate,
		UpBelow: e.UpBelow, DownAbove: e.DownAbove, Capacity: e.Capacity,
		Load: e.Load, Lag: e.Lag, Outside: e.Outside,
		Why: core.ReasonWithinTarget, Note: e.Note,
	}
}

// subtasks is ceil(factor * parallelism) as the Java autoscaler computes it.
// The product is a float64 of its own: fused with another operation it would
// round elsewhere, and ceil shows that.
func subtasks(factor float64, parallelism int) int {
	return toInt(math.Ceil(float64(factor * float64(parallelism))))
}

// toInt converts as Java does: NaN is 0, what does not fit is cut.
func toInt(x float64) int {
	switch {
	case math.IsNaN(x):
		return 0
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x <= math.MinInt32:
		return math.MinInt32
	}
	return int(x)
}

func (s *Sizing) step(by string, to int, note string) {
	if to == s.To {
		return
	}
	s.To = to
	s.Steps = append(s.Steps, core.Step{By: by, To: to, Note: note})
}

// bounds are the policy's limits, which never force a change.
func (s *Sizing) bounds() (lower, upper int) {
	return min(s.Vertex.Parallelism, s.Policy.MinParallelism), max(s.Vertex.Parallelism, s.Policy.MaxParallelism)
}

// Factor keeps one step from being too large.
func Factor(s *Sizing) {
	p := s.Policy
	least, most := float64(1-p.ScaleDownMaxFactor), float64(1+p.ScaleUpMaxFactor)
	switch {
	case s.Factor < least:
		s.Factor = least
		s.step(policy.Prefix+"scale-down.max-factor", subtasks(least, s.Vertex.Parallelism), fmt.Sprintf("at least %.4g of the size now", least))
	case s.Factor > most:
		s.Factor = most
		s.step(policy.Prefix+"scale-up.max-factor", subtasks(most, s.Vertex.Parallelism), fmt.Sprintf("at most %.4g times the size now", most))
	}
}

// AtLeast obeys the policy's least parallelism.
func AtLeast(s *Sizing) {
	lower, _ := s.bounds()
	s.step(policy.Prefix+"vertex.min-parallelism", max(s.To, lower), fmt.Sprintf("at least %d", lower))
}

// AtMost obeys the policy's largest parallelism.
func AtMost(s *Sizing) {
	_, upper := s.bounds()
	note := fmt.Sprintf("at most %d", upper)
	if upper > s.Policy.MaxParallelism {
		note = fmt.Sprintf("at most %d, but not below the size now", s.Policy.MaxParallelism)
	}
	s.step(policy.Prefix+"vertex.max-parallelism", min(s.To, upper), note)
}

// MaxParallelism obeys the number of key groups, which Flink enforces.
func MaxParallelism(s *Sizing) {
	if most := s.Vertex.MaxParallelism; most > 0 {
		s.step(ByMaxParallelism, min(s.To, most), fmt.Sprintf("the vertex has %d key groups", most))
	}
}

// Partitions keeps a source from subtasks that would have nothing to read.
func Partitions(s *Sizing) {
	if n := s.Vertex.Partitions; n > 0 {
		s.step(ByPartitions, min(s.To, n), fmt.Sprintf("capped by %d partitions", n))
	}
}

// Align fits the number to key groups or partitions.
func Align(s *Sizing) {
	n, apart := Groups(s.Vertex)
	if !apart || s.Policy.Alignment == policy.AlignOff || s.To == s.Vertex.Parallelism {
		return
	}
	_, upper := s.bounds()
	limit := min(n, upper)
	if most := s.Vertex.MaxParallelism; most > 0 {
		limit = min(limit, most)
	}
	if s.To < s.Vertex.Parallelism {
		limit = min(limit, s.Vertex.Parallelism)
	}
	evenly := s.Policy.Alignment == policy.AlignEvenlySpread
	to := Aligned(s.To, limit, n, evenly)
	s.step(policy.Prefix+"scaling.parallelism-alignment.mode", to, share(s.Policy.Alignment, n, to))
}

func share(mode policy.Alignment, n, p int) string {
	return fmt.Sprintf("%s: largest share %d of %d", mode, (n+p-1)/p, n)
}

// Groups is what the subtasks of a vertex share out among themselves, and
// whether it is shared out by number at all.
func Groups(v core.Vertex) (int, bool) {
	if v.Partitions > 0 {
		return v.Partitions, true
	}
	hash := slices.ContainsFunc(v.Inputs, func(e core.Edge) bool { return e.Ship == core.ShipHash })
	return v.MaxParallelism, hash && v.MaxParallelism > 0
}

// farthest bounds the search for an alignment: Flink has at most 32768 key
// groups.
const farthest = 1 << 15

// Aligned is the first number from p to limit that divides n or, unless
// evenly, gives a smaller largest share than p; p when there is none.
func Aligned(p, limit, n int, evenly bool) int {
	if p < 1 {
		return p
	}
	for q := p; q <= min(limit, p+farthest); q++ {
		if n%q == 0 || (!evenly && n/q < n/p) {
			return q
		}
	}
	return p
}

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
