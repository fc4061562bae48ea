package yarn_test

import (
	"net/url"
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
)

const (
	firstID  = "application_1795968107066_0001"
	secondID = "application_1795968107066_0002"
)

func named(name string) core.Target {
	return core.Target{Yarn: &core.YarnTarget{ApplicationName: name}}
}

// startSim runs a simulated Flink on the real clock, with all waiting times short, and
// gives its address.
func startSim(t *testing.T, version string) (*flinksim.Cluster, string) {
	t.Helper()
	sim := flinksim.New(flinksim.Options{
		Version: version, FetchInterval: 200 * time.Millisecond, FetchTime: 10 * time.Millisecond,
		CacheTime: 100 * time.Millisecond, WebTimeout: 500 * time.Millisecond, LossFreeze: 100 * time.Millisecond,
		Cooldown: 50 * time.Millisecond, MaxDelay: 200 * time.Millisecond, Stabilization: 100 * time.Millisecond,
		Downtime: 50 * time.Millisecond, Deploy: 20 * time.Millisecond, CheckpointInterval: 200 * time.Millisecond,
		CheckpointDuration: 5 * time.Millisecond, GaugeSpan: time.Second,
	})
	address, err := sim.Start()
	must(t, err)
	t.Cleanup(sim.Close)
	u, err := url.Parse(address)
	must(t, err)
	return sim, u.Host
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func submit(t *testing.T, sim *flinksim.Cluster, name string) string {
	t.Helper()
	id, err := sim.Submit(flinksim.JobSpec{Name: name, Load: flinksim.Constant(500), Vertices: flinksim.DefaultVertices()})
	must(t, err)
	return id
}

// running is an application with the Flink at an address.
func running(id, name, address string) fakeApp {
	return fakeApp{ID: id, User: "etl", Name: name, Queue: "root.default", State: "RUNNING", FinalStatus: "UNDEFINED", Type: "Apache Flink", Tags: "fa-" + name, Address: address}
}

func open(t *testing.T, cfg yarn.Config) *yarn.Cluster {
	t.Helper()
	c, err := yarn.New(cfg)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestTheContractIsKeptOverASimulatedFlink(t *testing.T) {
	t.Parallel()
	for _, version := range []string{flinksim.Flink23, flinksim.Flink120} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			porttest.Run(t, simHarness(t, version, false))
		})
	}
}

// TestTheContractIsKeptThroughTheWebProxy: reads and changes in place need no more
// than the ResourceManager.
func TestTheContractIsKeptThroughTheWebProxy(t *testing.T) {
	t.Parallel()
	porttest.Run(t, simHarness(t, flinksim.Flink23, true))
}

// simHarness runs a simulated Flink as an application, behind a firewall where one
// blocks its address.
func simHarness(t *testing.T, version string, blocked bool) porttest.Harness {
	t.Helper()
	sim, address := startSim(t, version)
	rm := newRM(t, running(firstID, "orders", address))
	submit(t, sim, "orders")
	cfg := yarn.Config{ResourceManagers: []string{rm.URL}, Timeout: 2 * time.Second, Flink: flink.Config{Timeout: time.Second}}
	if blocked {
		cfg.Dial = firewall(address)
	}
	return porttest.Harness{
		Platform: open(t, cfg), Target: named("orders"), Absent: named("no such application"),
		Source: "Source: orders", Slow: "enrich", Checkpointing: true, Elastic: true, Means: core.Means{Elastic: true}, Timeout: 30 * time.Second,
		Hooks: porttest.Hooks{
			Twin: func(t *testing.T) func() {
				id := submit(t, sim, "orders")
				return func() { must(t, sim.CancelJob(id)) }
			},
			Freeze: func(*testing.T) func() {
				sim.HangTaskManager(true)
				return func() { sim.HangTaskManager(false) }
			},
			Break: func(*testing.T) func() {
				sim.SetUnavailable(flinksim.Reset)
				return func() { sim.SetUnavailable(flinksim.Available) }
			},
			// An application ends with its job, and comes again under another id.
			End: func(*testing.T) {
				rm.app(firstID, func(a *fakeApp) { a.State, a.FinalStatus = "FINISHED", "KILLED" })
			},
			Again: func(t *testing.T) {
				next, address := startSim(t, version)
				submit(t, next, "another name in Flink, so that its id differs")
				rm.set(func() { rm.apps[secondID] = running(secondID, "orders", address) })
			},
		},
	}
}
