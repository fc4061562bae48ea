package porttest

import (
	"slices"
	"strings"
	"testing"

	"flinkscaler/core"
)

// noSuchMetric is picked for every vertex: it must not empty the answer, as it
// would if it were asked for.
const noSuchMetric = "no.such.metric"

// pick takes busy time and record counts.
func pick(_ core.Vertex, names []string) []string {
	out := []string{noSuchMetric}
	for _, n := range names {
		if n == "busyTimeMsPerSecond" || strings.HasSuffix(n, "numRecordsIn") || strings.HasSuffix(n, "pendingRecords") {
			out = append(out, n)
		}
	}
	return out
}

func measuring(t *testing.T, h *Harness) {
	ref := h.locate(t)
	first := h.freshly(t, ref)
	checkStatus(t, h, first.Status)
	checkMetrics(t, first)
	second := h.freshly(t, ref)
	if first.Clock == second.Clock {
		t.Errorf("two fresh measurements have one clock, %s", first.Clock)
	}
	if second.Status.Now.Before(first.Status.Now) {
		t.Errorf("the cluster's time went back from %s to %s", first.Status.Now, second.Status.Now)
	}
	if a, b := read(t, h, first), read(t, h, second); !(b > a) {
		t.Errorf("the slow vertex read %v records, then %v: records arrive all the time", a, b)
	}
	nothing, err := h.Platform.Measure(t.Context(), ref, func(core.Vertex, []string) []string { return nil })
	if err != nil {
		t.Fatalf("measure without metrics: %v", err)
	}
	for _, v := range nothing.Vertices {
		if len(v.Values) > 0 {
			t.Errorf("vertex %s has values though none were picked: %v", v.ID, v.Values)
		}
	}
	_, err = h.Platform.Measure(t.Context(), h.gone(t), pick)
	wantError(t, "measure a job that was never there", err, core.ErrNotFound)
	_, err = h.Platform.Status(t.Context(), h.gone(t))
	wantError(t, "status of a job that was never there", err, core.ErrNotFound)
}

// freshly measures until all of it is fresh and complete: right after a
// restart it need not be.
func (h *Harness) freshly(t *testing.T, ref core.JobRef) core.Measurement {
	t.Helper()
	var m core.Measurement
	h.await(t, "a fresh measurement", func() bool {
		var err error
		if m, err = h.Platform.Measure(t.Context(), ref, pick); err != nil {
			t.Fatalf("measure: %v", err)
		}
		if m.Restarted && m.Fresh {
			t.Error("a measurement over a restart is called fresh")
		}
		return m.Fresh && slices.IndexFunc(m.Status.Vertices, func(v core.VertexStatus) bool {
			return v.RecordsRead.State() != core.Present
		}) < 0
	})
	return m
}

// read gives the records that the slow vertex has read.
func read(t *testing.T, h *Harness, m core.Measurement) float64 {
	t.Helper()
	id := vertex(t, m.Status.Topology, h.Slow).ID
	for _, v := range m.Status.Vertices {
		if v.ID == id {
			return v.RecordsRead.Or(0)
		}
	}
	return 0
}

func checkStatus(t *testing.T, h *Harness, s core.JobStatus) {
	t.Helper()
	if s.ID == "" || s.Name == "" || s.State != core.JobRunning || s.Now.IsZero() || s.RunningSince.IsZero() || s.StartedAt.IsZero() {
		t.Errorf("a running job lacks something: %+v", s)
	}
	if len(s.Vertices) != len(s.Topology.Vertices) {
		t.Fatalf("%d vertices in the graph, %d beside it", len(s.Topology.Vertices), len(s.Vertices))
	}
	for i, v := range s.Topology.Vertices {
		if s.Vertices[i].ID != v.ID {
			t.Errorf("vertex %d is %s in the graph and %s beside it", i, v.ID, s.Vertices[i].ID)
		}
		if v.Parallelism < 1 || v.MaxParallelism < v.Parallelism {
			t.Errorf("vertex %s: parallelism %d of at most %d", v.ID, v.Parallelism, v.MaxParallelism)
		}
		if got := s.Vertices[i].Tasks; got.Running != v.Parallelism || got.Total != v.Parallelism {
			t.Errorf("vertex %s: %+v with parallelism %d", v.ID, got, v.Parallelism)
		}
	}
	if !slices.IsSortedFunc(s.Topology.Vertices, func(a, b core.Vertex) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("the graph is not sorted: %+v", s.Topology)
	}
	source, slow := vertex(t, s.Topology, h.Source), vertex(t, s.Topology, h.Slow)
	if !source.IsSource() {
		t.Errorf("the source has inputs: %+v", source)
	}
	if !slices.Contains(s.Topology.Upstream(slow.ID), source.ID) {
		t.Errorf("no records come from the source to the slow vertex: %+v", s.Topology)
	}
	for _, e := range slow.Inputs {
		if e.Ship == "" {
			t.Errorf("an edge does not say how records travel: %+v", slow)
		}
	}
}

func checkMetrics(t *testing.T, m core.Measurement) {
	t.Helper()
	if m.Clock.State() != core.Present || m.SlotsTotal.Or(0) < 1 || m.SlotsFree.State() != core.Present {
		t.Errorf("clock %s, slots %s, free %s", m.Clock, m.SlotsTotal, m.SlotsFree)
	}
	if len(m.Config) == 0 {
		t.Error("no configuration of the job")
	}
	if len(m.SilentTaskManagers) > 0 {
		t.Errorf("silent TaskManagers on a healthy cluster: %v", m.SilentTaskManagers)
	}
	if len(m.Vertices) != len(m.Status.Topology.Vertices) {
		t.Fatalf("metrics of %d vertices, %d in the graph", len(m.Vertices), len(m.Status.Topology.Vertices))
	}
	for i, v := range m.Vertices {
		if v.ID != m.Status.Topology.Vertices[i].ID {
			t.Errorf("vertex %d is %s in the graph and %s in the metrics", i, m.Status.Topology.Vertices[i].ID, v.ID)
		}
		checkVertexMetrics(t, v)
	}
	if len(m.TaskManagers) == 0 || !sortedByID(m.TaskManagers) {
		t.Errorf("TaskManager metrics: %v", m.TaskManagers)
	}
}

func checkVertexMetrics(t *testing.T, v core.VertexMetrics) {
	t.Helper()
	if !slices.IsSorted(v.Names) || len(slices.Compact(slices.Clone(v.Names))) != len(v.Names) {
		t.Errorf("vertex %s: names not sorted, each once", v.ID)
	}
	if !sortedByID(v.Values) {
		t.Errorf("vertex %s: values not sorted: %v", v.ID, v.Values)
	}
	busy := false
	for _, a := range v.Values {
		busy = busy || a.ID == "busyTimeMsPerSecond"
		if a.ID == noSuchMetric || !slices.Contains(v.Names, a.ID) {
			t.Errorf("vertex %s: a value of %s, which does not exist", v.ID, a.ID)
		}
		if a.Min > a.Avg || a.Avg > a.Max {
			t.Errorf("vertex %s: %+v", v.ID, a)
		}
	}
	if !busy {
		t.Errorf("vertex %s: no busyTimeMsPerSecond among %v", v.ID, v.Values)
	}
}

func sortedByID(values []core.Aggregate) bool {
	return slices.IsSortedFunc(values, func(a, b core.Aggregate) int { return strings.Compare(a.ID, b.ID) })
}
