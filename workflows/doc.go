// Package workflows holds the two durable workflows: ScaleFlinkJob, the loop
// that manages one Flink job, and RescaleFlinkJob, the child that carries out
// one change and sees it through.
//
// They are thin: timers, messages, state and the order of steps. Everything
// that may change its mind (checking the input, judging samples) runs in a
// recorded activity, so that a new formula never breaks a running workflow. No
// formulas, no I/O, no adapter, no clock but workflow.Now.
//
// A change of what these functions command must be versioned; replay_test.go
// replays histories of earlier commits.
package workflows
