package kubelet

import (
	"context"
	"encoding/json"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// node is where all pods are. There is no such Node.
const node = "local"

// bind says that a pod has a node, as a scheduler does. From then on it is ours to say when it is gone.
func (k *Kubelet) bind(ctx context.Context, pod core.Pod) error {
	if pod.Spec.NodeName != "" {
		return nil
	}
	err := k.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &core.Binding{
		ObjectMeta: meta.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     core.ObjectReference{Kind: "Node", Name: node},
	}, meta.CreateOptions{})
	if errors.IsConflict(err) {
		return nil // it has one by now
	}
	return err
}

// condition is how a pod's container is.
type condition struct {
	ready    bool
	waiting  string // why it does not run; empty when it does
	message  string
	restarts int
}

// report writes a pod's status.
func (k *Kubelet) report(ctx context.Context, pod core.Pod, c condition) error {
	patch, err := json.Marshal(map[string]any{"status": status(pod, c, meta.Now())})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, meta.PatchOptions{}, "status")
	return err
}

func status(pod core.Pod, c condition, now meta.Time) core.PodStatus {
	conditions := []core.PodCondition{
		{Type: core.PodScheduled, Status: core.ConditionTrue}, {Type: core.PodInitialized, Status: core.ConditionTrue},
		{Type: core.ContainersReady, Status: truth(c.ready)}, {Type: core.PodReady, Status: truth(c.ready)},
	}
	for i := range conditions {
		conditions[i].LastTransitionTime = now
	}
	container := core.ContainerStatus{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, ImageID: "local",
		Ready: c.ready, Started: &c.ready, RestartCount: int32(c.restarts), //nolint:gosec // a test lasts minutes
	}
	phase := core.PodRunning
	switch {
	case c.waiting == "":
		container.State.Running = &core.ContainerStateRunning{StartedAt: now}
	default:
		container.State.Waiting = &core.ContainerStateWaiting{Reason: c.waiting, Message: c.message}
		if c.restarts == 0 {
			phase = core.PodPending
		}
	}
	return core.PodStatus{
		Phase: phase, Conditions: conditions, ContainerStatuses: []core.ContainerStatus{container},
		PodIP: loopback, PodIPs: []core.PodIP{{IP: loopback}}, StartTime: &now,
	}
}

func truth(is bool) core.ConditionStatus {
	if is {
		return core.ConditionTrue
	}
	return core.ConditionFalse
}

// finalize lets a pod that is to be deleted, and no longer runs, go.
func (k *Kubelet) finalize(ctx context.Context, pod core.Pod) {
	now := int64(0)
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, meta.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: meta.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !errors.IsNotFound(err) && !errors.IsConflict(err) && ctx.Err() == nil {
		k.say("let pod %s/%s go: %v", pod.Namespace, pod.Name, err) // it is listed again, and tried again
	}
}
