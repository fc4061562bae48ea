// Package oracle compares our strategy `flink` with the Java autoscaler itself: random jobs, each a sequence of
// cycles, go to the published artifact (release 1.10.0, in a JVM of its own) and to collect and strategy here, and what
// the two say of each vertex in each cycle must be the same.
//
// Where we differ on purpose, the difference has a name and a ticket (policy.Differences) and a switch that only tests
// set; with the switches on we must do exactly what the Java autoscaler does. A case that stays different fails the run.
//
// The test is in the e2e tier: `make e2e-oracle`. The Java side is in harness/, built by `go run ./tools/ensure
// oracle`. The client (Start, Open, Cycle) serves whatever wants the Java autoscaler as a contestant in virtual time.
package oracle
