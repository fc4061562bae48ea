package flinksim_test

import (
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
)

// TestPortsHoldOnTheSimulator: what is promised of a platform holds through
// the real adapter, with a TaskManager that hangs too.
func TestPortsHoldOnTheSimulator(t *testing.T) {
	t.Parallel()
	for _, version := range []string{flinksim.Flink23, flinksim.Flink120} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := quick(version)
			o.CheckpointInterval, o.CheckpointDuration = 200*time.Millisecond, 5*time.Millisecond
			c, a := connect(t, o)
			named := func(name string) core.Target { return core.Target{Flink: &core.FlinkTarget{JobName: name}} }
			submit := func() string { return c.AddJob(flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500)}) }
			cancel := func(t *testing.T, id string) {
				if err := c.CancelJob(id); err != nil {
					t.Error(err)
				}
			}
			first := submit()
			porttest.Run(t, porttest.Harness{
				Platform: a, Target: named("orders"), Absent: named("no such job"), Source: "Source: orders", Slow: "enrich",
				Checkpointing: true, Timeout: 30 * time.Second,
				Hooks: porttest.Hooks{
					Twin: func(t *testing.T) func() { id := submit(); return func() { cancel(t, id) } },
					Freeze: func(*testing.T) func() {
						c.HangTaskManager(true)
						return func() { c.HangTaskManager(false) }
					},
					Break: func(*testing.T) func() {
						c.SetUnavailable(flinksim.Reset)
						return func() { c.SetUnavailable(flinksim.Available) }
					},
					End:   func(t *testing.T) { cancel(t, first) },
					Again: func(*testing.T) { submit() },
				},
			})
		})
	}
}
