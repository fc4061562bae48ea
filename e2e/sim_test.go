//go:build integration

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

const job = "orders"

// sim is a simulated cluster with one job whose middle vertex handles 1,000
// records/s per subtask.
func sim(t *testing.T, load float64) *flinksim.Cluster {
	t.Helper()
	c := simOf(t, 0)
	c.AddJob(flinksim.JobSpec{Name: job, Load: flinksim.Constant(load)})
	return c
}

// simOf is a simulated cluster of so many slots, 0 for the usual number, without
// a job.
func simOf(t *testing.T, slots int) *flinksim.Cluster {
	t.Helper()
	c := flinksim.New(flinksim.Options{
		Slots:         slots,
		FetchInterval: 300 * time.Millisecond, FetchTime: 20 * time.Millisecond, GaugeSpan: 2 * time.Second, CacheTime: 200 * time.Millisecond,
		Cooldown: 200 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Stabilization: 200 * time.Millisecond,
		Downtime: 300 * time.Millisecond, Deploy: 100 * time.Millisecond, CheckpointInterval: time.Second,
	})
	_, err := c.Start()
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// brisk is a policy with windows of seconds.
func brisk(more map[string]string) map[string]string {
	p := map[string]string{
		"job.autoscaler.interval":                     "1 s",
		"job.autoscaler.metrics.window":               "4 s",
		"job.autoscaler.stabilization.interval":       "1 s",
		"job.autoscaler.restart.time":                 "2 s",
		"job.autoscaler.catch-up.duration":            "30 s",
		"job.autoscaler.scale-down.interval":          "3 s",
		"job.autoscaler.metrics.busy-time.aggregator": "AVG",
		"job.autoscaler.vertex.max-parallelism":       "8",
		"job.autoscaler.rescale.verify-timeout":       "30 s",
		"job.autoscaler.rescale.backoff":              "3 s",
	}
	for k, v := range more {
		p[k] = v
	}
	return p
}

// size is that of the simulated job.
func size(s workflows.Status) int { return managed.Size(s, "enrich") }

func rests(s workflows.Status) bool { return s.Rescale == nil && managed.Settled(s) }

// TestMainJob is the thin line through all floors: tctl starts it, it scales
// up and down, orders are obeyed, everything is shown.
func TestMainJob(t *testing.T) {
	t.Parallel()
	c := sim(t, 1200)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(nil))
	r.await(job, "a quiet start", rests)

	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	r.await(job, "growth", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
	must(t, c.SetLoad(job, flinksim.Constant(800)))
	r.await(job, "shrinking", func(s workflows.Status) bool { return size(s) <= 2 && rests(s) })

	t.Run("started twice is one workflow", func(t *testing.T) {
		r.start(job, brisk(map[string]string{"job.autoscaler.vertex.max-parallelism": "1"}))
		if s := r.await(job, "the running one", rests); s.Runs != 1 || s.Cycle < 5 {
			t.Errorf("it was started anew: cycle %d, run %d", s.Cycle, s.Runs)
		}
		out := r.starter("start", "--cluster", r.cluster, "--job", job)
		if !strings.Contains(out, "already running") {
			t.Errorf("the starter says\n%s", out)
		}
	})
	t.Run("paused writes nothing", func(t *testing.T) {
		r.tctl("workflow", "signal", "--wid", r.workflow(), "--name", workflows.MsgPause)
		r.await(job, "the pause", func(s workflows.Status) bool { return s.State == workflows.Paused })
		before := len(c.Writes())
		must(t, c.SetLoad(job, flinksim.Constant(3000)))
		s := r.await(job, "a wish while paused", func(s workflows.Status) bool {
			for _, v := range s.Vertices {
				if v.Wanted > v.Parallelism {
					return s.Reason == core.ReasonPaused
				}
			}
			return false
		})
		r.await(job, "five more cycles", func(now workflows.Status) bool { return now.Cycle >= s.Cycle+5 })
		if n := len(c.Writes()) - before; n != 0 {
			t.Errorf("%d writes while paused", n)
		}
		r.starter("resume", r.name())
		r.await(job, "growth after the pause", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
	})
	t.Run("override with an end", func(t *testing.T) {
		out := r.temporal("workflow", "update", "execute", "--workflow-id", r.workflow(), "--name", workflows.MsgOverride, "--input", `{"vertices": {"enrich": 6}, "for": "8 s", "by": "ann"}`)
		if !strings.Contains(out, "override is set") {
			t.Errorf("the update answers\n%s", out)
		}
		r.await(job, "size 6", func(s workflows.Status) bool { return size(s) == 6 && s.Rescale == nil && s.Override != nil })
		r.await(job, "the end of the override", func(s workflows.Status) bool { return s.Override == nil && rests(s) })
	})
	t.Run("malformed messages are harmless", func(t *testing.T) {
		r.tctl("workflow", "signal", "--wid", r.workflow(), "--name", workflows.MsgOverride, "--input", `{"parallelism": "lots"}`)
		r.tctl("workflow", "signal", "--wid", r.workflow(), "--name", workflows.MsgPause, "--input", `[1]`)
		s := r.await(job, "both to be shown", func(s workflows.Status) bool { return len(s.Rejected) == 2 })
		r.await(job, "the loop to go on", func(now workflows.Status) bool {
			return now.Cycle > s.Cycle+2 && now.Pause == nil && now.Override == nil
		})
		out, err := r.command(bin.temporal, "workflow", "update", "execute", "--workflow-id", r.workflow(), "--name", workflows.MsgOverride, "--input", `{"parallelism": 0, "whom": "me"}`)
		if err == nil || !strings.Contains(out, "override.parallelism") || !strings.Contains(out, "override.whom") {
			t.Errorf("a bad update: %v\n%s", err, out)
		}
	})
	t.Run("what is shown", func(t *testing.T) { shown(t, r) })
	t.Run("cancel leaves the job as it is", func(t *testing.T) {
		before := len(c.Writes())
		r.starter("stop", r.name(), "--yes")
		must(t, r.ended(r.workflow()))
		if n := len(c.Writes()) - before; n != 0 {
			t.Errorf("%d writes by stopping", n)
		}
	})
}

// shown looks at everything an operator looks at.
func shown(t *testing.T, r *rig) {
	r.await(job, "rest", rests)
	for args, want := range map[string]string{
		"list":                            r.name(),
		"status " + r.name():              "enrich",
		"explain " + r.name():             "at full load",
		"history " + r.name():             "applied",
		"policy " + r.name():              "job.autoscaler.metrics.window",
		"list -o json":                    `"` + r.cluster + `"`,
		"status " + r.name() + " -o json": `"flinkJobId"`,
	} {
		if out := r.starter(strings.Fields(args)...); !strings.Contains(out, want) {
			t.Errorf("flinkscaler %s: no %q in\n%s", args, want, out)
		}
	}
	meta := r.temporal("workflow", "metadata", "--workflow-id", r.workflow())
	for _, want := range []string{"| vertex | parallelism |", "Pin the size"} {
		if !strings.Contains(meta, want) {
			t.Errorf("workflow metadata: no %q in\n%s", want, meta)
		}
	}
	if out := r.temporal("workflow", "describe", "--workflow-id", r.workflow()); !strings.Contains(out, workflows.AttrState) {
		t.Errorf("search attributes are not set:\n%s", out)
	}
	metrics := r.get("/metrics")
	for _, want := range []string{"flink_autoscaler_decisions_total", `outcome="applied"`, "flink_autoscaler_last_decision_age_seconds"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics: no %q", want)
		}
	}
	if !r.Worker.Wrote("job=" + r.name() + " event=ScalingReport") {
		t.Error("the worker's log shows no scaling report")
	}
	if out := r.get("/readyz"); !strings.Contains(out, "ok") {
		t.Errorf("/readyz: %s", out)
	}
}

func (r *rig) get(path string) string {
	r.t.Helper()
	resp, err := http.Get(r.HTTP() + path)
	must(r.t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	must(r.t, err)
	return string(b)
}

// ended waits until a workflow is closed.
func (r *rig) ended(id string) error {
	err := r.Client.GetWorkflow(r.t.Context(), id, "").Get(r.t.Context(), nil)
	if err != nil && strings.Contains(err.Error(), "canceled") {
		return nil
	}
	return err
}

// TestBadInputFailsAtOnce: every problem in one error, seen by tctl's user.
func TestBadInputFailsAtOnce(t *testing.T) {
	t.Parallel()
	r := shared(t, sim(t, 100).URL(), 0)
	r.tctl("workflow", "start", "--tq", workflows.TaskQueue, "--wt", workflows.ScaleName, "--wid", "my-job", "--input", `{"cluster": "prod", "job": "orders", "polcy": {}}`)
	err := r.Client.GetWorkflow(t.Context(), "my-job", "").Get(t.Context(), nil)
	for _, want := range []string{"polcy: unknown field", `unknown cluster "prod"; this worker's configuration knows ` + strings.Join(slots(), ", "), `must be "flink/prod/orders"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestFaultsHold: whatever Flink answers, nothing gets smaller, and the reason
// is named.
func TestFaultsHold(t *testing.T) {
	t.Parallel()
	c := sim(t, 1200)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(map[string]string{"job.autoscaler.scale-down.interval": "0 s"}))
	r.await(job, "a quiet start", rests)
	before := len(c.Writes())
	for _, mode := range flinksim.Unavailabilities() {
		if mode == "" {
			continue
		}
		c.SetUnavailable(mode)
		held := r.await(job, "a hold while Flink is "+string(mode), func(s workflows.Status) bool { return s.State == workflows.Blocked })
		t.Logf("%s: %s (%s)", mode, held.Reason, held.Note)
		c.SetUnavailable("")
		r.starter("evaluate-now", r.name())
		r.await(job, "evidence again", rests)
	}
	c.HangTaskManager(true)
	r.await(job, "a hold on frozen metrics", func(s workflows.Status) bool {
		return s.Reason == core.ReasonMetricsFrozen || s.Reason == core.ReasonTMSilent
	})
	c.HangTaskManager(false)
	r.await(job, "evidence after the freeze", rests)
	if n := len(c.Writes()) - before; n != 0 {
		t.Errorf("%d writes on bad data: %+v", n, c.Writes()[before:])
	}

	must(t, c.CancelJob(job))
	r.await(job, "job-gone", func(s workflows.Status) bool { return s.State == workflows.JobGone })
	id, err := c.Resubmit(job)
	must(t, err)
	r.starter("evaluate-now", r.name())
	r.await(job, "the job under its new id", func(s workflows.Status) bool { return s.FlinkJobID == id && rests(s) })
}

// TestNothingIsLostOverContinueAsNew: a burst of orders into a workflow that
// continues as new every second cycle; each has its effect, once (I9).
func TestNothingIsLostOverContinueAsNew(t *testing.T) {
	t.Parallel()
	const burst = 150
	c := sim(t, 1200)
	r := shared(t, c.URL(), 2)
	r.start(job, brisk(nil))
	r.await(job, "a quiet start", rests)
	for i := range burst {
		name, order := workflows.MsgPause, map[string]any{"id": fmt.Sprint("order-", i), "for": "1 h", "by": fmt.Sprint("person-", i)}
		if i%2 == 1 {
			name, order = workflows.MsgResume, map[string]any{"id": fmt.Sprint("order-", i)}
		}
		must(t, r.Client.SignalWorkflow(t.Context(), r.workflow(), "", name, order))
	}
	s := r.await(job, "all orders", func(s workflows.Status) bool { return s.Orders >= burst })
	after := r.await(job, "two more runs", func(now workflows.Status) bool { return now.Runs > s.Runs+2 })
	if after.Orders != burst || after.Pause != nil || after.Runs < 5 {
		t.Errorf("%d orders of %d, pause %v, run %d", after.Orders, burst, after.Pause, after.Runs)
	}
	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	r.await(job, "growth over all these runs", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
}

// TestTerminatedParent: the saga ends by itself, and a workflow started again
// adopts its outcome and goes on with the attempt numbers.
func TestTerminatedParent(t *testing.T) {
	t.Parallel()
	c := sim(t, 1200)
	r := shared(t, c.URL(), 0)
	r.start(job, brisk(nil))
	r.await(job, "a quiet start", rests)
	reached := make(chan struct{})
	release := make(chan struct{})
	r.proxy.OnWrite(func() { close(reached); <-release }, nil)
	r.starter("override", r.name(), "--parallelism", "3")
	<-reached
	r.tctl("workflow", "terminate", "--wid", r.workflow(), "--reason", "test")
	r.start(job, brisk(nil))
	r.await(job, "the open rescale to be adopted", func(s workflows.Status) bool { return s.Rescale != nil && s.Rescale.Attempt == 1 })
	close(release)
	s := r.await(job, "its outcome", func(s workflows.Status) bool { return s.LastRescale != nil })
	if s.LastRescale.Kind != core.Applied || s.LastRescale.Attempt != 1 || len(c.Writes()) != 1 {
		t.Errorf("adopted %+v, writes %d", s.LastRescale, len(c.Writes()))
	}
	r.starter("override", r.name(), "--parallelism", "2")
	r.await(job, "the next attempt", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Attempt == 2 })
}
