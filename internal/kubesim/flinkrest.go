package kubesim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// flinkREST is Flink's REST API as an operator uses it.
type flinkREST struct{ url string }

func flinkAt(port int) flinkREST { return flinkREST{"http://127.0.0.1:" + strconv.Itoa(port)} }

// restTimeout is short: everything is on this machine.
const restTimeout = 10 * time.Second

// ask sends a request and decodes the answer; anything but 2xx is an error.
func (f flinkREST) ask(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		send = bytes.NewReader(b)
	}
	q, err := http.NewRequestWithContext(ctx, method, f.url+path, send)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Close = true // the cluster behind the port may be another one next time
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = a.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(a.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if a.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %d %.300s", method, path, a.StatusCode, b)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// flinkJob is an entry of the list of jobs.
type flinkJob struct {
	ID    string `json:"jid"`
	Name  string `json:"name"`
	State string `json:"state"`
	Start int64  `json:"start-time"`
	Moved int64  `json:"last-modification"`
}

func (f flinkREST) jobs(ctx context.Context) ([]flinkJob, error) {
	var a struct {
		Jobs []flinkJob `json:"jobs"`
	}
	err := f.ask(ctx, http.MethodGet, "/jobs/overview", nil, &a)
	return a.Jobs, err
}

// parallelisms are those of the vertices of a job.
func (f flinkREST) parallelisms(ctx context.Context, job string) (map[string]int, error) {
	var a struct {
		Vertices []struct {
			ID          string `json:"id"`
			Parallelism int    `json:"parallelism"`
		} `json:"vertices"`
	}
	err := f.ask(ctx, http.MethodGet, "/jobs/"+job, nil, &a)
	out := map[string]int{}
	for _, v := range a.Vertices {
		out[v.ID] = v.Parallelism
	}
	return out, err
}

// bound is what the requirements say of a vertex.
type bound struct {
	Lower int `json:"lowerBound"`
	Upper int `json:"upperBound"`
}

type requirement struct {
	Parallelism bound `json:"parallelism"`
}

func (f flinkREST) requirements(ctx context.Context, job string) (map[string]requirement, error) {
	var a map[string]requirement
	err := f.ask(ctx, http.MethodGet, "/jobs/"+job+"/resource-requirements", nil, &a)
	return a, err
}

func (f flinkREST) require(ctx context.Context, job string, r map[string]requirement) error {
	return f.ask(ctx, http.MethodPut, "/jobs/"+job+"/resource-requirements", r, nil)
}

func (f flinkREST) cancel(ctx context.Context, job string) error {
	return f.ask(ctx, http.MethodPatch, "/jobs/"+job+"?mode=cancel", nil, nil)
}

// stop ends a job with a savepoint and gives its place. It waits for it.
func (f flinkREST) stop(ctx context.Context, job, dir string) (string, error) {
	var begun struct {
		ID string `json:"request-id"`
	}
	if err := f.ask(ctx, http.MethodPost, "/jobs/"+job+"/stop", map[string]any{"targetDirectory": dir, "drain": false}, &begun); err != nil {
		return "", err
	}
	for {
		var a struct {
			Status struct {
				ID string `json:"id"`
			} `json:"status"`
			Operation struct {
				Location string `json:"location"`
				Failure  *struct {
					Trace string `json:"stack-trace"`
				} `json:"failure-cause"`
			} `json:"operation"`
		}
		if err := f.ask(ctx, http.MethodGet, "/jobs/"+job+"/savepoints/"+begun.ID, nil, &a); err != nil {
			return "", err
		}
		switch {
		case a.Operation.Failure != nil:
			return "", fmt.Errorf("stop job %s with a savepoint: %.300s", job, a.Operation.Failure.Trace)
		case a.Status.ID == "COMPLETED":
			return a.Operation.Location, nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// run submits the first program that the cluster has, as the operator does
// after uploading one.
func (f flinkREST) run(ctx context.Context, body map[string]any) (string, error) {
	var have struct {
		Files []struct {
			ID string `json:"id"`
		} `json:"files"`
	}
	if err := f.ask(ctx, http.MethodGet, "/jars", nil, &have); err != nil {
		return "", err
	}
	if len(have.Files) == 0 {
		return "", fmt.Errorf("run a job on %s: it has no program", f.url)
	}
	var made struct {
		ID string `json:"jobid"`
	}
	err := f.ask(ctx, http.MethodPost, "/jars/"+have.Files[0].ID+"/run", body, &made)
	return made.ID, err
}

// pause waits, or ends with the context.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
