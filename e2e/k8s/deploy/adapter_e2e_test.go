//go:build e2e

package deploy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

// refusals notes what the API server does not allow.
type refusals struct {
	next http.RoundTripper
	mu   *sync.Mutex
	of   *[]string
}

func (r refusals) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := r.next.RoundTrip(q)
	if err == nil && (answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized) {
		r.mu.Lock()
		*r.of = append(*r.of, q.Method+" "+q.URL.Path)
		r.mu.Unlock()
	}
	return answer, err
}

// TestTheAdapterNeedsNoMore: a job of the example is found, judged, changed and told
// of with the worker's own token, under the admission policies, and nothing that the
// adapter asks for is refused but what the example leaves out.
func TestTheAdapterNeedsNoMore(t *testing.T) {
	config := install(t)
	var mu sync.Mutex
	var refused []string
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return refusals{next, &mu, &refused} })
	adapter, err := k8s.New(k8s.Config{
		REST: config, Nodes: true, Namespaces: watched(),
		Address: func(_, _ string, port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) },
	})
	must(t, err)
	t.Cleanup(adapter.Close)
	run(t, "shop", "orders")
	key := core.JobKey{Cluster: "here", Job: "shop.orders"}
	target := core.Target{Kubernetes: &core.KubernetesTarget{Namespace: "shop", Kind: core.KindFlinkDeployment, Name: "orders"}}

	var job core.JobRef
	await(t, "the job", func(ctx context.Context) (string, bool, error) {
		job, err = adapter.Locate(ctx, target)
		return text(err), err == nil && job.State == core.JobRunning, nil
	})
	found, _, err := adapter.Discover(t.Context(), watched())
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; want the one job", found, err)
	}
	rivals, err := adapter.Rivals(t.Context(), job)
	if err != nil || len(rivals) > 0 {
		t.Errorf("rivals %v, %v; want none, and nothing that could not be looked at", rivals, err)
	}
	var wanted core.Requirements
	await(t, "the change to be taken", func(ctx context.Context) (string, bool, error) {
		if wanted, err = adapter.Wanted(ctx, job); err != nil {
			return text(err), false, nil
		}
		wanted[0].Upper = 2
		err = adapter.Want(ctx, job, "decision-1", wanted)
		return text(err), err == nil, nil
	})
	if _, err := adapter.Fits(t.Context(), job, wanted); err != nil {
		t.Errorf("room: %v", err)
	}
	await(t, "the change to be carried out", func(ctx context.Context) (string, bool, error) {
		carried, err := adapter.Carried(ctx, job, wanted)
		return carried.Note + text(err), carried.Done, nil
	})
	for range 2 { // the second counts the first one up
		e := core.Event{Kind: "report", Reason: "ScalingReport", Key: "told", Message: "told", At: time.Now(), DecisionID: fmt.Sprint(time.Now().UnixNano()), Repeated: true}
		must(t, adapter.Send(t.Context(), key, target, []core.Event{e}))
	}
	mu.Lock()
	defer mu.Unlock()
	// The example has no right to FlinkClusters there, and discover looks for them.
	if diff := cmp.Diff([]string{"GET /apis/flinkoperator.k8s.io/v1beta1/namespaces/shop/flinkclusters"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// run has a job of the Flink operator run in a namespace of the example.
func run(t *testing.T, namespace, name string) {
	t.Helper()
	plane := kubetest.Plane(t)
	kubelet, err := kubesim.StartKubelet(t.Context(), plane.Config(), kubesim.KubeletOptions{
		Namespaces: []string{namespace}, Controllers: true, Log: t.Logf,
		Job: func(kubesim.Program) flinksim.JobSpec {
			return flinksim.JobSpec{Name: name, Load: flinksim.Constant(500)}
		},
		Flink: flinksim.Options{CacheTime: -1, Cooldown: -1, Deploy: -1},
	})
	must(t, err)
	t.Cleanup(kubelet.Stop)
	operator, err := kubesim.StartOperator(t.Context(), plane.Config(), kubesim.Options{
		Namespaces: []string{namespace}, Log: t.Logf, ReconcileEvery: time.Second, ProgressEvery: 500 * time.Millisecond, RestDelay: 200 * time.Millisecond,
	})
	must(t, err)
	t.Cleanup(operator.Stop)
	ports, err := child.FreePorts(1)
	must(t, err)
	must(t, plane.Apply(t.Context(), namespace, fmt.Sprintf(`
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: %s}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration: {rest.port: "%d", jobmanager.scheduler: adaptive, taskmanager.numberOfTaskSlots: "8", state.savepoints.dir: "file://%s"}
  jobManager: {resource: {memory: 1024m, cpu: 0.5}}
  taskManager: {resource: {memory: 1024m, cpu: 0.5}}
  job: {jarURI: "local:///opt/x.jar", parallelism: 2, upgradeMode: savepoint}
`, name, ports[0], t.TempDir())))
	t.Cleanup(func() {
		client := plane.Dynamic().Resource(resources()["flat"]).Namespace(namespace)
		ctx := context.Background() // the test's has ended
		_, _ = client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		_ = client.Delete(ctx, name, metav1.DeleteOptions{})
	})
}
