package scale

import (
	"fmt"
	"slices"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

const (
	byAlignment = policy.Prefix + "scaling.parallelism-alignment.mode"
	byLegacy    = policy.Prefix + "scaling.key-group.partitions.adjust.mode"
)

// Aligner is an alignment of the policy's own (FLIP-586). It gives the size to
// run at instead of the one that was chosen, and must depend on nothing but its
// argument and its own parameters. What it gives is not trusted: it is brought
// within the context's limits and never turns a growth into a shrinkage.
type Aligner interface {
	Align(AlignContext) int
}

// Applicable is implemented by an Aligner that says itself which vertices it is
// for. Without it, it is asked for those that are shared out by number.
type Applicable interface {
	Applicable(AlignContext) bool
}

// AlignContext is what an Aligner may know.
type AlignContext struct {
	Vertex core.Vertex
	// From is the size now, To the one chosen; they differ.
	From, To int
	// N is how many partitions or key groups the subtasks share out, 0 when
	// they share out by another rule.
	N int
	// Lower and Upper are the limits of what may be given.
	Lower, Upper int
	// Params are the parameters of the policy.
	Params []policy.Param
}

// SharedOut is what the subtasks of a vertex share out among themselves, and
// whether it is shared out by number at all.
func SharedOut(v core.Vertex) (int, bool) {
	if v.Partitions > 0 {
		return v.Partitions, true
	}
	hash := slices.ContainsFunc(v.Inputs, func(e core.Edge) bool { return e.Ship == core.ShipHash })
	return v.MaxParallelism, hash && v.MaxParallelism > 0
}

// Align fits the number to key groups or partitions. It never inverts the
// direction: a growth ends at least at the number that was chosen, a shrinkage
// at most at the size now, and says so where it ends there.
func Align(s *Sizing) {
	if s.To == s.Vertex.Parallelism || s.quirk(policy.QuirkAlignment) {
		return
	}
	mode := s.Policy.Alignment
	switch mode {
	case policy.AlignBalanced, policy.AlignEvenlySpread:
		n, apart := SharedOut(s.Vertex)
		if !apart {
			return
		}
		if to, ok := nextFit(s.To, s.alignLimit(n), n, mode == policy.AlignEvenlySpread); ok && !s.overshoots(to, n) {
			s.fit(byAlignment, n, to)
		}
	case policy.AlignCustom:
		s.custom()
	case policy.AlignOff, policy.AlignLegacyEvenlySpread, policy.AlignLegacyMaximize:
	}
}

// alignLimit is the largest size that an alignment may end at.
func (s *Sizing) alignLimit(n int) int {
	_, upper := soft(s.Vertex, s.Policy)
	limit := min(n, upper, mostOf(s.Vertex, s.Policy))
	if s.To < s.Vertex.Parallelism {
		limit = min(limit, s.Vertex.Parallelism)
	}
	return limit
}

// overshoots is true for a size that is more above the computed one than the
// policy allows; a step says so.
func (s *Sizing) overshoots(to, n int) bool {
	if float64(to) <= float64(s.To)*(1+s.Policy.AlignOvershoot) {
		return false
	}
	s.Steps = append(s.Steps, core.Step{
		By: policy.Prefix + "scaling.parallelism-alignment.max-overshoot", To: s.To,
		Note: fmt.Sprintf("%s would take %d; %s", modeName(s.Policy.Alignment), to, share("as it is", n, s.To)),
	})
	return true
}

// fit takes a size that was found to fit.
func (s *Sizing) fit(by string, n, p int) {
	note := share(modeName(s.Policy.Alignment), n, p)
	if p == s.Vertex.Parallelism {
		note += "; nothing smaller than the size now fits"
	}
	s.step(by, p, note)
}

// modeName is a mode as a policy spells it.
func modeName(mode policy.Alignment) string { return strings.TrimPrefix(string(mode), "LEGACY_") }

// share says how p subtasks share n out.
func share(mode string, n, p int) string {
	return fmt.Sprintf("%s: largest share %d of %d", mode, (n+p-1)/p, n)
}

// farthest bounds the search for an alignment: Flink has at most 32768 key
// groups.
const farthest = 1 << 15

// nextFit is the first number from p to limit that divides n or, unless
// evenly, gives a smaller largest share than p.
func nextFit(p, limit, n int, evenly bool) (int, bool) {
	if p < 1 {
		return p, false
	}
	for q := p; q <= min(limit, p+farthest); q++ {
		if n%q == 0 || (!evenly && n/q < n/p) {
			return q, true
		}
	}
	return p, false
}

// LegacyAlign is the older alignment: where nothing larger fits it takes the
// smallest size with the same largest share, and gives up where that would turn
// the direction. It comes before Partitions, since it asks for no more than
// those by itself; the numbers are those of the Java autoscaler.
func LegacyAlign(s *Sizing) {
	mode := s.Policy.Alignment
	if s.quirk(policy.QuirkAlignment) {
		alignAsReleased(s)
		return
	}
	if mode != policy.AlignLegacyEvenlySpread && mode != policy.AlignLegacyMaximize {
		return
	}
	n, apart := SharedOut(s.Vertex)
	if !apart || s.To == s.Vertex.Parallelism {
		return
	}
	if to, ok := nextFit(s.To, s.alignLimit(n), n, mode == policy.AlignLegacyEvenlySpread); ok {
		s.fit(byLegacy, n, to)
		return
	}
	from := s.Vertex.Parallelism
	lower, upper := soft(s.Vertex, s.Policy)
	lower = max(lower, s.limits().Least)
	to := fallback(s.To, n, min(lower, s.To))
	if (s.To > from) == (to <= from) {
		to = from
	}
	s.step(byLegacy, to, Limited{Expected: s.To, Actual: to, N: n, Upper: upper, Lower: lower}.String())
}

// fallback goes down from p to the smallest size with the same largest share,
// but not below lower.
func fallback(p, n, lower int) int {
	q := p
	for ; q > 0; q-- {
		if n/q > n/p {
			if n%q != 0 {
				q++
			}
			break
		}
	}
	return max(q, lower)
}

// Limited is the fact that the older alignment gave less than was computed.
type Limited struct {
	// Expected is the size that was computed, Actual the one that is taken.
	Expected, Actual int
	// N is how many partitions or key groups there are; Upper and Lower are the
	// policy's limits.
	N, Upper, Lower int
}

const limited = "ScalingLimited: "

// String is the note of the fact's step.
func (l Limited) String() string {
	return fmt.Sprintf(limited+"expected %d, actual %d; %d to share out, upper bound %d, lower limit %d", l.Expected, l.Actual, l.N, l.Upper, l.Lower)
}

// LimitedOf finds the fact in a decision.
func LimitedOf(d core.VertexDecision) (Limited, bool) {
	var l Limited
	for _, s := range d.Steps {
		if s.By != byLegacy {
			continue
		}
		_, err := fmt.Sscanf(s.Note, limited+"expected %d, actual %d; %d to share out, upper bound %d, lower limit %d", &l.Expected, &l.Actual, &l.N, &l.Upper, &l.Lower)
		return l, err == nil
	}
	return l, false
}

// custom asks the policy's own alignment.
func (s *Sizing) custom() {
	plugin := s.Policy.AlignmentPlugin
	if s.Aligner == nil || plugin == nil {
		return
	}
	from := s.Vertex.Parallelism
	n, apart := SharedOut(s.Vertex)
	if !apart {
		n = 0
	}
	lower, upper := soft(s.Vertex, s.Policy)
	r := s.limits()
	c := AlignContext{
		Vertex: s.Vertex, From: from, To: s.To, N: n, Params: slices.Clone(plugin.Params),
		Lower: min(s.To, max(lower, r.Least)), Upper: max(s.To, min(upper, r.Most)),
	}
	if s.To > from {
		c.Lower = max(c.Lower, from)
	} else {
		c.Upper = min(c.Upper, from)
	}
	applies := apart
	if a, ok := s.Aligner.(Applicable); ok {
		applies = a.Applicable(c)
	}
	if !applies {
		return
	}
	gave := s.Aligner.Align(c)
	to := min(max(gave, c.Lower), c.Upper)
	note := plugin.Name
	if apart && to > 0 {
		note = share(plugin.Name, n, to)
	}
	if to != gave {
		note += fmt.Sprintf("; it gave %d, the limits are %d and %d", gave, c.Lower, c.Upper)
	}
	s.step(byAlignment, to, note)
}
