// Package stabilize keeps sizes from following every dip: a vertex gets smaller
// only when it could have been smaller for a whole delay, and then to the
// largest size that was wanted in that time.
//
// Invariants: the memory it is given is never changed in place; entries of a
// vertex are strictly decreasing in parallelism and bounded by that; time in
// which nothing could be judged does not count towards the delay.
//
// It must not do I/O nor read a clock.
package stabilize
