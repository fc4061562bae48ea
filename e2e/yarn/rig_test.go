//go:build e2e

package yarn_test

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
	"flinkscaler/internal/stack"
	"flinkscaler/workflows"
)

// patience is how long a condition may take: machines are shared, and an application
// takes half a minute to start on a quiet one.
const patience = 6 * time.Minute

// rig is an installation: a Temporal server and the real worker.
type rig struct {
	*stack.Stack
	t   *testing.T
	dir string
}

// newRig starts one whose worker knows the clusters of its file's section.
func newRig(t *testing.T, clusters map[string]any) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	var err error
	r.Stack, err = stack.Start(t.Context(), stack.Options{Dir: r.dir, Worker: bin.worker, Clusters: clusters})
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("worker: %s", r.Worker.Tail())
		}
		must(t, r.Close())
	})
	return r
}

// run runs a program against the rig's server and gives its output.
func (r *rig) run(path string, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = append(os.Environ(), r.Env()...), r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", filepath.Base(path), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// manage starts the workflow of a job with tctl, as an operator does.
func (r *rig) manage(key core.JobKey, target core.YarnTarget, policy map[string]string) {
	r.t.Helper()
	input, err := json.Marshal(map[string]any{"cluster": key.Cluster, "job": key.Job, "target": map[string]any{"yarn": target}, "policy": policy})
	must(r.t, err)
	r.run(bin.tctl, "workflow", "start", "--tq", workflows.TaskQueue, "--wt", workflows.ScaleName, "--wid", "flink/"+key.String(), "--input", string(input))
}

// await waits until a job's status is as wished. A worker may be down meanwhile.
func (r *rig) await(key core.JobKey, what string, wished func(workflows.Status) bool) workflows.Status {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	last, err := managed.Await(ctx, r.Stack, key, what, wished)
	must(r.t, err)
	return last
}

// history asks for the decisions and rescales of a job.
func (r *rig) history(key core.JobKey) workflows.History {
	r.t.Helper()
	var h workflows.History
	must(r.t, r.Query(r.t.Context(), key, workflows.QueryHistory, &h))
	return h
}
