//go:build e2e

package deploy

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/internal/kubelocal/kubetest"
)

// flinkManifests are the objects of the Flink operator in docs/kubernetes.md.
func flinkManifests(t *testing.T) []object {
	t.Helper()
	page, err := os.ReadFile("../../../docs/kubernetes.md")
	must(t, err)
	var out []object
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(m[1], "apiVersion: flink.apache.org/") {
			out = append(out, decode(t, []byte(m[1]))...)
		}
	}
	if len(out) != 2 {
		t.Fatalf("%d manifests; want a job, and its hand-over", len(out))
	}
	return out
}

// TestTheHandOver: after what docs/kubernetes.md says, the overrides key is ours to
// change, whoever wrote it before, with the same value or another.
func TestTheHandOver(t *testing.T) {
	both := flinkManifests(t)
	job, handover := both[0], both[1]
	const ours = `{"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"59fa767824610e31f4a11d6125e09bf4:4,6bf01baa9d2ca23a3ef7ce311722523d:2"}}}`
	for name, before := range map[string]string{
		"no key": "", "the same value": ours, "another value": strings.Replace(ours, "4:4", "4:9", 1),
	} {
		t.Run(name, func(t *testing.T) {
			namespace := kubetest.Namespace(t)
			client := kubetest.Plane(t).Dynamic().Resource(job.resource()).Namespace(namespace)
			_, err := client.Create(t.Context(), job.Unstructured, metav1.CreateOptions{FieldManager: "kubectl-create"})
			must(t, err)
			if before != "" {
				_, err := client.Patch(t.Context(), job.GetName(), types.MergePatchType, []byte(before), metav1.PatchOptions{FieldManager: "kubectl-patch"})
				must(t, err)
			}
			apply := func(body string, force bool) error {
				_, err := client.Patch(t.Context(), job.GetName(), types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: "flinkscaler", Force: &force})
				return err
			}
			next := strings.Replace(handover.json(t), "4:4", "4:5", 1)
			if err := apply(next, false); before != "" && !kube.IsConflict(err) {
				t.Errorf("before the hand-over: %v; want a conflict", err)
			}
			must(t, apply(handover.json(t), true))
			if before == ours { // both own it: the other claim has to go, too
				if err := apply(next, false); !kube.IsConflict(err) {
					t.Errorf("with the value that was there: %v; want a conflict", err)
				}
				dropClaim(t, live(t, []object{placed(job, namespace)})[0], "kubectl-patch")
			}
			if err := apply(next, false); err != nil {
				t.Errorf("after the hand-over: %v", err)
			}
		})
	}
}

func placed(o object, namespace string) object {
	o = object{o.DeepCopy()}
	o.SetNamespace(namespace)
	return o
}

// dropClaim takes a manager out of those of an object, which changes nothing else.
func dropClaim(t *testing.T, o object, manager string) {
	t.Helper()
	i := slices.IndexFunc(o.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Manager == manager })
	if i < 0 {
		t.Fatalf("%s owns nothing", manager)
	}
	body := fmt.Sprintf(`[{"op":"remove","path":"/metadata/managedFields/%d"}]`, i)
	client := kubetest.Plane(t).Dynamic().Resource(o.resource()).Namespace(o.GetNamespace())
	got, err := client.Patch(t.Context(), o.GetName(), types.JSONPatchType, []byte(body), metav1.PatchOptions{})
	must(t, err)
	if got.GetGeneration() != o.GetGeneration() {
		t.Errorf("generation %d; want %d: the operator would see a change", got.GetGeneration(), o.GetGeneration())
	}
}
