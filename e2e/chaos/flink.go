package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// cluster is a Flink under test, with the jobs on it.
type cluster interface {
	// url is where requests go now.
	url() string
	// submit runs a job at one subtask per vertex; sameID is an id that it had
	// before, empty for a new one. It fails where its work is done by failAt subtasks
	// or more; 0: nowhere.
	submit(ctx context.Context, job, sameID string, failAt int) error
	// rate changes how many records arrive per second.
	rate(job string, perSecond float64) error
	// policy is how a job is scaled.
	policy(loaded bool) map[string]string
	// keeps is true when the cluster remembers its jobs over the loss of a
	// JobManager.
	keeps() bool
	// hurtJobManager kills the leader, healJobManager brings it back; where the
	// cluster does not keep its jobs they must then be submitted.
	hurtJobManager(ctx context.Context) error
	healJobManager(ctx context.Context) error
	// hurtTaskManager kills one, healTaskManager brings all back.
	hurtTaskManager(n int) error
	healTaskManager(ctx context.Context) error
	close() error
}

// Loads of the jobs, in records per second. The vertex that does the work handles
// perTask records per second and subtask.
const (
	perTask   = 1000.0
	idleLoad  = 100.0
	failLoad  = 800.0 // of the job that fails, which it does after some hundred records
	lowLoad   = 600.0
	highLoad  = 2500.0
	mostSlots = 4 // that a job may come to
)

// view is a job as Flink shows it.
type view struct {
	ID     string
	State  string
	Held   core.Requirements
	Runs   []core.VertexSize
	Names  map[string]string // of vertices, by id
	AllRun bool
}

// at is true when everything is wanted at a size, and runs at it.
func (v view) at(size int) bool {
	return v.AllRun && all(v.Held, size) && !slices.ContainsFunc(v.Runs, func(r core.VertexSize) bool { return r.Parallelism != size })
}

// all is true where one size is asked for every vertex.
func all(r core.Requirements, size int) bool {
	return len(r) > 0 && !slices.ContainsFunc(r, func(b core.Bounds) bool { return b.Upper != size })
}

// worker gives the vertex that does the work: of the simulated or of the real test
// job.
func (v view) worker() string {
	for id, name := range v.Names {
		if strings.Contains(name, "enrich") || strings.Contains(name, "slow") {
			return id
		}
	}
	return ""
}

func (v view) text() string {
	parts := make([]string, 0, len(v.Runs))
	for _, r := range v.Runs {
		b, _ := v.Held.Of(r.ID)
		parts = append(parts, fmt.Sprintf("%.12s wanted %d runs %d", v.Names[r.ID], b.Upper, r.Parallelism))
	}
	return fmt.Sprintf("job %s %s, all tasks run: %v; %s", v.ID, v.State, v.AllRun, strings.Join(parts, ", "))
}

// lookLimit bounds a look: a JobManager without a leader lets requests hang.
const lookLimit = 5 * time.Second

// look reads a job straight from Flink, the proxy aside.
func look(ctx context.Context, base, job string) (view, error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	var list struct {
		Jobs []struct {
			ID    string `json:"jid"`
			Name  string `json:"name"`
			State string `json:"state"`
			Start int64  `json:"start-time"`
		} `json:"jobs"`
	}
	if err := get(ctx, base+"/jobs/overview", &list); err != nil {
		return view{}, err
	}
	var v view
	newest := int64(-1)
	for _, j := range list.Jobs {
		if j.Name == job && !core.JobState(j.State).Ended() && j.Start > newest {
			v.ID, v.State, newest = j.ID, j.State, j.Start
		}
	}
	if v.ID == "" {
		return view{}, fmt.Errorf("no job %s", job)
	}
	return v, v.read(ctx, base)
}

func (v *view) read(ctx context.Context, base string) error {
	var job struct {
		State    string `json:"state"`
		Vertices []struct {
			ID          string         `json:"id"`
			Name        string         `json:"name"`
			Parallelism int            `json:"parallelism"`
			Tasks       map[string]int `json:"tasks"`
		} `json:"vertices"`
	}
	if err := get(ctx, base+"/jobs/"+v.ID, &job); err != nil {
		return err
	}
	var raw json.RawMessage
	if err := get(ctx, base+"/jobs/"+v.ID+"/resource-requirements", &raw); err != nil {
		return err
	}
	var err error
	if v.Held, err = requirements(string(raw)); err != nil {
		return err
	}
	v.State, v.Names = job.State, map[string]string{}
	v.AllRun = job.State == string(core.JobRunning) && len(job.Vertices) > 0
	for _, x := range job.Vertices {
		v.Names[x.ID] = x.Name
		v.Runs = append(v.Runs, core.VertexSize{ID: x.ID, Parallelism: x.Parallelism})
		v.AllRun = v.AllRun && x.Tasks["RUNNING"] == x.Parallelism
	}
	slices.SortFunc(v.Runs, func(a, b core.VertexSize) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

func get(ctx context.Context, url string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", req.URL.Path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(to)
}

// requirements reads Flink's list of them, as in a PUT or its answer to a GET.
func requirements(body string) (core.Requirements, error) {
	var m map[string]struct {
		Parallelism struct {
			Lower int `json:"lowerBound"`
			Upper int `json:"upperBound"`
		} `json:"parallelism"`
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return nil, fmt.Errorf("read requirements: %w", err)
	}
	out := make(core.Requirements, 0, len(m))
	for id, b := range m {
		out = append(out, core.Bounds{ID: id, Lower: b.Parallelism.Lower, Upper: b.Parallelism.Upper})
	}
	slices.SortFunc(out, func(a, b core.Bounds) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}
