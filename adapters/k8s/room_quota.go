package k8s

import (
	"context"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"flinkscaler/core"
)

// quotas holds the TaskManagers against the ResourceQuotas of the namespace: the
// API server refuses the pods that exceed one, not the object that asks for them.
func (v *view) quotas(ctx context.Context, j *judgement) error {
	found, err := v.cluster.list(ctx, resourceQuotas(), v.target.Namespace, "")
	if errors.Is(err, core.ErrUnauthorized) {
		j.cannotTell("the worker may not list resourcequotas")
		return nil
	}
	if err != nil {
		return err
	}
	for _, o := range found {
		q, err := as[corev1.ResourceQuota](o.Unstructured)
		if err != nil {
			return err
		}
		j.quota(q)
	}
	return nil
}

// quota takes in one ResourceQuota. Its status is the API server's own count; it
// has none for a moment after it was made.
func (j *judgement) quota(q corev1.ResourceQuota) {
	counts, known := applies(q, j.pod)
	if !known {
		j.cannotTell("ResourceQuota %s has a scope that cannot be judged", q.Name)
		return
	}
	if !counts {
		return
	}
	cost := charge(j.pod)
	for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
		one, charged := cost[name]
		if !charged {
			if compute(name) {
				j.final = true
				j.atMost(j.waiting, "ResourceQuota %s bounds %s, and the TaskManagers say nothing of that", q.Name, name)
			}
			continue
		}
		hard, used := q.Status.Hard[name], q.Status.Used[name]
		free := hard.DeepCopy()
		free.Sub(used)
		if n := j.waiting + times(free, one); n < j.need {
			j.final = true
			j.atMost(n, "ResourceQuota %s leaves %s of %s, and a TaskManager takes %s", q.Name, free.String(), name, one.String())
		}
	}
}

// compute is true for resources that every pod must name once a quota bounds them.
func compute(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:
		return true
	}
	return false
}

// applies is true for a quota that counts the pod: all its scopes fit. known is
// false for a scope of a kind that this version does not know.
func applies(q corev1.ResourceQuota, p corev1.Pod) (counts, known bool) {
	var all []corev1.ScopedResourceSelectorRequirement
	for _, s := range q.Spec.Scopes {
		all = append(all, corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		all = append(all, q.Spec.ScopeSelector.MatchExpressions...)
	}
	for _, s := range all {
		fits, known := inScope(s, p)
		if !known {
			return false, false
		}
		if !fits {
			return false, true
		}
	}
	return true, true
}

func inScope(s corev1.ScopedResourceSelectorRequirement, p corev1.Pod) (fits, known bool) {
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return p.Spec.ActiveDeadlineSeconds != nil, true
	case corev1.ResourceQuotaScopeNotTerminating:
		return p.Spec.ActiveDeadlineSeconds == nil, true
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(p), true
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(p), true
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossesNamespaces(p), true
	case corev1.ResourceQuotaScopePriorityClass:
		return hasPriority(s, p.Spec.PriorityClassName), true
	}
	return false, false
}

func hasPriority(s corev1.ScopedResourceSelectorRequirement, class string) bool {
	switch s.Operator {
	case corev1.ScopeSelectorOpIn:
		return slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	}
	return class != ""
}

func bestEffort(p corev1.Pod) bool { return len(requests(p)) == 0 && len(limits(p)) == 0 }

// crossesNamespaces is true for a pod that wants to be near pods, or far from
// pods, of other namespaces.
func crossesNamespaces(p corev1.Pod) bool {
	return slices.ContainsFunc(podTerms(p, true), func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}

// podTerms are what a pod says of the pods beside it: what it insists on, and
// where asked for what it prefers.
func podTerms(p corev1.Pod, preferred bool) []corev1.PodAffinityTerm {
	a := p.Spec.Affinity
	if a == nil {
		return nil
	}
	var out []corev1.PodAffinityTerm
	var wishes []corev1.WeightedPodAffinityTerm
	if a.PodAffinity != nil {
		out = append(out, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		wishes = append(wishes, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if a.PodAntiAffinity != nil {
		out = append(out, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		wishes = append(wishes, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	for _, w := range wishes {
		if preferred {
			out = append(out, w.PodAffinityTerm)
		}
	}
	return out
}
