// Package event says what people outside should hear of a decision, and which
// of that they were told already. Names, keys and the text of a scaling report
// are those of the Java autoscaler, so that what reads its events reads these.
//
// Invariants: the same decision gives the same events in the same order; what
// is remembered of them is bounded. It must not know how a decision is made,
// and nothing else in core may know it.
package event
