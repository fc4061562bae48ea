//go:build e2e

package k8s_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

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

// TestOperatorKeepsTheContract runs the conformance suite on jobs that an operator
// changes, in place and by starting them anew.
func TestOperatorKeepsTheContract(t *testing.T) {
	for _, release := range []string{kubesim.Operator115, kubesim.Operator17} {
		for scheduler, means := range map[string]core.Means{"adaptive": {}, "default": {Restarts: true}} {
			t.Run(release+" "+scheduler, func(t *testing.T) { porttest.Run(t, operatorHarness(t, release, scheduler, means)) })
		}
	}
}

const deployment = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    rest.port: "%d"
    jobmanager.scheduler: %s
    taskmanager.numberOfTaskSlots: "8"
    state.savepoints.dir: file://%s
  jobManager: {resource: {memory: 1024m, cpu: 0.5}}
  taskManager: {resource: {memory: 1024m, cpu: 0.5}}
  job: {jarURI: "local:///opt/x.jar", entryClass: feas.SlowJob, parallelism: 2, upgradeMode: savepoint}
`

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

// operatorHarness is a FlinkDeployment under a played operator, with a simulated
// Flink whose waits are short.
func operatorHarness(t *testing.T, release, scheduler string, means core.Means) porttest.Harness {
	t.Helper()
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	kubelet, err := kubesim.StartKubelet(t.Context(), plane.Config(), kubesim.KubeletOptions{
		Namespaces: []string{namespace}, Controllers: true, Log: t.Logf,
		Job: func(kubesim.Program) flinksim.JobSpec {
			return flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500), Vertices: flinksim.DefaultVertices()}
		},
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
	ports, err := child.FreePorts(1)
	must(t, err)
	manifest := fmt.Sprintf(deployment, ports[0], scheduler, t.TempDir())
	must(t, plane.Apply(t.Context(), namespace, manifest))
	cluster, err := k8s.New(k8s.Config{
		REST: plane.Config(), Flink: flink.Config{Timeout: time.Second},
		Address: func(_, _ string, port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) },
	})
	must(t, err)
	t.Cleanup(cluster.Close)
	target := core.Target{Kubernetes: &core.KubernetesTarget{Namespace: namespace, Kind: core.KindFlinkDeployment, Name: "orders"}}
	await(t, "the job to be found", func(ctx context.Context) (string, bool, error) {
		_, err := cluster.Locate(ctx, target)
		return fmt.Sprint(err), err == nil, nil
	})
	sim := func() *flinksim.Cluster { return kubelet.Cluster(namespace, "orders") }
	return porttest.Harness{
		Platform: cluster, Target: target,
		Absent: core.Target{Kubernetes: &core.KubernetesTarget{Namespace: namespace, Kind: core.KindFlinkDeployment, Name: "no-such"}},
		Source: "Source: orders", Slow: "enrich", Checkpointing: true, Elastic: true, Means: means, Timeout: 2 * time.Minute,
		Hooks: porttest.Hooks{
			Twin: func(t *testing.T) func() {
				id, err := sim().Submit(flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500)})
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
				ref, err := cluster.Locate(t.Context(), target)
				must(t, err)
				must(t, sim().CancelJob(ref.ID))
			},
			// The object goes and comes back under its name, as a user does it.
			Again: func(t *testing.T) {
				objects := plane.Dynamic().Resource(schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinkdeployments"}).Namespace(namespace)
				must(t, objects.Delete(t.Context(), "orders", metav1.DeleteOptions{}))
				await(t, "the object to be gone", func(ctx context.Context) (string, bool, error) {
					_, err := objects.Get(ctx, "orders", metav1.GetOptions{})
					return fmt.Sprint(err), err != nil, nil
				})
				must(t, plane.Apply(t.Context(), namespace, manifest))
			},
		},
	}
}
