package core_test

import (
	"testing"

	"flinkscaler/core"
)

func TestSlotsHeld(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{
		{ID: "a", Parallelism: 2, SlotGroup: "x"}, {ID: "b", Parallelism: 3, SlotGroup: "x"}, {ID: "c", Parallelism: 4, SlotGroup: "y"},
	}}
	asks := func(b ...core.Bounds) []core.Sample { return []core.Sample{{}, {Asked: true, Wanted: b}} }
	for name, tt := range map[string]struct {
		reason string
		window []core.Sample
		want   int
	}{
		"unknown":    {"each slot sharing group takes as many as its largest vertex", nil, 7},
		"not read":   {"a look that did not ask says nothing of it", []core.Sample{{Wanted: core.Requirements{{ID: "b", Lower: 1, Upper: 9}}}}, 7},
		"as it runs": {"what runs is asked for", asks(), 7},
		"more":       {"Flink goes there by itself", asks(core.Bounds{ID: "a", Lower: 1, Upper: 5}), 9},
		"less":       {"what runs counts until it is gone", asks(core.Bounds{ID: "c", Lower: 1, Upper: 1}), 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (core.JobContext{Topology: topology, Window: tt.window}).SlotsHeld(); got != tt.want {
				t.Errorf("%s: %d, want %d", tt.reason, got, tt.want)
			}
		})
	}
	if n := topology.Slots([]core.VertexSize{{ID: "a", Parallelism: 2}, {ID: "b", Parallelism: 2}, {ID: "c", Parallelism: 5}}); n != 7 {
		t.Errorf("2, 2 and 5 take %d slots", n)
	}
}
