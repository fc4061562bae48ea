//go:build e2e

package k8s_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

// flinkCluster makes a FlinkCluster called orders, under a played operator, with
// these lines of its spec.
func (s *site) flinkCluster(spec ...string) *kubesim.ClusterOperator {
	s.t.Helper()
	op, err := kubesim.StartFlinkClusterOperator(s.t.Context(), kubetest.Plane(s.t).Config(), kubesim.ClusterOptions{
		Namespaces: []string{s.namespace}, ReconcileEvery: time.Second, Log: s.t.Logf,
	})
	s.ok(err)
	s.t.Cleanup(op.Stop)
	s.apply(`
apiVersion: flinkoperator.k8s.io/v1beta1
kind: FlinkCluster
metadata: {name: orders}
spec:
  flinkVersion: "1.20"
  image: {name: "flink:1.20"}
  jobManager: {ports: {ui: PORT}}
  ` + strings.Join(spec, "\n  "))
	return op
}

func (s *site) orders(edit ...func(*core.KubernetesTarget)) core.Target {
	return s.target(core.KindFlinkCluster, "orders", edit...)
}

const (
	clusterReactive = `flinkProperties: {taskmanager.numberOfTaskSlots: "2", scheduler-mode: reactive, execution.checkpointing.interval: 200ms}`
	clusterFixed    = `flinkProperties: {taskmanager.numberOfTaskSlots: "2", execution.checkpointing.interval: 200ms}`
	clusterSession  = `flinkProperties: {taskmanager.numberOfTaskSlots: "2", jobmanager.scheduler: adaptive, high-availability.type: kubernetes}`
	oneWorker       = `taskManager: {replicas: 1}`
	runsApplication = `job: {mode: Application, className: x, savepointsDir: DIR}`
	runsDetached    = `job: {className: x, parallelism: 2, savepointsDir: DIR}`
)

func TestReactiveFlinkClusterKeepsTheContract(t *testing.T) {
	s := newSite(t, ordersJob)
	s.flinkCluster(clusterReactive, oneWorker, runsApplication)
	s.found(s.orders(), 2)
	porttest.Run(t, s.harness("orders", s.orders(), core.Means{Uniform: true, Step: 2, Elastic: true}))
}

// TestReactiveFlinkClusterScales: nothing but replicas is written, through the scale
// subresource, and the job keeps its id.
func TestReactiveFlinkClusterScales(t *testing.T) {
	s := newSite(t, ordersJob)
	op := s.flinkCluster(clusterReactive, oneWorker, runsApplication)
	first := s.settled(2)
	for _, size := range []int{6, 2} {
		ref := s.settled(s.size(s.orders()))
		op.Halt(true)
		s.want(ref, size)
		s.outstanding(size)
		op.Halt(false)
		if ref = s.settled(size); ref.ID != first.ID {
			t.Errorf("job %s became %s", first.ID, ref.ID)
		}
		s.carried(s.orders(), size)
	}
	if g := s.get(clusterCRs, "orders").GetGeneration(); g != 3 {
		t.Errorf("%d writes for two changes", g-1)
	}
	s.managedBy(clusterCRs, "orders", "scale")
}

// outstanding checks that what was just written is not taken for done: the operator
// shows the revision before for a while.
func (s *site) outstanding(size int) {
	s.t.Helper()
	ref, err := s.Locate(s.t.Context(), s.orders())
	s.ok(err)
	r, err := s.Wanted(s.t.Context(), ref)
	s.ok(err)
	for i := range r {
		if r[i].Upper != size {
			s.t.Errorf("wanted %+v, want %d", r, size)
		}
	}
	got, err := s.Carried(s.t.Context(), ref, r)
	if err != nil || got.Done || got.Reason != core.ReasonNotCarried {
		s.t.Errorf("while the operator has seen nothing: %+v %v", got, err)
	}
}

// settled waits until the job runs at a size, and its operator is done.
func (s *site) settled(size int) core.JobRef {
	s.t.Helper()
	ref := s.found(s.orders(), size)
	s.await("the revision to be the current one", func(context.Context) (string, bool) {
		o := s.get(clusterCRs, "orders")
		current, next := text(o, "status", "revision", "currentRevision"), text(o, "status", "revision", "nextRevision")
		return current + " " + next + " " + text(o, "status", "state"), current == next && text(o, "status", "state") == "Running"
	})
	return ref
}

func TestFlinkClusterJobKeepsTheContract(t *testing.T) {
	s := newSite(t, ordersJob)
	s.flinkCluster(clusterFixed, `taskManager: {replicas: 2}`, runsDetached)
	s.settled(2)
	porttest.Run(t, s.harness("orders", s.orders(), core.Means{Uniform: true, Step: 1, Restarts: true, Elastic: true}))
}

// TestFlinkClusterJobIsUpdated: parallelism and TaskManagers in one patch, and the job
// goes on from a savepoint under another id.
func TestFlinkClusterJobIsUpdated(t *testing.T) {
	s := newSite(t, ordersJob)
	op := s.flinkCluster(clusterFixed, oneWorker, runsDetached)
	ref := s.settled(2)
	if ref.Means.Refused != "" || !ref.Means.Restarts {
		t.Fatalf("%+v", ref.Means)
	}
	op.Halt(true)
	s.want(ref, 5)
	s.outstanding(5)
	held, err := s.Wanted(t.Context(), ref)
	s.ok(err)
	held[0].Upper, held[1].Upper = 3, 3
	if err := s.Want(t.Context(), ref, "d8", held); !errors.Is(err, core.ErrBusy) {
		t.Errorf("another change right behind: %v, want busy", err)
	}
	op.Halt(false)
	again := s.settled(5)
	if again.ID == ref.ID {
		t.Error("the job was not started anew")
	}
	s.carried(s.orders(), 5)
	o := s.get(clusterCRs, "orders")
	if o.GetGeneration() != 2 || text(o, "spec", "job", "parallelism") != "5" || text(o, "spec", "taskManager", "replicas") != "3" {
		t.Errorf("generation %d, %v", o.GetGeneration(), o.Object["spec"])
	}
	if o.GetAnnotations()[k8s.AnnotationDecision] != "d7" {
		t.Errorf("annotations %v", o.GetAnnotations())
	}
	if s := text(o, "status", "savepoint", "state"); s != "Succeeded" {
		t.Errorf("savepoint %s", s)
	}
	s.patch(clusterCRs, "orders", `{"spec":{"job":{"parallelism":4}}}`)
	got, err := s.Carried(t.Context(), again, core.Requirements{{ID: held[0].ID, Lower: 1, Upper: 5}, {ID: held[1].ID, Lower: 1, Upper: 5}})
	if err == nil && got.Reason != core.ReasonForeignWriter {
		t.Errorf("after somebody else changed it: %+v", got)
	}
}

func TestFlinkClustersThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spec  []string
		job   func() flinksim.JobSpec
		words string
	}{
		"no savepoints": {[]string{clusterFixed, oneWorker, `job: {className: x, parallelism: 2}`}, ordersJob, "savepointsDir"},
		"no savepoint": {[]string{clusterFixed, oneWorker, `job: {className: x, parallelism: 2, savepointsDir: DIR, takeSavepointOnUpdate: false}`}, ordersJob,
			"takeSavepointOnUpdate"},
		"sizes of its own": {[]string{clusterFixed, oneWorker, runsDetached}, func() flinksim.JobSpec {
			j := ordersJob()
			j.Vertices[0].Parallelism = 1
			return j
		}, "Source: orders"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.job)
			s.flinkCluster(c.spec...)
			s.await("the job to be settled", func(context.Context) (string, bool) {
				state := text(s.get(clusterCRs, "orders"), "status", "state")
				return state, state == "Running"
			})
			s.refused(s.orders(), c.words)
		})
	}
}

// TestSessionFlinkCluster: refused by default; where it is allowed TaskManagers come
// and go, and the job on them goes on.
func TestSessionFlinkCluster(t *testing.T) {
	s := newSite(t, ordersJob)
	s.flinkCluster(clusterSession, oneWorker, "recreateOnUpdate: false")
	_, err := s.sim("orders").Submit(ordersJob())
	s.ok(err)
	s.refused(s.orders(ofJob("orders")), "sessionTaskManagers", "recreateOnUpdate")
	if _, err := s.Locate(t.Context(), s.orders()); !errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), "jobName") {
		t.Errorf("a session cluster without a job name: %v", err)
	}
	allowed, err := k8s.New(k8s.Config{REST: kubetest.Plane(t).Config(), SessionTaskManagers: true, Address: s.address})
	s.ok(err)
	t.Cleanup(allowed.Close)
	s.Cluster = allowed
	target := s.orders(ofJob("orders"))
	ref := s.found(target, 1)
	s.want(ref, 6)
	ref = s.settledSession(target, 6)
	if got := text(s.get(clusterCRs, "orders"), "spec", "taskManager", "replicas"); got != "3" {
		t.Errorf("%s TaskManagers for 6 slots", got)
	}
	s.want(ref, 1)
	s.found(target, 1)
	s.trimmed(ref)
	if got := text(s.get(clusterCRs, "orders"), "spec", "taskManager", "replicas"); got != "1" {
		t.Errorf("%s TaskManagers for 1 slot", got)
	}
	if again := s.settledSession(target, 1); again.ID != ref.ID {
		t.Errorf("job %s became %s", ref.ID, again.ID)
	}
}

func (s *site) settledSession(target core.Target, size int) core.JobRef {
	s.t.Helper()
	ref := s.found(target, size)
	s.await("the revision to be the current one", func(context.Context) (string, bool) {
		o := s.get(clusterCRs, "orders")
		current, next := text(o, "status", "revision", "currentRevision"), text(o, "status", "revision", "nextRevision")
		return current + " " + next, current == next
	})
	return ref
}

// TestFlinkClusterBesideAnHPA: the HorizontalPodAutoscaler of the real controller
// manager scales the FlinkCluster through our scale subresource, and the job is kept
// in step with the TaskManagers that it brings.
func TestFlinkClusterBesideAnHPA(t *testing.T) {
	s := newSite(t, ordersJob)
	s.flinkCluster(clusterFixed, oneWorker, runsDetached)
	target := s.orders(following)
	s.settled(2)
	s.apply(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: load}
spec:
  scaleTargetRef: {apiVersion: flinkoperator.k8s.io/v1beta1, kind: FlinkCluster, name: orders}
  minReplicas: 3
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`)
	s.await("the HPA to bring TaskManagers", func(ctx context.Context) (string, bool) {
		ref, err := s.Locate(ctx, target)
		if err != nil {
			return err.Error(), false
		}
		slots, err := s.Slots(ctx, ref)
		return fmt.Sprint(slots, err), err == nil && slots.Total == 6
	})
	ref := s.settled(2)
	ref, err := s.Locate(t.Context(), target)
	s.ok(err)
	if !ref.Means.Follows || ref.Means.Elastic || ref.Means.Refused != "" {
		t.Fatalf("%+v", ref.Means)
	}
	if rivals, err := s.Rivals(t.Context(), ref); err != nil || len(rivals) > 0 && !rivals[0].Warning {
		t.Errorf("what is followed is no rival: %+v %v", rivals, err)
	}
	held, err := s.Wanted(t.Context(), ref)
	s.ok(err)
	for i := range held {
		held[i].Upper = 7
	}
	if err := s.Want(t.Context(), ref, "d6", held); !errors.Is(err, core.ErrRefused) {
		t.Errorf("more than the 6 slots that are there: %v", err)
	}
	s.want(ref, 6)
	s.settled(6)
	s.carried(target, 6)
	o := s.get(clusterCRs, "orders")
	if got := text(o, "spec", "taskManager", "replicas"); got != "3" {
		t.Errorf("%s TaskManagers: they are the HPA's", got)
	}
	for _, m := range o.GetManagedFields() {
		if m.Manager == k8s.FieldManager && strings.Contains(m.FieldsV1.GetRawString(), "f:replicas") {
			t.Errorf("we own the replicas: %s", m.FieldsV1.GetRawString())
		}
	}
	s.await("the HPA to see the TaskManagers", func(context.Context) (string, bool) {
		status := s.get(scalers, "load").Object["status"]
		current := text(s.get(scalers, "load"), "status", "currentReplicas")
		return fmt.Sprint(status), current == "3" && !strings.Contains(fmt.Sprint(status), "InvalidSelector")
	})
}

// standaloneCluster is a FlinkDeployment whose operator keeps the TaskManagers in a
// Deployment.
const standaloneCluster = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  mode: standalone
  flinkConfiguration:
    rest.port: "PORT"
    taskmanager.numberOfTaskSlots: "2"
    OPTIONS
  jobManager: {resource: {memory: 1024m, cpu: 0.5}}
  taskManager: {REPLICASresource: {memory: 1024m, cpu: 0.5}}
  job: {jarURI: "local:///opt/x.jar", entryClass: x, parallelism: 2, upgradeMode: savepoint}
`

func (s *site) standalone(replicas, options string) {
	s.t.Helper()
	op, err := kubesim.StartOperator(s.t.Context(), kubetest.Plane(s.t).Config(), kubesim.Options{
		Namespaces: []string{s.namespace}, Log: s.t.Logf, ReconcileEvery: time.Second, ProgressEvery: 500 * time.Millisecond, RestDelay: 200 * time.Millisecond,
	})
	s.ok(err)
	s.t.Cleanup(op.Stop)
	s.apply(strings.NewReplacer("OPTIONS", options, "REPLICAS", replicas).Replace(standaloneCluster))
}

func TestStandaloneFlinkDeploymentKeepsTheContract(t *testing.T) {
	s := newSite(t, ordersJob)
	s.standalone("replicas: 1, ", inReactive)
	target := s.target(core.KindFlinkDeployment, "orders")
	s.found(target, 2)
	h := s.harness("orders", target, core.Means{Uniform: true, Step: 2, Elastic: true})
	h.Elastic = true // Flink knows the cluster's id, and looks as if it started TaskManagers
	// A job that the operator did not start is not the object's.
	h.Hooks.Again, h.NotOffered = nil, []string{"Again"}
	porttest.Run(t, h)
}

// TestStandaloneFlinkDeploymentScales: the JobManager stays, and so does the job.
func TestStandaloneFlinkDeploymentScales(t *testing.T) {
	s := newSite(t, ordersJob)
	s.standalone("replicas: 1, ", inReactive)
	target := s.target(core.KindFlinkDeployment, "orders")
	ref := s.found(target, 2)
	manager := s.get(deployments, "orders").GetUID()
	for _, size := range []int{6, 2} {
		s.want(ref, size)
		s.found(target, size)
		s.carried(target, size)
	}
	if again := s.found(target, 2); again.ID != ref.ID || s.get(deployments, "orders").GetUID() != manager {
		t.Errorf("job %s became %s", ref.ID, again.ID)
	}
	s.managedBy(flinkCRs, "orders", "scale")
}

func TestStandaloneFlinkDeploymentsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ replicas, options, words string }{
		"replicas unset": {"", inReactive, "spec.taskManager.replicas"},
		"not reactive":   {"replicas: 1, ", inAdaptive, "scheduler-mode"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, ordersJob)
			s.standalone(c.replicas, c.options)
			s.refused(s.target(core.KindFlinkDeployment, "orders"), c.words)
		})
	}
}
