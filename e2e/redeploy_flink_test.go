//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// realSession is a real session cluster under the default scheduler. The job
// takes the size of its slow vertex as an argument: Flink 2 ignores every other
// way to give it one.
func realSession(t *testing.T, version string) (*session, *real) {
	t.Helper()
	f := newReal(t, flinklocal.Options{
		Version: version, TaskManagers: 1, Slots: 6,
		Config: map[string]string{"jobmanager.scheduler": "default", "execution.checkpointing.interval": "2 s"},
	})
	f.rate(500)
	jar, err := testjob.Jar()
	must(t, err)
	args := func(size string) []string {
		return []string{"--rate-file", f.rates.Path(), "--splits", testSplit, "--cost-us", "1000", "--name", job, "--max-parallelism", "24", "--slow-parallelism", size}
	}
	f.id, err = f.Submit(t.Context(), jar, flinklocal.JobOptions{Name: job, Parallelism: 1, Args: args("1")})
	must(t, err)
	must(t, f.WaitRunning(t.Context(), f.id))
	r := newRig(t, f.URL(), rigOptions{redeploy: map[string]any{
		"savepoints": "file://" + t.TempDir(),
		"jobs":       map[string]any{job: map[string]any{"jar": filepath.Base(jar), "args": args("${parallelism:slow}"), "parallelism": 1}},
	}})
	return &session{
		rig: r, vertex: slowVertex, size: slow,
		jobs:     func(t *testing.T) map[string]string { return flinkJobs(t, f.URL()) },
		restored: func(t *testing.T, id string) string { return flinkRestored(t, f.URL(), id) },
	}, f
}

// TestRedeployOnFlink: a job under the default scheduler grows with its load,
// works off its lag with its state kept, and shrinks again.
func TestRedeployOnFlink(t *testing.T) {
	for _, version := range []string{toolcache.Flink2, toolcache.Flink1} {
		t.Run(version, func(t *testing.T) {
			t.Parallel() // both wait, most of the time
			s, f := realSession(t, version)
			s.start(job, managed.Quick(map[string]string{"job.autoscaler.redeploy.enabled": "true"}))
			s.await(job, "a quiet start", managed.Settled)
			f.rate(2200)
			up := s.await(job, "growth", func(st workflows.Status) bool { return slow(st) >= 3 && managed.Settled(st) })
			s.check(t, up, core.Applied)
			t.Attr("without_the_job", up.LastRescale.RunningAt.Sub(up.LastRescale.WrittenAt).String())
			s.await(job, "the lag to drain", func(st workflows.Status) bool { return lag(st) < 2200 && managed.Settled(st) })
			f.rate(300)
			down := s.await(job, "a smaller size", func(st workflows.Status) bool { return slow(st) <= 2 && managed.Settled(st) })
			s.check(t, down, core.Applied)
			for _, o := range s.history(job).Rescales {
				if o.Kind != core.Applied || o.Redeploy == nil {
					t.Errorf("outcome %+v", o)
				}
			}
			if n := len(s.proxy.Taken()); n != 0 {
				t.Errorf("%d requirements were written", n)
			}
		})
	}
}

// TestRedeployKilledAtEachStepOnFlink: kill -9 of the worker at each step, and the
// end of the parent in the middle. Each change ends, and exactly one job runs.
func TestRedeployKilledAtEachStepOnFlink(t *testing.T) {
	s, _ := realSession(t, toolcache.Flink2)
	policy := managed.Quick(map[string]string{"job.autoscaler.redeploy.enabled": "true", "job.autoscaler.utilization.min": "0"})
	s.start(job, policy)
	s.await(job, "a quiet start", managed.Settled)
	from, to := 1, 2
	for name := range steps() {
		if !t.Run(name, func(t *testing.T) { s.killAt(t, name, from, to) }) {
			return // nothing after it would tell anything
		}
		from, to = to, from
	}
	for _, name := range []string{"the stop's answer lost", "the result told to nobody", "the submission's answer"} {
		t.Run("the parent is terminated: "+name, func(t *testing.T) { s.terminateAt(t, name, policy, from, to) })
		from, to = to, from
	}
}
