// Package activities holds what a workflow may do to the outside world, one
// file per verb: observe, decide, preflight, apply, verify, undo, report, find a
// rescale.
// ports.go lists every interface to the outside.
//
// Invariants: an activity never guesses (what could not be read is said, not
// replaced by a number), is idempotent, and returns errors of the few types in
// errors.go. It must not import an adapter or the workflows; the Temporal
// client is used in temporal.go alone.
package activities
