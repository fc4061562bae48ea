package k8s

import (
	"context"
	"fmt"

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
	events, _, err := p.cluster.eventsOf(ctx, p.object.GetNamespace(), string(p.object.GetUID()))
	if err != nil {
		return ""
	}
	var newest *object
	for _, e := range events {
		if e.text("reason") == "FailedCreate" && (newest == nil || lastSeen(e).After(lastSeen(newest))) {
			newest = e
		}
	}
	if newest == nil {
		return ""
	}
	return cut(newest.text("note"))
}
