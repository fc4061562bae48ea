package evaluate

import (
	"math"
	"slices"
	"strconv"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// quirk is true when a difference to the Java autoscaler is switched off.
func (s *state) quirk(q policy.Quirk) bool { return s.in.Policy.Quirks.Has(q) }

// over is true for a vertex that is finished, so that its numbers are none.
func (s *state) over(v core.Vertex) bool { return v.Finished && !s.quirk(policy.QuirkFinished) }

// observedAsReleased is a source's true processing rate as the release has it:
// each sample's value was computed from all that was remembered when it was
// taken, and stays what it was.
func (s *state) observedAsReleased(id string) float64 {
	if len(s.in.Samples) == 0 {
		return math.NaN()
	}
	p := s.in.Policy
	stored := make([]float64, 0, len(s.in.Past))
	var counted []float64
	for i, at := range s.in.Past {
		var before []float64
		for j, x := range stored {
			if !s.in.Past[j].Sample.At.Before(at.Since) {
				before = append(before, x)
			}
		}
		value := math.NaN()
		if v, ok := at.Sample.Vertex(id); ok {
			if v.Lag.State() != core.Present {
				v.Lag = core.Read(-1) // it never lags
			}
			value = core.Round3(Observed(v, mean(before, p.ObservedMinObservations), p))
		}
		stored = append(stored, value)
		if !s.in.Past[i].Sample.At.Before(s.in.Samples[0].At) {
			counted = append(counted, value)
		}
	}
	return mean(counted, p.ObservedMinObservations)
}

// busyMs is the mean of busy time over the window; the release lets it be
// negative after a counter fell.
func (s *state) busyMs(v core.Vertex) float64 {
	line, by := s.lines[v.ID], s.in.Policy.BusyTimeAggregator
	if by == policy.AggregateAvg && s.quirk(policy.QuirkReset) {
		return line.rate(busyTotal) / float64(v.Parallelism)
	}
	return line.busyMs(v.Parallelism, by)
}

// sources lists the vertices that v reads from in the order in which their
// rates are added up: a sum of three or more shows the order in its last bit,
// and rounding can make that the third decimal. The release goes through a hash
// table.
func (s *state) sources(v core.Vertex) []string {
	out := inputs(v)
	if !s.quirk(policy.QuirkOrder) || len(out) < 3 {
		return out
	}
	buckets := 16
	for len(out)*4 > buckets*3 {
		buckets *= 2
	}
	slices.SortStableFunc(out, func(a, b string) int { return bucket(a, buckets) - bucket(b, buckets) })
	return out
}

// bucket is where a table of that size has an id of Flink: 32 hex digits.
func bucket(id string, buckets int) int {
	h := uint32(0)
	for at := 0; at+8 <= len(id); at += 8 {
		word, err := strconv.ParseUint(id[at:at+8], 16, 32)
		if err != nil {
			return 0
		}
		h ^= uint32(word)
	}
	return int((h ^ h>>16) & uint32(buckets-1))
}

// finite lets a negative rate without bound, which the release computes when a
// counter fell and nothing was busy, be one that a Reading can hold.
func (s *state) finite(rate float64) float64 {
	if s.quirk(policy.QuirkReset) && math.IsInf(rate, -1) {
		return -math.MaxFloat64
	}
	return rate
}

// noLag stands for a backlog that is no number.
func (s *state) noLag() float64 {
	if s.quirk(policy.QuirkLagNumber) {
		return math.NaN()
	}
	return 0
}

// failed is true when the release would fail: for want of the rate of a source.
func (s *state) failed() bool {
	return s.quirk(policy.QuirkLagNumber) && slices.ContainsFunc(s.in.Topology.Vertices, func(v core.Vertex) bool {
		return v.IsSource() && math.IsNaN(s.target[v.ID])
	})
}
