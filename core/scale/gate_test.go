package scale

import (
	"testing"

	"flinkscaler/core"
)

func TestGateIsAllOrNothing(t *testing.T) {
	t.Parallel()
	both := func(outside bool) []core.VertexDecision {
		return []core.VertexDecision{{ID: "a", From: 10, To: 12, Wanted: 12}, {ID: "b", From: 10, To: 8, Wanted: 8, Outside: outside}}
	}
	v := both(false)
	Gate(v)
	if v[0].To != 10 || v[1].To != 10 || v[0].Wanted != 12 || v[0].Why != core.ReasonWithinTarget {
		t.Errorf("none outside: %+v; want no change, but what was wanted still there", v)
	}
	v = both(true)
	Gate(v)
	if v[0].To != 12 || v[1].To != 8 {
		t.Errorf("one outside: %+v; want both changes", v)
	}
	v = []core.VertexDecision{{ID: "a", From: 10, To: 12}, {ID: "b", From: 10, To: 10, Outside: true}}
	Gate(v)
	if v[0].To != 10 {
		t.Errorf("a vertex outside that does not change drags no other along: %+v", v)
	}
}
