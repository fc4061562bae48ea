//go:build e2e

package flink_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/file"
	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

// flinkVersions can be given, for runs beyond the two that are always tested.
func flinkVersions() []string {
	if given := os.Getenv("FLINK_VERSIONS"); given != "" {
		return strings.Fields(given)
	}
	return []string{toolcache.Flink2, toolcache.Flink1}
}

// real is a Flink cluster with the test job on it.
type real struct {
	*flinklocal.Cluster
	jar   string
	rates *flinklocal.RateFile
	job   string
}

func startReal(t *testing.T, options flinklocal.Options) *real {
	t.Helper()
	options.Dir, options.Log = t.TempDir(), t.Output()
	jar, err := testjob.Jar()
	must(t, err)
	rates, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	must(t, err)
	must(t, rates.Set(400))
	c, err := flinklocal.Start(t.Context(), options)
	must(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &real{Cluster: c, jar: jar, rates: rates}
	r.job = r.submit(t)
	return r
}

func (r *real) submit(t *testing.T) string {
	t.Helper()
	id, err := r.Submit(t.Context(), r.jar, flinklocal.JobOptions{
		Name: "orders", Parallelism: 1,
		Args: []string{"--rate-file", r.rates.Path(), "--splits", "4", "--cost-us", "500", "--max-parallelism", "24"},
	})
	must(t, err)
	return id
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func adapter(t *testing.T, urls ...string) *flink.Cluster {
	t.Helper()
	c, err := flink.New(flink.Config{URLs: urls, Timeout: 3 * time.Second})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestFlinkKeepsTheContract(t *testing.T) {
	for _, version := range flinkVersions() {
		t.Run(version, func(t *testing.T) {
			r := startReal(t, flinklocal.Options{
				Version: version, TaskManagers: 2, Slots: 2,
				Config: map[string]string{"heartbeat.timeout": "120000"}, // a frozen TaskManager stays
			})
			porttest.Run(t, r.harness(t))
		})
	}
}

// TestFlinkKeepsTheContractOfRedeploys: of a stop with a savepoint and a new
// start from it, under the default scheduler.
func TestFlinkKeepsTheContractOfRedeploys(t *testing.T) {
	for _, version := range flinkVersions() {
		t.Run(version, func(t *testing.T) {
			r := startReal(t, flinklocal.Options{
				Version: version, TaskManagers: 1, Slots: 3,
				Config: map[string]string{"jobmanager.scheduler": "default", "execution.checkpointing.interval": "1 s"},
			})
			args := []string{"--rate-file", r.rates.Path(), "--splits", "4", "--cost-us", "500", "--max-parallelism", "24", "--name", "orders", "--slow-parallelism", "${parallelism:slow}"}
			c, err := flink.New(flink.Config{URLs: []string{r.URL()}, Timeout: 10 * time.Second, Redeploy: flink.Redeploy{
				Savepoints: "file://" + t.TempDir(), Jobs: map[string]flink.Program{"orders": {Jar: filepath.Base(r.jar), Args: args, Parallelism: 1}},
			}})
			must(t, err)
			t.Cleanup(c.Close)
			porttest.RunRedeploy(t, porttest.RedeployHarness{
				Platform: c, Redeployer: c, Savepoints: file.Savepoints{}, Target: target("orders"), Slow: "slow",
				Unwritable: "file:///proc/nothing/here", Timeout: 2 * time.Minute,
			})
		})
	}
}

func (r *real) harness(t *testing.T) porttest.Harness {
	return porttest.Harness{
		Platform: adapter(t, r.URL()), Target: target("orders"), Absent: target("no such job"),
		Source: "Source: gen", Slow: "slow", Checkpointing: true, Timeout: 2 * time.Minute,
		Hooks: porttest.Hooks{
			Twin: func(t *testing.T) func() {
				id := r.submit(t)
				return func() { must(t, r.Cancel(context.WithoutCancel(t.Context()), id)) }
			},
			Freeze: func(t *testing.T) func() { return freeze(t, r.TaskManagers()[0]) },
			Break:  func(t *testing.T) func() { return freeze(t, r.JobManagers()[0]) },
			End:    func(t *testing.T) { must(t, r.Cancel(t.Context(), r.job)) },
			Again:  func(t *testing.T) { r.job = r.submit(t) },
		},
	}
}

func freeze(t *testing.T, p *flinklocal.Process) func() {
	t.Helper()
	must(t, p.Stop())
	return func() { must(t, p.Cont()) }
}

// TestHungTaskManager: from the first measurement on it is seen that nothing
// moves, and two and a half heartbeats later which one it is, though the
// JobManager's own clock goes on with each web.timeout.
func TestHungTaskManager(t *testing.T) {
	r := startReal(t, flinklocal.Options{
		TaskManagers: 2, Slots: 2, WebTimeout: 2 * time.Second,
		Config: map[string]string{"heartbeat.timeout": "120000", "heartbeat.interval": "2000"},
	})
	must(t, r.WaitRunning(t.Context(), r.job))
	c := adapter(t, r.URL())
	ref, err := c.Locate(t.Context(), target("orders"))
	must(t, err)
	await(t, "a fresh measurement", func() bool {
		m, err := c.Measure(t.Context(), ref, nil)
		return err == nil && m.Fresh && len(m.SilentTaskManagers) == 0
	})
	thaw := freeze(t, r.TaskManagers()[1])
	clocks := map[core.Reading]bool{}
	await(t, "one silent TaskManager", func() bool {
		m, err := c.Measure(t.Context(), ref, nil)
		must(t, err)
		clocks[m.Clock] = true
		if m.Fresh {
			t.Errorf("fresh with a hung TaskManager: %+v", m)
		}
		return len(m.SilentTaskManagers) == 1
	})
	await(t, "the JobManager's clock to move all the same", func() bool {
		m, err := c.Measure(t.Context(), ref, nil)
		must(t, err)
		clocks[m.Clock] = true
		if m.Fresh {
			t.Errorf("fresh with a hung TaskManager: %+v", m)
		}
		return len(clocks) > 2
	})
	thaw()
	await(t, "a fresh measurement again", func() bool {
		m, err := c.Measure(t.Context(), ref, nil)
		return err == nil && m.Fresh && len(m.SilentTaskManagers) == 0
	})
}

// TestFailover: with a leader lost the job is never called gone, and the
// requirements are still there afterwards.
func TestFailover(t *testing.T) {
	r := startReal(t, flinklocal.Options{HA: true, TaskManagers: 1, Slots: 2})
	must(t, r.WaitRunning(t.Context(), r.job))
	c := adapter(t, r.URLs()...)
	ref, err := c.Locate(t.Context(), target("orders"))
	must(t, err)
	wanted, err := c.Wanted(t.Context(), ref)
	must(t, err)
	wanted[0].Upper++
	must(t, c.Want(t.Context(), ref, "d1", wanted))
	leader, err := r.Leader(t.Context())
	must(t, err)
	must(t, leader.Kill())
	seen := map[string]int{}
	await(t, "the job to run under the next leader", func() bool {
		_, listErr := c.Locate(t.Context(), target("orders"))
		status, err := c.Status(t.Context(), ref)
		for _, e := range []error{listErr, err} {
			if e != nil {
				seen[e.Error()]++
			}
			if errors.Is(e, core.ErrNotFound) || errors.Is(e, core.ErrRefused) || errors.Is(e, core.ErrNotFlink) {
				t.Errorf("while the leader changes: %v", e)
			}
		}
		return err == nil && listErr == nil && status.AllTasksRunning()
	})
	for text, times := range seen {
		t.Logf("%d times: %s", times, text)
	}
	after, err := c.Wanted(t.Context(), ref)
	if err != nil || after[0] != wanted[0] {
		t.Errorf("requirements after the failover: %+v, %v; want %+v", after, err, wanted)
	}
}

// await looks until done says so.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
