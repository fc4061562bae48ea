package k8s

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// requests is what a pod takes from a node: its containers together, or its
// init containers where one of those needs more, and the overhead of its runtime.
func requests(p corev1.Pod) corev1.ResourceList {
	return podSum(p, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
}

// limits is what a pod may use at most, counted in the same way.
func limits(p corev1.Pod) corev1.ResourceList {
	return podSum(p, func(r corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
}

func podSum(p corev1.Pod, of func(corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	sum, sidecars, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for _, c := range p.Spec.Containers {
		add(sum, of(c.Resources))
	}
	for _, c := range p.Spec.InitContainers {
		own := of(c.Resources)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			// A sidecar stays, beside what starts after it.
			add(sidecars, own)
			atLeast(most, sidecars)
			continue
		}
		step := sidecars.DeepCopy()
		add(step, own)
		atLeast(most, step)
	}
	add(sum, sidecars)
	atLeast(sum, most)
	if p.Spec.Resources != nil {
		// What is said of the pod as a whole stands for its containers.
		for name, q := range of(*p.Spec.Resources) {
			sum[name] = q.DeepCopy()
		}
	}
	if len(sum) > 0 {
		add(sum, p.Spec.Overhead)
	}
	return sum
}

func add(to, more corev1.ResourceList) {
	for name, q := range more {
		sum := to[name]
		sum.Add(q)
		to[name] = sum
	}
}

func atLeast(to, least corev1.ResourceList) {
	for name, q := range least {
		if have := to[name]; have.Cmp(q) < 0 {
			to[name] = q.DeepCopy()
		}
	}
}

// charge is what one pod counts for in quotas, by the names that they use.
func charge(p corev1.Pod) corev1.ResourceList {
	one := resource.MustParse("1")
	out := corev1.ResourceList{corev1.ResourcePods: one, "count/pods": one}
	for name, q := range requests(p) {
		out["requests."+name] = q
		if plain(name) {
			out[name] = q
		}
	}
	for name, q := range limits(p) {
		out["limits."+name] = q
	}
	return out
}

// plain is true for resources that a quota may name without saying that it means
// requests.
func plain(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// times says how many of one fit into what is free.
func times(free, one resource.Quantity) int {
	if one.Sign() <= 0 {
		return maxPods
	}
	if free.Sign() <= 0 {
		return 0
	}
	n := free.AsApproximateFloat64() / one.AsApproximateFloat64()
	// Quantities are decimal, floats are not: a hair less than a whole one is one.
	return int(min(n+1e-9, maxPods))
}

// maxPods stands for no bound.
const maxPods = 1 << 20
