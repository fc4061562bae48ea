package flinksim

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// near is equality but for rounding.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-6*(1+math.Abs(a)+math.Abs(b))
}

func drawLoad(t *rapid.T) Load {
	rate := func(name string) float64 { return float64(rapid.IntRange(0, 9000).Draw(t, name)) }
	period := time.Duration(rapid.IntRange(1, 90).Draw(t, "period")) * time.Second
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return Constant(rate("const"))
	case 1:
		return Steps{{rate("first"), period}, {rate("second"), 2 * period}, {Rate: rate("last")}}
	case 2:
		low := rate("low")
		return Wave{Low: low, High: low + rate("more"), Period: period}
	}
	return Series{Every: period, Rates: []float64{rate("r0"), rate("r1"), rate("r2")}}
}

// drawJob makes a graph: one or two sources, then vertices that each read from
// one or two before them.
func drawJob(t *rapid.T) JobSpec {
	n := rapid.IntRange(1, 6).Draw(t, "vertices")
	s := JobSpec{Name: "j", Load: drawLoad(t), CheckpointInterval: time.Duration(rapid.IntRange(-1, 7).Draw(t, "checkpoints")) * time.Second}
	for i := range n {
		v := VertexSpec{
			Name: fmt.Sprintf("v%d", i), Parallelism: rapid.IntRange(1, 6).Draw(t, "p"), MaxParallelism: 24,
			Capacity: float64(rapid.IntRange(50, 3000).Draw(t, "capacity")), Uneven: rapid.Bool().Draw(t, "uneven"),
			Skew: float64(rapid.IntRange(0, 10).Draw(t, "skew")) / 10,
		}
		if i == 0 || (i == 1 && rapid.Bool().Draw(t, "source")) {
			v.Partitions = rapid.IntRange(0, 8).Draw(t, "partitions")
			v.Backlog = float64(rapid.IntRange(0, 50000).Draw(t, "backlog"))
		} else {
			for k := range rapid.IntRange(1, 2).Draw(t, "inputs") {
				from := rapid.IntRange(0, i-1).Draw(t, "from")
				if k == 1 && v.Inputs[0].From == fmt.Sprintf("v%d", from) {
					continue
				}
				v.Inputs = append(v.Inputs, Input{From: fmt.Sprintf("v%d", from), Selectivity: float64(rapid.IntRange(1, 30).Draw(t, "selectivity")) / 10})
			}
		}
		s.Vertices = append(s.Vertices, v)
	}
	return s
}

// checkFlow is what must hold of a job at any moment.
func checkFlow(t *rapid.T, j *job) {
	for i := range j.vertices {
		v := &j.vertices[i]
		if v.source() {
			if v.offset > v.arrived+1e-6 {
				t.Fatalf("%s read %f of %f records", v.spec.Name, v.offset, v.arrived)
			}
			if !near(v.life.in, v.offset+v.replayed) {
				t.Fatalf("%s took in %f, offset %f, replayed %f", v.spec.Name, v.life.in, v.offset, v.replayed)
			}
		} else {
			want := 0.0
			for _, e := range v.inputs {
				want += j.vertices[e.from].life.in * e.selectivity
			}
			if !near(v.life.in, want) {
				t.Fatalf("%s took in %f, its inputs sent %f", v.spec.Name, v.life.in, want)
			}
		}
		if v.rateIn > v.cap*(1+1e-6) {
			t.Fatalf("%s takes %f/s in, it can %f/s", v.spec.Name, v.rateIn, v.cap)
		}
		if !near(v.now.up*float64(v.par), math.Max(v.now.up*float64(v.par), v.now.busy)) {
			t.Fatalf("%s was busy for %fs in %fs with %d subtasks", v.spec.Name, v.now.busy, v.now.up, v.par)
		}
	}
	s := j.takeSnapshot()
	for i := range s.vertices {
		v := &s.vertices[i]
		share := 0.0
		for _, g := range v.groups {
			share += float64(g.n) * g.share
			busy, held, idle := v.value(kBusy, g.share), v.value(kHeld, g.share), v.value(kIdle, g.share)
			if busy < 0 || busy > 1000 || held < 0 || held > 1000 || busy+held+idle > 1001 {
				t.Fatalf("busy %f, backpressured %f, idle %f ms/s", busy, held, idle)
			}
		}
		if !near(share, 1) {
			t.Fatalf("the shares of %v are %f", v.groups, share)
		}
	}
}

func TestRecordsAreConserved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := New(Options{Start: epoch(), Slots: 100})
		id := c.AddJob(drawJob(t))
		j := c.jobs[id]
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "do") {
			case 0:
				_ = c.RestartJob(id, "boom")
			case 1:
				want := make([]bounds, len(j.wanted))
				for i := range want {
					want[i] = bounds{1, rapid.IntRange(1, 12).Draw(t, "upper")}
				}
				j.want(want, c.Now())
			case 2:
				c.SetSlots(rapid.IntRange(0, 20).Draw(t, "slots"))
			}
			c.Advance(time.Duration(rapid.IntRange(1, 40000).Draw(t, "ms")) * time.Millisecond)
			_, _ = c.View(id)
			checkFlow(t, j)
		}
	})
}

// TestLookingChangesNothing: a job that is looked at often is where one is
// that is looked at once.
func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := drawJob(t)
		often, once := New(Options{Start: epoch(), Slots: 100}), New(Options{Start: epoch(), Slots: 100})
		a, b := often.AddJob(spec), once.AddJob(spec)
		for range rapid.IntRange(1, 30).Draw(t, "looks") {
			d := time.Duration(rapid.IntRange(1, 9000).Draw(t, "ms")) * time.Millisecond
			often.Advance(d)
			_, _ = often.View(a)
			once.Advance(d)
		}
		x, _ := often.View(a)
		y, _ := once.View(b)
		if !near(x.Lag, y.Lag) || !near(x.Done, y.Done) || !near(x.Arrived, y.Arrived) {
			t.Fatalf("often: lag %f done %f of %f; once: lag %f done %f of %f", x.Lag, x.Done, x.Arrived, y.Lag, y.Done, y.Arrived)
		}
	})
}

func TestBottleneckHoldsBackWhatIsBeforeIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Name: "j", Load: Constant(3000)}) // enrich can do 2000
	r.c.Advance(100 * time.Second)
	v := r.view(id)
	if !near(v.Lag, 100000) || !near(v.Read, 2000) {
		t.Errorf("lag %f, read %f/s, want 100000 and 2000", v.Lag, v.Read)
	}
	source, enrich, sink := v.Vertices[0], v.Vertices[1], v.Vertices[2]
	if !near(source.BackPressured, 900) || !near(source.Busy, 100) {
		t.Errorf("source: busy %f, backpressured %f, want 100 and 900", source.Busy, source.BackPressured)
	}
	if !near(enrich.Busy, 1000) || enrich.BackPressured != 0 {
		t.Errorf("enrich: busy %f, backpressured %f, want 1000 and 0", enrich.Busy, enrich.BackPressured)
	}
	if !near(sink.Busy, 400) || sink.BackPressured != 0 {
		t.Errorf("sink: busy %f, backpressured %f, want 400 and 0", sink.Busy, sink.BackPressured)
	}
}

func TestBacklogIsWorkedOffAtFullSpeed(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Name: "j", Load: Steps{{3000, 10 * time.Second}, {Rate: 1000}}})
	r.c.Advance(15 * time.Second) // 10,000 behind, then 1000/s faster than what comes
	if v := r.view(id); !near(v.Lag, 5000) {
		t.Errorf("lag %f, want 5000", v.Lag)
	}
	r.c.Advance(6 * time.Second)
	if v := r.view(id); v.Lag != 0 || !near(v.Read, 1000) {
		t.Errorf("lag %f read %f, want 0 and 1000", v.Lag, v.Read)
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	hash := []Input{{From: "s", Ship: "HASH", Selectivity: 1}}
	for name, c := range map[string]struct {
		reason string
		spec   VertexSpec
		p      int
		want   float64 // records/s
	}{
		"even":        {"equal shares by default", VertexSpec{Capacity: 100, MaxParallelism: 24, Inputs: hash}, 5, 500},
		"key groups":  {"24 groups on 5: one has 5", VertexSpec{Capacity: 100, MaxParallelism: 24, Inputs: hash, Uneven: true}, 5, 480},
		"divides":     {"24 groups on 6: 4 each", VertexSpec{Capacity: 100, MaxParallelism: 24, Inputs: hash, Uneven: true}, 6, 600},
		"partitions":  {"more subtasks than partitions idle", VertexSpec{Capacity: 100, Partitions: 4}, 6, 400},
		"skew":        {"the hottest sets the pace", VertexSpec{Capacity: 100, Skew: 1}, 4, 200},
		"skew at one": {"one subtask has no neighbour", VertexSpec{Capacity: 100, Skew: 1}, 1, 100},
	} {
		if got := c.spec.capacityAt(c.p); !near(got, c.want) {
			t.Errorf("%s: capacity %f, want %f: %s", name, got, c.want, c.reason)
		}
	}
}

func TestLoadsReadBack(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"const:1000", "steps:300x30s,2500x3m0s,700", "wave:500..4500@2m0s", "wave:1..2@1m0s+0.25", "list:10s:100,200.5,300"} {
		l, err := ParseLoad(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if l.String() != s {
			t.Errorf("%s came back as %s", s, l)
		}
	}
	for _, s := range []string{"", "const:x", "const:-1", "const:NaN", "steps:1,2", "steps:1x", "wave:1..2", "wave:1@2s", "wave:1..2@0s", "list:10s", "list:x:1", "rocket:1"} {
		if l, err := ParseLoad(s); err == nil {
			t.Errorf("%q was taken as %s", s, l)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		d := time.Duration(rapid.IntRange(0, 3600000).Draw(t, "ms")) * time.Millisecond
		rate, until := l.Rate(d)
		if rate < 0 || (until != 0 && until <= d) {
			t.Fatalf("%s at %s: %f until %s", l, d, rate, until)
		}
		if until > 0 {
			if again, _ := l.Rate(until - 1); again != rate {
				t.Fatalf("%s: %f at %s but %f before %s", l, rate, d, again, until)
			}
		}
	})
}

func TestJavaDoubles(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0.0", 20: "20.0", 352.5: "352.5", 3.0858784e7: "3.0858784E7", 1e7: "1.0E7", 9999999: "9999999.0", 0.0005: "5.0E-4",
		-9.223372036854775808e18: "-9.223372036854776E18", math.Inf(1): `"Infinity"`,
	} {
		if got := javaJSON(f); got != want {
			t.Errorf("%g is written %s, want %s", f, got, want)
		}
	}
	if got := javaJSON(math.NaN()); got != `"NaN"` {
		t.Errorf("NaN is written %s", got)
	}
}

func TestBadGraphs(t *testing.T) {
	t.Parallel()
	c := New(Options{Start: epoch()})
	for name, spec := range map[string]JobSpec{
		"from nowhere": {Vertices: []VertexSpec{{Name: "a", Inputs: []Input{{From: "b"}}}}},
		"twins":        {Vertices: []VertexSpec{{Name: "a"}, {Name: "a"}}},
		"a circle":     {Vertices: []VertexSpec{{Name: "a", Inputs: []Input{{From: "b"}}}, {Name: "b", Inputs: []Input{{From: "a"}}}}},
	} {
		if _, err := c.Submit(spec); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
