//go:build e2e

package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal"
	"flinkscaler/internal/kubelocal/kubelet"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubelocal/operator"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

// patience is how long a condition may take: machines are shared and slow.
const patience = 4 * time.Minute

// overrides is the key of the Flink configuration that a rescale writes.
const overrides = "pipeline.jobvertex-parallelism-overrides"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rig is a namespace of a plane, with an operator and a kubelet at work.
type rig struct {
	t         *testing.T
	plane     *kubelocal.Plane
	kubelet   *kubelet.Kubelet
	operator  *operator.Operator
	namespace string
}

// newRig is a namespace of its own; the rest is everybody's.
func newRig(t *testing.T) *rig {
	t.Helper()
	return &rig{
		t: t, plane: kubetest.Plane(t), kubelet: kubetest.Kubelet(t), operator: kubetest.Operator(t), namespace: kubetest.Namespace(t),
	}
}

// newOwnRig shares nothing, for tests that do harm to what others need.
func newOwnRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t}
	var err error
	r.plane, err = kubetest.StartPlane(t.Context(), kubelocal.Options{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, r.plane.Close()) })
	r.kubelet, err = kubetest.StartKubelet(kubelet.Options{Plane: r.plane, Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, r.kubelet.Close()) })
	r.operator, err = operator.Start(t.Context(), operator.Options{Plane: r.plane, Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, r.operator.Close()) })
	r.namespace, err = r.plane.Namespace(t.Context(), t.Name())
	must(t, err)
	return r
}

func (r *rig) apply(manifest string) {
	r.t.Helper()
	must(r.t, r.plane.Apply(r.t.Context(), r.namespace, manifest))
}

// resources are the custom resources of a kind: flinkdeployments or flinksessionjobs.
func (r *rig) resources(kind string) dynamic.ResourceInterface {
	resource := schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: kind}
	return r.plane.Dynamic().Resource(resource).Namespace(r.namespace)
}

// resource is a custom resource, as far as the tests look at it.
type resource struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Status struct {
		LifecycleState string `json:"lifecycleState"`
		Error          string `json:"error"`
		JobStatus      struct {
			JobID string `json:"jobId"`
			State string `json:"state"`
		} `json:"jobStatus"`
		ReconciliationStatus struct {
			State              string `json:"state"`
			LastReconciledSpec string `json:"lastReconciledSpec"`
		} `json:"reconciliationStatus"`
	} `json:"status"`
}

// reconciled is the spec that the operator has carried out last.
type reconciled struct {
	Spec struct {
		Config map[string]any `json:"flinkConfiguration"`
	} `json:"spec"`
	Resource struct {
		Metadata struct {
			Generation int64 `json:"generation"`
		} `json:"metadata"`
	} `json:"resource_metadata"`
}

func (r resource) reconciled() reconciled {
	var spec reconciled
	_ = json.Unmarshal([]byte(r.Status.ReconciliationStatus.LastReconciledSpec), &spec) // empty at first
	return spec
}

// settled reports whether the operator has carried out the present spec and the job runs.
func (r resource) settled() bool {
	return r.Status.LifecycleState == "STABLE" && r.Status.JobStatus.State == "RUNNING" &&
		r.reconciled().Resource.Metadata.Generation == r.Metadata.Generation
}

// await waits until a custom resource is as wished, and returns it as it was then, by one read.
func (r *rig) await(kind, name, what string, wished func(resource) bool) resource {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	var found resource
	err := child.WaitFor(ctx, kind+" "+name+" to be "+what, func(ctx context.Context) (string, bool, error) {
		object, err := r.resources(kind).Get(ctx, name, meta.GetOptions{})
		if err != nil {
			return err.Error(), false, nil
		}
		found = resource{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &found); err != nil {
			return "", false, err
		}
		return fmt.Sprintf("%+v", found), wished(found), nil
	})
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.operator.Process().Tail())
	}
	return found
}

// override writes the key of the overrides and nothing else, as owner of that key.
func (r *rig) override(kind, name, value string) {
	r.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "flink.apache.org/v1beta1", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"flinkConfiguration": map[string]any{overrides: value}},
	}}
	object.SetKind(map[string]string{"flinkdeployments": "FlinkDeployment", "flinksessionjobs": "FlinkSessionJob"}[kind])
	_, err := r.resources(kind).Apply(r.t.Context(), name, object, meta.ApplyOptions{FieldManager: "flinkscaler"})
	must(r.t, err)
}

// delete removes a custom resource and waits until it is gone.
func (r *rig) delete(kind, name string) {
	r.t.Helper()
	must(r.t, r.resources(kind).Delete(r.t.Context(), name, meta.DeleteOptions{}))
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	must(r.t, child.WaitFor(ctx, kind+" "+name+" to be gone", func(ctx context.Context) (string, bool, error) {
		_, err := r.resources(kind).Get(ctx, name, meta.GetOptions{})
		return fmt.Sprint("reading it: ", err), errors.IsNotFound(err), nil
	}))
}

// job is what Flink says of a job.
type job struct {
	State    string `json:"state"`
	Vertices []struct {
		ID          string         `json:"id"`
		Name        string         `json:"name"`
		Parallelism int            `json:"parallelism"`
		Tasks       map[string]int `json:"tasks"`
	} `json:"vertices"`
}

// vertex is the id of the vertex whose name contains a text.
func (j job) vertex(t *testing.T, part string) string {
	t.Helper()
	for _, v := range j.Vertices {
		if strings.Contains(v.Name, part) {
			return v.ID
		}
	}
	t.Fatalf("no vertex %s in %+v", part, j)
	return ""
}

// runs reports whether all tasks run, and the vertex with so many.
func (j job) runs(vertex string, parallelism int) bool {
	ok := false
	for _, v := range j.Vertices {
		if v.Tasks["RUNNING"] != v.Parallelism {
			return false
		}
		ok = ok || v.ID == vertex && v.Parallelism == parallelism
	}
	return ok && j.State == "RUNNING"
}

// awaitJob waits until Flink shows a job as wished.
func (r *rig) awaitJob(url, id, what string, wished func(job) bool) job {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	var found job
	must(r.t, child.WaitFor(ctx, "job "+id+" to be "+what, func(ctx context.Context) (string, bool, error) {
		found = job{}
		if err := get(ctx, url+"/jobs/"+id, &found); err != nil {
			return err.Error(), false, nil
		}
		return fmt.Sprintf("%+v", found), wished(found), nil
	}))
	return found
}

func get(ctx context.Context, url string, to any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(to)
}
