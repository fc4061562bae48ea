// Package flink talks to a Flink cluster over its REST API: it finds a job,
// reads what it does, reads and sets its resource requirements, and tells
// whether it is fit to be restarted. It is the part that every platform
// shares.
//
// Invariants: every request has a time-out and a limit for the answer's size;
// what Flink answers is translated into the sentinels of core once, here; a
// number that Flink does not give is absent, never zero; a change of a job is
// sent once per call, never repeated; a lower bound is never raised; no
// credential is part of an error.
//
// It must not decide anything about a job, retry in a loop, or know of
// Temporal or a platform.
package flink
