package evaluate

import (
	"math"

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
