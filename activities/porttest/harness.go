package porttest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// Harness is a platform with a running job on it. The job has a source and,
// behind it, a slow vertex with a max parallelism above its parallelism; at
// least one more slot than it uses is free; records arrive all the time.
type Harness struct {
	Platform activities.Platform
	// Target names the job.
	Target core.Target
	// Absent names a job that the cluster never had.
	Absent core.Target
	// Source and Slow begin the names of the two vertices.
	Source, Slow string
	// Checkpointing says that the job takes checkpoints all the time.
	Checkpointing bool
	// Elastic says that the cluster starts TaskManagers by itself.
	Elastic bool
	// Means says how the platform changes the job's size, as far as the suite must
	// know it: Uniform, Step, Restarts and Elastic. Locate must say the same. Where
	// it is Elastic itself no slot need be free.
	Means core.Means
	// Timeout bounds each wait for the cluster to get somewhere.
	Timeout time.Duration

	// Hooks are what the platform offers beside the ports. One that is nil
	// must be listed in NotOffered, by its field's name: a case is never
	// skipped in silence.
	Hooks      Hooks
	NotOffered []string
}

// Hooks do to the cluster what no port can do.
type Hooks struct {
	// Twin runs a second live job of the same name and returns what ends it.
	Twin func(t *testing.T) (end func())
	// Freeze hangs a TaskManager and returns what wakes it.
	Freeze func(t *testing.T) (thaw func())
	// Break makes the cluster not answer and returns what mends it.
	Break func(t *testing.T) (mend func())
	// End ends the job for good; Again submits it anew, under a new id.
	End   func(t *testing.T)
	Again func(t *testing.T)
}

func (h Hooks) offered() map[string]bool {
	return map[string]bool{
		"Twin": h.Twin != nil, "Freeze": h.Freeze != nil, "Break": h.Break != nil,
		"End": h.End != nil, "Again": h.Again != nil,
	}
}

// check fails on a harness that cannot be tested, or hides what it lacks.
func (h *Harness) check(t *testing.T) {
	t.Helper()
	if h.Platform == nil || h.Target == (core.Target{}) || h.Absent == (core.Target{}) || h.Source == "" || h.Slow == "" {
		t.Fatal("harness: Platform, Target, Absent, Source and Slow are needed")
	}
	if h.Timeout <= 0 {
		t.Fatal("harness: Timeout is needed")
	}
	offered := h.Hooks.offered()
	for name, is := range offered {
		if declared := slices.Contains(h.NotOffered, name); is == declared {
			t.Fatalf("harness: hook %s is set: %v, listed in NotOffered: %v; one of them must be true", name, is, declared)
		}
	}
	for _, name := range h.NotOffered {
		if _, known := offered[name]; !known {
			t.Fatalf("harness: NotOffered names %q, which is no hook", name)
		}
	}
}

// locate finds the job or ends the test.
func (h *Harness) locate(t *testing.T) core.JobRef {
	t.Helper()
	ref, err := h.Platform.Locate(t.Context(), h.Target)
	if err != nil {
		t.Fatalf("locate: %v", err)
	}
	return ref
}

// gone is a job that the cluster never had.
func (h *Harness) gone(t *testing.T) core.JobRef {
	t.Helper()
	ref := h.locate(t)
	ref.ID = "00000000000000000000000000000bad"
	return ref
}

// means are those that a job was found with.
func means(ref core.JobRef) core.Means {
	if ref.Means == nil {
		return core.Means{}
	}
	return *ref.Means
}

// larger asks for one subtask more of the slow vertex, or where all vertices have
// one size for the next one. It gives the size that the slow vertex then has.
func (h *Harness) larger(t *testing.T, r core.Requirements, topology core.Topology) (core.Requirements, int) {
	t.Helper()
	slow := vertex(t, topology, h.Slow)
	if !h.Means.Uniform {
		return edited(r, slow.ID, func(b *core.Bounds) { b.Upper = slow.Parallelism + 1 }), slow.Parallelism + 1
	}
	size := 0
	for _, v := range topology.Vertices {
		size = max(size, v.Parallelism)
	}
	size += max(1, h.Means.Step)
	out := slices.Clone(r)
	for i := range out {
		v, _ := topology.Find(out[i].ID)
		out[i].Upper = min(size, v.MaxParallelism)
	}
	return out, min(size, slow.MaxParallelism)
}

// changed waits until the slow vertex runs at a size. Where a change starts the job
// anew it has another id then.
func (h *Harness) changed(t *testing.T, ref core.JobRef, size int) (core.JobRef, core.JobStatus) {
	t.Helper()
	var last core.JobStatus
	h.await(t, "the slow vertex to run at its new size", func() bool {
		found, err := h.Platform.Locate(t.Context(), h.Target)
		if err != nil {
			t.Logf("locate: %v", err)
			return false
		}
		if found.ID != ref.ID && !h.Means.Restarts {
			t.Fatalf("the job has the new id %s, before the change it had %s", found.ID, ref.ID)
		}
		status, err := h.Platform.Status(t.Context(), found)
		if err != nil || !status.AllTasksRunning() || vertex(t, status.Topology, h.Slow).Parallelism != size {
			return false
		}
		ref, last = found, status
		return true
	})
	return ref, last
}

// running waits until all tasks run and returns what Flink then shows.
func (h *Harness) running(t *testing.T, ref core.JobRef, also func(core.JobStatus) bool) core.JobStatus {
	t.Helper()
	var last core.JobStatus
	h.await(t, "all tasks to run as wanted", func() bool {
		status, err := h.Platform.Status(t.Context(), ref)
		if err != nil {
			t.Logf("status: %v", err)
			return false
		}
		last = status
		return status.AllTasksRunning() && (also == nil || also(status))
	})
	return last
}

// lookEvery is how often a wait looks; Flink caches what it shows for longer.
const lookEvery = 100 * time.Millisecond

// await waits until done says so, or ends the test.
func (h *Harness) await(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	late := time.After(h.Timeout)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited %s for %s", h.Timeout, what)
		case <-t.Context().Done():
			t.Fatalf("interrupted while waiting for %s", what)
		}
	}
}

// vertex finds a vertex by the beginning of its name or ends the test.
func vertex(t *testing.T, topology core.Topology, name string) core.Vertex {
	t.Helper()
	for _, v := range topology.Vertices {
		if strings.HasPrefix(v.Name, name) {
			return v
		}
	}
	t.Fatalf("no vertex %q in %+v", name, topology)
	return core.Vertex{}
}
