package core

import "time"

// VertexSample is one vertex in one sample. All numbers are rounded to three
// places (half up), as in the Java autoscaler, so that samples stay small.
type VertexSample struct {
	ID string `json:"id"`
	// Parallelism at the time of the sample.
	Parallelism int `json:"p"`
	// RecordsIn and RecordsOut are totals since the last (re)start.
	RecordsIn  Reading `json:"in"`
	RecordsOut Reading `json:"out"`
	// InPerSecond is Flink's own one-minute meter of records in, summed.
	InPerSecond Reading `json:"ips"`
	// BusyMin, BusyAvg and BusyMax are ms of work per second over the
	// subtasks, 0 to 1000 and a little more.
	BusyMin Reading `json:"bmin"`
	BusyAvg Reading `json:"bavg"`
	BusyMax Reading `json:"bmax"`
	// BusyTotal is the accumulated busy time of all subtasks in ms.
	BusyTotal Reading `json:"btot"`
	// BackPressure is the mean ms per second that the vertex is held back by
	// what reads from it.
	BackPressure Reading `json:"bp"`
	// Lag is the number of records that wait in front of a source.
	// NotApplicable for other vertices.
	Lag Reading `json:"lag"`
	// LagMax is the most that waits in front of one subtask.
	LagMax Reading `json:"lagMax,omitzero"`
}

// GlobalSample is what is read once per job or cluster.
type GlobalSample struct {
	SlotsTotal Reading `json:"slots"`
	SlotsFree  Reading `json:"free"`
	// GCPressure is the share of time (0 to 1) that the worst TaskManager
	// spends in garbage collection; HeapRatio its used share of the heap.
	GCPressure Reading `json:"gc"`
	HeapRatio  Reading `json:"heap"`
	// HeapUsed, ManagedUsed and MetaspaceUsed are bytes, each the largest of
	// any TaskManager.
	HeapUsed      Reading `json:"heapUsed,omitzero"`
	ManagedUsed   Reading `json:"managed,omitzero"`
	MetaspaceUsed Reading `json:"metaspace,omitzero"`
	// StateSize is the job's state in bytes, by its newest completed checkpoint;
	// missing also where it was not asked for.
	StateSize Reading `json:"state,omitzero"`
}

// MarkState says whether an object bears a mark of ours.
type MarkState string

// The states. An object without a mark was never written by us, or somebody
// replaced it since.
const (
	Marked   MarkState = "ours"
	Unmarked MarkState = "none"
)

// Sample is what one look at a job found out. A sample with a Fault is not
// evidence: it says why, and no number of it counts.
type Sample struct {
	// At is the JobManager's clock, or the worker's where it did not answer.
	At time.Time `json:"at"`
	// RunningSince is when the job last entered RUNNING.
	RunningSince time.Time `json:"run,omitzero"`
	// Started is since when the JobManager knows the job, where that is news: in
	// the first sample, and after the job, or the JobManager with it, was down. It is
	// later than before only where another JobManager took the job over.
	Started time.Time `json:"start,omitzero"`
	// Clock is the JobManager's CPU time in ns (I12).
	Clock Reading `json:"clock"`
	// Fault says why this sample is no evidence, empty when it is.
	Fault Reason `json:"fault,omitempty"`
	// Note is one sentence on the fault, or on what is incomplete.
	Note     string         `json:"note,omitempty"`
	Vertices []VertexSample `json:"v,omitempty"`
	Global   GlobalSample   `json:"g"`
	// Asked is true when the resource requirements in force were read; Wanted
	// then holds those that are not "at least 1, at most the size now", sorted by
	// id: nearly always none.
	Asked  bool         `json:"asked,omitempty"`
	Wanted Requirements `json:"wanted,omitempty"`
	// Mark says whether the job's object bears a mark of ours, empty where a platform
	// leaves none.
	Mark MarkState `json:"mark,omitempty"`
	// Rival says who else changes the job's size, so that we do not; empty for
	// nobody. The numbers count all the same.
	Rival string `json:"rival,omitempty"`
	// Beware says what else may restart the job or get in the way, empty for nothing.
	Beware string `json:"beware,omitempty"`
}

// Vertex gives the vertex' part of the sample.
func (s Sample) Vertex(id string) (VertexSample, bool) {
	for _, v := range s.Vertices {
		if v.ID == id {
			return v, true
		}
	}
	return VertexSample{}, false
}

// Observation is the result of one Observe: a sample, and what changed since
// the caller last knew.
type Observation struct {
	Sample Sample `json:"sample"`
	// Job is what was found, zero when nothing was.
	Job JobRef `json:"job"`
	// Digest is the topology's digest; Topology is left out when the caller
	// said that it knows that digest.
	Digest   string    `json:"digest,omitempty"`
	Topology *Topology `json:"topology,omitempty"`
	// Config holds the job's own autoscaler keys, and the options of Flink that
	// decisions need (policy.Related); nil when unchanged by
	// ConfigDigest.
	ConfigDigest string            `json:"configDigest,omitempty"`
	Config       map[string]string `json:"config,omitempty"`
}
