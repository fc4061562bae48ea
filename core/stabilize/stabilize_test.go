package stabilize

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
)

func at(second int) time.Time {
	return time.Date(2026, 7, 20, 12, 0, second, 0, time.UTC)
}

func entry(parallelism, second int, outside bool) core.DelayedEntry {
	return core.DelayedEntry{At: at(second), Parallelism: parallelism, Outside: outside}
}

func TestLargestOfTheWindow(t *testing.T) {
	t.Parallel()
	var d Delays
	for _, e := range []core.DelayedEntry{entry(5, 0, true), entry(9, 1, false), entry(4, 2, true), entry(5, 3, true), entry(6, 4, true)} {
		if v := d.Record("v", e); !v.First.Equal(at(0)) {
			t.Errorf("the delay begins at %s; want second 0, when smaller was first wanted", v.First)
		}
	}
	for from, want := range []core.DelayedEntry{entry(9, 1, false), entry(9, 1, false), entry(6, 4, true), entry(6, 4, true), entry(6, 4, true)} {
		if got, ok := d.Largest("v", at(from)); !ok || got != want {
			t.Errorf("from second %d: %+v, %v; want %+v", from, got, ok, want)
		}
	}
	if e, ok := d.Largest("v", at(5)); ok {
		t.Errorf("a window after the newest entry gives %+v; want none", e)
	}
	if _, ok := d.Largest("w", at(0)); ok {
		t.Error("a vertex that does not wait has no entry")
	}
}

func TestLargestSlides(t *testing.T) {
	t.Parallel()
	var d Delays
	steps := []struct {
		record core.DelayedEntry
		from   int
		want   core.DelayedEntry
	}{
		{entry(5, 0, true), 0, entry(5, 0, true)},
		{entry(8, 1, true), 0, entry(8, 1, true)},
		{entry(6, 2, true), 0, entry(8, 1, true)},
		{entry(4, 3, true), 0, entry(8, 1, true)},
		{entry(3, 4, true), 1, entry(8, 1, true)},
		{entry(3, 5, true), 2, entry(6, 2, true)},
		{entry(3, 6, true), 3, entry(4, 3, true)},
		{entry(3, 7, true), 4, entry(3, 7, true)}, // an equal wish refreshes the time
		{entry(9, 9, true), 7, entry(9, 9, true)},
	}
	for _, s := range steps {
		d.Record("v", s.record)
		if got, _ := d.Largest("v", at(s.from)); got != s.want {
			t.Errorf("after %+v, from second %d: %+v; want %+v", s.record, s.from, got, s.want)
		}
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	type look struct {
		second, parallelism int
		outside             bool
		to                  int
	}
	cases := map[string]struct {
		reason string
		before []core.DelayedEntry
		looks  []look
	}{
		"a whole delay": {"the largest wish of the last 60 s", nil, []look{
			{0, 80, false, 100}, {10, 90, false, 100}, {59, 64, true, 100}, {60, 70, false, 90},
		}},
		"a larger wish takes over": {"with its own flag", nil, []look{{0, 50, true, 100}, {30, 60, true, 100}, {65, 60, true, 60}}},
		"as large as now":          {"the largest wish of the delay is the size now", []core.DelayedEntry{entry(100, 5, true)}, []look{{65, 80, false, 100}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d Delays
			for _, e := range c.before {
				d.Record("v", e)
			}
			for _, l := range c.looks {
				if got := d.Down("v", 100, entry(l.parallelism, l.second, l.outside), time.Minute); got.To != l.to {
					t.Errorf("second %d: %d; want %d: %s", l.second, got.To, l.to, c.reason)
				}
			}
		})
	}
	var d Delays
	if got := d.Down("v", 10, entry(5, 0, true), 0); got.To != 5 || d.Store() != nil {
		t.Errorf("without a delay: %+v, remembered %v; want 5 at once and nothing", got, d.Store())
	}
}

func TestClearBeginsAnew(t *testing.T) {
	t.Parallel()
	var d Delays
	d.Record("b", entry(5, 0, true))
	d.Record("a", entry(6, 1, true))
	d.Clear("b")
	if v := d.Record("b", entry(5, 7, true)); !v.First.Equal(at(7)) {
		t.Errorf("after Clear the delay begins at %s; want second 7", v.First)
	}
	want := []core.DelayedDown{
		{ID: "a", First: at(1), Entries: []core.DelayedEntry{entry(6, 1, true)}},
		{ID: "b", First: at(7), Entries: []core.DelayedEntry{entry(5, 7, true)}},
	}
	if diff := cmp.Diff(want, d.Store()); diff != "" {
		t.Errorf("sorted by id (-want +got):\n%s", diff)
	}
	d.Clear("a")
	d.ClearAll()
	if d.Store() != nil {
		t.Errorf("%v left", d.Store())
	}
}

func TestLoadDoesNotShare(t *testing.T) {
	t.Parallel()
	m := core.Memory{Delayed: []core.DelayedDown{{ID: "v", First: at(0), Entries: []core.DelayedEntry{entry(9, 0, true), entry(5, 1, true)}}}}
	d := Load(m)
	d.Record("v", entry(7, 2, true))
	d.Freeze(at(500), time.Second, 3*time.Second)
	want := []core.DelayedEntry{entry(9, 0, true), entry(5, 1, true)}
	if diff := cmp.Diff(want, m.Delayed[0].Entries); diff != "" {
		t.Errorf("the memory given was changed (-want +got):\n%s", diff)
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	var d Delays
	d.Record("v", entry(9, 0, true))
	d.Record("v", entry(5, 10, true))
	d.Freeze(at(40), 10*time.Second, 30*time.Second)
	if v := d.Store()[0]; !v.First.Equal(at(0)) {
		t.Errorf("a gap of three cycles moved the delay to %s", v.First)
	}
	// BC-01: 90 s without evidence do not count.
	d.Freeze(at(110), 10*time.Second, 30*time.Second)
	want := core.DelayedDown{ID: "v", First: at(90), Entries: []core.DelayedEntry{entry(9, 90, true), entry(5, 100, true)}}
	if diff := cmp.Diff(want, d.Store()[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRetain(t *testing.T) {
	t.Parallel()
	var d Delays
	d.Record("a", entry(1, 0, true))
	d.Record("b", entry(1, 0, true))
	d.Retain(core.Topology{Vertices: []core.Vertex{{ID: "b"}}})
	if s := d.Store(); len(s) != 1 || s[0].ID != "b" {
		t.Errorf("%v; want b alone", s)
	}
	d.Retain(core.Topology{})
	if d.Store() != nil {
		t.Errorf("%v; want none", d.Store())
	}
}

func TestThin(t *testing.T) {
	t.Parallel()
	have := []core.DelayedEntry{entry(9, 0, true), entry(8, 10, false), entry(7, 12, true), entry(6, 30, true), entry(5, 31, false)}
	want := []core.DelayedEntry{entry(9, 0, true), entry(8, 12, false), entry(6, 30, true), entry(5, 31, false)}
	if diff := cmp.Diff(want, thin(have, 4)); diff != "" {
		t.Errorf("8 stands for 7 too; the newest stays, close as it is (-want +got):\n%s", diff)
	}
}

// TestWishesAreBounded is I10: loads that fall all through a long delay.
func TestWishesAreBounded(t *testing.T) {
	t.Parallel()
	var many, one Delays
	for second := range 60 {
		one.Record("v", entry(100-second, second, true))
		for _, id := range ids(300) {
			many.Record(id, entry(100-second, second, true))
		}
	}
	n := 0
	for _, v := range many.Store() {
		n += len(v.Entries)
	}
	if n != mostWishes {
		t.Errorf("%d entries for 300 vertices; want %d", n, mostWishes)
	}
	if n := len(one.Store()[0].Entries); n != 60 {
		t.Errorf("%d entries for one vertex; want all 60", n)
	}
}

// TestThinNeverMakesSmaller: for every window, what is left asks for at least
// as much, and no entry is added.
func TestThinNeverMakesSmaller(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all, few Delays
		p := 1000
		for second := range rapid.IntRange(1, 59).Draw(t, "looks") {
			p -= rapid.IntRange(-3, 9).Draw(t, "less")
			all.Record("v", entry(p, second, true))
			few.Record("v", entry(p, second, true))
			few.vertices[0].Entries = thin(few.vertices[0].Entries, 4)
		}
		if n := len(few.vertices[0].Entries); n > 4 {
			t.Fatalf("%d entries left; want at most 4", n)
		}
		for from := range 60 {
			a, okA := all.Largest("v", at(from))
			f, okF := few.Largest("v", at(from))
			if okA != okF || f.Parallelism < a.Parallelism {
				t.Fatalf("from second %d: %d %v of few entries, %d %v of all", from, f.Parallelism, okF, a.Parallelism, okA)
			}
		}
	})
}
