package view

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"flinkscaler/core"
)

// None stands for a number that does not exist or did not come.
const None = "–"

// Reading shows a number with the given form, or why there is none: a stale or
// incomplete number is named so, because it is a reason for a hold.
func Reading(r core.Reading, form func(float64) string) string {
	if v, ok := r.Value(); ok {
		return form(v)
	}
	switch r.State() {
	case core.Stale, core.Incomplete:
		return r.State().String()
	case core.Missing, core.NotApplicable, core.Present:
	}
	return None
}

// Percent shows a share of 1.
func Percent(v float64) string { return fmt.Sprintf("%.0f %%", v*100) }

// Count shows a number in at most five characters: 0.25, 999, 12.3k, 1.2M.
func Count(v float64) string {
	size, units := math.Abs(v), []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for size >= 999.5 && i < len(units)-1 {
		size, v, i = size/1000, v/1000, i+1
	}
	switch {
	case i == 0 && (size >= 10 || v == math.Trunc(v)):
		return fmt.Sprintf("%.0f", v)
	case i == 0 && size < 1:
		return fmt.Sprintf("%.2g", v)
	case size >= 99.95:
		return fmt.Sprintf("%.0f%s", v, units[i])
	}
	return fmt.Sprintf("%.1f%s", v, units[i])
}

// Seconds shows a number of seconds as a duration.
func Seconds(v float64) string {
	if v < 0 {
		return "-" + Seconds(-v)
	}
	const centuries = 1e10
	if v > centuries {
		return Count(v) + " s"
	}
	return Duration(time.Duration(v * float64(time.Second)))
}

// Duration shows a duration in its two largest units: 800 ms, 34 s, 4 min,
// 2 h 5 min, 3 d.
func Duration(d time.Duration) string {
	second, minute := unit{time.Second, "s"}, unit{time.Minute, "min"}
	hour, day := unit{time.Hour, "h"}, unit{24 * time.Hour, "d"}
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d > 0 && d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 2*time.Hour:
		return pair(d, minute, second, 10)
	case d < 48*time.Hour:
		return pair(d, hour, minute, 24)
	}
	return pair(d, day, hour, 7)
}

type unit struct {
	length time.Duration
	word   string
}

// pair shows the small unit only below some number of large ones, where it
// still matters.
func pair(d time.Duration, large, small unit, below time.Duration) string {
	n, rest := d/large.length, d%large.length/small.length
	if rest == 0 || n >= below {
		return fmt.Sprintf("%d %s", n, large.word)
	}
	return fmt.Sprintf("%d %s %d %s", n, large.word, rest, small.word)
}

// Clock shows a moment, in UTC; nothing for the zero time.
func Clock(t time.Time) string {
	if t.IsZero() {
		return None
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// Ago shows how long ago something was.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return None
	}
	return Duration(max(0, now.Sub(t)).Truncate(time.Second))
}

// Clean takes everything out of a text that a terminal would obey: a vertex'
// name must not be able to clear the screen. Runs of blanks become one.
func Clean(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// Clip shortens a text to at most n characters and shows that it did.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 1 {
		return "…"[:min(max(n, 0), 1)*len("…")]
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// Wrap breaks a text at blanks into lines of at most width characters; a
// longer word stays whole.
func Wrap(s string, width int) []string {
	var lines []string
	line, length := "", 0
	for _, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		if line != "" && length+1+n > width {
			lines, line, length = append(lines, line), "", 0
		}
		if line != "" {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Printable is Clean for text that is laid out already: blanks stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
