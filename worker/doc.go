// Command flinkscaler-worker runs the workflows and activities that scale
// Flink jobs. It reads one configuration file, connects to Temporal, and
// serves health and metrics.
//
// Invariants: it ends with 0 after a signal, 1 after a failure or a second
// signal, 2 when the configuration or the command line is wrong; it waits for a
// Temporal that is not there yet; only main ends the process. Everything is
// wired in wire.go; it must not decide anything.
package main
