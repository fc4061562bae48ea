//go:build e2e

package kubesim

import (
	"fmt"
	"os"
	"testing"

	"flinkscaler/internal/kubelocal"
	"flinkscaler/internal/kubelocal/kubetest"
)

// plain is a standalone application cluster without an operator, its
// TaskManagers of a kind that is given.
func plain(kind, called string, port, replicas int, conf string) string {
	service := ""
	if kind == "StatefulSet" {
		service = "serviceName: " + called + "-taskmanager,"
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: %[2]s-config}
data:
  flink-conf.yaml: |
    rest.port: %[3]d
    taskmanager.numberOfTaskSlots: 2
    %[5]s
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s-jobmanager, labels: {app: %[2]s, component: jobmanager}}
spec:
  selector: {matchLabels: {app: %[2]s, component: jobmanager}}
  template:
    metadata: {labels: {app: %[2]s, component: jobmanager}}
    spec:
      containers: [{name: jobmanager, image: flink, args: [standalone-job, --job-classname, x]}]
      volumes: [{name: conf, configMap: {name: %[2]s-config}}]
---
apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[2]s-taskmanager, labels: {app: %[2]s, component: taskmanager}}
spec:
  replicas: %[4]d
  %[6]s
  selector: {matchLabels: {app: %[2]s, component: taskmanager}}
  template:
    metadata: {labels: {app: %[2]s, component: taskmanager}}
    spec:
      containers: [{name: taskmanager, image: flink}]
      volumes: [{name: conf, configMap: {name: %[2]s-config}}]
`, kind, called, port, replicas, conf, trimComma(service))
}

func trimComma(s string) string {
	if s == "" {
		return "minReadySeconds: 0"
	}
	return s[:len(s)-1]
}

const (
	reactiveConf = "scheduler-mode: reactive"
	adaptiveConf = "jobmanager.scheduler: adaptive"
)

// TestWorkloadsWithoutOperator scales TaskManagers by their own scale
// subresource.
func TestWorkloadsWithoutOperator(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason        string
		kind, conf    string
		before, after string
		slots         int
	}{
		"reactive Deployment":  {"Flink takes what there is", "Deployment", reactiveConf, "S:1..128=2 W:1..128=2", "S:1..128=6 W:1..128=6", 6},
		"reactive StatefulSet": {"the same", "StatefulSet", reactiveConf, "S:1..128=2 W:1..128=2", "S:1..128=6 W:1..128=6", 6},
		"adaptive Deployment":  {"slots alone change nothing", "Deployment", adaptiveConf, "S:1..1=1 W:1..1=1", "S:1..1=1 W:1..1=1", 6},
	}
	for called, tt := range tests {
		t.Run(called, func(t *testing.T) {
			t.Parallel()
			ns := kubetest.Namespace(t)
			d := newFD(t, kubetest.Plane(t).Config(), ns)
			kubeletFor(t, ns, KubeletOptions{Flink: nimble()})
			if err := kubetest.Plane(t).Apply(t.Context(), ns, plain(tt.kind, "p1", d.port, 1, tt.conf)); err != nil {
				t.Fatal(err)
			}
			job := d.awaitFlink(tt.before)
			r := map[string]resource{"Deployment": deployments, "StatefulSet": statefulSets}[tt.kind]
			key := name{Namespace: ns, Name: "p1-taskmanager"}
			if err := d.api.patch(t.Context(), r, key, replicasTo(3), "scale"); err != nil {
				t.Fatal(err)
			}
			await(t, "slots", func() bool { return slotsOf(t, d.port) == tt.slots }, func() string { return fmt.Sprint(slotsOf(t, d.port)) })
			if next := d.awaitFlink(tt.after); next != job {
				t.Errorf("%s: job %s became %s", tt.reason, job, next)
			}
			await(t, "3 pods ready", func() bool {
				o, err := d.api.get(t.Context(), r, key)
				return err == nil && nestedInt(o, "status", "readyReplicas") == 3 && int64(nestedInt(o, "status", "observedGeneration")) == o.GetGeneration()
			}, d.events)
			if err := d.api.patch(t.Context(), r, key, replicasTo(1), "scale"); err != nil {
				t.Fatal(err)
			}
			d.awaitFlink(tt.before)
		})
	}
}

// TestPodsThatAreDenied bring no slots.
func TestPodsThatAreDenied(t *testing.T) {
	t.Parallel()
	ns, plane := kubetest.Namespace(t), kubetest.Plane(t)
	d := newFD(t, plane.Config(), ns)
	kubeletFor(t, ns, KubeletOptions{Flink: nimble()})
	const quota = `{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: "3"}}}`
	if err := plane.Apply(t.Context(), ns, quota, plain("Deployment", "p1", d.port, 1, reactiveConf)); err != nil {
		t.Fatal(err)
	}
	d.awaitFlink("S:1..128=2 W:1..128=2")
	key := name{Namespace: ns, Name: "p1-taskmanager"}
	if err := d.api.patch(t.Context(), deployments, key, replicasTo(4), "scale"); err != nil {
		t.Fatal(err)
	}
	d.awaitFlink("S:1..128=4 W:1..128=4")
}

// TestKubeletPlaysTheControllers on a control plane that has none.
func TestKubeletPlaysTheControllers(t *testing.T) {
	t.Parallel()
	operators, err := kubelocal.OperatorCRDs()
	if err != nil {
		t.Fatal(err)
	}
	plane, err := kubelocal.Start(t.Context(), kubelocal.Options{CRDs: append(operators, FlinkClusterCRD), Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Close(); err != nil {
			t.Error(err)
		}
	})
	ns, err := plane.Namespace(t.Context(), "alone")
	if err != nil {
		t.Fatal(err)
	}
	d := newFD(t, plane.Config(), ns)
	if d.kube, err = StartKubelet(t.Context(), plane.Config(), KubeletOptions{Flink: nimble(), Job: recordedJob, Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.kube.Stop)
	d.op = operatorAt(t, plane.Config(), ns, Options{})
	d.create(flinkConf(keyOverrides, vertexIDs("S:1,W:2")))
	d.awaitLife("STABLE")
	uid := d.uid()
	d.override("S:1")
	d.awaitLife("STABLE")
	d.awaitFlink("S:1..1=1 W:1..1=1")
	if d.uid() == uid {
		t.Error("no full upgrade")
	}
	if err := d.api.drop(t.Context(), flinkDeployments, d.key, "Background"); err != nil {
		t.Fatal(err)
	}
	await(t, "all gone", func() bool { return d.count() == 0 }, func() string { return fmt.Sprint(d.count()) })

	p := newFD(t, plane.Config(), ns)
	if err := plane.Apply(t.Context(), ns, plain("StatefulSet", "p1", p.port, 1, reactiveConf)); err != nil {
		t.Fatal(err)
	}
	p.awaitFlink("S:1..128=2 W:1..128=2")
	key := name{Namespace: ns, Name: "p1-taskmanager"}
	if err := p.api.patch(t.Context(), statefulSets, key, replicasTo(2), "scale"); err != nil {
		t.Fatal(err)
	}
	p.awaitFlink("S:1..128=4 W:1..128=4")
	await(t, "2 ready", func() bool {
		o, err := p.api.get(t.Context(), statefulSets, key)
		return err == nil && nestedInt(o, "status", "readyReplicas") == 2
	}, p.events)
}

// count is how many objects a FlinkDeployment has.
func (d *fd) count() int {
	d.t.Helper()
	n := 0
	for _, r := range []resource{flinkDeployments, deployments, services} {
		all, err := d.api.list(d.t.Context(), r, d.key.Namespace, "")
		if err != nil {
			d.t.Fatal(err)
		}
		n += len(all)
	}
	return n
}
