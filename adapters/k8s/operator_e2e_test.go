//go:build e2e

package k8s

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/core"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

// refusedWith checks the meaning of an error and words in it.
func refusedWith(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
}

// TestWriteIsTheKeyAlone: nothing else of the object becomes ours, and what a
// repeat finds there is not written again.
func TestWriteIsTheKeyAlone(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	before := s.generation(t)
	up := s.grown(t, ref, 1)
	must(t, s.Want(t.Context(), ref, "7-1700000000", up))
	s.carriedOut(t, ref, up)
	s.runs(t, ref, 3)
	o := s.object(t)
	if got, want := s.asked(t), workID+":3"; got != want || o.GetAnnotations()[AnnotationDecision] != "7-1700000000" {
		t.Errorf("the object asks for %q, want %q; annotations %v", got, want, o.GetAnnotations())
	}
	var ours string
	for _, m := range o.GetManagedFields() {
		if m.Manager == FieldManager {
			ours = string(m.Operation) + " " + m.FieldsV1.GetRawString()
		}
	}
	want := `Apply {"f:metadata":{"f:annotations":{"f:` + AnnotationDecision + `":{}}},"f:spec":{"f:flinkConfiguration":{"f:` + overridesKey + `":{}}}}`
	if ours != want {
		t.Errorf("ours is %s, want %s", ours, want)
	}
	must(t, s.Want(t.Context(), ref, "8-1700000060", up))
	if got := s.generation(t); got != before+1 {
		t.Errorf("generation %d, before one change and its repeat %d", got, before)
	}
}

// nested is a kind whose configuration may be nested, as that of a FlinkDeployment
// is in later releases of its CRD than the one that is published.
type nested struct{ flinkDeployment }

func (nested) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "test.flinkscaler", Version: "v1", Resource: "nesteds"}
}

const nestedCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nesteds.test.flinkscaler}
spec:
  group: test.flinkscaler
  scope: Namespaced
  names: {kind: Nested, plural: nesteds, singular: nested, listKind: NestedList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {flinkConfiguration: {x-kubernetes-preserve-unknown-fields: true}}
`

// TestNestedSpelling: the key stays where it is written, and what is beside it is
// not ours.
func TestNestedSpelling(t *testing.T) {
	must(t, kubetest.Plane(t).InstallCRDs(t.Context(), nestedCRD))
	b := newBench(t)
	for name, tc := range map[string]struct{ ours, want string }{
		"flat":   {`{"` + overridesKey + `": "` + idA + `:2"}`, `{"pipeline":{"name":"x"},"` + overridesKey + `":"` + idA + `:5"}`},
		"nested": {`{"pipeline": {"jobvertex-parallelism-overrides": "` + idA + `:2"}}`, `{"pipeline":{"jobvertex-parallelism-overrides":"` + idA + `:5","name":"x"}}`},
		"new":    {"", `{"pipeline":{"name":"x"},"` + overridesKey + `":"` + idA + `:5"}`},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"apiVersion":"test.flinkscaler/v1","kind":"Nested","metadata":{"name":"` + name + `"},"spec":{"flinkConfiguration":%s}}`
			b.write(t, "person", types.ApplyPatchType, nested{}.resource(), name, fmt.Sprintf(body, `{"pipeline":{"name":"x"}}`))
			if tc.ours != "" {
				b.write(t, FieldManager, types.ApplyPatchType, nested{}.resource(), name, fmt.Sprintf(body, tc.ours))
			}
			o := b.read(t, nested{}.resource(), name)
			w, err := wishOf(operated{&view{cluster: b.Cluster, kind: nested{}, object: o, base: o}})
			must(t, err)
			must(t, w.write(t.Context(), "d1", overrides{idA: 5}))
			got, err := json.Marshal(b.read(t, nested{}.resource(), name).config())
			must(t, err)
			if string(got) != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestSomebodyElsesField is not taken, and it is said whose it is.
func TestSomebodyElsesField(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	s.write(t, "argocd-controller", types.ApplyPatchType, flinkDeployment{}.resource(), "orders",
		`{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment","metadata":{"name":"orders"},"spec":{"flinkConfiguration":{"`+overridesKey+`":"`+workID+`:2"}}}`)
	ref := s.steady(t)
	generation := s.generation(t)
	refusedWith(t, s.Want(t.Context(), ref, "d1", s.grown(t, ref, 1)), core.ErrForeign, "argocd-controller", overridesKey)
	if got := s.generation(t); got != generation || s.asked(t) != workID+":2" {
		t.Errorf("it was written all the same: generation %d, was %d; %s", got, generation, s.asked(t))
	}
}

// TestGuards: nothing is written to an object that is another one, or another
// version of it, than was read, and none is made.
func TestGuards(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	read := s.object(t)
	resource := flinkDeployment{}.resource()
	fields := map[string]any{"spec": map[string]any{"flinkConfiguration": map[string]any{overridesKey: workID + ":5"}}}
	s.write(t, "person", types.MergePatchType, resource, "orders", `{"metadata":{"labels":{"a":"b"}}}`)
	refusedWith(t, s.Cluster.apply(t.Context(), resource, read, "d1", fields), core.ErrBusy, "changed since it was read")
	refusedWith(t, s.merge(t.Context(), resource, read, fields), core.ErrBusy, "changed since it was read")

	objects := kubetest.Plane(t).Dynamic().Resource(resource).Namespace(s.namespace)
	must(t, objects.Delete(t.Context(), "orders", metav1.DeleteOptions{}))
	await(t, "the object to be gone", func(ctx context.Context) (string, bool, error) {
		_, err := objects.Get(ctx, "orders", metav1.GetOptions{})
		return "there", kube.IsNotFound(err), nil
	})
	if err := s.Cluster.apply(t.Context(), resource, read, "d1", fields); err == nil {
		t.Error("an object that was deleted was written")
	}
	if _, err := objects.Get(t.Context(), "orders", metav1.GetOptions{}); err == nil {
		t.Error("an object that was deleted was made anew")
	}
	_, err := s.Wanted(t.Context(), ref)
	refusedWith(t, err, core.ErrNotFound)

	s.bench.apply(t, s.manifest)
	again := s.steady(t)
	refusedWith(t, s.Want(t.Context(), ref, "d1", s.grown(t, again, 1)), core.ErrNotFound, "created anew")
	latest := s.object(t)
	latest.SetUID(read.GetUID())
	for _, stale := range []*object{read, latest} {
		if err := s.Cluster.apply(t.Context(), resource, stale, "d1", fields); !errors.Is(err, core.ErrBusy) && !errors.Is(err, core.ErrNotFound) {
			t.Errorf("the uid of the object before, resourceVersion %s: %v", stale.GetResourceVersion(), err)
		}
		if err := s.merge(t.Context(), resource, stale, fields); !errors.Is(err, core.ErrBusy) && !errors.Is(err, core.ErrNotFound) {
			t.Errorf("likewise, merged: %v", err)
		}
	}
	if got := s.asked(t); got != "" {
		t.Errorf("the object asks for %q", got)
	}
}

// TestChangedInBetween: an operator that writes the status between our look and our
// write costs nothing; a spec that somebody changed then is looked at by whoever
// decided.
func TestChangedInBetween(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	s.operator.Halt(true) // nobody writes but this test
	resource := flinkDeployment{}.resource()
	for _, c := range []struct {
		what, change string
		times        int32 // how often it happens
		patches      int32
		want         error
	}{
		{"a status, or a note, is not the spec", `{"metadata":{"annotations":{"seen":"%d"}}}`, 2, 3, nil},
		{"an object that is never at rest is left alone", `{"metadata":{"annotations":{"seen":"%d"}}}`, 100, wantTries, core.ErrBusy},
		{"a spec may make what is wanted wrong", `{"spec":{"job":{"parallelism":%d}}}`, 1, 1, core.ErrBusy},
	} {
		before, asked := s.between.patches.Load(), s.asked(t)
		up, left := s.grown(t, ref, 1), c.times
		s.between.patchesGet(func(ask func() (*http.Response, error)) (*http.Response, error) {
			if left--; left >= 0 {
				s.write(t, "operator", types.MergePatchType, resource, "orders", fmt.Sprintf(c.change, left+3))
			}
			return ask()
		})
		err := s.Want(t.Context(), ref, "d1", up)
		s.between.patchesGet(nil)
		if c.want == nil && err != nil {
			t.Errorf("%s: %v", c.what, err)
		} else if c.want != nil {
			refusedWith(t, err, c.want, "changed since it was read")
		}
		if n := s.between.patches.Load() - before; n != c.patches {
			t.Errorf("%s: %d writes, want %d", c.what, n, c.patches)
		}
		if changed := s.asked(t) != asked; changed != (c.want == nil) {
			t.Errorf("%s: the object asks for %q, before for %q", c.what, s.asked(t), asked)
		}
		if c.want == nil { // carry it out, so that the next may be asked for
			s.operator.Halt(false)
			s.carriedOut(t, ref, up)
			s.steady(t)
			s.operator.Halt(true)
		}
	}
}

// TestLostAnswer: a write that was taken and had no answer shows, and is not made
// twice.
func TestLostAnswer(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	s.operator.Halt(true) // what is wanted shows before it is carried out
	generation, up := s.generation(t), s.grown(t, ref, 1)
	s.between.patchesGet(func(ask func() (*http.Response, error)) (*http.Response, error) {
		if answer, err := ask(); err == nil {
			answer.Body.Close()
		}
		return nil, io.ErrUnexpectedEOF
	})
	refusedWith(t, s.Want(t.Context(), ref, "d1", up), core.ErrUnreachable, "may or may not have been written")
	s.between.patchesGet(nil)
	got, err := s.Wanted(t.Context(), ref)
	if diff := cmp.Diff(up, got); err != nil || diff != "" {
		t.Fatalf("wanted after a lost answer (-sent +shown): %v\n%s", err, diff)
	}
	if c, err := s.Carried(t.Context(), ref, up); err != nil || c.Done || !strings.Contains(c.Note, "has not carried out generation") {
		t.Errorf("carried %+v, error %v", c, err)
	}
	must(t, s.Want(t.Context(), ref, "d1", up))
	s.operator.Halt(false)
	s.carriedOut(t, ref, up)
	s.runs(t, ref, 3)
	if got := s.generation(t); got != generation+1 {
		t.Errorf("generation %d, before one change %d", got, generation)
	}
}

// TestBusyAPIServer: it is asked once, and what it says is what it means.
func TestBusyAPIServer(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	up := s.grown(t, ref, 1)
	for code, want := range map[int]error{http.StatusTooManyRequests: core.ErrBusy, http.StatusServiceUnavailable: core.ErrUnreachable} {
		before := s.between.patches.Load()
		s.between.patchesGet(func(func() (*http.Response, error)) (*http.Response, error) {
			return &http.Response{
				StatusCode: code, Header: http.Header{"Retry-After": {"1"}, "Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("busy")),
			}, nil
		})
		refusedWith(t, s.Want(t.Context(), ref, "d1", up), want)
		if n := s.between.patches.Load() - before; n != 1 {
			t.Errorf("%d: asked %d times", code, n)
		}
	}
	if got := s.asked(t); got != "" {
		t.Errorf("the object asks for %q", got)
	}
}

// TestWebhookDown: an admission webhook that does not answer is waited out, and
// nothing was written.
func TestWebhookDown(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	up := s.grown(t, ref, 1)
	hook := "flinkoperator-" + s.namespace
	kubetestApply(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: `+hook+`}
webhooks:
- name: flinkoperator.flink.apache.org
  clientConfig: {url: "https://127.0.0.1:1/validate"}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+s.namespace+`}}
  rules: [{apiGroups: [flink.apache.org], apiVersions: ["*"], resources: [flinkdeployments], operations: [UPDATE]}]
`)
	t.Cleanup(func() { dropWebhook(t, hook) })
	await(t, "the webhook to be in force", func(ctx context.Context) (string, bool, error) {
		_, err := kubetest.Plane(t).Dynamic().Resource(flinkDeployment{}.resource()).Namespace(s.namespace).
			Patch(ctx, "orders", types.MergePatchType, []byte(`{"metadata":{"labels":{"probe":"x"}}}`), metav1.PatchOptions{DryRun: []string{"All"}})
		return fmt.Sprint(err), err != nil && strings.Contains(err.Error(), "failed calling webhook"), nil
	})
	refusedWith(t, s.Want(t.Context(), ref, "d1", up), core.ErrBusy, "flinkoperator.flink.apache.org", "nothing was written")
	if got := s.asked(t); got != "" {
		t.Errorf("the object asks for %q", got)
	}
	dropWebhook(t, hook)
	await(t, "the webhook to be gone", func(ctx context.Context) (string, bool, error) {
		err := s.Want(ctx, ref, "d1", up)
		return "", err == nil, nil
	})
	s.runs(t, ref, 3)
}

// TestNoRight: who installs it is told which right is missing.
func TestNoRight(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	limited := s.as(t, `{apiGroups: [flink.apache.org], resources: [flinkdeployments], verbs: [get]}`)
	limited.cfg.Address = loopback
	up := s.grown(t, ref, 1)
	if _, err := limited.Locate(t.Context(), s.target); err != nil {
		t.Fatalf("a job is found with the right to read alone: %v", err)
	}
	refusedWith(t, limited.Want(t.Context(), ref, "d1", up), core.ErrUnauthorized, "patch flinkdeployments", "verb patch on flinkdeployments of API group flink.apache.org")
	session := core.Target{Kubernetes: &core.KubernetesTarget{Namespace: s.namespace, Kind: core.KindFlinkSessionJob, Name: "x"}}
	_, err := limited.Locate(t.Context(), session)
	refusedWith(t, err, core.ErrUnauthorized, "verb get on flinksessionjobs")
}

// TestOneNameTwoNamespaces: each is its own.
func TestOneNameTwoNamespaces(t *testing.T) {
	a := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	b := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	one, other := a.steady(t), b.steady(t)
	if one.ID == other.ID {
		t.Fatalf("both are job %s", one.ID)
	}
	other, err := a.Locate(t.Context(), b.target) // by the same adapter
	must(t, err)
	up := a.grown(t, other, 1)
	must(t, a.Want(t.Context(), other, "d1", up))
	b.runs(t, other, 3)
	if a.size(t, one) != 2 || a.asked(t) != "" {
		t.Errorf("the other of its name runs at %d and asks for %q", a.size(t, one), a.asked(t))
	}
}

// TestSlotsMissing: the native cluster has 8 slots, 12 are wanted. What the operator
// says of it depends on its release; another size is taken all the same.
func TestSlotsMissing(t *testing.T) {
	for release, done := range map[string]bool{kubesim.Operator115: true, kubesim.Operator17: false} {
		t.Run(release, func(t *testing.T) {
			s := onStage(t, release, ordersWith(t, ""))
			ref := s.steady(t)
			up := s.grown(t, ref, 10)
			must(t, s.Want(t.Context(), ref, "d1", up))
			if done {
				s.runs(t, ref, 8)
				s.carriedOut(t, ref, up)
			} else {
				// It told Flink that no fewer will do, and waits for them.
				await(t, "the operator to wait for slots", func(ctx context.Context) (string, bool, error) {
					c, err := s.Carried(ctx, ref, up)
					return c.Note, strings.Contains(c.Note, "the operator waits for the size to show; it says: lifecycle UPGRADING"), err
				})
			}
			back := s.grown(t, ref, -10)
			must(t, s.Want(t.Context(), ref, "d2", back))
			s.runs(t, ref, 2)
			s.carriedOut(t, ref, back)
		})
	}
}

// TestOperatorAway: what it has not begun can be taken back, another change has to
// wait, and the job never moves.
func TestOperatorAway(t *testing.T) {
	for _, release := range []string{kubesim.Operator115, kubesim.Operator17} {
		t.Run(release, func(t *testing.T) {
			s := onStage(t, release, ordersWith(t, ""))
			ref := s.steady(t)
			first := s.grown(t, ref, 1)
			must(t, s.Want(t.Context(), ref, "d1", first))
			s.carriedOut(t, ref, first)
			s.steady(t)
			running, err := s.Status(t.Context(), ref)
			must(t, err)
			s.operator.Halt(true)
			second := s.grown(t, ref, 1)
			must(t, s.Want(t.Context(), ref, "d2", second))
			if c, err := s.Carried(t.Context(), ref, second); err != nil || c.Done || c.Reason != core.ReasonNotCarried {
				t.Errorf("carried %+v, error %v", c, err)
			}
			refusedWith(t, s.Want(t.Context(), ref, "d3", s.grown(t, ref, 1)), core.ErrBusy, "has not carried out generation")
			must(t, s.Want(t.Context(), ref, "d4", first))
			s.operator.Halt(false)
			s.carriedOut(t, ref, first)
			now, err := s.Status(t.Context(), ref)
			must(t, err)
			if !now.RunningSince.Equal(running.RunningSince) {
				t.Errorf("the job restarted at %s; it ran since %s", now.RunningSince, running.RunningSince)
			}
		})
	}
}

// TestOperatorTrouble: its words are told, and nothing is written meanwhile.
func TestOperatorTrouble(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	generation, up := s.generation(t), s.grown(t, ref, 1)
	s.operator.SetFault(s.namespace, "orders", kubesim.Fault{Error: "no such image"})
	s.write(t, "person", types.MergePatchType, flinkDeployment{}.resource(), "orders", `{"spec":{"image":"flink:none"}}`)
	await(t, "the operator's error to show", func(context.Context) (string, bool, error) {
		text := s.object(t).text("status", "error")
		return text, text != "", nil
	})
	refusedWith(t, s.Want(t.Context(), ref, "d1", up), core.ErrBusy, "no such image")
	if got := s.generation(t); got != generation+1 {
		t.Errorf("generation %d, before the person's change %d", got, generation)
	}
	s.operator.SetFault(s.namespace, "orders", kubesim.Fault{RollBack: true})
	await(t, "the job to be rolled back", func(ctx context.Context) (string, bool, error) {
		found, err := s.Locate(ctx, s.target)
		return s.object(t).text("status", "lifecycleState"), err == nil && strings.Contains(found.Means.Refused, "ROLL"), nil
	})
}

// TestForeignPUT: somebody tells Flink something else. It shows in what is wanted;
// asking for what the object has already tells Flink, without a write.
func TestForeignPUT(t *testing.T) {
	s := onStage(t, kubesim.Operator115, ordersWith(t, ""))
	ref := s.steady(t)
	up := s.grown(t, ref, 1)
	must(t, s.Want(t.Context(), ref, "d1", up))
	s.carriedOut(t, ref, up)
	s.runs(t, ref, 3)
	s.steady(t)
	direct := flinkAt(t, s)
	held, err := direct.Wanted(t.Context(), ref)
	must(t, err)
	foreign := held.Want([]core.VertexSize{{ID: workID, Parallelism: 5}})
	must(t, direct.Want(t.Context(), ref, "", foreign))
	s.runs(t, ref, 5)
	shown, err := s.Wanted(t.Context(), ref)
	must(t, err)
	if b, _ := shown.Of(workID); b.Upper != 5 {
		t.Errorf("wanted %+v does not show what somebody told Flink", shown)
	}
	generation := s.generation(t)
	must(t, s.Want(t.Context(), ref, "d2", up))
	s.runs(t, ref, 3)
	if got := s.generation(t); got != generation {
		t.Errorf("generation %d, was %d: the object asked for it already", got, generation)
	}
}

// TestStaleWindow: while the operator stops a job with a savepoint the object looks
// as before; it is not taken for done, and nothing is written into it.
func TestStaleWindow(t *testing.T) {
	s := onStage(t, kubesim.Operator115, strings.Replace(ordersWith(t, ""), "scheduler: adaptive", "scheduler: default", 1))
	ref := s.steady(t)
	if ref.Means.Method != "operator-upgrade" || !ref.Means.Restarts {
		t.Fatalf("a job under the default scheduler is changed by %+v", ref.Means)
	}
	up := s.grown(t, ref, 1)
	must(t, s.Want(t.Context(), ref, "d1", up))
	if c, err := s.Carried(t.Context(), ref, up); err != nil || c.Done {
		t.Errorf("carried %+v, error %v right after the write", c, err)
	}
	s.carriedOut(t, ref, up)
	again := s.steady(t)
	if again.ID == ref.ID {
		t.Error("the job has its old id: it was not started anew")
	}
	s.runs(t, again, 3)
	shown, err := s.Wanted(t.Context(), again)
	if diff := cmp.Diff(up, shown); err != nil || diff != "" {
		t.Errorf("wanted of the job that was started anew (-want +got): %v\n%s", err, diff)
	}
}

// flinkAt is Flink itself, as another program would reach it.
func flinkAt(t *testing.T, s *stage) interface {
	Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error)
	Want(ctx context.Context, job core.JobRef, decision string, r core.Requirements) error
} {
	t.Helper()
	ref, err := s.Locate(t.Context(), s.target)
	must(t, err)
	v, err := s.open(t.Context(), ref)
	must(t, err)
	return v.flink
}

// kubetestApply makes an object that belongs to no namespace.
func kubetestApply(t *testing.T, manifest string) {
	t.Helper()
	must(t, kubetest.Plane(t).Apply(t.Context(), "", manifest))
}

func dropWebhook(t *testing.T, name string) {
	t.Helper()
	_ = kubetest.Plane(t).Dynamic().Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}).
		Delete(context.Background(), name, metav1.DeleteOptions{})
}
