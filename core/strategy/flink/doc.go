// Package flink is the rule of the Java autoscaler: size every vertex for its
// target utilization, change only when one is outside of its bounds, get
// smaller only after a delay.
//
// Invariant: a vertex whose evidence, or that of anything upstream, is not
// complete is never made smaller (I1).
//
// It must not do I/O nor read a clock.
package flink
