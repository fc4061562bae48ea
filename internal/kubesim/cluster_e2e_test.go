//go:build e2e

package kubesim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flinkscaler/internal/kubelocal/kubetest"
)

// fc is a FlinkCluster under test.
type fc struct {
	t    *testing.T
	api  *api
	key  name
	port int
	kube *Kubelet
	op   *ClusterOperator
}

// startFC makes a FlinkCluster, with parts of its spec as YAML of one line each,
// and waits until it runs.
func startFC(t *testing.T, spec ...string) *fc {
	t.Helper()
	plane, ns := kubetest.Plane(t), kubetest.Namespace(t)
	a, err := newAPI(plane.Config(), "flinkscaler")
	if err != nil {
		t.Fatal(err)
	}
	c := &fc{t: t, api: a, key: name{Namespace: ns, Name: "c1"}, port: port(t), kube: kubeletFor(t, ns, KubeletOptions{Flink: nimble()})}
	if c.op, err = StartFlinkClusterOperator(t.Context(), plane.Config(), ClusterOptions{Namespaces: []string{ns}, ReconcileEvery: time.Second, Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.op.Stop)
	err = plane.Apply(t.Context(), ns, fmt.Sprintf(`
apiVersion: flinkoperator.k8s.io/v1beta1
kind: FlinkCluster
metadata: {name: c1}
spec:
  flinkVersion: "1.20"
  image: {name: "flink:1.20"}
  jobManager: {ports: {ui: %d}}
  %s
`, c.port, strings.Join(spec, "\n  ")))
	if err != nil {
		t.Fatal(err)
	}
	c.settled("")
	return c
}

func (c *fc) read() *object {
	c.t.Helper()
	o, err := c.api.get(c.t.Context(), flinkClusters, c.key)
	if err != nil || o == nil {
		c.t.Fatal(o, err)
	}
	return o
}

func (c *fc) status(path ...string) string {
	c.t.Helper()
	return fmt.Sprint(nested(c.read(), append([]string{"status"}, path...)...))
}

// settled waits until an update from a revision is done, and gives the new one.
func (c *fc) settled(from string) string {
	c.t.Helper()
	var o *object
	current := ""
	await(c.t, "settled after revision "+from, func() bool {
		o = c.read()
		current, _ = nested(o, "status", "revision", "currentRevision").(string)
		return current != "" && current != from && nested(o, "status", "revision", "nextRevision") == current && nested(o, "status", "state") == clusterRunning
	}, func() string { return fmt.Sprint(o.Object["status"]) })
	return current
}

// sizes waits for the sizes of the running job and gives its id.
func (c *fc) sizes(want string) string {
	c.t.Helper()
	job, got := "", ""
	await(c.t, "sizes "+want, func() bool {
		all, err := flinkAt(c.port).jobs(c.t.Context())
		if err != nil {
			got = err.Error()
			return false
		}
		got = "none"
		for _, j := range all {
			if j.State != jobRunning {
				continue
			}
			m, err := flinkAt(c.port).parallelisms(c.t.Context(), j.ID)
			if err != nil {
				return false
			}
			job, got = j.ID, vertexNames(formatOverrides(m))
		}
		return got == want
	}, func() string { return got })
	return job
}

func (c *fc) patch(content map[string]any, sub ...string) {
	c.t.Helper()
	if err := c.api.patch(c.t.Context(), flinkClusters, c.key, content, sub...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *fc) uid(r resource, suffix string) string {
	c.t.Helper()
	o, err := c.api.get(c.t.Context(), r, name{Namespace: c.key.Namespace, Name: c.key.Name + suffix})
	if err != nil || o == nil {
		c.t.Fatal(o, err)
	}
	return string(o.GetUID())
}

func replicasTo(n int) map[string]any { return map[string]any{"spec": map[string]any{"replicas": n}} }

const (
	adaptive2 = `flinkProperties: {taskmanager.numberOfTaskSlots: "2", jobmanager.scheduler: adaptive}`
	reactive2 = `flinkProperties: {taskmanager.numberOfTaskSlots: "2", scheduler-mode: reactive, execution.checkpointing.interval: 1s}`
)

func TestReactiveFlinkClusterFollowsItsReplicas(t *testing.T) {
	t.Parallel()
	c := startFC(t, reactive2, `taskManager: {replicas: 1}`, `job: {mode: Application, className: x, savepointsDir: `+t.TempDir()+`}`)
	first := c.sizes("W:2,S:2")
	before, manager := c.status("revision", "currentRevision"), c.uid(batchJobs, "-jobmanager")

	c.patch(replicasTo(3), "scale")
	after := c.settled(before)
	if got := c.sizes("W:6,S:6"); got != first || c.uid(batchJobs, "-jobmanager") != manager {
		t.Errorf("the job %s became %s: a change of size restarts tasks, not the job", first, got)
	}
	c.patch(replicasTo(2), "scale")
	c.settled(after)
	if got := c.sizes("W:4,S:4"); got != first {
		t.Errorf("the job %s became %s on the way down", first, got)
	}
	if got := c.status("components", "taskManager", "replicas"); got != "2" {
		t.Errorf("status shows %s replicas", got)
	}
}

func TestJobFlinkClusterTakesASavepointForItsParallelism(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startFC(t, adaptive2, `taskManager: {replicas: 1}`, `job: {jarFile: x.jar, parallelism: 2, savepointsDir: `+dir+`}`)
	first := c.sizes("W:2,S:2")
	before, manager := c.status("revision", "currentRevision"), c.uid(statefulSets, "-jobmanager")

	c.patch(map[string]any{"spec": map[string]any{"job": map[string]any{"parallelism": 4}, "taskManager": map[string]any{"replicas": 2}}})
	after := c.settled(before)
	second := c.sizes("W:4,S:4")
	if second == first || c.uid(statefulSets, "-jobmanager") == manager {
		t.Error("the components were not made anew")
	}
	if c.status("savepoint", "state") != "Succeeded" || c.status("savepoint", "triggerReason") != "update" {
		t.Errorf("savepoint %v", nested(c.read(), "status", "savepoint"))
	}
	if from := c.status("components", "job", "fromSavepoint"); !strings.Contains(from, dir) || c.status("components", "job", "id") != second {
		t.Errorf("job %v", nested(c.read(), "status", "components", "job"))
	}

	// Replicas alone leave the parallelism: more slots lie idle, fewer end it.
	c.patch(replicasTo(3), "scale")
	c.settled(after)
	if got := c.sizes("W:4,S:4"); got != second {
		t.Errorf("the job %s became %s", second, got)
	}
	if v := c.kube.Cluster(c.key.Namespace, "c1").Views(); v[0].SlotsTotal != 6 || v[0].SlotsFree != 2 {
		t.Errorf("slots: %+v", v[0])
	}
}

func TestSessionFlinkClusterIsMadeAnew(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason   string
		recreate bool
		survives bool
	}{
		"by default":       {"a change of size is a full update: the jobs of the session are lost", true, false},
		"without recreate": {"only the TaskManagers change: the jobs go on", false, true},
	}
	for called, tt := range tests {
		t.Run(called, func(t *testing.T) {
			t.Parallel()
			c := startFC(t, adaptive2, `taskManager: {replicas: 2}`, fmt.Sprintf(`recreateOnUpdate: %t`, tt.recreate))
			job, err := flinkAt(c.port).run(t.Context(), map[string]any{"parallelism": 2})
			if err != nil {
				t.Fatal(err)
			}
			c.sizes("W:2,S:2")
			before := c.status("revision", "currentRevision")
			c.patch(replicasTo(3), "scale")
			c.settled(before)
			all, err := flinkAt(c.port).jobs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			survived := slices.ContainsFunc(all, func(j flinkJob) bool { return j.ID == job && j.State == jobRunning })
			if survived != tt.survives {
				t.Errorf("%s: %v", tt.reason, all)
			}
			await(t, "slots of 3 TaskManagers", func() bool { return slotsOf(t, c.port) == 6 }, func() string { return fmt.Sprint(slotsOf(t, c.port)) })
		})
	}
}

func slotsOf(t *testing.T, port int) int {
	t.Helper()
	var a struct {
		Slots int `json:"slots-total"`
	}
	if err := flinkAt(port).ask(t.Context(), "GET", "/overview", nil, &a); err != nil {
		return -1
	}
	return a.Slots
}

// TestRevisionsShowAnUpdate follows the only sign of progress there is.
func TestRevisionsShowAnUpdate(t *testing.T) {
	t.Parallel()
	c := startFC(t, reactive2, `taskManager: {replicas: 1}`, `job: {mode: Application, className: x}`)
	first := c.status("revision", "currentRevision")
	c.op.Ignore(c.key.Namespace, "c1", true)
	c.patch(replicasTo(2), "scale")
	if c.status("revision", "nextRevision") != first {
		t.Error("right after a patch both are the old one")
	}
	c.op.Ignore(c.key.Namespace, "c1", false)
	second := c.settled(first)
	if !strings.HasSuffix(second, "-2") || !strings.HasPrefix(second, "c1-") {
		t.Errorf("second revision %s after %s", second, first)
	}
	c.patch(replicasTo(1), "scale")
	third := c.settled(second)
	if !strings.HasSuffix(third, "-3") || strings.TrimSuffix(third, "-3") != strings.TrimSuffix(first, "-1") {
		t.Errorf("a spec that was there before gets a new number: %s after %s", third, first)
	}
	all, err := c.api.list(t.Context(), revisions, c.key.Namespace, "flinkoperator.k8s.io/managed-by=c1")
	if err != nil || len(all) != 2 {
		t.Errorf("%d ControllerRevisions, want 2: %v", len(all), err)
	}
}
