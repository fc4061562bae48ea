package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/share"
)

// grower is one job that grows, as a rescale would.
type grower struct {
	Job      string
	Decision string
	// After is when it begins, Takes how long it then takes.
	After, Takes time.Duration
	activities.SlotsWish
	Within time.Duration
	// Wrote is true when it says that it wrote; Killed ends it without a word
	// as soon as it has written, if it does, or else before.
	Wrote, Killed bool
	// After it holds so many.
	Holds int
}

// grew is what came of it.
type grew struct {
	Granted bool
	Note    string
	Failed  bool
	// At is when the wait was over.
	At time.Duration
}

// growJob is a rescale reduced to its dealings with other jobs.
func growJob(ctx workflow.Context, g grower) (grew, error) {
	begin := workflow.Now(ctx).Add(-g.After)
	s := &slots{Key: core.JobKey{Cluster: "dev", Job: g.Job}, DecisionID: g.Decision, SlotsWish: g.SlotsWish, Within: g.Within}
	granted, note, err := awaitSlots(ctx, s)
	out := grew{Granted: granted, Note: note, Failed: err != nil, At: workflow.Now(ctx).Sub(begin)}
	if !granted {
		return out, nil
	}
	s.keep(ctx)
	if g.Wrote {
		s.wrote(ctx)
	}
	if g.Killed {
		return out, nil
	}
	if err := workflow.Sleep(ctx, g.Takes); err != nil {
		return out, err
	}
	s.release(ctx, g.Holds)
	return out, nil
}

// town is a cluster with the workflow that shares and jobs that grow. It gives
// what came of each job in the order given.
func town(ctx workflow.Context, start activities.SlotsStart, jobs []grower) ([]grew, error) {
	child := func(id string) workflow.Context {
		return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id, ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON})
	}
	workflow.ExecuteChildWorkflow(child(share.ID("dev")), ShareName, start)
	out := make([]grew, len(jobs))
	left := len(jobs)
	for i, j := range jobs {
		if j.Decision == "" {
			j.Decision = j.Job + "-1"
		}
		workflow.Go(ctx, func(ctx workflow.Context) {
			_ = workflow.Sleep(ctx, j.After)
			_ = workflow.ExecuteChildWorkflow(child("flink-rescale/dev/"+j.Decision), growJob, j).Get(ctx, &out[i])
			left--
		})
	}
	err := workflow.Await(ctx, func() bool { return left == 0 })
	return out, err
}

// townEnv is a town in skipped time. ask is what the activity does, nil for what
// the real one does.
func townEnv(t *testing.T, ask func(n int) (activities.AskedSlots, bool, error)) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetStartTime(time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC))
	n := 0
	env.RegisterActivityWithOptions(func(_ context.Context, in activities.AskSlotsInput) (activities.AskedSlots, error) {
		n++
		if ask != nil {
			if out, answered, err := ask(n); answered {
				return out, err
			}
		}
		return activities.AskedSlots{Lease: 10 * time.Minute}, env.SignalWorkflowByID(share.ID(in.Key.Cluster), activities.SignalSlotsRequest, activities.SlotsMessage{
			Cluster: in.Key.Cluster, Job: in.Key.Job, DecisionID: in.DecisionID, ReplyTo: in.ReplyTo, Held: in.Held, Slots: in.Slots, Priority: in.Priority,
		})
	}, activity.RegisterOptions{Name: activities.NameAskSlots})
	env.RegisterWorkflow(town)
	env.RegisterWorkflow(growJob)
	Register(env)
	return env
}

func runTown(t *testing.T, env *testsuite.TestWorkflowEnvironment, l share.Limits, jobs ...grower) []grew {
	t.Helper()
	env.ExecuteWorkflow(town, activities.SlotsStart{Cluster: "dev", Limits: l}, jobs)
	var out []grew
	if err := env.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func wants(held, slots, priority int) activities.SlotsWish {
	return activities.SlotsWish{Held: held, Slots: slots, Priority: priority}
}

func TestSlotsAmongJobs(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	ten := share.Limits{Slots: 10, Lease: 10 * m}
	at := func(d time.Duration) grew { return grew{Granted: true, At: d} }
	for name, tt := range map[string]struct {
		reason string
		limits share.Limits
		jobs   []grower
		want   []grew
	}{
		"enough": {"nobody waits", ten, []grower{
			{Job: "a", SlotsWish: wants(1, 2, 0), Takes: m, Holds: 3}, {Job: "b", SlotsWish: wants(1, 2, 0), Takes: m, Holds: 3},
		}, []grew{at(0), at(0)}},
		"one after the other": {"the second begins when the first is through and has given back", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Takes: 3 * m, Holds: 2}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0), Takes: m, Holds: 5},
		}, []grew{at(0), at(3 * m)}},
		"a long one": {"a lease that is renewed outlives its length", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Takes: 40 * m, Holds: 2}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0), Within: time.Hour, Holds: 5},
		}, []grew{at(0), at(40 * m)}},
		"killed": {"a lease that is not renewed ends", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Killed: true}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0), Within: time.Hour, Holds: 5},
		}, []grew{at(0), at(10 * m)}},
		"killed after it wrote": {"its slots are taken for real", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Wrote: true, Killed: true}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0), Within: 14 * m, Holds: 5},
		}, []grew{at(0), {At: 15 * m, Note: "5 more slots were not given within 14m0s: place 1 of 1, asks for 5 slots, 0 of 10 are free"}}},
		"a smaller job": {"waits for nobody, and others have what it gave up", ten, []grower{
			{Job: "a", SlotsWish: wants(0, 10, 0), Takes: m, Holds: 10}, {Job: "b", After: 2 * m, SlotsWish: wants(0, 5, 0), Takes: m, Holds: 5},
			{Job: "a", Decision: "a-2", After: 3 * m, SlotsWish: wants(10, -5, 0), Takes: m, Holds: 5},
		}, []grew{at(0), at(4 * m), at(3 * m)}},
		"priority": {"of two that wait the one of the higher priority is first", share.Limits{Rescales: 1}, []grower{
			{Job: "a", SlotsWish: wants(0, 1, 0), Takes: 3 * m, Holds: 1}, {Job: "b", After: m, SlotsWish: wants(0, 1, 0), Takes: m, Holds: 1},
			{Job: "c", After: 2 * m, SlotsWish: wants(0, 1, 5), Takes: 2 * m, Holds: 1},
		}, []grew{at(0), at(5 * m), at(3 * m)}},
		"its place is kept": {"who gave up and comes back is before those who came meanwhile", ten, []grower{
			{Job: "z", SlotsWish: wants(0, 8, 0), Takes: 20 * m, Holds: 4}, {Job: "a", After: m, SlotsWish: wants(0, 6, 0), Within: 7 * m},
			{Job: "b", After: 8 * m, SlotsWish: wants(0, 2, 0), Within: time.Hour, Holds: 2},
			{Job: "a", Decision: "a-2", After: 10 * m, SlotsWish: wants(0, 6, 0), Within: time.Hour, Takes: 5 * m, Holds: 3},
		}, []grew{at(0), {At: 8 * m, Note: "6 more slots were not given within 7m0s: place 1 of 1, asks for 6 slots, 2 of 10 are free"}, at(25 * m), at(20 * m)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, runTown(t, townEnv(t, nil), tt.limits, tt.jobs...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestAskingAgain: what is lost is asked again, and who cannot ask does not grow.
func TestAskingAgain(t *testing.T) {
	t.Parallel()
	lease := activities.AskedSlots{Lease: 10 * time.Minute}
	gone := temporal.NewNonRetryableApplicationError("no server", "x", nil)
	for name, tt := range map[string]struct {
		reason string
		ask    func(n int) (activities.AskedSlots, bool, error)
		want   grew
	}{
		"off":          {"a cluster that shares nothing", func(int) (activities.AskedSlots, bool, error) { return activities.AskedSlots{Off: true}, true, nil }, grew{Granted: true}},
		"lost once":    {"asked again after a third of the lease", func(n int) (activities.AskedSlots, bool, error) { return lease, n == 1, nil }, grew{Granted: true, At: 200 * time.Second}},
		"failed twice": {"asked again soon", func(n int) (activities.AskedSlots, bool, error) { return activities.AskedSlots{}, n <= 2, gone }, grew{Granted: true, At: 2 * askAgain}},
		"never":        {"nothing may be written", func(int) (activities.AskedSlots, bool, error) { return activities.AskedSlots{}, true, gone }, grew{At: slotsPatience, Failed: true, Note: "nobody could be asked for slots: no server"}},
		"no answer":    {"nothing may be written", func(int) (activities.AskedSlots, bool, error) { return lease, true, nil }, grew{At: slotsPatience, Note: "1 more slots were not given within 10m0s: nobody answered"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runTown(t, townEnv(t, tt.ask), share.Limits{Slots: 10}, grower{Job: "a", SlotsWish: wants(1, 1, 0)})
			if diff := cmp.Diff([]grew{tt.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestStopWaiting: a pause must not find a rescale that begins minutes later.
func TestStopWaiting(t *testing.T) {
	t.Parallel()
	env := townEnv(t, nil)
	env.RegisterDelayedCallback(func() {
		if err := env.SignalWorkflowByID("flink-rescale/dev/b-1", activities.SignalSlotsStop, "paused by ann"); err != nil {
			t.Error(err)
		}
	}, 2*time.Minute)
	env.RegisterDelayedCallback(func() {
		v, err := env.QueryWorkflowByID(share.ID("dev"), QuerySlots)
		var s Slots
		if err != nil || v.Get(&s) != nil || len(s.Queue) != 0 || len(s.Leases) != 1 {
			t.Errorf("after the stop: %+v, %v", s, err)
		}
	}, 150*time.Second)
	got := runTown(t, env, share.Limits{Slots: 10}, grower{Job: "a", SlotsWish: wants(0, 8, 0), Takes: 3 * time.Minute}, grower{Job: "b", After: time.Minute, SlotsWish: wants(1, 5, 0)})
	if diff := cmp.Diff([]grew{{Granted: true}, {At: 2 * time.Minute, Note: "stopped waiting for slots: paused by ann"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestManyJobsGrow: all at once, each is served once, in the order in which they
// came. The sharing itself is held to 500 in core/share.
func TestManyJobsGrow(t *testing.T) {
	t.Parallel()
	const n = 60
	var jobs []grower
	for i := range n {
		jobs = append(jobs, grower{Job: fmt.Sprintf("j%03d", i), After: time.Duration(i) * time.Second / 2, SlotsWish: wants(1, 2, 0), Within: 5 * time.Hour, Takes: time.Minute, Holds: 1})
	}
	// So many at once that few messages are needed: in skipped time a run is not
	// continued.
	got := runTown(t, townEnv(t, nil), share.Limits{Slots: n + 24, Rescales: 12, Lease: 10 * time.Minute}, jobs...)
	for i, g := range got {
		if !g.Granted || (i > 0 && g.At < got[i-1].At) {
			t.Fatalf("job %d: %+v after %+v", i, g, got[i-1])
		}
	}
}

// alone runs ShareSlots by itself; its answers go to itself, where nobody reads
// them.
func alone(t *testing.T) (*testsuite.TestWorkflowEnvironment, func(name string, m any)) {
	t.Helper()
	env := townEnv(t, nil)
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: share.ID("dev"), TaskQueue: TaskQueue})
	return env, func(name string, m any) { env.SignalWorkflow(name, m) }
}

func slotsRequest(job string, held, slots int) map[string]any {
	return map[string]any{"cluster": "dev", "job": job, "decision": job + "-1", "held": held, "slots": slots, "replyTo": share.ID("dev")}
}

func askSlots(t *testing.T, env *testsuite.TestWorkflowEnvironment) Slots {
	t.Helper()
	v, err := env.QueryWorkflow(QuerySlots)
	if err != nil {
		t.Fatal(err)
	}
	var s Slots
	if err := v.Get(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMalformedSlotSignals: they are kept and shown, and stall nothing.
func TestMalformedSlotSignals(t *testing.T) {
	t.Parallel()
	env, signal := alone(t)
	bad := []struct {
		name string
		m    any
		want string
	}{
		{"request", nil, "request: is empty"},
		{"request", "hello", "request: must be one JSON object"},
		{"request", map[string]any{"cluster": "prod", "job": "", "held": -1, "slots": "4", "more": 1}, "7 problems"},
		{"renew", map[string]any{"cluster": "dev", "job": "a\nb", "decision": "d", "held": 1, "replyTo": "x"}, "control characters"},
		{"release", map[string]any{"cluster": "dev", "job": "a", "decision": "d", "held": 1, "again": "yes"}, "true or false"},
		{"request", map[string]any{"cluster": "dev", "job": "a", "decision": strings.Repeat("d", 101), "held": 1, "slots": 1, "replyTo": "x"}, "1 to 100 bytes"},
	}
	env.RegisterDelayedCallback(func() {
		for _, b := range bad {
			signal(b.name, b.m)
		}
		signal("request", slotsRequest("good", 1, 1))
	}, time.Minute)
	env.RegisterDelayedCallback(func() {
		s := askSlots(t, env)
		if len(s.Leases) != 1 || s.Leases[0].Job != "good" {
			t.Errorf("leases: %+v", s.Leases)
		}
		if len(s.Rejected) != len(bad) {
			t.Fatalf("rejected: %+v", s.Rejected)
		}
		for i, r := range s.Rejected {
			if text := joined(r.Problems); !strings.Contains(text, bad[i].want) || r.Message != bad[i].name {
				t.Errorf("%s: %q, want %q", r.Message, text, bad[i].want)
			}
		}
	}, 2*time.Minute)
	env.ExecuteWorkflow(ShareName, activities.SlotsStart{Cluster: "dev", Limits: share.Limits{Slots: 10}})
	if err := env.GetWorkflowError(); err != nil {
		t.Error(err)
	}
}

// TestSharingEndsByItself: a day after the last message, when nobody grows or
// waits any more.
func TestSharingEndsByItself(t *testing.T) {
	t.Parallel()
	env, signal := alone(t)
	env.RegisterDelayedCallback(func() { signal("request", slotsRequest("a", 1, 1)) }, time.Hour)
	begin := env.Now()
	env.ExecuteWorkflow(ShareName, activities.SlotsStart{Cluster: "dev", Limits: share.Limits{Slots: 10}})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if d := env.Now().Sub(begin); d != 25*time.Hour {
		t.Errorf("it ended after %s, want a day after the last message", d)
	}
	s := askSlots(t, env)
	if s.Used != 0 || len(s.Ended) != 1 || s.Ended[0].What != "lease" {
		t.Errorf("in the end: %+v", s)
	}
}

func TestBadStartOfSharing(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]any{
		"no cluster":    map[string]any{},
		"unknown field": map[string]any{"cluster": "dev", "slots": 3},
		"bad limit":     map[string]any{"cluster": "dev", "limits": map[string]any{"slots": -1}},
		"nothing":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := alone(t)
			env.ExecuteWorkflow(ShareName, in)
			var app *temporal.ApplicationError
			if err := env.GetWorkflowError(); !errors.As(err, &app) || app.Type() != activities.ErrTypeInvalidInput {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// TestSharingContinuesAsNew is I9: leases, the queue, the order and what came in
// the last moment are carried over.
func TestSharingContinuesAsNew(t *testing.T) {
	t.Parallel()
	env, signal := alone(t)
	env.RegisterDelayedCallback(func() {
		for i := range 300 {
			signal("request", slotsRequest(fmt.Sprintf("j%03d", i), 1, 1))
		}
		signal("request", 7)
	}, time.Minute)
	env.RegisterDelayedCallback(func() {
		env.SetContinueAsNewSuggested(true)
		signal("request", slotsRequest("last", 1, 1))
	}, 90*time.Second)
	env.ExecuteWorkflow(ShareName, activities.SlotsStart{Cluster: "dev", Limits: share.Limits{Slots: 310, Lease: time.Hour}})
	var again *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &again) {
		t.Fatalf("ended with %v", err)
	}
	var s SlotsState
	if err := json.Unmarshal(again.Input.GetPayloads()[0].GetData(), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Share.Leases) != 155 || len(s.Share.Queue) != 146 || len(s.Rejected) != 1 || s.Share.Limits.Slots != 310 || s.Granted != 155 {
		t.Errorf("%d leases, %d wait, %d rejected, %d granted, limits %+v", len(s.Share.Leases), len(s.Share.Queue), len(s.Rejected), s.Granted, s.Share.Limits)
	}
}

// TestSharedDetails is what a person sees in the Temporal UI.
func TestSharedDetails(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	l := &sharing{now: now, s: SlotsState{Cluster: "dev", Share: share.State{Limits: share.Limits{Slots: 4, Rescales: 2}}}}
	l.s.Share.Request(share.Request{Job: "a", DecisionID: "1", Held: 1, Slots: 3}, now)
	l.s.Share.Grants(now)
	l.s.Share.Request(share.Request{Job: "b_*", DecisionID: "1", Slots: 1}, now)
	want := `**dev**: 4 of 4 slots in use, 2 rescales at once, 1 grow, 1 wait

- a grows by 3 slots since 2026-11-30 08:00:00Z, until 2026-11-30 08:10:00Z
- place 1: b\_\*, for 1 slots since 2026-11-30 08:00:00Z (no-slots): asks for 1 slots, 0 of 4 are free
` + "\n\u00a0"
	if diff := cmp.Diff(want, l.details()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOneNameOfSharing: activities start it by a name of their own.
func TestOneNameOfSharing(t *testing.T) {
	t.Parallel()
	if ShareName != activities.NameShareSlots {
		t.Errorf("%s is started as %s", ShareName, activities.NameShareSlots)
	}
}

func TestHoldsAfterARescale(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason        string
		kind          core.OutcomeKind
		larger, lower int
	}{
		"applied":  {"it has what it wanted", core.Applied, 7, 3},
		"rejected": {"nothing was written", core.Rejected, 5, 5},
		"undone":   {"it is as before", core.Undone, 5, 5},
		"partial":  {"the rest stays asked for, and may come", core.Partial, 7, 5},
		"failed":   {"nobody knows", core.Failed, 7, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l, s := holds(wants(5, 2, 0), tt.kind), holds(wants(5, -2, 0), tt.kind); l != tt.larger || s != tt.lower {
				t.Errorf("%s: %d and %d, want %d and %d", tt.reason, l, s, tt.larger, tt.lower)
			}
		})
	}
}

// TestReplaySharing replays histories of ShareSlots that a real server and worker
// made at the commit that is in their names: one that waits for another, renewals,
// a lease that ended by itself. They are never edited.
func TestReplaySharing(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "share", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d histories: %v", len(files), err)
	}
	for _, file := range files {
		r := worker.NewWorkflowReplayer()
		Register(r)
		if err := r.ReplayWorkflowHistoryFromJSONFile(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))), file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
