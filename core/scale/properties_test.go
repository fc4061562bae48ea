package scale

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// drawJob makes a job with edges of every kind, limits of every kind and a wish
// for every vertex.
func drawJob(t *rapid.T) Job {
	p := policy.Default()
	p.MinParallelism = rapid.IntRange(1, 8).Draw(t, "least")
	p.MaxParallelism = rapid.IntRange(1, 120).Draw(t, "most")
	p.HardMin = rapid.SampledFrom([]int{0, 0, 5, 20}).Draw(t, "hardMin")
	p.HardMax = rapid.SampledFrom([]int{0, 0, 10, 40, 90}).Draw(t, "hardMax")
	p.ScaleDownMaxFactor = float64(rapid.IntRange(2, 10).Draw(t, "down")) / 10
	p.ScaleUpMaxFactor = float64(rapid.IntRange(1, 50).Draw(t, "up"))
	p.AlignSlots = true
	p.Alignment = rapid.SampledFrom([]policy.Alignment{
		policy.AlignBalanced, policy.AlignEvenlySpread, policy.AlignOff, policy.AlignLegacyEvenlySpread, policy.AlignLegacyMaximize, policy.AlignCustom,
	}).Draw(t, "alignment")
	if p.Alignment == policy.AlignCustom {
		p.AlignmentPlugin = &policy.Plugin{Name: "x"}
	}
	j := Job{Now: noon(), Facts: Facts{SlotsPerTM: rapid.IntRange(1, 8).Draw(t, "slots"), TMCPU: 2, TMMemory: gib}}
	shared := rapid.IntRange(1, 40).Draw(t, "parallelism")
	for i := range rapid.IntRange(1, 7).Draw(t, "vertices") {
		v := core.Vertex{ID: fmt.Sprintf("v%d", i), Parallelism: shared, SlotGroup: rapid.SampledFrom([]string{"", "g"}).Draw(t, "group")}
		if rapid.IntRange(0, 3).Draw(t, "other size") == 0 {
			v.Parallelism = rapid.IntRange(1, 60).Draw(t, "parallelism")
		}
		v.MaxParallelism = max(v.Parallelism, rapid.SampledFrom([]int{12, 50, 128, 720}).Draw(t, "max"))
		for from := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				v.Inputs = append(v.Inputs, core.Edge{From: fmt.Sprintf("v%d", from), Ship: rapid.SampledFrom([]core.ShipStrategy{core.ShipHash, core.ShipForward, "REBALANCE"}).Draw(t, "ship")})
			}
		}
		if v.IsSource() {
			v.Partitions = rapid.IntRange(0, 60).Draw(t, "partitions")
			if rapid.IntRange(0, 3).Draw(t, "by policy") == 0 {
				p.Partitions = append(p.Partitions, policy.VertexCount{ID: v.ID, N: rapid.IntRange(1, 60).Draw(t, "partitions by policy")})
			}
		}
		e := evaluate.Vertex{ID: v.ID, Capacity: core.Read(float64(rapid.IntRange(1, 5000).Draw(t, "capacity"))), TrueRate: core.Read(1000)}
		if rapid.IntRange(0, 5).Draw(t, "unjudged") == 0 {
			e.Unjudged = rapid.SampledFrom([]core.Reason{core.ReasonExcluded, core.ReasonMetricsMissing}).Draw(t, "why")
		}
		j.Topology.Vertices = append(j.Topology.Vertices, v)
		j.Evidence.Vertices = append(j.Evidence.Vertices, e)
	}
	j.Policy = p
	return j
}

// anything is an aligner and an executor that gives whatever was drawn.
type anything struct{ to []int }

func (a anything) Align(c AlignContext) int { return a.to[(c.To+c.From)%len(a.to)] }

func (anything) Applicable(AlignContext) bool { return true }

func (anything) Priority() int { return 0 }

func (a anything) Apply(_ ExecutorContext, d []core.VertexDecision) ([]core.VertexDecision, string) {
	for i := range d {
		d[i].To = a.to[i%len(a.to)]
	}
	return d[:1+a.to[0]&0xff%len(d)], ""
}

func drawAnything(t *rapid.T) anything {
	return anything{rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 60), rapid.Int()), 1, 7).Draw(t, "gives")}
}

func (j Job) sized(a Aligner) []core.VertexDecision {
	var out []core.VertexDecision
	for i, v := range j.Topology.Vertices {
		out = append(out, SizeOf(Input{Vertex: v, Evidence: j.Evidence.Vertices[i], Policy: j.Policy, Aligner: a, Now: j.Now}))
	}
	return out
}

// within fails where a change leaves the limits (I3) or is not told by a step.
func within(t *rapid.T, j Job, decisions []core.VertexDecision) {
	for i, d := range decisions {
		v := Known(j.Topology.Vertices[i], j.Policy)
		if n := len(d.Steps); n > 0 && d.Steps[n-1].To != d.To {
			t.Fatalf("%s: at %d, but the steps end otherwise: %+v", d.ID, d.To, d.Steps)
		}
		if d.To == d.From {
			continue
		}
		if d.To < 1 || d.To > v.MaxParallelism || (v.Partitions > 0 && d.To > v.Partitions) {
			t.Fatalf("%s: %d -> %d; %d key groups, %d partitions (I3); %+v", d.ID, d.From, d.To, v.MaxParallelism, v.Partitions, d.Steps)
		}
		if p := j.Policy; p.HardMax > 0 && d.To > p.HardMax {
			t.Fatalf("%s: %d -> %d, above the hard limit %d; %+v", d.ID, d.From, d.To, p.HardMax, d.Steps)
		}
		if j.Evidence.Vertices[i].Unjudged == core.ReasonExcluded {
			t.Fatalf("%s: %d -> %d, though excluded", d.ID, d.From, d.To)
		}
	}
}

func TestSizesStayWithinLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		d := j.sized(drawAnything(t))
		within(t, j, d)
		for i, x := range d {
			r := RangeOf(j.Topology.Vertices[i], j.Policy, j.Now)
			judged := j.Evidence.Vertices[i].Unjudged == ""
			if judged && x.To != r.Clamp(x.To) {
				t.Fatalf("%s: %d is not within %+v; %+v", x.ID, x.To, r, x.Steps)
			}
			if most := j.Policy.HardMax; judged && most > 0 && x.From > most && !x.Outside {
				t.Fatalf("%s: above the hard limit, but not told to be outside: %+v", x.ID, x)
			}
		}
	})
}

// TestNoAlignmentInverts: whatever a step of an alignment does, it stays on the
// side of the size now on which it began.
func TestNoAlignmentInverts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		for _, d := range j.sized(drawAnything(t)) {
			for i, s := range d.Steps {
				if s.By != byAlignment && s.By != byLegacy {
					continue
				}
				before := d.Steps[i-1].To
				if (before-d.From)*(s.To-d.From) < 0 || before == d.From {
					t.Fatalf("%s from %d: %d became %d by %+v", d.ID, d.From, before, s.To, d.Steps)
				}
			}
		}
	})
}

// TestMoreLoadNeverAsksForLess: without an alignment, which has a say of its own.
func TestMoreLoadNeverAsksForLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		if a := j.Policy.Alignment; a != policy.AlignBalanced && a != policy.AlignEvenlySpread {
			j.Policy.Alignment = policy.AlignOff
		}
		less := j.sized(nil)
		times := float64(rapid.IntRange(1, 10).Draw(t, "times"))
		for i := range j.Evidence.Vertices {
			e := &j.Evidence.Vertices[i]
			e.Capacity = e.Capacity.Map(func(c float64) float64 { return c * times })
		}
		for i, d := range j.sized(nil) {
			if d.To < less[i].To {
				t.Fatalf("%s: %d with less to do, %d with more; %+v", d.ID, less[i].To, d.To, d.Steps)
			}
		}
	})
}

// TestJoinedVerticesStayEqual, also when slots are filled up and executors had
// their say.
func TestJoinedVerticesStayEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		wished := j.sized(drawAnything(t))
		d := clone(wished)
		Equalise(d, j)
		within(t, j, d)
		equal(t, j, d)
		for i, x := range d {
			if lost := min(x.From, wished[i].To); x.To < lost {
				t.Fatalf("%s: %d -> %d, smaller than %d that was decided", x.ID, x.From, x.To, lost)
			}
		}
		again := clone(d)
		Equalise(again, j)
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatalf("twice is not once:\n%s", diff)
		}
		before := clone(d)
		WholeTaskManagers(d, j)
		within(t, j, d)
		equal(t, j, d)
		whole(t, j, before, d)
	})
}

func equal(t *rapid.T, j Job, decisions []core.VertexDecision) {
	at := positions(decisions)
	for _, g := range Groups(j.Topology) {
		for _, id := range g {
			if decisions[at[id]].To != decisions[at[g[0]]].To {
				t.Fatalf("%s and %s are joined: %s", g[0], id, sizes(decisions))
			}
		}
	}
}

// whole checks what filling slots up may and may not do.
func whole(t *rapid.T, j Job, before, after []core.VertexDecision) {
	for i, x := range after {
		was := before[i]
		if x.To < was.To || (was.To < x.From && x.To > x.From) {
			t.Fatalf("%s: %d -> %d became %d", x.ID, x.From, was.To, x.To)
		}
	}
	per := j.Facts.SlotsPerTM
	slots, now := slotsOf(j.Topology, decided(before)), slotsOf(j.Topology, decided(after))
	if managers(slots, per) != managers(now, per) {
		t.Fatalf("%d slots became %d: more TaskManagers of %d", slots, now, per)
	}
}

// TestOneSizeForAll: where all vertices have one size, none is smaller than it
// needs, and the size is one that somebody asked for.
func TestOneSizeForAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		j.Means = &core.Means{Uniform: true, Step: rapid.IntRange(0, 5).Draw(t, "step")}
		before := j.sized(nil)
		after := clone(before)
		Uniform(after, j)
		voices := slices.DeleteFunc(clone(before), func(d core.VertexDecision) bool { return d.Why == core.ReasonExcluded })
		if len(voices) == 0 {
			if diff := cmp.Diff(before, after); diff != "" {
				t.Fatalf("nobody asked for it:\n%s", diff)
			}
			return
		}
		size, now := 0, 0
		for _, d := range after {
			size, now = max(size, d.To), max(now, d.From)
		}
		for i, d := range after {
			v, _ := j.Topology.Find(d.ID)
			if want := min(size, v.MaxParallelism); v.MaxParallelism > 0 && d.To != want {
				t.Fatalf("%s: %d, want %d of %d", d.ID, d.To, want, size)
			}
			if b := before[i]; b.Why != core.ReasonExcluded && !b.Outside && d.To < min(b.From, v.MaxParallelism) {
				t.Fatalf("%s is within its bounds and gets smaller: %d -> %d (I1)", d.ID, d.From, d.To)
			}
			if d.To > now && !slices.ContainsFunc(voices, func(b core.VertexDecision) bool { return b.Outside && b.To > now }) {
				t.Fatalf("%s: %d -> %d, and nobody needs more", d.ID, d.From, d.To)
			}
		}
	})
}

func TestExecutorsStayWithinLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		decided := j.sized(nil)
		got, veto := RunExecutors([]Named{{"x", drawAnything(t)}}, j, decided)
		if veto != "" {
			t.Fatalf("veto %q", veto)
		}
		within(t, j, got)
		for i, x := range got {
			if x.To < min(x.From, decided[i].To) {
				t.Fatalf("%s: %d -> %d became %d (I1)", x.ID, x.From, decided[i].To, x.To)
			}
		}
	})
}

// TestOrderDoesNotMatter: of vertices in the decisions, and of edges.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		j.Policy.QuotaCPU = 20
		want := j.sized(nil)
		shuffled := rapid.Permutation(clone(want)).Draw(t, "decisions")
		Equalise(want, j)
		WholeTaskManagers(want, j)
		other := j
		other.Topology.Vertices = slices.Clone(j.Topology.Vertices)
		for i := range other.Topology.Vertices {
			v := &other.Topology.Vertices[i]
			v.Inputs = rapid.Permutation(v.Inputs).Draw(t, "inputs")
		}
		Equalise(shuffled, other)
		WholeTaskManagers(shuffled, other)
		slices.SortFunc(shuffled, func(a, b core.VertexDecision) int { return int(a.ID[1]) - int(b.ID[1]) })
		if diff := cmp.Diff(want, shuffled); diff != "" {
			t.Fatalf("(-in order +shuffled):\n%s", diff)
		}
		if diff := cmp.Diff(CheckQuota(want, j), CheckQuota(shuffled, other)); diff != "" {
			t.Fatalf("quota (-in order +shuffled):\n%s", diff)
		}
	})
}

// TestALargerQuotaNeverBlocksMore, and a change to fewer TaskManagers is never
// blocked.
func TestALargerQuotaNeverBlocksMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		if rapid.IntRange(0, 3).Draw(t, "unknown") == 0 {
			j.Facts.TMCPU = 0
		}
		d := j.sized(nil)
		j.Policy.QuotaCPU = float64(rapid.IntRange(1, 100).Draw(t, "cpu"))
		j.Policy.QuotaMemory = int64(rapid.IntRange(1, 100).Draw(t, "memory")) << 28
		small, java := CheckQuota(d, j), JavaQuota(d, j)
		j.Policy.QuotaCPU *= float64(rapid.IntRange(1, 5).Draw(t, "more cpu"))
		j.Policy.QuotaMemory *= int64(rapid.IntRange(1, 5).Draw(t, "more memory"))
		if large := CheckQuota(d, j); large.Blocked && !small.Blocked {
			t.Fatalf("%+v with more, %+v with less", large, small)
		}
		if large := JavaQuota(d, j); large.Blocked && !java.Blocked {
			t.Fatalf("as Java: %+v with more, %+v with less", large, java)
		}
		if small.Blocked && small.ManagersAfter <= small.ManagersBefore {
			t.Fatalf("%+v is blocked, though it needs no more", small)
		}
	})
}

// TestAdviceIsNeverMoreThanThereIs, and adds up as Flink will add it up.
func TestAdviceIsNeverMoreThanThereIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		j.Policy.TuningMaximizeManaged = rapid.Bool().Draw(t, "maximize")
		size := int64(rapid.IntRange(1000, 100000).Draw(t, "size")) * mib
		used := func(name string) core.Reading { return core.Read(float64(rapid.Int64Range(0, 2*size).Draw(t, name))) }
		j.Evidence.Global = evaluate.Global{HeapUsed: used("heap"), ManagedUsed: used("managed"), MetaspaceUsed: used("metaspace"), SlotsUsed: core.Read(float64(rapid.IntRange(0, 50).Draw(t, "used")))}
		a := Tune(Tuning{Job: j, Decisions: j.sized(nil), Config: map[string]string{optProcess: policy.FormatMemory(size)}})
		if a == nil {
			t.Fatalf("nothing for %d", size)
		}
		i := slices.IndexFunc(a.Set, func(o core.Option) bool { return o.Key == optProcess })
		total, err := policy.ParseMemory(a.Set[i].Value)
		if err != nil || total > size || total <= 0 {
			t.Fatalf("%s of %d: %v", a.Set[i].Value, size, err)
		}
	})
}
