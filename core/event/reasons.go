package event

import "flinkscaler/core"

// Reasons of events, as the Java autoscaler names them. Whoever filters its
// events by reason finds ours by the same filter.
const (
	ScalingReport     = "ScalingReport"
	Ineffective       = "IneffectiveScaling"
	Limited           = "ScalingLimited"
	Vetoed            = "ScalingVetoed"
	MemoryPressure    = "MemoryPressure"
	QuotaReached      = "ResourceQuotaReached"
	Recommendation    = "Configuration recommendation"
	AutoscalerError   = "AutoscalerError"
	OptionsValidation = "AutoScaler Options Validation"
)

// Reasons of events that the Java autoscaler does not have.
const (
	RescaleUndone = "RescaleUndone"
	RescaleFailed = "RescaleFailed"
)

// Info is one row of the reference.
type Info struct {
	Reason  string
	Kind    core.EventKind
	Warning bool
	// When says what gives rise to it, Message what it tells, Again by what it
	// counts as told already.
	When, Message, Again string
}

// Reasons lists every kind of event, once per reason and kind.
func Reasons() []Info {
	const entries = "an entry per vertex that changes: id, sizes, true processing rate before and after, target rate"
	const outcome = "what the rescale was for, why the job is not well, the sizes before, wanted and now of the vertices that changed, all numbers, and what to do"
	return []Info{
		{ScalingReport, core.EventReport, false, "a change of size is decided and its rescale begins", entries, "never: each change is told"},
		{ScalingReport, core.EventRecommended, false, "a change of size is wanted and not made: it waits for an approval, paused, a dry run, a period without changes", entries, "the same sizes before and after, the same reason"},
		{Ineffective, core.EventIneffective, false, "the last scale-up of a vertex brought less than was expected of it", "the vertex, both gains, whether that blocks further ones", "the vertex, its size, whether it blocks"},
		{Limited, core.EventError, true, "an alignment in the older manner took another size than was wanted, or none", "the vertex, the size wanted and the one taken, the limits", "the vertex, its size and the one taken"},
		{Vetoed, core.EventError, true, "a scaling executor refused the change", "its words", "the job's vertices and sizes"},
		{MemoryPressure, core.EventError, false, "garbage collection or the heap keeps the job from being changed", "the measured share and its threshold", "the job's vertices and sizes"},
		{QuotaReached, core.EventError, true, "the wanted size would exceed a quota", "the quota", "the job's vertices and sizes"},
		{Recommendation, core.EventRecommended, false, "with a change of size other memory of the TaskManagers is advisable; it is never carried out", "options to set and to take out", "the same sizes before and after"},
		{AutoscalerError, core.EventError, true, "the job cannot be judged or changed, seen at least twice where one look may fail by chance", "the reason, its numbers, what to do", "the reason"},
		{OptionsValidation, core.EventError, true, "the policy has values that cannot be used", "every problem with its key", "the same problems"},
		{RescaleUndone, core.EventOutcome, true, "the job was not well after a change of size, and the size before was asked for again", outcome, "never: once per rescale"},
		{RescaleFailed, core.EventOutcome, true, "the job is not well after a change of size, and the size before does not run again: somebody has to look at it", outcome, "never: once per rescale"},
	}
}
