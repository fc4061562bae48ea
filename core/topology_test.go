package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrderedEndsOnAnyGraph(t *testing.T) {
	t.Parallel()
	v := func(id string, from ...string) Vertex {
		x := Vertex{ID: id}
		for _, f := range from {
			x.Inputs = append(x.Inputs, Edge{From: f})
		}
		return x
	}
	cases := map[string]struct {
		reason string
		given  []Vertex
		want   []string
	}{
		"chain":        {"inputs first", []Vertex{v("a", "b"), v("b", "c"), v("c")}, []string{"c", "b", "a"}},
		"diamond":      {"ties by id", []Vertex{v("a", "b", "c"), v("b", "d"), v("c", "d"), v("d")}, []string{"d", "b", "c", "a"}},
		"cycle":        {"what Flink never makes comes last", []Vertex{v("a", "b"), v("b", "a"), v("c")}, []string{"c", "a", "b"}},
		"same id":      {"twice the same vertex is no reason to hang", []Vertex{v("a"), v("a"), v("b", "a")}, []string{"a", "a", "b"}},
		"from nowhere": {"an input that is not there holds nothing up", []Vertex{v("a", "x")}, []string{"a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, x := range (Topology{Vertices: c.given}).Ordered() {
				got = append(got, x.ID)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("because %s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
