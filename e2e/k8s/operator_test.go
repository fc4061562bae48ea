//go:build e2e

package k8s

import (
	"context"
	"fmt"
	"strings"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal/kubetest"
)

const (
	deployments = "flinkdeployments"
	sessionJobs = "flinksessionjobs"
)

// TestAnApplication goes through the life of a FlinkDeployment: first deployment, a rescale in place, a full upgrade, deletion.
func TestAnApplication(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, rates := kubetest.Application(t, "orders")
	must(t, rates.Set(300))
	r.apply(d.Manifest())
	first := r.await(deployments, "orders", "settled", resource.settled)
	id := first.Status.JobStatus.JobID
	running := r.awaitJob(d.URL(), id, "running", func(j job) bool { return j.State == "RUNNING" && len(j.Vertices) > 0 })
	source, slow := running.vertex(t, "gen"), running.vertex(t, "slow")
	uid := r.clusterUID("orders")

	r.override(deployments, "orders", fmt.Sprintf("%s:1,%s:4", source, slow))
	second := r.await(deployments, "orders", "settled after a rescale", func(c resource) bool {
		return c.settled() && c.Metadata.Generation > first.Metadata.Generation
	})
	r.awaitJob(d.URL(), id, "at 4", func(j job) bool { return j.runs(slow, 4) })
	if r.clusterUID("orders") != uid {
		t.Error("a rescale in place made a new JobManager")
	}

	r.override(deployments, "orders", fmt.Sprintf("%s:2", slow))
	third := r.await(deployments, "orders", "settled after an upgrade", func(c resource) bool {
		return c.settled() && c.Metadata.Generation > second.Metadata.Generation
	})
	r.awaitJob(d.URL(), third.Status.JobStatus.JobID, "at 2", func(j job) bool { return j.runs(slow, 2) })
	if r.clusterUID("orders") == uid {
		t.Error("the entry of a vertex was removed without a new JobManager")
	}

	r.delete(deployments, "orders")
	if pods := r.kubelet.Pods(r.namespace, map[string]string{"app": "orders"}); len(pods) != 0 {
		t.Errorf("%d pods are run of a cluster that is gone", len(pods))
	}
}

// clusterUID tells one Deployment of a JobManager from the next.
func (r *rig) clusterUID(name string) string {
	r.t.Helper()
	found, err := r.plane.Clientset().AppsV1().Deployments(r.namespace).Get(r.t.Context(), name, meta.GetOptions{})
	must(r.t, err)
	return string(found.UID)
}

// TestASessionJob is rescaled in place on a session cluster.
func TestASessionJob(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := kubetest.Session(t, "session")
	application, rates := kubetest.Application(t, "clicks")
	must(t, rates.Set(300))
	r.apply(d.Manifest())
	r.apply(kubetest.SessionJob{Name: "clicks", Deployment: "session", Job: *application.Job}.Manifest(t))
	first := r.await(sessionJobs, "clicks", "settled", resource.settled)
	id := first.Status.JobStatus.JobID
	running := r.awaitJob(d.URL(), id, "running", func(j job) bool { return j.State == "RUNNING" && len(j.Vertices) > 0 })
	slow := running.vertex(t, "slow")

	r.override(sessionJobs, "clicks", slow+":3")
	r.await(sessionJobs, "clicks", "settled after a rescale", func(c resource) bool {
		return c.settled() && c.Metadata.Generation > first.Metadata.Generation
	})
	r.awaitJob(d.URL(), id, "at 3", func(j job) bool { return j.runs(slow, 3) })
	r.delete(sessionJobs, "clicks")
	r.delete(deployments, "session")
}

// TestAJobManagerThatCrashed comes back with what it knew, since that is in ConfigMaps of the real API server.
func TestAJobManagerThatCrashed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, rates := kubetest.Application(t, "kept")
	must(t, rates.Set(300))
	d.HA, d.Job.UpgradeMode = true, "last-state"
	r.apply(d.Manifest())
	first := r.await(deployments, "kept", "settled", resource.settled)
	id := first.Status.JobStatus.JobID
	running := r.awaitJob(d.URL(), id, "running", func(j job) bool { return j.State == "RUNNING" && len(j.Vertices) > 0 })
	slow := running.vertex(t, "slow")
	r.override(deployments, "kept", slow+":3")
	r.awaitJob(d.URL(), id, "at 3", func(j job) bool { return j.runs(slow, 3) })

	pod, err := r.kubelet.JobManager(t.Context(), r.namespace, "kept")
	must(t, err)
	must(t, pod.Process().Kill())
	r.awaitJob(d.URL(), id, "at 3 again", func(j job) bool { return j.runs(slow, 3) })
	r.delete(deployments, "kept")
}

// TestASizeThatFails: the job goes on at a smaller one.
func TestASizeThatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, rates := kubetest.Application(t, "large")
	must(t, rates.Set(1500))
	d.Job.Args = []string{"--fail-at", "4"}
	r.apply(d.Manifest())
	id := r.await(deployments, "large", "settled", resource.settled).Status.JobStatus.JobID
	running := r.awaitJob(d.URL(), id, "running", func(j job) bool { return j.State == "RUNNING" && len(j.Vertices) > 0 })
	slow := running.vertex(t, "slow")

	r.override(deployments, "large", slow+":4")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, "the job to fail", func(ctx context.Context) (string, bool, error) {
		var answer struct {
			History struct {
				Entries []struct {
					Stacktrace string `json:"stacktrace"`
				} `json:"entries"`
			} `json:"exceptionHistory"`
		}
		if err := get(ctx, d.URL()+"/jobs/"+id+"/exceptions", &answer); err != nil {
			return err.Error(), false, nil
		}
		text := fmt.Sprint(answer)
		return text, strings.Contains(text, "Insufficient number of network buffers for 4 subtasks"), nil
	}))
	r.override(deployments, "large", slow+":3")
	r.awaitJob(d.URL(), id, "at 3", func(j job) bool { return j.runs(slow, 3) })
	r.delete(deployments, "large")
}
