package flink

import (
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/stabilize"
)

// downAsReleased is the delay of the release: a smaller size is wanted at once,
// as long as the delay runs only by the way, when another vertex must change.
// What is taken is the newest size, not the largest of that time.
func downAsReleased(d *core.VertexDecision, delays *stabilize.Delays, now time.Time, p policy.Policy) {
	d.To, d.Why = d.Wanted, core.ReasonScaleDown
	if p.ScaleDownInterval <= 0 {
		return
	}
	v := delays.Record(d.ID, core.DelayedEntry{At: now, Parallelism: d.Wanted, Outside: d.Outside})
	if now.Equal(v.First) || now.Before(v.First.Add(p.ScaleDownInterval)) {
		d.Outside = false
	}
}
