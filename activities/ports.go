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
	// again changes nothing. It returns when Flink, or what carries them to Flink,
	// has taken them, not when the job runs at them. decision is the id of the
	// decision behind it, a mark for platforms that can keep one. core.ErrBusy:
	// another change is in flight, nothing was taken. core.ErrRefused: invalid,
	// with Flink's words; never retry. core.ErrForeign: somebody else has what
	// would be written, nothing was taken. core.ErrUnreachable: it may or may not
	// have been taken; read Wanted.
	Want(ctx context.Context, job core.JobRef, decision string, r core.Requirements) error
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

// Room tells whether there is room for more TaskManagers.
type Room interface {
	// Fits says whether the TaskManagers that the requirements need can be had. It
	// is advice: others take room too. What cannot be known is said in the note and
	// is no error.
	Fits(ctx context.Context, job core.JobRef, r core.Requirements) (core.Room, error)
}

// RivalDetector finds who else changes a job's size.
type RivalDetector interface {
	// Rivals lists them, those that forbid a change first; none is no error. An
	// error is a doubt: nothing is changed.
	Rivals(ctx context.Context, job core.JobRef) ([]core.Rival, error)
}

// Carrier tells how far what was wanted has come, where it does not go to Flink
// directly.
type Carrier interface {
	// Carried compares what was wanted with what the platform shows of it, apart
	// from what Flink itself shows. It reads all in one moment.
	Carried(ctx context.Context, job core.JobRef, r core.Requirements) (core.Carried, error)
}

// Trimmer gives TaskManagers back that no job needs, where Flink does not do so
// by itself.
type Trimmer interface {
	// Trim ends TaskManagers that are idle and that the requirements in force do
	// not need, and gives back what was asked for and did not come. Idempotent. It
	// says in a few words what it did, empty for nothing. core.ErrNotReady: tasks
	// still run there; the same call later is right.
	Trim(ctx context.Context, job core.JobRef, decision string) (string, error)
}

// Holder tells what a job's cluster holds, where that is not what Flink shows.
type Holder interface {
	// Holds counts the TaskManagers that the platform has given to the job's cluster,
	// and those that its jobs need.
	Holds(ctx context.Context, job core.JobRef) (core.Held, error)
}

// Redeployer stops a job with a savepoint and starts it again at other sizes,
// where its scheduler cannot change them in place.
type Redeployer interface {
	Stopper
	Submitter
}

// Stopper ends a job.
type Stopper interface {
	// Stop asks for a savepoint and the end of the job after it. Idempotent by the
	// trigger: the same one again is the same stop, never a second savepoint. It
	// returns when Flink has taken it, not when the job has ended; most failures
	// show in StopResult alone, that of an unknown job among them. core.ErrRefused:
	// the request is no such; nothing was begun. core.ErrUnreachable: it may have
	// been taken; the same call again is right.
	Stop(ctx context.Context, job core.JobRef, s core.StopRequest) error
	// StopResult reads how far a stop is. One that the cluster does not know, or no
	// more, is core.StopUnknown and no error: a JobManager that was replaced knows
	// of none. The first read of the result may be the last one that is answered.
	StopResult(ctx context.Context, job core.JobRef, trigger string) (core.StopResult, error)
	// Cancel ends a job without a savepoint. Idempotent; it returns when Flink has
	// taken it. A job that has ended, or is unknown: core.ErrNotFound.
	Cancel(ctx context.Context, job core.JobRef) error
}

// Submitter starts a job from a savepoint.
type Submitter interface {
	// Prepare checks that a job could be stopped and submitted again at these sizes,
	// and gives the directory under which savepoints go. It changes nothing.
	// core.ErrRefused: it is not configured, or its program is not there, or Flink
	// would not run it at these sizes; the text says what to do.
	Prepare(ctx context.Context, job core.JobRef, vertices []core.SubmittedVertex) (core.Prepared, error)
	// Submit starts the job under the id given, and tells by what it is found.
	// Idempotent by that id: a cluster runs it once at most, and where it cannot see
	// to that itself, what an earlier call may have begun is waited for first.
	// core.ErrRefused, core.ErrNoRoom: Flink's words are in the text; a job of that id may be there
	// all the same, begun by an earlier call or failed at once. core.ErrUnreachable:
	// it may be on its way; look for it with Copies.
	Submit(ctx context.Context, s core.Submission) (core.JobRef, error)
	// Copies gives every job that the cluster knows with the name of this one, or
	// its id, or what else its Extras describe, ended ones too, with their state. None
	// is no error; a job of which nothing can be said now is one, never none.
	Copies(ctx context.Context, job core.JobRef) ([]core.JobRef, error)
}

// Tidier clears up after a redeploy, on platforms where something can be left.
type Tidier interface {
	// Tidy ends what was submitted for a job before and runs beside it, and removes
	// what submissions that are over left in storage. job is the one that lives, its
	// ID empty where that is not known: then nothing is ended. submitted are the ids
	// of this change's jobs, the one that was stopped first. Idempotent. It says in a
	// few words what it did, empty for nothing.
	Tidy(ctx context.Context, job core.JobRef, submitted []string) (string, error)
}

// Savepoints reads the storage of savepoints. It writes nothing.
type Savepoints interface {
	// List gives the complete savepoints in a directory, newest first: those whose
	// metadata are there and are Flink's. core.ErrNotFound: there is no such
	// directory, which the storage itself says. core.ErrUnreachable: it does not
	// answer. core.ErrRefused: it is of another storage, or may not be read.
	List(ctx context.Context, directory string) ([]core.Savepoint, error)
	// Check reads one savepoint. core.ErrNotFound: it is not there, or has no
	// metadata yet; core.ErrRefused: what is there is no savepoint, or as with List.
	Check(ctx context.Context, path string) (core.Savepoint, error)
}

// Checkpoints tells whether the storage of a job's checkpoints answers. It writes
// nothing.
type Checkpoints interface {
	// Covers is true for a place that it can be asked about. Of all others nothing is
	// known.
	Covers(place string) bool
	// Answers proves that the storage of a place is there and would take a write, also
	// where there is nothing at that place. core.ErrUnreachable: it does not answer, or
	// takes no writes. core.ErrRefused: it is one that this worker does not know.
	Answers(ctx context.Context, place string) error
	// Check is as that of Savepoints.
	Check(ctx context.Context, path string) (core.Savepoint, error)
}

// Spaces tells how much can be written.
type Spaces interface {
	// Space reads it for a directory, or where that is not there yet for the nearest
	// one above. What cannot be known is missing and no error. Errors are as with
	// Savepoints.List; none is core.ErrNotFound.
	Space(ctx context.Context, directory string) (core.Space, error)
}

// Pruner deletes savepoints of ours that nobody needs any more.
type Pruner interface {
	// Stops gives the directories directly below a folder, in any order.
	// core.ErrNotFound: there is no such folder.
	Stops(ctx context.Context, folder string) ([]core.StopDirectory, error)
	// Remove deletes one of them with all in it. One that is gone is no error.
	// core.ErrRefused: it is not directly below the folder, or holds anything but
	// savepoints; nothing was deleted then. core.ErrUnreachable: it may have been
	// deleted; the same call again is right.
	Remove(ctx context.Context, folder, directory string) error
}

// EventSink tells people outside what happens to a job.
type EventSink interface {
	// Send hands over events of one job, in their order; there is at least one.
	// target is where the job runs, zero in what earlier versions recorded.
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
	Send(ctx context.Context, key core.JobKey, target core.Target, events []core.Event) error
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
