package core

import "time"

// EventKind says what an event is about: the four that FLIP-334 knows, and what
// came of a change. Its Reason tells more.
type EventKind string

// The kinds of events.
const (
	EventReport      EventKind = "report"      // a change of size begins
	EventRecommended EventKind = "recommended" // a change that is not made: something forbids it, or it is never made
	EventIneffective EventKind = "ineffective" // a scale-up brought too little
	EventError       EventKind = "error"       // the job cannot be judged, or not changed as was wanted
	EventOutcome     EventKind = "outcome"     // the job was not well after a change: an alarm
)

// Event is something that people outside want to hear of a job, once. What it
// says comes from one decision.
type Event struct {
	Kind EventKind `json:"kind"`
	// Warning tells the two types of events apart that Java has.
	Warning bool `json:"warning,omitempty"`
	// Reason is the name that the Java autoscaler gives such an event. It is not
	// a Reason of a decision.
	Reason string `json:"reason"`
	// Key is the same for two events that say the same. No number is in it that
	// changes from cycle to cycle.
	Key     string `json:"key"`
	Message string `json:"message"`
	// ParallelismHash stands for the sizes before and after, where there are
	// any, as Java computes it.
	ParallelismHash string    `json:"parallelismHash,omitempty"`
	DecisionID      string    `json:"decision"`
	At              time.Time `json:"at"`
	// Repeated is true when the same was told before and still holds.
	Repeated bool `json:"repeated,omitempty"`
}
