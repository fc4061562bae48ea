// Package scale turns the evaluation of a vertex into the number it should run
// at, one limit after the other, and decides whether the job changes at all.
//
// Invariants: each limit is one small function that leaves a core.Step when it
// moves the number; a source never gets more than its partitions or splits, no
// vertex more than its max parallelism (I3).
//
// It must not do I/O nor read a clock.
package scale
