package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/core"
)

// pageSize is how many objects one answer of a list holds: of resources with a long
// status that is some MB.
const pageSize = 250

// get reads an object.
func (c *Cluster) get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (*object, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	o, err := c.objects.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, translate(err, call{"get", resource, namespace, name})
	}
	return &object{o}, nil
}

// list reads all objects of a namespace that have the labels, in pages. An empty
// namespace is all of them, empty labels is any.
func (c *Cluster) list(ctx context.Context, resource schema.GroupVersionResource, namespace, labels string) ([]*object, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var out []*object
	options := metav1.ListOptions{LabelSelector: labels, Limit: pageSize}
	for {
		page, err := c.objects.Resource(resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return nil, translate(err, call{"list", resource, namespace, ""})
		}
		for i := range page.Items {
			out = append(out, &object{&page.Items[i]})
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return out, nil
		}
	}
}

// apply writes fields of an object by server-side apply, without force: who owns
// a field with another value keeps it, and that is core.ErrForeign. All that we
// own and that is not among the fields is removed, so each caller gives all.
//
// It is written only to the object as it was read: another of its name, or a
// change since, is core.ErrBusy.
func (c *Cluster) apply(ctx context.Context, resource schema.GroupVersionResource, o *object, decision string, fields map[string]any) error {
	body := map[string]any{
		"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(),
		"metadata": map[string]any{
			"name": o.GetName(), "namespace": o.GetNamespace(), "uid": string(o.GetUID()), "resourceVersion": o.GetResourceVersion(),
			"annotations": map[string]any{AnnotationDecision: decision},
		},
	}
	for k, v := range fields {
		body[k] = v
	}
	return c.patch(ctx, resource, o, types.ApplyPatchType, body)
}

// merge writes fields of an object, or of its subresource such as scale, by a
// merge patch that the API server refuses when the object changed since it was
// read (core.ErrBusy). It takes fields from whoever owned them.
func (c *Cluster) merge(ctx context.Context, resource schema.GroupVersionResource, o *object, fields map[string]any, subresource ...string) error {
	body := map[string]any{"metadata": map[string]any{"uid": string(o.GetUID()), "resourceVersion": o.GetResourceVersion()}}
	for k, v := range fields {
		if m, ok := v.(map[string]any); ok && k == "metadata" {
			for mk, mv := range m {
				body["metadata"].(map[string]any)[mk] = mv //nolint:forcetypeassert // made above
			}
			continue
		}
		body[k] = v
	}
	return c.patch(ctx, resource, o, types.MergePatchType, body, subresource...)
}

func (c *Cluster) patch(ctx context.Context, resource schema.GroupVersionResource, o *object, how types.PatchType, body map[string]any, subresource ...string) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%w: %w", core.ErrRefused, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	_, err = c.objects.Resource(resource).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), how, b, metav1.PatchOptions{FieldManager: FieldManager}, subresource...)
	if err != nil {
		return translate(err, call{"patch", withSub(resource, subresource), o.GetNamespace(), o.GetName()})
	}
	return nil
}

func withSub(r schema.GroupVersionResource, subresource []string) schema.GroupVersionResource {
	for _, s := range subresource {
		r.Resource += "/" + s
	}
	return r
}

// once keeps client-go from sending a request again by itself: it does so when
// an answer says when to come back. Who called decides whether that is right.
type once struct{ next http.RoundTripper }

func (t once) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(r)
	if err == nil {
		answer.Header.Del("Retry-After")
	}
	return answer, err //nolint:wrapcheck // it is a link of a chain
}
