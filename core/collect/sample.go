package collect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// Faulty makes a sample that says why nothing could be read.
func Faulty(at time.Time, reason core.Reason, note string) core.Sample {
	return core.Sample{At: at, Fault: reason, Note: note}
}

// Sample normalises what a Meter read. previous is the sample before, nil for
// none. The topology is the measured one, with partitions and finished
// vertices filled in; it is empty while the job or a task of it does not run,
// or when it restarted meanwhile, because what Flink shows then is not the graph
// that runs.
func Sample(m core.Measurement, previous *core.Sample) (core.Sample, core.Topology) {
	topology := fillTopology(m)
	s := core.Sample{At: m.Status.Now, RunningSince: m.Status.RunningSince, Started: startedSince(m, previous), Clock: m.Clock}
	s.Fault, s.Note = fault(m, previous)
	switch s.Fault {
	case "":
	case core.ReasonJobNotRunning, core.ReasonTasksNotRunning, core.ReasonJobRestarted:
		return s, core.Topology{}
	default:
		return s, topology
	}
	for _, v := range topology.Vertices {
		s.Vertices = append(s.Vertices, vertexSample(v, m))
	}
	s.Global = globalSample(m)
	partial, all := incompleteVertices(topology, s)
	switch {
	case partial > 0 && partial == all:
		// Nothing of such a look is evidence: Flink lost sight of the
		// TaskManagers, or the tasks have only just started.
		return core.Sample{
			At: s.At, RunningSince: s.RunningSince, Started: s.Started, Clock: s.Clock, Fault: core.ReasonIncomplete,
			Note: fmt.Sprintf("metrics incomplete (%d of %d vertices)", partial, all),
		}, topology
	case partial > 0:
		s.Note = fmt.Sprintf("metrics incomplete (%d of %d vertices)", partial, all)
	}
	return s, topology
}

// startedSince is zero where the job ran at the sample before and has not been
// started since: nothing new in nearly every sample.
func startedSince(m core.Measurement, previous *core.Sample) time.Time {
	if previous != nil && !m.Status.StartedAt.After(previous.RunningSince) {
		return time.Time{}
	}
	return m.Status.StartedAt
}

// fault tells why a measurement is no evidence at all.
func fault(m core.Measurement, previous *core.Sample) (core.Reason, string) {
	if m.Status.State != core.JobRunning {
		return core.ReasonJobNotRunning, fmt.Sprintf("the job is %s", stateWord(m.Status.State))
	}
	if note, all := tasksRunning(m.Status); !all {
		return core.ReasonTasksNotRunning, note
	}
	if m.Restarted {
		return core.ReasonJobRestarted, "the job restarted while it was read"
	}
	if note, frozen := clockStands(m, previous); frozen {
		return core.ReasonMetricsFrozen, note
	}
	if n := len(m.SilentTaskManagers); n > 0 {
		return core.ReasonTMSilent, fmt.Sprintf("no heartbeat from %d TaskManager(s): %s", n, firstFew(m.SilentTaskManagers))
	}
	return "", ""
}

func stateWord(s core.JobState) string {
	if s == "" {
		return "in no state that Flink names"
	}
	return string(s)
}

// tasksRunning is core's AllTasksRunning with a sentence, and safe when the
// graph is not there: Flink shows none while a job waits for slots.
func tasksRunning(s core.JobStatus) (string, bool) {
	if len(s.Vertices) == 0 || len(s.Vertices) != len(s.Topology.Vertices) {
		return "Flink does not show the job's graph yet", false
	}
	if s.AllTasksRunning() {
		return "", true
	}
	running, total := 0, 0
	for i, v := range s.Vertices {
		running += v.Tasks.Running + v.Tasks.Finished
		total += max(v.Tasks.Total, s.Topology.Vertices[i].Parallelism)
	}
	return fmt.Sprintf("%d of %d tasks run", running, total), false
}

// clockStands is true when it is not certain that the metrics were fetched
// after the previous sample (I12).
func clockStands(m core.Measurement, previous *core.Sample) (string, bool) {
	silent := ""
	if len(m.SilentTaskManagers) > 0 {
		silent = "; no heartbeat from " + firstFew(m.SilentTaskManagers)
	}
	now, ok := m.Clock.Value()
	if !ok {
		return "the JobManager's clock metric could not be read" + silent, true
	}
	if !m.Fresh {
		return fmt.Sprintf("the JobManager's clock metric did not move in %s", m.Waited.Round(100*time.Millisecond)) + silent, true
	}
	if previous != nil {
		if before, ok := previous.Clock.Value(); ok && before == now {
			return "the JobManager's clock metric has not moved since the last look" + silent, true
		}
	}
	return "", false
}

// firstFew names at most three.
func firstFew(names []string) string {
	sorted := slices.Sorted(slices.Values(names))
	if len(sorted) > 3 {
		return strings.Join(sorted[:3], ", ") + fmt.Sprintf(" and %d more", len(sorted)-3)
	}
	return strings.Join(sorted, ", ")
}

func fillTopology(m core.Measurement) core.Topology {
	out := core.Topology{Vertices: slices.Clone(m.Status.Topology.Vertices)}
	for i := range out.Vertices {
		v := &out.Vertices[i]
		if st, ok := status(m.Status, v.ID); ok && st.Tasks.Total > 0 && st.Tasks.Finished >= st.Tasks.Total {
			v.Finished = true
		}
		if v.IsSource() {
			if n := splitsOf(metrics(m, v.ID)); n > 0 {
				v.Partitions = n
			}
		}
	}
	return out
}

func status(s core.JobStatus, id string) (core.VertexStatus, bool) {
	for _, v := range s.Vertices {
		if v.ID == id {
			return v, true
		}
	}
	return core.VertexStatus{}, false
}

func metrics(m core.Measurement, id string) core.VertexMetrics {
	for _, v := range m.Vertices {
		if v.ID == id {
			return v
		}
	}
	return core.VertexMetrics{}
}

func vertexSample(v core.Vertex, m core.Measurement) core.VertexSample {
	na := core.Absent(core.NotApplicable)
	out := core.VertexSample{ID: v.ID, Parallelism: v.Parallelism}
	if v.Finished {
		out.RecordsIn, out.RecordsOut, out.InPerSecond = na, na, na
		out.BusyMin, out.BusyAvg, out.BusyMax, out.BusyTotal = na, na, na, na
		out.BackPressure, out.Lag = na, na
		return out
	}
	st, _ := status(m.Status, v.ID)
	vm := metrics(m, v.ID)
	out.RecordsIn, out.RecordsOut = atLeastZero(st.RecordsRead), atLeastZero(st.RecordsWritten)
	out.BusyTotal = st.BusyMs.Map(core.Round3)
	out.BusyMin, out.BusyAvg, out.BusyMax = busy(v, vm)
	out.BackPressure = reading(vm, backPressure, func(a core.Aggregate) float64 { return a.Avg })
	out.Lag = na
	if !v.IsSource() {
		out.InPerSecond = reading(vm, inPerSecond, sumOf)
		return out
	}
	out.RecordsIn = sourceRecordsIn(out.RecordsIn, vm)
	out.InPerSecond = reading(vm, sourceMetric(ids(vm.Values), sourceInRate), sumOf)
	out.Lag, out.LagMax = lag(vm)
	return out
}

func atLeastZero(r core.Reading) core.Reading {
	return r.Map(func(f float64) float64 { return core.Round3(max(0, f)) })
}

func sumOf(a core.Aggregate) float64 { return a.Sum }

func ids(values []core.Aggregate) []string {
	out := make([]string, 0, len(values))
	for _, a := range values {
		out = append(out, a.ID)
	}
	return out
}

func find(vm core.VertexMetrics, id string) (core.Aggregate, bool) {
	for _, a := range vm.Values {
		if a.ID == id {
			return a, true
		}
	}
	return core.Aggregate{}, false
}

// reading gives one number of one metric, rounded; Missing when it is not
// there or no number.
func reading(vm core.VertexMetrics, id string, field func(core.Aggregate) float64) core.Reading {
	a, ok := find(vm, id)
	if !ok || id == "" {
		return core.Reading{}
	}
	return core.Read(core.Round3(field(a)))
}

// busy reads the three aggregates of busy time. A source whose busy time is
// NaN is one of the old kind, which never has it: not applicable. Elsewhere
// NaN is a number that did not come.
func busy(v core.Vertex, vm core.VertexMetrics) (lo, mean, hi core.Reading) {
	a, ok := find(vm, busyTime)
	if ok && v.IsSource() && (math.IsNaN(a.Avg) || math.IsNaN(a.Max)) {
		na := core.Absent(core.NotApplicable)
		return na, na, na
	}
	if !ok {
		return core.Reading{}, core.Reading{}, core.Reading{}
	}
	return core.Read(core.Round3(a.Min)), core.Read(core.Round3(a.Avg)), core.Read(core.Round3(a.Max))
}

// sourceRecordsIn is what a source took in: Flink counts 0 as read by the
// task, so the operator's own counters are taken, in before out.
func sourceRecordsIn(task core.Reading, vm core.VertexMetrics) core.Reading {
	for _, suffix := range []string{sourceIn, sourceOut} {
		n, ok := task.Value()
		if !ok || n > 0 {
			return task
		}
		if r := atLeastZero(reading(vm, sourceMetric(ids(vm.Values), suffix), sumOf)); r.State() == core.Present {
			task = r
		}
	}
	return task
}

// lag sums up all pendingRecords, and gives the largest of one subtask. Where
// some exist but did not come, the sum covers only a part.
func lag(vm core.VertexMetrics) (all, most core.Reading) {
	named := 0
	for _, n := range vm.Names {
		if strings.HasSuffix(n, pendingRecords) {
			named++
		}
	}
	sum, largest, came := 0.0, 0.0, 0
	for _, a := range vm.Values {
		if strings.HasSuffix(a.ID, pendingRecords) && !math.IsNaN(a.Sum) {
			sum += a.Sum
			largest = max(largest, a.Max)
			came++
		}
	}
	switch {
	case came == 0 && named == 0:
		return core.Reading{}, core.Reading{}
	case came < named:
		return core.Absent(core.Incomplete), core.Reading{}
	}
	return core.Read(core.Round3(max(0, sum))), core.Read(core.Round3(largest))
}

// incompleteVertices counts the vertices with numbers that Flink flags as
// partial, and all that are not finished.
func incompleteVertices(t core.Topology, s core.Sample) (partial, all int) {
	for i, v := range s.Vertices {
		if t.Vertices[i].Finished {
			continue
		}
		all++
		if v.RecordsIn.State() == core.Incomplete || v.RecordsOut.State() == core.Incomplete {
			partial++
		}
	}
	return partial, all
}

// globalSample reads what is there once for all TaskManagers: of each number
// the worst. It is not rounded, as in the Java autoscaler.
func globalSample(m core.Measurement) core.GlobalSample {
	g := core.GlobalSample{SlotsTotal: m.SlotsTotal, SlotsFree: m.SlotsFree}
	most := func(id string) core.Reading {
		a, ok := find(core.VertexMetrics{Values: m.TaskManagers}, id)
		if !ok {
			return core.Reading{}
		}
		return core.Read(a.Max)
	}
	g.GCPressure = most("Status.JVM.GarbageCollector.All.TimeMsPerSecond").Map(func(f float64) float64 { return f / 1000 })
	g.HeapUsed = most("Status.JVM.Memory.Heap.Used")
	g.ManagedUsed = most("Status.Flink.Memory.Managed.Used")
	g.MetaspaceUsed = most("Status.JVM.Memory.Metaspace.Used")
	if limit, ok := most("Status.JVM.Memory.Heap.Max").Value(); ok && limit > 0 {
		g.HeapRatio = g.HeapUsed.Map(func(used float64) float64 { return used / limit })
	}
	return g
}
