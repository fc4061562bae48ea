package k8s

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// controlled is a Deployment or StatefulSet, whose controller shows what it has
// seen and done.
type controlled struct{ o *object }

func (w controlled) observed() bool {
	return int64(w.o.number("status", "observedGeneration")) >= w.o.GetGeneration()
}

// busy: while pods of another template replace the ones there, which go and which
// come is not ours to say.
func (w controlled) busy() string {
	replicas, updated := w.o.number("status", "replicas"), w.o.number("status", "updatedReplicas")
	if w.observed() && updated < replicas {
		return fmt.Sprintf("the %s is being rolled out: %d of %d pods are of the new template", w.o.GetKind(), updated, replicas)
	}
	return ""
}

// come: the controller has seen the replicas, and as many pods are ready.
func (w controlled) come(ctx context.Context, p pool) (core.Carried, error) {
	if !w.observed() {
		return outstanding("the controller has not seen the new number of replicas yet"), nil
	}
	there, ready := w.o.number("status", "replicas"), w.o.number("status", "readyReplicas")
	if there == p.asked && ready == p.asked {
		return core.Carried{Done: true}, nil
	}
	if why := p.denied(ctx); why != "" {
		return core.Carried{Reason: core.ReasonNoRoom, Note: fmt.Sprintf("%d of %d TaskManagers are there: %s", there, p.asked, why)}, nil
	}
	return outstanding("%d of %d TaskManagers are ready", ready, p.asked), nil
}

// newsOf lists the Events of a reason about an object.
func (c *Cluster) newsOf(ctx context.Context, o *object, reason string) ([]*object, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	about := "involvedObject.uid=" + string(o.GetUID()) + ",reason=" + reason
	l, err := c.objects.Resource(coreEvents).Namespace(o.GetNamespace()).List(ctx, metav1.ListOptions{FieldSelector: about, Limit: pageSize})
	if err != nil {
		return nil, translate(err, call{"list", coreEvents, o.GetNamespace(), ""})
	}
	out := make([]*object, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, &object{&l.Items[i]})
	}
	return out, nil
}

var coreEvents = schema.GroupVersionResource{Version: "v1", Resource: "events"} //nolint:gochecknoglobals // a constant

// denied says why pods of a workload cannot be made, such as a quota, empty where
// nothing is known of it. A Deployment shows it as a condition; a StatefulSet only
// in Events, and where those may not be read it stays unknown.
func (p pool) denied(ctx context.Context) string {
	conditions, _ := p.object.field("status", "conditions").([]any)
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "ReplicaFailure" && m["status"] == "True" {
			return cut(scalar(m["message"]))
		}
	}
	if p.object.GetKind() != core.KindStatefulSet || p.object.number("status", "replicas") >= p.asked {
		return ""
	}
	all, err := p.cluster.newsOf(ctx, p.object, "FailedCreate")
	if err != nil || len(all) == 0 {
		return ""
	}
	newest := all[0]
	for _, e := range all {
		if e.text("lastTimestamp") > newest.text("lastTimestamp") {
			newest = e
		}
	}
	return cut(newest.text("message"))
}
