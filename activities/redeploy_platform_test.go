package activities_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// tidier notes what it is asked for.
type tidier struct {
	job       core.JobRef
	submitted []string
}

func (d *tidier) Tidy(_ context.Context, job core.JobRef, submitted []string) (string, error) {
	d.job, d.submitted = job, submitted
	return "ended application_2", nil
}

// TestWhereEarlierCallsWere: a call that takes over from one on the same machine
// needs not wait for what may go on elsewhere, any other does.
func TestWhereEarlierCallsWere(t *testing.T) {
	t.Parallel()
	past := time.Date(2026, 11, 29, 11, 0, 0, 0, time.UTC)
	type where struct {
		Repeated bool
		Since    string
	}
	for name, tt := range map[string]struct {
		reason   string
		place    string
		repeated bool
		last     *activities.Submitting
		want     where
	}{
		"first":                      {"nothing came before", "here", false, nil, where{}},
		"on this machine":            {"what it began has ended with it, or is found", "here", false, &activities.Submitting{Place: "here"}, where{}},
		"on another":                 {"what it began may go on there", "here", false, &activities.Submitting{Place: "there"}, where{Since: "now"}},
		"here, before that there":    {"the one elsewhere is not forgotten", "here", false, &activities.Submitting{Place: "here", Elsewhere: past}, where{Since: "past"}},
		"machines not told apart":    {"it may be anywhere", "", false, &activities.Submitting{}, where{Since: "now"}},
		"given up by the saga":       {"nobody knows where it was", "here", true, nil, where{Repeated: true, Since: "now"}},
		"given up, and begun anew":   {"this call's first look was here, the one before is still counted", "here", true, &activities.Submitting{Place: "here", Elsewhere: past}, where{Repeated: true, Since: "past"}},
		"place unknown, then known":  {"an unknown place is another one", "here", false, &activities.Submitting{Elsewhere: past}, where{Since: "now"}},
		"given up, on another place": {"the later moment counts", "here", true, &activities.Submitting{Place: "there", Elsewhere: past}, where{Repeated: true, Since: "now"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &deployer{platform: newPlatform(), jobs: jobs()}
			now := past.Add(time.Hour)
			a, err := activities.New(activities.Settings{
				Clusters: map[string]activities.Cluster{"dev": {Platform: d.platform, Redeployer: d, Savepoints: d}}, Now: func() time.Time { return now }, Place: tt.place,
			})
			if err != nil {
				t.Fatal(err)
			}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			a.Register(env)
			if tt.last != nil {
				env.SetHeartbeatDetails(*tt.last)
			}
			if _, err := env.ExecuteActivity(activities.NameSubmitJob, activities.SubmitInput{Key: key(), Name: "orders", Trigger: "t", Repeated: tt.repeated}); err != nil {
				t.Fatal(err)
			}
			got := where{Repeated: d.submitted[0].Repeated}
			switch at := d.submitted[0].Elsewhere; {
			case at.Equal(now):
				got.Since = "now"
			case at.Equal(past):
				got.Since = "past"
			case !at.IsZero():
				got.Since = at.String()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestExtrasOfAPlatformGoAllTheWay: what Prepare gave comes to Submit, and what
// Submit gave comes back.
func TestExtrasOfAPlatformGoAllTheWay(t *testing.T) {
	t.Parallel()
	p, in := newPlatform(), rescaleInput(1, 4)
	p.fail["Wanted"], in.Redeploy = &core.OpError{Op: "read", Err: core.ErrNotAdaptive}, true
	d := &deployer{platform: p, extras: map[string]string{"queue": "shop"}, jobs: jobs()}
	pre, err := redeploying[activities.Preflight](t, p, d, activities.NamePreflight, in)
	if err != nil || pre.Redeploy == nil || pre.Redeploy.Extras["queue"] != "shop" {
		t.Fatalf("preflight %+v, %v", pre, err)
	}
	sub, err := redeploying[activities.Submitted](t, p, d, activities.NameSubmitJob, activities.SubmitInput{Key: key(), Name: "orders", Trigger: "t", Extras: pre.Redeploy.Extras})
	if err != nil || sub.Job == nil || sub.Job.ID != redeploy.JobID("t", 0) || sub.Job.Extras["application"] != "new" || d.submitted[0].Extras["queue"] != "shop" {
		t.Errorf("submitted %+v with %+v, %v", sub, d.submitted, err)
	}
}

// TestTidyIsThePlatforms: where there is something to clear up.
func TestTidyIsThePlatforms(t *testing.T) {
	t.Parallel()
	run := func(c activities.Cluster) activities.Tidied {
		a, err := activities.New(activities.Settings{Clusters: map[string]activities.Cluster{"dev": c}, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		a.Register(env)
		v, err := env.ExecuteActivity(activities.NameTidy, activities.TidyInput{Key: key(), Job: ref("new", core.JobRunning), Submitted: []string{"old", "new"}})
		if err != nil {
			t.Fatal(err)
		}
		var out activities.Tidied
		if err := v.Get(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	d := &tidier{}
	if got := run(activities.Cluster{Platform: newPlatform(), Tidier: d}); got.Note != "ended application_2" || d.job.ID != "new" || len(d.submitted) != 2 {
		t.Errorf("%+v, asked for %+v", got, d)
	}
	if got := run(activities.Cluster{Platform: newPlatform()}); got.Note != "" {
		t.Errorf("a platform on which nothing is left: %+v", got)
	}
}

// TestTheCheckpointOfAJobWhoseJobManagerIsGone is found beside the one that was
// seen last: going back behind it would repeat what sinks have committed.
func TestTheCheckpointOfAJobWhoseJobManagerIsGone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		newest string
		found  []core.Savepoint
		listed error
		from   string
		note   string
	}{
		"a newer one":   {"completed after the last look", "hdfs://ns/cp/new/chk-3", []core.Savepoint{{Path: "hdfs://ns/cp/new/chk-4"}, {Path: "hdfs://ns/cp/new/chk-3"}}, nil, "hdfs://ns/cp/new/chk-4", "from its own newest"},
		"deleted":       {"as Flink does with those of a job that fails", "hdfs://ns/cp/new/chk-3", nil, nil, "sp", "is done again"},
		"none was seen": {"it may have completed one all the same", "", []core.Savepoint{{Path: "hdfs://ns/cp/new/chk-1"}}, nil, "hdfs://ns/cp/new/chk-1", "from its own newest"},
		"none at all":   {"nothing of its own", "", nil, nil, "sp", ""},
		"no place":      {"it never got so far", "", nil, gone, "sp", ""},
		"no directory":  {"deleted with the job", "hdfs://ns/cp/new/chk-3", nil, gone, "sp", "is done again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			p.fail["Inspect"] = gone
			d := &deployer{platform: p, jobs: jobs(ref("new", core.JobFailed)), found: tt.found, listed: tt.listed}
			got, err := redeploying[activities.Way](t, p, d, activities.NameMakeWay, activities.MakeWayInput{Key: key(), Job: core.JobRef{ID: "new", Name: "orders"}, Restored: "sp", Newest: tt.newest, Checkpoints: "hdfs://ns/cp/new"})
			if tt.newest != "" && !slices.Equal(d.directories, []string{"hdfs://ns/cp/new"}) {
				t.Errorf("%s: looked into %q", tt.reason, d.directories)
			}
			if err != nil || !got.Ended || got.From != tt.from || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: %+v, %v, want from %s", tt.reason, got, err, tt.from)
			}
		})
	}
}

// TestStorageThatDoesNotTellTheNewestCheckpoint is asked again: to go on from the
// savepoint would be a guess.
func TestStorageThatDoesNotTellTheNewestCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform()
		p.fail["Inspect"] = gone
		d := &deployer{platform: p, jobs: jobs(ref("new", core.JobFailed)), listed: unreachable}
		time.AfterFunc(20*time.Second, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			d.listed, d.found = nil, []core.Savepoint{{Path: "hdfs://ns/cp/new/chk-4"}}
		})
		got, err := redeploying[activities.Way](t, p, d, activities.NameMakeWay, activities.MakeWayInput{Key: key(), Job: core.JobRef{ID: "new", Name: "orders"}, Restored: "sp", Newest: "hdfs://ns/cp/new/chk-3"})
		if err != nil || got.From != "hdfs://ns/cp/new/chk-4" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestASubmittedJobsNewestCheckpointIsTold to whoever has to go on without it.
func TestASubmittedJobsNewestCheckpointIsTold(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.health.CompletedPath, p.status.State = "hdfs://ns/cp/job-1/chk-7", core.JobFailed
	got, err := redeploying[activities.Verified](t, p, nil, activities.NameVerify, activities.VerifyInput{
		Key: key(), Target: target(), Job: p.job, Wanted: sizes(1, 4), Restored: "sp", Deadline: time.Now().Add(time.Minute),
	})
	if err != nil || got.Newest != "hdfs://ns/cp/job-1/chk-7" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAJobThatWaitsForItsNextAttempt: its JobManager cannot be asked, so its storage is.
// It is ended only where that proves that nothing was committed; what is not known is
// waited for, and never gets a second copy.
func TestAJobThatWaitsForItsNextAttempt(t *testing.T) {
	t.Parallel()
	const own = "hdfs://ns/cp/new"
	waits := ref("new", core.JobInitializing)
	later := func(then core.JobState) func(int) ([]core.JobRef, error) {
		return func(n int) ([]core.JobRef, error) {
			if n < 60 {
				return jobs(waits)(n)
			}
			return jobs(ref("new", then))(n)
		}
	}
	ends := func(n int) ([]core.JobRef, error) {
		if n == 1 {
			return jobs(waits)(n)
		}
		return jobs(ref("new", core.JobCanceled))(n)
	}
	over := activities.Way{Clear: true, Ended: true, From: "sp"}
	for name, tt := range map[string]struct {
		reason      string
		jobs        func(int) ([]core.JobRef, error)
		in          activities.MakeWayInput
		found       []core.Savepoint
		listed      error
		want        activities.Way
		cancelled   int
		waited      bool
		phase       string
		directories []string
	}{
		"none completed": {"all is done again from the savepoint", ends, activities.MakeWayInput{Checkpoints: own}, nil, nil, over, 1, false, "about to end", []string{own, own}},
		"never began":    {"its JobManager says that nothing was done", ends, activities.MakeWayInput{}, nil, nil, over, 1, false, "about to end", nil},
		"completed":      {"its sinks have committed", jobs(waits), activities.MakeWayInput{Checkpoints: own}, []core.Savepoint{{Path: own + "/chk-1"}}, nil, activities.Way{}, 0, false, "", []string{own}},
		"seen before":    {"nothing has to be asked", jobs(waits), activities.MakeWayInput{Newest: own + "/chk-1"}, nil, nil, activities.Way{}, 0, false, "", nil},
		"no directory":   {"it may write elsewhere", later(core.JobFailed), activities.MakeWayInput{Checkpoints: own}, nil, gone, over, 0, true, "not known whether it has completed a checkpoint", nil},
		"place unknown":  {"nothing proves anything", later(core.JobFailed), activities.MakeWayInput{}, nil, nil, over, 0, true, "until it runs or ends: ask: not ready", nil},
		"storage away":   {"no answer is no proof, and no state to go on from", later(core.JobFailed), activities.MakeWayInput{Checkpoints: own}, nil, unreachable, over, 0, true, "its checkpoints: ask", nil},
		"it runs": {"then its JobManager has to say so", func(n int) ([]core.JobRef, error) {
			if n < 60 {
				return jobs(ref("new", core.JobRunning))(n)
			}
			return jobs(ref("new", core.JobFailed))(n)
		}, activities.MakeWayInput{Checkpoints: own}, nil, nil, over, 0, true, "is RUNNING, and it is not known", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform()
				if name != "never began" {
					p.fail["Inspect"] = &core.OpError{Op: "ask", Err: core.ErrNotReady}
				}
				d := &deployer{platform: p, jobs: tt.jobs, found: tt.found, listed: tt.listed}
				time.AfterFunc(3*time.Minute, func() {
					p.mu.Lock()
					defer p.mu.Unlock()
					if errors.Is(tt.listed, core.ErrUnreachable) { // storage comes back
						d.listed = nil
					}
				})
				in, began, shown := tt.in, time.Now(), &phases{}
				in.Key, in.Job, in.Unwell, in.Restored = key(), core.JobRef{ID: "new", Name: "orders"}, true, "sp"
				got, err := watched[activities.Way](t, p, d, shown, activities.NameMakeWay, in)
				if tt.want == (activities.Way{}) && !strings.Contains(got.Note, "left alone") {
					t.Errorf("%s: %q", tt.reason, got.Note)
				}
				got.Note = ""
				if err != nil || got != tt.want || len(d.cancelled) != tt.cancelled || time.Since(began) > 30*time.Second != tt.waited {
					t.Errorf("%s: %+v, %v, cancelled %v after %s, want %+v", tt.reason, got, err, d.cancelled, time.Since(began), tt.want)
				}
				if tt.directories != nil && !slices.Equal(d.directories, tt.directories) {
					t.Errorf("%s: looked into %q", tt.reason, d.directories)
				}
				if !strings.Contains(shown.text(), tt.phase) {
					t.Errorf("%s: shown while it waited: %s, want in it %q", tt.reason, shown.text(), tt.phase)
				}
			})
		})
	}
}
