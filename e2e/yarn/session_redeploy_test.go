//go:build e2e

package yarn_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// shared is a session under the default scheduler, one job of it, and an installation
// that manages the job.
type shared struct {
	*rig
	session *hadoop.App
	key     core.JobKey
	rates   *flinklocal.RateFile
	// id is that of the job when it was first submitted.
	id string
}

// jobInASession starts one. The job takes the size of its slow vertex as an argument,
// and counts its records: it fails when one is lost or doubled.
func jobInASession(t *testing.T, name string) *shared {
	t.Helper()
	c := onHadoop(t)
	f, err := c.Flink(t.Context(), hadoop.FlinkOptions{Version: toolcache.Flink2, DefaultScheduler: true})
	must(t, err)
	s := &shared{key: core.JobKey{Cluster: "hadoop", Job: name}, rates: load(t, little)}
	s.session, err = f.Session(t.Context(), hadoop.Application{Name: "shared"})
	must(t, err)
	t.Cleanup(func() { must(t, s.session.Kill(context.Background())) })
	savepoints := f.Savepoints() + "/" + name
	_, err = c.FS(t.Context(), "-mkdir", "-p", savepoints)
	must(t, err)

	jar, err := testjob.Jar()
	must(t, err)
	args := func(size string) []string {
		return hadoop.JobArgs(s.rates, "--name", name, "--max-parallelism", "24", "--slow-parallelism", size)
	}
	url, err := s.session.URL(t.Context())
	must(t, err)
	s.id, err = flinklocal.SubmitTo(t.Context(), url, jar, flinklocal.JobOptions{Parallelism: 1, Args: args("1")})
	must(t, err)
	must(t, s.session.WaitJob(t.Context(), s.id, "all of its tasks to run", flinklocal.Job.AllRunning))

	at := yarnCluster(c)
	at["yarn"].(map[string]any)["redeploy"] = map[string]any{
		"savepoints": savepoints,
		"jobs":       map[string]any{name: map[string]any{"jar": filepath.Base(jar), "args": args("${parallelism:slow}"), "parallelism": 1}},
	}
	at["hdfs"] = map[string]any{"configDirectory": c.ConfDir(), "user": c.User()}
	s.rig = newRig(t, map[string]any{"hadoop": at})
	return s
}

// jobs are the states of all jobs of the name, by id.
func (s *shared) jobs(ctx context.Context) (map[string]string, error) {
	var all struct {
		Jobs []struct {
			ID    string `json:"jid"`
			Name  string
			State string
		}
	}
	err := s.session.Get(ctx, "/jobs/overview", &all)
	out := map[string]string{}
	for _, j := range all.Jobs {
		if j.Name == s.key.Job {
			out[j.ID] = j.State
		}
	}
	return out, err
}

// killStopped kills the worker once the job has stopped, and before it is run again:
// what the worker does meanwhile, it does in moments between looks at Flink.
func (s *shared) killStopped(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		must(t, s.Worker.Freeze())
		jobs, err := s.jobs(ctx)
		if err == nil && jobs[s.id] == "FINISHED" {
			must(t, s.Worker.Kill())
			if len(jobs) != 1 || s.Worker.Wrote("submitting the job") {
				t.Fatalf("killed too late, the jobs are %v", jobs)
			}
			return
		}
		must(t, s.Worker.Thaw())
		select {
		case <-ctx.Done():
			t.Fatalf("the job did not stop: %v, %v", jobs, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// checkpointed waits until a job has completed a checkpoint of its own.
func (s *shared) checkpointed(t *testing.T, job string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, "a checkpoint", func(ctx context.Context) (string, bool, error) {
		var all struct{ Counts struct{ Completed int } }
		if err := s.session.Get(ctx, "/jobs/"+job+"/checkpoints", &all); err != nil {
			return err.Error(), false, nil
		}
		return fmt.Sprintf("%d are complete", all.Counts.Completed), all.Counts.Completed > 0, nil
	}))
}

// TestRedeployInASession: under load a job of a session is stopped with a savepoint and
// run from it at twice the size, in the same session, which goes on. The worker is
// killed between the stop and the run, and the job runs once all the same.
func TestRedeployInASession(t *testing.T) {
	s := jobInASession(t, "sums")
	stopping := s.Worker.Count("stopping the job with a savepoint")
	policy := quick("2")
	policy["job.autoscaler.redeploy.enabled"], policy["job.autoscaler.rescale.verify-timeout"] = "true", "4 min"
	s.manage(s.key, core.YarnTarget{ApplicationName: "shared", JobName: s.key.Job}, policy)
	must(t, s.rates.Set(much))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, "the stop", func(context.Context) (string, bool, error) {
		return "", s.Worker.Count("stopping the job with a savepoint") > stopping, nil
	}))
	s.killStopped(t)
	must(t, s.Worker.Launch())

	o := *s.await(s.key, "the new size", func(st workflows.Status) bool {
		return st.Rescale == nil && st.LastRescale != nil && managed.Size(st, testjob.SlowName) == 2
	}).LastRescale
	if o.Kind != core.Applied || o.Cause != core.ReasonScaleUp || o.Redeploy == nil || o.Redeploy.From != s.id || o.Redeploy.To != o.JobID || o.JobID == s.id {
		t.Fatalf("outcome %+v, %+v", o, o.Redeploy)
	}
	t.Attr("from_stop_to_running", o.RunningAt.Sub(o.WrittenAt).String())
	s.checkpointed(t, o.JobID)
	jobs, err := s.jobs(t.Context())
	must(t, err)
	if len(jobs) != 2 || jobs[s.id] != "FINISHED" || jobs[o.JobID] != "RUNNING" {
		t.Errorf("the jobs of that name are %v, want the one before, stopped, and %s", jobs, o.JobID)
	}
	url, err := s.session.URL(t.Context())
	must(t, err)
	isWell(t, url, o, 2)
}
