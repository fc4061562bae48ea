package activities_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// deployer is what stops and starts jobs of a platform, in memory. A test
// changes it between looks.
type deployer struct {
	*platform
	result func(n int) (core.StopResult, error)
	jobs   func(n int) ([]core.JobRef, error)
	submit func(core.Submission) error
	// prepared is the answer of Prepare; found what is in any directory.
	prepared error
	extras   map[string]string
	found    []core.Savepoint
	// room is what Fits says, seen the job that it was asked for.
	room    core.Room
	seen    core.JobRef
	listed  error
	checked map[string]error

	asked, looked int
	stops         []core.StopRequest
	submitted     []core.Submission
	cancelled     []string
	directories   []string
}

func (d *deployer) Stop(_ context.Context, _ core.JobRef, s core.StopRequest) error {
	d.stops = append(d.stops, s)
	return nil
}

func (d *deployer) StopResult(context.Context, core.JobRef, string) (core.StopResult, error) {
	d.asked++
	return d.result(d.asked)
}

func (d *deployer) Cancel(_ context.Context, j core.JobRef) error {
	d.cancelled = append(d.cancelled, j.ID)
	return nil
}

func (d *deployer) Prepare(context.Context, core.JobRef, []core.SubmittedVertex) (core.Prepared, error) {
	return core.Prepared{Savepoints: "file:///sp", Extras: d.extras}, d.prepared
}

func (d *deployer) Submit(_ context.Context, s core.Submission) (core.JobRef, error) {
	d.submitted = append(d.submitted, s)
	job := core.JobRef{ID: s.JobID, Name: s.Name}
	if s.Extras != nil {
		job.Extras = map[string]string{"application": "new"}
	}
	if d.submit == nil {
		return job, nil
	}
	return job, d.submit(s)
}

func (d *deployer) Copies(context.Context, core.JobRef) ([]core.JobRef, error) {
	d.looked++
	return d.jobs(d.looked)
}

func (d *deployer) Fits(_ context.Context, job core.JobRef, _ core.Requirements) (core.Room, error) {
	d.seen = job
	return d.room, nil
}

func (d *deployer) List(_ context.Context, directory string) ([]core.Savepoint, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.directories = append(d.directories, directory)
	return d.found, d.listed
}

func (d *deployer) Check(_ context.Context, path string) (core.Savepoint, error) {
	return core.Savepoint{Path: path}, d.checked[path]
}

// redeploying runs an activity on a cluster that can redeploy; d nil: on one
// that cannot.
func redeploying[T any](t *testing.T, p *platform, d *deployer, name string, in any) (T, error) {
	t.Helper()
	return watched[T](t, p, d, &phases{}, name, in)
}

// phases are what an activity shows of itself while it waits.
type phases struct {
	mu    sync.Mutex
	shown []string
}

func (s *phases) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.shown, "\n")
}

func (s *phases) beat(_ *activity.Info, v converter.EncodedValues) {
	var w activities.Waiting
	if v.HasValues() && v.Get(&w) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.shown = append(s.shown, w.Phase)
	}
}

// watched is redeploying that keeps what is shown.
func watched[T any](t *testing.T, p *platform, d *deployer, shown *phases, name string, in any) (T, error) {
	t.Helper()
	c := activities.Cluster{Platform: p}
	if d != nil {
		c.Redeployer, c.Savepoints, c.Room = d, d, d
	}
	a, err := activities.New(activities.Settings{Clusters: map[string]activities.Cluster{"dev": c}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(48 * time.Hour)
	env.SetOnActivityHeartbeatListener(shown.beat)
	a.Register(env)
	var out T
	v, err := env.ExecuteActivity(name, in)
	if err != nil {
		return out, err
	}
	return out, v.Get(&out)
}

func jobs(refs ...core.JobRef) func(int) ([]core.JobRef, error) {
	return func(int) ([]core.JobRef, error) { return refs, nil }
}

func ref(id string, s core.JobState) core.JobRef {
	return core.JobRef{ID: id, Name: "orders", State: s}
}

var (
	unreachable = &core.OpError{Op: "ask", Err: core.ErrUnreachable}
	full        = &core.OpError{Op: "ask", Err: fmt.Errorf("%w: waits", core.ErrNoRoom)}
	refused     = &core.OpError{Op: "ask", Err: fmt.Errorf("%w: no such jar", core.ErrRefused)}
	gone        = &core.OpError{Op: "ask", Err: core.ErrNotFound}
)

func TestPreflightOfARedeploy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform, *deployer, *activities.RescaleInput)
		want   core.Reason
		note   string
	}{
		"well":        {"it may be stopped and started again", func(*platform, *deployer, *activities.RescaleInput) {}, "", ""},
		"not allowed": {"off unless the policy says so", func(_ *platform, _ *deployer, in *activities.RescaleInput) { in.Redeploy = false }, core.ReasonNotAdaptive, "job.autoscaler.redeploy.enabled: true"},
		"no checkpoints": {"nothing proves that a savepoint could be written", func(p *platform, _ *deployer, in *activities.RescaleInput) {
			p.health.Checkpointing, in.NoCheckpoints = false, true
		}, core.ReasonNoCheckpoints, ""},
		"a savepoint is written": {"two at once would wait for each other", func(p *platform, _ *deployer, _ *activities.RescaleInput) { p.health.SavepointInProgress = true }, core.ReasonBusy, ""},
		"storage": {"I13", func(p *platform, _ *deployer, _ *activities.RescaleInput) {
			p.health.LastFailed, p.health.FailureNote = start.Add(time.Second), "Could not write the state: No space left on device"
		}, core.ReasonStorage, ""},
		"too few slots": {"the default scheduler runs it whole or not at all", func(p *platform, _ *deployer, _ *activities.RescaleInput) { p.free = core.Slots{Total: 3, Free: 1} }, core.ReasonNoSlots, "needs 4 slots, the job has 2 and 1 of 3 are free"},
		"its own slots": {"those that it has become free", func(p *platform, _ *deployer, _ *activities.RescaleInput) { p.free = core.Slots{Total: 4, Free: 2} }, "", ""},
		"too few slots, override": {"not even by order: the job would be down", func(p *platform, _ *deployer, in *activities.RescaleInput) {
			p.free, in.Cause = core.Slots{Total: 3, Free: 1}, core.ReasonOverride
		}, core.ReasonNoSlots, ""},
		"elastic": {"the cluster starts TaskManagers when it is asked", func(p *platform, _ *deployer, _ *activities.RescaleInput) { p.free = core.Slots{Elastic: true} }, "", ""},
		"no room": {"what is given up may not come back", func(_ *platform, d *deployer, _ *activities.RescaleInput) {
			d.room = core.Room{Short: true, Fits: 1, Note: "the queue is full"}
		}, core.ReasonNoRoom, "the queue is full"},
		"room not known": {"it is no reason against it", func(_ *platform, d *deployer, _ *activities.RescaleInput) {
			d.room = core.Room{Note: "no queue is shown"}
		}, "", ""},
		"no jar":            {"before anything is stopped", func(_ *platform, d *deployer, _ *activities.RescaleInput) { d.prepared = refused }, core.ReasonRefused, "no such jar"},
		"no directory":      {"a savepoint that nobody can find is no way back", func(_ *platform, d *deployer, _ *activities.RescaleInput) { d.listed = gone }, core.ReasonStorage, "cannot be read"},
		"above the maximum": {"Flink would end the job", func(_ *platform, _ *deployer, in *activities.RescaleInput) { in.Wanted = sizes(1, 25) }, core.ReasonRefused, "max parallelism is 24"},
		"forward edge": {"it would break", func(p *platform, _ *deployer, in *activities.RescaleInput) {
			p.status.Topology.Vertices[1].Inputs = []core.Edge{{From: source, Ship: core.ShipForward}}
			p.status.Topology.Vertices[0].Parallelism = 2
			p.run()
			in.From = sizes(2, 2)
		}, core.ReasonForward, ""},
		"undo": {"the size before is a redeploy as well", func(_ *platform, _ *deployer, in *activities.RescaleInput) { in.Cause = core.ReasonUndo }, "", ""},
		"undo, not run": {"what does not run writes no savepoint", func(p *platform, _ *deployer, in *activities.RescaleInput) {
			in.Cause, p.status.State = core.ReasonUndo, core.JobRestarting
		}, core.ReasonJobNotRunning, ""},
		"smaller, no news": {"nothing gets smaller on old numbers", func(p *platform, _ *deployer, in *activities.RescaleInput) { p.fresh, in.Wanted = false, sizes(1, 1) }, core.ReasonMetricsFrozen, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, in := newPlatform(), rescaleInput(1, 4)
			p.fail["Wanted"] = &core.OpError{Op: "read", Err: core.ErrNotAdaptive}
			d := &deployer{platform: p}
			in.Redeploy = true
			tt.change(p, d, &in)
			got, err := redeploying[activities.Preflight](t, p, d, activities.NamePreflight, in)
			if err != nil || got.Reason != tt.want || !strings.Contains(got.Note, tt.note) {
				t.Fatalf("%s: %q (%s), %v, want %q (%s)", tt.reason, got.Reason, got.Note, err, tt.want, tt.note)
			}
			if len(d.stops)+len(d.submitted)+len(d.cancelled)+p.writes != 0 {
				t.Error("a preflight changed something")
			}
			if tt.want == "" && (d.seen.Means == nil || !d.seen.Means.Restarts) {
				t.Error("room was not asked for a job that starts anew")
			}
			if (got.Redeploy != nil) != (tt.want == "") {
				t.Fatalf("plan %+v with the reason %q", got.Redeploy, got.Reason)
			}
			if got.Redeploy == nil {
				return
			}
			trigger := redeploy.Trigger(key(), "1-1", 1)
			if got.Redeploy.Stop != (core.StopRequest{Trigger: trigger, Directory: redeploy.Folder("file:///sp", key()) + "/1-1-" + trigger[:8]}) || got.VerifyFor != time.Minute {
				t.Errorf("plan %+v, waits %s", got.Redeploy, got.VerifyFor)
			}
			want := []core.SubmittedVertex{{ID: source, Name: "Source: orders", Parallelism: in.Wanted[0].Parallelism, Was: 1}, {ID: slow, Name: "slow", Parallelism: in.Wanted[1].Parallelism, Was: 2}}
			if diff := cmp.Diff(want, got.Redeploy.Vertices); diff != "" {
				t.Errorf("vertices (-want +got):\n%s", diff)
			}
		})
	}
	for section, on := range map[string]core.Target{"flink.redeploy": target(), "yarn.redeploy": {Yarn: &core.YarnTarget{ApplicationName: "orders"}}} {
		t.Run("not configured, "+section, func(t *testing.T) {
			t.Parallel()
			p, in := newPlatform(), rescaleInput(1, 4)
			p.fail["Wanted"], in.Redeploy, in.Target = &core.OpError{Op: "read", Err: core.ErrNotAdaptive}, true, on
			got, err := redeploying[activities.Preflight](t, p, nil, activities.NamePreflight, in)
			if err != nil || got.Reason != core.ReasonNotAdaptive || !strings.Contains(got.Note, " "+section+" of the cluster dev") {
				t.Errorf("%q (%s), %v", got.Reason, got.Note, err)
			}
		})
	}
}

// TestAwaitStop: what Flink says is kept, what it does not say any more is found
// in the directory, and a stop that may still happen is never given up.
func TestAwaitStop(t *testing.T) {
	t.Parallel()
	busy := core.StopResult{State: core.StopInProgress}
	done := core.StopResult{State: core.StopDone, Location: "file:/sp/x"}
	unknown := core.StopResult{State: core.StopUnknown}
	found := []core.Savepoint{{Path: "file:/sp/found"}}
	runs, ended := ref("job-1", core.JobRunning), ref("job-1", core.JobFinished)
	for name, tt := range map[string]struct {
		reason string
		result func(n int) (core.StopResult, error)
		jobs   func(n int) ([]core.JobRef, error)
		found  []core.Savepoint
		listed error
		want   redeploy.Ending
		from   string
		least  time.Duration
	}{
		"done": {"as it should be", func(n int) (core.StopResult, error) {
			if n < 3 {
				return busy, nil
			}
			return done, nil
		}, jobs(ended), nil, nil, redeploy.Stopped, "file:/sp/x", 2 * time.Second},
		"late": {"eight minutes of back pressure: it may still stop", func(n int) (core.StopResult, error) {
			if n < 480 {
				return busy, nil
			}
			return done, nil
		}, func(n int) ([]core.JobRef, error) {
			if n < 480 {
				return jobs(runs)(n)
			}
			return jobs(ended)(n)
		}, nil, nil, redeploy.Stopped, "file:/sp/x", 8*time.Minute - 2*time.Second},
		"told once": {"the first read of the result was the last: the JobManager is gone", func(n int) (core.StopResult, error) {
			if n == 1 {
				return done, nil
			}
			return unknown, nil
		}, func(n int) ([]core.JobRef, error) {
			if n < 10 {
				return nil, unreachable
			}
			return nil, nil
		}, nil, gone, redeploy.Stopped, "file:/sp/x", 9 * time.Second},
		"answer lost": {"the result was told to nobody: the directory has it", func(int) (core.StopResult, error) { return unknown, nil },
			jobs(ended), found, nil, redeploy.Stopped, "file:/sp/found", 0},
		"result unreadable": {"what cannot be read is no failure", func(int) (core.StopResult, error) { return core.StopResult{}, unreachable },
			jobs(ended), found, nil, redeploy.Stopped, "file:/sp/found", 30 * time.Second},
		"refused by Flink": {"the job runs as before", func(int) (core.StopResult, error) {
			return core.StopResult{State: core.StopFailed, Why: "no space"}, nil
		}, jobs(runs), nil, nil, redeploy.RunsOn, "", 0},
		"refused, tasks restart": {"a stop that fails late restarts the job", func(int) (core.StopResult, error) {
			return core.StopResult{State: core.StopFailed, Why: "tasks restart"}, nil
		}, jobs(runs), nil, nil, redeploy.RunsOn, "", 20 * time.Second},
		"forgotten":           {"a JobManager that was replaced", func(int) (core.StopResult, error) { return unknown, nil }, jobs(runs), nil, nil, redeploy.RunsOn, "", 30 * time.Second},
		"lost":                {"down, and nothing there", func(int) (core.StopResult, error) { return unknown, nil }, jobs(), nil, nil, redeploy.Lost, "", 30 * time.Second},
		"lost, no directory":  {"a directory that was never made is empty", func(int) (core.StopResult, error) { return unknown, nil }, jobs(), nil, gone, redeploy.Lost, "", 30 * time.Second},
		"a copy of that name": {"another job is none of this one", func(int) (core.StopResult, error) { return unknown, nil }, jobs(ref("job-9", core.JobRunning)), found, nil, redeploy.Stopped, "file:/sp/found", 0},
		"cluster away": {"only a cluster that answers says how it ended", func(n int) (core.StopResult, error) {
			if n < 480 {
				return core.StopResult{}, unreachable
			}
			return unknown, nil
		}, func(n int) ([]core.JobRef, error) {
			if n < 480 {
				return nil, unreachable
			}
			return nil, nil
		}, found, nil, redeploy.Stopped, "file:/sp/found", 8*time.Minute - 2*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform()
				d := &deployer{platform: p, result: tt.result, jobs: tt.jobs, found: tt.found, listed: tt.listed}
				began := time.Now()
				if name == "refused, tasks restart" {
					p.status.Vertices[1].Tasks.Running = 0
					time.AfterFunc(20*time.Second, func() {
						p.mu.Lock()
						defer p.mu.Unlock()
						p.run()
					})
				}
				got, err := redeploying[activities.StopEnded](t, p, d, activities.NameAwaitStop, activities.StopInput{Key: key(), Job: p.job, Stop: core.StopRequest{Trigger: "t", Directory: "file:///sp/d"}})
				if took := time.Since(began); err != nil || got.Ending != tt.want || got.Savepoint != tt.from || took < tt.least || took > tt.least+40*time.Second {
					t.Errorf("%s: %+v, %v after %s, want %q from %q after %s", tt.reason, got, err, took, tt.want, tt.from, tt.least)
				}
			})
		})
	}
}

// TestSubmitOnce: the job is looked for before and after, so that no repeat runs
// a second copy and no live job of somebody else is joined by ours.
func TestSubmitOnce(t *testing.T) {
	t.Parallel()
	own := redeploy.JobID("t", 0)
	seq := func(looks ...[]core.JobRef) func(int) ([]core.JobRef, error) {
		return func(n int) ([]core.JobRef, error) { return looks[min(n, len(looks))-1], nil }
	}
	answer := func(err error) func(core.Submission) error { return func(core.Submission) error { return err } }
	old := ref("job-1", core.JobFinished)
	for name, tt := range map[string]struct {
		reason string
		jobs   func(int) ([]core.JobRef, error)
		submit func(core.Submission) error
		want   activities.Submitted
		posts  int
		retry  bool
	}{
		"plain":                  {"the old one has ended", jobs(old), nil, activities.Submitted{JobID: own}, 1, false},
		"answered late":          {"an earlier call got through", jobs(old, ref(own, core.JobInitializing)), nil, activities.Submitted{JobID: own}, 0, false},
		"somebody else's":        {"never two of one name", jobs(old, ref("job-9", core.JobRunning)), nil, activities.Submitted{Other: "job-9"}, 0, false},
		"ours besides another":   {"ours lives; Locate will tell of two", jobs(ref(own, core.JobRunning), ref("job-9", core.JobRunning)), nil, activities.Submitted{JobID: own}, 0, false},
		"ended":                  {"its id is used up", jobs(old, ref(own, core.JobFailed)), nil, activities.Submitted{Ended: true}, 0, false},
		"answer lost, there":     {"seen by looking", seq([]core.JobRef{old}, []core.JobRef{old, ref(own, core.JobCreated)}), answer(unreachable), activities.Submitted{JobID: own}, 1, false},
		"answer lost, not there": {"asked again, under the same id", jobs(old), answer(unreachable), activities.Submitted{}, 1, true},
		"a duplicate":            {"refused, since it is there", seq([]core.JobRef{old}, []core.JobRef{ref(own, core.JobRunning)}), answer(refused), activities.Submitted{JobID: own}, 1, false},
		"refused":                {"a plain no is an answer", jobs(old), answer(refused), activities.Submitted{Refused: core.ReasonRefused}, 1, false},
		"refused, failed":        {"it came to be and failed at once", seq([]core.JobRef{old}, []core.JobRef{ref(own, core.JobFailed)}), answer(refused), activities.Submitted{Ended: true}, 1, false},
		"no room":                {"it is the queue, not the job", jobs(old), answer(full), activities.Submitted{Refused: core.ReasonNoRoom}, 1, false},
		"no room, ended":         {"it waited, and was ended", seq([]core.JobRef{old}, []core.JobRef{ref(own, core.JobCanceled)}), answer(full), activities.Submitted{Ended: true, Refused: core.ReasonNoRoom}, 1, false},
		"no rights, for now":     {"the job is down: nothing but a plain no ends the tries", jobs(old), answer(&core.OpError{Err: core.ErrUnauthorized}), activities.Submitted{}, 1, true},
		"cluster away":           {"never without having looked", func(int) ([]core.JobRef, error) { return nil, unreachable }, nil, activities.Submitted{}, 0, true},
		"cluster away after it": {"nobody knows: asked again", func(n int) ([]core.JobRef, error) {
			if n == 1 {
				return []core.JobRef{old}, nil
			}
			return nil, unreachable
		}, answer(refused), activities.Submitted{}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			d := &deployer{platform: p, jobs: tt.jobs, submit: tt.submit}
			vertices := []core.SubmittedVertex{{ID: slow, Name: "slow", Parallelism: 4, Was: 2}}
			got, err := redeploying[activities.Submitted](t, p, d, activities.NameSubmitJob, activities.SubmitInput{Key: key(), Name: "orders", Trigger: "t", Savepoint: "file:/sp/x", Vertices: vertices})
			if tt.retry {
				if err == nil || activities.IsFinal(err) {
					t.Errorf("%s: %+v, %v, want an error that is tried again", tt.reason, got, err)
				}
			} else if got.Note, got.At = "", (time.Time{}); err != nil || got != tt.want {
				t.Errorf("%s: %+v, %v, want %+v", tt.reason, got, err, tt.want)
			}
			if len(d.submitted) != tt.posts {
				t.Fatalf("%d submissions, want %d", len(d.submitted), tt.posts)
			}
			if tt.posts > 0 {
				if diff := cmp.Diff(core.Submission{JobID: own, Name: "orders", Savepoint: "file:/sp/x", Vertices: vertices}, d.submitted[0]); diff != "" {
					t.Errorf("submitted (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestMakeWay: a job is ended only where what it did is done again anyway.
func TestMakeWay(t *testing.T) {
	t.Parallel()
	ends := func(n int) ([]core.JobRef, error) { // cancelled at the first look
		if n == 1 {
			return jobs(ref("new", core.JobRestarting))(n)
		}
		return jobs(ref("new", core.JobCanceled))(n)
	}
	const own = "file:/cp/new/chk-3"
	for name, tt := range map[string]struct {
		reason    string
		unwell    bool
		jobs      func(int) ([]core.JobRef, error)
		health    core.JobHealth
		checked   map[string]error
		want      activities.Way
		cancelled int
	}{
		"unwell":             {"as after a failure: from the savepoint", true, ends, core.JobHealth{}, nil, activities.Way{Clear: true, Ended: true, From: "sp"}, 1},
		"with checkpoints":   {"their sinks have committed", true, jobs(ref("new", core.JobRestarting)), core.JobHealth{Completed: 2}, nil, activities.Way{}, 0},
		"merely not watched": {"it may be well", false, jobs(ref("new", core.JobRunning)), core.JobHealth{}, nil, activities.Way{}, 0},
		"failed":             {"nothing of its own", false, jobs(ref("new", core.JobFailed)), core.JobHealth{}, nil, activities.Way{Clear: true, Ended: true, From: "sp"}, 0},
		"failed later":       {"its own state is newer", true, jobs(ref("new", core.JobFailed)), core.JobHealth{Completed: 3, CompletedPath: own}, nil, activities.Way{Clear: true, Ended: true, From: own}, 0},
		"failed, discarded":  {"Flink deletes the checkpoints of a job that fails, unless told", true, jobs(ref("new", core.JobFailed)), core.JobHealth{Completed: 3, CompletedPath: own}, map[string]error{own: gone}, activities.Way{Clear: true, Ended: true, From: "sp"}, 0},
		"never was":          {"its id can be used again", true, jobs(), core.JobHealth{}, nil, activities.Way{Clear: true, From: "sp"}, 0},
		"nobody answers first": {"only a cluster that answers says that it is gone", true, func(n int) ([]core.JobRef, error) {
			if n < 60 {
				return nil, unreachable
			}
			return jobs(ref("new", core.JobFailed))(n)
		}, core.JobHealth{}, nil, activities.Way{Clear: true, Ended: true, From: "sp"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform()
				p.health = tt.health
				d := &deployer{platform: p, jobs: tt.jobs, checked: tt.checked}
				began := time.Now()
				got, err := redeploying[activities.Way](t, p, d, activities.NameMakeWay, activities.MakeWayInput{Key: key(), Job: core.JobRef{ID: "new", Name: "orders"}, Unwell: tt.unwell, Restored: "sp"})
				got.Note = ""
				if took := time.Since(began); name == "never was" && took < 10*time.Second {
					t.Errorf("a job that was not listed for %s was taken for gone", took)
				}
				if err != nil || got != tt.want || len(d.cancelled) != tt.cancelled {
					t.Errorf("%s: %+v, %v, cancelled %v, want %+v", tt.reason, got, err, d.cancelled, tt.want)
				}
			})
		})
	}
}

// TestVerifyASubmittedJob: it must run, all of it, from exactly that savepoint.
func TestVerifyASubmittedJob(t *testing.T) {
	t.Parallel()
	const sp = "file:///sp/x"
	for name, tt := range map[string]struct {
		reason   string
		restored string
		slow     int
		change   func(*platform)
		want     core.OutcomeKind
		why      core.Reason
		undo     bool
	}{
		"not told yet": {"where it came from is not known: no success, and nothing that is ended", "", 4, func(p *platform) {
			p.status.RunningSince = start.Add(-5 * time.Second)
		}, core.Failed, core.ReasonSavepoint, false},
		"well":             {"Flink writes the path in its own way", "file:/sp/x", 4, nil, core.Applied, "", false},
		"restarted since":  {"from a checkpoint of its own, which came from there", "file:/cp/job-1/chk-2", 4, nil, core.Applied, "", false},
		"from nothing":     {"a job without its state must not go on", "", 4, nil, core.Failed, core.ReasonSavepoint, true},
		"from elsewhere":   {"nor with an older one", "file:/sp/older", 4, nil, core.Failed, core.ReasonSavepoint, true},
		"at another size":  {"the sizes were not taken; it runs, and is left", "file:/sp/x", 3, nil, core.Partial, core.ReasonNotReached, false},
		"at a smaller one": {"even below the size before: another try would bring the same", "file:/sp/x", 1, nil, core.Partial, core.ReasonNotReached, false},
		"failed":           {"it ended", "file:/sp/x", 4, func(p *platform) { p.status.State = core.JobFailed }, core.Failed, core.ReasonJobNotRunning, false},
		"starting":         {"no slots", "file:/sp/x", 4, func(p *platform) { p.status.Vertices[1].Tasks.Running = 0 }, core.Failed, core.ReasonTasksNotRunning, true},
		"failing": {"again and again", "file:/sp/x", 4, func(p *platform) {
			for i := range 3 {
				p.health.Errors = append(p.health.Errors, p.status.Now.Add(-time.Duration(i)*time.Second))
			}
			p.health.LastError = p.status.Now
		}, core.Failed, core.ReasonJobFailing, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform()
				p.fail["Wanted"] = &core.OpError{Err: core.ErrNotAdaptive}
				p.status.Topology.Vertices[1].Parallelism = tt.slow
				p.run()
				p.status.RunningSince, p.health.RestoredPath = start.Add(-20*time.Second), tt.restored
				if tt.change != nil {
					tt.change(p)
				}
				began := time.Now()
				got, err := redeploying[activities.Verified](t, p, nil, activities.NameVerify, activities.VerifyInput{
					Key: key(), Target: target(), Job: p.job, Wanted: sizes(1, 4), Before: sizes(1, 2), Since: start.Add(-time.Minute), Restored: sp, Deadline: time.Now().Add(time.Minute),
				})
				if took := time.Since(began); took < 50*time.Second && name == "not told yet" {
					t.Errorf("%s: it was not waited for, only %s", tt.reason, took)
				} else if took > 30*time.Second && name != "starting" && name != "not told yet" {
					t.Errorf("%s: nothing was to be waited for, for %s", tt.reason, took)
				}
				if err != nil || got.Kind != tt.want || got.Reason != tt.why || (got.Undo != "") != tt.undo {
					t.Errorf("%s: %+v, %v, want %s (%s)", tt.reason, got, err, tt.want, tt.why)
				}
			})
		})
	}
}

// TestStopIsTheAttempts: the stop is asked for as it was planned.
func TestStopIsTheAttempts(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	d := &deployer{platform: p}
	in := activities.StopInput{Key: key(), Job: p.job, Stop: core.StopRequest{Trigger: "t", Directory: "file:///sp/d"}}
	for range 2 {
		if _, err := redeploying[activities.StopTaken](t, p, d, activities.NameStopJob, in); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(d.stops, []core.StopRequest{in.Stop, in.Stop}) {
		t.Errorf("stops %+v", d.stops)
	}
	if _, err := redeploying[activities.StopTaken](t, p, nil, activities.NameStopJob, in); err == nil || activities.IsFinal(err) {
		t.Errorf("a worker that does not know how: %v, want an error that another worker tries again", err)
	}
}
