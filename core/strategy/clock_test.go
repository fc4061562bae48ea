package strategy

import (
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/policy"
)

// TestAClockThatIsSet: a job idles for half an hour and is overrun then, at the
// very look at which the JobManager's clock is set. Whatever it shows, the job
// gets no smaller, and as large as with a clock that nobody touched.
func TestAClockThatIsSet(t *testing.T) {
	t.Parallel()
	for name, shift := range map[string]func(look int) time.Duration{
		"untouched":             func(int) time.Duration { return 0 },
		"back by 2 min":         func(look int) time.Duration { return since(look, 61, -2*time.Minute) },
		"back by 30 min":        func(look int) time.Duration { return since(look, 61, -30*time.Minute) },
		"back by 3 h":           func(look int) time.Duration { return since(look, 61, -3*time.Hour) },
		"ahead by 3 h":          func(look int) time.Duration { return since(look, 61, 3*time.Hour) },
		"a year ahead, once":    func(look int) time.Duration { return since(look, 61, 8760*time.Hour) - since(look, 62, 8760*time.Hour) },
		"an hour ahead, thrice": func(look int) time.Duration { return since(look, 58, time.Hour) - since(look, 61, time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, look := overrun(shift)
			if d.Verdict != core.Change || d.Vertices[0].To < 13 || d.Vertices[0].To > 14 || look > 79 {
				t.Errorf("look %d: %s %s: %s; want 8 -> 13 or 14 before look 80", look, d.Verdict, d.Reason, d.Note)
			}
		})
	}
}

func since(look, from int, d time.Duration) time.Duration {
	if look < from {
		return 0
	}
	return d
}

// overrun plays the job up to its first change.
func overrun(shift func(look int) time.Duration) (core.Decision, int) {
	p := policy.Default()
	p.ScaleDownInterval = 45 * time.Minute
	p.CatchUp, p.RestartTime = time.Hour, 0
	ctx := core.JobContext{Topology: core.Topology{Vertices: []core.Vertex{{ID: "a", Name: "a", Parallelism: 8, MaxParallelism: 128}}}}
	in, lag := 0.0, 0.0
	for look := 1; look <= 200; look++ {
		busy := 100.0
		if look <= 30 {
			busy = 700
		} else if look > 60 {
			busy = 1000
			lag += 60 * 100
		}
		in += busy * 60
		v := core.VertexSample{
			ID: "a", Parallelism: 8, RecordsIn: core.Read(in), RecordsOut: core.Read(0), InPerSecond: core.Read(busy),
			BusyMin: core.Read(busy), BusyAvg: core.Read(busy), BusyMax: core.Read(busy), BusyTotal: core.Read(busy),
			BackPressure: core.Read(0), Lag: core.Read(lag),
		}
		at := t0().Add(time.Duration(look)*time.Minute + shift(look))
		s := core.Sample{At: at, RunningSince: t0().Add(-24 * time.Hour), Clock: core.Read(float64(look)), Vertices: []core.VertexSample{v}}
		ctx.Cycle, ctx.Now, ctx.Window = look, at, collect.Append(ctx.Window, s, collect.MaxBytes)
		d, m, keep := Decide(ctx, p, nil)
		if d.Verdict == core.Change {
			return d, look
		}
		ctx.Memory = m
		for len(ctx.Window) > 0 && ctx.Window[0].At.Before(keep) {
			ctx.Window = ctx.Window[1:]
		}
	}
	return core.Decision{}, 200
}
