//go:build integration || e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/proxy"
	"flinkscaler/internal/stack"
	"flinkscaler/workflows"
)

// patience is how long a condition may take: machines are shared and slow.
const patience = 3 * time.Minute

// rig is a whole installation: Temporal server, worker, a proxy in front of
// Flink that counts and can hold writes.
type rig struct {
	*stack.Stack
	t *testing.T
	// cluster is the name under which the worker knows the Flink cluster.
	cluster string
	dir     string
	proxy   *proxy.Proxy
}

// name, workflow and rescale are the names of the job for the starter, of its
// workflow, and of that of its rescales.
func (r *rig) name() string     { return r.cluster + "/" + job }
func (r *rig) workflow() string { return "flink/" + r.name() }
func (r *rig) rescale() string  { return "flink-rescale/" + r.cluster + "/flink/" + job }

// rigOptions say how an installation differs from the plain one.
type rigOptions struct {
	attributes   bool
	cyclesPerRun int
	// redeploy is that section of the cluster, nil for none.
	redeploy map[string]any
	// share is what jobs have together, nil for no limit.
	share map[string]any
}

// newRig starts everything for a Flink cluster at the given address.
func newRig(t *testing.T, flinkURL string, o rigOptions) *rig {
	t.Helper()
	r := &rig{t: t, cluster: "dev", dir: t.TempDir(), proxy: proxy.New(func() string { return flinkURL })}
	t.Cleanup(r.proxy.Close)
	section := map[string]any{"url": r.proxy.URL(), "timeout": "5 s"}
	if o.redeploy != nil {
		section["redeploy"] = o.redeploy
	}
	cluster := map[string]any{"flink": section}
	if o.share != nil {
		cluster["share"] = o.share
	}
	var err error
	r.Stack, err = stack.Start(t.Context(), stack.Options{
		Dir: r.dir, Worker: bin.worker, Attributes: o.attributes, CyclesPerRun: o.cyclesPerRun,
		Clusters: map[string]any{r.cluster: cluster},
	})
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("worker: %s", r.Worker.Tail())
		}
		must(t, r.Close())
	})
	return r
}

// launchWorker starts the worker again after it was killed.
func (r *rig) launchWorker() { r.t.Helper(); must(r.t, r.Worker.Launch()) }

// command runs a program against the rig's server and gives its output.
func (r *rig) command(path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), r.Env()...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *rig) tctl(args ...string) string {
	r.t.Helper()
	return r.mustRun(bin.tctl, args...)
}

func (r *rig) temporal(args ...string) string {
	r.t.Helper()
	return r.mustRun(bin.temporal, args...)
}

func (r *rig) starter(args ...string) string {
	r.t.Helper()
	return r.mustRun(bin.starter, args...)
}

func (r *rig) mustRun(path string, args ...string) string {
	r.t.Helper()
	out, err := r.command(path, args...)
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", filepath.Base(path), strings.Join(args, " "), err, out)
	}
	return out
}

// start starts the workflow of a job with tctl, as an operator does.
func (r *rig) start(job string, policy map[string]string) {
	r.t.Helper()
	b, err := json.Marshal(map[string]any{"cluster": r.cluster, "job": job, "policy": policy})
	must(r.t, err)
	r.tctl("workflow", "start", "--tq", workflows.TaskQueue, "--wt", workflows.ScaleName, "--wid", "flink/"+r.cluster+"/"+job, "--input", string(b))
}

func (r *rig) key(job string) core.JobKey { return core.JobKey{Cluster: r.cluster, Job: job} }

// query asks a running workflow.
func (r *rig) query(ctx context.Context, job, name string, to any) error {
	return r.Query(ctx, r.key(job), name, to)
}

// await waits until a job's status is as wished.
func (r *rig) await(job, what string, wished func(workflows.Status) bool) workflows.Status {
	r.t.Helper()
	return r.awaitFor(patience, job, what, wished)
}

func (r *rig) awaitFor(limit time.Duration, job, what string, wished func(workflows.Status) bool) workflows.Status {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	last, err := managed.Await(ctx, r.Stack, r.key(job), what, wished)
	must(r.t, err)
	return last
}

// history gives decisions and rescales.
func (r *rig) history(job string) workflows.History {
	r.t.Helper()
	var h workflows.History
	must(r.t, r.query(r.t.Context(), job, workflows.QueryHistory, &h))
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("waited %s for %s", patience, what)
	}
}
