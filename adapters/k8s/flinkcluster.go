package k8s

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// flinkCluster is the FlinkCluster of flink-on-k8s-operator: one job, or a session
// cluster.
type flinkCluster struct{}

func (flinkCluster) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "flinkoperator.k8s.io", Version: "v1beta1", Resource: "flinkclusters"}
}

func (flinkCluster) beneath(_ context.Context, _ *Cluster, o *object) (*object, error) { return o, nil }

func (flinkCluster) endpoint(v *view) (endpoint, error) {
	return endpoint{namespace: v.target.Namespace, service: v.target.Name + "-jobmanager", port: DefaultRESTPort, scheme: schemeOf(v.options())}, nil
}

func (flinkCluster) options(v *view) map[string]string {
	return v.object.options("spec", "flinkProperties")
}

func (flinkCluster) locate(ctx context.Context, v *view) (core.JobRef, error) { return v.only(ctx) }

func (flinkCluster) method(context.Context, *view) (method, error) {
	return unsafe{"a FlinkCluster cannot be scaled yet"}, nil
}
