package k8s

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// Fits says whether the TaskManagers that the requirements need can be had. One
// more is taken to be as large as one that is there: quotas, limits and, where
// Config.Nodes allows it, nodes are held against that.
//
// It is advice. A ResourceQuota counts with a delay, and others take room too.
func (c *Cluster) Fits(ctx context.Context, job core.JobRef, r core.Requirements) (core.Room, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.Room{}, err
	}
	need, err := v.missing(ctx, r)
	if errors.Is(err, core.ErrNotReady) {
		return core.Room{Note: "how many TaskManagers it needs is not known: " + err.Error()}, nil
	}
	if err != nil {
		return core.Room{}, err
	}
	if need == 0 {
		return core.Room{}, nil
	}
	return v.room(ctx, need)
}

// missing counts the TaskManagers that the requirements need beyond those that
// are registered: slots that are free and slots that the job holds are there.
func (v *view) missing(ctx context.Context, r core.Requirements) (int, error) {
	t, err := v.graph(ctx)
	if err != nil {
		return 0, err
	}
	slots, err := v.slotsPer(ctx)
	if err != nil {
		return 0, err
	}
	have, err := v.flink.Slots(ctx, v.job)
	if err != nil {
		return 0, err
	}
	return max(0, ceil(t.Slots(sizes(r))-t.Slots(t.Sizes())-have.Free, slots)), nil
}

// room judges whether so many more TaskManagers can be had. Those that were asked
// for and have not registered yet are among them, and count in quotas already.
func (v *view) room(ctx context.Context, need int) (core.Room, error) {
	j := judgement{need: need, fits: need}
	pods, err := v.taskManagerPods(ctx)
	switch {
	case errors.Is(err, core.ErrUnauthorized):
		return core.Room{Note: "whether there is room is not known: the worker may not list pods"}, nil
	case err != nil:
		return core.Room{}, err
	case len(pods) == 0:
		return core.Room{Note: "whether there is room is not known: no TaskManager is there to take the size from"}, nil
	}
	managers, err := v.flink.TaskManagers(ctx)
	if err != nil {
		return core.Room{}, err
	}
	j.waiting = min(need, max(0, len(pods)-len(managers)))
	j.pod = model(pods)
	for _, look := range []func(context.Context, *judgement) error{v.quotas, v.limits, v.nodes} {
		if err := look(ctx, &j); err != nil {
			return core.Room{}, err
		}
	}
	return j.room(), nil
}

// judgement is how many TaskManagers of a size can be had, and why not more.
type judgement struct {
	pod corev1.Pod
	// need is how many are missing, waiting how many of those are asked for
	// already, fits how many can be had.
	need, waiting, fits int
	short, unknown      []string
	// final is true where no further node changes anything, grows where nodes are
	// added when pods wait for them.
	final, grows bool
}

// atMost takes in a bound on the TaskManagers, with its words.
func (j *judgement) atMost(n int, format string, args ...any) {
	if n >= j.need {
		return
	}
	j.fits = min(j.fits, max(0, n))
	j.short = append(j.short, fmt.Sprintf(format, args...))
}

func (j *judgement) cannotTell(format string, args ...any) {
	j.unknown = append(j.unknown, fmt.Sprintf(format, args...))
}

func (j *judgement) room() core.Room {
	notes := slices.Concat(j.short, j.unknown)
	r := core.Room{Short: len(j.short) > 0, Note: strings.Join(notes, "; ")}
	if r.Short {
		r.Fits, r.MayGrow = j.fits, j.grows && !j.final
		r.Note = fmt.Sprintf("%d more TaskManagers are needed and %d fit: %s", j.need, j.fits, r.Note)
	}
	return r
}

// taskManagerPods are the pods of the job's Flink that are not on their way out.
func (v *view) taskManagerPods(ctx context.Context) ([]corev1.Pod, error) {
	labels, err := v.taskManagerLabels(ctx)
	if err != nil {
		return nil, err
	}
	found, err := v.cluster.list(ctx, podResource(), v.target.Namespace, labels)
	if err != nil {
		return nil, err
	}
	var out []corev1.Pod
	for _, o := range found {
		pod, err := as[corev1.Pod](o.Unstructured)
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", o.GetName(), err)
		}
		if pod.DeletionTimestamp == nil && !over(pod) {
			out = append(out, pod)
		}
	}
	return out, nil
}

// over is true for a pod that holds nothing any more.
func over(p corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// taskManagerLabels select the pods of the TaskManagers.
func (v *view) taskManagerLabels(ctx context.Context) (string, error) {
	switch v.target.Kind {
	case core.KindFlinkCluster:
		return "app=flink,cluster=" + v.target.Name + ",component=taskmanager", nil
	case core.KindFlinkDeployment, core.KindFlinkSessionJob:
		return "app=" + v.base.GetName() + ",component=taskmanager", nil
	}
	if native(v.object) {
		return "app=" + v.target.Name + ",component=taskmanager", nil
	}
	p, err := v.cluster.poolOf(ctx, v.kind.resource(), v.object, controlled{v.object})
	return p.selector, err
}

// model is the pod by which the size of one more is known: one that runs, for it
// is of the template that works, the newest of them.
func model(pods []corev1.Pod) corev1.Pod {
	return slices.MaxFunc(pods, func(a, b corev1.Pod) int {
		if byPhase := order(a.Status.Phase == corev1.PodRunning) - order(b.Status.Phase == corev1.PodRunning); byPhase != 0 {
			return byPhase
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
}

func resourceQuotas() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
}

func limitRanges() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "limitranges"}
}

func nodeResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
}
