//go:build integration

package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// simWith is a simulated cluster whose middle vertex is bent by a test.
func simWith(t *testing.T, slots int, load float64, bend func(*flinksim.VertexSpec)) *flinksim.Cluster {
	t.Helper()
	c := flinksim.New(flinksim.Options{
		FetchInterval: 300 * time.Millisecond, FetchTime: 20 * time.Millisecond, GaugeSpan: 2 * time.Second, CacheTime: 200 * time.Millisecond,
		Cooldown: 200 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Stabilization: 200 * time.Millisecond,
		Downtime: 300 * time.Millisecond, Deploy: 100 * time.Millisecond, CheckpointInterval: time.Second,
		Slots: slots, SlotsPerTaskManager: 1,
	})
	_, err := c.Start()
	must(t, err)
	t.Cleanup(c.Close)
	v := flinksim.DefaultVertices()
	if bend != nil {
		bend(&v[1])
	}
	c.AddJob(flinksim.JobSpec{Name: job, Load: flinksim.Constant(load), Vertices: v})
	return c
}

func runs(t *testing.T, c *flinksim.Cluster) (parallelism, upper int) {
	t.Helper()
	v, err := c.View(job)
	must(t, err)
	return v.Vertices[1].Parallelism, v.Vertices[1].Upper
}

// foreignPut is somebody else's change of what is wanted of Flink.
func foreignPut(t *testing.T, c *flinksim.Cluster, upper string) {
	t.Helper()
	v, err := c.View(job)
	must(t, err)
	var parts []string
	for i, x := range v.Vertices {
		n := "1"
		if i == 1 {
			n = upper
		}
		parts = append(parts, `"`+x.ID+`":{"parallelism":{"lowerBound":1,"upperBound":`+n+`}}`)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.URL()+"/jobs/"+v.JobID+"/resource-requirements", strings.NewReader("{"+strings.Join(parts, ",")+"}"))
	must(t, err)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	must(t, resp.Body.Close())
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the foreign write: %s", resp.Status)
	}
}

// TestUndo is BC-18: the job fails at the size that it was given, goes back to
// the one before, and that size is avoided afterwards.
func TestUndo(t *testing.T) {
	t.Parallel()
	c := simWith(t, 8, 1200, func(v *flinksim.VertexSpec) {
		v.FailAt, v.FailAfter, v.FailText = 4, 400*time.Millisecond, "Insufficient number of network buffers"
	})
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(map[string]string{"job.autoscaler.rescale.backoff": "0 s"}))
	r.await(job, "a quiet start", rests)
	must(t, c.SetLoad(job, flinksim.Constant(3300))) // 4.7 subtasks at a target of 70 %
	s := r.await(job, "the undo", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Undone })
	o := s.LastRescale
	if o.Reason != core.ReasonJobFailing || o.Undo == nil || o.Undo.Kind != core.Applied || o.Undo.DecisionID != o.DecisionID+"-undo" || !strings.Contains(o.Note, "network buffers") {
		t.Errorf("outcome %+v, undo %+v", o, o.Undo)
	}
	r.await(job, "a size that does not fail", func(s workflows.Status) bool { return size(s) == 3 && s.Rescale == nil })
	after := r.await(job, "the mark to hold", func(now workflows.Status) bool { return now.Cycle > s.Cycle+5 && now.Reason == core.ReasonFailedBefore })
	t.Logf("held: %s", after.Note)
	if p, upper := runs(t, c); p != 3 || upper != 3 {
		t.Errorf("it runs at %d of %d", p, upper)
	}
}

// TestRestartLoop is BC-17: no failure is told, but the job restarts again and
// again after it came to its size; it goes back by a decision of its own.
func TestRestartLoop(t *testing.T) {
	t.Parallel()
	c := simWith(t, 8, 1200, func(v *flinksim.VertexSpec) { v.FailAt, v.FailAfter = 3, 5*time.Second })
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(nil))
	r.await(job, "a quiet start", rests)
	r.starter("override", r.name(), "--vertex", "enrich=4", "--for", "4s")
	s := r.await(job, "the way back", func(s workflows.Status) bool {
		return s.LastRescale != nil && s.LastRescale.Cause == core.ReasonUndo && s.Rescale == nil && size(s) == 2
	})
	if o := s.LastRescale; o.Kind != core.Applied {
		t.Errorf("outcome %+v", o)
	}
}

// TestUndoForLag: at fewer subtasks than three the vertex waits for something that
// its busy time does not show, so that the formula goes there and sees nothing
// wrong. The job falls behind at the load that it had, goes back, and that size is
// avoided; it is told once.
func TestUndoForLag(t *testing.T) {
	t.Parallel()
	c := simWith(t, 8, 1100, func(v *flinksim.VertexSpec) { v.Parallelism, v.WaitBelow, v.WaitCapacity = 4, 3, 200 })
	r := shared(t, c.URL(), 0)
	// A lag that grows while looks come late would have the formula see it, too.
	r.start(job, brisk(map[string]string{
		"job.autoscaler.objective.lag": "2 s", "job.autoscaler.metrics.window": "8 s", "job.autoscaler.catch-up.duration": "2 h",
		"job.autoscaler.observed-true-processing-rate.lag-threshold": "1 h",
	}))
	r.await(job, "the smaller size", func(s workflows.Status) bool {
		return s.LastRescale != nil && s.LastRescale.Cause == core.ReasonScaleDown && s.LastRescale.Kind == core.Applied && size(s) == 2
	})
	s := r.await(job, "the way back", func(s workflows.Status) bool {
		return s.LastRescale != nil && s.LastRescale.Attempt > 1 && s.Rescale == nil && size(s) == 4
	})
	if o := s.LastRescale; o.Attempt != 2 || o.Cause != core.ReasonUndo || o.Kind != core.Applied || o.Reason != core.ReasonLagObjective || !strings.Contains(o.Note, "and falls behind further") {
		t.Errorf("outcome %+v", o)
	}
	t.Logf("undone: %s", s.LastRescale.Note)
	r.await(job, "the mark to hold", func(s workflows.Status) bool { return size(s) == 3 && s.Reason == core.ReasonFailedBefore })
	if n := r.Worker.Count("job=" + r.name() + " event=RescaleUndone"); n != 1 {
		t.Errorf("%d lines in the worker's log tell of the undo", n)
	}
}

// TestForeignWriter is I8: what somebody else wants of Flink is told and left
// alone, until an operator asks for a look.
func TestForeignWriter(t *testing.T) {
	t.Parallel()
	c := simWith(t, 8, 1200, nil)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(nil))
	r.await(job, "a quiet start", rests)
	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	r.await(job, "growth", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
	writes := len(c.Writes())
	foreignPut(t, c, "2")
	s := r.await(job, "a hold that names the writer's numbers", func(s workflows.Status) bool {
		return s.Reason == core.ReasonForeignWriter && strings.Contains(s.Note, "-> 2")
	})
	t.Logf("held: %s", s.Note)
	r.await(job, "five more cycles", func(now workflows.Status) bool { return now.Cycle > s.Cycle+5 })
	if n := len(c.Writes()) - writes; n != 1 {
		t.Errorf("%d writes besides the foreign one", n-1)
	}
	r.starter("evaluate-now", r.name())
	r.await(job, "growth after somebody looked at it", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
}

// TestPartial is BC-16: what slots allow is taken, the rest stays asked for, and
// Flink goes there when slots come; nothing is written again.
func TestPartial(t *testing.T) {
	t.Parallel()
	c := simWith(t, 3, 1200, nil)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(map[string]string{"job.autoscaler.rescale.verify-timeout": "4 s"}))
	r.await(job, "a quiet start", rests)
	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	s := r.await(job, "a part of the size", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Partial })
	if o := s.LastRescale; o.Reason != core.ReasonNoSlots || !strings.Contains(o.Note, "when it began, the wanted size needs") {
		t.Errorf("outcome %+v", o)
	}
	wanted := 0
	if p, upper := runs(t, c); p != 3 || upper <= 3 {
		t.Errorf("it runs at %d of %d", p, upper)
	} else {
		wanted = upper
	}
	writes := len(c.Writes())
	held := r.await(job, "a hold for slots", func(s workflows.Status) bool { return s.Reason == core.ReasonNoSlots && s.Rescale == nil })
	t.Logf("held: %s", held.Note)
	r.await(job, "more cycles than the back-off", func(now workflows.Status) bool { return now.Cycle > held.Cycle+6 })
	if n := len(c.Writes()); n > writes+1 { // one more may ask for more, as lag grows
		t.Errorf("%d writes while slots were missing", n-writes)
	}
	c.SetSlots(8)
	r.await(job, "Flink to take the slots", func(s workflows.Status) bool { return size(s) >= wanted && rests(s) })
}

// TestDegraded is BC-40: a job that lost slots is no job of a new size. It is
// told, nothing is written, and Flink goes up by itself.
func TestDegraded(t *testing.T) {
	t.Parallel()
	c := simWith(t, 8, 3000, func(v *flinksim.VertexSpec) { v.Parallelism = 5 })
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(map[string]string{"job.autoscaler.scale-down.interval": "0 s"}))
	r.await(job, "a quiet start", rests)
	writes := len(c.Writes())
	must(t, c.SetLoad(job, flinksim.Constant(100)))
	c.SetSlots(2)
	s := r.await(job, "a hold that says so", func(s workflows.Status) bool { return s.Reason == core.ReasonDegraded && s.State == workflows.Blocked })
	t.Logf("held: %s", s.Note)
	r.await(job, "ten more cycles", func(now workflows.Status) bool { return now.Cycle > s.Cycle+10 })
	if n := len(c.Writes()) - writes; n != 0 {
		t.Errorf("%d writes while degraded", n)
	}
	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	c.SetSlots(8)
	r.await(job, "its size again", func(s workflows.Status) bool { return size(s) >= 5 && rests(s) })
}

// TestARescaleCanBeAsked: how far it is, by query and by heartbeat.
func TestARescaleCanBeAsked(t *testing.T) {
	t.Parallel()
	c := simWith(t, 2, 1200, nil)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(map[string]string{"job.autoscaler.rescale.verify-timeout": "20 s"}))
	r.await(job, "a quiet start", rests)
	r.starter("override", r.name(), "--vertex", "enrich=4")
	id := r.rescale()
	r.await(job, "the wait for slots", func(workflows.Status) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		v, err := r.Client.QueryWorkflow(ctx, id, "", workflows.QueryProgress)
		if err != nil {
			return false
		}
		var p workflows.RescaleProgress
		must(t, v.Get(&p))
		d, err := r.Client.DescribeWorkflow(ctx, id, "")
		must(t, err)
		beat := ""
		for _, a := range d.RawResponse.GetPendingActivities() {
			for _, payload := range a.GetHeartbeatDetails().GetPayloads() {
				beat += string(payload.GetData())
			}
		}
		return p.Phase == "waiting for the new size" && !p.Deadline.IsZero() && strings.Contains(beat, "waiting for") && strings.Contains(beat, `"slots":{"total":2,"free":0}`)
	})
}
