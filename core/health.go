package core

// Health is the state of a job's management in one word.
type Health string

// The states of the management.
const (
	Starting  Health = "starting"  // nothing was seen yet
	Watching  Health = "watching"  // all is well, or a change waits for its time
	Rescaling Health = "rescaling" // a rescale is under way
	Paused    Health = "paused"    // an operator wants no changes
	// Awaiting means that a change waits for a person's yes.
	Awaiting Health = "awaiting-approval"
	Blocked  Health = "blocked"  // held for a reason that needs a look
	JobGone  Health = "job-gone" // there is no such job now
)

// Healths lists every state once.
func Healths() []Health {
	return []Health{Starting, Watching, Rescaling, Paused, Awaiting, Blocked, JobGone}
}

// HealthOf puts a decision and what it was made from into one word. A single
// look that found nothing, as right after a restart, is no alarm: only the
// second in a row needs a person.
func HealthOf(c JobContext, d Decision) Health {
	missed := misses(c.Window)
	switch {
	case c.RescaleOpen:
		return Rescaling
	case d.Reason == ReasonJobGone:
		return JobGone
	case c.Pause != nil:
		return Paused
	case missed == 1 && len(c.Window) == 1:
		return Starting
	case missed == 1 && c.Window[len(c.Window)-1].Fault == d.Reason:
		return Watching
	}
	switch d.Reason {
	case ReasonApproval:
		return Awaiting
	case ReasonScaleUp, ReasonScaleDown, ReasonOverride, ReasonUndo, ReasonWithinTarget, ReasonAtLimit, ReasonFailedBefore, ReasonStabilizing,
		ReasonWindowNotFull, ReasonDownDelayed, ReasonDeclined, ReasonPaused, ReasonScalingDisabled, ReasonExcluded, ReasonRescaleOpen,
		ReasonExcludedPeriod, ReasonNoDownPeriod, ReasonSlotsShared,
		// It runs again: every rescale and recovery ends like that.
		ReasonJobRestarted:
		return Watching
	}
	return Blocked
}

// misses counts the newest samples in a row that are no evidence.
func misses(w []Sample) int {
	n := 0
	for i := len(w) - 1; i >= 0 && w[i].Fault != ""; i-- {
		n++
	}
	return n
}
