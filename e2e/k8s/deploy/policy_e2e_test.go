//go:build e2e

package deploy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal/kubetest"
)

const (
	vertexA = "6bf01baa9d2ca23a3ef7ce311722523d"
	vertexB = "59fa767824610e31f4a11d6125e09bf4"
)

// nested writes the overrides key beneath pipeline, which newer releases of the
// operator allow.
const nested = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: nested}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration: {pipeline: {max-parallelism: 128, jobvertex-parallelism-overrides: "` + vertexA + `:1"}}
  job: {jarURI: "local:///job.jar", parallelism: 1, upgradeMode: savepoint}
`

// pinned are objects of each kind that a policy is about.
const pinned = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: flat, labels: {team: shop}, annotations: {note: kept}, finalizers: [example.com/kept]}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    jobmanager.scheduler: adaptive
    pipeline.jobvertex-parallelism-overrides: "` + vertexA + `:1"
  taskManager: {resource: {memory: 1024m, cpu: 1}}
  job: {jarURI: "local:///job.jar", parallelism: 1, upgradeMode: savepoint}
---
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: bare}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  job: {jarURI: "local:///job.jar", parallelism: 1, upgradeMode: savepoint}
---
apiVersion: flink.apache.org/v1beta1
kind: FlinkSessionJob
metadata: {name: session}
spec:
  deploymentName: flat
  job: {jarURI: "local:///job.jar", parallelism: 1, upgradeMode: savepoint}
---
apiVersion: flinkoperator.k8s.io/v1beta1
kind: FlinkCluster
metadata: {name: cluster}
spec:
  flinkVersion: "1.20"
  image: {name: "flink:1.20"}
  taskManager: {replicas: 2, resources: {}}
  job: {jarFile: /job.jar, parallelism: 2}
---
apiVersion: v1
kind: Pod
metadata: {name: taskmanager, labels: {app: flink}}
spec: {containers: [{name: flink, image: "flink:1.20"}]}
`

func resources() map[string]schema.GroupVersionResource {
	const flink, cluster = "flink.apache.org", "flinkoperator.k8s.io"
	deployments := schema.GroupVersionResource{Group: flink, Version: "v1beta1", Resource: "flinkdeployments"}
	return map[string]schema.GroupVersionResource{
		"flat": deployments, "nested": deployments, "bare": deployments,
		"session":     {Group: flink, Version: "v1beta1", Resource: "flinksessionjobs"},
		"cluster":     {Group: cluster, Version: "v1beta1", Resource: "flinkclusters"},
		"taskmanager": {Version: "v1", Resource: "pods"},
	}
}

// attempt is one write of the worker.
type attempt struct {
	reason string
	// apply is a server-side apply, else it is a merge patch.
	apply bool
	name  string
	body  string
	// refused are the words of the policy, none where it passes.
	refused string
}

// attempts are what the adapter writes, and what somebody with its token might.
func attempts() []attempt {
	const (
		spec     = "may change nothing of spec but"
		config   = "may change nothing of spec.flinkConfiguration but"
		metadata = "may change no labels, finalizers or owners"
		removal  = "may not take the overrides key away"
		form     = "not of the form vertex:size"
		pods     = "may change nothing of a pod but"
	)
	return []attempt{
		{"what the adapter writes", true, "flat", `{"metadata":{"annotations":{"flinkscaler/decision-id":"1"}},"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"` + vertexA + `:2,` + vertexB + `:3"}}}`, ""},
		{"the same in the other spelling", true, "nested", `{"metadata":{"annotations":{"flinkscaler/decision-id":"1"}},"spec":{"flinkConfiguration":{"pipeline":{"jobvertex-parallelism-overrides":"` + vertexA + `:2"}}}}`, ""},
		{"the key where there was no configuration", true, "bare", `{"metadata":{"annotations":{"flinkscaler/decision-id":"1"}},"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"` + vertexA + `:2"}}}`, ""},
		{"a session job", true, "session", `{"metadata":{"annotations":{"flinkscaler/decision-id":"1"}},"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"` + vertexA + `:2"}}}`, ""},
		{"as a merge patch", false, "flat", `{"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"` + vertexA + `:4"}}}`, ""},
		{"the image is code", false, "flat", `{"spec":{"image":"evil:1"}}`, spec},
		{"so is the jar", false, "session", `{"spec":{"job":{"jarURI":"http://evil/x.jar"}}}`, spec},
		{"a pod template is", false, "flat", `{"spec":{"podTemplate":{"spec":{"containers":[{"name":"x","image":"evil:1"}]}}}}`, spec},
		{"a field that is taken away", false, "flat", `{"spec":{"taskManager":null}}`, spec},
		{"replicas are a redeploy in native mode", false, "flat", `{"spec":{"taskManager":{"replicas":3}}}`, spec},
		{"another option", false, "flat", `{"spec":{"flinkConfiguration":{"taskmanager.numberOfTaskSlots":"4"}}}`, config},
		{"an option that is changed", false, "flat", `{"spec":{"flinkConfiguration":{"jobmanager.scheduler":"default"}}}`, config},
		{"an option that is taken away", false, "flat", `{"spec":{"flinkConfiguration":{"jobmanager.scheduler":null}}}`, config},
		{"an option beside it, nested", false, "nested", `{"spec":{"flinkConfiguration":{"pipeline":{"max-parallelism":64}}}}`, config},
		{"one taken away, nested", false, "nested", `{"spec":{"flinkConfiguration":{"pipeline":{"max-parallelism":null}}}}`, config},
		{"all of the configuration", false, "nested", `{"spec":{"flinkConfiguration":null}}`, config},
		{"the key taken away is a redeploy", false, "flat", `{"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":null}}}`, removal},
		{"and nested", false, "nested", `{"spec":{"flinkConfiguration":{"pipeline":{"jobvertex-parallelism-overrides":null}}}}`, removal},
		{"a malformed one ends the job", false, "flat", `{"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"` + vertexA + `:0"}}}`, form},
		{"an empty one too", false, "flat", `{"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":""}}}`, form},
		{"a map is none", false, "nested", `{"spec":{"flinkConfiguration":{"pipeline":{"jobvertex-parallelism-overrides":{"` + vertexA + `":"2"}}}}}`, form},
		{"labels select", false, "flat", `{"metadata":{"labels":{"team":"evil"}}}`, metadata},
		{"annotations steer", false, "flat", `{"metadata":{"annotations":{"argocd.argoproj.io/sync-options":"Prune=false"}}}`, metadata},
		{"annotations of others", false, "flat", `{"metadata":{"annotations":{"note":null}}}`, metadata},
		{"finalizers hold an object", false, "session", `{"metadata":{"finalizers":["example.com/x"]}}`, metadata},
		{"finalizers are for cleaning up", false, "flat", `{"metadata":{"finalizers":null}}`, metadata},
		{"owners take it along", false, "bare", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"1"}]}}`, metadata},
		{"both fields of a FlinkCluster", false, "cluster", `{"metadata":{"annotations":{"flinkscaler/decision-id":"1","flinkscaler/revision-before":"c-1"}},"spec":{"job":{"parallelism":4},"taskManager":{"replicas":4}}}`, ""},
		{"its image is code", false, "cluster", `{"spec":{"image":{"name":"evil:1"}}}`, spec},
		{"its jar is", false, "cluster", `{"spec":{"job":{"jarFile":"http://evil/x.jar"}}}`, spec},
		{"a field of its job taken away", false, "cluster", `{"spec":{"job":{"jarFile":null}}}`, spec},
		{"its job taken away", false, "cluster", `{"spec":{"job":null}}`, spec},
		{"its TaskManagers' resources", false, "cluster", `{"spec":{"taskManager":{"resources":{"limits":{"cpu":"64"}}}}}`, spec},
		{"its labels", false, "cluster", `{"metadata":{"labels":{"x":"y"}}}`, metadata},
		{"which TaskManager goes first", false, "taskmanager", `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1"}}}`, ""},
		{"a pod's image is code", false, "taskmanager", `{"spec":{"containers":[{"name":"flink","image":"evil:1"}]}}`, pods},
		{"a pod's labels select", false, "taskmanager", `{"metadata":{"labels":{"app":"evil"}}}`, pods},
		{"a pod's other annotations", false, "taskmanager", `{"metadata":{"annotations":{"x":"y"}}}`, pods},
	}
}

// TestTheWorkerMayChangeSizesAndNothingElse: what the adapter writes passes the
// policies, all else is refused with their words, and nobody else is touched. The
// type of spec.flinkConfiguration was another one up to release 1.10.
func TestTheWorkerMayChangeSizesAndNothingElse(t *testing.T) {
	worker := install(t)
	t.Run("options are texts", func(t *testing.T) {
		try(t, worker, pinned, slices.DeleteFunc(attempts(), func(a attempt) bool { return a.name == "nested" }))
	})
	anyOptions(t)
	t.Run("options are anything", func(t *testing.T) { try(t, worker, pinned+"---"+nested, attempts()) })
}

// anyOptions defines spec.flinkConfiguration as newer releases of the operator do.
func anyOptions(t *testing.T) {
	t.Helper()
	plane := kubetest.Plane(t)
	definitions := plane.Dynamic().Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	const body = `[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/flinkConfiguration","value":{"x-kubernetes-preserve-unknown-fields":true}}]`
	for _, name := range []string{"flinkdeployments", "flinksessionjobs"} {
		_, err := definitions.Patch(t.Context(), name+".flink.apache.org", types.JSONPatchType, []byte(body), metav1.PatchOptions{})
		must(t, err)
	}
	await(t, "nested options to be taken", func(ctx context.Context) (string, bool, error) {
		err := plane.Apply(ctx, "payments", nested)
		return text(err), err == nil, nil
	})
	remove(t, "nested")
}

// remove deletes an object, and waits until it is gone.
func remove(t *testing.T, name string) {
	t.Helper()
	client := kubetest.Plane(t).Dynamic().Resource(resources()[name]).Namespace("payments")
	ctx := context.Background() // tests clean up after their context has ended
	_, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if kube.IsNotFound(err) {
		return
	}
	must(t, err)
	must(t, client.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0))}))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	must(t, child.WaitFor(ctx, name+" to be gone", func(ctx context.Context) (string, bool, error) {
		_, err := client.Get(ctx, name, metav1.GetOptions{})
		return text(err), kube.IsNotFound(err), nil
	}))
}

// try makes each attempt on these objects.
func try(t *testing.T, worker *rest.Config, manifest string, cases []attempt) {
	t.Helper()
	plane, namespace := kubetest.Plane(t), "payments"
	must(t, plane.Apply(t.Context(), namespace, manifest))
	t.Cleanup(func() {
		for name := range resources() {
			remove(t, name)
		}
	})
	client, person := objectsOf(t, worker), objectsOf(t, plane.As("ann", "system:masters"))
	write := func(client dynamic.Interface, namespace string, i int, dry bool) error {
		tc := cases[i]
		how, body := types.MergePatchType, tc.body
		options := metav1.PatchOptions{FieldManager: "flinkscaler"}
		if dry {
			options.DryRun = []string{metav1.DryRunAll}
		}
		if tc.apply {
			how, body = types.ApplyPatchType, whole(t, tc.name, tc.body)
			options.Force = ptr(true) // kubelocal owns the key
		}
		_, err := client.Resource(resources()[tc.name]).Namespace(namespace).Patch(t.Context(), tc.name, how, []byte(body), options)
		return err
	}
	for i, tc := range cases { // a policy counts a moment after it was written
		if tc.refused != "" {
			await(t, "the policy for "+tc.name, func(context.Context) (string, bool, error) {
				err := write(client, namespace, i, true)
				return text(err), kube.IsForbidden(err) || kube.IsInvalid(err), nil
			})
		}
	}
	for i, tc := range cases {
		err := write(client, namespace, i, false)
		switch {
		case tc.refused == "" && err != nil:
			t.Errorf("%s: %s %s: %v; want it taken", tc.reason, tc.name, tc.body, err)
		case tc.refused != "" && (!isDenied(err) || !strings.Contains(err.Error(), tc.refused)):
			t.Errorf("%s: %s %s: %v; want it refused with %q", tc.reason, tc.name, tc.body, err, tc.refused)
		}
		if err := write(person, namespace, i, true); isDenied(err) {
			t.Errorf("%s: a person is refused: %v", tc.reason, err)
		}
	}
}

// isDenied is true for a refusal by a policy, not by the form of a kind.
func isDenied(err error) bool {
	return (kube.IsForbidden(err) || kube.IsInvalid(err)) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
}

func objectsOf(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	return client
}

// whole adds to the body of a server-side apply what it is about.
func whole(t *testing.T, name, body string) string {
	t.Helper()
	var out map[string]any
	must(t, json.Unmarshal([]byte(body), &out))
	kind := map[string]string{"session": "FlinkSessionJob", "cluster": "FlinkCluster"}[name]
	if kind == "" {
		kind = "FlinkDeployment"
	}
	out["apiVersion"], out["kind"] = resources()[name].GroupVersion().String(), kind
	out["metadata"].(map[string]any)["name"] = name
	b, err := json.Marshal(out)
	must(t, err)
	return string(b)
}

func text(err error) string {
	if err == nil {
		return "taken"
	}
	return err.Error()
}

func ptr[T any](v T) *T { return &v }
