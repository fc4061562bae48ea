package event

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

const (
	source = "1b51e99e55e89e404d9a0443fd98d9e2"
	sink   = "9aa63eb0b9b9bf5bb8d1d5f0e8b2e9a1"
)

func read(x float64) core.Reading { return core.Read(x) }

func idle() core.Reading { return core.Absent(core.NotApplicable) }

// TestParallelismHash: the numbers are those that Java's hash codes give.
func TestParallelismHash(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason  string
		entries []Entry
		want    string
	}{
		"one to two":   {"a vector of the Java autoscaler", []Entry{{ID: source, From: 1, To: 2}}, "1286380436"},
		"one to three": {"another size is another hash", []Entry{{ID: source, From: 1, To: 3}}, "1286380437"},
		"other rates":  {"rates have no part in it", []Entry{{ID: source, From: 1, To: 2, Target: read(7)}}, "1286380436"},
		"nothing":      {"the hash code of an empty map", nil, "0"},
	} {
		if got := ParallelismHash(tt.entries); got != tt.want {
			t.Errorf("%s: %s: got %s, want %s", name, tt.reason, got, tt.want)
		}
	}
	a, b := Entry{ID: source, From: 1, To: 2}, Entry{ID: sink, From: 4, To: 2}
	if one, other := ParallelismHash([]Entry{a, b}), ParallelismHash([]Entry{b, a}); one != other {
		t.Errorf("the order of vertices matters: %s, %s", one, other)
	}
	if got, want := javaHash("Parallelism 1 -> 2"), javaHash("Parallelism 1 -> 3")-1; got != want {
		t.Errorf("a text that ends one letter on has the hash %d; want one more, %d", got, want)
	}
	if got := javaHash("\U0001F600"); got != 31*0xD83D+0xDE00 {
		t.Errorf("a letter outside of 16 bits counts as its two halves, got %d", got)
	}
}

// TestEntry: the form is an interface that programs parse.
func TestEntry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		entry  Entry
		want   string
	}{
		"plain": {"the Java autoscaler's example", Entry{source, 1, 2, read(100), read(200), read(110)},
			"{ Vertex ID " + source + " | Parallelism 1 -> 2 | Processing capacity 100.00 -> 200.00 | Target data rate 110.00}"},
		"idle": {"no bound is Infinity, as in Java", Entry{source, 4, 1, idle(), idle(), read(0)},
			"{ Vertex ID " + source + " | Parallelism 4 -> 1 | Processing capacity Infinity -> Infinity | Target data rate 0.00}"},
		"by order": {"an override needs no rates", Entry{source, 4, 1, core.Reading{}, core.Reading{}, idle()},
			"{ Vertex ID " + source + " | Parallelism 4 -> 1 | Processing capacity NaN -> NaN | Target data rate NaN}"},
	} {
		if diff := cmp.Diff(tt.want, tt.entry.String()); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tt.reason, diff)
		}
	}
}

func TestTwoPlaces(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{
		0: "0.00", 7: "7.00", 0.5: "0.50", 0.125: "0.13", 1.005: "1.01", 0.004: "0.00", 0.005: "0.01", 9.999: "10.00", 99.995: "100.00",
		1234567.891: "1234567.89", 1e15: "1000000000000000.00", 1e22: "10000000000000000000000.00", -1.005: "-1.01", 1e-300: "0.00", 2.675: "2.68",
	} {
		if got := twoPlaces(x); got != want {
			t.Errorf("%g: got %s, want %s", x, got, want)
		}
	}
}

// TestReportRoundTrip: what is written can be read again, up to the two
// decimals.
func TestReportRoundTrip(t *testing.T) {
	t.Parallel()
	entries := []Entry{
		{source, 1, 2, read(100.25), read(200.5), read(110)},
		{sink, 4, 1, idle(), idle(), read(0)},
		{"00000000000000000000000000000001", 3, 9, core.Reading{}, core.Reading{}, core.Reading{}},
	}
	text := report("scale-up begins:", entries)
	got, err := ParseReport(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", text, diff)
	}
	together := strings.ReplaceAll(text, "} {", "}{")
	if got, err = ParseReport(strings.Replace(together, "Infinity", "+Inf", 1)); err != nil || !cmp.Equal(entries, got) {
		t.Errorf("entries without a space between, and +Inf: %v, %v", got, err)
	}
}

func TestHalfAReportIsNone(t *testing.T) {
	t.Parallel()
	good := Entry{source, 1, 2, read(1), read(2), read(3)}.String()
	for name, text := range map[string]string{
		"no entry":       "scale-up begins:",
		"cut":            good + " " + good[:len(good)-9],
		"comma":          strings.Replace(good, "3.00", "3,00", 1),
		"huge size":      strings.Replace(good, "1 -> 2", "1 -> 99999999999999999999", 1),
		"word as number": strings.Replace(good, "1.00", "much", 1),
	} {
		if got, err := ParseReport(text); err == nil {
			t.Errorf("%s: %q is read as %v", name, text, got)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add(1, 2, 100.0, 110.0)
	f.Add(4, 1, math.Inf(1), 0.0)
	f.Add(1, 1, 0.005, 1e300)
	f.Fuzz(func(t *testing.T, from, to int, rate, target float64) {
		e := Entry{source, max(0, from), max(0, to), read(math.Abs(rate)), read(math.Abs(rate) / 2), read(math.Abs(target))}
		got, err := ParseReport(report("x:", []Entry{e}))
		if err != nil {
			t.Fatal(err)
		}
		if again := got[0].String(); again != e.String() {
			t.Errorf("written %s, read and written again %s", e, again)
		}
	})
}
