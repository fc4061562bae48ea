package stabilize

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func topology(ids ...string) core.Topology {
	var t core.Topology
	for _, id := range ids {
		t.Vertices = append(t.Vertices, core.Vertex{ID: id})
	}
	return t
}

// TestBookFollowsAJob: a scale-up is decided, is carried out in part, does not
// help, and is doubted at the size that was reached.
func TestBookFollowsAJob(t *testing.T) {
	t.Parallel()
	p := detecting()
	p.RestartTracking = true
	m := core.Memory{
		Delayed: []core.DelayedDown{{ID: "b", First: at(0), Entries: []core.DelayedEntry{entry(3, 0, true)}}},
		LagSeen: []string{"a"}, Told: []core.Told{{Key: "k", At: at(0)}},
	}
	b := Open(m, nil, topology("a", "b"), at(1), p)
	b.Record(change("1-1", resize("a", 10, 20, 1000)))
	m = b.Store()
	want := core.Memory{LagSeen: []string{"a"}, Told: []core.Told{{Key: "k", At: at(0)}}, Changes: []core.VertexHistory{history("a", scaled(1, "1-1", 10, 20, 0, 1000))}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Fatalf("after the decision; nothing waits any more (-want +got):\n%s", diff)
	}

	o := &core.Outcome{Kind: core.Partial, DecisionID: "1-1", Attempt: 1, Got: sizes("a", 12, "b", 4), WrittenAt: at(2), RunningAt: at(9)}
	b = Open(m, o, topology("a", "b"), at(20), p)
	if took, note := b.Restart(); took != 7*time.Second || note == "" {
		t.Errorf("a restart is assumed to take %s (%s); want the 7 s that were seen", took, note)
	}
	v := resize("a", 12, 20, 1005)
	first := b.Judge(v)
	if diff := cmp.Diff(&core.Effect{ExpectedGain: 200, Gain: 5, Proofs: 1, Blocks: true}, first); diff != "" {
		t.Errorf("judged at 12 (-want +got):\n%s", diff)
	}
	if b.Judge(v) != first {
		t.Error("one decision is one look: asked twice, another answer")
	}
	m = b.Store()
	want.Changes, want.Settled = []core.VertexHistory{history("a", scaled(1, "1-1", 10, 20, 12, 1000))}, 1
	want.Restarts, want.Doubts = []core.Restart{{At: at(9), Took: 7 * time.Second}}, []core.Doubt{{ID: "a", Change: at(1), Proofs: 1}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("after the look (-want +got):\n%s", diff)
	}

	b = Open(m, o, topology("b"), at(30), p)
	want.Changes, want.Doubts = nil, nil
	if diff := cmp.Diff(want, b.Store()); diff != "" {
		t.Errorf("a is gone (-want +got):\n%s", diff)
	}
	if c, _ := b.Coefficient("a"); c != 1 {
		t.Errorf("coefficient %g of an unknown vertex; want 1", c)
	}
}

func TestBookForgetsWithTime(t *testing.T) {
	t.Parallel()
	p := keeping(3, 10*time.Second)
	m := core.Memory{
		Changes:  []core.VertexHistory{history("a", scaled(0, "1", 1, 2, 2, 9))},
		Doubts:   []core.Doubt{{ID: "a", Change: at(0), Proofs: 1}},
		Restarts: took(1, 1),
		Delayed:  []core.DelayedDown{{ID: "a", First: at(0)}, {ID: "b", First: at(0)}},
	}
	got := Open(m, nil, topology("a"), at(11), p).Store()
	want := core.Memory{Restarts: m.Restarts[1:], Delayed: m.Delayed[:1]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("too old, but for the newest restart and one of exactly that age; b is gone (-want +got):\n%s", diff)
	}
}

// cycle is one decision on a job in which everything changes all the time: most
// vertices have less to do from minute to minute, the others want more and gain
// nothing by it.
func cycle(r *rand.Rand, b *Book, size map[string]int, now time.Time, n int) core.Decision {
	d := core.Decision{ID: fmt.Sprintf("%d-%d", n, now.Unix()), Verdict: core.Hold}
	for _, id := range ids(len(size)) {
		wants := 1 + r.IntN(2*size[id])
		if r.IntN(50) > 0 {
			wants = max(1, size[id]-1-n%70)
		}
		v := resize(id, size[id], wants, r.Float64()*1e5)
		if v.Wanted > v.From {
			b.Delays.Clear(id)
			b.Judge(v)
		} else {
			wish := core.DelayedEntry{At: now, Parallelism: v.Wanted, Outside: true}
			v.To = b.Delays.Down(id, v.From, wish, time.Hour).To
		}
		b.Coefficient(id)
		d.Vertices = append(d.Vertices, v)
	}
	if n%71 == 0 {
		d.Verdict = core.Change
		for i := range d.Vertices {
			d.Vertices[i].To = 1 + r.IntN(200)
		}
	}
	return d
}

// TestMemoryIsBounded is I10: 3,000 cycles of a job of 300 vertices under a
// policy that would keep all, and never a NaN, which JSON cannot carry.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	p := keeping(1000, 1000*time.Hour)
	p.EffectivenessDetection, p.EffectivenessThreshold = true, 0.9
	p.RestartTracking, p.ObservedScalability = true, true
	// Bytes of one entry at most: an id has 32, a time 20 to 30, a rate 24.
	const vertices, oneChange, oneWish, oneVertex, oneRestart = 300, 160, 80, 300, 80
	limit := mostChanges*oneChange + mostWishes*oneWish + vertices*oneVertex + mostRestarts*oneRestart
	r, size := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for _, id := range ids(vertices) {
		size[id] = 100
	}
	var m core.Memory
	var last *core.Outcome
	largest := 0
	for n := range 3000 {
		now := at(0).Add(time.Duration(n)*time.Minute + 123456789)
		b := Open(m, last, topology(ids(vertices)...), now, p)
		d := cycle(r, b, size, now, n)
		b.Record(d)
		m = b.Store()
		if d.Verdict == core.Change {
			last = carryOut(d, size, now, n)
		}
		if n%23 != 0 {
			continue
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if largest = max(largest, len(text)); len(text) > limit {
			t.Fatalf("cycle %d: %d bytes; want at most %d", n, len(text), limit)
		}
	}
	t.Logf("3,000 cycles of %d vertices: at most %d bytes of the %d that are allowed", vertices, largest, limit)
}

// carryOut is a rescale: some are not even begun, the others end in turn in
// every way.
func carryOut(d core.Decision, size map[string]int, now time.Time, n int) *core.Outcome {
	if n%5 == 3 {
		return nil
	}
	kinds := []core.OutcomeKind{core.Applied, core.Partial, core.Rejected, core.Undone, core.Failed}
	o := &core.Outcome{Kind: kinds[n/71%len(kinds)], DecisionID: d.ID, Attempt: n + 1, WrittenAt: now, RunningAt: now.Add(time.Duration(n%200) * time.Second)}
	for i, v := range d.Vertices {
		if o.Kind == core.Applied || o.Kind == core.Partial && i%2 == 0 {
			size[v.ID] = v.To
		}
		o.Got = append(o.Got, core.VertexSize{ID: v.ID, Parallelism: size[v.ID]})
	}
	return o
}

// TestOpenSharesNothing: whatever a decision does with the book, the memory it
// was opened with stays as it was.
func TestOpenSharesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := core.Memory{Changes: drawHistory(t, 4), Restarts: drawRestarts(t)}
		for _, h := range m.Changes {
			m.Delayed = append(m.Delayed, core.DelayedDown{ID: h.ID, First: at(0), Entries: []core.DelayedEntry{entry(9, 0, true), entry(4, 3, true)}})
			m.Doubts = append(m.Doubts, core.Doubt{ID: h.ID, Change: h.Changes[len(h.Changes)-1].At, Proofs: 1})
		}
		before, _ := json.Marshal(m)
		o := drawOutcome(t, 4)
		p := policy.Default()
		p.EffectivenessDetection = true
		use := func() core.Memory {
			b := Open(m, &o, topology(ids(4)...), at(59), p)
			d := change("9", drawn(t, b)...)
			b.Record(d)
			return b.Store()
		}
		got := use()
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
		if after, _ := json.Marshal(m); string(after) != string(before) {
			t.Fatalf("the memory given was changed:\n%s\n%s", before, after)
		}
	})
}

func drawn(t *rapid.T, b *Book) []core.VertexDecision {
	vertices := drawChanges(t, 4)
	for _, v := range vertices {
		b.Judge(v)
		b.Delays.Record(v.ID, entry(v.To, 58, false))
		b.Coefficient(v.ID)
	}
	return vertices
}
