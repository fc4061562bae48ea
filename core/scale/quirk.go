package scale

import "flinkscaler/core/policy"

const byRelease = "alignment of release 1.10.0"

// alignAsReleased is the alignment of the release: the next divisor, searched
// for in the upper half of what there is to share out, or else the smallest
// size with the same largest share, even where that turns the direction.
func alignAsReleased(s *Sizing) {
	n, apart := SharedOut(s.Vertex)
	if !apart || s.To < 1 {
		return
	}
	lower, upper := soft(s.Vertex, s.Policy)
	limit := n / 2
	if s.To > limit {
		limit = n
	}
	limit = min(limit, s.Vertex.MaxParallelism, upper)
	to, ok := nextFit(s.To, limit, n, true)
	if !ok {
		to = fallback(s.To, n, lower)
	}
	s.step(byRelease, to, "")
}

func (s *Sizing) quirk(q policy.Quirk) bool { return s.Policy.Quirks.Has(q) }
