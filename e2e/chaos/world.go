package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	enumspb "go.temporal.io/api/enums/v1"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/e2e/proxy"
	"flinkscaler/internal/stack"
	"flinkscaler/workflows"
)

// world is one installation on one cluster, with the jobs that faults hit.
type world struct {
	stack   *stack.Stack
	proxy   *proxy.Proxy
	cluster cluster
	book    *book
	jobs    []*job
	say     func(format string, args ...any)

	// temporalSide is held by who has worker or server down, flinkSide by who has
	// a part of Flink down: what heals the one needs the rest of its side.
	temporalSide, flinkSide sync.Mutex
	// link is the worker's binary, builds what it can point to.
	link   string
	builds [2]string
	build  int
}

// job is one job of a world.
type job struct {
	name   string
	loaded bool
	high   bool // its load
	fails  bool // at mostSlots subtasks
	orders int
}

// clusterName is what the worker calls the cluster.
const clusterName = "chaos"

func (j *job) key() core.JobKey { return core.JobKey{Cluster: clusterName, Job: j.name} }

// newWorld starts everything in a folder. What it fails to start leaves nothing
// running.
func newWorld(ctx context.Context, dir string, c cluster, builds [2]string, p Plan, say func(string, ...any)) (*world, error) {
	w := &world{cluster: c, book: newBook(), say: say, link: filepath.Join(dir, "worker"), builds: builds}
	for i := range p.failing() + 1 {
		w.jobs = append(w.jobs, &job{name: fmt.Sprintf("orders-%d", i+1), loaded: i >= p.Ordered && i < p.failing(), fails: i == p.failing()})
	}
	w.proxy = proxy.New(c.url)
	if err := w.start(ctx, dir); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) start(ctx context.Context, dir string) error {
	if err := w.choose(0); err != nil {
		return err
	}
	for _, j := range w.jobs {
		if err := w.submit(ctx, j, ""); err != nil {
			return err
		}
	}
	var err error
	w.stack, err = stack.Start(ctx, stack.Options{
		Dir: dir, Worker: w.link,
		Clusters: map[string]any{clusterName: map[string]any{"flink": map[string]any{"url": w.proxy.URL(), "timeout": "5 s"}}},
	})
	if err != nil {
		return err
	}
	for _, j := range w.jobs {
		if err := w.stack.StartJob(ctx, j.key(), w.cluster.policy(j.loaded)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) close() error {
	var problems []error
	if w.stack != nil {
		problems = append(problems, w.stack.Close())
	}
	w.proxy.Close()
	return errors.Join(append(problems, w.cluster.close())...)
}

// choose has the worker's path be one of the builds: what a deployment does.
func (w *world) choose(n int) error {
	next := w.link + ".next"
	if err := os.Symlink(w.builds[n], next); err != nil {
		return err
	}
	w.build = n
	return os.Rename(next, w.link)
}

// submit runs a job, and has its load be what it was.
func (w *world) submit(ctx context.Context, j *job, sameID string) error {
	since := time.Now()
	failAt := 0
	if j.fails {
		failAt = mostSlots
	}
	if err := w.cluster.submit(ctx, j.name, sameID, failAt); err != nil {
		return err
	}
	if err := w.cluster.rate(j.name, j.load()); err != nil {
		return err
	}
	v, err := w.look(ctx, j)
	if err != nil {
		return err
	}
	w.book.submitted(j.name, v.ID, since)
	w.book.needs(Need{Job: j.name, Since: since, Least: least(v, j.load())})
	return nil
}

func (j *job) load() float64 {
	switch {
	case j.fails:
		return failLoad
	case !j.loaded:
		return idleLoad
	case j.high:
		return highLoad
	}
	return lowLoad
}

// least is what a load needs: the vertex that works as many subtasks as handle
// it, the others one.
func least(v view, load float64) map[string]int {
	out := map[string]int{}
	for _, r := range v.Runs {
		out[r.ID] = 1
	}
	out[v.worker()] = int(math.Ceil(load / perTask))
	return out
}

// look reads the job straight from Flink, until it can be read.
func (w *world) look(ctx context.Context, j *job) (view, error) {
	var v view
	err := w.until(ctx, "Flink to show "+j.name, func(ctx context.Context) (string, bool) {
		var err error
		v, err = look(ctx, w.cluster.url(), j.name)
		if err != nil {
			return err.Error(), false
		}
		return "", true
	})
	return v, err
}

// query asks the workflow of a job once.
func (w *world) query(ctx context.Context, j *job, name string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return w.stack.Query(ctx, j.key(), name, to)
}

// restart starts the workflow of a job; one that runs is terminated first.
func (w *world) restart(ctx context.Context, j *job) error {
	input, err := json.Marshal(map[string]any{"cluster": clusterName, "job": j.name, "policy": w.cluster.policy(j.loaded)})
	if err != nil {
		return err
	}
	_, err = w.stack.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: spec.ID(j.key()), TaskQueue: workflows.TaskQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
	}, workflows.ScaleName, json.RawMessage(input))
	return err
}

// supervise starts a worker again that ended by itself, as any platform does.
func (w *world) supervise(ctx context.Context) {
	t := time.NewTicker(500 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if !w.temporalSide.TryLock() {
			continue
		}
		if !w.stack.Worker.Alive() {
			w.say("the worker ended by itself with exit code %d and is started again\n%s", w.stack.Worker.ExitCode(), w.stack.Worker.Tail())
			if err := w.stack.Worker.Launch(); err != nil {
				w.say("%v", err)
			}
		}
		w.temporalSide.Unlock()
	}
}

// record gives all that was seen.
func (w *world) record(ctx context.Context) (Record, error) {
	if err := w.book.writes(w.proxy.Writes()); err != nil {
		return Record{}, err
	}
	r := w.book.r
	var err error
	r.Asks, r.Rescales, err = rescales(ctx, w.stack.Client)
	return r, err
}
