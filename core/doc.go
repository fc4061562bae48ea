// Package core holds the nouns of flinkscaler: the key of a job, its topology,
// what was read of it (Reading, Sample), what was decided (Decision, Reason)
// and what came of it (Outcome).
//
// Invariants: nothing here does I/O or reads a clock; absence is a value and
// never zero (the zero Reading is missing); no NaN and no infinity fits into a
// Reading; per-vertex data are slices sorted by vertex id, so that JSON and
// replays are stable.
//
// It must not import context, io, log, net, os, sync or a random source, nor
// anything that knows a platform.
package core
