//go:build e2e

package k8s_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

// set is a way to run the job "orders" with an operator.
type set struct {
	// manifests are applied in order; PORT and SAVEPOINTS are filled in.
	manifests []string
	// resource is that of the object named orders, cluster the name of its Flink.
	resource, cluster string
	target            core.KubernetesTarget
	means             core.Means
	// byHand submits the job to the session cluster, as a person would.
	byHand bool
}

// sets are all ways that the suite is run on.
func sets() map[string]set {
	application := core.KubernetesTarget{Kind: core.KindFlinkDeployment, Name: "orders"}
	return map[string]set{
		"application":                  {manifests: []string{cluster("orders", "adaptive", jobOf)}, resource: "flinkdeployments", cluster: "orders", target: application},
		"application, default":         {manifests: []string{cluster("orders", "default", jobOf)}, resource: "flinkdeployments", cluster: "orders", target: application, means: core.Means{Restarts: true}},
		"session job":                  {manifests: []string{cluster("session", "adaptive", ""), sessionJob}, resource: "flinksessionjobs", cluster: "session", target: core.KubernetesTarget{Kind: core.KindFlinkSessionJob, Name: "orders"}},
		"session job, default":         {manifests: []string{cluster("session", "default", ""), sessionJob}, resource: "flinksessionjobs", cluster: "session", target: core.KubernetesTarget{Kind: core.KindFlinkSessionJob, Name: "orders"}, means: core.Means{Restarts: true}},
		"job submitted to the session": {manifests: []string{cluster("session", "adaptive", "")}, cluster: "session", target: core.KubernetesTarget{Kind: core.KindFlinkDeployment, Name: "session", JobName: "orders"}, byHand: true},
	}
}

// TestOperatorKeepsTheContract runs the conformance suite on jobs that an operator
// changes, in place and by starting them anew.
func TestOperatorKeepsTheContract(t *testing.T) {
	for _, release := range []string{kubesim.Operator115, kubesim.Operator17} {
		for name, s := range sets() {
			t.Run(release+" "+name, func(t *testing.T) { porttest.Run(t, harnessOf(t, release, s)) })
		}
	}
}

// cluster is a FlinkDeployment.
func cluster(name, scheduler, job string) string {
	return `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: ` + name + `}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    rest.port: "PORT"
    jobmanager.scheduler: ` + scheduler + `
    taskmanager.numberOfTaskSlots: "8"
    state.savepoints.dir: file://SAVEPOINTS
  jobManager: {resource: {memory: 1024m, cpu: 0.5}}
  taskManager: {resource: {memory: 1024m, cpu: 0.5}}
` + job
}

const jobOf = `  job: {jarURI: "local:///opt/x.jar", entryClass: feas.SlowJob, parallelism: 2, upgradeMode: savepoint}
`

const sessionJob = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkSessionJob
metadata: {name: orders}
spec:
  deploymentName: session
  job: {jarURI: "file:///opt/x.jar", entryClass: feas.SlowJob, parallelism: 2, upgradeMode: savepoint}
`

func orders() flinksim.JobSpec {
	return flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500), Vertices: flinksim.DefaultVertices()}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, what string, look func(context.Context) (string, bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, what, look))
}

// play starts a kubelet and an operator for a namespace, with a simulated Flink
// whose waits are short.
func play(t *testing.T, release, namespace string) *kubesim.Kubelet {
	t.Helper()
	plane := kubetest.Plane(t)
	kubelet, err := kubesim.StartKubelet(t.Context(), plane.Config(), kubesim.KubeletOptions{
		Namespaces: []string{namespace}, Controllers: true, Log: t.Logf,
		Job: func(kubesim.Program) flinksim.JobSpec { return orders() },
		Flink: flinksim.Options{
			FetchInterval: 200 * time.Millisecond, FetchTime: 10 * time.Millisecond, CacheTime: 100 * time.Millisecond,
			WebTimeout: 500 * time.Millisecond, LossFreeze: 100 * time.Millisecond, Cooldown: 50 * time.Millisecond,
			MaxDelay: 200 * time.Millisecond, Stabilization: 100 * time.Millisecond, Downtime: 50 * time.Millisecond,
			Deploy: 20 * time.Millisecond, CheckpointInterval: 200 * time.Millisecond, CheckpointDuration: 5 * time.Millisecond,
			GaugeSpan: time.Second,
		},
	})
	must(t, err)
	t.Cleanup(kubelet.Stop)
	operator, err := kubesim.StartOperator(t.Context(), plane.Config(), kubesim.Options{
		Version: release, Namespaces: []string{namespace}, Log: t.Logf,
		ReconcileEvery: time.Second, ProgressEvery: 500 * time.Millisecond, RestDelay: 200 * time.Millisecond,
	})
	must(t, err)
	t.Cleanup(operator.Stop)
	return kubelet
}

// bringUp applies the objects, and submits the job where nobody else does.
func bringUp(t *testing.T, s set, namespace string, sim func() *flinksim.Cluster) {
	t.Helper()
	must(t, kubetest.Plane(t).Apply(t.Context(), namespace, s.manifests...))
	if !s.byHand {
		return
	}
	await(t, "the session cluster to run", func(context.Context) (string, bool, error) { return "", sim() != nil, nil })
	_, err := sim().Submit(orders())
	must(t, err)
}

func harnessOf(t *testing.T, release string, s set) porttest.Harness {
	t.Helper()
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	kubelet := play(t, release, namespace)
	sim := func() *flinksim.Cluster { return kubelet.Cluster(namespace, s.cluster) }
	ports, err := child.FreePorts(1)
	must(t, err)
	for i, m := range s.manifests {
		s.manifests[i] = strings.NewReplacer("PORT", strconv.Itoa(ports[0]), "SAVEPOINTS", t.TempDir()).Replace(m)
	}
	bringUp(t, s, namespace, sim)
	platform, err := k8s.New(k8s.Config{
		REST: plane.Config(), Flink: flink.Config{Timeout: time.Second},
		Address: func(_, _ string, port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) },
	})
	must(t, err)
	t.Cleanup(platform.Close)
	s.target.Namespace = namespace
	target, absent := s.target, s.target
	if absent.JobName != "" {
		absent.JobName = "no-such"
	} else {
		absent.Name = "no-such"
	}
	h := porttest.Harness{
		Platform: platform, Target: core.Target{Kubernetes: &target}, Absent: core.Target{Kubernetes: &absent},
		Source: "Source: orders", Slow: "enrich", Checkpointing: true, Elastic: true, Means: s.means, Timeout: 2 * time.Minute,
		Hooks: hooksOf(t, s, namespace, sim, platform),
	}
	if s.target.Kind == core.KindFlinkSessionJob { // whose job is known by its id
		h.Hooks.Twin, h.NotOffered = nil, []string{"Twin"}
	}
	await(t, "the job to be found", func(ctx context.Context) (string, bool, error) {
		_, err := platform.Locate(ctx, h.Target)
		return fmt.Sprint(err), err == nil, nil
	})
	return h
}

func hooksOf(t *testing.T, s set, namespace string, sim func() *flinksim.Cluster, platform *k8s.Cluster) porttest.Hooks {
	t.Helper()
	return porttest.Hooks{
		Twin: func(t *testing.T) func() {
			id, err := sim().Submit(orders())
			must(t, err)
			return func() { must(t, sim().CancelJob(id)) }
		},
		Freeze: func(*testing.T) func() {
			sim().HangTaskManager(true)
			return func() { sim().HangTaskManager(false) }
		},
		Break: func(*testing.T) func() {
			sim().SetUnavailable(flinksim.Reset)
			return func() { sim().SetUnavailable(flinksim.Available) }
		},
		End: func(t *testing.T) {
			ref, err := platform.Locate(t.Context(), core.Target{Kubernetes: &s.target})
			must(t, err)
			must(t, sim().CancelJob(ref.ID))
		},
		// The object goes and comes back under its name, as a user does it.
		Again: func(t *testing.T) {
			if s.byHand {
				_, err := sim().Submit(orders())
				must(t, err)
				return
			}
			objects := kubetest.Plane(t).Dynamic().Resource(schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: s.resource}).Namespace(namespace)
			must(t, objects.Delete(t.Context(), "orders", metav1.DeleteOptions{}))
			await(t, "the object to be gone", func(ctx context.Context) (string, bool, error) {
				_, err := objects.Get(ctx, "orders", metav1.GetOptions{})
				return fmt.Sprint(err), kube.IsNotFound(err), nil
			})
			must(t, kubetest.Plane(t).Apply(t.Context(), namespace, s.manifests[len(s.manifests)-1]))
		},
	}
}
