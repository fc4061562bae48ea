package scale

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Known is the vertex with the partitions that the policy gives it: they win
// over what was seen, since a policy names them where Flink tells none or tells
// those of topics that are gone.
func Known(v core.Vertex, p policy.Policy) core.Vertex {
	if n, ok := partitionsBy(v.ID, p); ok {
		v.Partitions = n
	}
	return v
}

func partitionsBy(id string, p policy.Policy) (int, bool) {
	i, ok := slices.BinarySearchFunc(p.Partitions, id, func(c policy.VertexCount, id string) int { return strings.Compare(c.ID, id) })
	if !ok {
		return 0, false
	}
	return p.Partitions[i].N, true
}

// soft are the policy's limits that never force a change.
func soft(v core.Vertex, p policy.Policy) (lower, upper int) {
	return min(v.Parallelism, p.MinParallelism), max(v.Parallelism, p.MaxParallelism)
}

// Range is what a vertex may be changed to by what the policy forces, by Flink
// and by its partitions. Where these contradict each other the largest size
// wins over the least: Flink runs no more, and a subtask without a partition
// helps nobody.
type Range struct{ Least, Most int }

// RangeOf gives the range of a vertex at a time.
func RangeOf(v core.Vertex, p policy.Policy, now time.Time) Range {
	return begin(Input{Vertex: v, Policy: p, Now: now}).limits()
}

func (s *Sizing) limits() Range {
	most := mostOf(s.Vertex, s.Policy)
	return Range{Least: min(max(1, s.Policy.HardMin, s.floor), most), Most: most}
}

// mostOf is the largest size that a vertex may be changed to. The vertex is as
// the policy knows it.
func mostOf(v core.Vertex, p policy.Policy) int {
	out := math.MaxInt32
	for _, most := range []int{p.HardMax, v.MaxParallelism, v.Partitions} {
		if most > 0 {
			out = min(out, most)
		}
	}
	return out
}

// Clamp brings a size inside.
func (r Range) Clamp(p int) int { return min(max(p, r.Least), r.Most) }

// Rest is the size of a vertex that nothing asks to change: the one now, unless
// the policy forces another. A hard limit and a floor are orders: they need no
// evidence. The steps say how the size came about, and are none for the size
// now.
func Rest(v core.Vertex, p policy.Policy, now time.Time) (int, []core.Step) {
	return begin(Input{Vertex: v, Policy: p, Now: now}).rest()
}

func (s *Sizing) rest() (int, []core.Step) {
	from := s.Vertex.Parallelism
	r := *s
	r.To, r.Steps = from, nil
	for _, limit := range []Limit{Floor, HardLeast, HardMost} {
		limit(&r)
	}
	if r.To == from {
		return from, nil
	}
	up := r.To > from
	MaxParallelism(&r)
	Partitions(&r)
	if up && r.To <= from {
		// A source that already has more subtasks than partitions cannot be
		// lifted, and nothing asks it to get smaller.
		return from, nil
	}
	return r.To, r.Steps
}

// direction is the reason of a change.
func direction(from, to int) core.Reason {
	if to > from {
		return core.ReasonScaleUp
	}
	return core.ReasonScaleDown
}

// Hold lets a vertex stay: at its size now, or at the one that the policy
// forces upon it. By and note say what keeps it from the size that was wanted.
func Hold(d *core.VertexDecision, rest int, by, note string) {
	if d.To == rest {
		return
	}
	d.To = rest
	d.Steps = append(d.Steps, core.Step{By: by, To: rest, Note: note})
}

// AtLeast obeys the policy's least parallelism.
func AtLeast(s *Sizing) {
	lower, _ := soft(s.Vertex, s.Policy)
	s.step(policy.Prefix+"vertex.min-parallelism", max(s.To, lower), fmt.Sprintf("at least %d", lower))
}

// AtMost obeys the policy's largest parallelism.
func AtMost(s *Sizing) {
	_, upper := soft(s.Vertex, s.Policy)
	note := fmt.Sprintf("at most %d", upper)
	if upper > s.Policy.MaxParallelism {
		note = fmt.Sprintf("at most %d, but not below the size now", s.Policy.MaxParallelism)
	}
	s.step(policy.Prefix+"vertex.max-parallelism", min(s.To, upper), note)
}

// Floor obeys the schedule of least sizes, none of which lies above the policy's
// largest.
func Floor(s *Sizing) {
	s.step(policy.Prefix+"vertex.min-parallelism.schedule", max(s.To, s.floor), fmt.Sprintf("at least %d: %s", s.floor, s.because))
}

// HardLeast brings a vertex up that is smaller than the policy allows at all.
func HardLeast(s *Sizing) {
	n := s.Policy.HardMin
	s.step(policy.Prefix+"vertex.hard-min-parallelism", max(s.To, n), fmt.Sprintf("never below %d", n))
}

// HardMost brings a vertex down that is larger than the policy allows at all.
func HardMost(s *Sizing) {
	if n := s.Policy.HardMax; n > 0 {
		s.step(policy.Prefix+"vertex.hard-max-parallelism", min(s.To, n), fmt.Sprintf("never above %d", n))
	}
}

// MaxParallelism obeys the number of key groups, which Flink enforces.
func MaxParallelism(s *Sizing) {
	if most := s.Vertex.MaxParallelism; most > 0 {
		s.step(ByMaxParallelism, min(s.To, most), fmt.Sprintf("the vertex has %d key groups", most))
	}
}

// Partitions keeps a source from subtasks that would have nothing to read (I3).
func Partitions(s *Sizing) {
	n := s.Vertex.Partitions
	if n <= 0 || s.quirk(policy.QuirkAlignment) {
		return
	}
	by, note := ByPartitions, fmt.Sprintf("capped by %d partitions", n)
	if _, said := partitionsBy(s.Vertex.ID, s.Policy); said {
		by, note = policy.Prefix+"vertex.partitions", fmt.Sprintf("capped by the %d partitions that the policy gives it", n)
	}
	s.step(by, min(s.To, n), note)
}
