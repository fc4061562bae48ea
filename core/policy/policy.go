package policy

import (
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

// The alignments.
const (
	AlignBalanced     Alignment = "BALANCED"
	AlignEvenlySpread Alignment = "EVENLY_SPREAD"
	AlignOff          Alignment = "OFF"
)

// Policy is what decisions obey. The table of keys holds the meaning of each.
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

	ScaleDownInterval  time.Duration
	MinParallelism     int
	MaxParallelism     int
	ScaleDownMaxFactor float64
	ScaleUpMaxFactor   float64

	CatchUp             time.Duration
	RestartTime         time.Duration
	BacklogLagThreshold time.Duration

	ObservedLagThreshold    time.Duration
	ObservedSwitchThreshold float64
	ObservedMinObservations int

	BusyTimeAggregator Aggregator
	// Exclude holds vertex ids, sorted.
	Exclude   []string
	Alignment Alignment

	// VerifyTimeout is how long a rescale may take to show its effect, Backoff
	// the wait after one that did not succeed.
	VerifyTimeout      time.Duration
	Backoff            time.Duration
	WithoutCheckpoints bool
}

// NeverDown is true when the lower bound of utilization is such that nothing
// can lie below it.
func (p Policy) NeverDown() bool { return p.UtilizationMin <= 0 }

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
	// Note says what is remarkable, such as "ignored: not built yet".
	Note string `json:"note,omitempty"`
}

// KeyInfo is one row of the reference of keys.
type KeyInfo struct {
	Key     string
	Type    string
	Default string
	Range   string
	Meaning string
	// Aliases are other spellings that are accepted.
	Aliases []string
	// Java is true when the Java autoscaler knows the key.
	Java bool
	// Ignored says why the key has no effect, empty when it has.
	Ignored string
}

// Keys lists every key that is recognised, sorted.
func Keys() []KeyInfo {
	rows := table()
	out := make([]KeyInfo, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.info())
	}
	return out
}

// Own picks the keys of a configuration that are ours to judge: those under
// one of the two prefixes.
func Own(config map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range config {
		if hasPrefix(k) {
			out[k] = v
		}
	}
	return out
}

// Check finds every problem of one layer alone, as an update's validator needs
// it.
func Check(l Layer) []core.Problem {
	_, _, problems := Resolve([]Layer{l})
	return problems
}
