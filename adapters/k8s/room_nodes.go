package k8s

import (
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"flinkscaler/core"
)

// nodes holds the TaskManagers against what is free on the nodes, by requests: what
// pods use at the moment says nothing of what is promised to them.
func (v *view) nodes(ctx context.Context, j *judgement) error {
	if !v.cluster.cfg.Nodes {
		j.cannotTell("nodes are not looked at")
		return nil
	}
	free, err := v.cluster.freeNodes(ctx)
	if errors.Is(err, core.ErrUnauthorized) {
		j.cannotTell("the worker may not list nodes, or the pods of all namespaces")
		return nil
	}
	if err != nil {
		return err
	}
	if j.nodes(free); len(j.short) == 0 || j.final {
		return nil
	}
	return v.growth(ctx, j)
}

// freeNode is a node with what is not requested yet of it.
type freeNode struct {
	corev1.Node
	free corev1.ResourceList
}

// nodes takes in what is free. TaskManagers that wait for a node take part: they
// have none yet.
func (j *judgement) nodes(all []freeNode) {
	size, fits := requests(j.pod), 0
	for _, n := range all {
		if admits(n.Node, j.pod) {
			fits = min(fits+n.holds(size), maxPods)
		}
	}
	j.atMost(fits, "the nodes have room for %d, by what is requested of them", fits)
	if fits >= j.need && particular(j.pod) {
		j.cannotTell("whether the pods' rules about pods and zones beside them leave that room is not looked at")
	}
}

// holds says how many pods of a size fit on the node.
func (n freeNode) holds(size corev1.ResourceList) int {
	fits := maxPods
	if q, ok := n.free[corev1.ResourcePods]; ok {
		fits = int(q.Value())
	}
	for name, one := range size {
		fits = min(fits, times(n.free[name], one))
	}
	return max(0, fits)
}

// freeNodes reads all nodes and what all pods request of them.
func (c *Cluster) freeNodes(ctx context.Context) ([]freeNode, error) {
	found, err := c.list(ctx, nodeResource(), "", "")
	if err != nil {
		return nil, err
	}
	pods, err := c.list(ctx, podResource(), "", "")
	if err != nil {
		return nil, err
	}
	taken := map[string]corev1.ResourceList{}
	for _, o := range pods {
		pod, err := as[corev1.Pod](o.Unstructured)
		if err != nil {
			return nil, err
		}
		if pod.Spec.NodeName == "" || over(pod) {
			continue
		}
		sum := taken[pod.Spec.NodeName]
		if sum == nil {
			sum = corev1.ResourceList{}
			taken[pod.Spec.NodeName] = sum
		}
		add(sum, requests(pod))
		add(sum, corev1.ResourceList{corev1.ResourcePods: charge(pod)[corev1.ResourcePods]})
	}
	var out []freeNode
	for _, o := range found {
		node, err := as[corev1.Node](o.Unstructured)
		if err != nil {
			return nil, err
		}
		out = append(out, freeNode{node, minus(node.Status.Allocatable, taken[node.Name])})
	}
	return out, nil
}

func minus(all, taken corev1.ResourceList) corev1.ResourceList {
	out := all.DeepCopy()
	for name, q := range taken {
		if have, ok := out[name]; ok {
			have.Sub(q)
			out[name] = have
		}
	}
	return out
}

// admits is true where the scheduler may put the pod on the node at all.
func admits(n corev1.Node, p corev1.Pod) bool {
	if n.Spec.Unschedulable && !tolerates(p, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return false
	}
	for _, taint := range n.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(p, taint) {
			return false
		}
	}
	if !labels.SelectorFromSet(p.Spec.NodeSelector).Matches(labels.Set(n.Labels)) {
		return false
	}
	if p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil || p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	for _, term := range p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		if meets(n, term) {
			return true
		}
	}
	return false
}

func tolerates(p corev1.Pod, taint corev1.Taint) bool {
	for _, t := range p.Spec.Tolerations {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		if t.Operator == corev1.TolerationOpExists || (t.Operator == "" || t.Operator == corev1.TolerationOpEqual) && t.Value == taint.Value {
			return true
		}
	}
	return false
}

// meets is true for a node that fits a term: all of its expressions. An empty term
// fits none.
func meets(n corev1.Node, term corev1.NodeSelectorTerm) bool {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return false
	}
	return fitsAll(term.MatchExpressions, n.Labels) && fitsAll(term.MatchFields, map[string]string{"metadata.name": n.Name})
}

func fitsAll(all []corev1.NodeSelectorRequirement, of map[string]string) bool {
	for _, e := range all {
		// The operators are the same, in another case: NotIn and notin.
		r, err := labels.NewRequirement(e.Key, operator(e.Operator), e.Values)
		if err != nil || !r.Matches(labels.Set(of)) {
			return false
		}
	}
	return true
}

func operator(o corev1.NodeSelectorOperator) selection.Operator {
	switch o {
	case corev1.NodeSelectorOpDoesNotExist:
		return selection.DoesNotExist
	case corev1.NodeSelectorOpGt:
		return selection.GreaterThan
	case corev1.NodeSelectorOpLt:
		return selection.LessThan
	}
	return selection.Operator(strings.ToLower(string(o)))
}

// particular is true for a pod that minds the pods or zones beside it, or its
// volumes, which is the scheduler's to judge.
func particular(p corev1.Pod) bool {
	if len(podTerms(p, false)) > 0 || len(p.Spec.ResourceClaims) > 0 {
		return true
	}
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			return true
		}
	}
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}

// growth finds out whether nodes are added for pods that wait for one. Where that
// cannot be known, neither is it known that the room is too small.
func (v *view) growth(ctx context.Context, j *judgement) error {
	_, err := v.cluster.get(ctx, configMaps(), "kube-system", "cluster-autoscaler-status")
	if err == nil {
		j.grows = true
		return nil
	}
	hidden := errors.Is(err, core.ErrUnauthorized)
	if !hidden && !errors.Is(err, core.ErrNotFound) {
		return err
	}
	pools, hiddenToo, err := v.cluster.listIfAny(ctx, nodePools(), "", "")
	if err != nil {
		return err
	}
	j.grows = len(pools) > 0 || hiddenToo // Karpenter is there, with pools or not to be seen
	if !j.grows && hidden {
		j.unknown = append(j.short, append([]string{"whether nodes are added is not known: the worker may not read ConfigMap kube-system/cluster-autoscaler-status"}, j.unknown...)...)
		j.short, j.fits = nil, j.need
	}
	return nil
}

// nodePools are Karpenter's.
func nodePools() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
}
