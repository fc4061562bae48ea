package stabilize

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func scaled(second int, decision string, from, to, got int, rate float64) core.Scaled {
	return core.Scaled{At: at(second), DecisionID: decision, From: from, To: to, Got: got, TrueRate: core.Read(rate)}
}

func history(id string, changes ...core.Scaled) core.VertexHistory {
	return core.VertexHistory{ID: id, Changes: changes}
}

// resize is a vertex of a decision that changes it.
func resize(id string, from, to int, rate float64) core.VertexDecision {
	return core.VertexDecision{ID: id, From: from, To: to, Wanted: to, TrueRate: core.Read(rate)}
}

func change(id string, vertices ...core.VertexDecision) core.Decision {
	return core.Decision{ID: id, Verdict: core.Change, Vertices: vertices}
}

// keeping is the default policy with other limits of the history.
func keeping(count int, age time.Duration) policy.Policy {
	p := policy.Default()
	p.HistoryMaxCount, p.HistoryMaxAge = count, age
	return p
}

func TestRecord(t *testing.T) {
	t.Parallel()
	hold := change("2-20", resize("a", 4, 8, 100))
	hold.Verdict = core.Hold
	unread := change("2-20", core.VertexDecision{ID: "a", From: 8, To: 3})
	cases := map[string]struct {
		reason string
		before []core.VertexHistory
		d      core.Decision
		want   []core.VertexHistory
	}{
		"those that change": {
			"one that stays, and one that only wants more, are no change", nil,
			change("2-20", resize("c", 4, 8, 100), resize("b", 3, 3, 1), core.VertexDecision{ID: "d", From: 2, To: 2, Wanted: 9}, resize("a", 9, 7, 50)),
			[]core.VertexHistory{history("a", scaled(20, "2-20", 9, 7, 0, 50)), history("c", scaled(20, "2-20", 4, 8, 0, 100))},
		},
		"hold": {"nothing is going to change", []core.VertexHistory{history("a", scaled(1, "1-1", 2, 4, 4, 9))}, hold, []core.VertexHistory{history("a", scaled(1, "1-1", 2, 4, 4, 9))}},
		"without a rate": {
			"an override needs no evidence; it is a change all the same", nil, unread,
			[]core.VertexHistory{history("a", core.Scaled{At: at(20), DecisionID: "2-20", From: 8, To: 3})},
		},
		"newest first to stay": {
			"three of each vertex are kept",
			[]core.VertexHistory{history("a", scaled(1, "1-1", 1, 2, 2, 9), scaled(2, "1-2", 2, 3, 3, 9), scaled(3, "1-3", 3, 4, 4, 9)), history("b", scaled(1, "1-1", 1, 2, 2, 9))},
			change("2-20", resize("a", 4, 8, 100)),
			[]core.VertexHistory{history("a", scaled(2, "1-2", 2, 3, 3, 9), scaled(3, "1-3", 3, 4, 4, 9), scaled(20, "2-20", 4, 8, 0, 100)), history("b", scaled(1, "1-1", 1, 2, 2, 9))},
		},
		"not carried out": {
			"it never had an outcome, and the vertex is where it was",
			[]core.VertexHistory{history("a", scaled(1, "1-1", 2, 4, 4, 9), scaled(2, "1-2", 4, 8, 0, 90), scaled(3, "1-3", 4, 7, 0, 90))},
			change("2-20", resize("a", 4, 8, 100)),
			[]core.VertexHistory{history("a", scaled(1, "1-1", 2, 4, 4, 9), scaled(20, "2-20", 4, 8, 0, 100))},
		},
		"carried out unseen": {
			"it has no outcome, but the vertex runs at its size",
			[]core.VertexHistory{history("a", scaled(1, "1-1", 4, 8, 0, 90))},
			change("2-20", resize("a", 8, 4, 100)),
			[]core.VertexHistory{history("a", scaled(1, "1-1", 4, 8, 0, 90), scaled(20, "2-20", 8, 4, 0, 100))},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := Trim(c.before, at(20), keeping(99, time.Hour)) // a copy
			got := Record(c.before, c.d, at(20), keeping(3, time.Hour))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(before, c.before); diff != "" {
				t.Errorf("the history given was changed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, Record(got, c.d, at(20), keeping(3, time.Hour))); diff != "" {
				t.Errorf("recorded twice (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	five := []core.VertexHistory{history("a", scaled(0, "0", 1, 2, 2, 9), scaled(5, "5", 2, 3, 3, 9), scaled(10, "10", 3, 4, 4, 9), scaled(15, "15", 4, 5, 5, 9))}
	cases := map[string]struct {
		reason string
		count  int
		age    time.Duration
		now    int
		want   []string
	}{
		"count":         {"the newest two", 2, time.Hour, 20, []string{"10", "15"}},
		"age":           {"the one of exactly that age stays", 9, 10 * time.Second, 20, []string{"10", "15"}},
		"age and count": {"age first, then the newest", 1, 15 * time.Second, 20, []string{"15"}},
		"all too old":   {"the vertex is forgotten with its last change", 9, 10 * time.Second, 26, nil},
		"young":         {"all are kept", 9, 20 * time.Second, 20, []string{"0", "5", "10", "15"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range Find(Trim(five, at(c.now), keeping(c.count, c.age)), "a").Changes {
				got = append(got, s.DecisionID)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestTrimIsBoundedWhateverThePolicySays(t *testing.T) {
	t.Parallel()
	var many []core.VertexHistory
	for _, id := range ids(300) {
		h := core.VertexHistory{ID: id}
		for i := range 50 {
			h.Changes = append(h.Changes, scaled(i, "d", 1, 2, 2, 1))
		}
		many = append(many, h)
	}
	n := 0
	for _, h := range Trim(many, at(50), keeping(1000, time.Hour)) {
		n += len(h.Changes)
	}
	if n != mostChanges {
		t.Errorf("%d changes kept of 300 vertices; want %d", n, mostChanges)
	}
	if got := len(Trim(many[:1], at(50), keeping(1000, time.Hour))[0].Changes); got != 50 {
		t.Errorf("%d changes kept of one vertex; want all 50", got)
	}
}

func TestRetainChanges(t *testing.T) {
	t.Parallel()
	h := []core.VertexHistory{history("v1", scaled(1, "1", 1, 2, 2, 9)), history("v2", scaled(1, "1", 1, 2, 2, 9))}
	got := Retain(h, core.Topology{Vertices: []core.Vertex{{ID: "v2"}, {ID: "v3"}}})
	if diff := cmp.Diff(h[1:], got); diff != "" {
		t.Errorf("v1 is gone (-want +got):\n%s", diff)
	}
	if got := Retain(h, core.Topology{}); got != nil {
		t.Errorf("%v; want none", got)
	}
}

// TestOrderOfVerticesIsIrrelevant: a decision lists its vertices in any order.
func TestOrderOfVerticesIsIrrelevant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := change("1-1", drawChanges(t, 6)...)
		before := drawHistory(t, 6)
		p := keeping(rapid.IntRange(1, 4).Draw(t, "count"), time.Minute)
		want := Record(before, d, at(30), p)
		d.Vertices = rapid.Permutation(d.Vertices).Draw(t, "order")
		if diff := cmp.Diff(want, Record(before, d, at(30), p)); diff != "" {
			t.Fatalf("another order, another history (-one +other):\n%s", diff)
		}
	})
}
