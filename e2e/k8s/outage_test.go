//go:build e2e

package k8s

import (
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"flinkscaler/internal/kubelocal/kubetest"
)

// TestAnOperatorThatWasKilled does not know of what is written meanwhile, and carries it out in place when it is back.
func TestAnOperatorThatWasKilled(t *testing.T) {
	t.Parallel()
	r := newOwnRig(t)
	d, rates := kubetest.Application(t, "orders")
	must(t, rates.Set(300))
	r.apply(d.Manifest())
	first := r.await(deployments, "orders", "settled", resource.settled)
	id, uid := first.Status.JobStatus.JobID, r.clusterUID("orders")
	slow := r.awaitJob(d.URL(), id, "running", func(j job) bool { return j.State == "RUNNING" && len(j.Vertices) > 0 }).vertex(t, "slow")

	must(t, r.operator.Process().Kill())
	r.override(deployments, "orders", slow+":3")
	if c := r.read(deployments, "orders"); c.settled() || c.Status.LifecycleState != "STABLE" || c.Metadata.Generation <= first.Metadata.Generation {
		t.Errorf("without an operator: %+v; want a new generation that nobody has seen under STABLE", c)
	}
	must(t, r.operator.Process().Launch())
	must(t, r.operator.WaitHealthy(t.Context()))
	r.await(deployments, "orders", "settled", resource.settled)
	r.awaitJob(d.URL(), id, "at 3", func(j job) bool { return j.runs(slow, 3) })
	if r.clusterUID("orders") != uid {
		t.Error("what was missed came as a full upgrade")
	}
}

// read is one look at a custom resource.
func (r *rig) read(kind, name string) resource {
	r.t.Helper()
	object, err := r.resources(kind).Get(r.t.Context(), name, meta.GetOptions{})
	must(r.t, err)
	var found resource
	must(r.t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &found))
	return found
}
