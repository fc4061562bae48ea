//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// The job of these tests handles 1,000 records/s per subtask of its slow
// vertex, so what it needs is known exactly.
const (
	job       = "orders"
	perTask   = 1000.0
	maxSlots  = 8
	testSplit = "12"
)

// real is a real cluster with the test job on it.
type real struct {
	*flinklocal.Cluster
	t     *testing.T
	rates *flinklocal.RateFile
	id    string
}

func newReal(t *testing.T, o flinklocal.Options) *real {
	t.Helper()
	o.Dir = t.TempDir()
	o.Log = t.Output()
	c, err := flinklocal.Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &real{Cluster: c, t: t}
	r.rates, err = flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	must(t, err)
	return r
}

// submit runs the job anew, at a parallelism, under a new id.
func (r *real) submit(parallelism int, costMicros string) {
	r.t.Helper()
	jar, err := testjob.Jar()
	must(r.t, err)
	r.id, err = r.Submit(r.t.Context(), jar, flinklocal.JobOptions{
		Name: job, Parallelism: parallelism,
		Args: []string{"--rate-file", r.rates.Path(), "--splits", testSplit, "--cost-us", costMicros, "--name", job, "--max-parallelism", "24"},
	})
	must(r.t, err)
	must(r.t, r.WaitRunning(r.t.Context(), r.id))
}

func (r *real) rate(perSecond float64) {
	r.t.Helper()
	must(r.t, r.rates.Set(perSecond))
}

// slow gives the size of the vertex that does the work.
func slow(s workflows.Status) int { return managed.Size(s, testjob.SlowName) }

func lag(s workflows.Status) float64 { return s.Lag.Or(1e9) }

func TestUpAndDown(t *testing.T) {
	for _, version := range []string{toolcache.Flink2, toolcache.Flink1} {
		t.Run(version, func(t *testing.T) {
			t.Parallel() // both wait, most of the time
			upAndDown(t, version)
		})
	}
}

// upAndDown: load rises, the job grows and works off its lag; load falls, it
// shrinks after the delay. Started with tctl.
func upAndDown(t *testing.T, version string) {
	f := newReal(t, flinklocal.Options{Version: version, TaskManagers: 2, Slots: 4})
	f.rate(500)
	f.submit(1, "1000")
	r := newRig(t, f.URL(), rigOptions{})
	r.start(job, managed.Quick(nil))
	r.await(job, "a quiet start", managed.Settled)

	step := time.Now()
	f.rate(2500)
	up := r.await(job, "more than three subtasks for 2,500 records/s", func(s workflows.Status) bool { return slow(s) >= 3 && s.Rescale == nil })
	t.Attr("from_load_to_running", fmt.Sprintf("%.1f s (at %d)", time.Since(step).Seconds(), slow(up)))
	r.await(job, "the lag to drain", func(s workflows.Status) bool { return lag(s) < 2500 && managed.Settled(s) })

	f.rate(500)
	down := r.await(job, "a smaller size for 500 records/s", func(s workflows.Status) bool { return slow(s) <= 2 && s.Rescale == nil })
	t.Logf("down to %d", slow(down))
	for _, o := range r.history(job).Rescales {
		if o.Kind != core.Applied {
			t.Errorf("outcome %+v", o)
		}
	}
	if n, m := len(r.proxy.Taken()), len(r.history(job).Rescales); n != m {
		t.Errorf("%d writes for %d rescales", n, m)
	}
}

// TestKillWorker: kill -9 between decision and apply, and between apply and
// verify: one write in all (I4).
func TestKillWorker(t *testing.T) {
	f := newReal(t, flinklocal.Options{TaskManagers: 2, Slots: 4})
	f.rate(500)
	f.submit(1, "1000")
	r := newRig(t, f.URL(), rigOptions{})
	r.start(job, managed.Quick(nil))
	r.await(job, "a quiet start", managed.Settled)

	t.Run("before the write", func(t *testing.T) {
		reached := make(chan struct{})
		r.proxy.OnWrite(func() { must(t, r.Worker.Kill()); close(reached) }, nil)
		r.temporal("workflow", "signal", "--workflow-id", "flink/dev/"+job, "--name", workflows.MsgOverride, "--input", `{"parallelism": 3}`)
		await(t, reached, "the write to begin")
		r.launchWorker()
		s := r.await(job, "size 3", func(s workflows.Status) bool { return slow(s) == 3 && s.Rescale == nil })
		checkOneWrite(t, r, s, 1)
	})
	t.Run("after the write", func(t *testing.T) {
		reached := make(chan struct{})
		r.proxy.OnWrite(nil, func() { must(t, r.Worker.Kill()); close(reached) })
		r.temporal("workflow", "signal", "--workflow-id", "flink/dev/"+job, "--name", workflows.MsgOverride, "--input", `{"parallelism": 2}`)
		await(t, reached, "Flink to take the write")
		r.launchWorker()
		s := r.await(job, "size 2", func(s workflows.Status) bool { return slow(s) == 2 && s.Rescale == nil })
		checkOneWrite(t, r, s, 2)
	})
}

func checkOneWrite(t *testing.T, r *rig, s workflows.Status, writes int) {
	t.Helper()
	if n := len(r.proxy.Taken()); n != writes {
		t.Errorf("Flink took %d writes, want %d: %+v", n, writes, r.proxy.Taken())
	}
	if s.LastRescale == nil || s.LastRescale.Kind != core.Applied || s.LastRescale.Attempt != writes {
		t.Errorf("last rescale: %+v", s.LastRescale)
	}
}

// TestOrders: what operators say is obeyed on a real Flink, and what they
// mistype is harmless.
func TestOrders(t *testing.T) {
	f := newReal(t, flinklocal.Options{Version: toolcache.Flink1, TaskManagers: 2, Slots: 4})
	f.rate(500)
	f.submit(1, "1000")
	r := newRig(t, f.URL(), rigOptions{})
	r.start(job, managed.Quick(nil))
	r.await(job, "a quiet start", managed.Settled)
	writes := len(r.proxy.Taken())

	r.tctl("workflow", "signal", "--wid", "flink/dev/"+job, "--name", workflows.MsgPause)
	r.tctl("workflow", "signal", "--wid", "flink/dev/"+job, "--name", workflows.MsgOverride, "--input", `{"parallelism": "many"}`)
	r.tctl("workflow", "signal", "--wid", "flink/dev/"+job, "--name", workflows.MsgResume, "--input", `"nonsense"`)
	paused := r.await(job, "the pause, and two refusals", func(s workflows.Status) bool { return s.State == workflows.Paused && len(s.Rejected) == 2 })
	f.rate(2500)
	r.await(job, "a wish while paused", func(s workflows.Status) bool {
		for _, v := range s.Vertices {
			if v.Wanted > v.Parallelism {
				return s.Reason == core.ReasonPaused
			}
		}
		return false
	})
	r.start(job, managed.Quick(nil)) // started twice: the running one goes on
	again := r.await(job, "five more cycles", func(s workflows.Status) bool { return s.Cycle > paused.Cycle+5 })
	if again.Runs != 1 || again.Pause == nil {
		t.Errorf("started twice: run %d, pause %v", again.Runs, again.Pause)
	}
	if n := len(r.proxy.Taken()); n != writes {
		t.Errorf("%d writes while paused", n-writes)
	}
	r.temporal("workflow", "signal", "--workflow-id", "flink/dev/"+job, "--name", workflows.MsgResume)
	r.await(job, "growth after the pause", func(s workflows.Status) bool { return slow(s) >= 3 && s.Rescale == nil })
}

// TestKillServer: the Temporal server is killed; everything goes on where it
// was.
func TestKillServer(t *testing.T) {
	f := newReal(t, flinklocal.Options{TaskManagers: 2, Slots: 4})
	f.rate(500)
	f.submit(1, "1000")
	r := newRig(t, f.URL(), rigOptions{})
	r.start(job, managed.Quick(nil))
	before := r.await(job, "a quiet start", managed.Settled)
	r.temporal("workflow", "signal", "--workflow-id", "flink/dev/"+job, "--name", workflows.MsgPause, "--input", `{"by": "ann", "for": "1 h"}`)
	r.await(job, "the pause", func(s workflows.Status) bool { return s.Pause != nil })

	must(t, r.Server.Kill())
	must(t, r.Server.Restart(t.Context()))
	after := r.await(job, "the loop to go on", func(s workflows.Status) bool { return s.Cycle > before.Cycle+2 })
	if after.Pause == nil || after.Pause.By != "ann" || after.Runs != 1 {
		t.Errorf("after the server came back: pause %+v, runs %d", after.Pause, after.Runs)
	}
	r.starter("resume", "dev/"+job)
	f.rate(2500)
	r.await(job, "growth after the server came back", func(s workflows.Status) bool { return slow(s) >= 3 && s.Rescale == nil })
}

// TestJobManagerWithHA: the leader is killed; the job holds, comes back with
// its bounds, and is managed on.
func TestJobManagerWithHA(t *testing.T) {
	f := newReal(t, flinklocal.Options{TaskManagers: 2, Slots: 4, HA: true})
	f.rate(500)
	f.submit(1, "1000")
	leader, err := f.Leader(t.Context())
	must(t, err)
	var standby string
	for _, jm := range f.JobManagers() {
		if jm.Name() != leader.Name() {
			standby = jm.URL()
		}
	}
	r := newRig(t, standby, rigOptions{})
	r.start(job, managed.Quick(nil))
	r.await(job, "a quiet start", managed.Settled)
	r.starter("override", "dev/"+job, "--parallelism", "3", "--by", "test")
	r.await(job, "size 3", func(s workflows.Status) bool { return slow(s) == 3 && s.Rescale == nil })

	must(t, leader.Kill())
	held := r.await(job, "a hold while there is no leader", func(s workflows.Status) bool { return s.State == workflows.Blocked })
	t.Logf("held: %s (%s)", held.Reason, held.Note)
	if held.Reason == core.ReasonJobGone {
		t.Errorf("a failover was taken for a job that is gone: %s", held.Note)
	}
	back := r.await(job, "the job to come back", func(s workflows.Status) bool { return s.State == workflows.Watching && slow(s) == 3 })
	if back.FlinkJobID != held.FlinkJobID {
		t.Errorf("job id changed from %s to %s", held.FlinkJobID, back.FlinkJobID)
	}
	if n := len(r.proxy.Taken()); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
}

// TestJobManagerWithoutHA: the JobManager is killed and the job with it; it
// holds as job-gone, and carries on when the job is submitted again.
func TestJobManagerWithoutHA(t *testing.T) {
	f := newReal(t, flinklocal.Options{TaskManagers: 1, Slots: 4})
	f.rate(500)
	f.submit(1, "1000")
	r := newRig(t, f.URL(), rigOptions{})
	r.start(job, managed.Quick(nil))
	before := r.await(job, "a quiet start", managed.Settled)

	jm := f.JobManagers()[0]
	must(t, jm.Kill())
	r.await(job, "a hold while nothing answers", func(s workflows.Status) bool { return s.Reason == core.ReasonUnreachable })
	must(t, jm.Restart(t.Context()))
	r.await(job, "job-gone", func(s workflows.Status) bool { return s.State == workflows.JobGone })
	must(t, f.WaitSlots(t.Context(), 4))
	f.submit(2, "1000")
	r.starter("evaluate-now", "dev/"+job)
	after := r.await(job, "the job under its new id", func(s workflows.Status) bool { return managed.Settled(s) && s.FlinkJobID == f.id })
	if after.FlinkJobID == before.FlinkJobID || after.Runs != 1 {
		t.Errorf("job id %s before and %s after, runs %d", before.FlinkJobID, after.FlinkJobID, after.Runs)
	}
	f.rate(2500)
	r.await(job, "the new job to grow", func(s workflows.Status) bool { return slow(s) >= 3 && s.Rescale == nil })
}

// TestTaskManagerLost: a TaskManager is killed, or hangs (SIGSTOP): its
// numbers are zeros or stand still. Both never lead to a scale-down, where the
// Java autoscaler makes one.
func TestTaskManagerLost(t *testing.T) {
	// A short catch-up and no delay: the eagerest policy to go down.
	eager := managed.Quick(map[string]string{"job.autoscaler.scale-down.interval": "0 s", "job.autoscaler.vertex.exclude.ids": testjob.SourceID})
	for name, tt := range map[string]struct {
		// web is Flink's web.timeout: some kills freeze all metrics for that
		// long, and a hung one does until it goes on.
		web  time.Duration
		hurt func(*flinklocal.Process) error
		heal func(*testing.T, *flinklocal.Process)
	}{
		"killed": {20 * time.Second, (*flinklocal.Process).Kill, func(t *testing.T, p *flinklocal.Process) { must(t, p.Restart(t.Context())) }},
		"hung":   {10 * time.Minute, (*flinklocal.Process).Stop, func(t *testing.T, p *flinklocal.Process) { must(t, p.Cont()) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // both wait, most of the time
			f := newReal(t, flinklocal.Options{TaskManagers: 2, Slots: 2, WebTimeout: tt.web, Config: map[string]string{"heartbeat.timeout": "60000"}})
			f.rate(2000)
			f.submit(2, "1000")
			r := newRig(t, f.URL(), rigOptions{})
			r.start(job, eager)
			// 2,000 records/s need three subtasks of 1,000 at a target of 70 %.
			r.starter("override", "dev/"+job, "--vertex", slowVertex+"=3", "--by", "test")
			r.await(job, "size 3", func(s workflows.Status) bool { return slow(s) == 3 && s.Rescale == nil })
			r.starter("clear-override", "dev/"+job)
			before := r.await(job, "a settled job", managed.Settled)
			rescales := len(r.history(job).Rescales)

			victim := f.TaskManagers()[1]
			must(t, tt.hurt(victim))
			held := awaitHold(t, r, before.LastDecisionAt)
			t.Logf("held: %s (%s)", held.Reason, held.Note)
			// A row of cycles on bad numbers: longer than the window.
			r.await(job, "ten cycles", func(s workflows.Status) bool { return s.Cycle > before.Cycle+12 })
			tt.heal(t, victim)
			r.await(job, "evidence again", func(s workflows.Status) bool { return managed.Settled(s) || s.Rescale != nil })
			for _, o := range r.history(job).Rescales[rescales:] {
				if p, _ := core.FindSize(o.Wanted, slowID(t, r)); p < 3 {
					t.Errorf("a wrong scale-down to %d: %+v\n%s", p, o, managed.Explain(t.Context(), r.Stack, r.key(job)))
				}
			}
		})
	}
}

// awaitHold waits for a decision, made later than at, that nothing can be
// judged now. It looks at the history: a TaskManager that is killed is missed
// for a few seconds only.
func awaitHold(t *testing.T, r *rig, at time.Time) workflows.Record {
	t.Helper()
	bad := []core.Reason{
		core.ReasonJobNotRunning, core.ReasonTasksNotRunning, core.ReasonMetricsFrozen, core.ReasonIncomplete,
		core.ReasonMetricsMissing, core.ReasonTMSilent, core.ReasonJobRestarted,
	}
	var held workflows.Record
	r.await(job, "a hold that says why", func(workflows.Status) bool {
		for _, d := range r.history(job).Decisions {
			if d.At.After(at) && d.Verdict == core.Hold && slices.Contains(bad, d.Reason) {
				held = d
				return true
			}
		}
		return false
	})
	return held
}

// slowVertex is the full name of the vertex that does the work.
const slowVertex = testjob.SlowName + " -> sink: Writer"

func slowID(t *testing.T, r *rig) string {
	t.Helper()
	var s workflows.Status
	must(t, r.query(t.Context(), job, workflows.QueryStatus, &s))
	for _, v := range s.Vertices {
		if v.Name == slowVertex {
			return v.ID
		}
	}
	t.Fatalf("no vertex %q in %+v", slowVertex, s.Vertices)
	return ""
}
