//go:build e2e

package flinklocal_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

// The clusters run one after another: the machine's cores are the limit.

func TestCluster(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) { checkCluster(t, version) })
	}
}

// versions can be given, for runs beyond the two that are always tested.
func versions() []string {
	if given := os.Getenv("FLINK_VERSIONS"); given != "" {
		return strings.Fields(given)
	}
	return []string{toolcache.Flink2, toolcache.Flink1}
}

func checkCluster(t *testing.T, version string) {
	clock := newClock(t)
	c := startCluster(t, flinklocal.Options{Version: version, TaskManagers: 2, Slots: 2})
	clock.lap("start with 2 TaskManagers")

	rates, id := submitTestJob(t, c, 2)
	must(t, c.WaitRunning(t.Context(), id))
	clock.lap("submit until all tasks run")

	must(t, rates.Set(400))
	waitRecords(t, c, id, 500)
	clock.lap("500 records at 400/s")
	must(t, rates.Set(1600))
	waitRecords(t, c, id, 3000)
	clock.lap("2500 more at 1600/s")

	must(t, rates.Set(8000)) // twice what two subtasks can do
	waitPending(t, c, id, 1000)
	must(t, rates.Set(100))
	clock.lap("backlog of 1000 at twice the capacity")

	lost := c.TaskManagers()[1]
	must(t, lost.Kill())
	must(t, c.WaitSlots(t.Context(), 2))
	clock.lap("TaskManager killed until noticed")
	must(t, lost.Restart(t.Context()))
	must(t, c.WaitSlots(t.Context(), 4))
	must(t, c.WaitRunning(t.Context(), id))
	clock.lap("TaskManager back until all tasks run")

	must(t, lost.Stop())
	must(t, lost.Cont())
	must(t, c.Cancel(t.Context(), id))
	must(t, c.Cancel(t.Context(), id))
	clock.lap("cancel")

	if _, err := c.AddTaskManager(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, c.WaitSlots(t.Context(), 6))
	clock.lap("add a TaskManager")
	checkClose(t, c, lost)
	clock.lap("close with a stopped process")
}

// checkClose: nothing is left of a cluster, not even a stopped process or its folder.
func checkClose(t *testing.T, c *flinklocal.Cluster, stopped *flinklocal.Process) {
	t.Helper()
	must(t, stopped.Stop())
	must(t, c.Close())
	for _, p := range append(c.TaskManagers(), c.JobManagers()...) {
		if p.Alive() {
			t.Errorf("%s is alive after Close", p.Name())
		}
		if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(p.PID()))); err == nil {
			t.Errorf("%s: process %d is there after Close", p.Name(), p.PID())
		}
	}
	if _, err := os.Stat(c.Dir()); err == nil {
		t.Errorf("%s is there after Close", c.Dir())
	}
	if err := stopped.Restart(t.Context()); err == nil {
		t.Error("a process of a closed cluster was started")
	}
}

func TestHighAvailability(t *testing.T) {
	clock := newClock(t)
	c := startCluster(t, flinklocal.Options{Version: toolcache.Flink2, TaskManagers: 1, Slots: 2, HA: true})
	clock.lap("start an HA pair with ZooKeeper")
	rates, id := submitTestJob(t, c, 2)
	must(t, rates.Set(200))
	must(t, c.WaitRunning(t.Context(), id))
	clock.lap("submit until all tasks run")

	leader := leaderOf(t, c)
	before, err := c.Job(t.Context(), id)
	must(t, err)
	must(t, leader.Kill())
	// The standby shows the old leader's job for a while; the recovered one has another start time.
	must(t, c.WaitJob(t.Context(), id, "the job to recover", func(job flinklocal.Job) bool {
		return job.StartTime > before.StartTime && job.AllRunning()
	}))
	clock.lap("leader killed until all tasks run again")
	next := leaderOf(t, c)
	if next.Name() == leader.Name() {
		t.Errorf("%s leads and is dead", next.Name())
	}
	must(t, leader.Restart(t.Context()))
	clock.lap("old leader back as standby")
	if still := leaderOf(t, c); still.Name() != next.Name() {
		t.Errorf("%s leads after the return of the old leader; want %s", still.Name(), next.Name())
	}
	waitRecords(t, c, id, 200)
	must(t, c.Cancel(t.Context(), id))
	must(t, c.Close())
}

func startCluster(t *testing.T, options flinklocal.Options) *flinklocal.Cluster {
	t.Helper()
	options.Dir = t.TempDir()
	options.Log = t.Output()
	c, err := flinklocal.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func submitTestJob(t *testing.T, c *flinklocal.Cluster, parallelism int) (*flinklocal.RateFile, string) {
	t.Helper()
	jar, err := testjob.Jar()
	if err != nil {
		t.Fatal(err)
	}
	rates, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Submit(t.Context(), jar, flinklocal.JobOptions{
		Name: "orders", Parallelism: parallelism,
		Args: []string{"--rate-file", rates.Path(), "--splits", "4", "--cost-us", "500"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rates, id
}

func leaderOf(t *testing.T, c *flinklocal.Cluster) *flinklocal.Process {
	t.Helper()
	leader, err := c.Leader(t.Context())
	must(t, err)
	return leader
}

// waitRecords waits until the slow vertex has read so many records since it started.
func waitRecords(t *testing.T, c *flinklocal.Cluster, jobID string, count int64) {
	t.Helper()
	must(t, c.WaitJob(t.Context(), jobID, "records to be counted", func(job flinklocal.Job) bool {
		vertex, found := job.Vertex(testjob.SlowName)
		return found && vertex.Metrics.ReadRecords >= count
	}))
}

// waitPending waits until the source reports a backlog. Its gauge is what a Kafka source has too.
func waitPending(t *testing.T, c *flinklocal.Cluster, jobID string, count float64) {
	t.Helper()
	job, err := c.Job(t.Context(), jobID)
	must(t, err)
	source, found := job.Vertex(testjob.SourceName)
	if !found {
		t.Fatalf("no source in %v", job)
	}
	path := "/jobs/" + jobID + "/vertices/" + source.ID + "/subtasks/metrics?get=Source__gen.pendingRecords"
	must(t, c.WaitJob(t.Context(), jobID, "a backlog", func(flinklocal.Job) bool {
		var metrics []struct {
			Sum float64 `json:"sum"`
		}
		return c.Get(t.Context(), path, &metrics) == nil && len(metrics) == 1 && metrics[0].Sum >= count
	}))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clock logs how long each step took.
type clock struct {
	t    *testing.T
	last time.Time
}

func newClock(t *testing.T) *clock { return &clock{t: t, last: time.Now()} }

func (c *clock) lap(step string) {
	c.t.Helper()
	now := time.Now()
	c.t.Logf("%-45s %6.1f s", step, now.Sub(c.last).Seconds())
	c.last = now
}
