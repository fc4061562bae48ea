package k8s

import (
	"context"
	"errors"
	"time"

	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"flinkscaler/core"
)

// listIfAny reads the objects of a kind that need not exist. A kind that is not
// served has none, whether or not it may be read; hidden is true for one that is
// served and may not be read.
func (c *Cluster) listIfAny(ctx context.Context, resource schema.GroupVersionResource, namespace, labels string) (found []*object, hidden bool, err error) {
	found, err = c.list(ctx, resource, namespace, labels)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, false, nil
	case errors.Is(err, core.ErrUnauthorized):
		// The API server refuses to list a kind before it looks whether there is any.
		served, err := c.serves(ctx, resource)
		return nil, served, err
	}
	return found, false, err
}

// serves asks whether there is such a kind, which everybody may.
func (c *Cluster) serves(ctx context.Context, resource schema.GroupVersionResource) (bool, error) {
	client, err := discovery.NewDiscoveryClientForConfig(c.rest)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	got, err := client.ServerResourcesForGroupVersionWithContext(ctx, resource.GroupVersion().String())
	if kube.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, translate(err, call{"discover", resource, "", ""})
	}
	for _, r := range got.APIResources {
		if r.Name == resource.Resource {
			return true, nil
		}
	}
	return false, nil
}

// eventsOf reads the events about an object, by its uid.
func (c *Cluster) eventsOf(ctx context.Context, namespace, uid string) (found []*object, hidden bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	got, err := c.objects.Resource(events()).Namespace(namespace).List(ctx, metav1.ListOptions{FieldSelector: "regarding.uid=" + uid})
	if kube.IsForbidden(err) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, translate(err, call{"list", events(), namespace, ""})
	}
	for i := range got.Items {
		found = append(found, &object{&got.Items[i]})
	}
	return found, false, nil
}

// lastSeen is when an event was observed last, however its reporter keeps that;
// when it was written where it does not.
func lastSeen(event *object) time.Time {
	var last time.Time
	for _, path := range [][]string{{"series", "lastObservedTime"}, {"deprecatedLastTimestamp"}, {"eventTime"}} {
		if at, err := time.Parse(time.RFC3339, event.text(path...)); err == nil && at.After(last) {
			last = at
		}
	}
	if last.IsZero() {
		return event.GetCreationTimestamp().Time
	}
	return last
}

// as gives an object as one of the Kubernetes API's own types.
func as[T any](u *unstructured.Unstructured) (x T, err error) {
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &x)
	return x, err
}

func configMaps() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

func events() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
}

// coreEvents are the same in the older API, which alone lets one be counted up.
var coreEvents = schema.GroupVersionResource{Version: "v1", Resource: "events"} //nolint:gochecknoglobals // a constant
