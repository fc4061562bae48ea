package core

import "time"

// Memory is what decisions remember from one cycle to the next. It is bounded
// (I10): by vertices, by the window of the delay, by history.max.count.
type Memory struct {
	// Delayed is sorted by vertex id.
	Delayed []DelayedDown `json:"delayed,omitempty"`
	// LagSeen lists the sources that have ever shown a backlog, sorted: where
	// one shows none later, that is a lost signal and not a lag of 0.
	LagSeen []string `json:"lagSeen,omitempty"`
	// Observed holds the true rates that sources showed while they caught up,
	// sorted by vertex id.
	Observed []ObservedRate `json:"observed,omitempty"`
	// Changes holds the last changes of each vertex, sorted by vertex id.
	Changes []VertexHistory `json:"changes,omitempty"`
	// Restarts are the last rescales whose restart was seen, oldest first.
	Restarts []Restart `json:"restarts,omitempty"`
	// Spent are the rescales of the last day, oldest first.
	Spent []Spent `json:"spent,omitempty"`
	// Settled is the attempt of the last outcome that Changes and Restarts have
	// taken in.
	Settled int `json:"settled,omitempty"`
	// Doubts are scale-ups that did not bring what was expected of them, sorted
	// by vertex id.
	Doubts []Doubt `json:"doubts,omitempty"`
	// Ours is what our last write left in force, nil where that is not known;
	// Foreign is what somebody else wrote over it, nil for nothing.
	Ours    *Ours    `json:"ours,omitempty"`
	Foreign *Foreign `json:"foreign,omitempty"`
	// Reverts are when somebody took back what we wrote, oldest first; after too many
	// nothing is written until an operator asks for it.
	Reverts []time.Time `json:"reverts,omitempty"`
	// Started is since when the JobManager knows the job, zero where that is not
	// known.
	Started time.Time `json:"started,omitzero"`
	// Bad holds sizes at which the job failed, oldest first.
	Bad []BadSize `json:"bad,omitempty"`
	// Trial is the last change while it is young, nil for none. Before is what
	// the job had to do when one was decided that makes it smaller and that has no
	// outcome yet.
	Trial  *Trial  `json:"trial,omitempty"`
	Before *Before `json:"before,omitempty"`
	// Free is how many slots were free after the last outcome.
	Free *FreeThen `json:"free,omitempty"`
	// Told are the events that were sent and must not be repeated yet, sorted by
	// key.
	Told []Told `json:"told,omitempty"`
}

// ObservedRate is what a source did at full load, seen while it worked off a
// backlog, over the samples that count.
type ObservedRate struct {
	ID string `json:"id"`
	// RunningSince is the attempt of the job that it was seen in: no other has
	// the same sizes.
	RunningSince time.Time `json:"run"`
	// Until is the newest sample that is part of it, Samples how many have a
	// rate. A single entry of enough samples holds beyond: then every sample that
	// counts has that rate.
	Until   time.Time `json:"until"`
	Samples int       `json:"n"`
	// Entries are oldest first; each holds from its time until the next one.
	Entries []ObservedEntry `json:"entries"`
}

// ObservedEntry is the rate from a sample on, in records per second:
// NotApplicable where nothing was read, Missing where nothing was observed yet.
type ObservedEntry struct {
	At   time.Time `json:"at"`
	Rate Reading   `json:"rate"`
}

// DelayedEntry is one smaller size that was wanted at one time.
type DelayedEntry struct {
	At          time.Time `json:"at"`
	Parallelism int       `json:"p"`
	Outside     bool      `json:"outside,omitempty"`
}

// DelayedDown is a scale-down of a vertex that waits for its delay.
type DelayedDown struct {
	ID      string         `json:"id"`
	First   time.Time      `json:"first"`
	Entries []DelayedEntry `json:"entries"`
}

// VertexHistory is the last changes of one vertex, oldest first.
type VertexHistory struct {
	ID      string   `json:"id"`
	Changes []Scaled `json:"changes"`
}

// Scaled is one change of a vertex that was decided, and what was expected of
// it.
type Scaled struct {
	At time.Time `json:"at"`
	// DecisionID is the decision that changed it.
	DecisionID string `json:"decision"`
	// From is the size before, To the one decided; Got is the one that was
	// reached, 0 while the outcome is not known.
	From int `json:"from"`
	To   int `json:"to"`
	Got  int `json:"got,omitempty"`
	// TrueRate is the true processing rate at From, in records per second.
	TrueRate Reading `json:"tpr"`
	// Planned is the rate that To was chosen for; tests alone set it.
	Planned Reading `json:"planned,omitzero"`
}

// Size is the parallelism that came of the change: the reached one, or as long
// as that is not known the decided one.
func (s Scaled) Size() int {
	if s.Got > 0 {
		return s.Got
	}
	return s.To
}

// Expected is the true processing rate that the change was to bring at the size
// that came of it, if the vertex scales linearly.
func (s Scaled) Expected() Reading {
	return s.TrueRate.Map(func(rate float64) float64 {
		return Round3(float64(rate/float64(s.From)) * float64(s.Size()))
	})
}

// Restart is how long a rescale kept the job from running.
type Restart struct {
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
}

// Spent is a rescale that was made, as a budget counts it.
type Spent struct {
	At time.Time `json:"at"`
	// Took is how long the job did not run because of it, as far as it was seen.
	Took   time.Duration `json:"took,omitempty"`
	Failed bool          `json:"failed,omitempty"`
}

// Doubt is a vertex whose last scale-up was seen to have brought too little.
type Doubt struct {
	ID string `json:"id"`
	// Change is when the scale-up was decided that is in doubt.
	Change time.Time `json:"change"`
	// Proofs counts the evaluations in a row that showed it.
	Proofs int `json:"proofs"`
	// Until is when the verdict ends by itself, zero while there are too few
	// proofs for one.
	Until time.Time `json:"until,omitzero"`
	// Trials counts the verdicts before, each of which ended with a try that
	// brought too little again.
	Trials int `json:"trials,omitempty"`
}

// Ours is what we want of Flink for one job.
type Ours struct {
	JobID string       `json:"jobId"`
	Wish  Requirements `json:"wish"`
	// Less holds the vertices that came to less than was wanted, with the size
	// that counts as well for now.
	Less []VertexSize `json:"less,omitempty"`
	// Anew is true when another JobManager took the job over since: one without HA
	// knows nothing of our write.
	Anew bool `json:"anew,omitempty"`
	// Marked is true once the job's object was seen to bear our mark.
	Marked bool `json:"marked,omitempty"`
}

// Foreign is what somebody else wants of Flink.
type Foreign struct {
	Wanted Requirements `json:"wanted"`
	// Since is when it was first seen, Asked when an operator had last asked for
	// a look or a size by then: a later one takes it as given.
	Since time.Time `json:"since"`
	Asked time.Time `json:"asked,omitzero"`
}

// BadSize is a change after which the job was not well.
type BadSize struct {
	// DecisionID is the change that showed it last.
	DecisionID string `json:"decision"`
	// Above holds the vertices that had grown with the size that was too large,
	// Below those that had shrunk with the size that was too small; sorted by id.
	Above []VertexSize `json:"above,omitempty"`
	Below []VertexSize `json:"below,omitempty"`
	// Until is when it is tried again, For how long it was forbidden: doubled when
	// it is confirmed.
	Until time.Time     `json:"until"`
	For   time.Duration `json:"for"`
}

// Trial is a change that has to prove itself.
type Trial struct {
	JobID      string `json:"jobId"`
	DecisionID string `json:"decision"`
	// Back is the size before.
	Back []VertexSize `json:"back"`
	// Since is when the job ran after the change, by the JobManager's clock;
	// Starts are when it ran again later, oldest first.
	Since  time.Time   `json:"since"`
	Starts []time.Time `json:"starts,omitempty"`
	// Most is the most subtasks that it ran at since: a start at more is Flink
	// getting nearer to what is wanted.
	Most int `json:"most"`
	// Before is what a change that made something smaller is held against, nil
	// where the job was not on time before it or where that was not known.
	Before *Before `json:"before,omitempty"`
}

// Before is a job that was on time when a change was decided that makes some of
// its vertices smaller.
type Before struct {
	DecisionID string `json:"decision"`
	// Late is how far the sources were behind.
	Late time.Duration `json:"late"`
	// Rates are what the sources, and the vertices that get smaller, had to do in
	// records per second; sorted by id.
	Rates []VertexRate `json:"rates"`
	// Got is the size that came of the change, Down how long the job did not run
	// because of it; both come with the outcome.
	Got  []VertexSize  `json:"got,omitempty"`
	Down time.Duration `json:"down,omitempty"`
}

// VertexRate is a rate of one vertex, in records per second.
type VertexRate struct {
	ID   string  `json:"id"`
	Rate float64 `json:"rate"`
}

// FreeThen is how many slots were free when an outcome was taken in.
type FreeThen struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Slots   Reading   `json:"slots"`
}

// Told is an event that was sent.
type Told struct {
	Key string    `json:"key"`
	At  time.Time `json:"at"`
}
