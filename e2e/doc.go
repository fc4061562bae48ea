// Package e2e holds tests on real systems. With the build tag integration: a
// real Temporal server, the real worker and starter binaries, tctl and the
// temporal CLI, and a simulated Flink cluster (`make test`). With the tag e2e:
// real Flink as well, and kill -9 (`make e2e`).
//
// Tests talk to loopback only, wait for conditions and never sleep, and end
// what they started.
package e2e
