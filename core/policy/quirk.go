package policy

// Quirk is a set of differences between us and release 1.10.0 of the Java
// autoscaler that are switched off: with a quirk we do what that release does.
// Only tests set quirks, to prove that nothing else differs; no key does.
type Quirk uint32

// The quirks. Differences tells what each is about.
const (
	QuirkAlignment Quirk = 1 << iota
	QuirkScaleDownDelay
	QuirkNumerator
	QuirkBounds
	QuirkWindow
	QuirkObserved
	QuirkIncomplete
	QuirkMissing
	QuirkGaps
	QuirkFrozen
	QuirkLag
	QuirkFinished
	QuirkPending
	QuirkPartitions
	QuirkRounding
	QuirkReset
	QuirkNoBusy
	QuirkStuck
	QuirkContradiction
	QuirkForward
	QuirkOrder
	QuirkEffect
	QuirkRestarts
	QuirkPressure
	QuirkQuota
	QuirkBacklog
	QuirkLagNumber
	QuirkUndo

	quirkEnd
)

// AllQuirks is the Java autoscaler, as far as we can be it.
const AllQuirks = quirkEnd - 1

// Has is true when all of some quirks are set.
func (q Quirk) Has(some Quirk) bool { return q&some == some }
