package activities_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// shelf is a storage in memory: what is on HDFS it knows.
type shelf struct {
	away    error
	missing map[string]error
	space   core.Space
	asked   []string
	// onCheck runs after each look.
	onCheck func()

	stops   []core.StopDirectory
	found   map[string]error
	removed []string
	remove  error
}

func (s *shelf) Covers(place string) bool { return strings.HasPrefix(place, "hdfs:") }

func (s *shelf) Answers(_ context.Context, place string) error {
	s.asked = append(s.asked, place)
	return s.away
}

func (s *shelf) Check(_ context.Context, place string) (core.Savepoint, error) {
	if s.onCheck != nil {
		defer s.onCheck()
	}
	return core.Savepoint{Path: place}, s.missing[place]
}

func (s *shelf) List(_ context.Context, place string) ([]core.Savepoint, error) {
	if err := s.found[place]; err != nil {
		return nil, err
	}
	return []core.Savepoint{{Path: place + "/savepoint-a"}}, nil
}

func (s *shelf) Space(context.Context, string) (core.Space, error) { return s.space, s.away }

func (s *shelf) Stops(context.Context, string) ([]core.StopDirectory, error) { return s.stops, s.away }

func (s *shelf) Remove(_ context.Context, _, dir string) error {
	if s.remove == nil {
		s.removed = append(s.removed, dir)
	}
	return s.remove
}

// stored runs an activity on a cluster with a storage.
func stored[T any](t *testing.T, c activities.Cluster, name string, in any) (T, error) {
	t.Helper()
	a, err := activities.New(activities.Settings{Clusters: map[string]activities.Cluster{"dev": c}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Hour)
	a.Register(env)
	var out T
	v, err := env.ExecuteActivity(name, in)
	if err != nil {
		return out, err
	}
	return out, v.Get(&out)
}

const (
	third  = "hdfs://ns/cp/job-1/chk-3"
	fourth = "hdfs://ns/cp/job-1/chk-4"
)

// TestAStorageThatDoesNotAnswerHolds is I13 where Flink itself shows nothing: the
// job runs, its newest checkpoint is complete and fresh, and HDFS is down.
func TestAStorageThatDoesNotAnswerHolds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform, *shelf, *activities.RescaleInput)
		want   core.Reason
		note   string
	}{
		"answers": {"nothing is in the way", func(*platform, *shelf, *activities.RescaleInput) {}, "", ""},
		"away":    {"a rescale would end the job for good", func(_ *platform, s *shelf, _ *activities.RescaleInput) { s.away = unreachable }, core.ReasonStorage, "the storage of its checkpoints: ask: unreachable"},
		"away, override": {"not even by order", func(_ *platform, s *shelf, in *activities.RescaleInput) {
			s.away, in.Cause = unreachable, core.ReasonOverride
		}, core.ReasonStorage, ""},
		"away, undo": {"nor on the way back", func(_ *platform, s *shelf, in *activities.RescaleInput) {
			s.away, in.Cause = unreachable, core.ReasonUndo
		}, core.ReasonStorage, ""},
		"away, down":    {"whatever the direction", func(_ *platform, s *shelf, in *activities.RescaleInput) { s.away, in.Wanted = unreachable, in.From }, core.ReasonStorage, ""},
		"unknown":       {"the worker's file has to name it", func(_ *platform, s *shelf, _ *activities.RescaleInput) { s.away = refused }, core.ReasonStorage, ""},
		"gone":          {"nothing to restart from", func(_ *platform, s *shelf, _ *activities.RescaleInput) { s.missing = map[string]error{third: gone} }, core.ReasonStorage, "the newest checkpoint, which a restart begins from: ask: not found"},
		"no checkpoint": {"what is there is none", func(_ *platform, s *shelf, _ *activities.RescaleInput) { s.missing = map[string]error{third: refused} }, core.ReasonStorage, ""},
		"elsewhere": {"what this worker cannot read is not claimed", func(p *platform, s *shelf, _ *activities.RescaleInput) {
			p.health.CompletedPath, s.away = "s3://b/chk-3", unreachable
		}, "", ""},
		"in memory": {"Flink's words for no place", func(p *platform, s *shelf, _ *activities.RescaleInput) {
			p.health.CompletedPath, s.away = "<checkpoint-not-externally-addressable>", unreachable
		}, "", ""},
		"none yet": {"it would restart from what it was restored from", func(p *platform, s *shelf, _ *activities.RescaleInput) {
			p.health.CompletedPath, p.health.RestoredPath, s.away = "", third, unreachable
		}, core.ReasonStorage, ""},
		"tolerated": {"tolerable-failed-checkpoints=1000: the job runs on while HDFS is down", func(p *platform, _ *shelf, _ *activities.RescaleInput) {
			p.health.LastFailed, p.health.FailureNote = start.Add(time.Second), "An Exception occurred while triggering the checkpoint. IO-problem detected."
		}, core.ReasonStorage, "IO-problem"},
		"tolerated, order": {"an order obeys it too", func(p *platform, _ *shelf, in *activities.RescaleInput) {
			p.health.LastFailed, p.health.FailureNote, in.Cause = start.Add(time.Second), "Failure to finalize checkpoint.", core.ReasonOverride
		}, core.ReasonStorage, ""},
		"subsumed": {"Flink deleted it since, and has a newer one", func(p *platform, s *shelf, _ *activities.RescaleInput) {
			s.missing = map[string]error{third: gone}
			s.onCheck = func() { p.health.CompletedPath = fourth }
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s, in := newPlatform(), &shelf{}, rescaleInput(2, 4)
			p.health.CompletedPath = third
			tt.change(p, s, &in)
			got, err := stored[activities.Preflight](t, activities.Cluster{Platform: p, Checkpoints: s}, activities.NamePreflight, in)
			if err != nil || got.Reason != tt.want || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: %q (%s), %v, want %q (%s)", tt.reason, got.Reason, got.Note, err, tt.want, tt.note)
			}
			if covered := s.Covers(p.health.CompletedPath); got.Reason == "" && covered != (got.Checkpoint != "") {
				t.Errorf("it is asked again about %q", got.Checkpoint)
			}
		})
	}
}

// TestAnUndoAsksTheStorage: the way back of a change that went wrong.
func TestAnUndoAsksTheStorage(t *testing.T) {
	t.Parallel()
	p, s := newPlatform(), &shelf{away: unreachable}
	p.health.CompletedPath = third
	got, err := stored[activities.Preflight](t, activities.Cluster{Platform: p, Checkpoints: s}, activities.NameCheckUndo,
		activities.UndoInput{Key: key(), Target: target(), Job: p.job, Back: rescaleInput(2, 4).From})
	if err != nil || got.Reason != core.ReasonStorage {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestStorageIsAskedRightBeforeAWrite: minutes may have passed since the preflight.
func TestStorageIsAskedRightBeforeAWrite(t *testing.T) {
	t.Parallel()
	p, s := newPlatform(), &shelf{away: unreachable}
	d := &deployer{platform: p}
	c := activities.Cluster{Platform: p, Checkpoints: s, Redeployer: d, Savepoints: d}
	wish := core.Requirements{{ID: source, Lower: 1, Upper: 2}, {ID: slow, Lower: 1, Upper: 4}}
	apply := activities.ApplyInput{Key: key(), Job: p.job, Held: p.held, Wish: wish, Checkpoint: third}
	_, err := stored[activities.ApplyResult](t, c, activities.NameApply, apply)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.NonRetryable() || activities.ReasonOf(err, "") != core.ReasonStorage || p.writes != 0 {
		t.Errorf("%d writes, error %v", p.writes, err)
	}
	_, err = stored[activities.StopTaken](t, c, activities.NameStopJob, activities.StopInput{Key: key(), Job: p.job, Checkpoint: third})
	if activities.ReasonOf(err, "") != core.ReasonStorage || len(d.stops) != 0 {
		t.Errorf("%d stops, error %v", len(d.stops), err)
	}
	s.away = nil
	s.missing = map[string]error{third: gone} // a newer one has taken its place
	if _, err := stored[activities.ApplyResult](t, c, activities.NameApply, apply); err != nil || p.writes != 1 {
		t.Errorf("%d writes, error %v", p.writes, err)
	}
	if _, err := stored[activities.StopTaken](t, c, activities.NameStopJob, activities.StopInput{Key: key(), Job: p.job, Checkpoint: third}); err != nil || len(d.stops) != 1 {
		t.Errorf("%d stops, error %v", len(d.stops), err)
	}
}

// TestRoomForASavepoint before a job is stopped.
func TestRoomForASavepoint(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for name, tt := range map[string]struct {
		reason string
		space  core.Space
		state  core.Reading
		want   core.Reason
		note   string
	}{
		"enough":        {"nothing is told", core.Space{Free: core.Read(100 * gib)}, core.Read(10 * gib), "", ""},
		"short":         {"a stop would fail", core.Space{Free: core.Read(14 * gib), Bound: "the space quota of /sp", Copies: 3}, core.Read(10 * gib), core.ReasonStorage, "a state of 10 GiB needs 15 GiB, and the space quota of /sp leaves 14 GiB in 3 copies"},
		"no names":      {"a quota of files is one too", core.Space{Free: core.Read(100 * gib), Names: core.Read(7)}, core.Read(1), core.ReasonStorage, "only 7 more files"},
		"unknown":       {"it is said and forbids nothing", core.Space{Note: "quotas are not known"}, core.Read(10 * gib), "", "the free space for the savepoint is not known; quotas are not known"},
		"unknown state": {"likewise", core.Space{Free: core.Read(gib)}, core.Reading{}, "", "the size of the state, and so of the savepoint, is not known"},
		"quota unknown": {"what was not looked at is told", core.Space{Free: core.Read(gib), Note: "quotas are not known"}, core.Read(1), "", "quotas are not known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := newPlatform(), &shelf{space: tt.space}
			p.fail["Wanted"] = core.ErrNotAdaptive
			p.health.StateSize = tt.state
			in := rescaleInput(2, 4)
			in.Redeploy = true
			d := &deployer{platform: p}
			got, err := stored[activities.Preflight](t, activities.Cluster{Platform: p, Redeployer: d, Savepoints: d, Spaces: s}, activities.NamePreflight, in)
			if err != nil || got.Reason != tt.want || !strings.Contains(got.Note, tt.note) || tt.note == "" && got.Note != "" {
				t.Errorf("%s: %q (%s), %v, want %q (%s)", tt.reason, got.Reason, got.Note, err, tt.want, tt.note)
			}
		})
	}
}

// TestTidySavepoints deletes what nobody needs, and on any doubt nothing.
func TestTidySavepoints(t *testing.T) {
	t.Parallel()
	folder := redeploy.Folder("hdfs://ns/sp", key())
	dirs := make([]core.StopDirectory, 0, 5)
	for n := range 5 {
		dirs = append(dirs, core.StopDirectory{Path: fmt.Sprintf("%s/%d-1-aa", folder, n), At: start.Add(time.Duration(n) * time.Hour)})
	}
	for name, tt := range map[string]struct {
		reason string
		change func(*platform, *shelf, *activities.PruneInput, *activities.Cluster)
		want   string
		note   string
		fails  bool
	}{
		"the oldest": {"the newest three stay", func(*platform, *shelf, *activities.PruneInput, *activities.Cluster) {}, "0-1-aa 1-1-aa", "deleted 2 older savepoints of earlier redeploys, the newest 3 are kept: 0-1-aa, 1-1-aa", false},
		"keep all":   {"as the worker's file says", func(_ *platform, _ *shelf, _ *activities.PruneInput, c *activities.Cluster) { c.KeepSavepoints = 0 }, "", "", false},
		"restored": {"the job could restart from it", func(p *platform, _ *shelf, _ *activities.PruneInput, _ *activities.Cluster) {
			p.health.RestoredPath = folder + "/1-1-aa/savepoint-a"
		}, "0-1-aa", "", false},
		"a way back": {"this attempt recorded it", func(_ *platform, _ *shelf, in *activities.PruneInput, _ *activities.Cluster) {
			in.Keep = []string{folder + "/0-1-aa/savepoint-a"}
		}, "1-1-aa", "", false},
		"not asked": {"what the job needs is not known", func(p *platform, _ *shelf, _ *activities.PruneInput, _ *activities.Cluster) {
			p.fail["Inspect"] = unreachable
		}, "", "", true},
		"not listed": {"which are complete is not known", func(_ *platform, s *shelf, _ *activities.PruneInput, _ *activities.Cluster) {
			s.found = map[string]error{folder + "/4-1-aa": unreachable}
		}, "", "", true},
		"incomplete": {"it does not count as one that is kept", func(_ *platform, s *shelf, _ *activities.PruneInput, _ *activities.Cluster) {
			s.found = map[string]error{folder + "/3-1-aa": gone}
		}, "0-1-aa", "", false},
		"other job": {"a directory of an earlier layout has others beside it", func(_ *platform, _ *shelf, in *activities.PruneInput, _ *activities.Cluster) {
			in.Directory = "hdfs://ns/sp/orders-4-1-aa"
		}, "", "", false},
		"refused": {"what holds more is left, and told", func(_ *platform, s *shelf, _ *activities.PruneInput, _ *activities.Cluster) { s.remove = refused }, "", "no such jar", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := newPlatform(), &shelf{stops: dirs}
			in := activities.PruneInput{Key: key(), Job: p.job, Directory: folder + "/4-1-aa"}
			c := activities.Cluster{Platform: p, Redeployer: &deployer{platform: p}, Savepoints: s, Pruner: s, KeepSavepoints: 3}
			tt.change(p, s, &in, &c)
			got, err := stored[activities.Pruned](t, c, activities.NameTidySavepoints, in)
			var removed []string
			for _, d := range s.removed {
				removed = append(removed, strings.TrimPrefix(d, folder+"/"))
			}
			if (err != nil) != tt.fails || strings.Join(removed, " ") != tt.want || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: removed %v (%s), %v, want %s (%s)", tt.reason, removed, got.Note, err, tt.want, tt.note)
			}
		})
	}
}
