// Package porttest holds one conformance suite for activities.Platform and one
// for activities.EventSink: what each port promises, as tests. It runs on the simulated cluster, on the
// adapter against a scripted server, and on real Flink, so that a fake cannot
// drift from what it stands for.
//
// It must know no adapter and no fake. It changes the size of the job that it
// is given and puts it back.
package porttest
