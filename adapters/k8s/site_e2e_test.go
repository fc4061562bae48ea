//go:build e2e

package k8s_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

// patience bounds each wait: it takes seconds, unless the machine is busy.
const patience = 3 * time.Minute

// site is a namespace of a real API server with played nodes, on which Flink is
// simulated, and the adapter in front of it.
type site struct {
	*k8s.Cluster
	t         *testing.T
	namespace string
	// port is where the REST API of the Flink called "flink" or "orders" is.
	port    int
	kubelet *kubesim.Kubelet
}

// ordersJob is a source and a slow vertex behind it, both as large as the cluster's
// default.
func ordersJob() flinksim.JobSpec {
	return flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500), Vertices: []flinksim.VertexSpec{
		{Name: "Source: orders", Capacity: 20000},
		{Name: "enrich", Capacity: 1000, Inputs: []flinksim.Input{{From: "Source: orders", Ship: "HASH"}}},
	}}
}

// newSite makes a namespace in which every Flink runs such a job, where it runs an
// application.
func newSite(t *testing.T, job func() flinksim.JobSpec, edit ...func(*k8s.Config)) *site {
	t.Helper()
	plane := kubetest.Plane(t)
	s := &site{t: t, namespace: kubetest.Namespace(t)}
	ports, err := child.FreePorts(1)
	s.ok(err)
	s.port = ports[0]
	s.kubelet, err = kubesim.StartKubelet(t.Context(), plane.Config(), kubesim.KubeletOptions{
		Namespaces: []string{s.namespace}, Controllers: true, Log: t.Logf,
		Job: func(kubesim.Program) flinksim.JobSpec { return job() },
		Flink: flinksim.Options{
			FetchInterval: 200 * time.Millisecond, FetchTime: 10 * time.Millisecond, CacheTime: 100 * time.Millisecond, WebTimeout: 500 * time.Millisecond,
			LossFreeze: 100 * time.Millisecond, Cooldown: 50 * time.Millisecond, MaxDelay: 200 * time.Millisecond, Stabilization: 100 * time.Millisecond,
			Downtime: 50 * time.Millisecond, Deploy: 20 * time.Millisecond, CheckpointInterval: 200 * time.Millisecond, CheckpointDuration: 5 * time.Millisecond,
			GaugeSpan: time.Second,
		},
	})
	s.ok(err)
	t.Cleanup(s.kubelet.Stop)
	cfg := k8s.Config{
		REST: plane.Config(), Flink: flink.Config{Timeout: 2 * time.Second},
		Address: s.address,
	}
	for _, e := range edit {
		e(&cfg)
	}
	s.Cluster, err = k8s.New(cfg)
	s.ok(err)
	t.Cleanup(s.Close)
	return s
}

// address is where the REST API of every Service is: there is but one.
func (s *site) address(string, string, int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

func (s *site) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) apply(manifests ...string) {
	s.t.Helper()
	for _, m := range manifests {
		m = strings.NewReplacer("PORT", strconv.Itoa(s.port), "DIR", s.t.TempDir()).Replace(m)
		s.ok(kubetest.Plane(s.t).Apply(s.t.Context(), s.namespace, m))
	}
}

// await waits until look says so, with what it saw last.
func (s *site) await(what string, look func(ctx context.Context) (state string, done bool)) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	s.ok(child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		state, done := look(ctx)
		return state, done, nil
	}))
}

// target names an object of the site.
func (s *site) target(kind, name string, edit ...func(*core.KubernetesTarget)) core.Target {
	k := core.KubernetesTarget{Namespace: s.namespace, Kind: kind, Name: name}
	if kind == core.KindDeployment || kind == core.KindStatefulSet {
		k.Service = "flink"
	}
	for _, e := range edit {
		e(&k)
	}
	return core.Target{Kubernetes: &k}
}

func following(k *core.KubernetesTarget) { k.Mode = core.ModeFollow }

func ofJob(name string) func(*core.KubernetesTarget) {
	return func(k *core.KubernetesTarget) { k.JobName = name }
}

// found waits until the job behind a target runs at a parallelism, and gives it.
func (s *site) found(target core.Target, parallelism int) core.JobRef {
	s.t.Helper()
	var ref core.JobRef
	s.await(fmt.Sprintf("all vertices at %d", parallelism), func(ctx context.Context) (string, bool) {
		var err error
		if ref, err = s.Locate(ctx, target); err != nil {
			return err.Error(), false
		}
		status, err := s.Status(ctx, ref)
		if err != nil {
			return err.Error(), false
		}
		for _, v := range status.Topology.Vertices {
			if v.Parallelism != parallelism {
				return fmt.Sprint(status.Topology.Sizes()), false
			}
		}
		return string(status.State), status.AllTasksRunning()
	})
	return ref
}

// refused finds a job that runs, and checks that its size is not changed, for a
// reason that has these words.
func (s *site) refused(target core.Target, words ...string) {
	s.t.Helper()
	var ref core.JobRef
	s.await("a job whose size cannot be changed", func(ctx context.Context) (string, bool) {
		var err error
		if ref, err = s.Locate(ctx, target); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%+v", ref.Means), ref.Means.Refused != "" // some of it shows once the job has a graph
	})
	for _, w := range words {
		if !strings.Contains(ref.Means.Refused, w) {
			s.t.Errorf("refused with %q, want %q in it", ref.Means.Refused, w)
		}
	}
	err := s.Want(s.t.Context(), ref, "d1", core.Requirements{})
	if !errors.Is(err, core.ErrRefused) {
		s.t.Errorf("%+v, and a change gives %v", ref.Means, err)
	}
}

// sim is the simulated Flink that runs.
func (s *site) sim(cluster string) *flinksim.Cluster {
	s.t.Helper()
	var c *flinksim.Cluster
	s.await("Flink "+cluster, func(context.Context) (string, bool) {
		c = s.kubelet.Cluster(s.namespace, cluster)
		return "none runs", c != nil
	})
	return c
}

func (s *site) get(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	s.t.Helper()
	o, err := kubetest.Plane(s.t).Dynamic().Resource(resource).Namespace(s.namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	s.ok(err)
	return o
}

func (s *site) patch(resource schema.GroupVersionResource, name, body string, subresource ...string) {
	s.t.Helper()
	_, err := kubetest.Plane(s.t).Dynamic().Resource(resource).Namespace(s.namespace).Patch(s.t.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "a-person"}, subresource...)
	s.ok(err)
}

// text reads a field as text.
func text(o *unstructured.Unstructured, path ...string) string {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return fmt.Sprint(v)
}

// Resources that tests look at.
var (
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	flinkCRs     = schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinkdeployments"}
	scalers      = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	quotas       = schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
	clusterCRs   = schema.GroupVersionResource{Group: "flinkoperator.k8s.io", Version: "v1beta1", Resource: "flinkclusters"}
)

// harness is for the conformance suite on a job that runs on a Flink.
func (s *site) harness(cluster string, target core.Target, means core.Means) porttest.Harness {
	absent := *target.Kubernetes
	absent.Name = "no-such"
	return porttest.Harness{
		Platform: s, Target: target, Absent: core.Target{Kubernetes: &absent}, Source: "Source: orders", Slow: "enrich",
		Checkpointing: true, Means: means, Timeout: patience,
		Hooks: porttest.Hooks{
			Twin: func(t *testing.T) func() {
				id, err := s.sim(cluster).Submit(ordersJob())
				s.ok(err)
				return func() { s.ok(s.sim(cluster).CancelJob(id)) }
			},
			Freeze: func(*testing.T) func() {
				s.sim(cluster).HangTaskManager(true)
				return func() { s.sim(cluster).HangTaskManager(false) }
			},
			Break: func(*testing.T) func() {
				s.sim(cluster).SetUnavailable(flinksim.Reset)
				return func() { s.sim(cluster).SetUnavailable(flinksim.Available) }
			},
			End: func(t *testing.T) {
				ref, err := s.Locate(t.Context(), target)
				s.ok(err)
				s.ok(s.sim(cluster).CancelJob(ref.ID))
			},
			Again: func(*testing.T) {
				_, err := s.sim(cluster).Submit(ordersJob())
				s.ok(err)
			},
		},
	}
}
