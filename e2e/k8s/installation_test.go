//go:build e2e

package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/stack"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// cluster is the name under which the worker knows the Kubernetes cluster.
const cluster = "kube"

// worker builds the worker, once.
var worker = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // one build for all tests
	dir, err := os.MkdirTemp("", "flinkscaler-e2e-k8s-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "flinkscaler-worker")
	if out, err := exec.Command("go", "build", "-o", path, "flinkscaler/worker").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return path, nil
})

// installation is flinkscaler as a whole: a Temporal server, and a worker that
// knows the Kubernetes cluster.
type installation struct {
	*stack.Stack
	t    *testing.T
	dir  string
	tctl string
}

func install(t *testing.T) *installation {
	t.Helper()
	path, err := worker()
	must(t, err)
	cache, err := toolcache.Open()
	must(t, err)
	in := &installation{t: t, dir: t.TempDir()}
	in.tctl, err = cache.FindTctl()
	must(t, err)
	in.Stack, err = stack.Start(t.Context(), stack.Options{
		Dir: in.dir, Worker: path,
		Clusters: map[string]any{cluster: map[string]any{"kubernetes": map[string]any{
			"kubeconfig": kubetest.Plane(t).Kubeconfig(),
			"url":        "http://127.0.0.1:{port}", // no kube-proxy here: a Service's name leads nowhere
		}}},
	})
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("worker: %s", in.Worker.Tail())
		}
		must(t, in.Close())
	})
	return in
}

// start starts the workflow of the job behind an object with tctl, as an operator
// does.
func (in *installation) start(job string, target core.KubernetesTarget, policy map[string]string) {
	in.t.Helper()
	b, err := json.Marshal(map[string]any{"cluster": cluster, "job": job, "target": map[string]any{"kubernetes": target}, "policy": policy})
	must(in.t, err)
	ctx, cancel := context.WithTimeout(in.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, in.tctl, "workflow", "start", "--tq", workflows.TaskQueue, "--wt", workflows.ScaleName, "--wid", "flink/"+cluster+"/"+job, "--input", string(b))
	cmd.Env = append(os.Environ(), in.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		in.t.Fatalf("tctl: %v\n%s", err, out)
	}
}

func (in *installation) query(ctx context.Context, job, name string, to any) error {
	return in.Query(ctx, core.JobKey{Cluster: cluster, Job: job}, name, to)
}

// await waits until a job's status is as wished.
func (in *installation) await(job, what string, wished func(workflows.Status) bool) workflows.Status {
	in.t.Helper()
	ctx, cancel := context.WithTimeout(in.t.Context(), patience)
	defer cancel()
	last, err := managed.Await(ctx, in.Stack, core.JobKey{Cluster: cluster, Job: job}, what, wished)
	must(in.t, err)
	return last
}

// history gives decisions and rescales.
func (in *installation) history(job string) workflows.History {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var h workflows.History
	_ = in.query(ctx, job, workflows.QueryHistory, &h) // what cannot be read is empty, and judged so
	return h
}
