package strategy

import (
	"strings"
	"testing"

	"flinkscaler/core"
)

// TestTurnForSlots goes through what can be known of a change of two vertices in two slot
// sharing groups.
func TestTurnForSlots(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 4, SlotGroup: "x"}, {ID: "b", Parallelism: 2, SlotGroup: "y"}}}
	for name, tt := range map[string]struct {
		reason string
		turn   *core.Turn
		cause  core.Reason
		a, b   int
		held   bool
		says   string
	}{
		"off":        {"nothing is shared", nil, core.ReasonScaleUp, 6, 2, false, ""},
		"larger":     {"it waits", &core.Turn{}, core.ReasonScaleUp, 6, 2, true, "needs 2 slots besides its 6 of those that the jobs of the cluster share: they are going to be asked for; would do: a note"},
		"waiting":    {"and says where", &core.Turn{Standing: "place 1 of 2"}, core.ReasonScaleUp, 6, 2, true, "place 1 of 2; would do"},
		"given":      {"all that it needs", &core.Turn{Granted: 8}, core.ReasonScaleUp, 6, 2, false, ""},
		"given less": {"not all that it needs", &core.Turn{Granted: 7}, core.ReasonScaleUp, 6, 2, true, ""},
		"exchanged":  {"what one group gives back the other takes", &core.Turn{}, core.ReasonScaleUp, 5, 1, false, ""},
		"smaller":    {"it waits for nobody", &core.Turn{}, core.ReasonScaleDown, 3, 2, false, ""},
		"order":      {"a person's order waits too", &core.Turn{}, core.ReasonOverride, 6, 2, true, ""},
		"undo":       {"the job is not well: it goes back at once", &core.Turn{}, core.ReasonUndo, 6, 2, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &cycle{ctx: core.JobContext{Topology: topology, Turn: tt.turn}, d: core.Decision{
				Verdict: core.Change, Reason: tt.cause, Note: "a note",
				Vertices: []core.VertexDecision{{ID: "a", From: 4, To: tt.a}, {ID: "b", From: 2, To: tt.b}},
			}}
			if held := c.turn(); held != tt.held || (held && (c.d.Verdict != core.Hold || c.d.Reason != core.ReasonSlotsShared || c.d.Needs != 8 || c.d.Vertices[0].To != 4)) {
				t.Errorf("%s: held %v: %+v", tt.reason, held, c.d)
			}
			if !strings.Contains(c.d.Note, tt.says) || (!tt.held && (c.d.Reason != tt.cause || c.d.Needs != 0)) {
				t.Errorf("%s: %s, needs %d: %s", tt.reason, c.d.Reason, c.d.Needs, c.d.Note)
			}
		})
	}
}
