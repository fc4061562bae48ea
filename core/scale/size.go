package scale

import (
	"fmt"
	"math"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// The rules that a core.Step names besides policy keys.
const (
	ByFormula        = "formula"
	ByMaxParallelism = "max parallelism"
	ByPartitions     = "partitions"
	ByGate           = "gate: no vertex that would change is outside"
	ByForward        = "FORWARD edge"
	ByExecutor       = "executor"
)

// Input is what the size of one vertex is made of.
type Input struct {
	Vertex   core.Vertex
	Evidence evaluate.Vertex
	Policy   policy.Policy
	// Coefficient is how well past changes of the vertex scaled: 1 is linear,
	// and so is 0, which is not known.
	Coefficient float64
	// Aligner is the policy's own alignment, nil for none.
	Aligner Aligner
	Now     time.Time
}

// Sizing is a vertex on its way to a number.
type Sizing struct {
	Input

	// Factor is the capacity that is needed over the one there is.
	Factor float64
	// To is the number so far, Steps how it came about.
	To    int
	Steps []core.Step
	// floor is the least size by the schedule now, because the entry of it.
	floor   int
	because string
}

// begin starts with the size now, the vertex being as the policy knows it.
func begin(in Input) *Sizing {
	in.Vertex = Known(in.Vertex, in.Policy)
	s := &Sizing{Input: in, To: in.Vertex.Parallelism}
	s.floor, s.because = in.Policy.FloorFor(in.Vertex.ID, in.Now)
	return s
}

// Limit moves the number of a Sizing, and says so in a step.
type Limit func(*Sizing)

// Limits are the limits of a vertex in their order. What the policy forces
// comes after what it merely allows, and what Flink and the source enforce
// after both; an alignment may fill what is left up.
func Limits() []Limit {
	return []Limit{
		Scalability, Factor, AtLeast, AtMost, Floor, HardLeast, HardMost,
		MaxParallelism, LegacyAlign, Partitions, Align,
	}
}

// SizeOf computes what a vertex should run at, before delays and vetoes. A
// vertex that the policy forces to another size is outside, whatever its load.
func SizeOf(in Input) core.VertexDecision {
	s := begin(in)
	out := Decision(s.Vertex, in.Evidence)
	rest, steps := s.rest()
	if why := in.Evidence.Unjudged; why != "" {
		out.Why = why
		if rest != out.From && why != core.ReasonExcluded {
			out.To, out.Wanted, out.Steps = rest, rest, steps
			out.Outside, out.Why = true, direction(out.From, rest)
		}
		return out
	}
	s.judge()
	out.Wanted, out.To, out.Outside = s.To, s.To, out.Outside || rest != out.From
	if len(s.Steps) > 1 {
		// The formula's own number is kept only where something moved it.
		out.Steps = s.Steps
	}
	if in.Coefficient > 0 && in.Coefficient != 1 {
		out.Coefficient = in.Coefficient
	}
	return out
}

// judge goes from the formula through all limits.
func (s *Sizing) judge() {
	if rate, ok := s.Evidence.TrueRate.Value(); ok {
		s.Factor = s.Evidence.Capacity.Or(0) / rate
	}
	s.To = subtasks(s.Factor, s.Vertex.Parallelism)
	s.Steps = []core.Step{{By: ByFormula, To: s.To}}
	for _, limit := range Limits() {
		limit(s)
	}
}

// Size is SizeOf for a policy without schedule, plugins and history.
func Size(v core.Vertex, e evaluate.Vertex, p policy.Policy) core.VertexDecision {
	return SizeOf(Input{Vertex: v, Evidence: e, Policy: p})
}

// Decision is a vertex' decision to stay, with the numbers of the evaluation.
func Decision(v core.Vertex, e evaluate.Vertex) core.VertexDecision {
	return core.VertexDecision{
		ID: v.ID, From: v.Parallelism, To: v.Parallelism, Wanted: v.Parallelism,
		TrueRate: e.TrueRate, TargetRate: e.TargetRate, CatchUpRate: e.CatchUpRate,
		UpBelow: e.UpBelow, DownAbove: e.DownAbove, Capacity: e.Capacity,
		Load: e.Load, Lag: e.Lag, Observed: e.Observed, Outside: e.Outside,
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

// Scalability asks for more where past changes brought less than their share.
func Scalability(s *Sizing) {
	c := s.Coefficient
	if c <= 0 || c == 1 {
		return
	}
	s.Factor = float64(s.Factor / c)
	s.step(policy.Prefix+"observed-scalability.enabled", subtasks(s.Factor, s.Vertex.Parallelism), fmt.Sprintf("past changes brought %.4g of their share", c))
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
