package k8s

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// scalable names something with replicas. The version of its API does not count:
// all versions are one object.
type scalable struct{ group, kind, name string }

func (s scalable) String() string { return s.kind + " " + s.name }

// scalables are the objects whose replicas are TaskManagers of the job: its own,
// and the workload that an operator keeps beneath it.
func (v *view) scalables() []scalable {
	name := v.base.GetName()
	beneath := []scalable{{"apps", core.KindDeployment, name + "-taskmanager"}, {"apps", core.KindStatefulSet, name + "-taskmanager"}}
	switch v.target.Kind {
	case core.KindFlinkDeployment, core.KindFlinkSessionJob:
		return append(beneath, scalable{flinkDeployment{}.resource().Group, core.KindFlinkDeployment, name})
	case core.KindFlinkCluster:
		return append(beneath, scalable{flinkCluster{}.resource().Group, core.KindFlinkCluster, name})
	}
	return []scalable{{"apps", v.target.Kind, name}}
}

// reference reads a reference to a scalable, with what it means where it says
// nothing.
func reference(o *object, path ...string) scalable {
	at := func(field string) string { return o.text(append(slices.Clone(path), field)...) }
	s := scalable{group: "apps", kind: core.KindDeployment, name: at("name")}
	if version := at("apiVersion"); version != "" {
		group, _, slash := strings.Cut(version, "/")
		s.group = group
		if !slash {
			s.group = "" // the core group has no name
		}
	}
	if kind := at("kind"); kind != "" {
		s.kind = kind
	}
	return s
}

// consequence is what a change of the replicas does to the job.
func (v *view) consequence() string {
	if v.ofFlinkOperator() && !v.standalone() {
		return ", and each change of that restarts the whole job"
	}
	return ""
}

// standalone is true where the Flink operator starts the TaskManagers.
func (v *view) standalone() bool { return strings.EqualFold(v.base.text("spec", "mode"), "standalone") }

// podScalers finds KEDA's ScaledObjects and HorizontalPodAutoscalers. Where the
// job's size is meant to follow them they are no rivals.
func (v *view) podScalers(ctx context.Context) ([]core.Rival, error) {
	if v.follows() {
		return nil, nil
	}
	scaled, err := v.cluster.shared(ctx, question{resource: scaledObjects(), namespace: v.target.Namespace, optional: true})
	if err != nil {
		return nil, err
	}
	var out []core.Rival
	if scaled.hidden {
		out = append(out, unseen("scaledobjects.keda.sh", "a ScaledObject that has no HorizontalPodAutoscaler"))
	}
	autoscalers, err := v.cluster.shared(ctx, question{resource: horizontalPodAutoscalers(), namespace: v.target.Namespace})
	if err != nil {
		return nil, err
	}
	return append(out, v.judgePodScalers(scaled.found, autoscalers.found)...), nil
}

// judgePodScalers names each ScaledObject once, not also by the
// HorizontalPodAutoscaler that KEDA makes for it.
func (v *view) judgePodScalers(scaled, autoscalers []*object) []core.Rival {
	var out []core.Rival
	targets, told := v.scalables(), map[string]bool{}
	for _, o := range scaled {
		s := reference(o, "spec", "scaleTargetRef")
		if !slices.Contains(targets, s) || paused(o) {
			continue
		}
		told[o.GetName()] = true
		out = append(out, core.Rival{
			Kind: "ScaledObject", Name: o.GetName(),
			What: fmt.Sprintf("KEDA sets the TaskManagers of the %s by it%s%s: pause it with the annotation %s, delete it, or let flinkscaler follow it (target.kubernetes.mode: follow)",
				s, v.consequence(), halfPaused(o), annotationPaused),
		})
	}
	for _, o := range autoscalers {
		s := reference(o, "spec", "scaleTargetRef")
		if slices.Contains(targets, s) && !told[o.GetLabels()[labelScaledObject]] {
			out = append(out, v.podScaler(o, s))
		}
	}
	return out
}

func (v *view) podScaler(o *object, s scalable) core.Rival {
	least := o.text("spec", "minReplicas")
	if least == "" {
		least = "1"
	}
	r := core.Rival{Kind: "HorizontalPodAutoscaler", Name: o.GetName()}
	does := fmt.Sprintf("it sets the TaskManagers of the %s between %s and %s%s", s, least, o.text("spec", "maxReplicas"), v.consequence())
	switch {
	case switchedOff(o):
		r.Warning = true
		r.What = fmt.Sprintf("it is off while the %s has 0 replicas, and sets them again from then on: delete it", s)
	case o.GetLabels()[labelScaledObject] != "":
		r.What = does + ": it is made by KEDA; pause ScaledObject " + o.GetLabels()[labelScaledObject] + " with the annotation " + annotationPaused + ", or delete it"
	case ownedBy(o, core.KindFlinkCluster):
		r.What = does + ": take spec.taskManager.horizontalPodAutoscaler out of the FlinkCluster, or let flinkscaler follow it (target.kubernetes.mode: follow)"
	default:
		r.What = does + ": delete it, or let flinkscaler follow it (target.kubernetes.mode: follow)"
	}
	return r
}

func ownedBy(o *object, kind string) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == kind })
}

// switchedOff is true for a HorizontalPodAutoscaler over 0 replicas. Any other
// that is not active still keeps its bounds.
func switchedOff(o *object) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == "ScalingActive" && m["status"] == "False" && m["reason"] == "ScalingDisabled"
	})
}

// What KEDA marks objects with.
const (
	labelScaledObject = "scaledobject.keda.sh/name"
	annotationPaused  = "autoscaling.keda.sh/paused"
)

// paused is true for a ScaledObject that does nothing.
func paused(o *object) bool {
	_, replicas := o.GetAnnotations()[annotationPaused+"-replicas"]
	return replicas || set(o, annotationPaused) || set(o, annotationPaused+"-scale-in") && set(o, annotationPaused+"-scale-out")
}

func halfPaused(o *object) string {
	switch {
	case set(o, annotationPaused+"-scale-in"):
		return " (only upwards: scaling in is paused)"
	case set(o, annotationPaused+"-scale-out"):
		return " (only downwards: scaling out is paused)"
	}
	return ""
}

func set(o *object, annotation string) bool {
	return strings.EqualFold(o.GetAnnotations()[annotation], "true")
}

// verticalScalers finds VerticalPodAutoscalers that restart TaskManagers to give
// them other resources. They change no size, so they are warnings.
func (v *view) verticalScalers(ctx context.Context) ([]core.Rival, error) {
	all, err := v.cluster.shared(ctx, question{resource: verticalPodAutoscalers(), namespace: v.target.Namespace, optional: true})
	if err != nil {
		return nil, err
	}
	if all.hidden {
		return []core.Rival{unseen("verticalpodautoscalers", "one that restarts TaskManagers")}, nil
	}
	var out []core.Rival
	for _, o := range all.found {
		s := reference(o, "spec", "targetRef")
		if mode := updateMode(o); slices.Contains(v.scalables(), s) && evicts(mode) {
			out = append(out, core.Rival{
				Kind: "VerticalPodAutoscaler", Name: o.GetName(), Warning: true,
				What: fmt.Sprintf("it gives the pods of the %s other resources (updateMode %s), and each restart of a TaskManager restarts the job: set updateMode to Initial or Off", s, mode),
			})
		}
	}
	return out, nil
}

func updateMode(o *object) string {
	if mode := o.text("spec", "updatePolicy", "updateMode"); mode != "" {
		return mode
	}
	return "Auto"
}

// evicts is true for modes under which running pods are changed.
func evicts(mode string) bool {
	switch mode {
	case "Auto", "Recreate", "InPlace", "InPlaceOrRecreate":
		return true
	}
	return false
}

func horizontalPodAutoscalers() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
}

func scaledObjects() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
}

func verticalPodAutoscalers() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}
}
