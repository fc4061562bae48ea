package stabilize

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"flinkscaler/core"
)

// ids are the ids of n vertices, as long as Flink's, sorted.
func ids(n int) []string {
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, fmt.Sprintf("%032x", i))
	}
	return out
}

func drawReading(t *rapid.T) core.Reading {
	if rapid.IntRange(0, 5).Draw(t, "there") == 0 {
		return core.Absent(rapid.SampledFrom([]core.ReadingState{core.Missing, core.NotApplicable, core.Stale, core.Incomplete}).Draw(t, "state"))
	}
	return core.Read(rapid.SampledFrom([]float64{0, 1, 90, 1e-3, 12345.678, 1e300, 1.7e308}).Draw(t, "rate"))
}

func drawChanges(t *rapid.T, vertices int) []core.VertexDecision {
	var out []core.VertexDecision
	for _, id := range ids(vertices) {
		from, to := rapid.IntRange(1, 30).Draw(t, "from"), rapid.IntRange(1, 30).Draw(t, "to")
		out = append(out, core.VertexDecision{ID: id, From: from, To: to, Wanted: to, TrueRate: drawReading(t), Load: core.Read(rapid.Float64Range(0, 1).Draw(t, "load"))})
	}
	return out
}

// drawHistory makes changes of the decisions "0" to "4" for some vertices.
func drawHistory(t *rapid.T, vertices int) []core.VertexHistory {
	var out []core.VertexHistory
	for _, id := range ids(vertices) {
		h := core.VertexHistory{ID: id}
		for i := range rapid.IntRange(0, 5).Draw(t, "changes") {
			c := scaled(5*i, fmt.Sprint(i), rapid.IntRange(1, 30).Draw(t, "from"), rapid.IntRange(31, 60).Draw(t, "to"), 0, 0)
			c.Got = rapid.SampledFrom([]int{0, c.To, c.To - 1}).Draw(t, "got")
			c.TrueRate = drawReading(t)
			h.Changes = append(h.Changes, c)
		}
		if len(h.Changes) > 0 {
			out = append(out, h)
		}
	}
	return out
}

func drawRestarts(t *rapid.T) []core.Restart {
	var out []core.Restart
	for i := range rapid.IntRange(0, 12).Draw(t, "restarts") {
		out = append(out, core.Restart{At: at(i), Took: time.Duration(rapid.IntRange(1, 3_600_000).Draw(t, "ms")) * time.Millisecond})
	}
	return out
}

func drawOutcome(t *rapid.T, vertices int) core.Outcome {
	o := core.Outcome{
		Kind:       rapid.SampledFrom([]core.OutcomeKind{core.Applied, core.Partial, core.Rejected, core.Undone, core.Failed, ""}).Draw(t, "kind"),
		DecisionID: fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "decision")), Attempt: rapid.IntRange(1, 9).Draw(t, "attempt"),
		WrittenAt: at(rapid.IntRange(20, 40).Draw(t, "written")), RunningAt: at(rapid.IntRange(20, 59).Draw(t, "running")),
	}
	for _, id := range ids(vertices) {
		if rapid.Bool().Draw(t, "shown") {
			o.Got = append(o.Got, core.VertexSize{ID: id, Parallelism: rapid.IntRange(0, 60).Draw(t, "got")})
		}
	}
	return o
}
