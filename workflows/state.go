package workflows

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/spec"
)

// Bounds of what a workflow keeps (I10).
const (
	maxDecisions  = 50
	maxRescales   = 20
	maxRejected   = 10
	maxMessageIDs = 100
	// What is kept of decisions and of rescales holds sizes of every vertex:
	// both are bounded in bytes too, so that the whole state of a job of 300
	// vertices stays far below the 2 MiB that a payload may have.
	maxDecisionBytes = 128 << 10
	maxRescaleBytes  = 256 << 10
)

// State is everything that a ScaleFlinkJob knows. It is the only thing carried
// over continue-as-new, whole (I9): every field is exported and survives JSON.
// Changes are additive.
type State struct {
	Version int `json:"version"`
	// Spec is what the operator asked for.
	Spec             spec.Spec `json:"spec"`
	SearchAttributes bool      `json:"searchAttributes,omitempty"`
	CyclesPerRun     int       `json:"cyclesPerRun,omitempty"`
	StartedAt        time.Time `json:"startedAt"`
	// Cycle counts the evaluations of this job's life, Runs its workflow runs.
	Cycle int `json:"cycle"`
	Runs  int `json:"runs"`

	// What is known of the job.
	Job          core.JobRef       `json:"job"`
	Topology     core.Topology     `json:"topology"`
	Digest       string            `json:"digest,omitempty"`
	Config       map[string]string `json:"config,omitempty"`
	ConfigDigest string            `json:"configDigest,omitempty"`
	// Cluster is the cluster's default policy in the worker's configuration.
	Cluster       map[string]string `json:"cluster,omitempty"`
	ClusterDigest string            `json:"clusterDigest,omitempty"`
	Window        []core.Sample     `json:"window,omitempty"`
	// Health is that of the last decision.
	Health core.Health `json:"health,omitempty"`
	// Misses counts samples in a row that were no evidence.
	Misses int `json:"misses,omitempty"`

	// What was decided, and what came of it.
	Memory     core.Memory    `json:"memory"`
	Last       core.Decision  `json:"last"`
	Decisions  []Record       `json:"decisions,omitempty"`
	Rescales   []core.Outcome `json:"rescales,omitempty"`
	Attempt    int            `json:"attempt"`
	RetryAfter time.Time      `json:"retryAfter,omitzero"`
	// Open is the rescale under way; never set across continue-as-new.
	Open *OpenRescale `json:"open,omitempty"`
	// ManagedBy is another workflow that owns the target.
	ManagedBy string `json:"managedBy,omitempty"`

	// Turn is the job's part in the slots that the jobs of its cluster share, nil
	// where nothing is shared.
	Turn *Turn `json:"turn,omitempty"`

	// What operators ordered.
	Pause    *core.Pause    `json:"pause,omitempty"`
	Override *core.Override `json:"override,omitempty"`
	// Set are the policy keys set by message, sorted by key.
	Set []SetKey `json:"set,omitempty"`
	// Consent is what people were asked and said of changes that need a yes.
	Consent core.Consent `json:"consent,omitzero"`
	// Given are the last orders that were carried out, oldest first.
	Given []Order `json:"given,omitempty"`
	// Stand counts what changed by orders besides Pause and Override, to see
	// whether something did.
	Stand    int        `json:"stand,omitempty"`
	Rejected []Rejected `json:"rejected,omitempty"`
	// Refused counts all signals that could not be carried out.
	Refused  int      `json:"refused,omitempty"`
	Messages []string `json:"messages,omitempty"`
	// Orders counts the messages that were carried out.
	Orders int `json:"orders,omitempty"`
	// AskedAt is when a look, a size or the end of a pause was last asked for.
	AskedAt time.Time `json:"askedAt,omitzero"`

	// Timing, from the policy of the last decision.
	Interval      time.Duration `json:"interval"`
	VerifyTimeout time.Duration `json:"verify"`
	Backoff       time.Duration `json:"backoff"`
	NoCheckpoints bool          `json:"noCheckpoints,omitempty"`
	NoSlots       bool          `json:"noSlots,omitempty"`
	NoUndo        bool          `json:"noUndo,omitempty"`
	Redeploy      bool          `json:"redeploy,omitempty"`
	StateSize     bool          `json:"stateSize,omitempty"`
	NextAt        time.Time     `json:"nextAt"`
}

// OpenRescale is a rescale that has not ended.
type OpenRescale struct {
	DecisionID string            `json:"decision"`
	Attempt    int               `json:"attempt"`
	RunID      string            `json:"runId,omitempty"`
	Since      time.Time         `json:"since"`
	Wanted     []core.VertexSize `json:"wanted,omitempty"`
	// From are the sizes before, empty for one that was adopted.
	From []core.VertexSize `json:"from,omitempty"`
}

// Record is one decision in the history, or a row of equal ones.
type Record struct {
	ID      string            `json:"id"`
	At      time.Time         `json:"at"`
	LastAt  time.Time         `json:"lastAt"`
	Count   int               `json:"count"`
	Verdict core.Verdict      `json:"verdict"`
	Reason  core.Reason       `json:"reason"`
	Note    string            `json:"note,omitempty"`
	Sizes   []core.VertexSize `json:"sizes,omitempty"`
}

// Rejected is a signal that could not be used.
type Rejected struct {
	At       time.Time      `json:"at"`
	Message  string         `json:"message"`
	Problems []core.Problem `json:"problems"`
}

// observe takes in what was seen.
func (s *State) observe(o core.Observation) {
	if o.Job.ID != "" {
		s.Job = o.Job
	}
	if o.Topology != nil {
		s.Topology, s.Digest = *o.Topology, o.Digest
	}
	if o.ConfigDigest != s.ConfigDigest {
		s.Config, s.ConfigDigest = o.Config, o.ConfigDigest
	}
	s.Misses++
	if o.Sample.Fault == "" {
		s.Misses = 0
	}
	s.Window = collect.Append(s.Window, o.Sample, collect.MaxBytes)
}

// forget drops the samples that never count again.
func (s *State) forget(before time.Time) {
	s.Window = slices.DeleteFunc(s.Window, func(x core.Sample) bool { return x.At.Before(before) })
}

// decided takes in a decision; a row of equal ones is one record.
func (s *State) decided(d core.Decision) {
	s.Last = d
	r := Record{ID: d.ID, At: d.At, LastAt: d.At, Count: 1, Verdict: d.Verdict, Reason: d.Reason, Note: d.Note}
	if d.Verdict == core.Change {
		r.Sizes = d.Sizes()
	}
	if n := len(s.Decisions); n > 0 && r.Verdict == core.Hold && d.Proposal == nil {
		if last := &s.Decisions[n-1]; last.Verdict == core.Hold && last.Reason == r.Reason {
			last.LastAt, last.Note, last.Count = d.At, d.Note, last.Count+1
			return
		}
	}
	s.Decisions = within(tail(append(s.Decisions, r), maxDecisions), maxDecisionBytes)
}

// ended takes in the outcome of a rescale. After one that did not succeed the
// next may start only after a while: longer when something was written. An
// interval is the least, also where the policy's back-off is 0: each end has the
// job looked at at once, and would start the next.
func (s *State) ended(o core.Outcome, now time.Time) {
	s.Open = nil
	s.Rescales = within(tail(append(s.Rescales, o), maxRescales), maxRescaleBytes)
	s.Attempt = max(s.Attempt, o.Attempt)
	s.RetryAfter = time.Time{}
	if o.Kind == core.Applied {
		return
	}
	wait := max(s.Backoff, s.Interval)
	if o.Kind == core.Rejected && o.WrittenAt.IsZero() {
		wait = min(wait, 2*s.Interval)
	}
	s.RetryAfter = now.Add(wait)
}

// expire ends what has run out, and says whether something did.
func (s *State) expire(now time.Time) (ended []string) {
	if s.Pause != nil && passed(s.Pause.Until, now) {
		s.Pause = nil
		s.ranOut(now, MsgPause)
		ended = append(ended, MsgPause)
	}
	if s.Override != nil && passed(s.Override.Until, now) {
		s.Override = nil
		s.ranOut(now, MsgOverride, MsgUndo)
		ended = append(ended, MsgOverride)
	}
	if s.expireConsent(now) {
		ended = append(ended, proposed)
	}
	if s.expireSet(now) {
		ended = append(ended, MsgSetPolicy)
	}
	if passed(s.RetryAfter, now) {
		s.RetryAfter = time.Time{}
	}
	return ended
}

// nextExpiry is the earliest end of an order, zero for none.
func (s *State) nextExpiry() time.Time {
	var next time.Time
	ends := []time.Time{until(s.Pause), untilOverride(s.Override)}
	if p := s.Consent.Open; p != nil {
		ends = append(ends, p.Deadline)
	}
	if a := s.Consent.Given; a != nil {
		ends = append(ends, a.Until)
	}
	for _, k := range s.Set {
		ends = append(ends, k.Until)
	}
	for _, t := range ends {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

func until(p *core.Pause) time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.Until
}

func untilOverride(o *core.Override) time.Time {
	if o == nil {
		return time.Time{}
	}
	return o.Until
}

func passed(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

// reject keeps a signal that could not be used, for all to see.
func (s *State) reject(ctx workflow.Context, message string, problems []core.Problem) {
	s.Refused++
	countMessage(ctx, s.Spec.Key.Cluster, message, false)
	s.Rejected = tail(append(s.Rejected, Rejected{At: workflow.Now(ctx).UTC(), Message: message, Problems: problems}), maxRejected)
}

// seen is true for the id of a message that was carried out; never for an
// empty one.
func (s *State) seen(id string) bool { return id != "" && slices.Contains(s.Messages, id) }

// remember keeps the id of a message that is carried out.
func (s *State) remember(id string) {
	if id != "" {
		s.Messages = tail(append(s.Messages, id), maxMessageIDs)
	}
}

// tail keeps the last n.
func tail[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}

// within drops the oldest until the rest is at most so many bytes of JSON. The
// newest always stays.
func within[T any](list []T, most int) []T {
	first, total := len(list), 0
	for first > 0 {
		b, _ := json.Marshal(list[first-1])
		if total += len(b); total > most && first < len(list) {
			break
		}
		first--
	}
	return tail(list, len(list)-first)
}
