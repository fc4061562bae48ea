package evaluate

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func epoch() time.Time { return time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC) }

// src and op make one vertex in one sample; numbers are records in, records
// out, busy ms and, for a source, lag.
func src(id string, in, out, busy, lag float64) core.VertexSample {
	return core.VertexSample{
		ID: id, RecordsIn: core.Read(in), RecordsOut: core.Read(out), Lag: core.Read(lag),
		BusyMin: core.Read(busy), BusyAvg: core.Read(busy), BusyMax: core.Read(busy),
	}
}

func op(id string, in, out, busy float64) core.VertexSample {
	v := src(id, in, out, busy, 0)
	v.Lag = core.Absent(core.NotApplicable)
	return v
}

// samples makes one sample per row, a second apart.
func samples(rows ...[]core.VertexSample) []core.Sample {
	var out []core.Sample
	for i, r := range rows {
		out = append(out, core.Sample{At: epoch().Add(time.Duration(i) * time.Second), Vertices: r})
	}
	return out
}

func vertex(id string, parallelism int, from ...string) core.Vertex {
	v := core.Vertex{ID: id, Name: id, Parallelism: parallelism, MaxParallelism: 720}
	for _, f := range from {
		v.Inputs = append(v.Inputs, core.Edge{From: f, Ship: core.ShipHash})
	}
	return v
}

func num(r core.Reading) float64 { return r.Or(math.NaN()) }

func TestSourceAndSink(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("sink", 1, "source"), vertex("source", 1)}}
	growing := samples(
		[]core.VertexSample{op("sink", 0, 0, 400), src("source", 0, 0, 800, 950)},
		[]core.VertexSample{op("sink", 200, 0, 300), src("source", 100, 200, 600, 1000)},
	)
	flat := samples(
		[]core.VertexSample{op("sink", 200, 0, 400), src("source", 100, 0, 800, 0)},
		[]core.VertexSample{op("sink", 400, 0, 300), src("source", 200, 0, 600, 0)},
	)
	type numbers struct{ SourceTarget, SinkTarget, SourceCatchUp, SinkCatchUp float64 }
	cases := map[string]struct {
		reason  string
		samples []core.Sample
		catchUp time.Duration
		want    numbers
	}{
		"2 s":        {"half of the lag per second on top", growing, 2 * time.Second, numbers{150, 300, 500, 1000}},
		"1 s":        {"all of the lag in a second", growing, time.Second, numbers{150, 300, 1000, 2000}},
		"0":          {"0 turns the term off", growing, 0, numbers{150, 300, 0, 0}},
		"500 ms":     {"durations count in whole seconds", growing, 500 * time.Millisecond, numbers{150, 300, 0, 0}},
		"no lag":     {"the target is what arrives", flat, 2 * time.Second, numbers{100, 200, 0, 0}},
		"no lag, 0s": {"the target does not depend on the catch-up", flat, 0, numbers{100, 200, 0, 0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Default()
			p.CatchUp = c.catchUp
			r := Evaluate(Input{Topology: topology, Samples: c.samples, Policy: p})
			sink, source := r.Vertices[0], r.Vertices[1]
			got := numbers{num(source.TargetRate), num(sink.TargetRate), num(source.CatchUpRate), num(sink.CatchUpRate)}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("because %s (-want +got):\n%s", c.reason, diff)
			}
			if num(source.Load) != 0.7 || num(sink.Load) != 0.35 {
				t.Errorf("load %v and %v; want .7 and .35, the means", source.Load, sink.Load)
			}
			if sink.Lag.State() != core.NotApplicable {
				t.Errorf("lag of the sink: %v; it has none by its nature", sink.Lag)
			}
		})
	}
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason           string
		target, catchUp  float64
		catchUpS, startS int
		backlog          bool
		up, down         float64
	}{
		"plain":          {"target over utilization", 700, 0, 0, 1, false, 778, 1000},
		"catching up":    {"catch-up on both, the restart below", 700, 350, 2, 1, false, 1128, 1700},
		"backlog":        {"in backlog only full load counts, and nothing goes down", 700, 350, 2, 1, true, 1050, math.Inf(1)},
		"backlog, even":  {"without lag the bound is the target", 700, 0, 2, 1, true, 700, math.Inf(1)},
		"restart as c-u": {"a restart as long as the catch-up doubles", 700, 0, 60, 60, false, 778, 1700},
		"long restart":   {"a restart of five minutes in a catch-up of one", 700, 0, 60, 300, false, 778, 4500},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Policy{CatchUp: time.Duration(c.catchUpS) * time.Second, RestartTime: time.Duration(c.startS) * time.Second, UtilizationMax: 0.9, UtilizationMin: 0.7}
			upper, lower := p.UtilizationMax, p.UtilizationMin
			if c.backlog {
				upper, lower = 1, 0
			}
			up, down := Capacity(c.target, c.catchUp, upper, false, p), Capacity(c.target, c.catchUp, lower, true, p)
			if up != c.up || down != c.down {
				t.Errorf("up %v, down %v; want %v, %v: %s", up, down, c.up, c.down, c.reason)
			}
		})
	}
}

func TestDefaultsAtWork(t *testing.T) {
	t.Parallel()
	p := policy.Default()
	if up, down, size := Capacity(10000, 0, p.UtilizationMax, false, p), Capacity(10000, 0, p.UtilizationMin, true, p), Capacity(10000, 0, p.UtilizationTarget, true, p); up != 10000 || down != 26667 || size != 15952 {
		t.Errorf("up %v, down %v, capacity %v; want 10000, 26667, 15952", up, down, size)
	}
	if !math.IsNaN(Capacity(math.NaN(), 0, 1, true, p)) || !math.IsInf(Capacity(1, 0, -0.1, true, p), 1) {
		t.Error("NaN in must be NaN out; a utilization of 0 or below has no capacity")
	}
	if Capacity(100, 0, 1.3, false, p) != 100 {
		t.Error("a utilization above 1 counts as 1")
	}
}

func TestBacklog(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		lag    core.Reading
		rate   float64
		want   bool
	}{
		"none":       {"no lag", core.Read(0), 100, false},
		"missing":    {"a lag that is not known is no backlog", core.Reading{}, 100, false},
		"375 s":      {"75 000 at 200/s is more than 300 s", core.Read(75000), 200, true},
		"270 s":      {"54 000 at 200/s is less than 300 s", core.Read(54000), 200, false},
		"standstill": {"lag at a rate of 0 is never worked off", core.Read(1), 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := src("s", c.rate, 0, 500, 0)
			last.Lag = c.lag
			r := Evaluate(Input{
				Topology: core.Topology{Vertices: []core.Vertex{vertex("s", 1)}}, Policy: policy.Default(),
				Samples: samples([]core.VertexSample{src("s", 0, 0, 500, 0)}, []core.VertexSample{last}),
			})
			if r.Backlog != c.want {
				t.Errorf("backlog %v; want %v: %s", r.Backlog, c.want, c.reason)
			}
		})
	}
}

func TestTrueRate(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	cases := map[string]struct {
		reason                  string
		observed                []float64
		switchAt, busy, in, out float64
	}{
		"busy within":        {"350 is not above 300 by a fifth", []float64{200, 400}, 0.2, 100, 35, 350},
		"busy above":         {"350 is above 300 by more than a tenth", []float64{200, 400}, 0.1, 100, 35, 300},
		"nothing observed":   {"busy time is all there is", nil, 0.1, 100, 35, 350},
		"no time":            {"work in no time has no bound", nil, 0.1, 0, 100, inf},
		"no work":            {"no work has no bound", nil, 0.1, 1, 0, inf},
		"no work, no time":   {"no work has no bound, whatever the time", nil, 0.1, nan, 0, inf},
		"busy unknown":       {"the observed rate stands in", []float64{200, 400}, 0.1, nan, 1, 300},
		"one observation":    {"one is fewer than two", []float64{200}, 0.1, 100, 35, 350},
		"observed unbounded": {"only infinities say that it is idle", []float64{inf, inf}, 0.1, nan, 1, inf},
		"both unknown":       {"nothing is known", nil, 0.1, nan, 1, nan},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := TrueRate(busyRate(c.in, c.busy), mean(c.observed, 2), c.switchAt)
			if got != c.out && !(math.IsNaN(got) && math.IsNaN(c.out)) {
				t.Errorf("%v; want %v: %s", got, c.out, c.reason)
			}
		})
	}
}

func TestObserved(t *testing.T) {
	t.Parallel()
	p := policy.Default()
	cases := map[string]struct {
		reason          string
		lag, rate, back float64
		want            float64
	}{
		"too little lag": {"less than 30 s of work waits", 500, 1000, 500, 123},
		"no lag":         {"it is not at its limit", 0, 1000, 500, 123},
		"tenth back":     {"a tenth of the time it was held back", 1e7, 900, 100, 900 / 0.9},
		"less back":      {"", 1e7, 900, 90, 900 / 0.91},
		"fifth back":     {"", 1e7, 1000, 200, 1250},
		"a little less":  {"", 1e7, 1000, 190, 1000 / 0.81},
		"nothing read":   {"no work has no bound", 500, 0, 100, math.Inf(1)},
		"all back":       {"held back all the time it shows nothing", 1e7, 1000, 1000, 123},
		"free":           {"never held back: what it reads is what it can", 1e7, 500, 0, 500},
		"three quarters": {"", 1e7, 250, 750, 1000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := core.VertexSample{Lag: core.Read(c.lag), InPerSecond: core.Read(c.rate), BackPressure: core.Read(c.back)}
			if got := Observed(v, 123, p); got != c.want {
				t.Errorf("%v; want %v: %s", got, c.want, c.reason)
			}
		})
	}
	if !math.IsNaN(Observed(core.VertexSample{}, 123, p)) {
		t.Error("without a rate there is no observation")
	}
}

// TestObservedIsCarried: what a source showed while it lagged stands for the
// samples in which it did not.
// caughtUp is a source that did 1250/s and then 1000/s while it worked off a
// lag, and has none since.
func caughtUp(lag, back float64) core.VertexSample {
	return core.VertexSample{ID: "s", Lag: core.Read(lag), InPerSecond: core.Read(500), BackPressure: core.Read(back)}
}

func TestObservedIsCarried(t *testing.T) {
	t.Parallel()
	var line series
	var known core.ObservedRate
	for i, step := range []struct {
		v    core.VertexSample
		want float64
	}{
		{caughtUp(1e6, 600), math.NaN()}, {caughtUp(0, 0), math.NaN()}, {caughtUp(1e5, 500), 1125}, {caughtUp(0, 0), 1125}, {caughtUp(0, 0), 1125},
		{caughtUp(0, 0), 1125}, {caughtUp(0, 0), 1125}, {caughtUp(0, 0), 1125}, {caughtUp(0, 0), 1125}, {caughtUp(0, 0), 1125},
	} {
		line = append(line, point{v: step.v, ok: true, at: epoch().Add(time.Duration(i) * time.Minute)})
		got, remember := line.observed(known, policy.Default())
		if got != step.want && !(math.IsNaN(got) && math.IsNaN(step.want)) {
			t.Errorf("after %d samples: %v; want %v", i+1, got, step.want)
		}
		if remember != nil {
			known = *remember
		}
	}
}

// TestObservedOfATimeThatHasNotCome is forgotten: the clock was set back.
func TestObservedOfATimeThatHasNotCome(t *testing.T) {
	t.Parallel()
	known := core.ObservedRate{ID: "s", Until: epoch().Add(time.Hour), Samples: 9, Entries: []core.ObservedEntry{{At: epoch(), Rate: core.Read(7)}}}
	for until, want := range map[time.Time]float64{epoch().Add(time.Minute): 7, epoch().Add(time.Hour): math.NaN()} {
		known.Until = until
		s := state{in: Input{Observed: []core.ObservedRate{known}, Samples: []core.Sample{{At: epoch().Add(time.Minute)}}}}
		got, ok := rateAt(s.remembered("s"), epoch())
		if ok == math.IsNaN(want) || ok && got != want {
			t.Errorf("until %s: %v, %v; want %v", until, got, ok, want)
		}
	}
}

// TestObservedOutlivesItsSamples: a window of four samples slides over ten.
func TestObservedOutlivesItsSamples(t *testing.T) {
	t.Parallel()
	var all series
	known := core.ObservedRate{ID: "s"}
	const window = 4
	var still core.ObservedRate
	for i := range 80 {
		v := caughtUp(0, 0)
		switch i {
		case 0:
			v = caughtUp(1e6, 600) // 1250
		case 1:
			v = caughtUp(1e5, 500) // 1000
		}
		all = append(all, point{v: v, ok: true, at: epoch().Add(time.Duration(i) * time.Minute)})
		rate, remember := all[max(0, len(all)-window):].observed(known, policy.Default())
		if i >= 1 && (rate < 1000 || rate > 1250) {
			t.Fatalf("after %d samples: %v; what was seen while it caught up is 1000 to 1250", i+1, rate)
		}
		if remember != nil {
			known = *remember
		}
		switch {
		case i == 60:
			still = known
		case i > 60 && !cmp.Equal(still, known):
			t.Fatalf("after %d samples: %+v, was %+v; nothing is new, so nothing is to be remembered anew", i+1, known, still)
		}
	}
	if len(known.Entries) != 1 {
		t.Errorf("%+v; want one entry", known)
	}
	_, remember := series{point{v: caughtUp(0, 0), ok: true, at: epoch().Add(time.Hour)}}.observed(core.ObservedRate{ID: "s"}, policy.Default())
	if remember != nil {
		t.Errorf("in a new attempt %+v is remembered; nothing was observed in it", remember)
	}
}

func TestBusyTimeAndRate(t *testing.T) {
	t.Parallel()
	var line series
	for i, at := range []struct{ load, total float64 }{{200, 10000}, {300, 10200}, {400, 10400}} {
		v := op("v", 0, 0, at.load)
		v.BusyTotal = core.Read(at.total)
		line = append(line, point{at: epoch().Add(time.Duration(i) * time.Second), v: v, ok: true})
	}
	for _, c := range []struct {
		by          policy.Aggregator
		parallelism int
		want        float64
	}{{policy.AggregateMax, 2, 300}, {policy.AggregateMin, 1, 300}, {policy.AggregateAvg, 2, 100}, {policy.AggregateAvg, 1, 200}} {
		if got := core.Round3(line.busyMs(c.parallelism, c.by)); got != c.want {
			t.Errorf("busy by %s at %d: %v; want %v", c.by, c.parallelism, got, c.want)
		}
	}
}

// TestBusyTimeThatGoesBack: a total that shrinks a little is no negative work,
// and no negative rate comes of it.
func TestBusyTimeThatGoesBack(t *testing.T) {
	t.Parallel()
	var line series
	for i, total := range []float64{10000, 9990} {
		v := op("v", 0, 0, 0)
		v.BusyTotal = core.Read(total)
		line = append(line, point{at: epoch().Add(time.Duration(i) * time.Second), v: v, ok: true})
	}
	if got := line.busyMs(1, policy.AggregateAvg); got != 0 {
		t.Errorf("busy %v; want 0", got)
	}
	if got := busyRate(1000, line.busyMs(1, policy.AggregateAvg)); !math.IsInf(got, 1) {
		t.Errorf("true rate %v; want no bound", got)
	}
}

func TestProcessed(t *testing.T) {
	t.Parallel()
	gauge := func(in, perSecond float64) core.VertexSample {
		v := op("v", in, 0, 0)
		v.InPerSecond = core.Read(perSecond)
		return v
	}
	line := series{{at: epoch(), v: gauge(0, 40)}, {at: epoch().Add(time.Second), v: gauge(100, 60)}}
	bare := series{{at: epoch(), v: op("v", 0, 0, 0)}, {at: epoch().Add(time.Second), v: op("v", 100, 0, 0)}}
	for _, c := range []struct {
		reason string
		line   series
		source bool
		by     policy.Aggregator
		want   float64
	}{
		{"the mean of the meter", line, false, policy.AggregateMax, 50},
		{"for the mean of busy time the counter", line, false, policy.AggregateAvg, 100},
		{"without a meter the counter", bare, false, policy.AggregateMin, 100},
		{"of a source always the counter", line, true, policy.AggregateMax, 100},
	} {
		if got := c.line.processed(c.source, c.by); got != c.want {
			t.Errorf("%v; want %v: %s", got, c.want, c.reason)
		}
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	row := func(v core.Reading) core.VertexSample { return core.VertexSample{RecordsIn: v} }
	line := func(values ...core.Reading) series {
		var out series
		for i, v := range values {
			out = append(out, point{at: epoch().Add(time.Duration(i) * time.Second), v: row(v)})
		}
		return out
	}
	for _, c := range []struct {
		reason string
		line   series
		want   float64
	}{
		{"from end to end", line(core.Read(0), core.Read(0), core.Read(4)), 2},
		{"a missing first number is left out", line(core.Reading{}, core.Read(10), core.Read(20)), 10},
		{"an incomplete number in the middle too", line(core.Read(0), core.Absent(core.Incomplete), core.Read(20)), 10},
		{"one number has no slope", line(core.Read(1)), math.NaN()},
		{"none has none", nil, math.NaN()},
	} {
		if got := c.line.rate(recordsIn); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v; want %v: %s", got, c.want, c.reason)
		}
	}
}

func TestRatios(t *testing.T) {
	t.Parallel()
	two := state{
		in: Input{Topology: core.Topology{Vertices: []core.Vertex{
			vertex("op1", 1, "source1", "source2"), vertex("sink1", 1, "op1"), vertex("source1", 1), vertex("source2", 1), // sorted by id
		}}},
		outputs: map[string]int{"source1": 1, "source2": 1, "op1": 1},
	}
	two.in.Samples = samples(
		[]core.VertexSample{op("op1", 100, 0, 0), op("sink1", 100, 0, 0), src("source1", 100, 100, 0, 0), src("source2", 100, 100, 0, 0)},
		[]core.VertexSample{op("op1", 350, 0, 0), op("sink1", 150, 0, 0), src("source1", 200, 300, 0, 0), src("source2", 200, 150, 0, 0)},
	)
	two.lines = bySample(two.in.Topology, two.in.Samples)
	cross := state{
		in: Input{Topology: core.Topology{Vertices: []core.Vertex{
			vertex("op1", 1, "source1", "source2"), vertex("op2", 1, "source1", "source2"), vertex("source1", 1), vertex("source2", 1),
		}}},
		outputs: map[string]int{"source1": 2, "source2": 2},
	}
	cross.in.Samples = samples(
		[]core.VertexSample{op("op1", 0, 0, 0), op("op2", 0, 0, 0), src("source1", 0, 0, 0, 0), src("source2", 0, 0, 0, 0)},
		[]core.VertexSample{op("op1", 125, 0, 0), op("op2", 125, 0, 0), src("source1", 100, 200, 0, 0), src("source2", 100, 50, 0, 0)},
	)
	cross.lines = bySample(cross.in.Topology, cross.in.Samples)
	for _, c := range []struct {
		reason string
		s      *state
		from   string
		to     int
		want   float64
	}{
		{"what it takes in less what the other source sends", &two, "source1", 0, 2},
		{"likewise", &two, "source2", 0, 0.5},
		{"one input: what it takes in", &two, "op1", 1, 0.2},
		{"no way to tell: all that the source sends", &cross, "source1", 0, 2},
		{"likewise", &cross, "source2", 1, 0.5},
	} {
		if got := c.s.ratio(c.from, c.s.in.Topology.Vertices[c.to]); got != c.want {
			t.Errorf("%s: %v; want %v: %s", c.from, got, c.want, c.reason)
		}
	}
}

func TestSourceWithoutBacklogMetric(t *testing.T) {
	t.Parallel()
	p := policy.Default()
	p.RestartTime = 0
	first, last := src("s", 0, 0, 100, 0), src("s", 1000, 0, 100, 0)
	first.Lag, last.Lag = core.Reading{}, core.Reading{}
	first.InPerSecond, last.InPerSecond = core.Read(0), core.Read(0)
	r := Evaluate(Input{Topology: core.Topology{Vertices: []core.Vertex{vertex("s", 5)}}, Policy: p, Samples: []core.Sample{
		{At: epoch(), Vertices: []core.VertexSample{first}}, {At: epoch().Add(2 * time.Second), Vertices: []core.VertexSample{last}},
	}})
	v := r.Vertices[0]
	got := []float64{num(v.TargetRate), num(v.TrueRate), num(v.UpBelow), num(v.DownAbove)}
	if diff := cmp.Diff([]float64{500, 5000, 500, 1250}, got); diff != "" || !v.Outside || v.Gap != "" {
		t.Errorf("gap %q, outside %v (-want +got):\n%s", v.Gap, v.Outside, diff)
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	r := Evaluate(Input{
		Topology: core.Topology{Vertices: []core.Vertex{vertex("s", 2)}}, Policy: policy.Default(),
		Samples: samples([]core.VertexSample{src("s", 0, 0, 0, 0)}, []core.VertexSample{src("s", 0, 0, 0, 0)}),
	})
	v := r.Vertices[0]
	if num(v.TargetRate) != 0 || !v.Idle || v.TrueRate.State() != core.NotApplicable || num(v.UpBelow) != 0 || num(v.DownAbove) != 0 || !v.Outside {
		t.Errorf("an idle source: %+v; want no work, no bound, outside", v)
	}
}

// TestFourVertices is the Java autoscaler's test of a whole job.
func TestFourVertices(t *testing.T) {
	t.Parallel()
	p := policy.Default()
	p.UtilizationTarget, p.UtilizationMax, p.UtilizationMin, p.RestartTime = 1, 1, 1, 0
	topology := core.Topology{Vertices: []core.Vertex{vertex("map", 12, "s1", "s2"), vertex("s1", 2), vertex("s2", 2), vertex("sink", 8, "map")}}
	row := func(second int, source, middle, sink, lag float64) core.Sample {
		return core.Sample{At: epoch().Add(time.Duration(second) * time.Second), Vertices: []core.VertexSample{
			op("map", middle, 0, 500), src("s1", source, 0, 1000, lag), src("s2", source, 0, 1000, lag), op("sink", sink, 0, 500),
		}}
	}
	r := Evaluate(Input{Topology: topology, Policy: p, Samples: []core.Sample{row(10, 0, 0, 0, 0), row(110, 1000, 2000, 4000, 10000)}})
	var got [][]float64
	for _, v := range r.Vertices {
		got = append(got, []float64{num(v.TargetRate), num(v.CatchUpRate), num(v.TrueRate), num(v.Capacity)})
	}
	want := [][]float64{{440, 22.224, 40, 462}, {110, 5.556, 10, 116}, {110, 5.556, 10, 116}, {880, 44.448, 80, 924}}
	if diff := cmp.Diff(want, got); diff != "" || !r.Backlog {
		t.Errorf("backlog %v; map, s1, s2, sink (-want +got):\n%s", r.Backlog, diff)
	}
}

func TestGapsReachDownstream(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("a", 1), vertex("b", 1, "a"), vertex("c", 1, "b"), vertex("d", 1)}}
	row := func(n float64) []core.VertexSample {
		return []core.VertexSample{src("a", n, n, 500, 0), op("b", n, n, 500), op("c", n, 0, 500), src("d", n, 0, 500, 0)}
	}
	broken := func(f func([]core.VertexSample)) []core.VertexSample { r := row(100); f(r); return r }
	cases := map[string]struct {
		reason  string
		middle  []core.VertexSample
		lagSeen []string
		want    []core.Reason
	}{
		"all there":  {"nothing is missing", row(100), nil, []core.Reason{"", "", "", ""}},
		"incomplete": {"b and what is downstream of it", broken(func(r []core.VertexSample) { r[1].RecordsIn = core.Absent(core.Incomplete) }), nil, []core.Reason{"", core.ReasonIncomplete, core.ReasonIncomplete, ""}},
		"missing":    {"a number that did not come", broken(func(r []core.VertexSample) { r[0].BusyMax = core.Reading{} }), nil, []core.Reason{core.ReasonMetricsMissing, core.ReasonMetricsMissing, core.ReasonMetricsMissing, ""}},
		"old source": {"no busy time by its nature is nothing missing", broken(func(r []core.VertexSample) { r[0].BusyMax = core.Absent(core.NotApplicable) }), nil, []core.Reason{"", "", "", ""}},
		"no vertex":  {"a vertex that a sample does not have", row(100)[:3], nil, []core.Reason{"", "", "", core.ReasonMetricsMissing}},
		"stale":      {"an old value is no evidence", broken(func(r []core.VertexSample) { r[2].RecordsIn = core.Absent(core.Stale) }), nil, []core.Reason{"", "", core.ReasonMetricsMissing, ""}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Evaluate(Input{Topology: topology, Policy: policy.Default(), Samples: samples(row(0), c.middle, row(200)), LagSeen: c.lagSeen})
			var got []core.Reason
			for _, v := range r.Vertices {
				got = append(got, v.Gap)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("because %s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestOneBadVertexDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("a", 1), vertex("b", 1, "a"), vertex("c", 1)}}
	row := func(n float64) []core.VertexSample {
		bad := src("a", n, n, 500, 0)
		bad.RecordsIn = core.Reading{}
		return []core.VertexSample{bad, op("b", n, 0, 500), src("c", n, 0, 500, 0)}
	}
	r := Evaluate(Input{Topology: topology, Policy: policy.Default(), Samples: samples(row(0), row(100))})
	if v := r.Vertices[0]; v.Unjudged != core.ReasonMetricsMissing {
		t.Errorf("a: %+v; want unjudged", v)
	}
	if v := r.Vertices[1]; num(v.TargetRate) != 100 || v.Unjudged != "" || v.Gap == "" {
		t.Errorf("b: %+v; want judged by what it takes in, and never smaller", v)
	}
	if v := r.Vertices[2]; num(v.TargetRate) != 100 || num(v.TrueRate) != 200 || v.Unjudged != "" || v.Gap != "" {
		t.Errorf("c: %+v; want judged", v)
	}
}

func TestFinishedVertex(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("a", 1), vertex("b", 1, "a", "c"), vertex("c", 1)}}
	topology.Vertices[0].Finished = true
	row := func(n float64) []core.VertexSample {
		na := core.Absent(core.NotApplicable)
		done := core.VertexSample{ID: "a", RecordsIn: na, RecordsOut: na, BusyMax: na, Lag: na}
		return []core.VertexSample{done, op("b", n, 0, 950), src("c", n, n, 500, 0)}
	}
	r := Evaluate(Input{Topology: topology, Policy: policy.Default(), Samples: samples(row(0), row(900))})
	if v := r.Vertices[0]; v.Unjudged != core.ReasonExcluded || v.Gap != "" {
		t.Errorf("a: %+v; want excluded, nothing missing", v)
	}
	if v := r.Vertices[1]; num(v.TargetRate) != 900 || v.Gap != "" || v.Unjudged != "" {
		t.Errorf("b: %+v; want the live source's 900 alone", v)
	}
}

func TestLostBacklogMetric(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{vertex("s", 1)}}
	without := func(n float64) []core.VertexSample {
		v := src("s", n, 0, 100, 0)
		v.Lag = core.Reading{}
		return []core.VertexSample{v}
	}
	for _, c := range []struct {
		reason string
		first  []core.VertexSample
		seen   []string
		want   core.Reason
	}{
		{"never there: taken as 0", without(0), nil, ""},
		{"there in this window", []core.VertexSample{src("s", 0, 0, 100, 5)}, nil, core.ReasonMetricsMissing},
		{"there long before", without(0), []string{"s"}, core.ReasonMetricsMissing},
	} {
		r := Evaluate(Input{Topology: topology, Policy: policy.Default(), Samples: samples(c.first, without(100)), LagSeen: c.seen})
		if v := r.Vertices[0]; v.Unjudged != c.want || v.Gap != c.want {
			t.Errorf("unjudged %q, gap %q; want %q: %s", v.Unjudged, v.Gap, c.want, c.reason)
		}
	}
}
