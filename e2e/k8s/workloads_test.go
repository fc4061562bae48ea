//go:build e2e

package k8s

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	k8sadapter "flinkscaler/adapters/k8s"
	"flinkscaler/core"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/kubelocal/kubetest"
)

// plainFlink is an application cluster without an operator, whose TaskManagers are
// a workload of its own.
const plainFlink = `
apiVersion: v1
kind: ConfigMap
metadata: {name: flink-config}
data:
  flink-conf.yaml: |
    jobmanager.rpc.address: flink-jobmanager
    taskmanager.numberOfTaskSlots: 2
    rest.port: PORT
    MODE
    jobmanager.adaptive-scheduler.scaling-interval.min: 1 s
    jobmanager.adaptive-scheduler.resource-stabilization-timeout: 1 s
    jobmanager.adaptive-scheduler.min-parallelism-increase: 1
    slot.idle.timeout: 2000
    web.refresh-interval: 1000
    metrics.fetcher.update-interval: 1000
    heartbeat.interval: 1000
    heartbeat.timeout: 6000
    execution.checkpointing.interval: 1s
    state.checkpoints.dir: file://DIR/checkpoints
    restart-strategy: fixed-delay
    restart-strategy.fixed-delay.attempts: 1000000
    restart-strategy.fixed-delay.delay: 500 ms
---
apiVersion: v1
kind: Service
metadata: {name: flink-jobmanager}
spec: {ports: [{name: rpc, port: 6123}], selector: {app: flink, component: jobmanager}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: flink-jobmanager}
spec:
  selector: {matchLabels: {app: flink, component: jobmanager}}
  template:
    metadata: {labels: {app: flink, component: jobmanager}}
    spec:
      containers:
      - name: jobmanager
        image: "flink:1.18"
        args: [standalone-job, --job-classname, CLASS, --rate-file, RATES, --splits, "12", --max-parallelism, "24", --name, orders]
      volumes: [{name: config, configMap: {name: flink-config}}]
---
apiVersion: apps/v1
kind: KIND
metadata: {name: flink-taskmanager}
spec:
  replicas: 1
  selector: {matchLabels: {app: flink, component: taskmanager}}
  template:
    metadata: {labels: {app: flink, component: taskmanager}}
    spec:
      containers:
      - name: taskmanager
        image: "flink:1.18"
        args: [taskmanager, "-Dtaskmanager.resource-id=$(POD)"]
        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
      volumes: [{name: config, configMap: {name: flink-config}}]
`

// workers is a real Flink without an operator on real controllers, and the adapter in
// front of it.
type workers struct {
	*k8sadapter.Cluster
	t         *testing.T
	namespace string
	target    core.Target
}

// newWorkers starts it, in a scheduler mode, with one TaskManager of two slots.
func newWorkers(t *testing.T, kind, mode string) *workers {
	t.Helper()
	plane := kubetest.Plane(t)
	kubetest.Kubelet(t)
	w := &workers{t: t, namespace: kubetest.Namespace(t)}
	ports, err := child.FreePorts(1)
	must(t, err)
	dir := t.TempDir()
	rates, err := flinklocal.NewRateFile(filepath.Join(dir, "rates"))
	must(t, err)
	must(t, rates.Set(300))
	must(t, plane.Apply(t.Context(), w.namespace, strings.NewReplacer(
		"PORT", strconv.Itoa(ports[0]), "MODE", mode, "DIR", dir, "CLASS", testjob.MainClass, "RATES", rates.Path(), "KIND", kind).Replace(plainFlink)))
	w.Cluster, err = k8sadapter.New(k8sadapter.Config{REST: plane.Config(), Address: func(string, string, int) string {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
	}})
	must(t, err)
	t.Cleanup(w.Close)
	w.target = core.Target{Kubernetes: &core.KubernetesTarget{Namespace: w.namespace, Kind: kind, Name: "flink-taskmanager", Service: "flink-jobmanager"}}
	return w
}

// runs waits until the slow vertex, and with it all that may, runs at a size.
func (w *workers) runs(size int) (core.JobRef, core.JobStatus) {
	w.t.Helper()
	var ref core.JobRef
	var status core.JobStatus
	w.await(fmt.Sprintf("the job to run at %d", size), func(ctx context.Context) (string, bool) {
		var err error
		if ref, err = w.Locate(ctx, w.target); err != nil {
			return err.Error(), false
		}
		if status, err = w.Status(ctx, ref); err != nil {
			return err.Error(), false
		}
		for _, v := range status.Topology.Vertices {
			if v.Parallelism != size {
				return fmt.Sprint(status.Topology.Sizes()), false
			}
		}
		return string(status.State), status.AllTasksRunning()
	})
	return ref, status
}

func (w *workers) await(what string, look func(ctx context.Context) (string, bool)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	must(w.t, child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		state, done := look(ctx)
		return state, done, nil
	}))
}

// want asks for one size of all vertices, and waits until nothing is outstanding.
func (w *workers) want(ref core.JobRef, size int) {
	w.t.Helper()
	r, err := w.Wanted(w.t.Context(), ref)
	must(w.t, err)
	for i := range r {
		r[i].Upper = size
	}
	w.await("the change to be taken", func(ctx context.Context) (string, bool) {
		err := w.Want(ctx, ref, "d1", r)
		if err != nil && !errors.Is(err, core.ErrBusy) {
			w.t.Fatal(err)
		}
		return fmt.Sprint(err), err == nil
	})
	w.await("the change to be carried out", func(ctx context.Context) (string, bool) {
		got, err := w.Carried(ctx, ref, r)
		return fmt.Sprintf("%+v %v", got, err), err == nil && got.Done
	})
}

// pods waits until there are so many TaskManagers.
func (w *workers) pods(count int) {
	w.t.Helper()
	w.await(fmt.Sprintf("%d TaskManagers", count), func(ctx context.Context) (string, bool) {
		list, err := kubetest.Plane(w.t).Clientset().CoreV1().Pods(w.namespace).List(ctx, meta.ListOptions{LabelSelector: "component=taskmanager"})
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%d pods", len(list.Items)), len(list.Items) == count
	})
}

// TestReactiveTaskManagers: a real Flink in reactive mode takes the TaskManagers of a
// StatefulSet that we scale, and the job stays the same.
func TestReactiveTaskManagers(t *testing.T) {
	t.Parallel()
	w := newWorkers(t, core.KindStatefulSet, "scheduler-mode: reactive")
	first, _ := w.runs(2)
	if m := first.Means; m.Refused != "" || !m.Uniform || m.Step != 2 {
		t.Fatalf("%+v", m)
	}
	for _, size := range []int{4, 2} {
		w.want(first, size)
		w.pods(size / 2)
		if ref, _ := w.runs(size); ref.ID != first.ID {
			t.Errorf("job %s became %s", first.ID, ref.ID)
		}
	}
}

// TestAdaptiveTaskManagers: a real adaptive job gets TaskManagers of a Deployment
// before its requirements, and gives back the one that is idle, which the real
// controller is told to take: the job does not notice.
func TestAdaptiveTaskManagers(t *testing.T) {
	t.Parallel()
	w := newWorkers(t, core.KindDeployment, "jobmanager.scheduler: adaptive")
	ref, _ := w.runs(1)
	w.want(ref, 4)
	w.pods(2)
	w.runs(4)
	w.want(ref, 1)
	_, before := w.runs(1)
	w.await("a TaskManager to be given back", func(ctx context.Context) (string, bool) {
		said, err := w.Trim(ctx, ref, "d2")
		if err != nil && !errors.Is(err, core.ErrNotReady) && !errors.Is(err, core.ErrBusy) {
			t.Fatal(err)
		}
		return fmt.Sprint(said, err), err == nil
	})
	w.pods(1)
	w.await("one TaskManager at the JobManager", func(ctx context.Context) (string, bool) {
		slots, err := w.Slots(ctx, ref)
		return fmt.Sprint(slots, err), err == nil && slots.Total == 2
	})
	if _, after := w.runs(1); !after.RunningSince.Equal(before.RunningSince) {
		t.Errorf("running since %s, before the TaskManager went since %s: it held tasks", after.RunningSince, before.RunningSince)
	}
}
