//go:build e2e

package k8s

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

// stage is a namespace with a FlinkDeployment "orders" that runs: the API server is
// real, the operator is played, and its Flink is simulated.
type stage struct {
	bench
	kubelet  *kubesim.Kubelet
	operator *kubesim.Operator
	manifest string
	target   core.Target
	// between is asked about each request to the API server.
	between *between
}

// ordersWith is the object; config is further Flink options, one a line.
func ordersWith(t *testing.T, config string) string {
	t.Helper()
	ports, err := child.FreePorts(1)
	must(t, err)
	return fmt.Sprintf(`
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    rest.port: "%d"
    jobmanager.scheduler: adaptive
    taskmanager.numberOfTaskSlots: "8"
    state.savepoints.dir: file://%s
%s
  jobManager: {resource: {memory: 1024m, cpu: 0.5}}
  taskManager: {resource: {memory: 1024m, cpu: 0.5}}
  job: {jarURI: "local:///opt/x.jar", entryClass: feas.SlowJob, parallelism: 2, upgradeMode: savepoint}
`, ports[0], t.TempDir(), config)
}

// onStage brings the object up under an operator of that release.
func onStage(t *testing.T, release, manifest string) *stage {
	t.Helper()
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	s := &stage{bench: bench{namespace: namespace}, manifest: manifest, between: &between{}}
	var err error
	s.kubelet, err = kubesim.StartKubelet(t.Context(), plane.Config(), kubesim.KubeletOptions{
		Namespaces: []string{namespace}, Controllers: true, Log: t.Logf,
		Flink: flinksim.Options{
			Cooldown: -1, Stabilization: 100 * time.Millisecond, Downtime: 50 * time.Millisecond, Deploy: -1, CacheTime: -1,
			FetchInterval: 200 * time.Millisecond, SavepointTime: 200 * time.Millisecond,
		},
	})
	must(t, err)
	t.Cleanup(s.kubelet.Stop)
	s.operator, err = kubesim.StartOperator(t.Context(), plane.Config(), kubesim.Options{
		Version: release, Namespaces: []string{namespace}, Log: t.Logf,
		ReconcileEvery: time.Second, ProgressEvery: 500 * time.Millisecond, RestDelay: 200 * time.Millisecond,
	})
	must(t, err)
	t.Cleanup(s.operator.Stop)
	config := rest.CopyConfig(plane.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		s.between.next = next
		return s.between
	})
	s.Cluster = clusterAs(t, Config{REST: config, Flink: flink.Config{Timeout: 5 * time.Second}, Address: loopback})
	s.apply(t, manifest)
	s.target = core.Target{Kubernetes: &core.KubernetesTarget{Namespace: namespace, Kind: core.KindFlinkDeployment, Name: "orders"}}
	s.steady(t)
	return s
}

// loopback is where everything of a stage listens, whatever its Service is.
func loopback(_, _ string, port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// steady waits until the operator has nothing to do, and finds the job.
func (s *stage) steady(t *testing.T) core.JobRef {
	t.Helper()
	var ref core.JobRef
	await(t, "the operator to have the job run", func(ctx context.Context) (string, bool, error) {
		var err error
		if ref, err = s.Locate(ctx, s.target); err != nil {
			return err.Error(), false, nil //nolint:nilerr // it is what is waited for
		}
		status, err := s.Status(ctx, ref)
		o := s.object(t)
		w := wishIn(t, o)
		return w.says(), err == nil && status.AllTasksRunning() && w.upToDate() && w.lifecycle() == "STABLE", nil
	})
	return ref
}

func (s *stage) object(t *testing.T) *object {
	t.Helper()
	return s.read(t, flinkDeployment{}.resource(), "orders")
}

// asked is the overrides key of the object as it is written flat.
func (s *stage) asked(t *testing.T) string {
	t.Helper()
	return flinkOptions(s.object(t))[overridesKey]
}

func (s *stage) generation(t *testing.T) int64 {
	t.Helper()
	return s.object(t).GetGeneration()
}

// grown is what is wanted now with one subtask more, or n, of the second vertex by
// its name.
func (s *stage) grown(t *testing.T, ref core.JobRef, n int) core.Requirements {
	t.Helper()
	r, err := s.Wanted(t.Context(), ref)
	must(t, err)
	for i := range r {
		if r[i].ID == workID {
			r[i].Upper += n
		}
	}
	return r
}

// workID is the vertex behind the source.
var workID = flinksim.VertexID("work") //nolint:gochecknoglobals // a constant

// size is that of the vertex behind the source, as Flink shows it.
func (s *stage) size(t *testing.T, ref core.JobRef) int {
	t.Helper()
	status, err := s.Status(t.Context(), ref)
	must(t, err)
	v, ok := vertexOf(status.Topology, workID)
	if !ok {
		return 0
	}
	return v.Parallelism
}

// runs waits until that vertex runs at a size.
func (s *stage) runs(t *testing.T, ref core.JobRef, n int) {
	t.Helper()
	await(t, fmt.Sprintf("the vertex to run at %d", n), func(context.Context) (string, bool, error) {
		got := s.size(t, ref)
		return strconv.Itoa(got), got == n, nil
	})
}

// carriedOut waits until the operator has brought it to Flink.
func (s *stage) carriedOut(t *testing.T, ref core.JobRef, r core.Requirements) {
	t.Helper()
	await(t, "the operator to carry it out", func(ctx context.Context) (string, bool, error) {
		c, err := s.Carried(ctx, ref, r)
		return c.Note, c.Done, err
	})
}

// between stands between the adapter and the API server.
type between struct {
	next http.RoundTripper
	// patches and all count requests.
	patches, all atomic.Int32
	// answer replaces an answer to a PATCH, nil for none: it gets what the API server
	// said, or asks it.
	answer atomic.Pointer[func(ask func() (*http.Response, error)) (*http.Response, error)]
}

func (b *between) RoundTrip(r *http.Request) (*http.Response, error) {
	b.all.Add(1)
	ask := func() (*http.Response, error) { return b.next.RoundTrip(r) }
	if r.Method != http.MethodPatch {
		return ask()
	}
	b.patches.Add(1)
	if f := b.answer.Load(); f != nil {
		return (*f)(ask)
	}
	return ask()
}

// patchesGet has PATCH requests answered so from now on.
func (b *between) patchesGet(f func(ask func() (*http.Response, error)) (*http.Response, error)) {
	if f == nil {
		b.answer.Store(nil)
		return
	}
	b.answer.Store(&f)
}
