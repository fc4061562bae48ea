//go:build e2e

package k8s

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m, kubesim.FlinkClusterCRD)) }

// patience is for what controllers do within seconds, on a busy machine too.
const patience = 3 * time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until look is done.
func await(t *testing.T, what string, look func(ctx context.Context) (state string, done bool, err error)) {
	t.Helper()
	// Not the test's context: what is cleaned up is waited for too.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, what, look))
}

// bench is a namespace of a real API server, and this adapter in front of it.
type bench struct {
	*Cluster
	namespace string
}

// newBench makes a namespace with these objects.
func newBench(t *testing.T, manifests ...string) bench {
	t.Helper()
	b := bench{namespace: kubetest.Namespace(t)}
	b.Cluster = clusterAs(t, Config{REST: kubetest.Plane(t).Config()})
	b.apply(t, manifests...)
	return b
}

func clusterAs(t *testing.T, cfg Config) *Cluster {
	t.Helper()
	c, err := New(cfg)
	must(t, err)
	t.Cleanup(c.Close)
	c.shareFor, c.reportsFor = 0, 0 // tests write and look in one breath
	return c
}

func (b bench) apply(t *testing.T, manifests ...string) {
	t.Helper()
	must(t, kubetest.Plane(t).Apply(t.Context(), b.namespace, manifests...))
}

// as is the same bench by another account, with the rules of a Role.
func (b bench) as(t *testing.T, rules string) bench {
	t.Helper()
	config, err := kubetest.Plane(t).ServiceAccount(t.Context(), b.namespace, "worker")
	must(t, err)
	b.apply(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: worker}, rules: ["+rules+"]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: worker}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: worker}, "+
			"subjects: [{kind: ServiceAccount, name: worker, namespace: "+b.namespace+"}]}")
	return bench{Cluster: clusterAs(t, Config{REST: config}), namespace: b.namespace}
}

// job is what Locate would give, without a Flink to find it on.
func (b bench) job(t *testing.T, target core.KubernetesTarget) core.JobRef {
	t.Helper()
	target.Namespace = b.namespace
	o := b.read(t, kinds[target.Kind].resource(), target.Name)
	text, err := json.Marshal(target)
	must(t, err)
	return core.JobRef{ID: "0", Name: target.Name, Extras: map[string]string{extraTarget: string(text), extraUID: string(o.GetUID())}}
}

func (b bench) read(t *testing.T, resource schema.GroupVersionResource, name string) *object {
	t.Helper()
	o, err := kubetest.Plane(t).Dynamic().Resource(resource).Namespace(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	return &object{o}
}

// write patches an object as another field manager.
func (b bench) write(t *testing.T, manager string, how types.PatchType, resource schema.GroupVersionResource, name, body string, subresource ...string) {
	t.Helper()
	options := metav1.PatchOptions{FieldManager: manager}
	if force := true; how == types.ApplyPatchType {
		options.Force = &force
	}
	_, err := kubetest.Plane(t).Dynamic().Resource(resource).Namespace(b.namespace).Patch(t.Context(), name, how, []byte(body), options, subresource...)
	must(t, err)
}
