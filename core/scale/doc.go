// Package scale turns the evaluation of a vertex into the number it should run
// at, one limit after the other, and decides whether the job changes at all.
//
// For one vertex: SizeOf goes from the formula through Limits; Rest is the size
// that the policy forces upon it even where nothing is known. For a job, in this
// order: Equalise, Gate, RunExecutors, WholeTaskManagers, CheckQuota, Tune.
//
// Invariants: each limit is one small function that leaves a core.Step when it
// moves the number, so the last step is the decided size; a source never gets
// more than its partitions or splits, no vertex more than its max parallelism or
// the policy's hard limit (I3), whatever a plugin says; no alignment turns a
// growth into a shrinkage; the order of vertices has no influence.
//
// It must not do I/O nor read a clock.
package scale
