package k8s

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"flinkscaler/core"
)

// whyNoPods says why TaskManagers that the requirements need do not come, empty
// where they are there, or nothing is known. It is for people, and for a note in
// time: what may not be read, or does not answer, is left out.
func (v *view) whyNoPods(ctx context.Context, r core.Requirements) (core.Reason, string) {
	need, err := v.missing(ctx, r)
	if err == nil && need == 0 || err != nil && !errors.Is(err, core.ErrNotReady) {
		return "", "" // a job that waits for slots shows no graph, and is not ready
	}
	pods, err := v.taskManagerPods(ctx)
	if err != nil {
		return "", ""
	}
	for _, p := range pods {
		if reason, note := v.whyPending(ctx, p); note != "" {
			return reason, note
		}
	}
	if note := v.refusedPods(ctx); note != "" {
		return core.ReasonNoRoom, note
	}
	if v.startsItself() && len(pods) > 0 {
		return v.whyNotAsked(ctx, pods)
	}
	return "", ""
}

// whyPending says why a pod does not run, by its own status; empty while it is on
// its way.
func (v *view) whyPending(ctx context.Context, p corev1.Pod) (core.Reason, string) {
	if p.Status.Phase != corev1.PodPending && p.Status.Phase != corev1.PodRunning {
		return "", ""
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return core.ReasonNoRoom, fmt.Sprintf("TaskManager %s fits on no node: %s%s", p.Name, cut(c.Message), v.nodeNews(ctx, p))
		}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && stuck(w.Reason) {
			return core.ReasonNoSlots, strings.TrimSuffix(fmt.Sprintf("TaskManager %s does not start, container %s is in %s: %s", p.Name, s.Name, w.Reason, cut(w.Message)), ": ")
		}
	}
	return "", ""
}

// stuck is true for a container that waits for more than its turn.
func stuck(reason string) bool {
	return reason != "" && reason != "ContainerCreating" && reason != "PodInitializing"
}

// nodeNews says what is done about a pod that fits on no node: cluster-autoscaler
// and Karpenter tell so in events.
func (v *view) nodeNews(ctx context.Context, p corev1.Pod) string {
	found, _, err := v.cluster.eventsOf(ctx, p.Namespace, string(p.UID))
	if err != nil {
		return ""
	}
	slices.SortFunc(found, func(a, b *object) int { return lastSeen(b).Compare(lastSeen(a)) })
	for _, e := range found {
		switch e.text("reason") {
		case "TriggeredScaleUp", "Nominated":
			return "; a node is being added"
		case "NotTriggerScaleUp":
			return "; no node is added: " + cut(e.text("note"))
		}
	}
	return ""
}

// refusedPods says why the workload beneath cannot make pods. The object that asks
// for them was taken: quotas are held against pods alone.
func (v *view) refusedPods(ctx context.Context) string {
	for _, s := range v.scalables() {
		k, ok := kinds[s.kind].(workload)
		if !ok {
			continue
		}
		o, err := v.cluster.get(ctx, k.resource(), v.target.Namespace, s.name)
		if err != nil {
			continue
		}
		p := pool{cluster: v.cluster, object: o, asked: o.number("spec", "replicas")}
		if why := p.denied(ctx); why != "" {
			return fmt.Sprintf("%s cannot make TaskManagers: %s", s, why)
		}
	}
	return ""
}

// startsItself is true where Flink makes the pods of its TaskManagers: then no
// workload tells why there are none, only the JobManager's log.
func (v *view) startsItself() bool {
	return v.ofFlinkOperator() && !v.standalone() || native(v.object)
}

// whyNotAsked holds one more TaskManager against quotas and limits.
func (v *view) whyNotAsked(ctx context.Context, pods []corev1.Pod) (core.Reason, string) {
	j := judgement{need: 1, fits: 1, pod: model(pods)}
	for _, look := range []func(context.Context, *judgement) error{v.quotas, v.limits} {
		if err := look(ctx, &j); err != nil {
			return "", ""
		}
	}
	if len(j.short) == 0 {
		return "", ""
	}
	return core.ReasonNoRoom, "no further TaskManager is let in: " + strings.Join(j.short, "; ")
}
