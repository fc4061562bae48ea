// Package whatif decides outside of a workflow: it carries a job from look to
// look as a workflow does, and reads and writes recordings of looks, so that
// another policy can be tried on what was seen.
//
// Invariants: the same looks under the same policy come to the same decisions as
// in a workflow that knows no orders and no rescales; what follows a change is
// not simulated, the job goes on as it was seen; a recording is read strictly,
// every problem with its line and path.
//
// It must not do I/O nor read a clock.
package whatif
