package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// StopInput is the stop of one attempt.
type StopInput struct {
	Key  core.JobKey      `json:"key"`
	Job  core.JobRef      `json:"job"`
	Stop core.StopRequest `json:"stop"`
	// Checkpoint is as in the Preflight.
	Checkpoint string `json:"checkpoint,omitempty"`
}

// StopTaken says when Flink took a stop.
type StopTaken struct {
	At time.Time `json:"at"`
}

// StopJob asks Flink to stop a job with a savepoint. The trigger is the
// attempt's own and was recorded before, so a repeat after a crash or a lost
// answer is the same stop (I4).
func (a *Activities) StopJob(ctx context.Context, in StopInput) (StopTaken, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	deployer, _, err := a.mustRedeploy(in.Key.Cluster)
	if err != nil {
		return StopTaken{}, toTemporal(err)
	}
	if err := a.stillAnswers(ctx, in.Key.Cluster, in.Checkpoint); err != nil {
		return StopTaken{}, toTemporal(err)
	}
	activity.GetLogger(ctx).Info("stopping the job with a savepoint", "job", in.Key.String(), "flinkJob", in.Job.ID, "trigger", in.Stop.Trigger, "directory", in.Stop.Directory)
	if err := deployer.Stop(ctx, in.Job, in.Stop); err != nil {
		return StopTaken{}, toTemporal(err)
	}
	return StopTaken{At: a.s.Now().UTC()}, nil
}

// StopEnded is how a stop ended.
type StopEnded struct {
	Ending redeploy.Ending `json:"ending"`
	// Savepoint is where the state is, of a job that was stopped.
	Savepoint string `json:"savepoint,omitempty"`
	Note      string `json:"note,omitempty"`
}

// stopEvery is how often AwaitStop looks.
const stopEvery = time.Second

// Waiting is what the heartbeat of a wait shows.
type Waiting struct {
	Phase string `json:"phase"`
	// Result is the last that Flink said of the stop: where it is told only once,
	// another worker goes on with it.
	Result core.StopResult `json:"result"`
}

// AwaitStop waits until it is certain how a stop ended, judged by what Flink
// says of it, by the state of the job and by what is in the stop's directory.
// It never gives up a stop that may still happen: nobody would start the job
// again.
func (a *Activities) AwaitStop(ctx context.Context, in StopInput) (StopEnded, error) {
	w := stopWatch{in: in, now: a.s.Now}
	if activity.HasHeartbeatDetails(ctx) {
		var last Waiting
		if activity.GetHeartbeatDetails(ctx, &last) == nil {
			w.facts.Stop = last.Result
		}
	}
	ctx, b := startBeat(ctx, activity.GetWorkerStopChannel(ctx))
	defer b.stop()
	for {
		deployer, savepoints, err := a.mustRedeploy(in.Key.Cluster)
		if err == nil {
			w.look(ctx, a.s.Clusters[in.Key.Cluster].Platform, deployer, savepoints)
		}
		ending, savepoint, note := redeploy.Judge(w.facts)
		if err != nil {
			note = err.Error()
		} else if ctx.Err() == nil && ending != redeploy.Open {
			return StopEnded{Ending: ending, Savepoint: savepoint, Note: note}, nil
		}
		b.show(ctx, Waiting{Phase: note, Result: w.facts.Stop})
		if err := pause(ctx, b, stopEvery); err != nil {
			return StopEnded{}, err
		}
	}
}

// pause waits between two looks, and says why not to go on.
func pause(ctx context.Context, b *pulse, d time.Duration) error {
	select {
	case <-ctx.Done():
		if b.handedOver() {
			return errStopping()
		}
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// stopWatch gathers the facts of one stop.
type stopWatch struct {
	in    StopInput
	now   func() time.Time
	facts redeploy.Facts
	since time.Time
}

func (w *stopWatch) look(ctx context.Context, platform Platform, deployer Redeployer, savepoints Savepoints) {
	before := w.facts
	w.readStop(ctx, deployer)
	w.facts.Asked = false
	if copies, err := deployer.Copies(ctx, w.in.Job); err == nil {
		w.facts.Asked, w.facts.Job = true, ""
		for _, j := range copies {
			if j.ID == w.in.Job.ID {
				w.facts.Job = j.State
			}
		}
	}
	w.facts.Tasks = false
	if w.facts.Job == core.JobRunning && w.facts.Stop.State == core.StopFailed {
		status, err := platform.Status(ctx, w.in.Job)
		w.facts.Tasks = err == nil && status.AllTasksRunning()
	}
	w.facts.Listed, w.facts.Found = false, nil
	if w.facts.Asked && (w.facts.Job == "" || w.facts.Job.Ended()) && w.facts.Stop.State != core.StopDone {
		w.readDirectory(ctx, savepoints)
	}
	if !w.facts.Asked || before.Asked != w.facts.Asked || before.Job != w.facts.Job || before.Stop.State != w.facts.Stop.State || before.Listed != w.facts.Listed {
		w.since = w.now()
	}
	w.facts.For = w.now().Sub(w.since)
}

// readStop asks how far the stop is. A result that was told once is kept: it may
// not be told again.
func (w *stopWatch) readStop(ctx context.Context, deployer Redeployer) {
	if s := w.facts.Stop.State; s == core.StopDone || s == core.StopFailed {
		return
	}
	result, err := deployer.StopResult(ctx, w.in.Job, w.in.Stop.Trigger)
	if err == nil {
		w.facts.Stop = result
	} else if w.facts.Stop.State == "" {
		w.facts.Stop.State = core.StopInProgress // the careful side
	}
}

// readDirectory looks for what the stop has left. A directory that is not there
// is one in which nothing was written.
func (w *stopWatch) readDirectory(ctx context.Context, savepoints Savepoints) {
	found, err := savepoints.List(ctx, w.in.Stop.Directory)
	if err == nil || isGone(err) {
		w.facts.Listed, w.facts.Found = true, found
	}
}

// CheckSavepointInput names a savepoint.
type CheckSavepointInput struct {
	Key  core.JobKey `json:"key"`
	Path string      `json:"path"`
}

// CheckSavepoint reads a savepoint: its metadata must be there, and be Flink's.
func (a *Activities) CheckSavepoint(ctx context.Context, in CheckSavepointInput) (core.Savepoint, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	_, savepoints, err := a.mustRedeploy(in.Key.Cluster)
	if err != nil {
		return core.Savepoint{}, toTemporal(err)
	}
	found, err := savepoints.Check(ctx, in.Path)
	if isGone(err) {
		// Storage may show a file to others a moment later.
		return core.Savepoint{}, tryAgain(err)
	}
	return found, toTemporal(err)
}
