//go:build integration

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// second is the other job of a cluster whose jobs share eight slots. Each job
// has two at first.
const second = "clicks"

// sharedSim is a simulated cluster with both jobs, and more slots than they may
// have.
func sharedSim(t *testing.T) *flinksim.Cluster {
	t.Helper()
	c := simWith(t, 24, 1200, nil)
	c.AddJob(flinksim.JobSpec{Name: second, Load: flinksim.Constant(1200), Vertices: flinksim.DefaultVertices()})
	return c
}

func sharedRig(t *testing.T, c *flinksim.Cluster, o rigOptions) *rig {
	t.Helper()
	o.share = map[string]any{"slots": 8, "lease": "1 min"}
	r := newRig(t, c.URL(), o)
	for _, j := range []string{job, second} {
		r.start(j, brisk(map[string]string{"job.autoscaler.vertex.max-parallelism": "5"}))
	}
	for _, j := range []string{job, second} {
		r.await(j, "a quiet start", rests)
	}
	return r
}

// awaitSlots waits until the sharing is as wished.
func (r *rig) awaitSlots(what string, wished func(workflows.Slots) bool) workflows.Slots {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	var last workflows.Slots
	err := child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		v, err := r.Client.QueryWorkflow(ctx, share.ID("dev"), "", workflows.QuerySlots)
		if err != nil {
			return err.Error(), false, nil
		}
		last = workflows.Slots{}
		if err := v.Get(&last); err != nil {
			return "", false, err
		}
		return r.starter("slots", "--cluster", "dev"), wished(last), nil
	})
	must(r.t, err)
	return last
}

func pin(r *rig, j, size string) { r.starter("override", "dev/"+j, "--vertex", "enrich="+size) }

func runsAt(n int) func(workflows.Status) bool {
	return func(s workflows.Status) bool { return size(s) == n && s.Rescale == nil && s.Slots == nil }
}

func queued(s workflows.Status) bool {
	return s.Reason == core.ReasonSlotsShared && s.Slots != nil && s.Slots.Place != nil
}

func writesOf(c *flinksim.Cluster, j string) int {
	n := 0
	for _, w := range c.Writes() {
		if w.Job == j {
			n++
		}
	}
	return n
}

// TestTakingTurns: one grows, the other waits and says its place, over many runs of
// its workflow; a pause gives the place up, and writes nothing when slots come (I6).
func TestTakingTurns(t *testing.T) {
	t.Parallel()
	c := sharedSim(t)
	r := sharedRig(t, c, rigOptions{cyclesPerRun: 6})
	pin(r, job, "5")
	r.await(job, "the first to grow", runsAt(5))
	r.awaitSlots("its account", func(s workflows.Slots) bool { return s.Used == 7 && len(s.Leases) == 0 })

	must(t, c.SetLoad(second, flinksim.Constant(3000)))
	s := r.await(second, "the second to wait", func(s workflows.Status) bool { return queued(s) && s.Slots.SlotsWish.Slots == 3 })
	if p := s.Slots.Place; p.Place != 1 || p.Why != share.WhySlots || p.Note != "asks for 3 slots, 1 of 8 are free" || s.State != workflows.Watching {
		t.Errorf("it waits as %+v, state %s", p, s.State)
	}
	for args, want := range map[string]string{
		"status dev/" + second:  "waits for 3 slots: place 1 of 1",
		"explain dev/" + second: "asks for 3 slots, 1 of 8 are free",
		"slots --cluster dev":   second,
	} {
		r.await(second, fmt.Sprintf("%s to say %q", args, want), func(workflows.Status) bool { return strings.Contains(r.starter(strings.Fields(args)...), want) })
	}
	// While the load goes up, a look can show less for a moment, and it waits anew. What
	// does not last over a new run would never last over two.
	r.await(second, "it to wait over two more runs in the same place", func(now workflows.Status) bool {
		if !queued(now) || !now.Slots.Since.Equal(s.Slots.Since) {
			if queued(now) {
				s = now
			}
			return false
		}
		return now.Runs >= s.Runs+2
	})

	r.starter("pause", "dev/"+second)
	r.awaitSlots("nobody to wait", func(s workflows.Slots) bool { return len(s.Queue) == 0 })
	pin(r, job, "2")
	r.await(job, "the first to shrink", runsAt(2))
	r.awaitSlots("its account", func(s workflows.Slots) bool { return s.Used == 4 && len(s.Leases) == 0 })
	paused := r.await(second, "the pause", func(s workflows.Status) bool { return s.Reason == core.ReasonPaused && s.Slots == nil })
	r.await(second, "five more cycles", func(now workflows.Status) bool { return now.Cycle >= paused.Cycle+5 })
	if n := writesOf(c, second); n != 0 {
		t.Errorf("%d writes while it waited and was paused", n)
	}

	r.starter("resume", "dev/"+second)
	r.await(second, "the second to grow", func(s workflows.Status) bool { return size(s) == 5 && s.Rescale == nil })
	r.awaitSlots("its account", func(s workflows.Slots) bool { return s.Used == 7 && len(s.Leases) == 0 && len(s.Queue) == 0 })
	if n := writesOf(c, second); n != 1 {
		t.Errorf("%d writes, want one", n)
	}
}

// TestKilledHolders: whoever has slots or waits for them is killed, and nothing is
// held up by it for longer than a lease.
func TestKilledHolders(t *testing.T) {
	t.Parallel()
	c := sharedSim(t)
	r := sharedRig(t, c, rigOptions{})

	// kill -9 of the worker while a rescale writes: it goes on with its lease.
	reached := make(chan struct{})
	r.proxy.OnWrite(func() { must(t, r.Worker.Kill()); close(reached) }, nil)
	pin(r, job, "5")
	<-reached
	r.launchWorker()
	s := r.await(job, "the first to have grown", runsAt(5))
	if n := writesOf(c, job); n != 1 || s.LastRescale == nil || s.LastRescale.Kind != core.Applied {
		t.Errorf("%d writes, outcome %+v", n, s.LastRescale)
	}
	r.awaitSlots("its account", func(s workflows.Slots) bool { return s.Used == 7 && len(s.Leases) == 0 })

	// A job that waits is terminated: its place is free, and it asks again when it
	// is started again.
	pin(r, second, "5")
	r.await(second, "the second to wait", queued)
	r.tctl("workflow", "terminate", "--wid", "flink/dev/"+second, "--reason", "test")
	r.awaitSlots("nobody to wait", func(s workflows.Slots) bool { return len(s.Queue) == 0 && len(s.Ended) > 0 })
	r.start(second, brisk(nil))
	r.await(second, "the first look", func(s workflows.Status) bool { return size(s) > 0 }) // before it no vertex has a name
	pin(r, second, "5")
	r.await(second, "it to wait again", queued)
	pin(r, job, "2")
	r.await(second, "it to grow", runsAt(5))
	if n := writesOf(c, second); n != 1 {
		t.Errorf("%d writes of the second, want one", n)
	}

	// A rescale that holds a lease is terminated: the lease ends, and the job says
	// what it holds.
	r.await(job, "the first to have shrunk", runsAt(2))
	gone := make(chan struct{})
	r.proxy.OnWrite(func() {
		r.tctl("workflow", "terminate", "--wid", "flink-rescale/dev/flink/"+job, "--reason", "test")
		close(gone)
	}, nil)
	pin(r, job, "3")
	<-gone
	after := r.awaitSlots("the lease to end", func(s workflows.Slots) bool { return len(s.Leases) == 0 && s.Used == 8 })
	if e := after.Ended[len(after.Ended)-1]; e.Job != job || e.What != "lease" {
		t.Errorf("ended by itself: %+v", after.Ended)
	}
	pin(r, job, "2")
	r.await(job, "the first to shrink again", runsAt(2))
	r.awaitSlots("its account", func(s workflows.Slots) bool { return s.Used == 7 && len(s.Leases) == 0 })
}
