//go:build e2e

package testjob_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestExactlyOnceIsChecked: a job goes on from a savepoint without complaint, but not when each record has another
// number than before, which is as if some were lost and others doubled.
func TestExactlyOnceIsChecked(t *testing.T) {
	cluster, err := flinklocal.Start(t.Context(), flinklocal.Options{
		Slots: 2, Log: os.Stderr,
		Config: map[string]string{"jobmanager.scheduler": "default", "restart-strategy.type": "none"},
	})
	must(t, err)
	t.Cleanup(func() { must(t, cluster.Close()) })
	rates, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	must(t, err)
	must(t, rates.Set(1000))
	jar, err := testjob.Jar()
	must(t, err)
	run := func(splits, savepoint string) string {
		options := flinklocal.JobOptions{Args: []string{"--rate-file", rates.Path(), "--cost-us", "100", "--exact", "true", "--splits", splits}}
		if savepoint != "" {
			options.Config = map[string]string{"execution.state-recovery.path": savepoint}
		}
		id, err := cluster.Submit(t.Context(), jar, options)
		must(t, err)
		return id
	}
	worked := func(id string) {
		must(t, cluster.WaitJob(t.Context(), id, "every key to have records", func(j flinklocal.Job) bool {
			slow, _ := j.Vertex("slow")
			return j.AllRunning() && slow.Metrics.ReadRecords > 5000
		}))
	}
	id := run("24", "")
	worked(id)
	savepoint := stop(t, cluster, id)
	id = run("24", savepoint)
	worked(id)
	must(t, cluster.Cancel(t.Context(), id))

	id = run("12", savepoint)
	must(t, cluster.WaitJob(t.Context(), id, "the job to fail", func(j flinklocal.Job) bool { return j.State == "FAILED" }))
	var failures struct {
		History struct{ Entries []struct{ Stacktrace string } } `json:"exceptionHistory"`
	}
	must(t, cluster.Get(t.Context(), "/jobs/"+id+"/exceptions", &failures))
	if len(failures.History.Entries) == 0 || !strings.Contains(failures.History.Entries[0].Stacktrace, "Not exactly once: record ") {
		t.Errorf("the job failed of %+v", failures)
	}
}

// stop ends a job with a savepoint and returns where that is.
func stop(t *testing.T, cluster *flinklocal.Cluster, id string) (savepoint string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"targetDirectory": "file://" + t.TempDir(), "drain": false})
	must(t, err)
	response, err := http.Post(cluster.URL()+"/jobs/"+id+"/stop", "application/json", bytes.NewReader(body))
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	must(t, err)
	var trigger struct {
		ID string `json:"request-id"`
	}
	must(t, json.Unmarshal(answer, &trigger))
	must(t, child.WaitFor(t.Context(), "the savepoint", func(ctx context.Context) (string, bool, error) {
		var result struct {
			Status    struct{ ID string }
			Operation struct{ Location string }
		}
		err := cluster.Get(ctx, "/jobs/"+id+"/savepoints/"+trigger.ID, &result)
		savepoint = result.Operation.Location
		return result.Status.ID, savepoint != "", err
	}))
	return savepoint
}
