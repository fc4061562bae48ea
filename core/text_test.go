package core

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	t.Parallel()
	topology := Topology{Vertices: []Vertex{
		{ID: "a1", Name: "map", Inputs: []Edge{{From: "b2"}}}, {ID: "b2", Name: "Source: " + strings.Repeat("orders ", 12)},
	}}
	d := Decision{
		ID: "12-1784548800", At: time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC), Strategy: "flink", Verdict: Change, Reason: ReasonScaleUp,
		Note: "map 10 -> 15: has to do 10000/s, could do 10000/s", Samples: 16, Span: 15 * time.Minute,
		Vertices: []VertexDecision{
			{
				ID: "a1", From: 10, To: 15, Wanted: 15, TrueRate: Read(10000), TargetRate: Read(10000), CatchUpRate: Read(0), UpBelow: Read(10000.5), DownAbove: Read(26667),
				Capacity: Read(15952), Load: Read(1), Lag: Absent(NotApplicable), Outside: true, Why: ReasonScaleUp,
				Steps: []Step{{By: "formula", To: 16}, {By: "job.autoscaler.vertex.max-parallelism", To: 15, Note: "at most 15"}},
			},
			{ID: "b2", From: 4, To: 4, Wanted: 4, Why: ReasonExcluded, Note: "finished"},
			{ID: "zz", From: 1, To: 1, Wanted: 1, Why: ReasonWithinTarget},
		},
	}
	want := `change: scale-up
  map 10 -> 15: has to do 10000/s, could do 10000/s
  decision 12-1784548800 at 2026-07-20 12:00:00 UTC, strategy flink, 16 samples over 15m0s

Source: orders orders orders orders orders orders… (b2): stays at 4, excluded-vertex
  finished

map (a1): 10 -> 15, scale-up
  has to do 10000/s; busy 100 % with about 10000/s; could do 10000/s at full load
  gets more below 10000.5/s: outside
  gets fewer above 26667/s
  a new size is chosen for 15952/s
  10 x 15952 / 10000 = 15.952, rounded up 16
  then 15 by job.autoscaler.vertex.max-parallelism: at most 15

zz: stays at 1, within-target
`
	if diff := cmp.Diff(want, d.Text(topology, Terms{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTextIsNarrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 400, -1)
		d := Decision{Verdict: Hold, Reason: ReasonInternal, Note: text.Draw(t, "note"), Vertices: []VertexDecision{{ID: text.Draw(t, "id"), Note: text.Draw(t, "why")}}}
		for _, line := range strings.Split(d.Text(Topology{}, Terms{}), "\n") {
			if n := utf8.RuneCountInString(line); n > columns {
				t.Fatalf("%d columns: %q", n, line)
			}
		}
	})
}

// TestTextCanBeDoneAgain: each number of a sum is there, and the sum comes to
// what is said.
func TestTextCanBeDoneAgain(t *testing.T) {
	t.Parallel()
	terms := Terms{Wanted: 0.75, Most: 0.9, Least: 0.45, Restart: 4 * time.Second, CatchUp: 30 * time.Second}
	quiet := VertexDecision{
		ID: "a", From: 4, To: 4, Wanted: 2, TrueRate: Read(4000), TargetRate: Read(799.822), CatchUpRate: Read(0), UpBelow: Read(889), DownAbove: Read(1884), Capacity: Read(1173),
		Load: Read(0.2), Outside: true, Why: ReasonDownDelayed, Steps: []Step{{By: "formula", To: 2}, {By: "job.autoscaler.scale-down.interval", To: 4, Note: "not before 17:11:36 UTC"}},
	}
	behind := VertexDecision{
		ID: "a", From: 2, To: 3, Wanted: 3, TrueRate: Read(1500), TargetRate: Read(1000), CatchUpRate: Read(333.333), Lag: Read(10000), UpBelow: Read(1333), DownAbove: Absent(NotApplicable), Capacity: Read(1800),
		Load: Read(0.987), Observed: true, Outside: false, Why: ReasonScaleUp,
	}
	for name, tt := range map[string]struct {
		reason  string
		v       VertexDecision
		restart time.Duration
		want    string
	}{
		"quiet": {"every sum, with its rounding", quiet, 0, `  sums are made with a utilization of 0.75, at least 0.45 and at most 0.9; a restart of 4 s and a
    catch-up.duration of 30 s; rates are rounded to whole records

a: stays at 4, scale-down-delayed
  has to do 799.822/s; busy 20 % with about 800/s; could do 4000/s at full load
  a restart leaves 799.822 x 4 s / 30 s = 106.643/s to work off
  gets more below 889/s = 799.822 / 0.9
  gets fewer above 1884/s = 799.822 / 0.45 + 106.643: outside
  a new size is chosen for 1173/s = 799.822 / 0.75 + 106.643
  4 x 1173 / 4000 = 1.173, rounded up 2
  then 4 by job.autoscaler.scale-down.interval: not before 17:11:36 UTC
`},
		"behind": {"under a backlog all of the busy time counts, and the rate is the one that was seen", behind, 0, `
a: 2 -> 3, scale-up
  has to do 1000/s with a lag of 10000 and 10000 / 30 s = 333.333/s to catch up; busy 98.7 %; was
    seen to do 1500/s, which counts as its rate at full load
  a restart leaves 1000 x 4 s / 30 s = 133.333/s to work off
  gets more below 1333/s = 1000 / 1 + 333.333
  never fewer now
  a new size is chosen for 1800/s = 1000 / 0.75 + 333.333 + 133.333
  2 x 1800 / 1500 = 2.4, rounded up 3
`},
		"measured": {"a restart that was measured goes before the policy's; a sum that does not come to the number is left out", quiet, 8 * time.Second, `
  a restart leaves 799.822 x 8 s / 30 s = 213.286/s to work off
  gets more below 889/s = 799.822 / 0.9
  gets fewer above 1884/s: outside
  a new size is chosen for 1173/s
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Decision{Verdict: Hold, Reason: tt.v.Why, Vertices: []VertexDecision{tt.v}, RestartTime: tt.restart}
			if got := d.Text(Topology{}, terms); !strings.Contains(got, tt.want) {
				t.Errorf("%s:\n%s\nwant in it\n%s", tt.reason, got, tt.want)
			}
		})
	}
}

func TestAbout(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{799.96: "800", 12345: "12300", 0.01234: "0.012", 0: "0", 3: "3"} {
		if got := about(x); got != want {
			t.Errorf("about(%v) = %s; want %s", x, got, want)
		}
	}
}
