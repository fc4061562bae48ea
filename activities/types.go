package activities

import (
	"time"

	"flinkscaler/core"
)

// Names of the activities, as registered and as seen in the Temporal UI. They
// are part of the compatibility promise: histories hold them.
const (
	NameAccept       = "Accept"
	NameObserve      = "Observe"
	NameDecide       = "Decide"
	NamePreflight    = "Preflight"
	NameApply        = "Apply"
	NameVerify       = "Verify"
	NameFindRescale  = "FindRescale"
	NameAwaitRescale = "AwaitRescale"
	NameReport       = "Report"
	NameCheckUndo    = "CheckUndo"
	NameTrim         = "TrimTaskManagers"
)

// ObserveInput says what to look at, and what the caller knows already, so
// that the answer stays small.
type ObserveInput struct {
	Key    core.JobKey `json:"key"`
	Target core.Target `json:"target"`
	// Digest and ConfigDigest are of the topology and configuration known.
	Digest       string `json:"digest,omitempty"`
	ConfigDigest string `json:"configDigest,omitempty"`
	// Clock is the JobManager's clock in the last sample, and RunningSince the
	// attempt it belongs to.
	Clock        core.Reading `json:"clock"`
	RunningSince time.Time    `json:"run,omitzero"`
	// StateSize asks for the size of the job's state too.
	StateSize bool `json:"stateSize,omitempty"`
}

// DecideInput is all that a decision may depend on. It is the input of a local
// activity and therefore not in history; the decision is.
type DecideInput struct {
	Context core.JobContext `json:"context"`
	// Policies are the policy layers that the workflow knows, highest first
	// without the worker's own: what was set by message, the input, the job's
	// own configuration.
	Set    map[string]string `json:"set,omitempty"`
	Input  map[string]string `json:"input,omitempty"`
	Config map[string]string `json:"config,omitempty"`
	// ClusterDigest is of the cluster's default policy as known.
	ClusterDigest string `json:"clusterDigest,omitempty"`
}

// Decided is a decision and what the workflow needs to go on.
type Decided struct {
	Decision core.Decision `json:"decision"`
	// Health is the state of the management, in one word.
	Health core.Health `json:"health"`
	// Consent is what the decision leaves of proposals, nil when that is as it was
	// given; ConsentNote says why one is no more.
	Consent     *core.Consent `json:"consent,omitempty"`
	ConsentNote string        `json:"consentNote,omitempty"`
	// Memory is what to remember, nil when unchanged.
	Memory *core.Memory `json:"memory,omitempty"`
	// Events are those that are due, for Report.
	Events []core.Event `json:"events,omitempty"`
	// KeepFrom: samples before it never count again.
	KeepFrom time.Time `json:"keepFrom,omitzero"`
	// Slots is what the job has and wants of what the jobs of its cluster share,
	// nil where nothing is shared.
	Slots *SlotsWish `json:"slots,omitempty"`
	// Timing of the loop and of a rescale, from the policy.
	Interval      time.Duration `json:"interval"`
	VerifyTimeout time.Duration `json:"verify"`
	Backoff       time.Duration `json:"backoff"`
	NoCheckpoints bool          `json:"noCheckpoints,omitempty"`
	NoSlots       bool          `json:"noSlots,omitempty"`
	NoUndo        bool          `json:"noUndo,omitempty"`
	Redeploy      bool          `json:"redeploy,omitempty"`
	// StateSize is true when decisions depend on the size of the job's state.
	StateSize      bool   `json:"stateSize,omitempty"`
	ClusterDigest  string `json:"clusterDigest,omitempty"`
	ClusterChanged bool   `json:"clusterChanged,omitempty"`
	// ClusterPolicy is the cluster's default policy, only with ClusterChanged.
	ClusterPolicy map[string]string `json:"clusterPolicy,omitempty"`
}

// RescaleInput starts a RescaleFlinkJob.
type RescaleInput struct {
	Key    core.JobKey `json:"key"`
	Target core.Target `json:"target"`
	// JobID is the Flink job that the decision was made for: another one is
	// never touched.
	JobID      string `json:"jobId"`
	DecisionID string `json:"decision"`
	Attempt    int    `json:"attempt"`
	// Owner is the id of the workflow that decided.
	Owner string `json:"owner"`
	// Cause is the decision's reason, Note its sentence. Undoes is what an undo is
	// for.
	Cause  core.Reason `json:"cause"`
	Note   string      `json:"note,omitempty"`
	Undoes core.Reason `json:"undoes,omitempty"`
	// From is what ran when it was decided, Wanted what shall run; both are
	// complete and sorted.
	From   []core.VertexSize `json:"from"`
	Wanted []core.VertexSize `json:"wanted"`
	// Changes tells by name what changes, for people; empty in older histories.
	Changes string `json:"changes,omitempty"`
	// Seen is the complete list of requirements in force when it was decided,
	// empty where that is not known: others now are somebody else's (I8).
	Seen core.Requirements `json:"seen,omitempty"`
	// Restarts are those that were measured: how long the job takes to run again.
	Restarts []core.Restart `json:"restarts,omitempty"`
	// VerifyTimeout bounds the wait for the new size, 0: by Flink's own options.
	VerifyTimeout time.Duration `json:"verify"`
	// NoSlots allows to ask for a larger size although no slot is free.
	NoSlots bool `json:"noSlots,omitempty"`
	// NoCheckpoints allows a job without checkpoints to be rescaled.
	NoCheckpoints bool `json:"noCheckpoints,omitempty"`
	// NoUndo leaves a job as it is that is not well after the change.
	NoUndo bool `json:"noUndo,omitempty"`
	// Redeploy allows a job that cannot be changed in place to be stopped with a
	// savepoint and started again.
	Redeploy bool `json:"redeploy,omitempty"`
	// Slots is its part in what the jobs of the cluster share, nil where nothing is
	// shared.
	Slots *SlotsPart `json:"slots,omitempty"`
}

// SlotsPart is the part of a rescale in what the jobs of its cluster share.
type SlotsPart struct {
	SlotsWish
	// Lease is the decision under which slots were granted, empty where none are
	// needed or nobody is waited for.
	Lease string `json:"lease,omitempty"`
	// For is how long the lease lasts without being renewed, Until when it ends.
	For   time.Duration `json:"for,omitempty"`
	Until time.Time     `json:"until,omitzero"`
}

// Preflight is the answer of the preflight check. With a Reason, nothing may
// be written; a Note without one is to be told with the outcome.
type Preflight struct {
	Reason core.Reason `json:"reason,omitempty"`
	Note   string      `json:"note,omitempty"`
	// Job is the job as found.
	Job core.JobRef `json:"job"`
	// Before is what runs, RunningSince since when.
	Before       []core.VertexSize `json:"before,omitempty"`
	RunningSince time.Time         `json:"run,omitzero"`
	// Held is the complete list of requirements in force, Wish the one to write.
	Held core.Requirements `json:"held,omitempty"`
	Wish core.Requirements `json:"wish,omitempty"`
	// At is the JobManager's clock at the check.
	At time.Time `json:"at"`
	// VerifyFor is how long the new size may take, VerifyWhy a sentence on it.
	VerifyFor time.Duration `json:"verifyFor,omitempty"`
	VerifyWhy string        `json:"verifyWhy,omitempty"`
	// Trim is true where TaskManagers that are not needed any more must be given
	// back afterwards.
	Trim bool `json:"trim,omitempty"`
	// Managers is how many TaskManagers the platform held for the job's cluster, 0
	// where that is not known.
	Managers int `json:"managers,omitempty"`
	// Checkpoint is the place whose storage was seen to answer, empty where it could
	// not be looked at.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Redeploy is how the job is to be stopped and started again, nil where it is
	// changed in place.
	Redeploy *RedeployPlan `json:"redeploy,omitempty"`
}

// ApplyInput is the wish of one decision.
type ApplyInput struct {
	Key        core.JobKey `json:"key"`
	Job        core.JobRef `json:"job"`
	DecisionID string      `json:"decision"`
	// Held is what was in force at the preflight, Wish what shall be.
	Held core.Requirements `json:"held,omitempty"`
	Wish core.Requirements `json:"wish"`
	// Checkpoint is as in the Preflight.
	Checkpoint string `json:"checkpoint,omitempty"`
}

// ApplyResult says what was done to have the wish in force.
type ApplyResult struct {
	// Already is true when Flink held the wish before: nothing was written.
	Already bool      `json:"already,omitempty"`
	At      time.Time `json:"at"`
}

// VerifyInput says what to wait for, and until when.
type VerifyInput struct {
	Key          core.JobKey       `json:"key"`
	Target       core.Target       `json:"target"`
	Job          core.JobRef       `json:"job"`
	Wanted       []core.VertexSize `json:"wanted"`
	Before       []core.VertexSize `json:"before"`
	Wish         core.Requirements `json:"wish"`
	RunningSince time.Time         `json:"run"`
	// Since is the JobManager's clock before the write: later failures of the job
	// are counted against it.
	Since time.Time `json:"since,omitzero"`
	// Undoing is true where the size before is waited for: what failed at the
	// other is then no fault of it.
	Undoing bool `json:"undoing,omitempty"`
	// Restored is the savepoint that the job was submitted with, empty for a change
	// in place: then nothing is wanted of Flink, and the job must run from there.
	Restored string `json:"restored,omitempty"`
	// Deadline is absolute: a retry on another worker keeps it.
	Deadline time.Time `json:"deadline"`
}

// Verified is what Flink shows after a rescale.
type Verified struct {
	Kind      core.OutcomeKind  `json:"kind"`
	Reason    core.Reason       `json:"reason"`
	Note      string            `json:"note,omitempty"`
	Got       []core.VertexSize `json:"got,omitempty"`
	RunningAt time.Time         `json:"runningAt,omitzero"`
	// WishHeld is true when the requirements are those that were wished for.
	WishHeld bool `json:"wishHeld,omitempty"`
	// Undo says why the size before should be asked for again, empty when it
	// should not.
	Undo core.Reason `json:"undo,omitempty"`
	// Job is the job as it is now, where the change gave it another id.
	Job *core.JobRef `json:"job,omitempty"`
	// Newest is the newest checkpoint of its own that a submitted job was seen to
	// complete.
	Newest string `json:"newest,omitempty"`
}

// TrimInput names a job whose TaskManagers may be too many.
type TrimInput struct {
	Key        core.JobKey `json:"key"`
	Job        core.JobRef `json:"job"`
	DecisionID string      `json:"decision"`
	// Wish is what the change has in force, empty where that is not known: what of it
	// did not come is taken back.
	Wish core.Requirements `json:"wish,omitempty"`
	// Managers is how many TaskManagers the platform held before, 0 where that is not
	// known.
	Managers int `json:"managers,omitempty"`
}

// Trimmed says what was given back.
type Trimmed struct {
	Note string `json:"note,omitempty"`
	// Withdrawn says what was taken back of what was asked for, nil for nothing; Wish
	// is then what is in force.
	Withdrawn *core.Withdrawal  `json:"withdrawn,omitempty"`
	Wish      core.Requirements `json:"wish,omitempty"`
}

// UndoInput is a change that went wrong.
type UndoInput struct {
	Key    core.JobKey `json:"key"`
	Target core.Target `json:"target"`
	Job    core.JobRef `json:"job"`
	// Wish is what the change has in force, Back the sizes before it.
	Wish core.Requirements `json:"wish"`
	Back []core.VertexSize `json:"back"`
	// Restarts and VerifyTimeout are those of the change.
	Restarts      []core.Restart `json:"restarts,omitempty"`
	VerifyTimeout time.Duration  `json:"verify"`
}

// FindRescaleInput names a rescale workflow.
type FindRescaleInput struct {
	RescaleID string `json:"rescaleId"`
	// Owner is the workflow that asks.
	Owner string `json:"owner"`
}

// FoundRescale is the newest rescale of a target.
type FoundRescale struct {
	// Exists is false when there never was one, or none is kept.
	Exists bool   `json:"exists,omitempty"`
	Open   bool   `json:"open,omitempty"`
	RunID  string `json:"runId,omitempty"`
	Owner  string `json:"owner,omitempty"`
	// OwnedElsewhere is true when another workflow started it and still runs.
	OwnedElsewhere bool   `json:"ownedElsewhere,omitempty"`
	Attempt        int    `json:"attempt,omitempty"`
	DecisionID     string `json:"decision,omitempty"`
	// Outcome is set when it is closed and ended with one.
	Outcome *core.Outcome `json:"outcome,omitempty"`
}

// AwaitRescaleInput names an open rescale.
type AwaitRescaleInput struct {
	RescaleID string `json:"rescaleId"`
	RunID     string `json:"runId"`
}

// ReportInput is what people should hear of a job: of a decision, or of the
// outcome of a rescale.
type ReportInput struct {
	Key core.JobKey `json:"key"`
	// Target is where the job runs, zero in older histories.
	Target core.Target  `json:"target,omitzero"`
	Events []core.Event `json:"events,omitempty"`
	// Outcome is nil with events of a decision.
	Outcome *core.Outcome `json:"outcome,omitempty"`
}

// Memo keys of a rescale workflow.
const (
	MemoOwner    = "owner"
	MemoAttempt  = "attempt"
	MemoDecision = "decision"
)
