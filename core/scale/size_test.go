package scale

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

const most = math.MaxInt32

// upTo is a policy without limits but those given.
func upTo(lower, upper int, mode policy.Alignment) policy.Policy {
	p := policy.Default()
	p.MinParallelism, p.MaxParallelism, p.Alignment = lower, upper, mode
	p.ScaleDownMaxFactor, p.ScaleUpMaxFactor = 1, most
	return p
}

// sized runs all limits on a vertex that needs factor times what it has.
func sized(v core.Vertex, factor float64, p policy.Policy) (int, []core.Step) {
	d := Size(v, evidenceOf(factor), p)
	return d.To, d.Steps
}

func vertexOf(current, partitions, maxP int, hash bool) core.Vertex {
	v := core.Vertex{ID: "v", Parallelism: current, Partitions: partitions, MaxParallelism: maxP}
	if partitions == 0 {
		v.Inputs = []core.Edge{{From: "a", Ship: "REBALANCE"}}
	}
	if hash {
		v.Inputs = append(v.Inputs, core.Edge{From: "b", Ship: core.ShipHash})
	}
	return v
}

// TestSizeRoundsAsJava: exact arithmetic would give one less in each case.
func TestSizeRoundsAsJava(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		current          int
		target, trueRate float64
		want             int
	}{
		{100, 11, 10, 111}, {100, 22, 10, 221}, {100, 7, 50, 15}, {100, 14, 50, 29}, {100, 55, 50, 111}, {25, 14, 50, 8}, {25, 28, 100, 8}, {25, 220, 100, 56}, {15, 620, 300, 32},
	} {
		d := Size(vertexOf(c.current, 0, most, false), evaluate.Vertex{Capacity: core.Read(c.target), TrueRate: core.Read(c.trueRate)}, upTo(1, most, policy.AlignOff))
		if d.To != c.want {
			t.Errorf("%d x %v / %v = %d; want %d", c.current, c.target, c.trueRate, d.To, c.want)
		}
	}
}

// TestWholeVertex takes a vertex from rates to its size, scale-down at once.
func TestWholeVertex(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		current            int
		target, rate       float64
		change             func(*policy.Policy)
		up, down, capacity float64
		want               int
		outside            bool
	}{
		"half at full":       {10, 50, 100, func(p *policy.Policy) { p.UtilizationTarget = 1 }, 50, 71, 50, 5, true},
		"half at .8":         {10, 50, 100, func(p *policy.Policy) { p.UtilizationTarget = 0.8 }, 50, 100, 63, 8, false},
		"60 at .8":           {10, 60, 100, func(p *policy.Policy) { p.UtilizationTarget = 0.8 }, 60, 120, 75, 8, false},
		"59 at .8":           {10, 59, 100, func(p *policy.Policy) { p.UtilizationTarget = 0.8 }, 59, 118, 74, 8, false},
		"full at .6":         {2, 100, 100, func(p *policy.Policy) { p.UtilizationTarget = 0.6 }, 111, 333, 167, 4, true},
		"down factor":        {10, 10, 100, func(p *policy.Policy) { p.UtilizationTarget, p.ScaleDownMaxFactor = 1, 0.5 }, 10, 14, 10, 5, true},
		"up factor .5":       {10, 200, 10, func(p *policy.Policy) { p.UtilizationTarget, p.ScaleUpMaxFactor = 1, 0.5 }, 200, 286, 200, 15, true},
		"up factor .6":       {10, 200, 10, func(p *policy.Policy) { p.UtilizationTarget, p.ScaleUpMaxFactor = 1, 0.6 }, 200, 286, 200, 16, true},
		"min does not raise": {4, 100, 500, func(p *policy.Policy) { p.MinParallelism = 5 }, 100, 250, 143, 4, true},
		"max does not lower": {10, 500, 100, func(p *policy.Policy) { p.UtilizationTarget, p.MaxParallelism = 1, 10 }, 500, 714, 500, 10, true},
		"idle":               {8, 0, math.Inf(1), func(*policy.Policy) {}, 0, 0, 0, 1, true},
		"idle, one step":     {8, 0, math.Inf(1), func(p *policy.Policy) { p.ScaleDownMaxFactor = 0.6 }, 0, 0, 0, 4, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := upTo(1, 200, policy.AlignEvenlySpread)
			p.CatchUp, p.RestartTime = 0, 5*time.Minute
			c.change(&p)
			upper, lower := math.Min(1, p.UtilizationTarget+0.3), p.UtilizationTarget-0.3
			up, down := evaluate.Capacity(c.target, 0, upper, false, p), evaluate.Capacity(c.target, 0, lower, true, p)
			capacity := evaluate.Capacity(c.target, 0, p.UtilizationTarget, true, p)
			e := evaluate.Vertex{Capacity: core.Read(capacity), TrueRate: core.Read(c.rate), Outside: c.rate < up || c.rate > down}
			d := Size(vertexOf(c.current, 0, 720, true), e, p)
			type numbers struct {
				Up, Down, Capacity float64
				To                 int
				Outside            bool
			}
			want, got := numbers{c.up, c.down, c.capacity, c.want, c.outside}, numbers{up, down, capacity, d.To, d.Outside}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefaultsAtWork: 10 subtasks, 10 000/s, no lag, all defaults.
func TestDefaultsAtWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		load float64
		want int
	}{{0.35, 6}, {0.45, 8}, {0.6, 10}, {0.7, 12}, {0.8, 13}, {0.95, 16}, {1, 16}} {
		p := policy.Default()
		e := evaluate.Vertex{Capacity: core.Read(15952), TrueRate: core.Read(core.Round3(10000 / c.load))}
		if d := Size(vertexOf(10, 0, 720, false), e, p); d.To != c.want {
			t.Errorf("load %v: %d; want %d", c.load, d.To, c.want)
		}
	}
}

func TestStepsTellTheWay(t *testing.T) {
	t.Parallel()
	p := upTo(1, 60, policy.AlignBalanced)
	p.ScaleUpMaxFactor = 4
	_, steps := sized(vertexOf(10, 35, 50, false), 9, p)
	want := []core.Step{
		{By: "formula", To: 90},
		{By: "job.autoscaler.scale-up.max-factor", To: 50, Note: "at most 5 times the size now"},
		{By: "partitions", To: 35, Note: "capped by 35 partitions"},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, steps = sized(vertexOf(10, 0, 128, false), 1.5, p); steps != nil {
		t.Errorf("steps %v where no limit moved the number; want none", steps)
	}
	_, steps = sized(vertexOf(80, 0, 128, false), 2, p)
	if len(steps) != 2 || steps[1].Note != "at most 60, but not below the size now" {
		t.Errorf("steps %v; want the soft limit named (BC-35 b)", steps)
	}
}

// TestJobsOfTheJavaAutoscaler: source without and sink with HASH input, both
// at 10 unless said, no catch-up; what comes out of sizes and gate together.
func TestJobsOfTheJavaAutoscaler(t *testing.T) {
	t.Parallel()
	type load struct{ target, rate, catchUp float64 }
	cases := map[string]struct {
		reason            string
		parallelism       int
		target, most, min float64
		source, sink      load
		want              [2]int
	}{
		"bounds as narrow as the target": {"117 is more than 100", 10, 0.6, 0.6, 0.6, load{70, 100, 0}, load{60, 100, 0}, [2]int{12, 10}},
		"wide bounds":                    {"88 to 175 and 75 to 150", 10, 0.6, 0.8, 0.4, load{70, 100, 0}, load{60, 100, 0}, [2]int{10, 10}},
		"wide bounds, both the same":     {"88 to 175", 10, 0.6, 0.8, 0.4, load{70, 100, 0}, load{70, 100, 0}, [2]int{10, 10}},
		"catching up":                    {"103 at the source drags the sink along", 10, 0.6, 0.8, 0.4, load{70, 100, 15}, load{70, 100, 0}, [2]int{14, 12}},
		"sink outside":                   {"121 at the sink drags the source along", 10, 0.6, 0.7, 0.5, load{70, 100, 0}, load{85, 100, 0}, [2]int{12, 15}},
		"sink alone":                     {"the source needs what it has", 10, 0.6, 0.7, 0.3, load{60, 100, 0}, load{85, 100, 0}, [2]int{10, 15}},
		"just enough":                    {"80 of 81 and 100 of 101", 10, 0.5, 1.5, 0.3, load{80, 81, 0}, load{100, 101, 0}, [2]int{10, 10}},
		"idle without lower bound":       {"nothing is above no bound", 100, 0.6, 1.2, 0, load{1000, math.Inf(1), 0}, load{1000, math.Inf(1), 0}, [2]int{100, 100}},
		"sevenfold":                      {"the sink's 7 would share out 720 badly", 2, 1, 1, 1, load{70, 20, 0}, load{70, 20, 0}, [2]int{7, 8}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := upTo(1, 200, policy.AlignBalanced)
			p.CatchUp, p.RestartTime, p.UtilizationTarget = 0, 0, c.target
			var got []core.VertexDecision
			for i, l := range []load{c.source, c.sink} {
				up, down := evaluate.Capacity(l.target, l.catchUp, c.most, false, p), evaluate.Capacity(l.target, l.catchUp, c.min, true, p)
				e := evaluate.Vertex{
					Capacity: core.Read(evaluate.Capacity(l.target, l.catchUp, c.target, true, p)), TrueRate: core.Read(l.rate),
					Outside: l.rate < up || l.rate > down,
				}
				got = append(got, Size(vertexOf(c.parallelism, 0, 720, i == 1), e, p))
			}
			Gate(got)
			if to := [2]int{got[0].To, got[1].To}; to != c.want {
				t.Errorf("%v; want %v: %s", to, c.want, c.reason)
			}
		})
	}
}

func TestUnjudgedStays(t *testing.T) {
	t.Parallel()
	d := Size(vertexOf(10, 0, 128, false), evaluate.Vertex{Unjudged: core.ReasonMetricsMissing, Note: "why"}, policy.Default())
	if d.To != 10 || d.Wanted != 10 || d.Why != core.ReasonMetricsMissing || d.Note != "why" {
		t.Errorf("%+v", d)
	}
}

func TestPastChangesThatBroughtLittleAskForMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason      string
		coefficient float64
		want        int
		steps       int
	}{
		{"not known", 0, 15, 0},
		{"linear", 1, 15, 0},
		{"half of the share: twice the growth", 0.5, 30, 2},
		{"as good as linear: the same number, no step", 0.99, 16, 2},
	} {
		d := SizeOf(Input{Vertex: vertexOf(10, 0, 720, false), Policy: upTo(1, most, policy.AlignOff), Coefficient: c.coefficient, Evidence: evaluate.Vertex{Capacity: core.Read(150), TrueRate: core.Read(100)}})
		if d.To != c.want || len(d.Steps) != c.steps {
			t.Errorf("%s: %d by %v; want %d", c.reason, d.To, d.Steps, c.want)
		}
		if recorded := d.Coefficient != 0; recorded != (c.steps > 0) {
			t.Errorf("%s: coefficient %v in the decision", c.reason, d.Coefficient)
		}
	}
	// The correction comes before the limit of one step, as in Java.
	p := upTo(1, most, policy.AlignOff)
	p.ScaleUpMaxFactor = 1
	d := SizeOf(Input{Vertex: vertexOf(10, 0, 720, false), Policy: p, Coefficient: 0.5, Evidence: evaluate.Vertex{Capacity: core.Read(150), TrueRate: core.Read(100)}})
	if d.To != 20 {
		t.Errorf("%d by %v; want at most double", d.To, d.Steps)
	}
}
