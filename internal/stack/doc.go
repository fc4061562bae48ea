// Package stack runs an installation on this machine: a Temporal dev server, a
// worker of the real binary, and a client. The demo, the tests on real programs
// and the benchmarks build on it; the Flink that the worker looks at is theirs.
package stack
