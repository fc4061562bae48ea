package k8s

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// workload is a Deployment or StatefulSet without an operator: TaskManagers, or the
// JobManager of a native cluster.
type workload struct {
	// plural is the resource's name.
	plural string
}

func (k workload) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: k.plural}
}

func (workload) beneath(_ context.Context, _ *Cluster, o *object) (*object, error) { return o, nil }

func (workload) endpoint(v *view) (endpoint, error) {
	e := endpoint{namespace: v.target.Namespace, service: v.target.Service, port: v.target.Port, scheme: "http"}
	if e.port == 0 {
		e.port = DefaultRESTPort
	}
	if e.service == "" {
		return e, &core.OpError{Op: "find job", Subject: v.target.Name, Err: fmt.Errorf("%w: a %s does not tell where its Flink is", core.ErrRefused, v.target.Kind),
			Hint: "name the Service of its JobManager with target.kubernetes.service"}
	}
	return e, nil
}

// options: a workload shows none.
func (workload) options(*view) map[string]string { return map[string]string{} }

func (workload) locate(ctx context.Context, v *view) (core.JobRef, error) { return v.only(ctx) }

func (k workload) method(context.Context, *view) (method, error) {
	return unsafe{"a " + k.plural + " without an operator cannot be scaled yet"}, nil
}
