package k8s

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/core"
)

// field is a field of the object that we write.
type field struct {
	path []string
	// applied is true where it is written by server-side apply without force: then
	// nobody else may own it. Else a write of ours takes it over, and only who puts
	// its own value back again and again is a rival.
	applied bool
}

// String is the field's path as it is written in a manifest.
func (f field) String() string { return strings.Join(f.path, ".") }

// ours are the fields that the job's size is written to.
func (v *view) ours() []field {
	replicas := field{path: []string{"spec", "taskManager", "replicas"}}
	switch v.target.Kind {
	case core.KindFlinkCluster:
		return []field{replicas, {path: []string{"spec", "job", "parallelism"}}}
	case core.KindDeployment, core.KindStatefulSet:
		return []field{{path: []string{"spec", "replicas"}}}
	case core.KindFlinkDeployment:
		if v.standalone() {
			return []field{replicas}
		}
	}
	name, rest, _ := strings.Cut(overridesKey, ".")
	return []field{
		{path: []string{"spec", "flinkConfiguration", overridesKey}, applied: true},
		{path: []string{"spec", "flinkConfiguration", name, rest}, applied: true},
	}
}

// holder is somebody who owns a field of an object.
type holder struct {
	manager, operation, subresource string
	since                           time.Time
}

// holders gives who owns a field, by the object's managedFields.
func holders(o *object, path []string) []holder {
	var out []holder
	for _, m := range o.GetManagedFields() {
		if !owns(m, path) {
			continue
		}
		h := holder{manager: m.Manager, operation: string(m.Operation), subresource: m.Subresource}
		if m.Time != nil {
			h.since = m.Time.Time
		}
		out = append(out, h)
	}
	return out
}

func owns(m metav1.ManagedFieldsEntry, path []string) bool {
	if m.FieldsV1 == nil {
		return false
	}
	var fields map[string]any
	if json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	for _, p := range path {
		next, ok := fields["f:"+p].(map[string]any)
		if !ok {
			return false
		}
		fields = next
	}
	return true
}

// owners are the rivals that own a field of ours.
func (v *view) owners() []core.Rival {
	var out []core.Rival
	for _, f := range v.ours() {
		for _, h := range holders(v.object, f.path) {
			if r, ok := v.owner(f, h); ok && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

func (v *view) owner(f field, h holder) (core.Rival, bool) {
	tool := gitOps(v.object, h.manager)
	switch {
	case h.manager == FieldManager:
		return core.Rival{}, false
	case !f.applied && (v.follows() || scales(h)):
		return core.Rival{}, false
	case tool != "":
		return core.Rival{
			Kind: KindGitOps, Name: tool,
			What: fmt.Sprintf("it owns %s (as %s) and puts its own value back: take the field out of what it applies, or tell it to ignore the field", f, h.manager),
		}, true
	case f.applied:
		return core.Rival{
			Kind: KindFieldOwner, Name: h.manager,
			What: fmt.Sprintf("it set %s%s and owns it, and what somebody owns is not written over: give it over by a server-side apply of the present value as field manager %s, with force, and take the entry of %s out of metadata.managedFields",
				f, since(h), FieldManager, h.manager),
		}, true
	}
	return core.Rival{
		Kind: KindFieldOwner, Name: h.manager, Warning: true,
		What: fmt.Sprintf("it set %s%s, and sets it again when it is applied anew: take the field out of its manifest", f, since(h)),
	}, true
}

// The kinds of rivals that are known by a field that they own.
const (
	KindGitOps     = "GitOps"
	KindFieldOwner = "FieldOwner"
)

func since(h holder) string {
	var text string
	if h.subresource != "" {
		text = " through /" + h.subresource
	}
	if !h.since.IsZero() {
		text += " at " + h.since.UTC().Format(time.RFC3339)
	}
	return text
}

// scales is true for what writes replicas for a HorizontalPodAutoscaler or a
// ScaledObject. Those are found by themselves, and gone when they are deleted,
// while the ownership stays.
func scales(h holder) bool {
	return strings.HasPrefix(h.manager, "kube-controller-manager") || strings.HasPrefix(h.manager, "keda")
}

// gitOps names the tool behind a field manager that applies again and again what
// Git holds, empty for any other. What such a tool applies with kubectl is known
// by its mark on the object.
func gitOps(o *object, manager string) string {
	switch {
	case strings.HasPrefix(manager, "argocd"):
		return "Argo CD"
	case manager == "kustomize-controller", manager == "helm-controller":
		return "Flux"
	case manager != "kubectl-client-side-apply" && manager != "before-first-apply":
		return ""
	}
	marks := []struct{ key, tool string }{
		{"argocd.argoproj.io/instance", "Argo CD"},
		{"argocd.argoproj.io/tracking-id", "Argo CD"},
		{"kustomize.toolkit.fluxcd.io/name", "Flux"},
		{"helm.toolkit.fluxcd.io/name", "Flux"},
	}
	for _, m := range marks {
		if o.GetLabels()[m.key] != "" || o.GetAnnotations()[m.key] != "" {
			return m.tool
		}
	}
	return ""
}
