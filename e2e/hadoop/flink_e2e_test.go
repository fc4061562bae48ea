//go:build e2e

package hadoop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

func timed(t *testing.T, what string, do func() error) {
	t.Helper()
	began := time.Now()
	must(t, do())
	t.Logf("%s took %s", what, time.Since(began).Round(100*time.Millisecond))
}

func send(t *testing.T, method, url string, body any) string {
	t.Helper()
	encoded, err := json.Marshal(body)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(encoded))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	var answer bytes.Buffer
	_, err = answer.ReadFrom(response.Body)
	must(t, err)
	if response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s: %s", method, url, response.Status, answer.String())
	}
	return answer.String()
}

// rescale asks for another size of all vertices through the proxy of the active ResourceManager.
func rescale(t *testing.T, app *hadoop.App, size int) {
	t.Helper()
	jobID, err := app.JobID(t.Context())
	must(t, err)
	var wanted map[string]map[string]map[string]int
	must(t, app.Get(t.Context(), "/jobs/"+jobID+"/resource-requirements", &wanted))
	for id := range wanted {
		wanted[id]["parallelism"]["upperBound"] = size
	}
	active, err := shared.Active(t.Context())
	must(t, err)
	send(t, http.MethodPut, active.URL()+"/proxy/"+app.ID+"/jobs/"+jobID+"/resource-requirements", wanted)
	must(t, app.WaitOnlyJob(t.Context(), fmt.Sprintf("all tasks at %d", size), func(j flinklocal.Job) bool {
		for _, v := range j.Vertices {
			if v.Parallelism != size {
				return false
			}
		}
		return j.AllRunning()
	}))
}

// stop ends the job with a savepoint and returns where that is. The first look at the result ends the application.
func stop(t *testing.T, flink *hadoop.Flink, app *hadoop.App) (savepoint string) {
	t.Helper()
	jobID, err := app.JobID(t.Context())
	must(t, err)
	url, err := app.URL(t.Context())
	must(t, err)
	trigger := strings.Repeat("a", 32)
	send(t, http.MethodPost, url+"/jobs/"+jobID+"/stop", map[string]any{"targetDirectory": flink.Savepoints(), "drain": false, "triggerId": trigger})
	await(t, "the savepoint", func(ctx context.Context) (string, bool) {
		var result struct {
			Status    struct{ ID string }
			Operation struct{ Location string }
		}
		if err := app.Get(ctx, "/jobs/"+jobID+"/savepoints/"+trigger, &result); err != nil {
			return err.Error(), false
		}
		savepoint = result.Operation.Location
		return result.Status.ID, result.Status.ID == "COMPLETED"
	})
	must(t, app.WaitState(t.Context(), "FINISHED"))
	return savepoint
}

// first is the number of the first record that the job got since it last started; it fails when none came yet.
func first(t *testing.T, app *hadoop.App) (record float64) {
	t.Helper()
	jobID, err := app.JobID(t.Context())
	must(t, err)
	var job flinklocal.Job
	must(t, app.Get(t.Context(), "/jobs/"+jobID, &job))
	slow, _ := job.Vertex("slow")
	await(t, "the first record", func(ctx context.Context) (string, bool) {
		var values []struct{ Min float64 }
		err := app.Get(ctx, "/jobs/"+jobID+"/vertices/"+slow.ID+"/subtasks/metrics?agg=min&get=slow.first", &values)
		if err != nil || len(values) == 0 {
			return fmt.Sprint(values, err), false
		}
		record = values[0].Min
		return "", true
	})
	return record
}

// TestRedeploy: a job stopped with a savepoint goes on from there in another application, with no record lost or doubled,
// for then it would fail for good.
func TestRedeploy(t *testing.T) {
	ctx := t.Context()
	flink, err := shared.Flink(ctx, hadoop.FlinkOptions{Version: toolcache.Flink1, DefaultScheduler: true})
	must(t, err)
	a := hadoop.Application{Name: "orders", Tags: []string{"fa-orders", "fa-gen-1"}, Args: hadoop.JobArgs(arrivals(t, 500))}
	var app *hadoop.App
	timed(t, "submission", func() (err error) { app, err = flink.Submit(ctx, a); return err })
	active, err := shared.Active(ctx)
	must(t, err)
	sameShape(t, active.URL()+"/ws/v1/cluster/apps/"+app.ID, "app-running.200.json")
	if got := first(t, app); got >= 24 {
		t.Errorf("a new job begins with record %v; want one of the first", got)
	}
	timed(t, "stop to running again", func() (err error) {
		a.Savepoint, a.Tags, a.Parallelism = stop(t, flink, app), []string{"fa-orders", "fa-gen-2"}, 2
		app, err = flink.Submit(ctx, a)
		return err
	})
	if got := first(t, app); got < 500 {
		t.Errorf("the job goes on with record %v; it has had more than 500", got)
	}
	must(t, app.Kill(ctx))
}

// TestSession: a job in a session can be sized in place too.
func TestSession(t *testing.T) {
	ctx := t.Context()
	flink, err := shared.Flink(ctx, hadoop.FlinkOptions{})
	must(t, err)
	var session *hadoop.App
	timed(t, "session", func() (err error) {
		session, err = flink.Session(ctx, hadoop.Application{Name: "many"})
		return err
	})
	timed(t, "its job", func() error {
		_, err := flink.Run(ctx, session, hadoop.Application{Name: "orders", Args: hadoop.JobArgs(arrivals(t, 100))})
		return err
	})
	rescale(t, session, 2)
	must(t, session.Kill(ctx))
}
