package kubesim

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// resource names a kind of object.
type resource = schema.GroupVersionResource

//nolint:gochecknoglobals // constants
var (
	flinkDeployments = resource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinkdeployments"}
	flinkSessionJobs = resource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinksessionjobs"}
	flinkClusters    = resource{Group: "flinkoperator.k8s.io", Version: "v1beta1", Resource: "flinkclusters"}
	revisions        = resource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
	batchJobs        = resource{Group: "batch", Version: "v1", Resource: "jobs"}
	deployments      = resource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulSets     = resource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	services         = resource{Version: "v1", Resource: "services"}
	configMaps       = resource{Version: "v1", Resource: "configmaps"}
	pods             = resource{Version: "v1", Resource: "pods"}
	coreEvents       = resource{Version: "v1", Resource: "events"}
)

// name is a namespace and a name in it.
type name = types.NamespacedName

type object = unstructured.Unstructured

// api is the API server as one field manager.
type api struct {
	dynamic.Interface
	manager string
}

// newAPI makes a client that is not held back: the API server judges.
func newAPI(config *rest.Config, manager string) (*api, error) {
	c := rest.CopyConfig(config)
	c.QPS, c.Burst, c.UserAgent = -1, 0, manager
	c.WarningHandler = rest.NoWarnings{}
	d, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("kubesim: client: %w", err)
	}
	return &api{d, manager}, nil
}

// get gives nil when there is none.
func (a *api) get(ctx context.Context, r resource, n name) (*object, error) {
	o, err := a.Resource(r).Namespace(n.Namespace).Get(ctx, n.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // the object that is not there
	}
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", r.Resource, n, err)
	}
	return o, nil
}

// list gives the objects of a namespace, of all for "".
func (a *api) list(ctx context.Context, r resource, namespace, selector string) ([]object, error) {
	l, err := a.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", r.Resource, err)
	}
	return l.Items, nil
}

// create makes an object; one that is there already stays as it is.
func (a *api) create(ctx context.Context, r resource, content map[string]any) (*object, error) {
	o := &object{Object: content}
	made, err := a.Resource(r).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{FieldManager: a.manager})
	if apierrors.IsAlreadyExists(err) {
		return a.get(ctx, r, name{Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	if err != nil {
		return nil, fmt.Errorf("create %s %s: %w", r.Resource, o.GetName(), err)
	}
	return made, nil
}

// patch merges into an object, or into a subresource of it. One that is gone is
// no error.
func (a *api) patch(ctx context.Context, r resource, n name, content map[string]any, sub ...string) error {
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("patch %s %s: %w", r.Resource, n, err)
	}
	_, err = a.Resource(r).Namespace(n.Namespace).Patch(ctx, n.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: a.manager}, sub...)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("patch %s %s %v: %w", r.Resource, n, sub, err)
	}
	return nil
}

// drop deletes an object. One that is gone is no error.
func (a *api) drop(ctx context.Context, r resource, n name, how metav1.DeletionPropagation) error {
	err := a.Resource(r).Namespace(n.Namespace).Delete(ctx, n.Name, metav1.DeleteOptions{PropagationPolicy: &how})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", r.Resource, n, err)
	}
	return nil
}

func nameOf(o *object) name { return name{Namespace: o.GetNamespace(), Name: o.GetName()} }

// nested reads a field that may be absent.
func nested(o *object, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

func nestedInt(o *object, path ...string) int {
	n, _, _ := unstructured.NestedInt64(o.Object, path...)
	return int(n)
}

// owner is an entry of ownerReferences.
func owner(o *object) map[string]any {
	return map[string]any{
		"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(), "uid": string(o.GetUID()),
		"controller": true, "blockOwnerDeletion": true,
	}
}
