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
  has to do 10000/s; busy 100 %; could do 10000/s at full load
  gets more below 10000.5/s, fewer above 26667/s: outside; a new size is chosen for 15952/s
  10 x 15952 / 10000 = 15.952, rounded up 16
  then 15 by job.autoscaler.vertex.max-parallelism: at most 15

zz: stays at 1, within-target
`
	if diff := cmp.Diff(want, d.Text(topology)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTextIsNarrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 400, -1)
		d := Decision{Verdict: Hold, Reason: ReasonInternal, Note: text.Draw(t, "note"), Vertices: []VertexDecision{{ID: text.Draw(t, "id"), Note: text.Draw(t, "why")}}}
		for _, line := range strings.Split(d.Text(Topology{}), "\n") {
			if n := utf8.RuneCountInString(line); n > columns {
				t.Fatalf("%d columns: %q", n, line)
			}
		}
	})
}
