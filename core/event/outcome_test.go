package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func sized(p int) []core.VertexSize {
	return []core.VertexSize{{ID: source, Parallelism: p}, {ID: sink, Parallelism: 1}}
}

func undone() core.Outcome {
	return core.Outcome{
		Kind: core.Undone, Reason: core.ReasonJobFailing, Cause: core.ReasonScaleUp, DecisionID: "7-1", Attempt: 3, EndedAt: noon(),
		From: sized(2), Wanted: sized(4), Got: sized(2), Note: "3 failures; undone: every vertex runs at the wanted size",
	}
}

func TestOfOutcome(t *testing.T) {
	t.Parallel()
	but := func(change func(*core.Outcome)) core.Outcome {
		o := undone()
		change(&o)
		return o
	}
	for name, tt := range map[string]struct {
		reason string
		o      core.Outcome
		want   string
	}{
		"undone": {"an alarm with what was wanted and what runs", undone(),
			"RescaleUndone/7-1/3: scale-up ended as undone (job-failing); vertex " + source + ": 2 -> 4, runs at 2; 3 failures; undone: every vertex runs at the wanted size; see the note, and the JobManager's log"},
		"failed": {"somebody has to look", but(func(o *core.Outcome) {
			o.Kind, o.Reason, o.Got, o.Note = core.Failed, core.ReasonUnreachable, nil, "written, but what came of it could not be read"
		}), "RescaleFailed/7-1/3: scale-up ended as failed (unreachable); vertex " + source + ": 2 -> 4; written, but what came of it could not be read; check address, network and JobManager"},
		"an undo of its own": {"the change before was not well", but(func(o *core.Outcome) {
			o.Kind, o.Cause, o.Reason, o.From, o.Wanted, o.Got, o.Note = core.Applied, core.ReasonUndo, core.ReasonLagObjective, sized(2), sized(4), sized(4), "late"
		}), "RescaleUndone/7-1/3: undo ended as applied (lag-objective); vertex " + source + ": 2 -> 4; late; see the note; a smaller size is not tried again for a while"},
		"an undo in part": {"it is an undo all the same", but(func(o *core.Outcome) {
			o.Kind, o.Cause, o.Reason, o.Got = core.Partial, core.ReasonUndo, core.ReasonNoSlots, sized(3)
		}), "RescaleUndone/7-1/3: undo ended as partial (no-slots); vertex " + source + ": 2 -> 4, runs at 3; 3 failures; undone: every vertex runs at the wanted size; add TaskManagers"},
		"an undo that failed": {"worse", but(func(o *core.Outcome) { o.Kind, o.Cause = core.Failed, core.ReasonUndo }),
			"RescaleFailed/7-1/3: undo ended as failed (job-failing); vertex " + source + ": 2 -> 4, runs at 2; 3 failures; undone: every vertex runs at the wanted size; see the note, and the JobManager's log"},
		"an undo not attempted": {"it is held and tried again, and told as that", but(func(o *core.Outcome) { o.Kind, o.Cause = core.Rejected, core.ReasonUndo }), ""},
		"without anything":      {"an outcome of which nothing is known", core.Outcome{Kind: core.Failed}, "RescaleFailed//0: rescale ended as failed"},
		"applied":               {"all is well", but(func(o *core.Outcome) { o.Kind = core.Applied }), ""},
		"partial":               {"the wait for slots is told as a hold", but(func(o *core.Outcome) { o.Kind = core.Partial }), ""},
		"rejected":              {"nothing happened; the hold tells why", but(func(o *core.Outcome) { o.Kind = core.Rejected }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, e := range OfOutcome(tt.o) {
				got += e.Key + ": " + e.Message
				if !e.Warning || e.Kind != core.EventOutcome || e.DecisionID != tt.o.DecisionID || !e.At.Equal(tt.o.EndedAt) {
					t.Errorf("event %+v", e)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestAnOutcomeOfAHugeJobIsNoHugeEvent: some vertices are named, the others
// counted.
func TestAnOutcomeOfAHugeJobIsNoHugeEvent(t *testing.T) {
	t.Parallel()
	o := core.Outcome{Kind: core.Failed}
	for i := range 300 {
		id := fmt.Sprintf("%032d", i)
		o.From, o.Wanted = append(o.From, core.VertexSize{ID: id, Parallelism: 1}), append(o.Wanted, core.VertexSize{ID: id, Parallelism: 2})
	}
	if m := OfOutcome(o)[0].Message; strings.Count(m, "vertex ") != maxPerVertex || !strings.HasSuffix(m, ", 280 more") {
		t.Error(m)
	}
}
