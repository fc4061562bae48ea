package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit gives the length of a unit as Flink spells it, in any case.
func unit(word string) (time.Duration, bool) {
	switch strings.ToLower(word) {
	case "d", "day", "days":
		return 24 * time.Hour, true
	case "h", "hour", "hours":
		return time.Hour, true
	case "m", "min", "minute", "minutes":
		return time.Minute, true
	case "s", "sec", "second", "seconds":
		return time.Second, true
	case "", "ms", "milli", "millis", "millisecond", "milliseconds":
		return time.Millisecond, true
	case "µs", "micro", "micros", "microsecond", "microseconds":
		return time.Microsecond, true
	case "ns", "nano", "nanos", "nanosecond", "nanoseconds":
		return time.Nanosecond, true
	}
	return 0, false
}

// ParseDuration reads a duration as Flink writes it: "60 s", "5min", "1 d",
// "500" (milliseconds) or ISO-8601 such as "PT5M".
func ParseDuration(text string) (time.Duration, error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "P") || strings.HasPrefix(s, "p") {
		return parseISO(s)
	}
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0, fmt.Errorf("not a duration such as 60 s, 5 min or PT5M")
	}
	word := strings.TrimSpace(s[digits:])
	length, ok := unit(word)
	if !ok {
		return 0, fmt.Errorf("unknown unit %q; one of d, h, min, s, ms", word)
	}
	n, err := strconv.ParseInt(s[:digits], 10, 64)
	if err != nil || n > int64(math.MaxInt64/length) {
		return 0, fmt.Errorf("too long for a duration")
	}
	return time.Duration(n) * length, nil
}

// parseISO reads PnDTnHnMn.nS, without signs.
func parseISO(s string) (time.Duration, error) {
	bad := fmt.Errorf("not an ISO-8601 duration such as PT5M or P1DT2H")
	rest := strings.ToUpper(s[1:])
	days, clock, hasClock := strings.Cut(rest, "T")
	total, n, err := isoParts(days, "D")
	if err != nil {
		return 0, bad
	}
	if hasClock {
		t, m, err := isoParts(clock, "HMS")
		if err != nil || m == 0 {
			return 0, bad
		}
		total, n = total+t, n+m
	}
	if n == 0 {
		return 0, bad
	}
	if total > float64(math.MaxInt64) {
		return 0, fmt.Errorf("too long for a duration")
	}
	return time.Duration(math.Round(total)), nil
}

// isoParts sums up number-letter pairs whose letters come in that order, in
// nanoseconds, and counts them. Only seconds may have a fraction.
func isoParts(s, letters string) (float64, int, error) {
	lengths := map[byte]time.Duration{'D': 24 * time.Hour, 'H': time.Hour, 'M': time.Minute, 'S': time.Second}
	var sum float64
	count := 0
	for s != "" {
		end := strings.IndexAny(s, letters)
		if end <= 0 {
			return 0, 0, strconv.ErrSyntax
		}
		number := s[:end]
		if strings.Trim(number, "0123456789.") != "" || (s[end] != 'S' && strings.Contains(number, ".")) {
			return 0, 0, strconv.ErrSyntax
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, 0, err
		}
		sum += n * float64(lengths[s[end]])
		count++
		letters = letters[strings.IndexByte(letters, s[end])+1:]
		s = s[end+1:]
	}
	return sum, count, nil
}

// FormatDuration writes a duration in the largest unit that fits, as Flink
// does: "5 min", "90 s".
func FormatDuration(d time.Duration) string {
	for _, u := range []struct {
		length time.Duration
		word   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d != 0 && d%u.length == 0 {
			return fmt.Sprintf("%d %s", d/u.length, u.word)
		}
	}
	if d == 0 {
		return "0 s"
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}

func parseFloat(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("not a number")
	}
	return f, nil
}

func parseInt(text string) (int, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("not a whole number")
	}
	return int(n), nil
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false")
}
