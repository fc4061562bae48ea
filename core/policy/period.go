package policy

import (
	"fmt"
	"strings"
	"time"
)

// Period is a part of time that comes again and again: a time of day, a cron
// expression, or both.
type Period struct{ text string }

// ParsePeriod reads one period.
func ParsePeriod(text string) (Period, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return Period{}, fmt.Errorf("a period is empty")
	}
	return Period{text: s}, nil
}

// String is the period as it was written.
func (p Period) String() string { return p.text }

// Equal compares two periods by what was written.
func (p Period) Equal(q Period) bool { return p.text == q.text }

// Contains says whether a moment is in the period, by the wall clock of a zone.
func (p Period) Contains(time.Time, *time.Location) bool { return false }

func parsePeriods(text string) ([]Period, error) {
	entries, err := parseList(text)
	if err != nil {
		return nil, err
	}
	var out []Period
	var problems []string
	for _, e := range entries {
		p, err := ParsePeriod(e)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		out = append(out, p)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(problems, "; "))
	}
	return out, nil
}

// Excluded gives the first period that holds now and in which nothing changes.
func (p Policy) Excluded(now time.Time) (Period, bool) {
	return holding(p.ExcludedPeriods, now, p.zone())
}

// NoDown gives the first period that holds now and in which nothing gets
// smaller.
func (p Policy) NoDown(now time.Time) (Period, bool) { return holding(p.NoDownPeriods, now, p.zone()) }

func holding(periods []Period, now time.Time, zone *time.Location) (Period, bool) {
	for _, x := range periods {
		if x.Contains(now, zone) {
			return x, true
		}
	}
	return Period{}, false
}
