package core

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOverrideResolve(t *testing.T) {
	t.Parallel()
	topology := Topology{Vertices: []Vertex{
		{ID: "a", Name: "Source: orders", MaxParallelism: 128}, {ID: "b", Name: "map", MaxParallelism: 8}, {ID: "c", Name: "map", MaxParallelism: 128},
		{ID: "d", Name: "done", Finished: true, MaxParallelism: 128},
	}}
	named := func(pairs ...any) Override {
		var o Override
		for i := 0; i < len(pairs); i += 2 {
			o.Vertices = append(o.Vertices, VertexSize{ID: pairs[i].(string), Parallelism: pairs[i+1].(int)})
		}
		return o
	}
	cases := map[string]struct {
		reason   string
		override Override
		want     []VertexSize
		problems []string // parts of each
	}{
		"all":              {"every vertex that is not finished", Override{Parallelism: 4}, []VertexSize{{"a", 4}, {"b", 4}, {"c", 4}}, nil},
		"by id":            {"ids come first", named("c", 5, "b", 8), []VertexSize{{"b", 8}, {"c", 5}}, nil},
		"by name":          {"an exact name", named("Source: orders", 3), []VertexSize{{"a", 3}}, nil},
		"twice the same":   {"by id and by name, agreeing", named("a", 3, "Source: orders", 3), []VertexSize{{"a", 3}}, nil},
		"twice, different": {"what should it be?", named("a", 3, "Source: orders", 4), nil, []string{`override.vertices["Source: orders"]: the same vertex is also set to 3`}},
		"unknown":          {"a name is never guessed", named("orders", 3), nil, []string{`override.vertices["orders"]: no such vertex; there are "Source: orders" (a), "map" (b)`}},
		"two of a name":    {"an id is needed", named("map", 3), nil, []string{"use an id: b, c"}},
		"too large":        {"Flink has a limit per vertex", named("b", 9), nil, []string{`must be between 1 and 8, the max parallelism of "map", got 9`}},
		"all too large":    {"one vertex cannot", Override{Parallelism: 9}, nil, []string{"override.parallelism: must be between 1 and 8"}},
		"zero":             {"nothing runs at 0", named("a", 0), nil, []string{"got 0"}},
		"negative for all": {"every vertex is told", Override{Parallelism: -1}, nil, []string{"got -1", "got -1", "got -1"}},
		"both":             {"all or some", Override{Parallelism: 1, Vertices: []VertexSize{{"a", 2}}}, nil, []string{"not both"}},
		"every problem":    {"all at once", named("x", 1, "b", 99), nil, []string{`["x"]`, `["b"]`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := c.override.Resolve(topology)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("because %s (-want +got):\n%s", c.reason, diff)
			}
			if len(problems) != len(c.problems) {
				t.Fatalf("problems %v; want %d", problems, len(c.problems))
			}
			for i, p := range problems {
				if !strings.Contains(p.String(), c.problems[i]) {
					t.Errorf("problem %q; want %q in it", p, c.problems[i])
				}
			}
		})
	}
}

// TestAJobWithoutVertices: right after its start nothing is known of it, and that is what
// is said.
func TestAJobWithoutVertices(t *testing.T) {
	t.Parallel()
	o := Override{Vertices: []VertexSize{{ID: "map", Parallelism: 3}}}
	if got, problems := o.Resolve(Topology{}); len(got) != 0 || len(problems) != 1 || !strings.Contains(problems[0].String(), "shows no vertices") {
		t.Errorf("got %v, problems %v", got, problems)
	}
}

func TestActive(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC)
	var noPause *Pause
	var noOverride *Override
	for _, c := range []struct {
		reason string
		got    bool
		want   bool
	}{
		{"none", noPause.Active(now) || noOverride.Active(now), false},
		{"for ever", (&Pause{}).Active(now) && (&Override{}).Active(now), true},
		{"still", (&Pause{Until: now.Add(1)}).Active(now) && (&Override{Until: now.Add(1)}).Active(now), true},
		{"just over", (&Pause{Until: now}).Active(now) || (&Override{Until: now}).Active(now), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", c.reason, c.got)
		}
	}
}
