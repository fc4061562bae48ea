package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// JobState is a job's state in Flink's words.
type JobState string

// The states by which flinkscaler decides; Flink has more, kept as they come.
const (
	JobRunning      JobState = "RUNNING"
	JobInitializing JobState = "INITIALIZING"
	JobCreated      JobState = "CREATED"
	JobRestarting   JobState = "RESTARTING"
	JobFailed       JobState = "FAILED"
	JobCanceled     JobState = "CANCELED"
	JobFinished     JobState = "FINISHED"
)

// Ended is true for a state that Flink never leaves.
func (s JobState) Ended() bool {
	return s == JobFailed || s == JobCanceled || s == JobFinished
}

// JobRef is a job that a Locator found: enough to talk about it to a Meter or
// a Rescaler of the same platform.
type JobRef struct {
	Key JobKey `json:"key"`
	// Cluster names the worker's configuration of the cluster.
	// ID is Flink's job id now: it changes with each submission.
	ID   string `json:"id"`
	Name string `json:"name"`
	// State as the job list shows it.
	State JobState `json:"state"`
	// FlinkVersion as the cluster reports it, such as "2.3.0".
	FlinkVersion string `json:"version,omitempty"`
	// Extras are the platform's own facts; no strategy reads them.
	Extras map[string]string `json:"extras,omitempty"`
	// Mark says whether the job's object bears a mark of ours, empty where a platform
	// leaves none.
	Mark MarkState `json:"mark,omitempty"`
	// Means is how its size is changed, nil where Flink alone does it.
	Means *Means `json:"means,omitempty"`
}

// TaskCounts counts the tasks of a vertex by state.
type TaskCounts struct {
	Running  int `json:"running"`
	Finished int `json:"finished"`
	Total    int `json:"total"`
}

// VertexStatus is what Flink shows of a vertex besides the graph.
type VertexStatus struct {
	ID    string     `json:"id"`
	Tasks TaskCounts `json:"tasks"`
	// RecordsRead and RecordsWritten are totals over all subtasks since the
	// last (re)start. Incomplete when Flink flags them so.
	RecordsRead    Reading `json:"read"`
	RecordsWritten Reading `json:"written"`
	// BusyMs is the accumulated busy time of all subtasks, in ms.
	BusyMs Reading `json:"busyMs"`
}

// JobStatus is a job as Flink shows it at one moment.
type JobStatus struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	State JobState `json:"state"`
	// Now is the JobManager's clock; ages are computed from it.
	Now time.Time `json:"now"`
	// RunningSince is when the job last entered RUNNING: it moves on every
	// restart and on every rescale. Zero when it does not run.
	RunningSince time.Time      `json:"runningSince"`
	StartedAt    time.Time      `json:"startedAt"`
	Topology     Topology       `json:"topology"`
	Vertices     []VertexStatus `json:"vertices"`
}

// AllTasksRunning is true when the job runs and every task is RUNNING or
// FINISHED. Flink calls a job RUNNING before its tasks are.
func (s JobStatus) AllTasksRunning() bool {
	if s.State != JobRunning || len(s.Vertices) == 0 {
		return false
	}
	for i, v := range s.Vertices {
		if v.Tasks.Running+v.Tasks.Finished < v.Tasks.Total || v.Tasks.Running+v.Tasks.Finished < s.Topology.Vertices[i].Parallelism {
			return false
		}
	}
	return true
}

// Bounds is what is wanted for one vertex: Flink gives it at least Lower and
// at most Upper subtasks.
type Bounds struct {
	ID    string `json:"id"`
	Lower int    `json:"lower"`
	Upper int    `json:"upper"`
}

// Requirements is the complete list of bounds of a job, sorted by vertex id.
type Requirements []Bounds

// Want gives the requirements that ask for sizes on top of the present ones.
// The lower bound is min(old lower, new upper): raising a lower bound above
// what is held can end a job (I7). Vertices without a wanted size stay.
func (r Requirements) Want(sizes []VertexSize) Requirements {
	out := make(Requirements, len(r))
	for i, b := range r {
		if p, ok := FindSize(sizes, b.ID); ok {
			b.Upper = p
			b.Lower = min(b.Lower, p)
		}
		out[i] = b
	}
	return out
}

// Of gives the bounds of a vertex.
func (r Requirements) Of(id string) (Bounds, bool) {
	i, ok := slices.BinarySearchFunc(r, id, func(b Bounds, id string) int { return strings.Compare(b.ID, id) })
	if !ok {
		return Bounds{}, false
	}
	return r[i], true
}

// Against gives the bounds that are not those of a job that runs at what is
// wanted of it, at least 1 and at most the size now: nearly always none.
func (r Requirements) Against(sizes []VertexSize) Requirements {
	var out Requirements
	for _, b := range r {
		if p, ok := FindSize(sizes, b.ID); !ok || b != (Bounds{b.ID, 1, p}) {
			out = append(out, b)
		}
	}
	return out
}

// Beside undoes Against: the complete list, where odd are the bounds that are
// not plain.
func Beside(odd Requirements, sizes []VertexSize) Requirements {
	out := make(Requirements, 0, len(sizes))
	for _, v := range sizes {
		b, ok := odd.Of(v.ID)
		if !ok {
			b = Bounds{v.ID, 1, v.Parallelism}
		}
		out = append(out, b)
	}
	return out
}

// Difference says in a few words how two lists differ, for people: what was,
// what is.
func (r Requirements) Difference(now Requirements, title func(id string) string) string {
	var parts []string
	for _, b := range now {
		was, ok := r.Of(b.ID)
		switch {
		case !ok:
			parts = append(parts, title(b.ID)+" is new")
		case was.Upper != b.Upper:
			parts = append(parts, fmt.Sprintf("%s %d -> %d", title(b.ID), was.Upper, b.Upper))
		case was.Lower != b.Lower:
			parts = append(parts, fmt.Sprintf("%s at least %d -> at least %d", title(b.ID), was.Lower, b.Lower))
		}
	}
	if n := len(parts) - mostNamed; n > 0 {
		parts = append(parts[:mostNamed], fmt.Sprintf("%d more", n))
	}
	return strings.Join(parts, ", ")
}

// mostNamed bounds the vertices that a sentence names.
const mostNamed = 3

// JobHealth is what decides whether a job may be restarted now.
type JobHealth struct {
	// Checkpointing is false when the job takes none.
	Checkpointing bool `json:"checkpointing"`
	// Interval between checkpoints, zero when unknown.
	Interval time.Duration `json:"interval"`
	// LastCompleted is when the newest completed checkpoint was triggered;
	// zero for none. LastFailed likewise.
	LastCompleted time.Time `json:"lastCompleted,omitzero"`
	LastFailed    time.Time `json:"lastFailed,omitzero"`
	// StateSize is the state of the newest completed checkpoint in bytes, all of
	// it also where checkpoints are incremental; missing for none.
	StateSize Reading `json:"stateSize,omitzero"`
	// FailureNote is the text of the newest failed checkpoint, cut short.
	FailureNote string `json:"failureNote,omitempty"`
	// CompletedPath is where that checkpoint is, as Flink writes it; Completed
	// counts those of this submission of the job.
	CompletedPath string `json:"completedPath,omitempty"`
	Completed     int    `json:"completed,omitempty"`
	// RestoredPath is what the job was restored from last, empty for nothing.
	RestoredPath string `json:"restoredPath,omitempty"`
	// SavepointInProgress is true while a savepoint is being taken.
	SavepointInProgress bool `json:"savepointInProgress,omitempty"`
	// LastError is when the job's newest failure happened, with its text.
	LastError     time.Time `json:"lastError,omitzero"`
	LastErrorNote string    `json:"lastErrorNote,omitempty"`
	// Errors are when the last few failures happened, newest first. Flink counts
	// no rescale among them, and forgets old ones.
	Errors []time.Time `json:"errors,omitempty"`
}

// ErrorsSince counts the failures known that happened after a moment.
func (h JobHealth) ErrorsSince(at time.Time) int {
	n := 0
	for _, e := range h.Errors {
		if e.After(at) {
			n++
		}
	}
	return n
}

// Slots are those of a cluster at one moment.
type Slots struct {
	Total int `json:"total"`
	Free  int `json:"free"`
	// Elastic is true where the cluster starts TaskManagers by itself: no free
	// slot then says nothing of what can be had.
	Elastic bool `json:"elastic,omitempty"`
}

// Waits is how long Flink itself waits around a rescale in place, by its own
// options.
type Waits struct {
	// Cooldown is the pause after a (re)start of the job.
	Cooldown time.Duration `json:"cooldown"`
	// Stabilization is how long fewer slots than wanted are put up with before
	// the job goes on with those.
	Stabilization time.Duration `json:"stabilization"`
	// MaxDelay is how long a rescale waits for a checkpoint at most.
	MaxDelay time.Duration `json:"maxDelay"`
	// Settle is how long a job that was stopped waits for more slots than it
	// has, ResourceWait how long for as few as it must have.
	Settle       time.Duration `json:"settle"`
	ResourceWait time.Duration `json:"resourceWait"`
}

// Total is the longest that a rescale takes for waiting alone, as long as the
// slots that the job must have are there.
func (w Waits) Total() time.Duration { return w.Cooldown + w.Stabilization + w.MaxDelay + w.Settle }
