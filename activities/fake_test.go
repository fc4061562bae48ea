package activities_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// platform is a Flink cluster in memory: it takes requirements and runs at
// them at once, unless a test says otherwise.
type platform struct {
	mu     sync.Mutex
	job    core.JobRef
	status core.JobStatus
	held   core.Requirements
	health core.JobHealth
	fresh  bool
	config map[string]string // in place of the usual one
	// slots caps what the job can run at, 0 for no cap.
	slots int
	// stuck keeps the job at its size whatever is wanted.
	stuck bool
	waits core.Waits
	free  core.Slots
	// errors by method name, each used once per call while set.
	fail map[string]error
	// lose makes the next Want take effect but lose its answer.
	lose   bool
	writes int
}

const (
	source = "11111111111111111111111111111111"
	slow   = "22222222222222222222222222222222"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func newPlatform() *platform {
	p := &platform{
		job: core.JobRef{ID: "job-1", Name: "orders", State: core.JobRunning, FlinkVersion: "2.3.0"}, fresh: true,
		health: core.JobHealth{Checkpointing: true, Interval: 10 * time.Second, LastCompleted: start},
		waits:  core.Waits{Cooldown: 30 * time.Second, Stabilization: time.Minute, MaxDelay: 30 * time.Second, Settle: 10 * time.Second, ResourceWait: 5 * time.Minute},
		free:   core.Slots{Total: 16, Free: 14},
		fail:   map[string]error{},
	}
	p.status = core.JobStatus{
		ID: "job-1", Name: "orders", State: core.JobRunning, Now: start, RunningSince: start.Add(-time.Hour),
		Topology: core.Topology{Vertices: []core.Vertex{
			{ID: source, Name: "Source: orders", Parallelism: 1, MaxParallelism: 24},
			{ID: slow, Name: "slow", Parallelism: 2, MaxParallelism: 24, Inputs: []core.Edge{{From: source, Ship: core.ShipHash}}},
		}},
	}
	p.held = core.Requirements{{ID: source, Lower: 1, Upper: 1}, {ID: slow, Lower: 1, Upper: 2}}
	p.run()
	return p
}

// run makes all tasks run at the present sizes.
func (p *platform) run() {
	p.status.Vertices = nil
	for _, v := range p.status.Topology.Vertices {
		p.status.Vertices = append(p.status.Vertices, core.VertexStatus{
			ID: v.ID, Tasks: core.TaskCounts{Running: v.Parallelism, Total: v.Parallelism},
			RecordsRead: core.Read(100), RecordsWritten: core.Read(100), BusyMs: core.Read(5),
		})
	}
}

func (p *platform) error(method string) error { return p.fail[method] }

func (p *platform) Locate(context.Context, core.Target) (core.JobRef, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.job, p.error("Locate")
}

func (p *platform) Measure(_ context.Context, _ core.JobRef, _ core.Picker) (core.Measurement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	config := p.config
	if config == nil {
		config = map[string]string{"job.autoscaler.metrics.window": "5 min", "rest.port": "8081"}
	}
	return core.Measurement{
		Status: p.snapshot(), Clock: core.Read(float64(time.Now().UnixNano())), Fresh: p.fresh,
		Config: config,
	}, p.error("Measure")
}

func (p *platform) Status(context.Context, core.JobRef) (core.JobStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snapshot(), p.error("Status")
}

func (p *platform) snapshot() core.JobStatus {
	s := p.status
	s.Topology.Vertices = slices.Clone(s.Topology.Vertices)
	s.Vertices = slices.Clone(s.Vertices)
	return s
}

func (p *platform) Wanted(context.Context, core.JobRef) (core.Requirements, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.held), p.error("Wanted")
}

func (p *platform) Want(_ context.Context, _ core.JobRef, _ string, r core.Requirements) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.error("Want"); err != nil {
		return err
	}
	p.writes++
	p.held = slices.Clone(r)
	if !p.stuck {
		p.rescale()
	}
	if p.lose {
		p.lose = false
		return &core.OpError{Op: "put", Err: core.ErrUnreachable}
	}
	return nil
}

func (p *platform) rescale() {
	for i := range p.status.Topology.Vertices {
		v := &p.status.Topology.Vertices[i]
		v.Parallelism = p.held[i].Upper
		if p.slots > 0 {
			v.Parallelism = min(v.Parallelism, p.slots)
		}
	}
	p.status.RunningSince = p.status.RunningSince.Add(time.Minute)
	p.run()
}

func (p *platform) Inspect(context.Context, core.JobRef) (core.JobHealth, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.health, p.error("Inspect")
}

func (p *platform) Waits(context.Context, core.JobRef) (core.Waits, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits, p.error("Waits")
}

func (p *platform) Slots(context.Context, core.JobRef) (core.Slots, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free, p.error("Slots")
}

// environment runs activities against a platform.
func environment(t *testing.T, p *platform) *testsuite.TestActivityEnvironment {
	t.Helper()
	a, err := activities.New(activities.Settings{
		Clusters: map[string]activities.Cluster{"dev": {Platform: p, Policy: map[string]string{"job.autoscaler.interval": "10 s"}}},
		Now:      time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	a.Register(env)
	return env
}

func key() core.JobKey { return core.JobKey{Cluster: "dev", Job: "orders"} }

func target() core.Target { return core.Target{Flink: &core.FlinkTarget{JobName: "orders"}} }

// call runs an activity by name.
func call[T any](t *testing.T, p *platform, name string, in any) (T, error) {
	t.Helper()
	var out T
	v, err := environment(t, p).ExecuteActivity(name, in)
	if err != nil {
		return out, err
	}
	if err := v.Get(&out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}
