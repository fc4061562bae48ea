// Package policy turns job.autoscaler.* keys, given as text in layers, into one
// typed Policy, and tells where each value came from.
//
// Invariants: one table (table.go) drives decoding, ranges, defaults and the
// reference; every problem is found at once and named by its path; a key that
// is known but has no effect is shown as ignored, never silently in force.
//
// It must not do I/O nor read a clock. The one thing that may come from the
// machine is the list of time zones; where it has none, the one built in is used.
package policy
