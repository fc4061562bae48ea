package strategy

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// mostMemory is what a vertex may cost in memory, in bytes of JSON, with all
// that can be remembered of it: delays over an hour, three changes, a doubt.
const mostMemory = 4096

// TestMemoryIsBoundedOverYears: 10,000 decisions, one an hour for more than a year,
// with everything on, of a job whose load never rests (I10).
func TestMemoryIsBoundedOverYears(t *testing.T) {
	t.Parallel()
	const n = 4
	random := rand.New(rand.NewPCG(1, 2))
	p := policy.Default()
	p.Interval, p.MetricsWindow, p.StabilizationInterval = time.Hour, 2*time.Minute, time.Minute
	p.RestartTracking, p.EffectivenessDetection, p.ObservedScalability = true, true, true
	w, _ := chain(n)
	var m core.Memory
	var last *core.Outcome
	changes, largest, demand := 0, 0, 10.0
	for cycle := range 10_000 {
		if random.IntN(6) == 0 {
			demand = 1 + random.Float64()*150
		}
		for i := range n {
			size := float64(w.topology.Vertices[i].Parallelism)
			// What a job does that needs so many subtasks at full load.
			w.permille[i] = min(1000, demand/size*1000)
			w.in[i] = w.permille[i] * size
			w.out[i] = w.in[i]
		}
		ctx := w.context(p)
		later(&ctx, time.Duration(cycle)*time.Hour)
		ctx.Cycle, ctx.Memory, ctx.LastOutcome = cycle, m, last
		d, after, _ := Decide(ctx, p, nil)
		m = after
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, len(b))
		if d.Verdict == core.Change {
			changes++
			kinds := []core.OutcomeKind{core.Applied, core.Applied, core.Partial, core.Rejected, core.Undone, core.Failed}
			last = &core.Outcome{
				Kind: kinds[random.IntN(len(kinds))], Attempt: changes, DecisionID: d.ID, Got: d.Sizes(),
				WrittenAt: ctx.Now, RunningAt: ctx.Now.Add(time.Duration(random.IntN(900)) * time.Second), EndedAt: ctx.Now.Add(time.Hour),
			}
			if last.Kind == core.Applied || last.Kind == core.Partial {
				for i := range n {
					w.topology.Vertices[i].Parallelism = d.Vertices[i].To
				}
			}
		}
	}
	if changes < 500 || len(m.Changes) == 0 || len(m.Restarts) == 0 {
		t.Errorf("%d changes, memory %+v: too little happened for a proof", changes, m)
	}
	if largest > n*mostMemory {
		t.Errorf("memory of %d bytes at its largest for %d vertices; want at most %d each", largest, n, mostMemory)
	}
	t.Logf("%d changes, memory at most %d bytes", changes, largest)
}
