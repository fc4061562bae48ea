//go:build e2e

package k8s

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/core"
	"flinkscaler/internal/kubelocal/kubetest"
)

const standaloneJob = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec: {flinkVersion: v1_18, mode: standalone, job: {jarURI: x}, taskManager: {replicas: 2}}
`

const nativeJob = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec: {flinkVersion: v1_18, job: {jarURI: x}, flinkConfiguration: {taskmanager.numberOfTaskSlots: "2"}}
`

// rivalsOf asks for the rivals of the FlinkDeployment orders.
func (b bench) rivalsOf(t *testing.T, mode string) []core.Rival {
	t.Helper()
	found, err := b.Rivals(t.Context(), b.job(t, core.KubernetesTarget{Kind: core.KindFlinkDeployment, Name: "orders", Mode: mode}))
	must(t, err)
	return found
}

func (b bench) wantRivals(t *testing.T, when, want string) []core.Rival {
	t.Helper()
	found := b.rivalsOf(t, "")
	if told(found) != want {
		t.Fatalf("%s: %+v, want %q", when, found, want)
	}
	return found
}

// TestRealHPAUndoesOurChange: it is named before a change, and again after it has
// put its own number back. Once it is gone it is no rival, though it still owns
// the field.
func TestRealHPAUndoesOurChange(t *testing.T) {
	b := newBench(t, standaloneJob)
	deployments := flinkDeployment{}.resource()
	replicas := func(want string) {
		await(t, want+" TaskManagers", func(context.Context) (string, bool, error) {
			got := b.read(t, deployments, "orders").text("spec", "taskManager", "replicas")
			return got, got == want, nil
		})
	}
	b.wantRivals(t, "the manifest named a size", "(FieldOwner kubelocal)")
	b.apply(t, `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: load}
spec:
  scaleTargetRef: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: orders}
  minReplicas: 4
  maxReplicas: 6
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`)
	replicas("4")
	b.write(t, FieldManager, types.MergePatchType, deployments, "orders", `{"spec":{"replicas":3}}`, "scale")
	replicas("4")
	found := b.wantRivals(t, "after our change was undone", "HorizontalPodAutoscaler load")
	for _, word := range []string{"FlinkDeployment orders", "between 4 and 6", "delete it"} {
		if !strings.Contains(found[0].What, word) {
			t.Errorf("it says %q, want %q in it", found[0].What, word)
		}
	}
	if found := b.rivalsOf(t, core.ModeFollow); len(found) > 0 {
		t.Errorf("followed, it is no rival: %+v", found)
	}
	must(t, kubetest.Plane(t).Dynamic().Resource(horizontalPodAutoscalers()).Namespace(b.namespace).Delete(t.Context(), "load", metav1.DeleteOptions{}))
	b.wantRivals(t, "once it is gone", "")
}

// TestRealOwners: who takes our field from us is named, whatever way it writes.
func TestRealOwners(t *testing.T) {
	flinks := flinkDeployment{}.resource()
	const key = `{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment","metadata":{"name":"orders","annotations":{"flinkscaler/decision-id":"7-1"}},` +
		`"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"a:%d"}}}`
	const others = `{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment","metadata":{"name":"orders"},"spec":{"flinkConfiguration":{"taskmanager.numberOfTaskSlots":"2"}}}`
	b := newBench(t, nativeJob)
	ours := func() { b.write(t, FieldManager, types.ApplyPatchType, flinks, "orders", fmt.Sprintf(key, 3)) }
	marked := func(want core.MarkState) {
		t.Helper()
		if got := mark(inPlace{}, b.read(t, flinks, "orders")); got != want {
			t.Errorf("the mark is %q, want %q", got, want)
		}
	}
	b.wantRivals(t, "a new job", "")
	marked(core.Unmarked)
	ours()
	b.wantRivals(t, "we wrote", "")
	marked(core.Marked)
	b.write(t, "kustomize-controller", types.ApplyPatchType, flinks, "orders", others)
	b.wantRivals(t, "Git does not name our key", "")
	b.write(t, "kustomize-controller", types.ApplyPatchType, flinks, "orders", fmt.Sprintf(key, 4))
	b.wantRivals(t, "Git names it", "GitOps Flux")
	ours()
	b.wantRivals(t, "taken back by force, as a person would", "")
	b.write(t, "argocd-controller", types.MergePatchType, flinks, "orders", fmt.Sprintf(key, 5))
	b.wantRivals(t, "a client-side apply", "GitOps Argo CD")
	ours()
	b.write(t, "kubectl-edit", types.MergePatchType, flinks, "orders", fmt.Sprintf(key, 6))
	b.wantRivals(t, "a person", "FieldOwner kubectl-edit")

	// What replaces the whole object leaves no owner behind, and no mark.
	ours()
	o := b.read(t, flinks, "orders")
	delete(o.Object["spec"].(map[string]any)["flinkConfiguration"].(map[string]any), overridesKey)
	o.SetAnnotations(nil)
	_, err := kubetest.Plane(t).Dynamic().Resource(flinks).Namespace(b.namespace).Update(t.Context(), o.Unstructured, metav1.UpdateOptions{FieldManager: "argocd-controller"})
	must(t, err)
	b.wantRivals(t, "replaced", "")
	marked(core.Unmarked)
}

// TestRealOperatorSigns: what the operator leaves in the API server is read as it
// writes it.
func TestRealOperatorSigns(t *testing.T) {
	b := newBench(t, nativeJob)
	uid := string(b.read(t, flinkDeployment{}.resource(), "orders").GetUID())
	b.apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: autoscaler-orders}}")
	b.wantRivals(t, "an empty store", "")

	event := func(name, reason, message string, at time.Time) string {
		return fmt.Sprintf("{apiVersion: v1, kind: Event, metadata: {name: %s}, type: Normal, count: 1, source: {component: Operator}, reason: %s, message: %q, firstTimestamp: %q, lastTimestamp: %q, "+
			"involvedObject: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: orders, namespace: %s, uid: %s}}",
			name, reason, message, at.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), b.namespace, uid)
	}
	b.apply(t, event("a", "Scaling", "In-place scaling triggered", time.Now()))
	b.wantRivals(t, "a change in place, which may be ours", "")
	b.apply(t, event("b", "ScalingReport", "Scaling execution disabled by config job.autoscaler.scaling.enabled:false", time.Now()))
	b.wantRivals(t, "it reports", "(FlinkOperatorAutoscaler orders)")
	b.apply(t, event("c", "ScalingReport", "Scaling execution enabled, begin scaling vertices:{ Vertex ID a", time.Now()))
	b.wantRivals(t, "it acts", "FlinkOperatorAutoscaler orders")
	config := func(enabled string) {
		b.write(t, "kubectl", types.MergePatchType, flinkDeployment{}.resource(), "orders", `{"spec":{"flinkConfiguration":{"job.autoscaler.enabled":"`+enabled+`"}}}`)
	}
	config("false")
	b.wantRivals(t, "it was switched off", "")
	b.apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: autoscaler-orders}, data: {parallelismOverrides: 'a:3'}}")
	b.wantRivals(t, "its store is not empty yet", "FlinkOperatorAutoscaler orders")
	b.write(t, "operator", types.MergePatchType, configMaps(), "autoscaler-orders", `{"data":null}`)
	b.wantRivals(t, "its store is empty", "")
	config("true")
	b.wantRivals(t, "it was switched on", "FlinkOperatorAutoscaler orders")
	config("false")
	generation := b.read(t, flinkDeployment{}.resource(), "orders").text("metadata", "generation")
	b.write(t, "operator", types.MergePatchType, flinkDeployment{}.resource(), "orders", `{"status":{"observedGeneration":`+generation+
		`,"jobStatus":{},"reconciliationStatus":{"state":"DEPLOYED","lastReconciledSpec":"{\"spec\":{\"flinkConfiguration\":{\"pipeline.jobvertex-parallelism-overrides\":\"a:7\"}}}"}}}`, "status")
	found := b.wantRivals(t, "the old sizes are about to jump in", "FlinkOperatorAutoscaler orders")
	if !strings.Contains(found[0].What, "in one patch") {
		t.Errorf("it does not say how to hand over: %s", found[0].What)
	}
}

// extension is a kind of an extension without a schema.
func extension(group, version, kind, plural string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[4]s.%[1]s, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[4]s}
  versions:
  - {name: %[2]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, group, version, kind, plural)
}

// install defines kinds for the rest of a test: the plane is shared.
func install(t *testing.T, crds ...string) {
	t.Helper()
	plane := kubetest.Plane(t)
	must(t, plane.InstallCRDs(t.Context(), crds...))
	t.Cleanup(func() {
		for _, crd := range crds {
			o := parse(t, crd)
			must(t, plane.Dynamic().Resource(definitions).Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}))
			await(t, "the end of "+o.GetName(), func(ctx context.Context) (string, bool, error) {
				_, err := plane.Dynamic().Resource(definitions).Get(ctx, o.GetName(), metav1.GetOptions{})
				return fmt.Sprint(err), kube.IsNotFound(err), nil
			})
		}
	})
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// TestRivalsOfExtensions: without KEDA and the vertical autoscaler nobody misses
// them, with them what may not be read is told.
func TestRivalsOfExtensions(t *testing.T) {
	b := newBench(t, nativeJob)
	const read = `{apiGroups: [flink.apache.org], resources: [flinkdeployments], verbs: [get]}, {apiGroups: [""], resources: [configmaps], verbs: [get]}, ` +
		`{apiGroups: [events.k8s.io], resources: [events], verbs: [list]}`
	const hpas = `, {apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [list]}`
	worker := b.as(t, read)
	target := core.KubernetesTarget{Kind: core.KindFlinkDeployment, Name: "orders"}
	await(t, "the doubt about HorizontalPodAutoscalers", func(ctx context.Context) (string, bool, error) {
		found, err := worker.Rivals(ctx, b.job(t, target))
		return fmt.Sprint(found, err), errors.Is(err, core.ErrUnauthorized) && strings.Contains(err.Error(), "horizontalpodautoscalers"), nil
	})
	worker = b.as(t, read+hpas)
	await(t, "no rivals, and no word on what is not there", func(ctx context.Context) (string, bool, error) {
		found, err := worker.Rivals(ctx, b.job(t, target))
		return fmt.Sprint(found, err), err == nil && len(found) == 0, nil
	})

	install(t, extension("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects"), extension("autoscaling.k8s.io", "v1", "VerticalPodAutoscaler", "verticalpodautoscalers"))
	worker.wantRivals(t, "may not be read", "(Forbidden scaledobjects.keda.sh), (Forbidden verticalpodautoscalers)")
	b.apply(t, "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: lag}, spec: {scaleTargetRef: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: orders}}}",
		"{apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {name: memory}, spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: orders-taskmanager}}}")
	b.wantRivals(t, "read", "ScaledObject lag, (VerticalPodAutoscaler memory)")
	b.write(t, "kubectl", types.MergePatchType, scaledObjects(), "lag", `{"metadata":{"annotations":{"autoscaling.keda.sh/paused":"true"}}}`)
	b.wantRivals(t, "paused", "(VerticalPodAutoscaler memory)")

	// Without the store and the events, what they would show is named as unseen.
	worker = b.as(t, `{apiGroups: [flink.apache.org], resources: [flinkdeployments], verbs: [get]}, {apiGroups: [keda.sh, autoscaling.k8s.io], resources: ["*"], verbs: [list]}`+hpas)
	await(t, "what may not be seen", func(ctx context.Context) (string, bool, error) {
		found, err := worker.Rivals(ctx, b.job(t, target))
		return fmt.Sprint(told(found), err), told(found) == "(Forbidden configmaps), (Forbidden events.events.k8s.io), (VerticalPodAutoscaler memory)", nil
	})
}
