// Package demo shows the main job on one machine: a Temporal dev server, a
// Flink cluster (simulated, or a real one) under a changing load, a worker, and
// one workflow, watched live in the terminal.
package demo
