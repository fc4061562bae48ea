package policy

import (
	"bufio"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

//go:embed testdata/quartz.txt
var quartz string //nolint:gochecknoglobals // an embedded file

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := parseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	moment, err := time.Parse("2006-01-02T15:04:05.999", text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

func period(t testing.TB, text string) Period {
	t.Helper()
	p, err := ParsePeriod(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeriodsAreThoseOfQuartz(t *testing.T) {
	t.Parallel()
	expressions, moments, refused := 0, 0, 0
	for lines := bufio.NewScanner(strings.NewReader(quartz)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		words := strings.Split(lines.Text(), "\t")
		if words[0] == "invalid" {
			refused++
			if _, err := ParsePeriod(words[1]); err == nil {
				t.Errorf("%q is accepted; Quartz refuses it", words[1])
			}
			continue
		}
		p, err := ParsePeriod(words[0])
		if err != nil {
			t.Errorf("%v; Quartz accepts it", err)
			continue
		}
		expressions++
		for i, want := range []bool{true, false} {
			for _, m := range strings.Fields(words[i+1]) {
				moments++
				if got := p.Contains(at(t, m), time.UTC); got != want {
					t.Errorf("%q holds at %s: %v; Quartz says %v", p, m, got, want)
				}
			}
		}
	}
	if expressions < 150 || moments < 1000 || refused < 30 {
		t.Errorf("only %d expressions, %d moments and %d refused ones were looked at", expressions, moments, refused)
	}
}

func TestValidPeriods(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		value  string
		bad    string // what the problem must say, "" for none
	}{
		"two days":          {"the Java autoscaler takes it", "09:13:17-11:15:18;14:01:20-16:00:00", ""},
		"cron and daily":    {"the Java autoscaler takes it", "* * * ? * 2,5 && 14:01:20-16:00:00", ""},
		"daily and cron":    {"the order does not matter", "14:01-16:00&&* * * ? * 2,5", ""},
		"short times":       {"H:mm needs no zeros and no seconds", "9:00-17:30", ""},
		"milliseconds":      {"a whole day", "0:00-23:59:59:999", ""},
		"blanks":            {"Quartz does not mind them", " 9:00 - 17:30 ", ""},
		"none":              {"an empty list", "", ""},
		"YAML list":         {"as Flink 2 shows it; the comma of the cron is quoted", "['* * * ? * 2,5', 12:00-13:00]", ""},
		"reversed":          {"the Java autoscaler refuses it", "09:13:17-08:15:18", "must begin before it ends"},
		"hour 25":           {"the Java autoscaler refuses it", "09:13:17-25:15:18", "hours 0 to 23"},
		"second of a list":  {"every entry must be good", "09:13:17-11:15:18;18:01:20-16:00:00", `"18:01:20-16:00:00"`},
		"two times of day":  {"the Java autoscaler refuses it", "09:13:17-11:15:18 && 14:01:20-16:00:00", "two times of day"},
		"day 5555":          {"the Java autoscaler refuses it", "* * * ? * 2,5555", `"5555" is not between 1 and 7`},
		"cron, reversed":    {"the Java autoscaler refuses it", "* * * ? * 2,5 && 16:00:00-14:01:20", "must begin before it ends"},
		"two crons":         {"the Java autoscaler refuses it", "* * * ? * 2,5 && * * * ? * 2,5", "two cron expressions"},
		"noon to ten":       {"the Java autoscaler refuses it", "12:00-10:00", "22:00-23:59:59:999 and 0:00-6:00"},
		"same time":         {"a range begins before it ends", "12:00-12:00", "must begin before it ends"},
		"three parts":       {"at most one of each kind", "1:00-2:00 && * * * ? * * && 3:00-4:00", "at most one"},
		"dangling &&":       {"something was forgotten", "1:00-2:00 &&", "empty where"},
		"both days":         {"Quartz wants one ?", "* * * * * *", "must be ?"},
		"neither day":       {"Quartz wants one ?", "* * * ? * ?", "must be ?"},
		"five fields":       {"Unix cron has no seconds", "0 8 * * ?", "6 or 7 fields"},
		"weekday 0":         {"days count from 1", "* * * ? * 0", "day of week"},
		"weekday 8":         {"the second 6 of a week", "* * * ? * 8", "day of week"},
		"L in a list":       {"Quartz refuses it", "* * * L,15 * ?", "must stand alone"},
		"W in a list":       {"one day can move, not several", "* * * 1,15W * ?", "day of month"},
		"sixth Friday":      {"a month has at most five", "* * * ? * 6#6", "between 1 and 5"},
		"years reversed":    {"years do not go round", "* * * ? * * 2026-2024", "ends before it begins"},
		"step 0":            {"a step that goes nowhere", "*/0 * * ? * *", "step"},
		"step 60":           {"Quartz refuses it", "*/60 * * ? * *", "step"},
		"all at once":       {"every bad entry is told", "25:00-26:00;8:00-9:00;* * * ? * 9", `"* * * ? * 9": day of week`},
		"open quote":        {"the list itself cannot be read", "'1:00-2:00", "not closed"},
		"step after a name": {"Quartz reads it as if the step were not there", "* * * ? * MON-FRI/2", "write numbers"},
		"empty entry":       {"Quartz does not mind it; it is more likely a slip", "* 1,,2 * ? * *", "minutes"},
		"sign":              {"no signs in numbers", "* * +3 ? * *", "hours"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := Check(given("job", Prefix+"excluded.periods", c.value))
			if c.bad == "" {
				if len(problems) > 0 {
					t.Errorf("%v; want none, because %s", problems, c.reason)
				}
				return
			}
			n := len(problems)
			if n == 0 || n > strings.Count(c.value, ";")+1 || !strings.Contains(problems[n-1].Message, c.bad) || !strings.HasSuffix(problems[n-1].Message, " (from job)") {
				t.Errorf("problems %v; want one that says %q, because %s", problems, c.bad, c.reason)
			}
		})
	}
}

// TestExcludedAsInJava: the vectors of the Java autoscaler, about Thursday,
// 14 December 2023, 14:01:30.
func TestExcludedAsInJava(t *testing.T) {
	t.Parallel()
	now := at(t, "2023-12-14T14:01:30")
	cases := []struct {
		value string
		shift time.Duration
		want  string // the period that holds
	}{
		{"09:13:17-11:15:18;14:01:20-16:00:00", 0, "14:01:20-16:00:00"},
		{"09:13:17-11:15:18;14:01:20-16:00:00", -20 * time.Second, ""},
		{"09:13:17-11:15:18;14:01:20-16:00:00", -4 * time.Hour, "09:13:17-11:15:18"},
		{"* * 14-16 * * ?", 0, "* * 14-16 * * ?"},
		{"* * 14-16 * * ?", -100 * time.Second, ""},
		{"* * * ? * 2,5 && 14:01:20-16:00:00", 0, "* * * ? * 2,5 && 14:01:20-16:00:00"},
		{"* * * ? * 2,5 && 14:01:20-16:00:00", -24 * time.Hour, ""},
		{"* * * ? * 2,5 && 14:01:20-16:00:00", -72 * time.Hour, "* * * ? * 2,5 && 14:01:20-16:00:00"},
	}
	for _, c := range cases {
		for _, key := range []string{"excluded.periods", "scale-down.excluded.periods"} {
			p, _, problems := Resolve([]Layer{given("job", Prefix+key, c.value)})
			holding := p.Excluded
			if key != "excluded.periods" {
				holding = p.NoDown
			}
			got, ok := holding(now.Add(c.shift))
			if len(problems) > 0 || got.String() != c.want || ok != (c.want != "") {
				t.Errorf("%s = %q at %v: %q, %v, problems %v; want %q", key, c.value, c.shift, got, ok, problems, c.want)
			}
		}
	}
}

func TestEndsOfATimeOfDayAreInIt(t *testing.T) {
	t.Parallel()
	p := period(t, "9:00-17:30:00:500")
	for text, want := range map[string]bool{
		"2024-05-01T08:59:59.999": false, "2024-05-01T09:00:00": true, "2024-05-01T17:30:00.5": true, "2024-05-01T17:30:00.501": false,
	} {
		if got := p.Contains(at(t, text), time.UTC); got != want {
			t.Errorf("%s at %s: %v, want %v", p, text, got, want)
		}
	}
}

// TestTheClockOnTheWallCounts: where clocks are set, an hour that is skipped
// never holds, and one that comes twice holds twice.
func TestTheClockOnTheWallCounts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		zone, period, day string
		want              time.Duration // how long it holds in the 24 hours from day on, in UTC
	}{
		"Berlin, plain":         {"Europe/Berlin", "2:00-2:59:59:999", "2024-05-01T00:00:00", time.Hour},
		"Berlin, forward":       {"Europe/Berlin", "2:00-2:59:59:999", "2024-03-30T12:00:00", 0},
		"Berlin, back":          {"Europe/Berlin", "2:00-2:59:59:999", "2024-10-26T12:00:00", 2 * time.Hour},
		"Berlin, back, cron":    {"Europe/Berlin", "* * 2 * * ?", "2024-10-26T12:00:00", 2 * time.Hour},
		"Berlin, forward, cron": {"Europe/Berlin", "* * 1-3 * * ?", "2024-03-30T12:00:00", 2 * time.Hour},
		"New York, forward":     {"America/New_York", "1:30-3:29:59:999", "2024-03-10T00:00:00", time.Hour},
		"New York, back":        {"America/New_York", "1:30-1:59:59:999", "2024-11-03T00:00:00", time.Hour},
		"Kolkata":               {"Asia/Kolkata", "5:30-5:59:59:999", "2024-05-01T00:00:00", 30 * time.Minute},
		"Lord Howe, forward":    {"Australia/Lord_Howe", "1:30-2:59:59:999", "2024-10-05T06:00:00", time.Hour},
		"Lord Howe, back":       {"Australia/Lord_Howe", "1:30-1:59:59:999", "2024-04-06T06:00:00", time.Hour},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z, p := zone(t, c.zone), period(t, c.period)
			begin := at(t, c.day)
			var held time.Duration
			for m := begin; m.Before(begin.Add(24 * time.Hour)); m = m.Add(time.Minute) {
				if p.Contains(m, z) {
					held += time.Minute
				}
			}
			if held != c.want {
				t.Errorf("%s in %s holds for %v, want %v", c.period, c.zone, held, c.want)
			}
		})
	}
}

func anyZone() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo"})
}

func anyPeriod() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"2:00-2:59:59:999", "0:00-23:59:59:999", "9:13:17-11:15:18", "* * 22-2 * * ?", "30 * * ? * MON-FRI", "0/7 5/20 1-3 L * ?",
		"* * * ? * 6#3", "* 30 * * * ? && 2:15-3:45", "* * * 15W * ?", "* * * ? MAR,OCT,NOV 1", "* * * ? * * 2030", "15 * * * * ? && 1:00:00-1:00:10",
	})
}

// anyMoment is often near one at which clocks are set.
func anyMoment() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		near := rapid.SampledFrom([]string{"2024-03-31T01:00:00", "2024-10-27T01:00:00", "2024-03-10T07:00:00", "2024-11-03T06:00:00", "2024-04-06T15:00:00", "2024-10-05T15:30:00", "2024-06-15T00:00:00"}).Draw(t, "near")
		moment, _ := time.Parse("2006-01-02T15:04:05", near)
		return moment.Add(time.Duration(rapid.Int64Range(-2*86400e3, 2*86400e3).Draw(t, "ms")) * time.Millisecond)
	})
}

func TestMembershipDependsOnTheWallClockAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		z, p, m := zone(t, anyZone().Draw(r, "zone")), period(t, anyPeriod().Draw(r, "period")), anyMoment().Draw(r, "moment")
		w := m.In(z)
		asUTC := time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), w.Nanosecond(), time.UTC)
		if p.Contains(m, z) != p.Contains(asUTC, time.UTC) {
			r.Errorf("%s at %s holds otherwise than at the same wall clock in UTC", p, w)
		}
	})
}

// TestNextIsTheFirst compares the search, which jumps, with one that looks at
// every second.
func TestNextIsTheFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		z, p := zone(t, anyZone().Draw(r, "zone")), period(t, anyPeriod().Draw(r, "period"))
		from := anyMoment().Draw(r, "moment").Truncate(time.Second)
		holds := rapid.Bool().Draw(r, "holds")
		to := from.Add(3 * time.Hour)
		var want time.Time
		for m := from; !m.After(to) && want.IsZero(); m = m.Add(time.Second) {
			if p.Contains(m, z) == holds {
				want = m
			}
		}
		got, ok := p.next(from, to, z, holds)
		// A time of day may end within a second.
		if ok != !want.IsZero() || (ok && (got.After(want) || want.Sub(got) >= time.Second || p.Contains(got, z) != holds)) {
			r.Errorf("%s in %s from %s, holds %v: got %s, %v; want %s", p, z, from.In(z), holds, got.In(z), ok, want.In(z))
		}
	})
}

// TestNextWhereItIsHard: moments that random ones rarely meet.
func TestNextWhereItIsHard(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason             string
		zone, period, from string
		holds              bool
		want               string
	}{
		"forward":      {"clocks jump to its beginning before the time left until then is over", "Europe/Berlin", "3:00-3:30", "2024-03-31T00:30:00", true, "2024-03-31T01:00:00"},
		"back":         {"it is over for the day, and comes again", "Europe/Berlin", "2:15-2:20", "2024-10-27T00:30:00", true, "2024-10-27T01:15:00"},
		"half an hour": {"Lord Howe sets its clocks by 30 minutes", "Australia/Lord_Howe", "2:40-2:50", "2024-10-05T15:00:00", true, "2024-10-05T15:40:00"},
		"a day away":   {"a week is jumped over day by day", "Europe/Berlin", "* * * ? * SUN", "2024-03-24T23:00:00", true, "2024-03-30T23:00:00"},
		"one second":   {"it ends with its second", "UTC", "30 * * ? * *", "2024-05-01T10:00:30.25", false, "2024-05-01T10:00:31"},
		"one minute":   {"it ends with its minute", "UTC", "* 30 * ? * *", "2024-05-01T10:30:30", false, "2024-05-01T10:31:00"},
		"one hour":     {"it ends with its hour", "UTC", "* * 10 ? * *", "2024-05-01T10:30:30", false, "2024-05-01T11:00:00"},
		"one day":      {"it ends with its day", "UTC", "* * * ? * WED", "2024-05-01T10:30:30", false, "2024-05-02T00:00:00"},
		"within both":  {"the time of day ends first", "UTC", "* * 10 ? * * && 10:00-10:30:00", "2024-05-01T10:29:00", false, "2024-05-01T10:30:00.001"},
		"now":          {"what holds already is the answer", "UTC", "10:00-11:00", "2024-05-01T10:29:00.7", true, "2024-05-01T10:29:00.7"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := at(t, c.from)
			got, ok := period(t, c.period).next(from, from.Add(7*24*time.Hour), zone(t, c.zone), c.holds)
			if !ok || !got.Equal(at(t, c.want)) {
				t.Errorf("got %s, %v; want %s, because %s", got.UTC(), ok, c.want, c.reason)
			}
		})
	}
}

// TestSpecialDays lists the days of a month that are in a period.
func TestSpecialDays(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		month string
		want  string
	}{
		"* * * ? * 6L":         {"2025-01", "31"}, // the Friday before is a week from the end
		"* * * ? * 5L":         {"2025-01", "30"},
		"* * * ? * 6#1":        {"2025-08", "1"},
		"* * * ? * 6#2":        {"2025-08", "8"},
		"* * * ? * 6#5":        {"2025-09", ""},
		"* * * L * ?":          {"2024-02", "29"},
		"* * * L-0 * ?":        {"2024-02", "29"},
		"* * * L-28 * ?":       {"2024-02", "1"},
		"* * * L-29 * ?":       {"2024-02", ""},
		"* * * LW * ?":         {"2024-06", "28"}, // the 30th is a Sunday
		"* * * 1W * ?":         {"2024-06", "3"},  // the 1st is a Saturday
		"* * * 1W 9 ?":         {"2024-09", "2"},  // the 1st is a Sunday
		"* * * 15W * ?":        {"2024-06", "14"},
		"* * * 16W * ?":        {"2024-06", "17"},
		"* * * 30W * ?":        {"2024-06", "28"}, // not over the end of the month
		"* * * 31W * ?":        {"2024-06", ""},
		"* * * 31W JUN ?":      {"2023-06", ""}, // Quartz: the 30th, since the day after is a Saturday
		"* * * 31 * ?":         {"2024-06", ""},
		"* * * L-1W * ?":       {"2024-06", "28"}, // the 29th is a Saturday
		"* * * 28-2 * ?":       {"2024-06", "1 2 28 29 30"},
		"* * * 5,10-12 * ?":    {"2024-06", "5 10 11 12"},
		"* * * 5/10 * ?":       {"2024-06", "5 15 25"},
		"* * * ? * FRI-SUN":    {"2024-06", "1 2 7 8 9 14 15 16 21 22 23 28 29 30"},
		"* * * ? * L":          {"2024-06", "1 8 15 22 29"},
		"* * * 1 JUL ?":        {"2024-06", ""},
		"* * * 1 * ? 2025/2":   {"2024-06", ""},
		"* * * 1 * ? 2020/2":   {"2024-06", "1"},
		"* * * ? JUN 2#4 2024": {"2024-06", "24"},
	}
	for text, c := range cases {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			p := period(t, text)
			var days []string
			for noon := at(t, c.month+"-01T12:00:00"); noon.Format("2006-01") == c.month; noon = noon.AddDate(0, 0, 1) {
				if p.Contains(noon, time.UTC) {
					days = append(days, fmt.Sprint(noon.Day()))
				}
			}
			if got := strings.Join(days, " "); got != c.want {
				t.Errorf("%s: days %q, want %q", c.month, got, c.want)
			}
		})
	}
}

func TestNextChange(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		periods, zone, now, want string
	}{
		"none holds":      {"9:00-10:00", "UTC", "2024-05-01T08:00:00", ""},
		"ends":            {"14:01:20-16:00:00", "UTC", "2024-05-01T15:00:00", "2024-05-01T16:00:00.001"},
		"two that touch":  {"22:00-23:59:59:999;0:00-6:00", "UTC", "2024-05-01T23:00:00", "2024-05-02T06:00:00.001"},
		"overlap":         {"9:00-12:00;11:00-13:00", "UTC", "2024-05-01T09:30:00", "2024-05-01T13:00:00.001"},
		"always":          {"* * * ? * *", "UTC", "2024-05-01T09:30:00", ""},
		"never ends soon": {"* * * ? * * 2024", "UTC", "2024-05-01T09:30:00", ""},
		"weekend":         {"* * * ? * SAT,SUN", "Europe/Berlin", "2024-10-26T09:30:00", "2024-10-27T23:00:00"},
		"the hour twice":  {"2:00-2:59:59:999", "Europe/Berlin", "2024-10-27T00:30:00", "2024-10-27T02:00:00"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, problems := Resolve([]Layer{given("job", Prefix+"excluded.periods", c.periods, Prefix+"scale-down.excluded.periods", c.periods, Prefix+"time-zone", c.zone)})
			var want time.Time
			if c.want != "" {
				want = at(t, c.want)
			}
			now := at(t, c.now)
			if got := p.NextChange(now); len(problems) > 0 || !got.Equal(want) {
				t.Errorf("got %s, problems %v; want %s", got, problems, want)
			}
			if got := p.NoDownUntil(now); !got.Equal(want) {
				t.Errorf("no-down: got %s; want %s", got, want)
			}
		})
	}
}

func TestFloorFor(t *testing.T) {
	t.Parallel()
	p, _, problems := Resolve([]Layer{given("input", Prefix+"time-zone", "Europe/Berlin",
		Prefix+"vertex.min-parallelism.schedule", "8:00-18:00 = 12; * * 9 ? * MON = a:30,b:4; 12:00-13:00={a: 5}; 10:00-11:00 = 12")})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	cases := map[string]struct {
		reason, id, now string // in UTC; Berlin is two hours ahead
		n               int
		because         string
	}{
		"night":         {"no entry holds", "a", "2024-05-06T03:00:00", 0, ""},
		"before":        {"16 minutes are more than the lead time", "a", "2024-05-06T05:44:00", 0, ""},
		"lead":          {"15 minutes ahead, the period begins at the end of the lead time", "a", "2024-05-06T05:45:00", 12, "8:00-18:00, from 08:00:00 CEST"},
		"in it":         {"an entry for all", "c", "2024-05-06T08:00:00", 12, "8:00-18:00"},
		"largest":       {"Monday after nine, by the vertex", "a", "2024-05-06T07:30:00", 30, "* * 9 ? * MON"},
		"smaller":       {"the entry for b is smaller than that for all", "b", "2024-05-06T07:30:00", 12, "8:00-18:00"},
		"not named":     {"c is not in the entry of nine", "c", "2024-05-06T07:30:00", 12, "8:00-18:00"},
		"same size":     {"the first of two that ask for the same is told", "c", "2024-05-07T08:30:00", 12, "8:00-18:00"},
		"Tuesday":       {"the cron is about Mondays", "a", "2024-05-07T07:30:00", 12, "8:00-18:00"},
		"lead, largest": {"a larger one begins soon", "a", "2024-05-06T06:50:00", 30, "* * 9 ? * MON, from 09:00:00 CEST"},
		"over":          {"the end is in it, not what follows", "c", "2024-05-06T16:00:01", 0, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, because := p.FloorFor(c.id, at(t, c.now))
			if n != c.n || because != c.because {
				t.Errorf("got %d, %q; want %d, %q, because %s", n, because, c.n, c.because, c.reason)
			}
		})
	}
}

func FuzzPeriod(f *testing.F) {
	for lines := bufio.NewScanner(strings.NewReader(quartz)); lines.Scan(); {
		word, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "invalid\t"), "\t")
		f.Add(word, int64(1702562490000))
	}
	f.Add("* * * ? * 2,5 && 14:01:20-16:00:00", int64(-1))
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string, ms int64) {
		p, err := ParsePeriod(text)
		if err != nil {
			return
		}
		again, err := ParsePeriod(p.String())
		if err != nil || !again.Equal(p) {
			t.Errorf("%q prints as %q, which gives %v, %v", text, p, again, err)
		}
		now := time.UnixMilli(ms % (1 << 43)).UTC()
		if p.Contains(now, berlin) != again.Contains(now, berlin) {
			t.Errorf("%q holds otherwise when read again", text)
		}
		to := now.Add(time.Hour)
		if m, ok := p.next(now, to, berlin, true); ok && (m.Before(now) || m.After(to) || !p.Contains(m, berlin)) {
			t.Errorf("%q: the next moment after %s is %s", text, now, m)
		}
	})
}

// TestManyPeriods: a list that nobody writes by hand costs no more than its
// length, and one note says what is remarkable of all its entries.
func TestManyPeriods(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("1 2 3 ? 2 6#5;", 4000)
	_, origins, problems := Resolve([]Layer{given("job", Prefix+"excluded.periods", text)})
	i := slices.IndexFunc(origins, func(o Origin) bool { return o.Key == Prefix+"excluded.periods" })
	if len(problems) > 0 || len(origins[i].Note) > 500 || !strings.Contains(origins[i].Note, "single seconds") {
		t.Errorf("problems %v, a note of %d bytes", problems, len(origins[i].Note))
	}
	problems = Check(given("job", Prefix+"excluded.periods", text+text))
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "at most 65536 are read") || len(problems[0].Message) > 200 {
		t.Errorf("%d problems, the first %.200v", len(problems), problems)
	}
}
