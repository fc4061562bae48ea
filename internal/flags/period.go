package flags

import (
	"fmt"
	"strings"
	"time"

	"flinkscaler/core/policy"
)

// Period is a flag for a length of time, as Go writes it ("1h30m") or as Flink
// does ("90 min"). A bare number is refused: milliseconds to Flink, but not to
// the person who types it.
type Period time.Duration

// String gives the length as Flink writes it, nothing for none.
func (p *Period) String() string {
	if *p == 0 {
		return ""
	}
	return policy.FormatDuration(time.Duration(*p))
}

// Type is what cobra shows as the flag's value.
func (p *Period) Type() string { return "duration" }

// Set reads the flag.
func (p *Period) Set(text string) error {
	d, err := ParsePeriod(text)
	*p = Period(d)
	return err
}

// maxPeriod is the workflow's own limit of an order's life.
const maxPeriod = 366 * 24 * time.Hour

// ParsePeriod reads a length of time that is more than nothing and at most a
// year.
func ParsePeriod(text string) (time.Duration, error) {
	s := strings.TrimSpace(text)
	d, err := time.ParseDuration(s)
	if err != nil && strings.Trim(s, "0123456789.") == "" {
		example := s
		if example == "" {
			example = "5"
		}
		return 0, fmt.Errorf("give a unit, such as %s min", example)
	}
	if err != nil {
		d, err = policy.ParseDuration(s)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("must be a duration such as 90s, 2h30m, 30 min or 1 d")
	case d <= 0 || d > maxPeriod:
		return 0, fmt.Errorf("must be more than 0 and at most a year")
	}
	return d, nil
}
