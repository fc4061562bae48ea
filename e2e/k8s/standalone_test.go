//go:build e2e

package k8s

import (
	"strconv"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/internal/kubelocal/kubetest"
)

// TestAReactiveCluster takes all TaskManagers that there are, and gets as many as its resource's scale says.
func TestAReactiveCluster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, rates := kubetest.Application(t, "waves")
	must(t, rates.Set(300))
	d.Slots = 2
	d.Config = map[string]any{"scheduler-mode": "reactive"}
	d.Spec = map[string]any{
		"mode":        "standalone",
		"taskManager": map[string]any{"replicas": 1, "resource": map[string]any{"memory": "1024m", "cpu": 0.5}},
	}
	r.apply(d.Manifest())
	first := r.await(deployments, "waves", "settled", resource.settled)
	id := first.Status.JobStatus.JobID
	running := r.awaitJob(d.URL(), id, "on all slots", func(j job) bool { return len(j.Vertices) > 0 && j.Vertices[0].Parallelism == 2 })
	slow := running.vertex(t, "slow")
	uid := r.clusterUID("waves")

	for _, replicas := range []int{2, 1} {
		r.scale("waves", replicas)
		r.awaitJob(d.URL(), id, "on all slots again", func(j job) bool { return j.runs(slow, 2*replicas) })
		r.await(deployments, "waves", "settled", resource.settled)
	}
	if r.clusterUID("waves") != uid {
		t.Error("the scale of TaskManagers made a new JobManager")
	}
	r.delete(deployments, "waves")
	if pods := r.kubelet.Pods(r.namespace, map[string]string{"app": "waves"}); len(pods) != 0 {
		t.Errorf("%d pods are run of a cluster that is gone", len(pods))
	}
}

// scale writes to a FlinkDeployment's scale, as kubectl scale does.
func (r *rig) scale(name string, replicas int) {
	r.t.Helper()
	patch := []byte(`{"spec":{"replicas":` + strconv.Itoa(replicas) + `}}`)
	_, err := r.resources(deployments).Patch(r.t.Context(), name, types.MergePatchType, patch, meta.PatchOptions{FieldManager: "flinkscaler"}, "scale")
	must(r.t, err)
}
