// Package testjob carries the Flink job that the e2e tier, the benchmarks and the demo scale: its Java sources,
// and where the jar built from them is.
//
// The job reads arrivals from a rate file (see flinklocal.RateFile), keeps a real backlog, and spends an exactly
// known time on each record, so that the right parallelism for a rate is known too. One jar, compiled against
// Flink 1.20, runs on 1.18 to 2.3. `go run ./tools/ensure testjob` builds it with javac and jar alone.
package testjob
