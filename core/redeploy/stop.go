package redeploy

import (
	"fmt"
	"time"

	"flinkscaler/core"
)

// Facts are the three things that show how a stop ended: what Flink says of the
// operation, what it says of the job, and what is in the stop's directory. Any
// of them may be missing: the operation is forgotten with the JobManager, its
// result is told once, the storage may be away.
type Facts struct {
	Stop core.StopResult
	// Asked is true when Flink could be asked for the job. Job is its state then,
	// empty when there is no such job.
	Asked bool
	Job   core.JobState
	// Tasks is true when all tasks of a running job run.
	Tasks bool
	// Listed is true when the directory could be read. Found are the complete
	// savepoints in it, newest first.
	Listed bool
	Found  []core.Savepoint
	// For is how long stop and job have been shown like this.
	For time.Duration
}

// Ending is how a stop ended.
type Ending string

// The endings.
const (
	// Open: not ended yet, or not known.
	Open Ending = ""
	// Stopped: the job ended and its state is in a savepoint.
	Stopped Ending = "stopped"
	// RunsOn: the job was not stopped and runs as before.
	RunsOn Ending = "runs-on"
	// Lost: the job is down and there is no savepoint of this stop.
	Lost Ending = "lost"
)

// steady is how long an odd picture must stay the same before it is believed:
// longer than Flink takes from the result of a stop to the end of the job, than
// a request that was cut off may still be on its way, and than a JobManager
// takes to recover its jobs once it answers.
const steady = 30 * time.Second

// unrest is how long a job whose stop failed may take until all of its tasks run
// again: a stop that fails late restarts it.
const unrest = 5 * time.Minute

// Judge says how a stop ended, with the savepoint and a sentence. A stop under
// way is never given up: Flink cannot take it back, and would end the job later,
// when nobody looks.
func Judge(f Facts) (ending Ending, savepoint, note string) {
	switch {
	case !f.Asked:
		return Open, "", "the cluster does not tell the state of the job"
	case f.Job == core.JobCanceled:
		return Lost, "", "somebody cancelled the job while it was stopped"
	case f.Job == "" || f.Job.Ended():
		return down(f)
	}
	return up(f)
}

// up judges a job that is there.
func up(f Facts) (Ending, string, string) {
	runs := f.Job == core.JobRunning
	switch f.Stop.State {
	case core.StopInProgress:
		return Open, "", "Flink writes the savepoint"
	case core.StopFailed:
		switch {
		case runs && f.Tasks:
			return RunsOn, "", f.Stop.Why
		case runs && f.For >= unrest:
			return RunsOn, "", f.Stop.Why + "; not all of its tasks run again yet"
		}
		return Open, "", fmt.Sprintf("the stop failed, the job is %s: %s", f.Job, f.Stop.Why)
	case core.StopDone:
		if runs && f.For >= steady {
			return RunsOn, "", "a savepoint was written, but the job did not stop"
		}
		return Open, "", "the savepoint is written, the job is about to end"
	case core.StopUnknown:
		if runs && f.For >= steady {
			return RunsOn, "", "Flink knows nothing of the stop"
		}
	}
	return Open, "", fmt.Sprintf("Flink knows nothing of the stop, the job is %s", f.Job)
}

// down judges a job that is not there, or not any more.
func down(f Facts) (Ending, string, string) {
	switch {
	case f.Stop.State == core.StopDone && f.Stop.Location != "":
		return Stopped, f.Stop.Location, "the savepoint is written"
	case f.Stop.State == core.StopInProgress && f.For < steady:
		return Open, "", "the job ended, the savepoint is not told yet"
	case len(f.Found) > 0:
		return Stopped, f.Found[0].Path, "the savepoint was found in the directory of this stop"
	case !f.Listed:
		return Open, "", "the job is down, and the directory of its savepoint cannot be read"
	case f.For < steady:
		return Open, "", "the job is down, and there is no savepoint yet"
	}
	state := string(f.Job)
	if state == "" {
		state = "gone"
	}
	note := fmt.Sprintf("the job is %s and its stop left no savepoint", state)
	if f.Stop.Why != "" {
		note += ": " + f.Stop.Why
	}
	return Lost, "", note
}
