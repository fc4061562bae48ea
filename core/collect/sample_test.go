package collect

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func start() time.Time { return time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC) }

func agg(id string, lo, hi, avg, sum float64) core.Aggregate {
	return core.Aggregate{ID: id, Min: lo, Max: hi, Avg: avg, Sum: sum}
}

// healthy is a source of 2 and a sink of 3 subtasks, all well.
func healthy() core.Measurement {
	return core.Measurement{
		Status: core.JobStatus{
			ID: "j", State: core.JobRunning, Now: start(), RunningSince: start().Add(-time.Hour),
			Topology: core.Topology{Vertices: []core.Vertex{
				{ID: "a", Name: "Source: gen", Parallelism: 2, MaxParallelism: 128},
				{ID: "b", Name: "sink", Parallelism: 3, MaxParallelism: 128, Inputs: []core.Edge{{From: "a", Ship: core.ShipHash}}},
			}},
			Vertices: []core.VertexStatus{
				{ID: "a", Tasks: core.TaskCounts{Running: 2, Total: 2}, RecordsRead: core.Read(0), RecordsWritten: core.Read(2000), BusyMs: core.Read(123)},
				{ID: "b", Tasks: core.TaskCounts{Running: 2, Finished: 1, Total: 3}, RecordsRead: core.Read(1990), RecordsWritten: core.Read(0), BusyMs: core.Read(456)},
			},
		},
		Clock: core.Read(1e9), Fresh: true,
		Vertices: []core.VertexMetrics{
			{
				ID:    "a",
				Names: []string{"Source__gen.pendingRecords", "Source__gen.other.pendingRecords", "Source__gen.split.s0.watermark.x", "Source__gen.split.s1.watermark.x"},
				Values: []core.Aggregate{
					agg("Source__gen.numRecordsIn", 900, 1100, 1000, 2001), agg("Source__gen.numRecordsInPerSecond", 50, 50, 50, 100.00049),
					agg("Source__gen.other.pendingRecords", 0, 100, 50, 100), agg("Source__gen.pendingRecords", 0, 100, 50, 100),
					agg("backPressuredTimeMsPerSecond", 0, 20, 10, 20), agg("busyTimeMsPerSecond", 100, 200, 150, 300),
				},
			},
			{ID: "b", Values: []core.Aggregate{agg("backPressuredTimeMsPerSecond", 0, 90, 40, 120), agg("busyTimeMsPerSecond", 1, 3, 2.00051, 6), agg("numRecordsInPerSecond", 30, 35, 33, 99.5)}},
		},
		TaskManagers: []core.Aggregate{
			{ID: "Status.JVM.GarbageCollector.All.TimeMsPerSecond", Max: 60},
			{ID: "Status.JVM.Memory.Heap.Max", Max: 300}, {ID: "Status.JVM.Memory.Heap.Used", Max: 100},
			{ID: "Status.Flink.Memory.Managed.Used", Max: 133}, {ID: "Status.JVM.Memory.Metaspace.Used", Max: 22},
		},
		SlotsTotal: core.Read(8), SlotsFree: core.Read(5),
	}
}

func TestSampleOfAHealthyJob(t *testing.T) {
	t.Parallel()
	na := core.Absent(core.NotApplicable)
	s, topology := Sample(healthy(), nil)
	want := core.Sample{
		At: start(), RunningSince: start().Add(-time.Hour), Clock: core.Read(1e9),
		Vertices: []core.VertexSample{
			{
				ID: "a", Parallelism: 2, RecordsIn: core.Read(2001), RecordsOut: core.Read(2000), InPerSecond: core.Read(100),
				BusyMin: core.Read(100), BusyAvg: core.Read(150), BusyMax: core.Read(200), BusyTotal: core.Read(123),
				BackPressure: core.Read(10), Lag: core.Read(200), LagMax: core.Read(100),
			},
			{
				ID: "b", Parallelism: 3, RecordsIn: core.Read(1990), RecordsOut: core.Read(0), InPerSecond: core.Read(99.5),
				BusyMin: core.Read(1), BusyAvg: core.Read(2.001), BusyMax: core.Read(3), BusyTotal: core.Read(456),
				BackPressure: core.Read(40), Lag: na,
			},
		},
		Global: core.GlobalSample{SlotsTotal: core.Read(8), SlotsFree: core.Read(5), GCPressure: core.Read(0.06), HeapRatio: core.Read(100.0 / 300),
			HeapUsed: core.Read(100), ManagedUsed: core.Read(133), MetaspaceUsed: core.Read(22)},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("sample (-want +got):\n%s", diff)
	}
	if got := topology.Vertices[0].Partitions; got != 2 {
		t.Errorf("partitions of the source: %d; want its 2 splits", got)
	}
}

func TestSampleFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*core.Measurement)
		before *core.Sample
		fault  core.Reason
		note   string
	}{
		"restarting":        {"only a RUNNING job has numbers", func(m *core.Measurement) { m.Status.State = core.JobRestarting }, nil, core.ReasonJobNotRunning, "RESTARTING"},
		"no state":          {"an unknown state is not RUNNING", func(m *core.Measurement) { m.Status.State = "" }, nil, core.ReasonJobNotRunning, "no state"},
		"tasks start":       {"BC-10: Flink calls a job RUNNING before its tasks are", func(m *core.Measurement) { m.Status.Vertices[1].Tasks.Running = 0 }, nil, core.ReasonTasksNotRunning, "3 of 5 tasks run"},
		"no graph":          {"while waiting for slots Flink 2.3 shows vertices without a plan", func(m *core.Measurement) { m.Status.Topology.Vertices = nil }, nil, core.ReasonTasksNotRunning, "graph"},
		"restarted":         {"the numbers belong to two attempts", func(m *core.Measurement) { m.Restarted, m.Fresh = true, false }, nil, core.ReasonJobRestarted, "while it was read"},
		"not fresh":         {"metrics were not fetched after we asked", func(m *core.Measurement) { m.Fresh, m.Waited = false, 12*time.Second }, nil, core.ReasonMetricsFrozen, "did not move in 12s"},
		"clock stands":      {"I12: a clock as in the sample before means old numbers", func(*core.Measurement) {}, &core.Sample{Clock: core.Read(1e9)}, core.ReasonMetricsFrozen, "since the last look"},
		"clock moved":       {"with a moving clock the numbers are new", func(*core.Measurement) {}, &core.Sample{Clock: core.Read(5e8)}, "", ""},
		"clock smaller":     {"a restarted JobManager begins at 0", func(*core.Measurement) {}, &core.Sample{Clock: core.Read(5e10)}, "", ""},
		"no clock":          {"without the clock nothing tells that the numbers move", func(m *core.Measurement) { m.Clock = core.Reading{} }, nil, core.ReasonMetricsFrozen, "could not be read"},
		"silent":            {"its numbers are old", func(m *core.Measurement) { m.SilentTaskManagers = []string{"tm-2", "tm-1"} }, nil, core.ReasonTMSilent, "2 TaskManager(s): tm-1, tm-2"},
		"frozen and silent": {"the cause is named too", func(m *core.Measurement) { m.Fresh, m.SilentTaskManagers = false, []string{"tm-1"} }, nil, core.ReasonMetricsFrozen, "no heartbeat from tm-1"},
		"all incomplete": {"BC-01: nothing of such a look is evidence", func(m *core.Measurement) {
			m.Status.Vertices[0].RecordsRead = core.Absent(core.Incomplete)
			m.Status.Vertices[1].RecordsWritten = core.Absent(core.Incomplete)
		}, nil, core.ReasonIncomplete, "2 of 2 vertices"},
		"one incomplete": {"BC-01: the others are still good", func(m *core.Measurement) {
			m.Status.Vertices[1].RecordsRead = core.Absent(core.Incomplete)
		}, nil, "", "1 of 2 vertices"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := healthy()
			c.change(&m)
			s, topology := Sample(m, c.before)
			if starts := s.Fault == core.ReasonJobNotRunning || s.Fault == core.ReasonTasksNotRunning || s.Fault == core.ReasonJobRestarted; starts != (len(topology.Vertices) == 0) {
				t.Errorf("%d vertices with fault %q; a graph that does not run is not shown", len(topology.Vertices), s.Fault)
			}
			if s.Fault != c.fault || !strings.Contains(s.Note, c.note) {
				t.Errorf("fault %q, note %q; want %q with %q, because %s", s.Fault, s.Note, c.fault, c.note, c.reason)
			}
			if s.Fault != "" && len(s.Vertices) > 0 {
				t.Error("a sample with a fault carries numbers")
			}
		})
	}
}

func TestSampleReadings(t *testing.T) {
	t.Parallel()
	na := core.Absent(core.NotApplicable)
	cases := map[string]struct {
		reason string
		change func(*core.Measurement)
		vertex string
		get    func(core.VertexSample) core.Reading
		want   core.Reading
	}{
		"old source": {
			"BC-03: a source whose busy time is NaN never has one",
			func(m *core.Measurement) {
				m.Vertices[0].Values[5] = agg("busyTimeMsPerSecond", math.NaN(), math.NaN(), math.NaN(), math.NaN())
			},
			"a", func(v core.VertexSample) core.Reading { return v.BusyMax }, na,
		},
		"old source's rate": {
			"BC-03: without an input counter its output is what it took in",
			func(m *core.Measurement) {
				m.Vertices[0].Values[0] = agg("Source__gen.numRecordsOut", 0, 0, 0, 900)
			},
			"a", func(v core.VertexSample) core.Reading { return v.RecordsIn }, core.Read(900),
		},
		"task counter first": {
			"read-records is taken when it is not 0",
			func(m *core.Measurement) { m.Status.Vertices[0].RecordsRead = core.Read(7) },
			"a", func(v core.VertexSample) core.Reading { return v.RecordsIn }, core.Read(7),
		},
		"NaN elsewhere": {
			"no other vertex lacks busy time by its nature",
			func(m *core.Measurement) {
				m.Vertices[1].Values[0] = agg("busyTimeMsPerSecond", math.NaN(), math.NaN(), math.NaN(), math.NaN())
			},
			"b", func(v core.VertexSample) core.Reading { return v.BusyMax }, core.Reading{},
		},
		"no backlog metric": {
			"BC-02: absence is not 0",
			func(m *core.Measurement) {
				m.Vertices[0].Names, m.Vertices[0].Values = nil, m.Vertices[0].Values[4:]
			},
			"a", func(v core.VertexSample) core.Reading { return v.Lag }, core.Reading{},
		},
		"half of the backlog": {
			"one of two backlog metrics did not come",
			func(m *core.Measurement) { m.Vertices[0].Values = m.Vertices[0].Values[3:] },
			"a", func(v core.VertexSample) core.Reading { return v.Lag }, core.Absent(core.Incomplete),
		},
		"incomplete": {
			"BC-01: a flagged count is no number",
			func(m *core.Measurement) { m.Status.Vertices[1].RecordsRead = core.Absent(core.Incomplete) },
			"b", func(v core.VertexSample) core.Reading { return v.RecordsIn }, core.Absent(core.Incomplete),
		},
		"finished": {
			"BC-25: a finished vertex has no numbers and lacks none",
			func(m *core.Measurement) {
				m.Status.Vertices[0].Tasks = core.TaskCounts{Finished: 2, Total: 2}
				m.Vertices[0].Values = nil
			},
			"a", func(v core.VertexSample) core.Reading { return v.RecordsIn }, na,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := healthy()
			c.change(&m)
			s, _ := Sample(m, nil)
			v, ok := s.Vertex(c.vertex)
			if !ok || s.Fault != "" {
				t.Fatalf("no vertex %s; fault %q", c.vertex, s.Fault)
			}
			if got := c.get(v); got != c.want {
				t.Errorf("reading %v; want %v: %s", got, c.want, c.reason)
			}
		})
	}
}

// TestStartedIsNews: since when the JobManager knows the job is told where it can
// have changed, and costs nothing in every other sample.
func TestStartedIsNews(t *testing.T) {
	t.Parallel()
	began := start().Add(-2 * time.Hour)
	for name, tt := range map[string]struct {
		reason   string
		previous *core.Sample
		started  time.Time
		want     time.Time
	}{
		"first look":         {"nothing is known", nil, began, began},
		"as before":          {"it ran at the sample before, and was not started since", &core.Sample{RunningSince: began.Add(time.Minute)}, began, time.Time{}},
		"rescaled":           {"a rescale starts no job", &core.Sample{RunningSince: began.Add(time.Minute)}, began, time.Time{}},
		"was down":           {"the JobManager may have been, too", &core.Sample{Fault: core.ReasonUnreachable}, began, began},
		"another JobManager": {"it has the job since", &core.Sample{RunningSince: began}, began.Add(time.Hour), began.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := healthy()
			m.Status.StartedAt = tt.started
			if s, _ := Sample(m, tt.previous); !s.Started.Equal(tt.want) {
				t.Errorf("%s: started %v, want %v", tt.reason, s.Started, tt.want)
			}
		})
	}
}
