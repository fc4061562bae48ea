package view

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 0.25: "0.25", 0.004: "0.004", 1: "1", 1.5: "1.5", 9.96: "10.0", 42: "42", 42.4: "42", 999: "999", 999.7: "1.0k",
		1000: "1.0k", 12345: "12.3k", 99960: "100k", 123456: "123k", 999499: "999k", 999600: "1.0M", 1.2e9: "1.2G", -1500: "-1.5k", 3e21: "3000000P",
	} {
		if got := Count(v); got != want {
			t.Errorf("Count(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 s", 800 * time.Millisecond: "800 ms", 34 * time.Second: "34 s", 119 * time.Second: "119 s",
		4 * time.Minute: "4 min", 4*time.Minute + 5*time.Second: "4 min 5 s", 34*time.Minute + 5*time.Second: "34 min",
		125 * time.Minute: "2 h 5 min", 26*time.Hour + 5*time.Minute: "26 h", 50 * time.Hour: "2 d 2 h", 240 * time.Hour: "10 d",
		-time.Minute: "-60 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	for s, want := range map[float64]string{1.5: "1 s", 90: "90 s", 7200: "2 h", 1e12: "1.0T s", -3: "-3 s"} {
		if got := Seconds(s); got != want {
			t.Errorf("Seconds(%g) = %q, want %q", s, got, want)
		}
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		r      core.Reading
		want   string
	}{
		{"a number", core.Read(0.5), "50 %"},
		{"what never came is no zero", core.Reading{}, None},
		{"what cannot exist is no zero", core.Absent(core.NotApplicable), None},
		{"an old number is a reason for a hold and named", core.Absent(core.Stale), "stale"},
		{"a part of a number likewise", core.Absent(core.Incomplete), "incomplete"},
	} {
		if got := Reading(c.r, Percent); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"a bcd", 3, "a…"}, {"äöüß", 3, "äö…"}, {"abc", 1, "…"}, {"abc", 0, ""}, {"abc", -1, ""}} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	got := Wrap("one two  three\nfourteen", 8)
	if diff := cmp.Diff([]string{"one two", "three", "fourteen"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSpark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		values []float64
		top    float64
		want   string
	}{
		{"nothing known, nothing drawn", nil, 1, ""},
		{"the scale begins at 0, so that a quiet job looks quiet", []float64{0.5, 0.5}, 1, "▅▅"},
		{"from none to all", []float64{0, 0.25, 0.5, 0.75, 1}, 1, "▁▃▅▆█"},
		{"a dot where nothing was known", []float64{1, math.NaN(), 1}, 1, "█·█"},
		{"only the last ones fit", []float64{1, 1, 1, 1, 1, 1, 0}, 1, "████▁"},
		{"a value above the top makes the scale", []float64{2, 1}, 1, "█▅"},
		{"all zero", []float64{0, 0}, 0, "▁▁"},
	} {
		if got := Spark(c.values, 5, c.top); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := Table{Width: 30, Indent: "  ", Columns: []Column{{Title: "NAME", Max: 8}, {Title: "N", Align: Right}, {Title: "NOTE"}}}
	table.Row("short", "1", "fits")
	table.Row("much too long", "12345", "this note is cut at the end")
	table.Row("gap")
	table.Row("evil\x1b[2J", "x", "\ttabs\nand lines", "and a cell too many")
	var b bytes.Buffer
	n, err := table.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", n, b.Len(), err)
	}
	golden(t, "table", "text stands left, numbers right; long cells are cut visibly; control characters are gone", b.String())
}
