//go:build integration

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// simMain is a program that takes the size of its middle vertex, up to 6.
func simMain(args []string) (flinksim.JobSpec, error) {
	p, err := strconv.Atoi(args[0])
	if err == nil && p > 6 {
		err = fmt.Errorf("--enrichers: must be at most 6, got %d", p)
	}
	v := flinksim.DefaultVertices()
	v[1].Parallelism = p
	return flinksim.JobSpec{Name: job, Vertices: v, NotAdaptive: true}, err
}

// simSession is a simulated session cluster under the default scheduler, with
// savepoints in a directory, by default one of the test.
func simSession(t *testing.T, o flinksim.Options, load float64, savepoints string) (*session, *flinksim.Cluster) {
	t.Helper()
	o.FetchInterval, o.FetchTime, o.GaugeSpan, o.CacheTime = 300*time.Millisecond, 20*time.Millisecond, 2*time.Second, 200*time.Millisecond
	o.Downtime, o.Deploy, o.CheckpointInterval = 300*time.Millisecond, 100*time.Millisecond, time.Second
	c := flinksim.New(o)
	_, err := c.Start()
	must(t, err)
	t.Cleanup(c.Close)
	c.AddJar("orders.jar", simMain)
	spec, err := simMain([]string{"2"})
	must(t, err)
	spec.Load = flinksim.Constant(load)
	c.AddJob(spec)
	if savepoints == "" {
		savepoints = "file://" + t.TempDir()
	}
	r := newRig(t, c.URL(), rigOptions{redeploy: map[string]any{
		"savepoints": savepoints,
		"jobs":       map[string]any{job: map[string]any{"jar": "orders.jar", "args": []any{"${parallelism:enrich}"}}},
	}})
	return &session{
		rig: r, vertex: "enrich", size: size,
		jobs:     func(t *testing.T) map[string]string { return flinkJobs(t, c.URL()) },
		restored: func(t *testing.T, id string) string { return flinkRestored(t, c.URL(), id) },
	}, c
}

func redeployPolicy(more map[string]string) map[string]string {
	p := brisk(more)
	p["job.autoscaler.redeploy.enabled"] = "true"
	return p
}

// TestRedeploy: a job whose scheduler is not adaptive grows and shrinks by full
// stops, its state kept; without the key it is only watched.
func TestRedeploy(t *testing.T) {
	t.Parallel()
	s, c := simSession(t, flinksim.Options{}, 1200, "")
	s.start(job, brisk(nil))
	s.await(job, "a quiet start", rests)
	must(t, c.SetLoad(job, flinksim.Constant(3000)))
	held := s.await(job, "a hold that says what to set", func(st workflows.Status) bool { return st.Reason == core.ReasonNotAdaptive })
	if !strings.Contains(held.Note, "job.autoscaler.redeploy.enabled") || len(c.Posts()) != 0 {
		t.Errorf("held: %s; posts %v", held.Note, c.Posts())
	}
	s.starter("set-policy", "dev/"+job, "--policy", "redeploy.enabled=true")
	up := s.await(job, "growth", func(st workflows.Status) bool { return size(st) >= 4 && rests(st) })
	s.check(t, up, core.Applied)
	must(t, c.SetLoad(job, flinksim.Constant(800)))
	down := s.await(job, "shrinking", func(st workflows.Status) bool { return size(st) <= 2 && rests(st) })
	s.check(t, down, core.Applied)
	if out := s.starter("status", "dev/"+job); !strings.Contains(out, "redeployed as job") {
		t.Errorf("the status says nothing of a full stop:\n%s", out)
	}
	for _, d := range s.history(job).Decisions {
		if d.Verdict == core.Change && d.At.After(held.LastDecisionAt) && !strings.Contains(d.Note, "by a redeploy: the job is stopped with a savepoint") {
			t.Errorf("a decision says nothing of a full stop: %s", d.Note)
		}
	}
	v, err := c.View(job)
	must(t, err)
	if v.Lag > 3000 {
		t.Errorf("%f records were lost or left: the state was not kept", v.Lag)
	}
}

// TestRedeployKilled: the worker is killed where answers are lost; the change ends
// all the same, and exactly one job runs. A real Flink sees all steps.
func TestRedeployKilled(t *testing.T) {
	t.Parallel()
	s, _ := simSession(t, flinksim.Options{SavepointTime: 1500 * time.Millisecond}, 500, "")
	policy := redeployPolicy(map[string]string{"job.autoscaler.scale-down.interval": "1 h", "job.autoscaler.utilization.min": "0"})
	s.start(job, policy)
	s.await(job, "a quiet start", func(st workflows.Status) bool { return st.Cycle > 2 && size(st) == 2 })
	from, to := 2, 3
	for _, name := range []string{"the result told to nobody", "the submission's answer"} {
		t.Run(name, func(t *testing.T) { s.killAt(t, name, from, to) })
		from, to = to, from
	}
	t.Run("the parent is terminated", func(t *testing.T) { s.terminateAt(t, "the stop's answer lost", policy, from, to) })
}

// TestRedeployWithoutAnswers: the JobManager forgets the stop while nobody looks,
// and answers neither the stop nor the submission.
func TestRedeployWithoutAnswers(t *testing.T) {
	t.Parallel()
	lost := map[string]bool{}
	s, c := simSession(t, flinksim.Options{AfterPost: func(path string) flinksim.Unavailability {
		end := path[strings.LastIndex(path, "/"):]
		if lost[end] {
			return flinksim.Available
		}
		lost[end] = true
		return flinksim.Reset
	}}, 500, "")
	s.start(job, redeployPolicy(map[string]string{"job.autoscaler.utilization.min": "0"}))
	s.await(job, "a quiet start", func(st workflows.Status) bool { return st.Cycle > 2 && size(st) == 2 })
	reached := make(chan struct{})
	s.proxy.On(steps()["the stop's answer lost"].matches, nil, func() {
		must(t, s.Worker.Kill())
		close(reached)
	})
	s.override(t, "3")
	await(t, reached, "the stop")
	must(t, child.WaitFor(t.Context(), "the job to end while nobody looks", func(context.Context) (string, bool, error) {
		v, err := c.View(job)
		return v.State, v.State == "FINISHED", err
	}))
	c.ForgetStops()
	s.launchWorker()
	s.reaches(t, 3, 1)
}

// TestRedeployGoesBack: the program refuses its new size after the job was
// stopped; the size before runs, from the same savepoint.
func TestRedeployGoesBack(t *testing.T) {
	t.Parallel()
	s, _ := simSession(t, flinksim.Options{}, 500, "")
	s.start(job, redeployPolicy(map[string]string{"job.autoscaler.utilization.min": "0"}))
	s.await(job, "a quiet start", rests)
	s.override(t, "7")
	st := s.await(job, "the size before", func(st workflows.Status) bool {
		return st.LastRescale != nil && st.LastRescale.Redeploy != nil && st.Rescale == nil && st.FlinkJobID == st.LastRescale.JobID && size(st) == 2
	})
	s.check(t, st, core.Undone)
	if o := st.LastRescale; o.Reason != core.ReasonRefused || !strings.Contains(o.Note, "must be at most 6") || o.Undo == nil || o.Undo.Kind != core.Applied {
		t.Errorf("outcome %+v, undo %+v", o, o.Undo)
	}
}
