package k8s

import (
	"context"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"flinkscaler/core"
)

// limits holds the TaskManagers against the LimitRanges of the namespace. Pods
// that are there were let in under those of their time; what these give by default
// is in them already.
func (v *view) limits(ctx context.Context, j *judgement) error {
	found, err := v.cluster.list(ctx, limitRanges(), v.target.Namespace, "")
	if errors.Is(err, core.ErrUnauthorized) {
		j.cannotTell("the worker may not list limitranges")
		return nil
	}
	if err != nil {
		return err
	}
	for _, o := range found {
		l, err := as[corev1.LimitRange](o.Unstructured)
		if err != nil {
			return err
		}
		for _, item := range l.Spec.Limits {
			j.limit(l.Name, item)
		}
	}
	return nil
}

// limit takes in one rule of a LimitRange.
func (j *judgement) limit(name string, item corev1.LimitRangeItem) {
	switch item.Type {
	case corev1.LimitTypePod:
		j.within(name, "a TaskManager's pod", item, requests(j.pod), limits(j.pod))
	case corev1.LimitTypeContainer:
		for _, c := range slices.Concat(j.pod.Spec.InitContainers, j.pod.Spec.Containers) {
			j.within(name, "container "+c.Name, item, defaulted(c.Resources.Requests, item.DefaultRequest), defaulted(c.Resources.Limits, item.Default))
		}
	}
}

// within holds requests against the least, and limits against the most; a bound
// that nothing is said of is broken, too.
func (j *judgement) within(name, subject string, item corev1.LimitRangeItem, requests, limits corev1.ResourceList) {
	for _, r := range slices.Sorted(maps.Keys(item.Max)) {
		most := item.Max[r]
		if have, ok := limits[r]; !ok || have.Cmp(most) > 0 {
			j.refused("LimitRange %s allows %s %s of %s at most", name, subject, most.String(), r)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(item.Min)) {
		least := item.Min[r]
		if have, ok := requests[r]; !ok || have.Cmp(least) < 0 {
			j.refused("LimitRange %s wants %s to have %s of %s at least", name, subject, least.String(), r)
		}
	}
}

// refused: no further pod of that size is let in, whatever nodes there are.
func (j *judgement) refused(format string, args ...any) {
	j.final = true
	j.atMost(j.waiting, format, args...)
}

// defaulted fills in what a container says nothing of.
func defaulted(own, byDefault corev1.ResourceList) corev1.ResourceList {
	out := byDefault.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, own)
	return out
}
