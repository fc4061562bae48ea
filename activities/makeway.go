package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
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
	// Checkpoints is the directory that its own are in, empty where that is not known.
	Checkpoints string `json:"checkpoints,omitempty"`
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
// sinks have committed. So is any job that merely could not be watched. While it is
// not known whether it has, it is waited for: the job may come up again by itself,
// and another one beside it would be a second copy.
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
			why, err := mustLive(ctx, platform, savepoints, in, state)
			if err == nil && why != "" {
				return Way{Note: why}, nil
			}
			b.show(ctx, Waiting{Phase: ending(ctx, deployer, in.Job, state, err)})
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

// ending ends a job that may be ended, unless that is not known, and says what is
// waited for.
func ending(ctx context.Context, deployer Redeployer, job core.JobRef, state core.JobState, unknown error) string {
	if unknown != nil {
		return fmt.Sprintf("job %s is %s, and it is not known whether it has completed a checkpoint of its own, so it is waited for until it runs or ends: %v", job.ID, state, unknown)
	}
	if err := deployer.Cancel(ctx, job); err != nil {
		return fmt.Sprintf("ending job %s: %v", job.ID, err)
	}
	return fmt.Sprintf("job %s is about to end", job.ID)
}

// mustLive says why a job that lives must not be ended.
func mustLive(ctx context.Context, platform Platform, savepoints Savepoints, in MakeWayInput, state core.JobState) (string, error) {
	if !in.Unwell {
		return "it lives and is left alone", nil
	}
	health, err := platform.Inspect(ctx, in.Job)
	if err != nil && state == core.JobInitializing {
		health.Completed, err = completed(ctx, savepoints, in, err)
	}
	if err != nil {
		return "", err
	}
	if health.Completed > 0 {
		return fmt.Sprintf("it is left alone, since it has completed %d checkpoints of its own: what they committed would be repeated", health.Completed), nil
	}
	return "", nil
}

// completed counts the checkpoints of a job whose JobManager is not there, such as one
// that waits for its next attempt. None is believed only of a directory that the job
// itself has made: where there is none, it may write elsewhere.
func completed(ctx context.Context, savepoints Savepoints, in MakeWayInput, silent error) (int, error) {
	if in.Newest != "" {
		return 1, nil
	}
	if in.Checkpoints == "" {
		return 0, silent
	}
	found, err := savepoints.List(ctx, in.Checkpoints)
	if err != nil {
		return 0, fmt.Errorf("%w; its checkpoints: %w", silent, err)
	}
	return len(found), nil
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
// it: beside the one that was seen last, or where it would have written its first.
func fromStorage(ctx context.Context, savepoints Savepoints, in MakeWayInput) (from, note string, err error) {
	directory := in.Checkpoints
	if in.Newest != "" {
		directory = redeploy.Parent(in.Newest)
	}
	if directory == "" {
		return in.Restored, "", nil
	}
	found, err := savepoints.List(ctx, directory)
	switch {
	case err != nil && !isFinal(err):
		return "", "", err
	case in.Newest == "" && (err != nil || len(found) == 0): // it has written none
		return in.Restored, "", nil
	case err != nil || len(found) == 0:
		return in.Restored, "its own checkpoints are not there any more, what it did since is done again", nil
	}
	return found[0].Path, "from its own newest checkpoint", nil
}
