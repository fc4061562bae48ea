//go:build integration

package workflows

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core/share"
	"flinkscaler/internal/devserver"
	"flinkscaler/internal/toolcache"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// someCluster is only known; nobody asks it anything.
type someCluster struct{ activities.Platform }

// sharedServer is a real server with a real worker, and small workflows in the
// place of rescales.
func sharedServer(t *testing.T, l share.Limits) client.Client {
	t.Helper()
	cache, err := toolcache.Open()
	must(t, err)
	cli, err := cache.FindTemporal(t.Context())
	must(t, err)
	s, err := devserver.Start(t.Context(), devserver.Options{Temporal: cli, Dir: filepath.Join(t.TempDir(), "temporal")})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	quiet := sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	c, err := client.DialContext(t.Context(), client.Options{HostPort: s.Address(), Logger: quiet})
	must(t, err)
	t.Cleanup(c.Close)
	acts, err := activities.New(activities.Settings{
		Clusters: map[string]activities.Cluster{"dev": {Platform: someCluster{}, Share: l}}, Slots: activities.Temporal{Client: c}, Now: time.Now,
	})
	must(t, err)
	w := worker.New(c, TaskQueue, worker.Options{})
	Register(w)
	w.RegisterWorkflow(growJob)
	w.RegisterWorkflow(hearGrants)
	acts.Register(w)
	must(t, w.Start())
	t.Cleanup(w.Stop)
	return c
}

func grow(t *testing.T, c client.Client, g grower) client.WorkflowRun {
	t.Helper()
	g.Decision = g.Job + "-1"
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "flink-rescale/dev/" + g.Job, TaskQueue: TaskQueue}, growJob, g)
	must(t, err)
	return run
}

// awaitSharing asks until the answer is as wished.
func awaitSharing(t *testing.T, c client.Client, what string, wished func(Slots) bool) Slots {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var last Slots
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if v, err := c.QueryWorkflow(ctx, share.ID("dev"), "", QuerySlots); err == nil {
			last = Slots{}
			must(t, v.Get(&last))
			if wished(last) {
				return last
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: did not come about; last %+v", what, last)
		case <-tick.C:
		}
	}
}

func outcome(t *testing.T, run client.WorkflowRun) grew {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var g grew
	must(t, run.Get(ctx, &g))
	return g
}

// TestSlotsOnAServer: one waits for the other, with its place and why; a killed
// one gives way after its lease, a killed sharing is started again by whoever
// waits; and the history replays.
func TestSlotsOnAServer(t *testing.T) {
	t.Parallel()
	c := sharedServer(t, share.Limits{Slots: 10, Lease: 6 * time.Second})
	long := grow(t, c, grower{Job: "long", SlotsWish: wants(2, 6, 0), Takes: time.Hour})
	awaitSharing(t, c, "the first grows", func(s Slots) bool { return len(s.Leases) == 1 && s.Used == 8 })
	next := grow(t, c, grower{Job: "next", SlotsWish: wants(0, 4, 0), Within: 5 * time.Minute, Takes: time.Millisecond})
	s := awaitSharing(t, c, "the second waits", func(s Slots) bool { return len(s.Queue) == 1 })
	if p := s.Queue[0]; p.Job != "next" || p.Why != share.WhySlots || p.Note != "asks for 4 slots, 2 of 10 are free" {
		t.Errorf("place: %+v", p)
	}
	// Long enough that only a renewal keeps the first.
	since := s.Leases[0].Since
	awaitSharing(t, c, "the lease is renewed", func(s Slots) bool { return len(s.Leases) == 1 && s.Leases[0].Until.Sub(since) > 14*time.Second })

	must(t, c.TerminateWorkflow(t.Context(), long.GetID(), "", "test"))
	if g := outcome(t, next); !g.Granted {
		t.Errorf("the second: %+v", g)
	}
	s = awaitSharing(t, c, "the second is through", func(s Slots) bool { return len(s.Leases) == 0 && len(s.Queue) == 0 })
	// The first never said that it wrote: it counts with what it had.
	if s.Used != 6 || s.Granted != 2 || len(s.Ended) != 1 || s.Ended[0].Job != "long" {
		t.Errorf("in the end: %+v", s)
	}
	replay(t, c)
}

// TestSharingIsStartedAgain by whoever waits, and takes up who grows.
func TestSharingIsStartedAgain(t *testing.T) {
	t.Parallel()
	c := sharedServer(t, share.Limits{Slots: 10, Lease: 6 * time.Second})
	long := grow(t, c, grower{Job: "long", SlotsWish: wants(2, 6, 0), Wrote: true, Takes: time.Hour})
	awaitSharing(t, c, "the first has written", func(s Slots) bool { return len(s.Leases) == 1 && s.Jobs[0].Held == 8 })
	must(t, c.TerminateWorkflow(t.Context(), share.ID("dev"), "", "test"))
	next := grow(t, c, grower{Job: "next", SlotsWish: wants(0, 2, 0), Takes: time.Hour})
	s := awaitSharing(t, c, "both grow", func(s Slots) bool { return len(s.Leases) == 2 })
	if s.Used != 10 || s.Granted != 1 || s.Limits.Slots != 10 {
		t.Errorf("after the start: %+v", s)
	}
	for _, run := range []client.WorkflowRun{long, next} {
		must(t, c.TerminateWorkflow(t.Context(), run.GetID(), "", "test"))
	}
}

// TestNoSlotSignalIsLost over continue-as-new: so many that runs change while
// they come in (I9).
func TestNoSlotSignalIsLost(t *testing.T) {
	t.Parallel()
	c := sharedServer(t, share.Limits{})
	const jobs, rounds = 700, 4
	start := activities.SlotsStart{Cluster: "dev", Limits: share.Limits{Slots: 1}}
	errs := make(chan error, jobs)
	const senders = 10
	for k := range senders {
		go func() {
			for r := range rounds {
				for i := k; i < jobs; i += senders {
					_, err := c.SignalWithStartWorkflow(t.Context(), share.ID("dev"), activities.SignalSlotsRelease, activities.SlotsMessage{
						Cluster: "dev", Job: fmt.Sprintf("j%03d", i), DecisionID: fmt.Sprint(r), Held: r + 1,
					}, client.StartWorkflowOptions{ID: share.ID("dev"), TaskQueue: TaskQueue}, ShareName, start)
					if err == nil && i%7 == 0 {
						err = c.SignalWorkflow(t.Context(), share.ID("dev"), "", activities.SignalSlotsRenew, "no message")
					}
					if err != nil {
						errs <- err
						return
					}
				}
			}
			errs <- nil
		}()
	}
	for range senders {
		must(t, <-errs)
	}
	const sent = rounds * (jobs + jobs/7)
	s := awaitSharing(t, c, "all came in", func(s Slots) bool { return s.Messages == sent })
	if s.Runs < 2 || len(s.Jobs) != jobs || s.Used != jobs*rounds || len(s.Rejected) != maxRejected {
		t.Errorf("%d runs, %d jobs with %d slots, %d rejected", s.Runs, len(s.Jobs), s.Used, len(s.Rejected))
	}
	replay(t, c)
}

// hearGrants is told for so many jobs. From "go" on each of them is through as soon
// as it was given slots.
func hearGrants(ctx workflow.Context, most int) ([]string, error) {
	var out []string
	granted, begin := workflow.GetSignalChannel(ctx, activities.SignalSlotsGranted), workflow.GetSignalChannel(ctx, "go")
	open, left := false, most
	through := func(job string) {
		workflow.Go(ctx, func(ctx workflow.Context) {
			tellSharing(ctx, activities.SignalSlotsRelease, activities.SlotsMessage{Cluster: "dev", Job: job, DecisionID: job + "-1", Held: 1})
			left--
		})
	}
	for len(out) < most || !open {
		sel := workflow.NewSelector(ctx)
		sel.AddReceive(granted, func(c workflow.ReceiveChannel, _ bool) {
			var a activities.SlotsAnswer
			c.Receive(ctx, &a)
			if slices.Contains(out, a.Job) {
				return // who asks again is answered again
			}
			out = append(out, a.Job)
			if open {
				through(a.Job)
			}
		})
		sel.AddReceive(begin, func(c workflow.ReceiveChannel, _ bool) {
			c.Receive(ctx, nil)
			open = true
			for _, job := range out {
				through(job)
			}
		})
		sel.Select(ctx)
	}
	return out, workflow.Await(ctx, func() bool { return left == 0 })
}

// TestFiveHundredWantToGrow at once: all are served, once, within the limits. One
// of a higher priority goes first, and while the limit is too small nobody grows.
func TestFiveHundredWantToGrow(t *testing.T) {
	t.Parallel()
	c := sharedServer(t, share.Limits{Slots: 1})
	const jobs, first, late = share.MaxRequests - 1, 20, "j499"
	wide := share.Limits{Slots: jobs + 41, Rescales: first, Lease: 10 * time.Minute}
	narrow := share.Limits{Slots: 100, Rescales: first, Lease: 10 * time.Minute}
	const hearers = 25
	var told []client.WorkflowRun
	for k := range hearers {
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: fmt.Sprintf("told-%d", k), TaskQueue: TaskQueue}, hearGrants, (jobs+1)/hearers)
		must(t, err)
		told = append(told, run)
	}
	ask := func(i, priority int, l share.Limits) error {
		job := fmt.Sprintf("j%03d", i)
		return activities.Temporal{Client: c}.TellSlots(t.Context(), TaskQueue, activities.SignalSlotsRequest, activities.SlotsMessage{
			Cluster: "dev", Job: job, DecisionID: job + "-1", ReplyTo: told[i%hearers].GetID(), Held: 1, Slots: 2, Priority: priority, Limits: &l,
		})
	}
	const senders = 10
	errs := make(chan error, senders)
	for k := range senders {
		go func() {
			for i := k; i < jobs; i += senders {
				if err := ask(i, 0, wide); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range senders {
		must(t, <-errs)
	}
	// Each has one slot; those that wait said so.
	s := awaitSharing(t, c, "all wait", func(s Slots) bool { return s.Messages == jobs && len(s.Leases) == first && len(s.Queue) == jobs-first })
	if want := jobs + 2*first; s.Used != want || s.Used > wide.Slots {
		t.Errorf("%d slots in use, want %d", s.Used, want)
	}
	must(t, ask(jobs, share.MaxPriority, wide))
	s = awaitSharing(t, c, "the last to come waits", func(s Slots) bool { return len(s.Queue) == jobs+1-first })
	if s.Queue[0].Job != late || s.Queue[0].Why != share.WhyRescales {
		t.Errorf("first is %+v", s.Queue[0])
	}
	must(t, ask(jobs, share.MaxPriority, narrow))
	awaitSharing(t, c, "the smaller limit", func(s Slots) bool { return s.Limits.Slots == narrow.Slots && len(s.Leases) == first })
	for _, run := range told {
		must(t, c.SignalWorkflow(t.Context(), run.GetID(), "", "go", nil))
	}
	s = awaitSharing(t, c, "those that grew are through, nobody else grows", func(s Slots) bool { return len(s.Leases) == 0 })
	if s.Granted != first || len(s.Queue) != jobs+1-first || s.Queue[0].Why != share.WhySlots || s.Used != jobs+1 {
		t.Errorf("under the smaller limit: %d granted, %d wait, the first for %s, %d slots in use", s.Granted, len(s.Queue), s.Queue[0].Why, s.Used)
	}
	// Room for one, and then for twenty again.
	must(t, ask(jobs, share.MaxPriority, share.Limits{Slots: jobs + 3, Rescales: first, Lease: 10 * time.Minute}))
	s = awaitSharing(t, c, "one grows", func(s Slots) bool { return s.Granted > first })
	if slices.ContainsFunc(s.Queue, func(p share.Place) bool { return p.Job == late }) {
		t.Errorf("%d grew after the smaller limit, and %s, which goes first, still waits", s.Granted-first, late)
	}
	must(t, ask(jobs, share.MaxPriority, wide))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	seen := map[string]bool{}
	for _, run := range told {
		var part []string
		must(t, run.Get(ctx, &part))
		for _, job := range part {
			seen[job] = true
		}
	}
	if len(seen) != jobs+1 {
		t.Errorf("%d of %d were served", len(seen), jobs+1)
	}
	s = awaitSharing(t, c, "all are through", func(s Slots) bool { return len(s.Leases)+len(s.Queue) == 0 })
	if s.Granted != jobs+1 || s.Used != jobs+1 {
		t.Errorf("%d granted, %d slots in use", s.Granted, s.Used)
	}
	replay(t, c)
}

// replay replays the newest run with the present code.
func replay(t *testing.T, c client.Client) {
	t.Helper()
	var h historypb.History
	events := c.GetWorkflowHistory(t.Context(), share.ID("dev"), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		must(t, err)
		h.Events = append(h.Events, e)
	}
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	must(t, err)
	Register(r)
	must(t, r.ReplayWorkflowHistory(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))), &h))
}
