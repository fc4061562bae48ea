package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
	"flinkscaler/workflows"
)

// fakeServer behaves like a server with workers as far as the commands can
// tell: workflows start, run, take orders and end; without a worker on their
// task queue they do not answer.
type fakeServer struct {
	mu sync.Mutex
	// down is what every call ends with, nil for a server that is up.
	down error
	// workers are the task queues with a worker; known are the clusters in
	// their configuration.
	workers, known []string
	jobs           map[string]*fakeJob
	// ends is a workflow that ends as soon as it was listed.
	ends string
	// pages is how many jobs List gives at once, 0 for all.
	pages int
	// asked counts the queries, on is called before each.
	asked int
	on    func(n int)
}

type fakeJob struct {
	execution
	status  workflows.Status
	history workflows.History
	policy  workflows.Policy
	explain []string
	outcome string
	// progress and beat are of a rescale.
	progress workflows.RescaleProgress
	beat     *workflows.RescaleBeat
	// orders were taken by the worker, signals are with the server.
	orders, signals []order
	input           string
}

func fakeNow() time.Time { return time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC) }

func ago(d time.Duration) time.Time { return fakeNow().Add(-d) }

// newFake is a server with a worker and three jobs.
func newFake() *fakeServer {
	f := &fakeServer{workers: []string{workflows.TaskQueue}, known: []string{"dev"}, jobs: map[string]*fakeJob{}}
	f.add("dev/orders", orders())
	payments := orders()
	payments.Job, payments.State, payments.Reason = "payments", workflows.Blocked, core.ReasonStorage
	payments.Since, payments.Lag, payments.LagSeconds = ago(5*time.Minute), core.Absent(core.Stale), core.Reading{}
	payments.Note = "the checkpoint storage does not answer"
	set := []workflows.SetKey{{Key: "job.autoscaler.vertex.max-parallelism", Value: "40", By: "ann", Reason: "sale", Since: ago(30 * time.Minute), Until: fakeNow().Add(time.Hour)}}
	payments.Set = set
	change := func(id string, to int) core.Proposal {
		return core.Proposal{
			ID: id, At: ago(10 * time.Minute), Deadline: fakeNow().Add(50 * time.Minute), Reason: core.ReasonScaleUp, Within: time.Hour, Quiet: time.Hour,
			From: []core.VertexSize{{ID: mapID, Parallelism: 4}}, To: []core.VertexSize{{ID: mapID, Parallelism: to}},
		}
	}
	waits := change("40-1796025000", 9)
	payments.Proposal = &waits
	payments.Rejections = []core.Answered{{Proposal: change("31-1796024400", 6), By: "bob", Reason: "not now", At: ago(20 * time.Minute), Until: fakeNow().Add(40 * time.Minute)}}
	f.add("dev/payments", payments)
	clicks := orders()
	clicks.Cluster, clicks.Job = "prod-eu", "clicks"
	f.add("prod-eu/clicks", clicks)
	f.jobs["flink/prod-eu/clicks"].TaskQueue = "flinkscaler-prod-eu"
	return f
}

const (
	sourceID = "bc764cd8ddf7a0cff126f51c16239658"
	mapID    = "0a448493b4782967b150582570326227"
)

func orders() workflows.Status {
	return workflows.Status{
		Cluster: "dev", Job: "orders", State: workflows.Watching, Reason: core.ReasonWithinTarget, Note: "every vertex works within its bounds",
		Since: ago(34 * time.Minute), FlinkJobID: "a4b35ddbb34187f76d11b0d3aff7e61e", FlinkVersion: "2.3.0", Parallelism: 4,
		Lag: core.Read(1234), LagSeconds: core.Read(2), Rate: core.Read(1020),
		Vertices: []workflows.VertexStatus{
			{ID: sourceID, Name: "Source: orders", Parallelism: 2, Wanted: 2, Load: core.Read(0.31), Rate: core.Read(1020), TrueRate: core.Read(3290), Lag: core.Read(1234), Why: core.ReasonWithinTarget},
			{ID: mapID, Name: "Enrich", Parallelism: 4, Wanted: 4, Load: core.Read(0.62), Rate: core.Read(1020), TrueRate: core.Read(1645), Lag: core.Absent(core.NotApplicable), Why: core.ReasonWithinTarget},
		},
		LastDecision: "17-1796025590", LastDecisionAt: ago(10 * time.Second), NextEvaluation: fakeNow().Add(50 * time.Second),
		Interval: "1m0s", Cycle: 17, Runs: 1,
	}
}

func (f *fakeServer) add(job string, s workflows.Status) {
	id := "flink/" + job
	f.jobs[id] = &fakeJob{
		execution: execution{ID: id, RunID: "run-of-" + job, TaskQueue: workflows.TaskQueue, Status: statusRunning, StartedAt: ago(time.Hour)},
		status:    s,
		explain:   []string{"hold: within-target", "  every vertex works within its bounds"},
		policy: workflows.Policy{Keys: []policy.Origin{
			{Key: "job.autoscaler.interval", Value: "60 s", From: policy.BuiltIn},
			{Key: "job.autoscaler.metrics.window", Value: "5 min", From: "input"},
			{Key: "job.autoscaler.vertex.max-parallelism", Value: "40", From: "set-policy", Note: "set by ann (sale)"},
			{Key: "job.autoscaler.scale-down.interval", Value: "2 h", From: "cluster default", As: "kubernetes.operator.job.autoscaler.scale-up.grace-period"},
		}},
		history: workflows.History{
			Decisions: []workflows.Record{
				{ID: "1-1", At: ago(time.Hour), LastAt: ago(40 * time.Minute), Count: 20, Verdict: core.Hold, Reason: core.ReasonWindowNotFull, Note: "12 of 15 min are there"},
				{ID: "21-1", At: ago(39 * time.Minute), LastAt: ago(39 * time.Minute), Count: 1, Verdict: core.Change, Reason: core.ReasonScaleUp, Note: "Enrich cannot keep up"},
			},
			Orders: []workflows.Order{
				{Message: workflows.MsgPause, By: "ann", Reason: "release", At: ago(50 * time.Minute), Until: ago(40 * time.Minute), Did: "paused until 2026-11-30T07:20:00Z", Ended: "resumed by bob", EndedAt: ago(45 * time.Minute)},
				{Message: workflows.MsgSetPolicy, By: "ann", Reason: "sale", At: ago(30 * time.Minute), Until: fakeNow().Add(time.Hour), Did: "policy is set: job.autoscaler.vertex.max-parallelism 200 -> 40 (set-policy)"},
			},
			Rescales: []core.Outcome{{
				Kind: core.Applied, Attempt: 1, From: []core.VertexSize{{ID: mapID, Parallelism: 2}}, Wanted: []core.VertexSize{{ID: mapID, Parallelism: 4}}, Got: []core.VertexSize{{ID: mapID, Parallelism: 4}},
				StartedAt: ago(39 * time.Minute), WrittenAt: ago(39*time.Minute - time.Second), RunningAt: ago(39*time.Minute - 9*time.Second), EndedAt: ago(39*time.Minute - 10*time.Second), Note: "all tasks run",
			}},
		},
	}
}

// addRescale adds a rescale of dev/orders.
func (f *fakeServer) addRescale() {
	const id = "flink-rescale/dev/flink/orders"
	f.jobs[id] = &fakeJob{
		execution: execution{ID: id, RunID: "run-of-rescale", TaskQueue: workflows.TaskQueue, Status: "Completed", StartedAt: ago(time.Minute)},
		progress: workflows.RescaleProgress{
			DecisionID: "17-1796025590", Attempt: 2, Cause: core.ReasonScaleUp, Phase: "waiting for the new size", Since: ago(8 * time.Second),
			Deadline: fakeNow().Add(4 * time.Minute), DeadlineWhy: "twice the slowest restart of 60 s, and 30 s",
		},
		beat: &workflows.RescaleBeat{Phase: "waiting", SecondsLeft: 240, Reached: 1, Total: 2, Slots: &core.Slots{Total: 8, Free: 2}, Restarts: []time.Time{ago(5 * time.Second)}},
	}
}

func (f *fakeServer) Close() {}

// job finds a workflow; worker says whether it takes one to answer.
func (f *fakeServer) job(id string, worker bool) (*fakeJob, error) {
	if f.down != nil {
		return nil, f.down
	}
	j, ok := f.jobs[id]
	if !ok {
		return nil, errNotFound
	}
	if worker && !slices.Contains(f.workers, j.TaskQueue) {
		return nil, errNoWorker
	}
	return j, nil
}

func (f *fakeServer) Start(_ context.Context, r startRequest) (started, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return started{}, f.down
	}
	if j, ok := f.jobs[r.ID]; ok && j.running() {
		return started{RunID: j.RunID, Already: true}, nil
	}
	got, problems := spec.Decode(r.Input)
	if len(problems) > 0 {
		return started{}, fmt.Errorf("an unchecked input came through: %v", problems)
	}
	f.add(got.Key.String(), workflows.Status{Cluster: got.Key.Cluster, Job: got.Key.Job, State: workflows.Starting, Interval: "1m0s", Runs: 1})
	j := f.jobs[r.ID]
	j.TaskQueue, j.input = r.TaskQueue, string(r.Input)
	if slices.Contains(f.workers, r.TaskQueue) && !slices.Contains(f.known, got.Key.Cluster) {
		j.Status, j.ClosedAt, j.status = statusFailed, fakeNow(), workflows.Status{}
		j.outcome = fmt.Sprintf("cluster: unknown cluster %q; this worker's configuration knows %s", got.Key.Cluster, strings.Join(f.known, ", "))
	}
	return started{RunID: j.RunID}, nil
}

// List gives pages of f.pages jobs, 0 for all at once.
func (f *fakeServer) List(_ context.Context, query string, page []byte) ([]execution, []byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, nil, f.down
	}
	rest, ok := strings.CutPrefix(query, `WorkflowType="ScaleFlinkJob" AND ExecutionStatus="Running"`)
	prefix := ""
	if ok && rest != "" {
		prefix, ok = strings.CutPrefix(rest, ` AND WorkflowId STARTS_WITH "`)
		prefix = strings.TrimSuffix(prefix, `"`)
	}
	if !ok {
		return nil, nil, fmt.Errorf("unknown query %s", query)
	}
	var all []execution
	for _, id := range slices.Sorted(maps.Keys(f.jobs)) {
		if j := f.jobs[id]; j.running() && strings.HasPrefix(id, prefix) {
			all = append(all, j.execution)
		}
	}
	if prefix == "" {
		all = append(all, execution{ID: "somebody-elses", Status: statusRunning})
	}
	if j := f.jobs[f.ends]; j != nil {
		j.Status, j.ClosedAt = "Canceled", fakeNow()
	}
	from := len(page)
	all = all[min(from, len(all)):]
	if f.pages == 0 || len(all) <= f.pages {
		return all, nil, nil
	}
	return all[:f.pages], make([]byte, from+f.pages), nil
}

func (f *fakeServer) Describe(_ context.Context, id string) (execution, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id, false)
	if err != nil {
		return execution{}, err
	}
	return j.execution, nil
}

func (f *fakeServer) Outcome(_ context.Context, id, _ string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id, false)
	if err != nil {
		return "", err
	}
	return j.outcome, nil
}

func (f *fakeServer) Query(ctx context.Context, id, name string, answer any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.on != nil {
		f.on(f.asked)
	}
	if ctx.Err() != nil {
		return errNoWorker
	}
	j, err := f.job(id, true)
	if err != nil {
		return err
	}
	// Through JSON, as the answer of a real one comes.
	b, err := json.Marshal(map[string]any{
		workflows.QueryStatus: j.status, workflows.QueryHistory: j.history, workflows.QueryPolicy: j.policy, workflows.QueryExplain: j.explain,
		workflows.QueryProgress: j.progress,
	}[name])
	if err != nil {
		return err
	}
	return json.Unmarshal(b, answer)
}

func (f *fakeServer) Heartbeat(_ context.Context, id string, details any) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id, false)
	if err != nil || j.beat == nil {
		return false, err
	}
	b, err := json.Marshal(j.beat)
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(b, details)
}

func (f *fakeServer) Update(_ context.Context, o order) (workflows.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(o.WorkflowID, true)
	if err != nil {
		return workflows.Answer{}, err
	}
	if !j.running() {
		return workflows.Answer{}, errEnded
	}
	if n, ok := o.Payload["parallelism"].(int); ok && n == 13 {
		return workflows.Answer{}, fmt.Errorf("%w: override.parallelism: this fake is superstitious", errRejected)
	}
	j.orders = append(j.orders, o)
	answer := workflows.Answer{Message: o.Name + " done", Status: j.status}
	if o.Name == workflows.MsgEvaluateNow {
		j.status.Cycle++
	}
	return answer, nil
}

func (f *fakeServer) Signal(_ context.Context, o order) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(o.WorkflowID, false)
	if err != nil {
		return err
	}
	if !j.running() {
		return errEnded
	}
	j.signals = append(j.signals, o)
	return nil
}

func (f *fakeServer) Cancel(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id, false)
	if err != nil {
		return err
	}
	if slices.Contains(f.workers, j.TaskQueue) {
		j.Status, j.ClosedAt = "Canceled", fakeNow()
	}
	return nil
}
