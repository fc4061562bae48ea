package event

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// maxTold bounds what is remembered of events (I10). One decision gives rise
// to fewer, so what is forgotten is never what is about to come again.
const maxTold = 100

// Due gives the events that are to be sent now, and what to remember of them.
// The report of a change is always sent. Anything else is sent when the same
// was not told for an interval, so that what holds for a day is told 48 times
// with the default of half an hour; an interval of 0 tells everything.
//
// The Java autoscaler sends errors each time. Ours obey the interval too: a
// cluster that cannot be reached for a day is no news each minute.
func Due(events []core.Event, told []core.Told, now time.Time, interval time.Duration) (send []core.Event, after []core.Told) {
	fresh := slices.DeleteFunc(slices.Clone(told), func(x core.Told) bool { return !within(x.At, now, interval) })
	for _, e := range events {
		key := cmp.Or(e.Key, e.Message)
		switch {
		case e.Kind == core.EventReport:
			// What was recommended before the change is news after it.
			fresh = slices.DeleteFunc(fresh, func(x core.Told) bool { return strings.HasPrefix(x.Key, ScalingReport+"/") })
		case holds(fresh, key):
			continue
		default:
			e.Repeated = holds(told, key)
			if interval > 0 {
				fresh = append(fresh, core.Told{Key: key, At: now})
			}
		}
		send = append(send, e)
	}
	return send, bounded(fresh)
}

// within is true less than an interval after, and also before: a clock that
// went back a little must not repeat everything, one that went back far must
// not silence anything for long.
func within(at, now time.Time, interval time.Duration) bool {
	return now.Sub(at).Abs() < interval
}

func holds(told []core.Told, key string) bool {
	return slices.ContainsFunc(told, func(x core.Told) bool { return x.Key == key })
}

// bounded keeps the newest, sorted by key; nil for none, as it was before
// anything was told.
func bounded(told []core.Told) []core.Told {
	if len(told) == 0 {
		return nil
	}
	slices.SortFunc(told, func(a, b core.Told) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Key, b.Key)) })
	told = told[:min(len(told), maxTold)]
	slices.SortFunc(told, func(a, b core.Told) int { return strings.Compare(a.Key, b.Key) })
	return told
}
