package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

// grower is one job that grows: it waits as a job does, and then has its lease as
// a rescale does.
type grower struct {
	Job      string
	Decision string
	// After is when it begins, Takes how long it then takes.
	After, Takes time.Duration
	activities.SlotsWish
	// Within is how long it waits, 0 for an hour.
	Within time.Duration
	// Wrote is true when it says that it writes; Killed ends it without a word
	// as soon as it has written, if it does, or else before.
	Wrote, Killed bool
	// Kind is what comes of it, empty for applied.
	Kind core.OutcomeKind
}

// grew is what came of it.
type grew struct {
	Granted bool
	// At is when the wait was over.
	At time.Duration
}

// growJob is a job and its rescale, reduced to their dealings with other jobs.
func growJob(ctx workflow.Context, g grower) (grew, error) {
	begin := workflow.Now(ctx).Add(-g.After)
	part, granted := awaitTurn(ctx, g)
	out := grew{Granted: granted, At: workflow.Now(ctx).Sub(begin)}
	if !granted {
		return out, nil
	}
	l := leaseOf(activities.RescaleInput{Key: core.JobKey{Cluster: "dev", Job: g.Job}, DecisionID: g.Decision, Slots: &part})
	l.keep(ctx)
	if g.Wrote && !l.take(ctx) {
		return out, errors.New("the lease is over")
	}
	if g.Killed {
		return out, nil
	}
	if err := workflow.Sleep(ctx, g.Takes); err != nil {
		return out, err
	}
	if g.Kind == "" {
		g.Kind = core.Applied
	}
	l.release(ctx, g.Kind)
	return out, nil
}

func awaitTurn(ctx workflow.Context, g grower) (activities.SlotsPart, bool) {
	part := activities.SlotsPart{SlotsWish: g.SlotsWish}
	if g.Slots <= 0 {
		return part, true
	}
	if g.Within == 0 {
		g.Within = time.Hour
	}
	deadline := workflow.Now(ctx).Add(g.Within)
	grants := workflow.GetSignalChannel(ctx, activities.SignalSlotsGranted)
	for workflow.Now(ctx).Before(deadline) {
		got, err := callAskSlots(ctx, activities.AskSlotsInput{
			Key: core.JobKey{Cluster: "dev", Job: g.Job}, DecisionID: g.Decision, ReplyTo: workflow.GetInfo(ctx).WorkflowExecution.ID, SlotsWish: g.SlotsWish,
		})
		if err != nil {
			return part, false
		}
		var a activities.SlotsAnswer
		if ok, _ := grants.ReceiveWithTimeout(ctx, min(renewAfter(got.Lease), deadline.Sub(workflow.Now(ctx))), &a); ok {
			part.Lease, part.For, part.Until = g.Decision, got.Lease, a.Until
			return part, true
		}
	}
	return part, false
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

// townEnv is a town in skipped time.
func townEnv(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(10 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	env.SetStartTime(time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC))
	env.RegisterActivityWithOptions(func(_ context.Context, in activities.AskSlotsInput) (activities.AskedSlots, error) {
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
			{Job: "a", SlotsWish: wants(1, 2, 0), Takes: m}, {Job: "b", SlotsWish: wants(1, 2, 0), Takes: m},
		}, []grew{at(0), at(0)}},
		"one after the other": {"the second begins when the first is through and has given back", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Takes: 3 * m, Kind: core.Undone}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0), Takes: m},
		}, []grew{at(0), at(3 * m)}},
		"a long one": {"a lease that is renewed outlives its length", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Takes: 40 * m, Kind: core.Undone}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0)},
		}, []grew{at(0), at(40 * m)}},
		"killed": {"a lease that is not renewed ends", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Killed: true}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0)},
		}, []grew{at(0), at(10 * m)}},
		"killed when it wrote": {"its slots are taken for real", ten, []grower{
			{Job: "a", SlotsWish: wants(2, 8, 0), Wrote: true, Killed: true}, {Job: "b", After: m, SlotsWish: wants(0, 5, 0), Within: 14 * m},
		}, []grew{at(0), {At: 15 * m}}},
		"a smaller job": {"waits for nobody, and others have what it gave up", ten, []grower{
			{Job: "a", SlotsWish: wants(0, 10, 0), Takes: m}, {Job: "b", After: 2 * m, SlotsWish: wants(0, 5, 0), Takes: m},
			{Job: "a", Decision: "a-2", After: 3 * m, SlotsWish: wants(10, -5, 0), Takes: m},
		}, []grew{at(0), at(4 * m), at(3 * m)}},
		"undone": {"what a smaller job may need again stays its own until it is through", ten, []grower{
			{Job: "a", SlotsWish: wants(0, 10, 0), Takes: m}, {Job: "b", After: 2 * m, SlotsWish: wants(0, 5, 0), Within: 9 * m},
			{Job: "a", Decision: "a-2", After: 3 * m, SlotsWish: wants(10, -5, 0), Takes: 4 * m, Kind: core.Undone},
		}, []grew{at(0), {At: 11 * m}, at(3 * m)}},
		"priority": {"of two that wait the one of the higher priority is first", share.Limits{Rescales: 1}, []grower{
			{Job: "a", SlotsWish: wants(0, 1, 0), Takes: 3 * m}, {Job: "b", After: m, SlotsWish: wants(0, 1, 0), Takes: m},
			{Job: "c", After: 2 * m, SlotsWish: wants(0, 1, 5), Takes: 2 * m},
		}, []grew{at(0), at(5 * m), at(3 * m)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, runTown(t, townEnv(t), tt.limits, tt.jobs...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestManyJobsGrow: all at once, each is served once, in the order in which they
// came. The sharing itself is held to 500 in core/share.
func TestManyJobsGrow(t *testing.T) {
	t.Parallel()
	const n = 60
	var jobs []grower
	for i := range n {
		jobs = append(jobs, grower{Job: fmt.Sprintf("j%03d", i), After: time.Duration(i) * time.Second / 2, SlotsWish: wants(1, 2, 0), Within: 5 * time.Hour, Takes: time.Minute, Kind: core.Undone})
	}
	// So many at once that few messages are needed: in skipped time a run is not
	// continued.
	got := runTown(t, townEnv(t), share.Limits{Slots: n + 24, Rescales: 12, Lease: 10 * time.Minute}, jobs...)
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
	env := townEnv(t)
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
