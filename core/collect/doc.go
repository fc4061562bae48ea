// Package collect makes a Sample of what a Meter read, and tells which samples
// of a window still count as evidence.
//
// Invariants: what could not be read is never a number; a sample with a Fault
// is no evidence; the newest sample, and the oldest that counts, are never
// thrown away.
//
// It must not do I/O nor read a clock.
package collect
