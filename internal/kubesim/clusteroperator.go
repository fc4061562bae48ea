package kubesim

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// ClusterOptions describe the operator of FlinkClusters. Every zero means the
// default.
type ClusterOptions struct {
	// Namespaces to watch, all when empty.
	Namespaces []string
	// ReconcileEvery is how often a settled cluster is looked at, 5 s; one that
	// is on its way somewhere five times as often.
	ReconcileEvery time.Duration
	// Log gets lines for people; nothing by default.
	Log func(format string, args ...any)
}

// ClusterOperator plays the flink-on-k8s-operator.
type ClusterOperator struct {
	opt  ClusterOptions
	api  *api
	loop *loop
	stop context.CancelFunc

	mu     sync.Mutex
	away   map[name]bool
	halted bool
}

// StartFlinkClusterOperator serves FlinkClusters until Stop or the end of the
// context. Their definition is FlinkClusterCRD.
func StartFlinkClusterOperator(ctx context.Context, config *rest.Config, opt ClusterOptions) (*ClusterOperator, error) {
	if opt.ReconcileEvery == 0 {
		opt.ReconcileEvery = 5 * time.Second
	}
	if opt.Log == nil {
		opt.Log = func(string, ...any) {}
	}
	a, err := newAPI(config, "flink-cluster-operator")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	o := &ClusterOperator{opt: opt, api: a, stop: stop, away: map[name]bool{}}
	o.loop = &loop{api: a, namespaces: opt.Namespaces, step: o.step, log: opt.Log}
	part := func(r resource) source { return source{resource: r, selector: "app=flink,cluster", keys: clusterOf} }
	if err := o.loop.start(ctx, source{resource: flinkClusters, keys: itself, onSpec: true}, part(statefulSets), part(deployments), part(batchJobs)); err != nil {
		o.Stop()
		return nil, err
	}
	return o, nil
}

func clusterOf(o *object) []name {
	return []name{{Namespace: o.GetNamespace(), Name: o.GetLabels()["cluster"]}}
}

// Stop ends the operator; everything that it made stays.
func (o *ClusterOperator) Stop() {
	o.stop()
	o.loop.done()
}

// Halt stops the operator as scaling it to nothing does; with false it goes on.
func (o *ClusterOperator) Halt(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.halted = on
}

// Ignore has the operator not look at a cluster, as one it is stuck with: its
// revisions do not move.
func (o *ClusterOperator) Ignore(namespace, cluster string, on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away[name{Namespace: namespace, Name: cluster}] = on
}

func (o *ClusterOperator) isAway(key name) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.halted || o.away[key]
}

// step brings one FlinkCluster further.
func (o *ClusterOperator) step(ctx context.Context, key name) (time.Duration, error) {
	if o.isAway(key) {
		return awayCheck, nil
	}
	c, err := o.load(ctx, key)
	if err != nil {
		return 0, err
	}
	if c == nil {
		return 0, o.forget(ctx, key)
	}
	known, err := o.revisions(ctx, c.o)
	if err != nil {
		return 0, err
	}
	if known, err = o.remember(ctx, c.o, known); err != nil {
		return 0, err
	}
	newest := known[len(known)-1]
	if err := o.reconcile(ctx, c, known, newest); err != nil {
		return 0, err
	}
	if c.status.State != clusterRunning || c.status.Revision.Current != newest.String() {
		return o.opt.ReconcileEvery / 5, nil
	}
	return o.opt.ReconcileEvery, nil
}

// reconcile updates to the newest revision, makes what is missing, runs the job
// and shows how things are.
func (o *ClusterOperator) reconcile(ctx context.Context, c *cluster, known []revision, newest revision) error {
	if c.status.Revision.Current == "" {
		c.status.Revision.Current = newest.String()
		c.status.State = clusterCreating
	}
	c.status.Revision.Next = newest.String()
	if c.status.Revision.Current != newest.String() {
		c.status.State = clusterUpdating
		if err := o.save(ctx, c); err != nil {
			return err
		}
		if done, err := o.update(ctx, c, known, newest); !done || err != nil {
			return err
		}
	}
	o.prepareJob(c)
	if err := o.create(ctx, c, newest); err != nil {
		return err
	}
	up, err := o.observe(ctx, c)
	if err != nil {
		return err
	}
	if up {
		if err := o.runJob(ctx, c); err != nil {
			return err
		}
	}
	if up && c.status.Revision.Current != newest.String() && o.isUp(c) {
		c.status.Revision.Current = newest.String()
	}
	c.status.State = o.stateOf(c)
	return o.save(ctx, c)
}

func (o *ClusterOperator) stateOf(c *cluster) string {
	switch {
	case c.status.Revision.Current != c.status.Revision.Next:
		return clusterUpdating
	case o.isUp(c):
		return clusterRunning
	case c.status.State == clusterRunning:
		return "Reconciling"
	}
	return clusterCreating
}

// isUp is true when every component is.
func (o *ClusterOperator) isUp(c *cluster) bool {
	s := c.status.Components
	return s.JobManager.State == isReadyUp && s.TaskManager.State == isReadyUp && (s.Job == nil || s.Job.State == jobUp)
}

// update does what the change from the revision before asks for. It is false
// while that is not done.
func (o *ClusterOperator) update(ctx context.Context, c *cluster, known []revision, newest revision) (bool, error) {
	before := revision{}
	for _, r := range known {
		if r.String() == c.status.Revision.Current {
			before = r
		}
	}
	// As the operator, which compares the last two revisions, whatever runs.
	if n := len(known); n > 1 {
		before = known[n-2]
	}
	workers, err := o.api.get(ctx, c.workersResource(), c.key("-taskmanager"))
	if err != nil {
		return false, err
	}
	if workers != nil && workers.GetLabels()["flinkoperator.k8s.io/hash"] == newest.hash() {
		return true, nil // under way
	}
	kind := updateBetween(before.spec, newest.spec)
	if kind == scaleUpdate || (!isSet(c.spec, "recreateOnUpdate") && !c.isApplication()) {
		if kind == fullUpdate && c.job() != nil {
			if done, err := o.stopJob(ctx, c); !done || err != nil {
				return done, err
			}
		}
		return true, o.resize(ctx, c, newest, kind)
	}
	if c.job() != nil {
		if done, err := o.stopJob(ctx, c); !done || err != nil {
			return done, err
		}
	}
	return true, o.recreate(ctx, c)
}

// resize changes the TaskManagers where they are. In a full update without
// recreation the configuration goes along; the JobManager stays.
func (o *ClusterOperator) resize(ctx context.Context, c *cluster, r revision, kind update) error {
	if kind == fullUpdate {
		o.prepareJob(c)
		if err := o.api.patch(ctx, configMaps, c.key("-configmap"), map[string]any{"data": c.configMap(r)["data"]}); err != nil {
			return err
		}
	}
	return o.api.patch(ctx, c.workersResource(), c.key("-taskmanager"), map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"flinkoperator.k8s.io/hash": r.hash()}},
		"spec":     map[string]any{"replicas": c.replicas()},
	})
}

// recreate removes the components; what is missing is made next.
func (o *ClusterOperator) recreate(ctx context.Context, c *cluster) error {
	for _, x := range c.parts() {
		if err := o.api.drop(ctx, x.resource, x.key, metav1.DeletePropagationForeground); err != nil {
			return err
		}
	}
	for _, x := range c.parts() {
		if err := o.awaitGone(ctx, x.resource, x.key); err != nil {
			return err
		}
	}
	return nil
}

// place is where a component is.
type place struct {
	resource resource
	key      name
}

func (c *cluster) parts() []place {
	return []place{
		{statefulSets, c.key("-jobmanager")}, {batchJobs, c.key("-jobmanager")},
		{statefulSets, c.key("-taskmanager")}, {deployments, c.key("-taskmanager")},
		{configMaps, c.key("-configmap")},
	}
}

func (o *ClusterOperator) awaitGone(ctx context.Context, r resource, key name) error {
	for end := time.Now().Add(goneWithin); time.Now().Before(end); {
		x, err := o.api.get(ctx, r, key)
		if err != nil || x == nil {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("delete %s %s: still there after %s", r.Resource, key, goneWithin)
}

// forget removes what a deleted cluster leaves, in case nobody collects it.
func (o *ClusterOperator) forget(ctx context.Context, key name) error {
	gone := &object{Object: map[string]any{}}
	gone.SetNamespace(key.Namespace)
	gone.SetName(key.Name)
	c := &cluster{o: gone}
	for _, x := range append(c.parts(), place{services, c.key("-jobmanager")}) {
		if err := o.api.drop(ctx, x.resource, x.key, metav1.DeletePropagationForeground); err != nil {
			return err
		}
	}
	return nil
}

// observe shows the workloads. It is true when the JobManager is ready.
func (o *ClusterOperator) observe(ctx context.Context, c *cluster) (bool, error) {
	s := &c.status.Components
	s.ConfigMap = &component{Name: c.name() + "-configmap", State: isReadyUp}
	s.Service = &component{Name: c.name() + "-jobmanager", State: isReadyUp}
	manager, err := o.api.get(ctx, c.managerResource(), c.key("-jobmanager"))
	if err != nil {
		return false, err
	}
	ready := 0
	if manager != nil && c.isApplication() {
		ready = nestedInt(manager, "status", "ready")
	} else if manager != nil {
		ready = nestedInt(manager, "status", "readyReplicas")
	}
	s.JobManager = shown(c.name()+"-jobmanager", 1, ready)
	workers, err := o.api.get(ctx, c.workersResource(), c.key("-taskmanager"))
	if err != nil {
		return false, err
	}
	ready = 0
	if workers != nil {
		ready = nestedInt(workers, "status", "readyReplicas")
	}
	s.TaskManager = shown(c.name()+"-taskmanager", c.replicas(), ready)
	s.TaskManager.Selector = "app=flink,cluster=" + c.name() + ",component=taskmanager"
	if workers != nil {
		s.TaskManager.Replicas = int64(nestedInt(workers, "status", "replicas"))
	}
	return s.JobManager.State == isReadyUp, nil
}

func shown(called string, want, ready int) *component {
	state := notReady
	if ready == want {
		state = isReadyUp
	}
	return &component{Name: called, State: state, Replicas: int64(want), ReadyReplicas: int64(ready), Ready: fmt.Sprintf("%d/%d", ready, want)}
}

// jobWord is a job's state in Flink's words as the operator shows it: many of
// them are "Running".
func jobWord(state string) string {
	switch state {
	case "FINISHED":
		return "Succeeded"
	case "CANCELED", "CANCELLING":
		return "Cancelled"
	case "FAILED":
		return "Failed"
	case "":
		return jobLost
	}
	if strings.HasPrefix(state, "INITIALIZING") {
		return jobDeploying
	}
	return jobUp
}
