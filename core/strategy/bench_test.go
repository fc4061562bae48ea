package strategy

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// wide is a job of n vertices over 20 samples, layers of ten that all read from
// the layer before.
func wide(n int) (core.JobContext, policy.Policy) {
	var w world
	for i := range n {
		v := core.Vertex{ID: fmt.Sprintf("%032d", i), Name: fmt.Sprintf("map %d", i), Parallelism: 8, MaxParallelism: 720}
		if i >= 10 {
			v.Inputs = []core.Edge{{From: fmt.Sprintf("%032d", i-10), Ship: core.ShipHash}}
		} else {
			v.Partitions = 64
		}
		w.topology.Vertices = append(w.topology.Vertices, v)
		w.in, w.out, w.permille, w.lag = append(w.in, 1234.5), append(w.out, 1234.5), append(w.permille, 613.7), append(w.lag, 0)
	}
	p := policy.Default()
	p.MetricsWindow = 19 * time.Minute
	return w.context(p), p
}

// BenchmarkDecide is one whole decision: resolved policy, 20 samples. The
// bytes are what a cycle puts into history (decision, sample) and what the
// workflow carries (memory, window).
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{10, 100, 300} {
		b.Run(fmt.Sprintf("vertices=%d", n), func(b *testing.B) {
			ctx, p := wide(n)
			if len(ctx.Window) != 20 {
				b.Fatalf("%d samples", len(ctx.Window))
			}
			var d core.Decision
			var m core.Memory
			b.ReportAllocs()
			for b.Loop() {
				d, m, _ = Decide(ctx, p, nil)
			}
			if len(d.Vertices) != n {
				b.Fatalf("%d vertices, %s: %s", len(d.Vertices), d.Reason, d.Note)
			}
			b.ReportMetric(size(b, d), "B-decision")
			b.ReportMetric(size(b, ctx.Window[0]), "B-sample")
			b.ReportMetric(size(b, m), "B-memory")
			b.ReportMetric(size(b, ctx.Window), "B-window")
		})
	}
}

// BenchmarkDecideLayers is the same with the policy resolved from its keys.
func BenchmarkDecideLayers(b *testing.B) {
	ctx, _ := wide(100)
	layers := []policy.Layer{{Name: "input", Values: map[string]string{
		policy.Prefix + "metrics.window": "19 min", policy.Prefix + "excluded.periods": "09:00-10:00; * * 14-16 * * ?", policy.Prefix + "utilization.target": "0.8",
	}}}
	b.ReportAllocs()
	for b.Loop() {
		DecideLayers(ctx, layers)
	}
}

func size(b *testing.B, v any) float64 {
	text, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return float64(len(text))
}
