package policy

import (
	"reflect"
	"time"

	"flinkscaler/core"
)

// Prefix starts every key; OldPrefix is accepted in its place.
const (
	Prefix    = "job.autoscaler."
	OldPrefix = "kubernetes.operator.job.autoscaler."
)

// Aggregator says which subtask's busy time stands for its vertex.
type Aggregator string

// The aggregators.
const (
	AggregateMax Aggregator = "MAX"
	AggregateAvg Aggregator = "AVG"
	AggregateMin Aggregator = "MIN"
)

// Alignment says how a parallelism is fitted to key groups or partitions.
type Alignment string

// The alignments. The legacy ones come from the older key
// scaling.key-group.partitions.adjust.mode, which gives up in another way when
// nothing fits; the custom one is a plugin's.
const (
	AlignBalanced           Alignment = "BALANCED"
	AlignEvenlySpread       Alignment = "EVENLY_SPREAD"
	AlignOff                Alignment = "OFF"
	AlignLegacyEvenlySpread Alignment = "LEGACY_EVENLY_SPREAD"
	AlignLegacyMaximize     Alignment = "LEGACY_MAXIMIZE_UTILISATION"
	AlignCustom             Alignment = "CUSTOM"
)

// Approval says which changes need a person's yes.
type Approval string

// The directions. A change that makes one vertex larger and another smaller is
// of both.
const (
	ApproveNone Approval = "NONE"
	ApproveDown Approval = "DOWN"
	ApproveUp   Approval = "UP"
	ApproveAll  Approval = "ALL"
)

// Unanswered is what becomes of a change that nobody answered in time.
type Unanswered string

// The answers.
const (
	RejectUnanswered Unanswered = "REJECT"
	ApplyUnanswered  Unanswered = "APPLY"
)

// Policy is what decisions obey. The table of keys holds the meaning of each.
// It is cheap to copy: slices are shared and never written to.
type Policy struct {
	// Strategy names the rule that decides; Interval is the cycle.
	Strategy string
	Interval time.Duration
	// ScalingEnabled is false for a dry run.
	ScalingEnabled bool

	MetricsWindow         time.Duration
	StabilizationInterval time.Duration

	// UtilizationTarget is what capacity is planned at. UtilizationMax and
	// UtilizationMin are where a vertex leaves its bounds; where no key gives
	// them they are the target plus and minus the boundary, so that they may
	// lie outside 0 to 1.
	UtilizationTarget float64
	UtilizationMax    float64
	UtilizationMin    float64
	// UtilizationBoundary is that distance, whatever the keys say.
	UtilizationBoundary float64

	ScaleDownInterval  time.Duration
	MinParallelism     int
	MaxParallelism     int
	ScaleDownMaxFactor float64
	ScaleUpMaxFactor   float64
	// HardMin and HardMax bring a vertex inside that lies outside, unlike
	// MinParallelism and MaxParallelism; 0 is none.
	HardMin int
	HardMax int
	// AlignSlots rounds a size up to whole TaskManagers.
	AlignSlots bool
	// Partitions is what a source has where it does not tell, sorted by id.
	Partitions []VertexCount

	CatchUp              time.Duration
	RestartTime          time.Duration
	RestartTracking      bool
	RestartTrackingLimit time.Duration
	BacklogLagThreshold  time.Duration

	ObservedLagThreshold    time.Duration
	ObservedSwitchThreshold float64
	ObservedMinObservations int

	BusyTimeAggregator Aggregator
	// Exclude holds vertex ids, sorted.
	Exclude   []string
	Alignment Alignment
	// AlignOvershoot bounds an alignment, as a share of the size computed.
	AlignOvershoot float64
	// AlignmentPlugin is set when, and only when, Alignment is AlignCustom.
	AlignmentPlugin *Plugin

	// EffectivenessDetection holds a vertex whose last scale-up gained less than
	// EffectivenessThreshold of what was expected, from look to look; after
	// EffectivenessProofs looks in a row for EffectivenessExpiry. The threshold is
	// checked to lie in 0 to 1 only with the detection on.
	EffectivenessDetection bool
	EffectivenessThreshold float64
	EffectivenessProofs    int
	EffectivenessExpiry    time.Duration

	// ObservedScalabilityMin and ObservedScalabilityFloor are checked only with
	// ObservedScalability on.
	ObservedScalability      bool
	ObservedScalabilityMin   int
	ObservedScalabilityFloor float64

	// Shares of 1; at 1 nothing can lie above.
	GCPressureThreshold float64
	HeapUsageThreshold  float64

	// MemoryTuning and what belongs to it is a recommendation, never applied.
	MemoryTuning          bool
	TuningCompensation    bool
	TuningOverhead        float64
	TuningMaximizeManaged bool

	HistoryMaxCount int
	HistoryMaxAge   time.Duration
	EventInterval   time.Duration

	// QuotaCPU in cores and QuotaMemory in bytes, over all TaskManagers; 0 is
	// none.
	QuotaCPU    float64
	QuotaMemory int64

	// ObjectiveLag and ObjectiveRecoverWithin are 0 for none.
	ObjectiveLag           time.Duration
	ObjectiveRecoverWithin time.Duration

	// Zone is whose wall clock periods are about; never nil after Resolve.
	Zone *time.Location
	// ExcludedPeriods change nothing, NoDownPeriods make nothing smaller.
	ExcludedPeriods []Period
	NoDownPeriods   []Period
	// Floors are sizes that vertices have at least, from FloorLead before a
	// period to its end.
	Floors    []Floor
	FloorLead time.Duration

	// ApprovalFor is which changes need a person's yes: those that change some
	// vertex by at least ApprovalMinStep of its subtasks, of a job with at least
	// ApprovalMinState bytes of state, and in ApprovalPeriods if there are any. It waits for ApprovalDeadline, then ApprovalDefault
	// decides; a no holds for ApprovalQuiet.
	ApprovalFor      Approval
	ApprovalMinStep  float64
	ApprovalMinState int64
	ApprovalPeriods  []Period
	ApprovalDeadline time.Duration
	ApprovalDefault  Unanswered
	ApprovalQuiet    time.Duration

	// Evaluator is nil without a plugin; Executors are in listed order.
	Evaluator *Plugin
	Executors []Plugin

	// BudgetCount and BudgetDowntime bound the rescales of 24 hours and the time
	// that the job does not run by them; BreakerFailures in a row that did not
	// succeed stop all for BreakerReset. 0 is no limit, and for the reset never.
	BudgetCount     int
	BudgetDowntime  time.Duration
	BreakerFailures int
	BreakerReset    time.Duration

	// VerifyTimeout is how long a rescale may take to show its effect, 0 for as
	// long as Flink may take; Backoff the wait after one that did not succeed.
	// ForeignAcceptAfter is when somebody else's requirements count as given, 0
	// for never.
	ForeignAcceptAfter time.Duration
	VerifyTimeout      time.Duration
	Backoff            time.Duration
	WithoutCheckpoints bool
	WithoutFreeSlots   bool
	// Undo takes a change back after which the job is not well; UndoLagWithin is
	// how long lag counts as that, 0 for never.
	Undo          bool
	UndoLagWithin time.Duration
	// Redeploy allows a change by a stop with a savepoint and a new start.
	Redeploy bool
	// SharePriority is that of the job among those that wait for slots.
	SharePriority int

	// Quirks are for tests alone; no key sets any.
	Quirks Quirk
}

// VertexCount is a number for one vertex.
type VertexCount struct {
	ID string
	N  int
}

// Plugin is a named instance of a class of plugins.
type Plugin struct {
	Name, Class string
	// Params are sorted by key, without the prefix of the instance; the class
	// is among them.
	Params []Param
}

// Param is one parameter of a plugin.
type Param struct{ Key, Value string }

// Plugins are all plugins that the policy asks for: the evaluator, the
// executors in listed order, the alignment. Whether their classes are known
// only those can say who run them.
func (p Policy) Plugins() []Plugin {
	var out []Plugin
	if p.Evaluator != nil {
		out = append(out, *p.Evaluator)
	}
	out = append(out, p.Executors...)
	if p.AlignmentPlugin != nil {
		out = append(out, *p.AlignmentPlugin)
	}
	return out
}

// NeverDown is true when the lower bound of utilization is such that nothing
// can lie below it.
func (p Policy) NeverDown() bool { return p.UtilizationMin <= 0 }

// Equal compares two policies; zones are the same when their names are.
func (p Policy) Equal(q Policy) bool {
	if p.zone().String() != q.zone().String() {
		return false
	}
	p.Zone, q.Zone = nil, nil
	return reflect.DeepEqual(p, q)
}

func (p Policy) zone() *time.Location {
	if p.Zone == nil {
		return time.UTC
	}
	return p.Zone
}

// Default is the policy where nobody said anything.
func Default() Policy {
	p, _, _ := Resolve(nil)
	return p
}

// Layer is one source of keys, with the name that operators see.
type Layer struct {
	Name   string
	Values map[string]string
}

// BuiltIn is the name of the layer that defaults come from.
const BuiltIn = "built in"

// Origin shows one key: what is in force, and who said it.
type Origin struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// From is the layer's name. As is the spelling used there, when it is not
	// Key.
	From string `json:"from"`
	As   string `json:"as,omitempty"`
	// Note says what is remarkable, such as "ignored: a running workflow is on".
	Note string `json:"note,omitempty"`
}

// KeyInfo is one row of the reference of keys.
type KeyInfo struct {
	Key string
	// Group is the title of the keys that belong together.
	Group   string
	Type    string
	Default string
	Range   string
	Meaning string
	// Aliases are other spellings that are accepted.
	Aliases []string
	// Java is true when the Java autoscaler knows the key.
	Java bool
	// Differs says what is deliberately not as in the Java autoscaler, empty
	// when nothing is.
	Differs string
	// Ignored says why the key has no effect, empty when it has.
	Ignored string
}

// Keys lists every key that is recognised, sorted.
func Keys() []KeyInfo {
	out := make([]KeyInfo, 0, len(known.rows))
	for _, r := range known.rows {
		out = append(out, r.info())
	}
	return out
}

// Check finds every problem of one layer alone, as an update's validator needs
// it.
func Check(l Layer) []core.Problem {
	_, _, problems := Resolve([]Layer{l})
	return problems
}

// Terms are what the sums of a decision are made with.
func (p Policy) Terms() core.Terms {
	return core.Terms{Wanted: p.UtilizationTarget, Most: p.UtilizationMax, Least: p.UtilizationMin, Restart: p.RestartTime, CatchUp: p.CatchUp}
}
