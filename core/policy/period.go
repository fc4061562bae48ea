package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Period is a part of time that comes again and again: a time of day, a cron
// expression, or where both hold.
type Period struct {
	text  string
	daily *daily
	cron  *cron
}

// daily is a range of times of one day, in milliseconds after midnight, both
// ends in it.
type daily struct{ from, to int64 }

// ParsePeriod reads one period, such as 9:00-17:30, "* * 8-17 ? * MON-FRI", or
// the two with && between.
func ParsePeriod(text string) (Period, error) {
	p := Period{text: strings.TrimSpace(text)}
	parts := strings.Split(p.text, "&&")
	if len(parts) > 2 {
		return Period{}, fmt.Errorf("%q: at most one time of day and one cron expression", p.text)
	}
	for _, part := range parts {
		if err := p.add(strings.TrimSpace(part)); err != nil {
			return Period{}, fmt.Errorf("%q: %w", p.text, err)
		}
	}
	return p, nil
}

// add reads one part: two times with a dash between are a time of day, all else
// is a cron expression.
func (p *Period) add(part string) error {
	if part == "" {
		return fmt.Errorf("empty where a time of day or a cron expression is expected")
	}
	from, to, ok := times(part)
	switch {
	case ok && p.daily != nil:
		return fmt.Errorf("two times of day, of which only one can hold; write two entries")
	case ok && from >= to:
		return fmt.Errorf("must begin before it ends; over midnight it is two entries, such as 22:00-23:59:59:999 and 0:00-6:00")
	case ok:
		p.daily = &daily{from, to}
		return nil
	case p.cron != nil:
		return fmt.Errorf("two cron expressions")
	}
	c, err := parseCron(part)
	if err != nil && strings.Contains(part, ":") {
		return fmt.Errorf("not a time of day such as 9:00-17:30 or 9:00:00:000-17:30:00:000, hours 0 to 23")
	}
	p.cron = c
	return err
}

// times reads two times of day with a dash between.
func times(part string) (from, to int64, ok bool) {
	first, last, ok := strings.Cut(part, "-")
	if !ok {
		return 0, 0, false
	}
	from, ok = timeOfDay(strings.TrimSpace(first))
	if !ok {
		return 0, 0, false
	}
	to, ok = timeOfDay(strings.TrimSpace(last))
	return from, to, ok
}

// timeOfDay reads H:mm[:ss[:SSS]], in milliseconds after midnight.
func timeOfDay(s string) (int64, bool) {
	words := strings.Split(s, ":")
	if len(words) < 2 || len(words) > 4 {
		return 0, false
	}
	limits := [...]int64{24, 60, 60, 1000}
	var sum int64
	for i, limit := range limits {
		sum *= limit
		if i >= len(words) {
			continue
		}
		n, err := strconv.ParseUint(words[i], 10, 16)
		if err != nil || int64(n) >= limit {
			return 0, false
		}
		sum += int64(n)
	}
	return sum, true
}

func (d *daily) state(w time.Time) (bool, time.Duration) {
	if d == nil {
		return true, longest
	}
	hour, minute, second := w.Clock()
	at := int64(hour*3600+minute*60+second)*1000 + int64(w.Nanosecond())/1e6
	const midnight = 24 * 3600 * 1000
	switch ms := time.Millisecond; {
	case at < d.from:
		return false, time.Duration(d.from-at) * ms
	case at <= d.to:
		return true, time.Duration(d.to+1-at) * ms
	default:
		return false, time.Duration(midnight-at) * ms
	}
}

// String is the period as it was written.
func (p Period) String() string { return p.text }

// Equal compares two periods by what was written.
func (p Period) Equal(q Period) bool { return p.text == q.text }

// Contains says whether a moment is in the period, by the wall clock of a zone:
// an hour that is skipped when clocks go forward never holds, one that comes
// twice when they go back holds twice.
func (p Period) Contains(now time.Time, zone *time.Location) bool {
	in, _ := p.state(wall(now, zone))
	return in
}

// wall is what a clock on the wall of a zone shows, written as if it were UTC,
// in whole milliseconds.
func wall(t time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second).Truncate(time.Millisecond)
}

// state says whether a wall clock is in the period, and for how long that is
// sure to stay so as long as the clock is not set.
func (p Period) state(w time.Time) (bool, time.Duration) {
	day, dayRun := p.daily.state(w)
	set, setRun := p.cron.state(w)
	switch {
	case p.daily == nil && p.cron == nil: // the zero Period never holds
		return false, longest
	case day && set:
		return true, min(dayRun, setRun)
	case day:
		return false, setRun
	case set:
		return false, dayRun
	}
	return false, max(dayRun, setRun)
}

// next is the first moment from one to another at which the period holds, or
// does not hold.
func (p Period) next(from, to time.Time, zone *time.Location, holds bool) (time.Time, bool) {
	for t := from; !t.After(to); {
		in, run := p.state(wall(t, zone))
		if in == holds {
			return t, true
		}
		after := to.Add(1)
		if run < to.Sub(t)+time.Millisecond {
			after = t.Truncate(time.Millisecond).Add(run)
		}
		// Where the clock is set, what was sure is sure no more.
		if _, end := t.In(zone).ZoneBounds(); !end.IsZero() && end.After(t) && end.Before(after) {
			after = end
		}
		t = after
	}
	return time.Time{}, false
}

func parsePeriods(text string) ([]Period, error) {
	entries, err := parseList(text)
	if err != nil {
		return nil, err
	}
	var out []Period
	var problems []error
	for _, e := range entries {
		p, err := ParsePeriod(e)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		out = append(out, p)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return out, nil
}

// Excluded gives the first period that holds now and in which nothing changes.
func (p Policy) Excluded(now time.Time) (Period, bool) { return p.holding(p.ExcludedPeriods, now) }

// NoDown gives the first period that holds now and in which nothing gets
// smaller.
func (p Policy) NoDown(now time.Time) (Period, bool) { return p.holding(p.NoDownPeriods, now) }

// NextChange is when the exclusion that holds now ends, and no other one begins
// at once; zero when none holds, or when it does not end within a week.
func (p Policy) NextChange(now time.Time) time.Time { return p.end(p.ExcludedPeriods, now) }

// NoDownUntil is the same for the periods in which nothing gets smaller.
func (p Policy) NoDownUntil(now time.Time) time.Time { return p.end(p.NoDownPeriods, now) }

func (p Policy) holding(periods []Period, now time.Time) (Period, bool) {
	for _, x := range periods {
		if x.Contains(now, p.zone()) {
			return x, true
		}
	}
	return Period{}, false
}

// end follows periods that touch or overlap to the moment at which none holds.
// It looks a week ahead, and through so many periods in a row at most.
func (p Policy) end(periods []Period, now time.Time) time.Time {
	const most = 100
	limit := now.Add(7 * 24 * time.Hour)
	t := now
	for range most {
		x, ok := p.holding(periods, t)
		if !ok {
			if t.Equal(now) {
				return time.Time{}
			}
			return t
		}
		if t, ok = x.next(t, limit, p.zone(), false); !ok {
			return time.Time{}
		}
	}
	return time.Time{}
}
