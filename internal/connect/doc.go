// Package connect reaches Temporal the same way from every binary: the
// profile file and the TEMPORAL_* variables of the temporal CLI, and on top
// what the caller's own configuration says.
//
// Invariants: no credential becomes part of an error or a log line; a failure
// says what to do about it. It must not read any configuration of flinkscaler.
package connect
