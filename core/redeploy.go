package core

import "time"

// Savepoint is a complete one in some storage.
type Savepoint struct {
	// Path is what Flink restores from.
	Path string `json:"path"`
	// At is when its metadata were written, Size how many bytes those have.
	At   time.Time `json:"at"`
	Size int64     `json:"size"`
	// Note says what could not be looked at, empty for nothing.
	Note string `json:"note,omitempty"`
}

// SavepointPrefix begins the name of every directory that Flink makes for a
// savepoint.
const SavepointPrefix = "savepoint-"

// StopDirectory is what a stop made for its savepoint.
type StopDirectory struct {
	Path string `json:"path"`
	// At is when something was last made in it.
	At time.Time `json:"at"`
}

// Space is what can still be written in a directory.
type Space struct {
	// Free are bytes of data, all copies of them allowed for; missing where it is
	// not known.
	Free Reading `json:"free,omitzero"`
	// Bound says what bounds them, Copies how often the data are kept.
	Bound  string `json:"bound,omitempty"`
	Copies int    `json:"copies,omitempty"`
	// Names is how many files and directories can still be made, missing where
	// nothing limits them or it is not known.
	Names Reading `json:"names,omitzero"`
	// Note says what could not be looked at, empty for nothing.
	Note string `json:"note,omitempty"`
}

// StopState is how far a stop with a savepoint is.
type StopState string

// The states.
const (
	// StopUnknown: the cluster knows of no such stop, or no more.
	StopUnknown    StopState = "unknown"
	StopInProgress StopState = "in-progress"
	StopDone       StopState = "done"
	StopFailed     StopState = "failed"
)

// StopRequest is one stop with a savepoint.
type StopRequest struct {
	// Trigger is 32 hex digits, the caller's own: the same one is the same stop.
	Trigger string `json:"trigger"`
	// Directory is where the savepoint goes; no other stop has the same.
	Directory string `json:"directory"`
}

// StopResult is what Flink says of a stop.
type StopResult struct {
	State StopState `json:"state"`
	// Location is the savepoint of one that is done, Why the words of Flink on one
	// that failed.
	Location string `json:"location,omitempty"`
	Why      string `json:"why,omitempty"`
}

// SubmittedVertex is a vertex of a job that is submitted, with the size it shall
// have and the one it had when the job was stopped.
type SubmittedVertex struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Parallelism int    `json:"p"`
	Was         int    `json:"was"`
}

// Submission is a job that is started from a savepoint.
type Submission struct {
	// JobID is 32 hex digits, the caller's own: a cluster runs it once at most.
	JobID string
	// Name is the job's; how its program is run is configured under it.
	Name      string
	Savepoint string
	// Vertices are all of the job, sorted by id.
	Vertices []SubmittedVertex
	// Extras are the platform's, from Prepared.
	Extras map[string]string
	// Repeated is true when an earlier call of this submission may still be on its
	// way: its caller was lost. Elsewhere is a moment after which none was begun on
	// another machine, zero where none ever was.
	Repeated  bool
	Elsewhere time.Time
}

// Prepared is what a redeploy needs to know before it begins.
type Prepared struct {
	// Savepoints is the directory under which savepoints go.
	Savepoints string `json:"savepoints"`
	// Extras are what the platform wants to know again at the submission, when the
	// job that was stopped may be forgotten, and by which it finds what was
	// submitted. They become those of the job.
	Extras map[string]string `json:"extras,omitempty"`
	// ByHand is how a person would start the job, the zero value for a session cluster.
	ByHand ByHand `json:"byHand,omitzero"`
}

// ByHand is a command line without what every start has: savepoint, sizes, program.
type ByHand struct {
	// Command is the program with its verb.
	Command string `json:"command"`
	// Options are what makes the new job the one that takes the place of the old one.
	Options string `json:"options,omitempty"`
}

// Redeploy is what a change by stopping a job and starting it again has left.
type Redeploy struct {
	// Trigger and Directory are those of the stop.
	Trigger   string `json:"trigger"`
	Directory string `json:"directory"`
	// From is the Flink job that was stopped, To the one that runs in its place,
	// empty for none.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	// Savepoint is where the state is, empty where the job was not stopped.
	Savepoint string `json:"savepoint,omitempty"`
}
