package evaluate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// TestContradiction is BC-08: a busy vertex that holds back what is before it
// gets no smaller, whatever the ratio of a burst says of its rate.
func TestContradiction(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("a", 10), vertex("b", 60, "a")}}
	cases := map[string]struct {
		reason     string
		busy, back core.Reading
		want       core.Reason
	}{
		"busy and held back":   {"both signals say that it has too few subtasks", core.Read(1000), core.Read(700), core.ReasonContradiction},
		"at the edges":         {"the edges belong to it", core.Read(900), core.Read(100), core.ReasonContradiction},
		"not busy":             {"a pause means that it could do more", core.Read(899), core.Read(700), ""},
		"nothing is held back": {"then it keeps up", core.Read(1000), core.Read(99), ""},
		"back pressure absent": {"what is not known contradicts nothing", core.Read(1000), core.Reading{}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := func(at float64) []core.VertexSample {
				a, b := src("a", 1000*at, 20*at, 200, 0), op("b", 20*at, 0, c.busy.Or(0))
				a.BackPressure = c.back
				// The meter of a burst: it did 1000/s while it worked.
				b.InPerSecond = core.Read(1000)
				return []core.VertexSample{a, b}
			}
			r := Evaluate(Input{Topology: topology, Samples: samples(row(0), row(1), row(2)), Policy: policy.Default()})
			v, _ := r.Find("b")
			if v.Gap != c.want || !v.Outside {
				t.Errorf("because %s: gap %q, outside %v (%s); want gap %q and outside", c.reason, v.Gap, v.Outside, v.Note, c.want)
			}
			if a, _ := r.Find("a"); a.Gap != "" {
				t.Errorf("the vertex before it has the gap %q", a.Gap)
			}
		})
	}
}

// TestNothingComesButSomethingIsDone: a source that counts nothing makes the
// target of what reads from it 0; what is read all the same says otherwise.
func TestNothingComesButSomethingIsDone(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("a", 1), vertex("b", 4, "a")}}
	for name, c := range map[string]struct {
		reason string
		in     float64
		want   core.Reason
	}{
		"something": {"1500/s are not nothing", 1500, core.ReasonContradiction},
		"nothing":   {"an idle job gets smaller", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := func(at float64) []core.VertexSample {
				b := op("b", c.in*at, 0, 500)
				b.InPerSecond = core.Read(c.in)
				return []core.VertexSample{src("a", 0, 0, 0, 0), b}
			}
			v, _ := Evaluate(Input{Topology: topology, Samples: samples(row(0), row(1), row(2)), Policy: policy.Default()}).Find("b")
			if v.Gap != c.want || (c.want != "" && !strings.Contains(v.Note, "it takes in 1500/s")) {
				t.Errorf("gap %q (%s); want %q: %s", v.Gap, v.Note, c.want, c.reason)
			}
		})
	}
}

// TestContradictionStaysWithItsVertex: what a busy vertex sends on is known.
func TestContradictionStaysWithItsVertex(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("a", 10), vertex("b", 60, "a"), vertex("c", 9, "b")}}
	row := func(at float64) []core.VertexSample {
		a, b := src("a", 1000*at, 20*at, 200, 0), op("b", 20*at, 20*at, 1000)
		a.BackPressure, b.InPerSecond = core.Read(700), core.Read(1000)
		return []core.VertexSample{a, b, op("c", 20*at, 0, 10)}
	}
	v, _ := Evaluate(Input{Topology: topology, Samples: samples(row(0), row(1)), Policy: policy.Default()}).Find("c")
	if v.Gap != "" {
		t.Errorf("downstream of a contradiction: gap %q (%s)", v.Gap, v.Note)
	}
}

// TestStuckLag is BC-14: the lag of one subtask that is not busy is left out.
func TestStuckLag(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason      string
		parallelism int
		change      func(*core.VertexSample)
		catchUp     float64
		out         bool
	}{
		"one subtask has it all":   {"11 of 12 partitions have no lag, and the source does half of what it could", 6, func(*core.VertexSample) {}, 0, true},
		"spread over subtasks":     {"more subtasks read more", 6, func(v *core.VertexSample) { v.LagMax = core.Read(2_000_000) }, 1500, false},
		"that subtask is busy":     {"it is the limit; a hot partition may get its own subtask", 6, func(v *core.VertexSample) { v.BusyMax = core.Read(950) }, 1500, false},
		"held back":                {"the limit is further down", 6, func(v *core.VertexSample) { v.BackPressure = core.Read(400) }, 1500, false},
		"back pressure not known":  {"only what is known leaves anything out", 6, func(v *core.VertexSample) { v.BackPressure = core.Reading{} }, 1500, false},
		"one subtask":              {"there is nothing to compare it with", 1, func(*core.VertexSample) {}, 1500, false},
		"largest lag is not known": {"recorded by an older version", 6, func(v *core.VertexSample) { v.LagMax = core.Reading{} }, 1500, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := func(at float64) []core.VertexSample {
				v := src("a", 1100*at, 0, 500, 2_700_000)
				v.LagMax, v.InPerSecond, v.BackPressure = core.Read(2_700_000), core.Read(1100), core.Read(0)
				c.change(&v)
				return []core.VertexSample{v}
			}
			r := Evaluate(Input{Topology: core.Topology{Vertices: []core.Vertex{vertex("a", c.parallelism)}}, Samples: samples(row(0), row(1)), Policy: policy.Default()})
			v := r.Vertices[0]
			if got := num(v.CatchUpRate); got != c.catchUp || r.Backlog == c.out || strings.Contains(v.Note, "more subtasks cannot help") != c.out {
				t.Errorf("because %s: catch-up %g, backlog %v, note %q", c.reason, got, r.Backlog, v.Note)
			}
		})
	}
}

func TestGlobal(t *testing.T) {
	t.Parallel()
	in := []core.Sample{
		{Global: core.GlobalSample{HeapRatio: core.Read(.5), GCPressure: core.Read(.6), HeapUsed: core.Read(512), ManagedUsed: core.Read(420), MetaspaceUsed: core.Read(110)}},
		{Global: core.GlobalSample{HeapRatio: core.Read(.7), GCPressure: core.Read(.8), HeapUsed: core.Read(1024), ManagedUsed: core.Read(840), MetaspaceUsed: core.Read(220), SlotsTotal: core.Read(50), SlotsFree: core.Read(8)}},
	}
	want := Global{GCPressure: core.Read(.8), HeapRatio: core.Read(.6), HeapUsed: core.Read(768), ManagedUsed: core.Read(630), MetaspaceUsed: core.Read(165), SlotsUsed: core.Read(42)}
	if diff := cmp.Diff(want, global(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Global{}, global([]core.Sample{{}})); diff != "" {
		t.Errorf("nothing was read (-want +got):\n%s", diff)
	}
}

// custom is an Evaluator of a function.
type custom func(CustomContext) Custom

func (f custom) Evaluate(c CustomContext) Custom { return f(c) }

// TestCustomEvaluator: a replaced rate of a source moves its own bounds and
// everything downstream.
func TestCustomEvaluator(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("sink", 1, "source"), vertex("source", 1)}}
	p := policy.Default()
	p.CatchUp = 0
	in := Input{Topology: topology, Policy: p, Now: epoch().Add(time.Hour), Samples: samples(
		[]core.VertexSample{op("sink", 0, 0, 400), src("source", 0, 0, 500, 0)},
		[]core.VertexSample{op("sink", 1000, 0, 400), src("source", 500, 1000, 500, 0)},
	)}
	var asked []string
	in.Custom = custom(func(c CustomContext) Custom {
		asked = append(asked, c.Vertex.ID)
		if c.Vertex.ID == "sink" {
			return Custom{TrueRate: core.Read(1.23456)}
		}
		if !c.Now.Equal(in.Now) || len(c.Samples) != 2 || num(c.Evaluated.TargetRate) != 500 {
			t.Errorf("told of %v, %d samples, target %v", c.Now, len(c.Samples), c.Evaluated.TargetRate)
		}
		return Custom{TargetRate: core.Read(100_000), Note: "a campaign"}
	})
	r := Evaluate(in)
	source, _ := r.Find("source")
	sink, _ := r.Find("sink")
	if diff := cmp.Diff([]string{"source", "sink"}, asked); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if num(source.TargetRate) != 100_000 || num(source.UpBelow) != 100_000 || !source.Outside || source.Note != "a campaign" {
		t.Errorf("source: %+v", source)
	}
	if num(sink.TargetRate) != 200_000 || num(sink.TrueRate) != 1.235 {
		t.Errorf("sink: target %v, true rate %v; want 200000 and 1.235", sink.TargetRate, sink.TrueRate)
	}
}

func TestLeastRate(t *testing.T) {
	t.Parallel()
	source := core.Vertex{ID: "s"}
	for name, c := range map[string]struct {
		reason string
		params []policy.Param
		vertex core.Vertex
		want   core.Reading
		bad    string
	}{
		"raises":        {"the load is known to come", []policy.Param{{Key: "class", Value: LeastRateClass}, {Key: "rate", Value: "800"}}, source, core.Read(800), ""},
		"is enough":     {"more is there already", []policy.Param{{Key: "rate", Value: "400"}}, source, core.Reading{}, ""},
		"another":       {"only one source was named", []policy.Param{{Key: "rate", Value: "800"}, {Key: "vertex", Value: "x"}}, source, core.Reading{}, ""},
		"no source":     {"what is downstream follows by itself", []policy.Param{{Key: "rate", Value: "800"}}, vertex("v", 1, "s"), core.Reading{}, ""},
		"no rate":       {"it would do nothing", nil, source, core.Reading{}, "rate is missing"},
		"no number":     {"", []policy.Param{{Key: "rate", Value: "many"}}, source, core.Reading{}, "number above 0"},
		"infinite":      {"", []policy.Param{{Key: "rate", Value: "Inf"}}, source, core.Reading{}, "number above 0"},
		"unknown param": {"a typo would do nothing", []policy.Param{{Key: "rates", Value: "1"}}, source, core.Reading{}, `unknown parameter "rates"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := NewLeastRate(c.params)
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Errorf("error %v; want %q", err, c.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := e.Evaluate(CustomContext{Vertex: c.vertex, Evaluated: Vertex{TargetRate: core.Read(500)}})
			if !got.TargetRate.Equal(c.want) {
				t.Errorf("because %s: %v; want %v", c.reason, got.TargetRate, c.want)
			}
		})
	}
}

// TestUpstreamGapIsToldOnce: a note names where the gap is, however far up.
func TestUpstreamGapIsToldOnce(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("a", 1), vertex("b", 1, "a"), vertex("c", 1, "b"), vertex("d", 1, "c")}}
	bad := src("a", 0, 0, 500, 0)
	bad.RecordsIn = core.Absent(core.Incomplete)
	row := func(a core.VertexSample) []core.VertexSample {
		return []core.VertexSample{a, op("b", 1, 1, 1), op("c", 1, 1, 1), op("d", 1, 1, 1)}
	}
	r := Evaluate(Input{Topology: topology, Samples: samples(row(src("a", 0, 0, 500, 0)), row(bad)), Policy: policy.Default()})
	for _, id := range []string{"b", "c", "d"} {
		v, _ := r.Find(id)
		if want := "upstream a: records in incomplete in 1 of 2 samples"; v.Note != want || v.Gap != core.ReasonIncomplete {
			t.Errorf("%s: %q, %q; want %q", id, v.Gap, v.Note, want)
		}
	}
}
