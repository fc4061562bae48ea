package strategy

import (
	"slices"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// loop is a job of one source and, with two sizes, a sink, decided on minute by
// minute as a workflow would.
type loop struct {
	p       policy.Policy
	ctx     core.JobContext
	in      float64
	running time.Time
}

func newLoop(p policy.Policy, sizes ...int) *loop {
	l := &loop{p: p, running: t0()}
	source := core.Vertex{ID: "a", Name: "source", Parallelism: sizes[0], MaxParallelism: 4000}
	l.ctx.Topology.Vertices = []core.Vertex{source}
	if len(sizes) > 1 {
		l.ctx.Topology.Vertices = append(l.ctx.Topology.Vertices, core.Vertex{
			ID: "b", Name: "sink", Parallelism: sizes[1], MaxParallelism: 4000, Inputs: []core.Edge{{From: "a", Ship: "REBALANCE"}},
		})
	}
	return l
}

// minute is one cycle: rate records per second at that busy time per vertex,
// and a lag.
func (l *loop) minute(k int, rate, lag float64, busy ...float64) core.Decision {
	now := t0().Add(time.Duration(k) * time.Minute)
	l.in += rate * 60
	s := core.Sample{At: now, RunningSince: l.running, Clock: core.Read(float64(k+1) * 1e9)}
	for i, v := range l.ctx.Topology.Vertices {
		x := core.VertexSample{
			ID: v.ID, Parallelism: v.Parallelism, RecordsIn: core.Read(l.in), RecordsOut: core.Read(l.in), InPerSecond: core.Read(rate),
			BusyMax: core.Read(busy[i]), BusyAvg: core.Read(busy[i]), BusyMin: core.Read(busy[i]), Lag: core.Absent(core.NotApplicable),
		}
		if i == 0 {
			x.Lag = core.Read(lag)
		}
		s.Vertices = append(s.Vertices, x)
	}
	l.ctx.Now, l.ctx.Cycle = now, k
	l.ctx.Window = append(l.ctx.Window, s)
	d, m, keep := Decide(l.ctx, l.p, nil)
	l.ctx.Memory = m
	l.ctx.Window = slices.DeleteFunc(l.ctx.Window, func(s core.Sample) bool { return s.At.Before(keep) })
	if d.Verdict == core.Change {
		for i := range l.ctx.Topology.Vertices {
			l.ctx.Topology.Vertices[i].Parallelism = d.Vertices[i].To
		}
		l.running, l.in = now.Add(time.Second), 0
	}
	return d
}

// TestDelayedDownOverHours is the Java autoscaler's end-to-end test of delayed
// scale-downs: blocks of ten minutes of busy time, one sample a minute.
func TestDelayedDownOverHours(t *testing.T) {
	t.Parallel()
	always := func(n int, values ...float64) []float64 {
		var out []float64
		for i := range n {
			out = append(out, values[i%len(values)])
		}
		return out
	}
	cases := map[string]struct {
		reason       string
		source, sink []float64 // busy per block
		at           int       // minute of the first change, -1 for none
		sizes        [2]int
	}{
		"an hour low":         {"the largest wish of the hour: 400 of 800", always(8, 800), []float64{350, 300, 150, 200, 400, 250, 100, 100}, 70, [2]int{200, 500}},
		"barely in bounds":    {"once an hour it is in bounds", always(24, 800), always(24, 700, 690), -1, [2]int{}},
		"high and low":        {"once an hour it is in bounds", always(24, 800), always(24, 790, 200), -1, [2]int{}},
		"the source needs it": {"the source goes up as soon as its mean is above 900; the sink's delay is not over", []float64{800, 800, 800, 800, 950}, always(5, 200), 46, [2]int{227, 1000}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Default()
			p.UtilizationTarget, p.UtilizationMax, p.UtilizationMin = 0.8, 0.9, 0.7
			p.MaxParallelism, p.ScaleDownMaxFactor, p.CatchUp, p.StabilizationInterval = 10000, 1, 0, 0
			p.ScaleDownInterval, p.MetricsWindow = time.Hour-time.Second, 10*time.Minute-time.Second
			l := newLoop(p, 200, 1000)
			for k := range 10 * len(c.source) {
				d := l.minute(k, 1.4e6, 0, c.source[k/10], c.sink[k/10])
				if d.Verdict != core.Change {
					continue
				}
				if got := [2]int{d.Vertices[0].To, d.Vertices[1].To}; k != c.at || got != c.sizes {
					t.Errorf("minute %d: %v; want minute %d: %v: %s\n%s", k, got, c.at, c.sizes, c.reason, d.Text(l.ctx.Topology, core.Terms{}))
				}
				if l.ctx.Memory.Delayed != nil {
					t.Errorf("delays left after a change: %v", l.ctx.Memory.Delayed)
				}
				return
			}
			if c.at >= 0 {
				t.Errorf("no change; want one at minute %d: %s", c.at, c.reason)
			}
		})
	}
}

// TestFlappingLoad is BC-21: a square wave of half an hour for a day.
func TestFlappingLoad(t *testing.T) {
	t.Parallel()
	const perSubtask = 228.6
	day := func(delay time.Duration) int {
		p := policy.Default()
		p.ScaleDownInterval = delay
		l := newLoop(p, 10)
		changes, lag := 0, 0.0
		for k := range 24 * 60 {
			load := 1600.0
			if k/30%2 == 1 {
				load = 800
			}
			able := perSubtask * float64(l.ctx.Topology.Vertices[0].Parallelism)
			rate := min(able, load+lag/60)
			lag = max(0, lag+(load-rate)*60)
			if l.minute(k, rate, lag, 1000*rate/able).Verdict == core.Change {
				changes++
			}
		}
		return changes
	}
	if n := day(time.Hour); n != 0 {
		t.Errorf("%d changes with a delay of an hour; want none: within each hour 10 are needed", n)
	}
	if n := day(0); n < 20 {
		t.Errorf("%d changes without a delay; the wave is meant to make it flap", n)
	}
}
