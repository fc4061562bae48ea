package strategy

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
)

func decided(ctx core.JobContext, p policy.Policy) core.Decision {
	d, _, _ := Decide(ctx, p, nil)
	return d
}

// TestStaysWithinLimits is I3 and the policy's bounds.
func TestStaysWithinLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		for _, v := range decided(w.context(p), p).Vertices {
			x, _ := w.topology.Find(v.ID)
			if v.To == v.From {
				continue
			}
			if v.To < 1 || v.To > x.MaxParallelism || v.To > max(v.From, p.MaxParallelism) {
				t.Fatalf("%s: %d -> %d; max parallelism %d, policy at most %d", v.ID, v.From, v.To, x.MaxParallelism, p.MaxParallelism)
			}
			if x.Partitions > 0 && v.To > x.Partitions {
				t.Fatalf("%s: %d -> %d; it has %d partitions (I3)", v.ID, v.From, v.To, x.Partitions)
			}
			if v.To < min(v.From, p.MinParallelism) && v.To != x.Partitions {
				t.Fatalf("%s: %d -> %d; policy at least %d", v.ID, v.From, v.To, p.MinParallelism)
			}
		}
	})
}

// TestNeverDownOnIncompleteEvidence is I1: with readings taken away at random,
// no vertex with a gap, nor any downstream of one, gets smaller.
func TestNeverDownOnIncompleteEvidence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		ctx := w.context(p)
		gaps := map[string]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "gaps") {
			s := &ctx.Window[rapid.IntRange(0, len(ctx.Window)-1).Draw(t, "sample")]
			i := rapid.IntRange(0, len(s.Vertices)-1).Draw(t, "vertex")
			spoil(t, &s.Vertices[i], p)
			gaps[s.Vertices[i].ID] = true
		}
		for _, v := range decided(ctx, p).Vertices {
			for _, from := range append(w.topology.Upstream(v.ID), v.ID) {
				if gaps[from] && v.To < v.From {
					t.Fatalf("%s: %d -> %d, though evidence of %s is not complete", v.ID, v.From, v.To, from)
				}
			}
		}
	})
}

// spoil takes one reading away that a decision needs.
func spoil(t *rapid.T, v *core.VertexSample, p policy.Policy) {
	r := core.Absent(rapid.SampledFrom([]core.ReadingState{core.Missing, core.Incomplete, core.Stale}).Draw(t, "state"))
	switch rapid.IntRange(0, 2).Draw(t, "reading") {
	case 0:
		v.RecordsIn = r
	case 1:
		v.RecordsOut = r
	default:
		switch p.BusyTimeAggregator {
		case policy.AggregateMin:
			v.BusyMin = r
		case policy.AggregateAvg:
			v.BusyTotal = r
		case policy.AggregateMax:
			v.BusyMax = r
		}
	}
}

// TestNeverChangesOnAFaultyLook: I1 for the newest sample, whatever its fault.
func TestNeverChangesOnAFaultyLook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		ctx := w.context(p)
		last := &ctx.Window[len(ctx.Window)-1]
		reasons := core.Reasons()
		last.Fault = reasons[rapid.IntRange(0, len(reasons)-1).Draw(t, "fault")].Reason
		if d := decided(ctx, p); d.Verdict != core.Hold || d.Reason != last.Fault {
			t.Fatalf("fault %s: %s %s", last.Fault, d.Verdict, d.Reason)
		}
	})
}

// TestMoreLoadNeverAsksForLess: the same subtasks with more to do.
func TestMoreLoadNeverAsksForLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		more := w
		more.in, more.out, more.permille = slices.Clone(w.in), slices.Clone(w.out), slices.Clone(w.permille)
		most := slices.Max(w.permille)
		times := float64(rapid.IntRange(1, max(1, int(1000/most))).Draw(t, "times"))
		for i := range more.in {
			more.in[i] *= times
			more.out[i] *= times
			more.permille[i] *= times
		}
		a, b := decided(w.context(p), p), decided(more.context(p), p)
		for i := range a.Vertices {
			if b.Vertices[i].Wanted < a.Vertices[i].Wanted {
				t.Fatalf("%s: wants %d, with %v times the load only %d\n%s\n%s", a.Vertices[i].ID, a.Vertices[i].Wanted, times, b.Vertices[i].Wanted, a.Text(w.topology, core.Terms{}), b.Text(w.topology, core.Terms{}))
			}
		}
	})
}

// nearEdge is true where rounding may tip a decision.
func nearEdge(v core.VertexDecision, p policy.Policy) bool {
	capacity, rate := v.Capacity.Or(0), v.TrueRate.Or(1)
	f := math.Min(math.Max(capacity/rate, 1-p.ScaleDownMaxFactor), 1+p.ScaleUpMaxFactor)
	x := f * float64(v.From)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 0.005*math.Max(math.Abs(a), 1) }
	return near(x, math.Round(x)) || near(v.UpBelow.Or(0), rate) || near(v.DownAbove.Or(0), rate)
}

// TestUnitsDoNotMatter: all rates times k change rates and nothing else.
func TestUnitsDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		k := float64(rapid.IntRange(2, 1000).Draw(t, "k"))
		large := w
		large.in, large.out = slices.Clone(w.in), slices.Clone(w.out)
		for i := range large.in {
			large.in[i] *= k
			large.out[i] *= k
		}
		a, b := decided(w.context(p), p), decided(large.context(p), p)
		if slices.ContainsFunc(append(slices.Clone(a.Vertices), b.Vertices...), func(v core.VertexDecision) bool { return nearEdge(v, p) }) {
			t.Skip("rounding may tip it")
		}
		if a.Verdict != b.Verdict || a.Reason != b.Reason || !slices.Equal(a.Sizes(), b.Sizes()) {
			t.Fatalf("%s %s %v, but times %v %s %s %v", a.Verdict, a.Reason, a.Sizes(), k, b.Verdict, b.Reason, b.Sizes())
		}
	})
}

// TestOrderDoesNotMatter: of vertices in a sample, of samples but the newest.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		ctx := w.context(p)
		want := decided(ctx, p)
		last := len(ctx.Window) - 1
		ctx.Window = append(rapid.Permutation(ctx.Window[:last]).Draw(t, "samples"), ctx.Window[last])
		for i := range ctx.Window {
			ctx.Window[i].Vertices = rapid.Permutation(ctx.Window[i].Vertices).Draw(t, "vertices")
		}
		if diff := cmp.Diff(want, decided(ctx, p)); diff != "" {
			t.Fatalf("(-in order +shuffled):\n%s", diff)
		}
	})
}

// TestSameInputSameDecision: also that nothing of the input is changed.
func TestSameInputSameDecision(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		p.ScaleDownInterval = time.Hour
		ctx := w.context(p)
		ctx.Memory = core.Memory{LagSeen: []string{id(0)}, Delayed: []core.DelayedDown{{ID: id(0), First: t0(), Entries: []core.DelayedEntry{{At: t0(), Parallelism: 3}}}}}
		before, err := json.Marshal(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a, m1, k1 := Decide(ctx, p, nil)
		b, m2, k2 := Decide(ctx, p, nil)
		if diff := cmp.Diff(a, b); diff != "" || !k1.Equal(k2) || !cmp.Equal(m1, m2) {
			t.Fatalf("twice the same input (-first +second):\n%s", diff)
		}
		after, err := json.Marshal(ctx)
		if err != nil || string(before) != string(after) {
			t.Fatalf("the input was changed: %v\n%s\n%s", err, before, after)
		}
	})
}

// leastExact is the busy time, in ms per second, from which its rounding to a
// whole ms moves the true rate by less than nearEdge allows for.
const leastExact = 100

// TestAppliedDecisionHolds: at the size decided, the same load is a hold.
func TestAppliedDecisionHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		p.ScaleDownMaxFactor, p.ScaleUpMaxFactor = 1, 1e6
		a := decided(w.context(p), p)
		if a.Verdict != core.Change || slices.ContainsFunc(a.Vertices, func(v core.VertexDecision) bool { return nearEdge(v, p) }) {
			t.Skip("nothing to apply, or rounding may tip it")
		}
		after := w
		after.permille = slices.Clone(w.permille)
		after.topology.Vertices = slices.Clone(w.topology.Vertices)
		for i, v := range a.Vertices {
			after.topology.Vertices[i].Parallelism = v.To
			after.permille[i] = w.permille[i] * float64(v.From) / float64(v.To)
			if l, ok := scale.LimitedOf(v); ok && l.Actual < l.Expected {
				t.Skip("an older alignment, as in Java, takes less than it needs, and says so (ScalingLimited)")
			}
			if after.permille[i] > 1000 {
				t.Skip("a limit keeps it from having enough")
			}
			if v.From != v.To && after.permille[i] < leastExact {
				t.Skip("busy time is rounded to a thousandth: the true rate of so idle a vertex says little")
			}
		}
		b := decided(after.context(p), p)
		if slices.ContainsFunc(b.Vertices, func(v core.VertexDecision) bool { return nearEdge(v, p) }) {
			t.Skip("rounding may tip it")
		}
		if b.Verdict != core.Hold {
			t.Fatalf("after\n%s\nagain\n%s", a.Text(w.topology, core.Terms{}), b.Text(after.topology, core.Terms{}))
		}
	})
}

// TestDecisionsAreSmallAndFinite: I2 at the way out, and the budget of history.
func TestDecisionsAreSmallAndFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		for i := range w.in {
			w.in[i] = rapid.SampledFrom([]float64{0, 1e-300, w.in[i], 1e300, math.MaxFloat64}).Draw(t, "in")
			w.permille[i] = rapid.SampledFrom([]float64{0, 1e-300, w.permille[i], 1e300, -5}).Draw(t, "busy")
			w.lag[i] = rapid.SampledFrom([]float64{0, 1e300}).Draw(t, "lag")
		}
		d := decided(w.context(p), p)
		b, err := json.Marshal(d)
		if err != nil || d.Reason == core.ReasonInternal {
			t.Fatalf("%v, %s: %s", err, d.Reason, d.Note)
		}
		if len(b) > 1500+4000*len(w.in) {
			t.Fatalf("%d bytes for %d vertices", len(b), len(w.in))
		}
		if !slices.ContainsFunc(core.Reasons(), func(r core.ReasonInfo) bool { return r.Reason == d.Reason }) {
			t.Fatalf("reason %q is not in the closed set (I14)", d.Reason)
		}
		_ = d.Text(w.topology, core.Terms{})
	})
}
