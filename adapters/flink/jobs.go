package flink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// Job is one job as the cluster's list shows it.
type Job struct {
	ID    string
	Name  string
	State core.JobState
	// StartedAt is when this job id was submitted, or recovered.
	StartedAt time.Time
	// ChangedAt is when the job or one of its tasks last changed its state.
	ChangedAt time.Time
	// Scheduler is "Adaptive" or "Default", empty before Flink 2.3.
	Scheduler string
}

// Jobs lists all jobs that the cluster still knows, ended ones too, sorted by
// id. Flink asks each job's master for it, so that the list is not older than
// the question; those who ask at the same time share one answer.
func (c *Cluster) Jobs(ctx context.Context) ([]Job, error) {
	jobs, err := c.jobs.Get(ctx, 0, func(ctx context.Context) ([]Job, error) {
		return fetch(ctx, c, request{op: "list jobs", path: "/v1/jobs/overview"}, decodeJobs)
	})
	return slices.Clone(jobs), err
}

// Locate finds the one live job with the target's name. The Key of the result
// is left to the caller, who knows it.
func (c *Cluster) Locate(ctx context.Context, target core.Target) (core.JobRef, error) {
	if target.Flink == nil || target.Flink.JobName == "" {
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: target.Canonical(),
			Hint: "target.flink.jobName names the job", Err: fmt.Errorf("%w: no job name", core.ErrRefused)}
	}
	name := target.Flink.JobName
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return core.JobRef{}, err
	}
	job, err := OnlyLive(jobs, func(j Job) bool { return j.Name == name })
	if err != nil {
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: name, Err: err}
	}
	ref := core.JobRef{ID: job.ID, Name: job.Name, State: job.State}
	if v, err := c.Version(ctx); err == nil { // not knowing it is no reason not to find the job
		ref.FlinkVersion = v.Flink
	}
	return ref, nil
}

// OnlyLive picks the one job that fits and has not ended. None: core.ErrNotFound.
// Several: core.ErrAmbiguous with their ids; the newest is never guessed.
func OnlyLive(jobs []Job, fits func(Job) bool) (Job, error) {
	var live []Job
	var ids, ended []string
	for _, j := range jobs {
		switch {
		case !fits(j):
		case j.State.Ended():
			ended = append(ended, string(j.State))
		default:
			live, ids = append(live, j), append(ids, j.ID)
		}
	}
	switch {
	case len(live) == 1:
		return live[0], nil
	case len(live) > 1:
		return Job{}, fmt.Errorf("%w: %s", core.ErrAmbiguous, strings.Join(ids, ", "))
	case len(ended) > 0:
		slices.Sort(ended) // a session keeps many
		return Job{}, fmt.Errorf("%w: no live job, it is %s", core.ErrNotFound, strings.Join(slices.Compact(ended), ", "))
	}
	return Job{}, fmt.Errorf("%w: no live job among the %d of its Flink", core.ErrNotFound, len(jobs))
}

// Status reads the job as Flink shows it. Flink answers from a copy of the
// graph that is up to web.refresh-interval (3 s) old.
//
// While a job waits for slots Flink lists its vertices without the edges
// between them. Such a graph would make every vertex a source: the result then
// has no vertices at all, and AllTasksRunning is false.
func (c *Cluster) Status(ctx context.Context, job core.JobRef) (core.JobStatus, error) {
	return fetch(ctx, c, request{op: "read job", subject: job.ID, path: jobPath(job.ID, "")}, decodeJob)
}

type jobsBody struct {
	Jobs *[]struct {
		ID        string `json:"jid"`
		Name      string `json:"name"`
		State     string `json:"state"`
		Start     int64  `json:"start-time"`
		Changed   int64  `json:"last-modification"`
		Scheduler string `json:"schedulerType"`
	} `json:"jobs"`
}

func decodeJobs(b []byte) ([]Job, error) {
	body, err := fromJSON[jobsBody](b)
	if err != nil {
		return nil, err
	}
	if body.Jobs == nil {
		return nil, errors.New(`no "jobs" in the answer`)
	}
	out := make([]Job, 0, len(*body.Jobs))
	for _, j := range *body.Jobs {
		if j.ID == "" {
			return nil, errors.New("a job without an id")
		}
		out = append(out, Job{ID: j.ID, Name: j.Name, State: core.JobState(j.State), StartedAt: millis(j.Start), ChangedAt: millis(j.Changed), Scheduler: j.Scheduler})
	}
	slices.SortFunc(out, func(a, b Job) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

type jobBody struct {
	ID         string           `json:"jid"`
	Name       string           `json:"name"`
	State      string           `json:"state"`
	Start      int64            `json:"start-time"`
	Now        int64            `json:"now"`
	Timestamps map[string]int64 `json:"timestamps"`
	Vertices   []vertexBody     `json:"vertices"`
	Plan       struct {
		Nodes []nodeBody `json:"nodes"`
	} `json:"plan"`
}

type vertexBody struct {
	ID             string         `json:"id"`
	Name           string         `json:"name"`
	Parallelism    int            `json:"parallelism"`
	MaxParallelism int            `json:"maxParallelism"`
	SlotGroup      string         `json:"slotSharingGroupId"`
	Tasks          map[string]int `json:"tasks"`
	Metrics        struct {
		Read       number `json:"read-records"`
		ReadAll    bool   `json:"read-records-complete"`
		Written    number `json:"write-records"`
		WrittenAll bool   `json:"write-records-complete"`
		BusyMs     number `json:"accumulated-busy-time"`
	} `json:"metrics"`
}

type nodeBody struct {
	ID     string `json:"id"`
	Inputs []struct {
		ID   string `json:"id"`
		Ship string `json:"ship_strategy"`
	} `json:"inputs"`
}

func decodeJob(b []byte) (core.JobStatus, error) {
	body, err := fromJSON[jobBody](b)
	if err != nil {
		return core.JobStatus{}, err
	}
	if body.ID == "" || body.State == "" {
		return core.JobStatus{}, errors.New(`no "jid" or "state" in the answer`)
	}
	out := core.JobStatus{
		ID: body.ID, Name: body.Name, State: core.JobState(body.State),
		Now: millis(body.Now), StartedAt: millis(body.Start),
	}
	if out.State == core.JobRunning {
		out.RunningSince = millis(body.Timestamps["RUNNING"])
	}
	inputs, known := edges(body)
	if !known {
		return out, nil
	}
	slices.SortFunc(body.Vertices, func(a, b vertexBody) int { return cmp.Compare(a.ID, b.ID) })
	for _, v := range body.Vertices {
		vertex, status := v.split()
		vertex.Inputs = inputs[v.ID]
		out.Topology.Vertices = append(out.Topology.Vertices, vertex)
		out.Vertices = append(out.Vertices, status)
	}
	return out, nil
}

// edges gives the inputs of each vertex; false when the graph is not whole:
// a vertex without a plan node, one listed twice, or an edge from nowhere.
func edges(body jobBody) (map[string][]core.Edge, bool) {
	vertices := make(map[string]bool, len(body.Vertices))
	for _, v := range body.Vertices {
		if v.ID == "" || vertices[v.ID] {
			return nil, false
		}
		vertices[v.ID] = true
	}
	out := make(map[string][]core.Edge, len(body.Plan.Nodes))
	for _, n := range body.Plan.Nodes {
		in := make([]core.Edge, 0, len(n.Inputs))
		for _, e := range n.Inputs {
			if !vertices[e.ID] {
				return nil, false
			}
			in = append(in, core.Edge{From: e.ID, Ship: core.ShipStrategy(e.Ship)})
		}
		slices.SortFunc(in, func(a, b core.Edge) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Ship, b.Ship))
		})
		out[n.ID] = slices.Clip(slices.Compact(in))
	}
	for id := range vertices {
		if _, ok := out[id]; !ok {
			return nil, false
		}
	}
	return out, true
}

func (v vertexBody) split() (core.Vertex, core.VertexStatus) {
	tasks := core.TaskCounts{Running: max(v.Tasks["RUNNING"], 0), Finished: max(v.Tasks["FINISHED"], 0)}
	for _, n := range v.Tasks {
		tasks.Total += max(n, 0)
	}
	vertex := core.Vertex{
		ID: v.ID, Name: v.Name, Parallelism: max(v.Parallelism, 0), MaxParallelism: max(v.MaxParallelism, 0),
		SlotGroup: v.SlotGroup, Finished: tasks.Total > 0 && tasks.Finished == tasks.Total,
	}
	return vertex, core.VertexStatus{
		ID: v.ID, Tasks: tasks,
		RecordsRead:    v.Metrics.Read.whenComplete(v.Metrics.ReadAll),
		RecordsWritten: v.Metrics.Written.whenComplete(v.Metrics.WrittenAll),
		// Busy time has no flag of its own: it comes with the same fetch.
		BusyMs: v.Metrics.BusyMs.whenComplete(v.Metrics.ReadAll),
	}
}

// millis reads a time of Flink; 0 and -1 mean never.
func millis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
