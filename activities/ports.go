package activities

import (
	"context"

	"flinkscaler/core"
)

// The ports: every interface to the outside. An adapter satisfies them without
// importing this package; worker/ wires them; porttest/ holds one conformance
// suite for all of them. All errors match one of core's sentinels with
// errors.Is. No method retries in a loop: Temporal does. Every method obeys
// ctx and has its own time-out besides.

// Locator finds a job by what stays the same over redeploys.
type Locator interface {
	// Locate finds the one live job that the target names.
	//
	// A job in a final state (FAILED, CANCELED, FINISHED) is not live. None
	// live: core.ErrNotFound. More than one live: core.ErrAmbiguous, with
	// their ids in the text. The newest is never guessed. A cluster that does
	// not answer is core.ErrUnreachable or core.ErrNoLeader, never
	// ErrNotFound: only a cluster that answers can say that a job is gone.
	Locate(ctx context.Context, target core.Target) (core.JobRef, error)
}

// Meter reads what a job does.
type Meter interface {
	// Measure reads status, topology and metrics in one go. It first makes the
	// cluster fetch its metrics anew and waits for that, bounded; Fresh in the
	// result says whether that worked. pick chooses the metrics of a vertex
	// from those that exist.
	//
	// A job in a state other than RUNNING, or whose tasks do not all run, is
	// measured without metrics and without an error. Gone: core.ErrNotFound.
	// Only the read of the job itself makes an error; a metric that cannot be
	// read is left out of the result.
	Measure(ctx context.Context, job core.JobRef, pick core.Picker) (core.Measurement, error)
}

// Rescaler changes the parallelism of a running job in place, and shows what
// came of it.
type Rescaler interface {
	// Status reads the job as Flink shows it, without metrics.
	Status(ctx context.Context, job core.JobRef) (core.JobStatus, error)
	// Wanted reads the requirements in force: every vertex, sorted by id.
	// core.ErrNotAdaptive when the scheduler cannot do it; core.ErrNotReady
	// while the JobManager recovers the job.
	Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error)
	// Want sets the requirements, the complete list. Idempotent: the same list
	// again changes nothing. It returns when Flink has taken them, not when
	// the job runs at them. core.ErrBusy: another change is in flight, nothing
	// was taken. core.ErrRefused: invalid, with Flink's words; never retry.
	// core.ErrUnreachable: it may or may not have been taken; read Wanted.
	Want(ctx context.Context, job core.JobRef, r core.Requirements) error
}

// Inspector tells whether a job is fit to be restarted.
type Inspector interface {
	// Inspect reads checkpoints and failures. A job without checkpointing is
	// not an error.
	Inspect(ctx context.Context, job core.JobRef) (core.JobHealth, error)
	// Waits reads how long Flink itself waits around a rescale, by its own
	// options. What they do not tell is Flink's default; only a job that cannot be
	// asked is an error.
	Waits(ctx context.Context, job core.JobRef) (core.Waits, error)
}

// Capacity tells what a job can get.
type Capacity interface {
	// Slots counts the slots of the job's cluster, all and free ones. A cluster
	// that starts TaskManagers by itself says so: its free slots are no bound.
	Slots(ctx context.Context, job core.JobRef) (core.Slots, error)
}

// EventSink tells people outside what happens to a job.
type EventSink interface {
	// Send hands over events of one job, in their order; there is at least one.
	//
	// Idempotent by decision id and key: what was sent before, as a retry after
	// a lost answer does, must not show as a second event where the place of the
	// events can tell. A sink does not decide what is worth telling, and drops
	// nothing. It must not change the events.
	//
	// core.ErrRefused and core.ErrUnauthorized: these events are not taken,
	// never retry. core.ErrUnreachable, core.ErrBusy or any other: some or all
	// may have been taken; the same call again is right. An error never keeps a
	// job from being managed; events that cannot be sent for a while are lost.
	Send(ctx context.Context, key core.JobKey, events []core.Event) error
}

// Platform is one cluster with all it can do. A cluster of the worker's
// configuration is one Platform.
type Platform interface {
	Locator
	Meter
	Rescaler
	Inspector
	Capacity
}
