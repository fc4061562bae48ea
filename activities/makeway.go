package activities

import (
	"context"
	"fmt"
	"path"
	"time"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
)

// MakeWayInput is a submitted job that is not as it should be.
type MakeWayInput struct {
	Key core.JobKey `json:"key"`
	Job core.JobRef `json:"job"`
	// Unwell is true when the size before should run in its place.
	Unwell bool `json:"unwell,omitempty"`
	// Restored is the savepoint that the job was submitted with, Newest the newest
	// checkpoint of its own that was seen, empty for none.
	Restored string `json:"restored"`
	Newest   string `json:"newest,omitempty"`
}

// Way is whether another job may take the place.
type Way struct {
	// Clear is true when the job has ended, or never was.
	Clear bool `json:"clear,omitempty"`
	// Ended is true when it was seen ended: its id is used up.
	Ended bool `json:"ended,omitempty"`
	// From is what the next one is to be restored from.
	From string `json:"from,omitempty"`
	// Note says why a job that lives is left to live, or what was done.
	Note string `json:"note,omitempty"`
}

// goneFor is how long a cluster that answers must not know a job until that is
// believed.
const goneFor = 10 * time.Second

// MakeWay ends a submitted job that is not well, where that loses nothing: as
// long as it has completed no checkpoint of its own, whatever it did is done
// again from the savepoint, exactly as Flink itself would after a failure. A job
// that has is left alone: going back behind its checkpoint would repeat what its
// sinks have committed. So is any job that merely could not be watched.
func (a *Activities) MakeWay(ctx context.Context, in MakeWayInput) (Way, error) {
	ctx, b := startBeat(ctx, activity.GetWorkerStopChannel(ctx))
	defer b.stop()
	var goneSince time.Time
	for {
		deployer, savepoints, err := a.mustRedeploy(in.Key.Cluster)
		if err != nil {
			return Way{}, toTemporal(err)
		}
		platform := a.s.Clusters[in.Key.Cluster].Platform
		switch state, err := stateOf(ctx, deployer, in.Job); {
		case err != nil:
			b.show(ctx, Waiting{Phase: "asking: " + err.Error()})
		case state == "":
			if goneSince.IsZero() {
				goneSince = a.s.Now()
			}
			if a.s.Now().Sub(goneSince) >= goneFor {
				return Way{Clear: true, From: in.Restored, Note: "the cluster does not know the job"}, nil
			}
		case state.Ended():
			from, note, err := newest(ctx, platform, savepoints, in)
			if err == nil {
				return Way{Clear: true, Ended: true, From: from, Note: note}, nil
			}
			b.show(ctx, Waiting{Phase: "looking for its newest checkpoint: " + err.Error()})
		default:
			goneSince = time.Time{}
			why, err := mustLive(ctx, platform, in)
			if err == nil && why != "" {
				return Way{Note: why}, nil
			}
			if err == nil {
				err = deployer.Cancel(ctx, in.Job)
			}
			b.show(ctx, Waiting{Phase: fmt.Sprintf("ending job %s: %v", in.Job.ID, err)})
		}
		if err := pause(ctx, b, stopEvery); err != nil {
			return Way{}, err
		}
	}
}

func stateOf(ctx context.Context, deployer Redeployer, job core.JobRef) (core.JobState, error) {
	copies, err := deployer.Copies(ctx, job)
	for _, j := range copies {
		if j.ID == job.ID {
			return j.State, err
		}
	}
	return "", err
}

// mustLive says why a job that lives must not be ended.
func mustLive(ctx context.Context, platform Platform, in MakeWayInput) (string, error) {
	if !in.Unwell {
		return "it lives and is left alone", nil
	}
	health, err := platform.Inspect(ctx, in.Job)
	if err != nil {
		return "", err
	}
	if health.Completed > 0 {
		return fmt.Sprintf("it is left alone, since it has completed %d checkpoints of its own: what they committed would be repeated", health.Completed), nil
	}
	return "", nil
}

// newest is the last state of a job that has ended: its own newest checkpoint
// where that is still there, else what it was restored from.
func newest(ctx context.Context, platform Platform, savepoints Savepoints, in MakeWayInput) (from, note string, err error) {
	health, err := platform.Inspect(ctx, in.Job)
	if err != nil || health.CompletedPath == "" {
		return fromStorage(ctx, savepoints, in)
	}
	if _, err := savepoints.Check(ctx, health.CompletedPath); err != nil {
		return in.Restored, "its own checkpoint is not there any more, what it did since is done again", nil
	}
	return health.CompletedPath, "from its own newest checkpoint", nil
}

// fromStorage finds the newest checkpoint of a job whose JobManager has ended with
// it: beside the one that was seen last.
func fromStorage(ctx context.Context, savepoints Savepoints, in MakeWayInput) (from, note string, err error) {
	if in.Newest == "" {
		return in.Restored, "", nil
	}
	found, err := savepoints.List(ctx, path.Dir(in.Newest))
	switch {
	case err != nil && !isFinal(err):
		return "", "", err
	case err != nil || len(found) == 0:
		return in.Restored, "its own checkpoints are not there any more, what it did since is done again", nil
	}
	return found[0].Path, "from its own newest checkpoint", nil
}
