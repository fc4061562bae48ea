package stabilize

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
)

func sizes(pairs ...any) []core.VertexSize {
	var out []core.VertexSize
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, core.VertexSize{ID: pairs[i].(string), Parallelism: pairs[i+1].(int)})
	}
	return out
}

func TestSettleSizes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		kind   core.OutcomeKind
		got    []core.VertexSize
		want   []int // the size that a (10 -> 20) and b (4 -> 2) came to, 0: forgotten
	}{
		"applied":           {"runs at what was wanted", core.Applied, sizes("a", 20, "b", 2), []int{20, 2}},
		"applied, no sizes": {"nothing else was wanted", core.Applied, nil, []int{20, 2}},
		"partial":           {"judged by what was reached (BC-20b)", core.Partial, sizes("a", 12, "b", 2), []int{12, 2}},
		"partly nothing":    {"b stayed where it was", core.Partial, sizes("a", 20, "b", 4), []int{20, 0}},
		"rejected":          {"nothing was written", core.Rejected, nil, []int{0, 0}},
		"rejected, foreign": {"the size is somebody else's work", core.Rejected, sizes("a", 15, "b", 4), []int{0, 0}},
		"undone":            {"the sizes are back", core.Undone, sizes("a", 10, "b", 4), []int{0, 0}},
		"failed, unknown":   {"nothing is known to have been reached", core.Failed, nil, []int{0, 0}},
		"failed, changed":   {"a runs at the new size, though not well", core.Failed, sizes("a", 20, "b", 4), []int{20, 0}},
		"failed, ended":     {"a size of 0 is none", core.Failed, sizes("a", 0, "b", 0), []int{0, 0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := core.Memory{Settled: 6, Changes: []core.VertexHistory{
				history("a", scaled(1, "1-1", 5, 10, 10, 50), scaled(9, "9-9", 10, 20, 0, 90)), history("b", scaled(9, "9-9", 4, 2, 0, 90)),
			}}
			var want []core.VertexHistory
			a, b := history("a", scaled(1, "1-1", 5, 10, 10, 50)), core.VertexHistory{ID: "b"}
			if c.want[0] > 0 {
				a.Changes = append(a.Changes, scaled(9, "9-9", 10, 20, c.want[0], 90))
			}
			want = append(want, a)
			if c.want[1] > 0 {
				b.Changes = append(b.Changes, scaled(9, "9-9", 4, 2, c.want[1], 90))
				want = append(want, b)
			}
			before, _ := json.Marshal(m)
			got := Settle(m, &core.Outcome{Kind: c.kind, DecisionID: "9-9", Attempt: 7, Got: c.got})
			if diff := cmp.Diff(core.Memory{Settled: 7, Changes: want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if after, _ := json.Marshal(m); string(after) != string(before) {
				t.Errorf("the memory given was changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestSettleRestarts(t *testing.T) {
	t.Parallel()
	long := time.Date(2026, 7, 20, 13, 0, 11, 0, time.UTC)
	cases := map[string]struct {
		reason  string
		o       core.Outcome
		restart time.Duration // 0: none
	}{
		"applied":           {"from written to running", core.Outcome{Kind: core.Applied, WrittenAt: at(10), RunningAt: at(52)}, 42 * time.Second},
		"partial":           {"it restarted all the same", core.Outcome{Kind: core.Partial, WrittenAt: at(10), RunningAt: at(11)}, time.Second},
		"not written":       {"the moment is not known", core.Outcome{Kind: core.Applied, RunningAt: at(52)}, 0},
		"not running":       {"the moment is not known", core.Outcome{Kind: core.Applied, WrittenAt: at(10)}, 0},
		"no restart":        {"it runs since before the change", core.Outcome{Kind: core.Partial, WrittenAt: at(10), RunningAt: at(9)}, 0},
		"at once":           {"no clock can tell", core.Outcome{Kind: core.Applied, WrittenAt: at(10), RunningAt: at(10)}, 0},
		"longest":           {"an hour is still one", core.Outcome{Kind: core.Applied, WrittenAt: at(11), RunningAt: long}, time.Hour},
		"longer than that":  {"it waited for something else", core.Outcome{Kind: core.Applied, WrittenAt: at(10), RunningAt: long}, 0},
		"failed":            {"not well afterwards", core.Outcome{Kind: core.Failed, WrittenAt: at(10), RunningAt: at(52)}, 0},
		"rejected":          {"nothing happened", core.Outcome{Kind: core.Rejected, WrittenAt: at(10), RunningAt: at(52)}, 0},
		"the same as known": {"two looks at one restart", core.Outcome{Kind: core.Applied, WrittenAt: at(1), RunningAt: at(5)}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := []core.Restart{{At: at(5), Took: time.Second}}
			want := core.Memory{Settled: 1, Restarts: known}
			if c.restart > 0 {
				want.Restarts = append(want.Restarts[:1:1], core.Restart{At: c.o.RunningAt, Took: c.restart})
			}
			c.o.Attempt = 1
			if diff := cmp.Diff(want, Settle(core.Memory{Restarts: known}, &c.o)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestSettleOnce(t *testing.T) {
	t.Parallel()
	m := core.Memory{Settled: 7, Changes: []core.VertexHistory{history("a", scaled(9, "9-9", 10, 20, 0, 90))}}
	o := &core.Outcome{Kind: core.Rejected, DecisionID: "9-9", Attempt: 7}
	if diff := cmp.Diff(m, Settle(m, o)); diff != "" {
		t.Errorf("attempt 7 was taken in before (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m, Settle(m, nil)); diff != "" {
		t.Errorf("no outcome (-want +got):\n%s", diff)
	}
}

// TestSettleIsIdempotent: again is as once, whatever the outcome, and without
// an entry of that decision only the attempt is noted.
func TestSettleIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := core.Memory{Changes: drawHistory(t, 5), Restarts: drawRestarts(t)}
		o := drawOutcome(t, 5)
		once := Settle(m, &o)
		if diff := cmp.Diff(once, Settle(once, &o)); diff != "" {
			t.Fatalf("(-once +twice):\n%s", diff)
		}
		again := once
		again.Settled = 0
		if diff := cmp.Diff(once, Settle(again, &o)); diff != "" {
			t.Fatalf("even where the attempt was forgotten (-once +twice):\n%s", diff)
		}
		o.DecisionID = "other"
		other := Settle(m, &o)
		if diff := cmp.Diff(m.Changes, other.Changes); diff != "" {
			t.Fatalf("another decision's outcome (-want +got):\n%s", diff)
		}
	})
}
