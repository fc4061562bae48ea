package scale

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	j, _ := jobOf(bounded(0, 0, nil), Facts{}, "a g 4->4", "b g 4->4", "c g 4->4", "d g 4->4", "e g 8->8", "f g 4->4", "g g 4->4", "h g 4->4")
	j.edge("d", "b", core.ShipForward)
	j.edge("b", "a", core.ShipForward)
	j.edge("d", "c", core.ShipHash)    // another kind of edge
	j.edge("d", "e", core.ShipForward) // another size: the edge is no FORWARD any more
	j.edge("f", "h", core.ShipForward)
	j.edge("gone", "g", core.ShipForward)
	if diff := cmp.Diff([][]string{{"a", "b", "d"}, {"f", "h"}}, Groups(j.Topology)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Groups(core.Topology{}); got != nil {
		t.Errorf("%v of no vertices", got)
	}
}

func TestEqualise(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		vertices []string
		hardMax  int
		change   func(*Job)
		want     string
		why      core.Reason // of a
	}{
		"equal already":          {"nothing to do", []string{"a g 4->8", "b g 4->8"}, 0, nil, "a 8, b 8", ""},
		"one grows":              {"the other follows", []string{"a g 4->4", "b g 4->8"}, 0, nil, "a 8, b 8", core.ReasonScaleUp},
		"both grow":              {"the largest", []string{"a g 4->6", "b g 4->8"}, 0, nil, "a 8, b 8", core.ReasonScaleUp},
		"one may be smaller":     {"what stays may lack evidence: none gets smaller", []string{"a g 8->4", "b g 8->8"}, 0, nil, "a 8, b 8", core.ReasonWithinTarget},
		"both may be smaller":    {"no smaller than any may be", []string{"a g 8->4", "b g 8->6"}, 0, nil, "a 6, b 6", core.ReasonScaleDown},
		"one up, one down":       {"the larger wish wins", []string{"a g 8->4", "b g 8->12"}, 0, nil, "a 12, b 12", core.ReasonScaleUp},
		"one must not change":    {"nor do the others", []string{"a g 4->8", "b g 4->4 held"}, 0, nil, "a 4, b 4", core.ReasonWithinTarget},
		"an order waits as well": {"excluded wins over the hard limit", []string{"a g 8->6", "b g 8->8 held"}, 6, nil, "a 8, b 8", core.ReasonWithinTarget},
		"as far as all can": {"b has 6 key groups", []string{"a g 4->8", "b g 4->4"}, 0, func(j *Job) {
			j.change("b", func(v *core.Vertex) { v.MaxParallelism = 6 })
		}, "a 6, b 6", core.ReasonScaleUp},
		"one cannot": {"b would go to its 3 partitions, a needs 4", []string{"a g 4->8", "b g 4->3"}, 0, func(j *Job) {
			j.change("b", func(v *core.Vertex) { v.Partitions = 3 })
		}, "a 4, b 4", core.ReasonWithinTarget},
		"another edge": {"sizes may differ", []string{"a g 4->8", "b g 4->4"}, 0, func(j *Job) {
			j.change("b", func(v *core.Vertex) { v.Inputs[0].Ship = core.ShipHash })
		}, "a 8, b 4", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, d := jobOf(bounded(0, c.hardMax, nil), Facts{}, c.vertices...)
			j.edge("a", "b", core.ShipForward)
			if c.change != nil {
				c.change(&j)
			}
			Equalise(d, j)
			if got := sizes(d); got != c.want || d[0].Why != c.why {
				t.Errorf("%s: %s, a is %q; want %s, %q", c.reason, got, d[0].Why, c.want, c.why)
			}
			for _, x := range d {
				if n := len(x.Steps); n > 0 && (x.Steps[n-1].To != x.To || x.Steps[n-1].By != ByForward || x.Steps[n-1].Note == "") {
					t.Errorf("%s: steps %+v do not tell of %d", x.ID, x.Steps, x.To)
				}
			}
		})
	}
}

// TestEqualiseTellsWhatIsWanted: a vertex outside of its bounds that must stay
// for another is at a limit, not within its target.
func TestEqualiseTellsWhatIsWanted(t *testing.T) {
	t.Parallel()
	j, d := jobOf(bounded(0, 0, nil), Facts{}, "a g 4->8", "b g 4->4 held")
	j.edge("a", "b", core.ShipForward)
	d[0].Outside = true
	Equalise(d, j)
	want := core.VertexDecision{ID: "a", From: 4, To: 4, Wanted: 8, Outside: true, Why: core.ReasonAtLimit, Steps: []core.Step{{By: ByForward, To: 4, Note: "joined to b, which must not change"}}}
	if diff := cmp.Diff(want, d[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
