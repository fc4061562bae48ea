package stabilize

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// How many restarts are remembered: leastRestarts where history.max.count is
// smaller, since fewer cannot show which of them was an exception, and never
// more than mostRestarts (I10).
const (
	leastRestarts = 10
	mostRestarts  = 100
)

// When a restart counts as an exception: there are at least judgeRestarts, it
// took more than exceptional times their median, and it is among the longest
// quarter. More often than that it is no exception.
const (
	judgeRestarts = 3
	exceptional   = 3
	oneOf         = 4
)

// TrimRestarts drops what is older than history.max.age or too much. The newest
// always stays: an old measurement is better than none.
func TrimRestarts(restarts []core.Restart, now time.Time, p policy.Policy) []core.Restart {
	return NewestRestarts(restarts, now.Add(-p.HistoryMaxAge), min(mostRestarts, max(leastRestarts, p.HistoryMaxCount)))
}

// NewestRestarts gives the newest restarts since a time, at most so many, at
// least one.
func NewestRestarts(restarts []core.Restart, from time.Time, most int) []core.Restart {
	n := len(restarts)
	var out []core.Restart
	for i, r := range restarts {
		if i == n-1 || (i >= n-most && !r.At.Before(from)) {
			out = append(out, r)
		}
	}
	return out
}

// RestartTime is how long a restart is assumed to keep the job from running,
// with a note on where that comes from. Without measurements, or where they
// are not to be used, it is restart.time.
func RestartTime(restarts []core.Restart, p policy.Policy) (time.Duration, string) {
	if !p.RestartTracking || len(restarts) == 0 {
		return p.RestartTime, ""
	}
	return RobustRestart(restarts, p)
}

// JavaRestart is the rule of the Java autoscaler: the longest restart, in whole
// seconds, at most restart.time-tracking.limit.
func JavaRestart(restarts []core.Restart, p policy.Policy) time.Duration {
	if !p.RestartTracking || len(restarts) == 0 {
		return p.RestartTime
	}
	return capped(slices.Max(durations(restarts)), p)
}

// RobustRestart is the longest restart that is no exception, in whole seconds,
// at most restart.time-tracking.limit. One restart that had to pull an image
// must not make every size larger for a day (BC-36).
func RobustRestart(restarts []core.Restart, p policy.Policy) (time.Duration, string) {
	took := slices.Sorted(slices.Values(durations(restarts)))
	if len(took) == 0 {
		return p.RestartTime, ""
	}
	usual, median := withoutExceptions(took)
	longest := usual[len(usual)-1]
	note := fmt.Sprintf("the longest of %d restart(s), %s", len(took), shown(longest))
	if out := took[len(usual):]; len(out) > 0 {
		note = fmt.Sprintf("the longest of %d restarts, %s; left out as exceptions: %d of up to %s (the median is %s)",
			len(usual), shown(longest), len(out), shown(out[len(out)-1]), shown(median))
	}
	if longest > p.RestartTrackingLimit {
		note += fmt.Sprintf("; limited to %s", policy.FormatDuration(p.RestartTrackingLimit))
	}
	return capped(longest, p), note
}

// withoutExceptions drops the exceptions from durations, which are sorted, and
// gives the median of all.
func withoutExceptions(took []time.Duration) ([]time.Duration, time.Duration) {
	n := len(took)
	median := (took[(n-1)/2] + took[n/2]) / 2
	if n < judgeRestarts {
		return took, median
	}
	least := n - max(1, n/oneOf)
	for n > least && took[n-1] > exceptional*median {
		n--
	}
	return took[:n], median
}

func durations(restarts []core.Restart) []time.Duration {
	out := make([]time.Duration, 0, len(restarts))
	for _, r := range restarts {
		out = append(out, r.Took)
	}
	return out
}

func capped(d time.Duration, p policy.Policy) time.Duration {
	return min(d, p.RestartTrackingLimit).Truncate(time.Second)
}

func shown(d time.Duration) string { return policy.FormatDuration(d.Round(time.Second)) }
