package activities

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/core/strategy"
)

// Recorder takes what is measured about decisions, for metrics.
type Recorder interface {
	// Decided is called once per decision.
	Decided(key core.JobKey, d core.Decision, at time.Time)
}

// Cluster is one cluster of the worker's configuration.
type Cluster struct {
	Platform Platform
	// Policy is the cluster's default policy.
	Policy map[string]string
	// Share limits what its jobs have together; the zero value is no limit.
	Share share.Limits
	// Redeployer and Savepoints change jobs whose scheduler cannot do it in place;
	// nil where the cluster's configuration does not say how.
	Redeployer Redeployer
	Savepoints Savepoints
	// Tidier clears up after a redeploy, nil where nothing is left.
	Tidier Tidier
	// Checkpoints tells whether their storage answers, nil where it cannot be asked.
	Checkpoints Checkpoints
	// Spaces and Pruner belong to Savepoints; nil: not looked at, never deleted.
	// KeepSavepoints is how many of ours are kept of each job, 0 all.
	Spaces         Spaces
	Pruner         Pruner
	KeepSavepoints int
	// Rivals, Carrier, Room and Trimmer are what a platform has on which others than
	// Flink have a say in a job's size; each is nil where there is no such thing.
	Rivals  RivalDetector
	Carrier Carrier
	Room    Room
	Trimmer Trimmer
	// Holder counts what a job's cluster holds, nil where Flink shows that.
	Holder Holder
}

// Settings are what the activities need; all fields but Temporal, Slots, Recorder,
// Sink, Plugins, Place and SearchAttributes are required.
type Settings struct {
	Clusters map[string]Cluster
	// Temporal finds rescale workflows.
	Temporal RescaleFinder
	// Slots reaches the workflows that share slots; needed where a cluster has a
	// limit.
	Slots    SlotAsker
	Recorder Recorder
	// Sink takes the events of jobs; without one there are none.
	Sink EventSink
	// Plugins are those that policies may name.
	Plugins strategy.Extensions
	// Now is the worker's clock.
	Now func() time.Time
	// Place tells machines apart: what a call began on this one ends with the worker,
	// or is found again. Empty: not known.
	Place string
	// SearchAttributes is true when they are registered on the namespace.
	SearchAttributes bool
	// CyclesPerRun is when a workflow continues as new, 0 for its own choice.
	CyclesPerRun int
}

// Activities are all verbs with what they need.
type Activities struct{ s Settings }

// New checks the settings.
func New(s Settings) (*Activities, error) {
	if s.Now == nil {
		return nil, fmt.Errorf("activities: no clock")
	}
	for name, c := range s.Clusters {
		if (c.Redeployer == nil) != (c.Savepoints == nil) {
			return nil, fmt.Errorf("activities: cluster %q needs a redeployer and its savepoints, or none of both", name)
		}
		if c.Platform == nil {
			return nil, fmt.Errorf("activities: cluster %q has no platform", name)
		}
		if c.Share.On() && s.Slots == nil {
			return nil, fmt.Errorf("activities: cluster %q shares its slots, and nobody can be asked for them", name)
		}
	}
	return &Activities{s: s}, nil
}

// Registry is the part of a worker that takes activities.
type Registry interface {
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
}

// Register registers every activity under its name.
func (a *Activities) Register(r Registry) {
	for name, f := range map[string]any{
		NameAccept:       a.Accept,
		NameObserve:      a.Observe,
		NameDecide:       a.Decide,
		NamePreflight:    a.Preflight,
		NameApply:        a.Apply,
		NameVerify:       a.Verify,
		NameFindRescale:  a.FindRescale,
		NameAwaitRescale: a.AwaitRescale,
		NameReport:       a.Report,
		NameCheckUndo:    a.CheckUndo,
		NameTrim:         a.Trim,
		NameAskSlots:     a.AskSlots,

		NameStopJob:        a.StopJob,
		NameAwaitStop:      a.AwaitStop,
		NameCheckSavepoint: a.CheckSavepoint,
		NameSubmitJob:      a.SubmitJob,
		NameMakeWay:        a.MakeWay,
		NameTidy:           a.Tidy,
		NameTidySavepoints: a.TidySavepoints,
	} {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// platform gives the cluster's platform. A worker that does not know the
// cluster must not pretend: the job holds.
func (a *Activities) platform(cluster string) (Platform, error) {
	c, ok := a.s.Clusters[cluster]
	if !ok {
		return nil, &core.OpError{
			Op: "find cluster", Subject: cluster, Err: core.ErrUnreachable,
			Hint: fmt.Sprintf("this worker's configuration knows %s", known(a.clusterNames())),
		}
	}
	return c.Platform, nil
}

func (a *Activities) clusterNames() []string {
	names := make([]string, 0, len(a.s.Clusters))
	for n := range a.s.Clusters {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func known(names []string) string {
	if len(names) == 0 {
		return "no cluster"
	}
	out := names[0]
	for _, n := range names[1:] {
		out += ", " + n
	}
	return out
}
