package stabilize

import (
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// notAhead forgets or moves what is remembered of a time that has not come: the
// JobManager's clock was wrong then, or is now, and nothing may wait for it. A
// scale-down that waits begins to wait anew; what was observed is forgotten; what
// was spent counts from now.
func notAhead(m core.Memory, now time.Time, p policy.Policy) core.Memory {
	m.Delayed = without(m.Delayed, func(d core.DelayedDown) bool {
		return d.First.After(now) || slices.ContainsFunc(d.Entries, func(e core.DelayedEntry) bool { return e.At.After(now) })
	})
	m.Observed = without(m.Observed, func(o core.ObservedRate) bool { return o.Until.After(now) })
	m.Spent = slices.Clone(m.Spent)
	for i := range m.Spent {
		if m.Spent[i].At.After(now) {
			m.Spent[i].At = now
		}
	}
	m.Doubts = slices.Clone(m.Doubts)
	for i := range m.Doubts {
		if d := &m.Doubts[i]; d.Until.Sub(now) > 2*longestVerdict+p.EffectivenessExpiry {
			d.Until = now.Add(p.EffectivenessExpiry)
		}
	}
	return m
}

// without copies what is not to go; nil for nothing.
func without[T any](all []T, goes func(T) bool) []T {
	var out []T
	for _, x := range all {
		if !goes(x) {
			out = append(out, x)
		}
	}
	return out
}
