package flinksim_test

import (
	"strconv"
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/file"
	"flinkscaler/adapters/flink"
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

// TestRedeployHoldsOnTheSimulator: what is promised of a stop with a savepoint
// and a new start from it.
func TestRedeployHoldsOnTheSimulator(t *testing.T) {
	t.Parallel()
	for _, version := range []string{flinksim.Flink23, flinksim.Flink120} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := quick(version)
			o.CheckpointInterval, o.CheckpointDuration = 200*time.Millisecond, 5*time.Millisecond
			c := flinksim.New(o)
			t.Cleanup(c.Close)
			url, err := c.Start()
			if err != nil {
				t.Fatal(err)
			}
			c.AddJar("orders.jar", sizedMain)
			a, err := flink.New(flink.Config{URLs: []string{url}, Timeout: 5 * time.Second, Redeploy: flink.Redeploy{
				Savepoints: "file://" + t.TempDir(),
				Jobs:       map[string]flink.Program{"orders": {Jar: "orders.jar", Args: []string{"${parallelism:enrich}"}}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Close)
			spec, _ := sizedMain([]string{"2"})
			c.AddJob(spec)
			porttest.RunRedeploy(t, porttest.RedeployHarness{
				Platform: a, Redeployer: a, Savepoints: file.Savepoints{}, Target: core.Target{Flink: &core.FlinkTarget{JobName: "orders"}},
				Slow: "enrich", Unwritable: "file:///proc/nothing/here", Timeout: 30 * time.Second,
			})
		})
	}
}

// sizedMain is a program that takes the size of its middle vertex.
func sizedMain(args []string) (flinksim.JobSpec, error) {
	v := flinksim.DefaultVertices()
	p, err := strconv.Atoi(args[0])
	v[1].Parallelism = p
	return flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500), Vertices: v, NotAdaptive: true}, err
}
