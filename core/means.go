package core

// Means is how the size of a job is changed where Flink's own resource
// requirements are not all there is to it. The zero value is Flink alone: each
// vertex by itself, in place.
type Means struct {
	// Method names the way, for people, such as "operator-in-place".
	Method string `json:"method,omitempty"`
	// Refused says why the size cannot be changed safely, and what the user can do
	// about it. Such a job is watched, never changed. Empty where it can.
	Refused string `json:"refused,omitempty"`
	// Restarts is true where a change stops the whole job with a savepoint, or at its
	// last checkpoint, and starts it again, maybe under another id.
	Restarts bool `json:"restarts,omitempty"`
	// Uniform is true where all vertices get one size, each as far as its max
	// parallelism goes.
	Uniform bool `json:"uniform,omitempty"`
	// Elastic is true where a change brings the TaskManagers that it needs: free slots
	// are no bound.
	Elastic bool `json:"elastic,omitempty"`
	// Trims is true where TaskManagers that are not needed any more stay until they
	// are given back.
	Trims bool `json:"trims,omitempty"`
	// Withdraws is true where requests for TaskManagers stand for as long as more is
	// wanted of Flink than runs: after a change that came to less they are taken back.
	Withdraws bool `json:"withdraws,omitempty"`
	// Follows is true where something else decides on the TaskManagers, and the job
	// takes what slots there are.
	Follows bool `json:"follows,omitempty"`
	// Step is what uniform sizes are multiples of: the slots of a TaskManager where
	// a job takes all there are. 0 is 1.
	Step int `json:"step,omitempty"`
}

// Rival is somebody else who changes the size of a job, or may.
type Rival struct {
	// Kind is what it is, such as "HorizontalPodAutoscaler"; Name its name.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// What says in one sentence what it does to the job and what to do about it.
	What string `json:"what"`
	// Warning is true for one beside which the job can be managed all the same.
	Warning bool `json:"warning,omitempty"`
}

// Carried tells how far what was wanted has come on its way to Flink, where
// another program carries it there.
type Carried struct {
	// Done is true when nothing is outstanding between us and Flink.
	Done bool `json:"done"`
	// Reason and Note say what is waited for, or what went wrong, while it is not;
	// with Done, why TaskManagers that are needed do not come, empty when they do.
	Reason Reason `json:"reason,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Held is what a platform holds for a job's cluster, which is what it costs.
type Held struct {
	// What is held, in the platform's word, such as "containers".
	What string `json:"what,omitempty"`
	// Held are the TaskManagers that it has given, registered at Flink or not.
	Held int `json:"held"`
	// Needed are those that its jobs need at the sizes at which they run, 0 where that
	// is not known.
	Needed int `json:"needed,omitempty"`
	// Waits is true while it was asked for more.
	Waits bool `json:"waits,omitempty"`
}

// Room tells whether there is room for the TaskManagers that a size needs.
type Room struct {
	// Short is true when there is not: known for sure.
	Short bool `json:"short,omitempty"`
	// Note says what is missing, or what could not be known; empty when there is
	// room for sure.
	Note string `json:"note,omitempty"`
	// Fits is how many of the TaskManagers that are needed fit, where Short.
	Fits int `json:"fits,omitempty"`
	// MayGrow is true where nodes are added when pods do not fit: Short is then
	// only a wait.
	MayGrow bool `json:"mayGrow,omitempty"`
}
