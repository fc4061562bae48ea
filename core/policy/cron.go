package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cron is a set of seconds, written as Quartz writes it: fields of seconds,
// minutes, hours, days of the month, months, days of the week and, if given,
// years. It answers one question, whether a second is in the set; why that is
// own code says docs/adr/0008.
type cron struct {
	seconds, minutes, hours, months, years bits
	monthDays                              monthDays
	weekDays                               weekDays
}

// bits is a set of small numbers.
type bits [4]uint64

func (b *bits) add(n int)      { b[n/64] |= 1 << (n % 64) }
func (b *bits) has(n int) bool { return n >= 0 && n < 256 && b[n/64]&(1<<(n%64)) != 0 }

// field is one place of an expression.
type field struct {
	what   string
	lo, hi int
	// names begin with that of lo.
	names []string
}

// firstYear is what the years' bits count from; lastYear is the last that
// bits hold.
const firstYear, lastYear = 1970, 2199

func cronFields() [7]field {
	return [7]field{
		{"seconds", 0, 59, nil},
		{"minutes", 0, 59, nil},
		{"hours", 0, 23, nil},
		{"day of month", 1, 31, nil},
		{"month", 1, 12, strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")},
		{"day of week", 1, 7, strings.Fields("SUN MON TUE WED THU FRI SAT")},
		{"year", firstYear, lastYear, nil},
	}
}

func parseCron(text string) (*cron, error) {
	words := strings.Fields(strings.ToUpper(text))
	if len(words) < 6 || len(words) > 7 {
		return nil, fmt.Errorf("a cron expression has 6 or 7 fields, seconds first; this has %d", len(words))
	}
	if len(words) == 6 {
		words = append(words, "*")
	}
	if (words[3] == "?") == (words[5] == "?") {
		return nil, fmt.Errorf("one of day of month and day of week must be ?, and only one")
	}
	c := &cron{}
	fields := cronFields()
	for i, set := range []*bits{0: &c.seconds, 1: &c.minutes, 2: &c.hours, 4: &c.months, 6: &c.years} {
		if set == nil {
			continue
		}
		if err := fields[i].read(set, words[i]); err != nil {
			return nil, err
		}
	}
	if err := c.monthDays.read(fields[3], words[3]); err != nil {
		return nil, err
	}
	return c, c.weekDays.read(fields[5], words[5])
}

// read puts a list of numbers, ranges and steps into a set.
func (f field) read(set *bits, text string) error {
	for _, part := range strings.Split(text, ",") {
		if err := f.part(set, part); err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
	}
	return nil
}

func (f field) part(set *bits, part string) error {
	base, stride, stepped := strings.Cut(part, "/")
	from, to, err := f.span(base, stepped)
	if err != nil {
		return err
	}
	step := 1
	if stepped {
		if strings.ContainsAny(base, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return fmt.Errorf("%q: Quartz does not read a step after a name; write numbers", part)
		}
		if step, err = strconv.Atoi(stride); err != nil || step < 1 || step > f.hi {
			return fmt.Errorf("%q is not a step of 1 to %d", stride, f.hi)
		}
	}
	if to < from && f.lo == firstYear {
		return fmt.Errorf("%q ends before it begins", base)
	}
	if to < from { // 22-2 goes on at the beginning
		to += f.hi - f.lo + 1
	}
	for n := from; n <= to; n += step {
		set.add(f.bit((n-f.lo)%(f.hi-f.lo+1) + f.lo))
	}
	return nil
}

// bit is where a number of the field is kept in bits.
func (f field) bit(n int) int {
	if f.lo == firstYear {
		return n - firstYear
	}
	return n
}

// span reads *, a number or a range. A number with a step goes to the end.
func (f field) span(base string, stepped bool) (from, to int, err error) {
	if base == "*" || (base == "" && stepped) {
		return f.lo, f.hi, nil
	}
	first, last, ranged := strings.Cut(base, "-")
	if from, err = f.number(first); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		to, err = f.number(last)
	case stepped:
		to = f.hi
	default:
		to = from
	}
	return from, to, err
}

// number reads a number or a name.
func (f field) number(word string) (int, error) {
	for i, name := range f.names {
		if word == name {
			return f.lo + i, nil
		}
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < f.lo || n > f.hi || word[0] == '+' {
		return 0, fmt.Errorf("%q is not between %d and %d", word, f.lo, f.hi)
	}
	return n, nil
}

// monthDays is the day of the month: a set, or one day that is counted from the
// end of the month or moved to a working day.
type monthDays struct {
	any bool
	set bits
	// special is true for one day: day counted from the beginning, or before
	// the end when last is true; working moves it to the nearest Monday to
	// Friday of the same month.
	special, last, working bool
	day                    int
}

func (m *monthDays) read(f field, text string) error {
	if text == "?" {
		m.any = true
		return nil
	}
	word, working := strings.CutSuffix(text, "W")
	rest, last := strings.CutPrefix(word, "L")
	if !working && !last {
		return f.read(&m.set, text)
	}
	m.special, m.last, m.working = true, last, working
	switch before, ok := strings.CutPrefix(rest, "-"); {
	case last && rest == "":
	case last && ok:
		n, err := strconv.Atoi(before)
		if err != nil || n < 0 || n > 30 || before[0] == '+' {
			return fmt.Errorf("%s: %q is not between 0 and 30 days before the last", f.what, before)
		}
		m.day = n
	case last:
		return fmt.Errorf("%s: %q must stand alone", f.what, text)
	default:
		n, err := f.number(rest)
		if err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
		m.day = n
	}
	return nil
}

// has says whether a day, of a month that long, is in it.
func (m *monthDays) has(day, length int, weekday time.Weekday) bool {
	if m.any || !m.special {
		return m.any || m.set.has(day)
	}
	want := m.day
	if m.last {
		want = length - m.day
	}
	if want < 1 || want > length {
		return false
	}
	if m.working {
		want = nearestWorkday(want, length, weekday+time.Weekday((want-day)%7+7))
	}
	return day == want
}

// nearestWorkday moves a Saturday back and a Sunday forward, and stays in the
// month. The weekday may be counted past Saturday.
func nearestWorkday(day, length int, weekday time.Weekday) int {
	switch weekday % 7 {
	case time.Saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case time.Sunday:
		if day == length {
			return day - 2
		}
		return day + 1
	}
	return day
}

// weekDays is the day of the week: a set, or the nth or last of its kind in the
// month. Days count from Sunday, which is 1.
type weekDays struct {
	any  bool
	set  bits
	day  int // 0 without nth and last
	nth  int
	last bool
}

func (w *weekDays) read(f field, text string) error {
	var err error
	name, nth, numbered := strings.Cut(text, "#")
	kind, last := strings.CutSuffix(text, "L")
	switch {
	case text == "?":
		w.any = true
	case text == "L": // the last day of a week
		w.set.add(f.hi)
	case numbered:
		if w.nth, err = strconv.Atoi(nth); err != nil || w.nth < 1 || w.nth > 5 || nth[0] == '+' {
			return fmt.Errorf("%s: %q is not between 1 and 5", f.what, nth)
		}
		w.day, err = f.number(name)
	case last:
		w.last = true
		w.day, err = f.number(kind)
	default:
		return f.read(&w.set, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.what, err)
	}
	return nil
}

func (w *weekDays) has(day, length int, weekday time.Weekday) bool {
	number := int(weekday) + 1
	switch {
	case w.any:
		return true
	case w.last:
		return number == w.day && day+7 > length
	case w.nth > 0:
		return number == w.day && (day+6)/7 == w.nth
	}
	return w.set.has(number)
}

// state says whether a wall clock's second is in the set, and for how long that
// is sure to stay so.
func (c *cron) state(w time.Time) (bool, time.Duration) {
	if c == nil {
		return true, longest
	}
	hour, minute, second := w.Clock()
	untilSecond := time.Second - time.Duration(w.Nanosecond())
	untilMinute := untilSecond + time.Duration(59-second)*time.Second
	untilHour := untilMinute + time.Duration(59-minute)*time.Minute
	untilDay := untilHour + time.Duration(23-hour)*time.Hour
	switch {
	case !c.hasDay(w):
		return false, untilDay
	case !c.hours.has(hour):
		return false, untilHour
	case !c.minutes.has(minute):
		return false, untilMinute
	case !c.seconds.has(second):
		return false, untilSecond
	case !c.seconds.full(60):
		return true, untilSecond
	case !c.minutes.full(60):
		return true, untilMinute
	case !c.hours.full(24):
		return true, untilHour
	}
	return true, untilDay
}

// full is true when all numbers below n are in the set.
func (b *bits) full(n int) bool { return b[0]&(1<<n-1) == 1<<n-1 }

func (c *cron) hasDay(w time.Time) bool {
	year, month, day := w.Date()
	if !c.years.has(year-firstYear) || !c.months.has(int(month)) {
		return false
	}
	length := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return c.monthDays.has(day, length, w.Weekday()) && c.weekDays.has(day, length, w.Weekday())
}
