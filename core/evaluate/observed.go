package evaluate

import (
	"math"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Observed is a source's true processing rate in one sample: what it read
// while it had lag to work off, without the time it was held back. carried is
// the mean of those before, which stands where the source did not lag.
func Observed(v core.VertexSample, carried float64, p policy.Policy) float64 {
	r, ok := v.InPerSecond.Value()
	if !ok {
		return math.NaN()
	}
	if r == 0 {
		return math.Inf(1)
	}
	back := v.BackPressure.Or(1000)
	if back >= 1000 || v.Lag.Or(0) < float64(seconds(p.ObservedLagThreshold)*r) {
		return carried
	}
	return r / float64(1-float64(back/1000))
}

// observed is a source's true processing rate over the samples that count.
// Each sample's value is the measured one, or else the mean of those before it,
// and stays what it once was: what a source showed while it caught up is carried
// on as long as the job runs, though the samples of then do not count any more.
// It gives what to remember; nil where nothing was ever observed.
func (s series) observed(before core.ObservedRate, p policy.Policy) (float64, *core.ObservedRate) {
	var seen []float64
	now := core.ObservedRate{ID: before.ID, RunningSince: before.RunningSince}
	for _, at := range s {
		if !at.ok {
			continue
		}
		x, ok := rateAt(before, at.at)
		if !ok {
			carried := mean(seen, p.ObservedMinObservations)
			if steady(before, p) {
				carried = unbounded(before.Entries[0].Rate)
			}
			x = core.Round3(Observed(at.v, carried, p))
		}
		seen = append(seen, x)
		if core.Read(x).State() == core.Present {
			now.Samples++
		}
		now.Until = at.at
		if r := bounded(x); len(now.Entries) == 0 || !now.Entries[len(now.Entries)-1].Rate.Equal(r) {
			now.Entries = append(now.Entries, core.ObservedEntry{At: at.at, Rate: r})
		}
	}
	if n := len(now.Entries); n > mostObserved {
		now.Entries = now.Entries[n-mostObserved:]
	}
	rate := mean(seen, p.ObservedMinObservations)
	switch {
	case now.Samples == 0:
		return rate, nil
	case steady(before, p) && len(now.Entries) == 1 && now.Entries[0].Rate.Equal(before.Entries[0].Rate):
		// Nothing is new: memory that does not change costs no history.
		return rate, &before
	}
	return rate, &now
}

// steady is true where all samples had one rate, so that their mean is it.
func steady(o core.ObservedRate, p policy.Policy) bool {
	return len(o.Entries) == 1 && o.Samples >= p.ObservedMinObservations
}

// mostObserved bounds what is remembered of a source (I10): more than the
// samples of a window at any usual interval.
const mostObserved = 64

// rateAt is the value that a sample was given before.
func rateAt(o core.ObservedRate, t time.Time) (float64, bool) {
	if len(o.Entries) == 0 || t.After(o.Until) || t.Before(o.Entries[0].At) {
		return 0, false
	}
	i, found := slices.BinarySearchFunc(o.Entries, t, func(e core.ObservedEntry, t time.Time) int { return e.At.Compare(t) })
	if !found {
		i--
	}
	return unbounded(o.Entries[i].Rate), true
}

// unbounded undoes bounded: NaN where nothing was observed.
func unbounded(r core.Reading) float64 {
	if r.State() == core.NotApplicable {
		return math.Inf(1)
	}
	return r.Or(math.NaN())
}

// remembered is what was observed of a source in the present attempt, as long as
// it is not from a time that has not come: the clock was wrong then, or is now.
func (s *state) remembered(id string) core.ObservedRate {
	empty := core.ObservedRate{ID: id}
	var newest time.Time
	if len(s.in.Samples) > 0 {
		last := s.in.Samples[len(s.in.Samples)-1]
		empty.RunningSince, newest = last.RunningSince, last.At
	}
	i, ok := slices.BinarySearchFunc(s.in.Observed, id, func(o core.ObservedRate, id string) int { return strings.Compare(o.ID, id) })
	if !ok || s.apart[id] || !s.in.Observed[i].RunningSince.Equal(empty.RunningSince) || s.in.Observed[i].Until.After(newest) {
		return empty
	}
	return s.in.Observed[i]
}
