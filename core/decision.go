package core

import "time"

// Verdict is what a decision comes to.
type Verdict string

// The verdicts.
const (
	Hold   Verdict = "hold"
	Change Verdict = "change"
)

// Step is one thing that moved a vertex' number on its way from what the
// formula asked for to what was decided, in order.
type Step struct {
	// By names the rule, a policy key where there is one.
	By string `json:"by"`
	// To is the parallelism after the step.
	To int `json:"to"`
	// Note says why in a few words, with the limit's number.
	Note string `json:"note,omitempty"`
}

// VertexDecision is the arithmetic of one vertex. Rates are records per
// second; a Reading is Missing where the number does not exist.
type VertexDecision struct {
	ID string `json:"id"`
	// From is the parallelism now, To the one decided: equal when it stays.
	From int `json:"from"`
	To   int `json:"to"`
	// Wanted is what the strategy would run it at, before delays and vetoes.
	Wanted int `json:"want"`
	// TrueRate is the true processing rate: what it could do at full load.
	TrueRate Reading `json:"tpr"`
	// TargetRate is what it has to do, CatchUpRate what it needs on top to
	// work off the lag in time.
	TargetRate  Reading `json:"target"`
	CatchUpRate Reading `json:"catchUp"`
	// UpBelow and DownAbove are the thresholds of the true processing rate.
	UpBelow   Reading `json:"up"`
	DownAbove Reading `json:"down"`
	// Capacity is the rate that the new size is chosen for.
	Capacity Reading `json:"cap"`
	// Load is busy time as a share, 0 to 1.
	Load Reading `json:"load"`
	Lag  Reading `json:"lag"`
	// Observed is true when TrueRate is the rate that was seen under a backlog,
	// not the one that busy time tells.
	Observed bool `json:"seen,omitempty"`
	// Outside is true when TrueRate lies outside the thresholds.
	Outside bool `json:"outside,omitempty"`
	// Coefficient is how well past changes of the vertex scaled, 0 when that
	// was not asked for or had no influence; 1 is linear.
	Coefficient float64 `json:"coef,omitempty"`
	// Effect judges the last scale-up of the vertex, where it did not bring what
	// was expected of it.
	Effect *Effect `json:"effect,omitempty"`
	// Why is the reason for this vertex; ReasonWithinTarget when all is well.
	Why   Reason `json:"why"`
	Note  string `json:"note,omitempty"`
	Steps []Step `json:"steps,omitempty"`
}

// Expected is the true processing rate at the decided size, if the vertex
// scales linearly: TrueRate / From * To. NotApplicable for an idle vertex.
func (v VertexDecision) Expected() Reading {
	return v.TrueRate.Map(func(rate float64) float64 {
		return Round3(float64(rate/float64(v.From)) * float64(v.To))
	})
}

// Effect is what a scale-up brought in true processing rate (records per
// second), against what it was expected to bring at the size that was reached.
type Effect struct {
	ExpectedGain float64 `json:"expected"`
	Gain         float64 `json:"gain"`
	// Proofs counts how often in a row that was seen. Blocks is true when the
	// vertex gets no larger because of it, until Until.
	Proofs int       `json:"proofs,omitempty"`
	Blocks bool      `json:"blocks,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

// MemoryAdvice is what the TaskManagers' memory could be, as options of Flink.
// It is shown, never carried out.
type MemoryAdvice struct {
	// Set are options to set, sorted by key; Remove are options to take out.
	Set    []Option `json:"set,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// Option is one option of Flink's configuration.
type Option struct {
	Key   string `json:"k"`
	Value string `json:"v"`
}

// Decision is one cycle's result. It can defend itself: every number, every
// limit it hit and the reason are in it.
type Decision struct {
	// ID is unique within the job's life: "<cycle>-<unix seconds>".
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Strategy names the rule that decided, such as "flink".
	Strategy string  `json:"strategy"`
	Verdict  Verdict `json:"verdict"`
	// Reason is from the closed set (Reasons); Note one sentence with the
	// numbers.
	Reason Reason `json:"reason"`
	Note   string `json:"note,omitempty"`
	// Undoes says what an undo is for, empty for anything else.
	Undoes   Reason           `json:"undoes,omitempty"`
	Vertices []VertexDecision `json:"v,omitempty"`
	// Samples is how many samples counted, over Span.
	Samples int           `json:"samples"`
	Span    time.Duration `json:"span"`
	// WindowEnds is when there will be enough samples to judge, zero when
	// there are.
	WindowEnds time.Time `json:"windowEnds,omitzero"`
	// Problems lists what is wrong with the policy, if Reason is
	// ReasonPolicyInvalid.
	Problems []Problem `json:"problems,omitempty"`
	// Restart says how long a restart was taken to last, where that was measured,
	// and RestartTime is that; zero where it is the policy's restart.time.
	Restart     string        `json:"restart,omitempty"`
	RestartTime time.Duration `json:"restartTime,omitempty"`
	// Memory is a recommendation that came with a change, nil for none.
	Memory *MemoryAdvice `json:"memory,omitempty"`
	// Proposal is a change that was not put to a person before, nil for none. One
	// that waits already has ReasonApproval and none here.
	Proposal *Proposal `json:"proposal,omitempty"`
	// Needs is how many slots the job would take, if Reason is ReasonSlotsShared.
	Needs int `json:"needs,omitempty"`
}

// Sizes gives what the decision wants every vertex to run at, sorted by id.
func (d Decision) Sizes() []VertexSize {
	out := make([]VertexSize, 0, len(d.Vertices))
	for _, v := range d.Vertices {
		out = append(out, VertexSize{ID: v.ID, Parallelism: v.To})
	}
	return out
}

// Shrinks is true when some vertex gets smaller.
func (d Decision) Shrinks() bool {
	for _, v := range d.Vertices {
		if v.To < v.From {
			return true
		}
	}
	return false
}

// Problem is one thing that is wrong with an input, with its path, such as
// `policy["job.autoscaler.metrics.window"]`.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// String gives "path: message".
func (p Problem) String() string { return p.Path + ": " + p.Message }

// Override is an operator's order: all vertices, or some, at a number.
type Override struct {
	// Parallelism is for all vertices, 0 when Vertices says it.
	Parallelism int `json:"parallelism,omitempty"`
	// Vertices name a vertex by id or by exact name, sorted.
	Vertices []VertexSize `json:"vertices,omitempty"`
	By       string       `json:"by,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Since    time.Time    `json:"since"`
	// Until is when it ends by itself, zero for never.
	Until time.Time `json:"until,omitzero"`
}

// Pause is an operator's order to change nothing.
type Pause struct {
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"`
}

// OutcomeKind is how a rescale ended (I5).
type OutcomeKind string

// The outcomes.
const (
	Applied  OutcomeKind = "applied"  // runs at what was wanted
	Partial  OutcomeKind = "partial"  // runs at a part of it
	Rejected OutcomeKind = "rejected" // nothing was written, or Flink refused it
	Undone   OutcomeKind = "undone"   // went back to the size before
	Failed   OutcomeKind = "failed"   // alarm: the job is not well afterwards
)

// Outcome is what came of a rescale, with what Flink shows.
type Outcome struct {
	Kind       OutcomeKind `json:"kind"`
	Reason     Reason      `json:"reason"`
	Note       string      `json:"note,omitempty"`
	DecisionID string      `json:"decision"`
	Attempt    int         `json:"attempt"`
	// From is the size before, Wanted what was asked for, Got what runs now.
	From   []VertexSize `json:"from,omitempty"`
	Wanted []VertexSize `json:"wanted,omitempty"`
	Got    []VertexSize `json:"got,omitempty"`
	// StartedAt is when the rescale began, WrittenAt when Flink took the
	// requirements, RunningAt when all tasks ran again, EndedAt when the
	// outcome was known.
	StartedAt time.Time `json:"startedAt"`
	WrittenAt time.Time `json:"writtenAt,omitzero"`
	RunningAt time.Time `json:"runningAt,omitzero"`
	EndedAt   time.Time `json:"endedAt"`
	// JobID is the Flink job that was changed, after a redeploy the one that runs in
	// its place. Wish is what was asked of Flink
	// for it and is in force as far as is known, the undo's where there was one;
	// empty when nothing was written, or when it is not known what is in force.
	JobID string       `json:"jobId,omitempty"`
	Wish  Requirements `json:"wish,omitempty"`
	// Cause is the reason of the decision.
	Cause Reason `json:"cause,omitempty"`
	// Undo is the change back, nil for none.
	Undo *Undo `json:"undo,omitempty"`
	// Redeploy is set where the job was to be stopped and started again.
	Redeploy *Redeploy `json:"redeploy,omitempty"`
	// Withdrawn is set where what did not come was taken back; Wish is then what is left
	// of it.
	Withdrawn *Withdrawal `json:"withdrawn,omitempty"`
}

// Withdrawal takes back what was asked for and did not come: a decision of its own,
// linked to the first by being part of its outcome. It makes nothing smaller that runs.
type Withdrawal struct {
	DecisionID string `json:"decision"`
	// Note says what of which vertices.
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
}

// Alarm is true for an outcome that a person should hear of: the job was not well
// after a change, whether it went back or not. An undo that was a change of its
// own is one, too, unless nothing came of it: then it is tried again.
func (o Outcome) Alarm() bool {
	switch o.Kind {
	case Undone, Failed:
		return true
	case Applied, Partial:
		return o.Cause == ReasonUndo
	case Rejected:
	}
	return false
}

// Undo is the way back to the size before a change that went wrong: a decision
// of its own, linked to the first by being part of its outcome.
type Undo struct {
	DecisionID string `json:"decision"`
	// Cause says what went wrong, with a sentence.
	Cause Reason `json:"cause"`
	Note  string `json:"note,omitempty"`
	// Kind is how the undo itself ended, Reason and Got what Flink shows.
	Kind      OutcomeKind  `json:"kind"`
	Reason    Reason       `json:"reason,omitempty"`
	Got       []VertexSize `json:"got,omitempty"`
	WrittenAt time.Time    `json:"writtenAt,omitzero"`
}

// JobContext is all that a strategy may know of a job (FLIP-334): who it is,
// what was seen of it, what operators said, what time it is.
type JobContext struct {
	Key          JobKey
	JobID        string
	FlinkVersion string
	// Cycle counts decisions of this job; it makes their ids.
	Cycle int
	Now   time.Time
	// Topology is the last one seen.
	Topology Topology
	// Window holds the samples, oldest first.
	Window []Sample
	Memory Memory
	// Pause and Override are the operators' orders in force, nil for none.
	Pause    *Pause
	Override *Override
	// Consent is what people were asked and said. What has run out is not in it.
	Consent Consent
	// RescaleOpen is true while a rescale of this job is under way.
	RescaleOpen bool
	// RetryAfter is when the next rescale may start after one that did not
	// succeed, zero for now; LastOutcome is the last one.
	RetryAfter  time.Time
	LastOutcome *Outcome
	// AskedAt is when an operator last asked for a look, a size, or an end of a
	// pause; zero for never.
	AskedAt time.Time
	// ManagedBy names another running workflow that owns the target.
	ManagedBy string
	// Turn is the job's part in what the jobs of its cluster share, nil where
	// nothing is shared.
	Turn *Turn
	// Config holds options of the job's own configuration besides the policy:
	// those of policy.Related that Flink shows.
	Config map[string]string
	// Extras are the platform's own facts: no strategy reads them.
	Extras map[string]string
	// Means is how the job's size is changed, nil where Flink alone does it.
	Means *Means
}
