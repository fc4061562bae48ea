//go:build e2e

package yarn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/workflows"
)

// quick is a policy with short windows, for a job of at most so many subtasks. YARN takes
// its time to start a container on a busy machine.
func quick(most string) map[string]string {
	return managed.Quick(map[string]string{
		"job.autoscaler.vertex.max-parallelism": most, "job.autoscaler.vertex.exclude.ids": testjob.SourceID, "job.autoscaler.rescale.verify-timeout": "2 min",
	})
}

// yarnCluster is a section of the worker's file.
func yarnCluster(c *hadoop.Cluster) map[string]any {
	return map[string]any{"yarn": map[string]any{"resourceManagers": c.ResourceManagerURLs()}}
}

// load is a file of rates for one job.
func load(t *testing.T, perSecond float64) *flinklocal.RateFile {
	t.Helper()
	f, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	must(t, err)
	must(t, f.Set(perSecond))
	return f
}

// signal sends a message with tctl, as an operator does.
func (r *rig) signal(key core.JobKey, name string, input any) {
	r.t.Helper()
	b, err := json.Marshal(input)
	must(r.t, err)
	r.run(bin.tctl, "workflow", "signal", "--wid", "flink/"+key.String(), "--name", name, "--input", string(b))
}

// outcome waits for the n-th rescale of a job to end, counted from 1.
func (r *rig) outcome(key core.JobKey, n int) core.Outcome {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	var h workflows.History
	must(r.t, child.WaitFor(ctx, fmt.Sprintf("rescale %d to end", n), func(ctx context.Context) (string, bool, error) {
		if err := r.Query(ctx, key, workflows.QueryHistory, &h); err != nil {
			return err.Error(), false, nil
		}
		b, err := json.Marshal(h.Rescales)
		return string(b), len(h.Rescales) >= n, err
	}))
	return h.Rescales[n-1]
}

// figures tells what a rescale took.
func (r *rig) figures(what string, o core.Outcome) {
	r.t.Helper()
	took := "it did not run anew"
	if d := o.RunningAt.Sub(o.StartedAt); d > 0 {
		took = fmt.Sprintf("from the decision to running at the new size %.1f s", d.Seconds())
	}
	r.t.Attr(strings.ReplaceAll(what, " ", "_"), fmt.Sprintf("%s: %s", o.Kind, took))
}

// containers waits until YARN shows so many containers of an application, that of the
// ApplicationMaster among them.
func containers(t *testing.T, app *hadoop.App, n int) {
	t.Helper()
	must(t, app.Wait(t.Context(), fmt.Sprintf("with %d containers", n), func(s hadoop.AppStatus) bool { return s.State == "RUNNING" && s.Containers == n }))
}

// nothingWaits waits until YARN has no request left to serve.
func nothingWaits(t *testing.T, c *hadoop.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, "no request to wait", func(ctx context.Context) (string, bool, error) {
		var answer struct {
			Metrics struct {
				Pending int `json:"containersPending"`
			} `json:"clusterMetrics"`
		}
		if err := c.REST(ctx, "/metrics", &answer); err != nil {
			return err.Error(), false, nil
		}
		return fmt.Sprintf("%d containers are asked for", answer.Metrics.Pending), answer.Metrics.Pending == 0, nil
	}))
}
