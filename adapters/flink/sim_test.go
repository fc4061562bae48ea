package flink_test

import (
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
)

func target(name string) core.Target {
	return core.Target{Flink: &core.FlinkTarget{JobName: name}}
}

func TestSimulatedFlinkKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, version := range []string{flinksim.Flink23, flinksim.Flink120} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			porttest.Run(t, simHarness(t, version))
		})
	}
}

// simHarness runs a simulated cluster on the real clock, with all of Flink's
// waiting times short.
func simHarness(t *testing.T, version string) porttest.Harness {
	t.Helper()
	sim := flinksim.New(flinksim.Options{
		Version: version, FetchInterval: 200 * time.Millisecond, FetchTime: 10 * time.Millisecond,
		CacheTime: 100 * time.Millisecond, WebTimeout: 500 * time.Millisecond, LossFreeze: 100 * time.Millisecond,
		Cooldown: 50 * time.Millisecond, MaxDelay: 200 * time.Millisecond, Stabilization: 100 * time.Millisecond,
		Downtime: 50 * time.Millisecond, Deploy: 20 * time.Millisecond, CheckpointInterval: 200 * time.Millisecond,
		CheckpointDuration: 5 * time.Millisecond, GaugeSpan: time.Second,
	})
	url, err := sim.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	job := flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500), Vertices: flinksim.DefaultVertices()}
	submit := func(t *testing.T) string {
		t.Helper()
		id, err := sim.Submit(job)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := submit(t)
	cluster, err := flink.New(flink.Config{URLs: []string{url}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return porttest.Harness{
		Platform: cluster, Target: target("orders"), Absent: target("no such job"),
		Source: "Source: orders", Slow: "enrich", Checkpointing: true, Timeout: 30 * time.Second,
		Hooks: porttest.Hooks{
			Twin: func(t *testing.T) func() {
				id := submit(t)
				return func() { cancel(t, sim, id) }
			},
			Freeze: func(*testing.T) func() {
				sim.HangTaskManager(true)
				return func() { sim.HangTaskManager(false) }
			},
			Break: func(*testing.T) func() {
				sim.SetUnavailable(flinksim.Reset)
				return func() { sim.SetUnavailable(flinksim.Available) }
			},
			End:   func(t *testing.T) { cancel(t, sim, first) },
			Again: func(t *testing.T) { submit(t) },
		},
	}
}

func cancel(t *testing.T, sim *flinksim.Cluster, job string) {
	t.Helper()
	if err := sim.CancelJob(job); err != nil {
		t.Fatal(err)
	}
}
