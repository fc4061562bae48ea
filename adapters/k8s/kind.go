package k8s

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// kind is what there is to know of one kind of object: one small file each.
type kind interface {
	// resource is what the API server calls it.
	resource() schema.GroupVersionResource
	// beneath gives the object that has the Flink cluster on which o runs: o itself
	// mostly.
	beneath(ctx context.Context, c *Cluster, o *object) (*object, error)
	// endpoint is where the REST API of the Flink is. core.ErrRefused: neither the
	// object nor the target tells.
	endpoint(v *view) (endpoint, error)
	// options are the Flink options that the objects show, flattened. What an
	// operator adds is not among them, and what was changed last may not run yet:
	// flink.Cluster.JobOptions are what the job runs with.
	options(v *view) map[string]string
	// locate finds the job among those of the Flink, with view.only, view.byName or
	// view.byID. Its errors say how the object is, where that helps.
	locate(ctx context.Context, v *view) (core.JobRef, error)
	// method is the safest way to change the job's size that the object allows, or
	// unsafe with the reason. An error is for what could not be read; it is never a
	// refusal.
	method(ctx context.Context, v *view) (method, error)
}

// kinds are those that a target may name.
var kinds = map[string]kind{ //nolint:gochecknoglobals // a constant
	core.KindFlinkDeployment: flinkDeployment{},
	core.KindFlinkSessionJob: flinkSessionJob{},
	core.KindFlinkCluster:    flinkCluster{},
	core.KindDeployment:      workload{"deployments"},
	core.KindStatefulSet:     workload{"statefulsets"},
}
