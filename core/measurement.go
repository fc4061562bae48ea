package core

import "time"

// Aggregate is one metric over the subtasks or TaskManagers. NaN where Flink
// sent a number that is none.
type Aggregate struct {
	ID                 string
	Min, Max, Avg, Sum float64
}

// VertexMetrics are the metrics read for one vertex.
type VertexMetrics struct {
	ID string
	// Names are all metric ids that exist on the vertex.
	Names []string
	// Values are those that were picked, sorted by id.
	Values []Aggregate
}

// Picker chooses from the metric ids of a vertex those whose values are
// wanted.
type Picker func(v Vertex, names []string) []string

// Measurement is what a Meter read in one go, raw. It never goes into
// history; collect.Sample makes the Sample of it.
type Measurement struct {
	Status JobStatus
	// Clock is the JobManager's Status.JVM.CPU.Time in ns, Missing when it
	// could not be read.
	Clock Reading
	// Fresh is true when Clock moved while we looked, so that all metrics were
	// fetched after we asked. A hung TaskManager freezes the metrics of the
	// whole cluster without any other sign (I12).
	Fresh bool
	// Restarted is true when the job restarted, was rescaled, or left RUNNING
	// while it was read: the numbers belong to two attempts. Fresh is false then.
	Restarted bool
	// Waited is how long it took until the clock moved, or was given up.
	Waited time.Duration
	// SilentTaskManagers lists registered TaskManagers whose last heartbeat is
	// older than two and a half heartbeat intervals: their numbers are old.
	SilentTaskManagers []string
	// Vertices are sorted by id.
	Vertices []VertexMetrics
	// TaskManagers holds cluster-wide TaskManager metrics, sorted by id.
	TaskManagers []Aggregate
	// SlotsTotal and SlotsFree count the cluster's task slots.
	SlotsTotal, SlotsFree Reading
	// Config holds the job's effective configuration as far as Flink shows
	// it: explicit keys only. Nil when it could never be read, which is not the
	// same as empty.
	Config map[string]string
}
