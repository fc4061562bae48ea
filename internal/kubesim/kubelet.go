package kubesim

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"flinkscaler/internal/flinksim"
)

// KubeletOptions describe what stands in for kubelet. Every zero means the
// default.
type KubeletOptions struct {
	// Namespaces to serve, all when empty.
	Namespaces []string
	// Controllers says that a controller manager with the controllers of
	// Deployments, StatefulSets and garbage runs: then pods are made ready, and
	// TaskManagers are the pods that are. Otherwise the kubelet plays these
	// controllers too: no pods, the status of workloads as if there were some.
	Controllers bool
	// Flink is what every simulated cluster is like, Flink 1.20 by default; port,
	// slots of standalone clusters, scheduler and checkpoint interval come from
	// the cluster's own configuration. A native cluster has Flink.Slots slots.
	Flink flinksim.Options
	// Job is the program of every cluster, DefaultJob by default. A vertex
	// without a parallelism gets parallelism.default.
	Job func(Program) flinksim.JobSpec
	// StartTime is how long a JobManager needs until it is ready.
	StartTime time.Duration
	// Log gets lines for people; nothing by default.
	Log func(format string, args ...any)
}

// Kubelet plays the nodes: JobManagers are simulated Flink clusters, replicas
// of TaskManagers their slots.
type Kubelet struct {
	opt  KubeletOptions
	api  *api
	loop *loop
	stop context.CancelFunc
	dir  string // of what HA keeps

	mu      sync.Mutex
	running map[name]*process
}

// StartKubelet serves what is there and what comes, until Stop or the end of
// the context.
func StartKubelet(ctx context.Context, config *rest.Config, o KubeletOptions) (*Kubelet, error) {
	if o.Job == nil {
		o.Job = DefaultJob
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	a, err := newAPI(config, "kubelet")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "flink-ha-")
	if err != nil {
		return nil, fmt.Errorf("kubesim: folder for HA: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	k := &Kubelet{opt: o, api: a, stop: stop, dir: dir, running: map[name]*process{}}
	k.loop = &loop{api: a, namespaces: o.Namespaces, step: k.step, log: o.Log}
	sources := []source{
		{resource: deployments, selector: flinkPods, keys: clusterKeys},
		{resource: statefulSets, selector: flinkPods, keys: clusterKeys},
		{resource: batchJobs, selector: flinkPods, keys: clusterKeys},
	}
	if o.Controllers {
		sources = append(sources, source{resource: pods, selector: flinkPods, keys: clusterKeys})
	}
	if err := k.loop.start(ctx, sources...); err != nil {
		k.Stop()
		return nil, err
	}
	return k, nil
}

// Stop ends the kubelet and all simulated clusters.
func (k *Kubelet) Stop() {
	k.stop()
	k.loop.done()
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, p := range k.running {
		if p.cluster != nil {
			p.cluster.Close()
		}
		delete(k.running, key)
	}
	_ = os.RemoveAll(k.dir)
}

// Cluster is the simulated Flink of a custom resource or of an app label, nil
// while none runs. Each start of a JobManager makes another one.
func (k *Kubelet) Cluster(namespace, cluster string) *flinksim.Cluster {
	if p := k.process(namespace, cluster); p != nil {
		return p.cluster
	}
	return nil
}

// URL is the base URL of a cluster's REST API, empty while none runs.
func (k *Kubelet) URL(namespace, cluster string) string {
	if p := k.process(namespace, cluster); p != nil {
		return p.url
	}
	return ""
}

// process gives a copy, made under the lock.
func (k *Kubelet) process(namespace, cluster string) *process {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, label := range []string{"app=", "cluster="} {
		if p := k.running[name{Namespace: namespace, Name: label + cluster}]; p != nil {
			shown := *p
			return &shown
		}
	}
	return nil
}

// KillJobManager ends a JobManager as kill -9 does; it is back after a while.
// With Kubernetes HA its jobs go on, without it an application starts from
// nothing.
func (k *Kubelet) KillJobManager(namespace, cluster string, away time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, p := range k.running {
		if key.Namespace == namespace && clusterName(key) == cluster && p.cluster != nil {
			p.killed, p.until = true, time.Now().Add(away)
			p.cluster.SetUnavailable(flinksim.Reset)
			k.loop.soon(key)
		}
	}
}

// step brings one cluster in line with its workloads. The lock is held for no
// request: one cluster must not wait for another.
func (k *Kubelet) step(ctx context.Context, key name) (time.Duration, error) {
	all, err := k.workloads(ctx, key)
	if err != nil {
		return 0, err
	}
	var manager *workload
	for i, w := range all {
		if w.isJobManager() && w.applies() {
			manager = &all[i]
		}
	}
	p := k.runs(key, manager)
	if p == nil && manager != nil {
		conf, err := k.config(ctx, *manager)
		if err != nil || conf == nil {
			return retryAfter / 5, err // its ConfigMap is yet to come
		}
		if p, err = k.begin(key, *manager, conf); err != nil {
			return 0, err
		}
		k.mu.Lock()
		k.running[key] = p
		k.mu.Unlock()
	}
	return k.show(ctx, key, p, all)
}

// runs gives the process of a JobManager. One of another JobManager is ended.
func (k *Kubelet) runs(key name, manager *workload) *process {
	k.mu.Lock()
	p := k.running[key]
	stale := p != nil && (manager == nil || p.uid != string(manager.o.GetUID()))
	if stale {
		delete(k.running, key)
	}
	k.mu.Unlock()
	if stale {
		k.end(p)
		return nil
	}
	return p
}

// moment is how a process is just now.
type moment struct {
	again time.Duration // until it is to be looked at, 0 for never
	ready bool
	// slots is where TaskManagers register, nil when the JobManager is away or
	// brings its own.
	slots *flinksim.Cluster
}

// now lets a process go on with its life.
func (k *Kubelet) now(p *process) (moment, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p == nil {
		return moment{}, nil
	}
	again, err := k.turn(p)
	if err != nil {
		return moment{}, err
	}
	m := moment{again: again}
	left := time.Until(p.since.Add(k.opt.StartTime))
	m.ready = left <= 0 && p.cluster != nil && !p.killed
	if left > 0 {
		m.again = left
	}
	if !p.native {
		m.slots = p.cluster
	}
	return m, nil
}

// show makes slots of TaskManagers and tells the API server how things are. It
// gives when to look again.
func (k *Kubelet) show(ctx context.Context, key name, p *process, all []workload) (time.Duration, error) {
	m, err := k.now(p)
	if err != nil {
		return 0, err
	}
	if !k.opt.Controllers {
		return m.again, k.play(ctx, m, all)
	}
	managers, err := k.readyPods(ctx, key, m.ready)
	if err == nil && m.slots != nil {
		m.slots.SetTaskManagersAt(managers...)
	}
	return m.again, err
}

// play does what the controllers of workloads would.
func (k *Kubelet) play(ctx context.Context, m moment, all []workload) error {
	managers := 0
	for _, w := range all {
		if w.leaving() {
			if err := k.collect(ctx, w); err != nil {
				return err
			}
			continue
		}
		n := w.replicas()
		if w.isJobManager() && !m.ready {
			n = 0
		}
		if err := k.settle(ctx, w, n); err != nil {
			return err
		}
		if !w.isJobManager() {
			managers += n
		}
	}
	if m.slots != nil {
		m.slots.SetTaskManagers(managers)
	}
	return nil
}
