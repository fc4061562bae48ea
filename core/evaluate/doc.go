// Package evaluate computes what every vertex has to do and what it could do,
// from the samples that count: the formulas of the Java autoscaler.
//
// Invariants: results are sorted by vertex id; no NaN and no infinity leaves
// the package; a vertex that cannot be judged says why and never stops the
// others; a vertex is complete only if its own evidence and that of everything
// upstream is there in every sample that counts (I1).
//
// It must not do I/O nor read a clock.
package evaluate
