// Package chaos injects faults into rescales and judges what came of them: the
// worker, the Temporal server, the JobManager and TaskManagers are killed, the
// workflow of a job is cancelled, terminated and started again, and a proxy in
// front of Flink delays, loses, repeats and garbles, each at each step of a
// rescale. `make chaos` runs it on a real Flink, `make chaos-sim` on a simulated
// one.
//
// A plan is a pure function of the seed (plan.go). Drivers, one per job, order
// rescales and inject the planned faults when the rescale is at the planned step
// (drive.go, inject.go); several jobs share one cluster, so that the faults of one
// hit rescales of the others. What the proxy, Temporal's histories and Flink show
// is collected as a Record, and a pure judge says what of it must not be
// (judge.go).
package chaos
