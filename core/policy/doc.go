// Package policy turns job.autoscaler.* keys, given as text in layers, into one
// typed Policy, and tells where each value came from.
//
// Invariants: one table (table.go) drives decoding, ranges, defaults and the
// reference; every problem is found at once and named by its path; a key that
// is known but has no effect is shown as ignored, never silently in force.
//
// It must not do I/O nor read a clock.
package policy
