package flink

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseDuration reads a duration as Flink's configuration writes it: a whole
// number of ms, or a number and a unit, with or without a space between.
func parseDuration(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0, false
	}
	unit, ok := durationUnit(strings.ToLower(strings.TrimSpace(s[end:])))
	if !ok || n > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

func durationUnit(s string) (time.Duration, bool) {
	switch s {
	case "", "ms", "milli", "millis", "millisecond", "milliseconds":
		return time.Millisecond, true
	case "s", "sec", "secs", "second", "seconds":
		return time.Second, true
	case "m", "min", "minute", "minutes":
		return time.Minute, true
	case "h", "hour", "hours":
		return time.Hour, true
	case "d", "day", "days":
		return 24 * time.Hour, true
	case "µs", "micro", "micros", "microsecond", "microseconds":
		return time.Microsecond, true
	case "ns", "nano", "nanos", "nanosecond", "nanoseconds":
		return time.Nanosecond, true
	}
	return 0, false
}
