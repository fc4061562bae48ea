package chaos

import (
	"time"

	"flinkscaler/core"
)

// Record is all that was seen of a run: what the judge knows.
type Record struct {
	Writes   []Write
	Asks     []Ask
	Rescales []Rescale
	Orders   []Order
	Shown    []Shown
	Needs    []Need
	Ends     []End
}

// Write is a PUT of requirements that came as far as Flink, seen at the proxy.
type Write struct {
	Job string
	// JobID is Flink's id, and Life counts the submissions under it: a JobManager
	// without HA forgets what was asked, also where the job keeps its id.
	JobID string
	Life  int
	// At is when the worker sent it.
	At time.Time
	// Before was in force when it came to Flink, nil when Flink did not tell; Body
	// is what it asks for.
	Before, Body core.Requirements
	// Status is Flink's answer, 0 for none.
	Status int
	// Repeat is true for one that the proxy sent again.
	Repeat bool
}

// Ask is a decision on its way to Flink: an activity Apply in the history of a
// rescale.
type Ask struct {
	Job, JobID string
	// Decision is its id; an undo has one of its own.
	Decision string
	Cause    core.Reason
	// Undo is true for the way back to the size before.
	Undo bool
	Wish core.Requirements
	// From and Until bound the activity.
	From, Until time.Time
}

// Rescale is a run of RescaleFlinkJob.
type Rescale struct {
	Job, Decision string
	// Outcome is nil for one that has none.
	Outcome *core.Outcome
	// Status is Temporal's word for the run.
	Status string
}

// Order is an operator's order that was accepted.
type Order struct {
	Job, ID string
	// Sent is when it was first sent.
	Sent time.Time
	// Parallelism is the size ordered for every vertex.
	Parallelism int
	// Had is what was in force when it was sent, nil when not known.
	Had core.Requirements
	// Ended is true when an operator ended the workflow that took it: the order
	// ended with it.
	Ended bool
}

// Shown is an outcome or a change that the query "history" of a job showed.
type Shown struct {
	Job, Decision string
	// Change is true for a decision to change something, false for an outcome.
	Change bool
}

// Need is a load from a moment on: each vertex must have so many subtasks.
type Need struct {
	Job   string
	Since time.Time
	// Least is by vertex id.
	Least map[string]int
}

// End is a job after a fault was healed, or what it was when waiting for that
// was given up.
type End struct {
	Job   string
	Fault Fault
	// Injected is false where the rescale never came to the step.
	Injected bool
	At       time.Time
	// Stuck says why it is not as it should be, empty when it is.
	Stuck string
	// Told are the sizes that the workflow tells, Runs those that Flink shows.
	Told, Runs []core.VertexSize
	// Last is the newest outcome that the workflow shows, nil for none.
	Last *core.Outcome
}
