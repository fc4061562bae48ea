package k8s

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// flinkSessionJob is the FlinkSessionJob of Apache's Flink Kubernetes operator: one
// job on a session cluster, which is a FlinkDeployment.
type flinkSessionJob struct{}

func (flinkSessionJob) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinksessionjobs"}
}

// beneath is the session cluster, in the same namespace.
func (flinkSessionJob) beneath(ctx context.Context, c *Cluster, o *object) (*object, error) {
	name := o.text("spec", "deploymentName")
	if name == "" {
		return nil, &core.OpError{Op: "find job", Subject: o.GetName(), Err: fmt.Errorf("%w: the FlinkSessionJob has no spec.deploymentName", core.ErrRefused)}
	}
	return c.get(ctx, flinkDeployment{}.resource(), o.GetNamespace(), name)
}

func (flinkSessionJob) endpoint(v *view) (endpoint, error) { return operatorEndpoint(v.base) }

// options are the session cluster's, and above them the job's own.
func (flinkSessionJob) options(v *view) map[string]string {
	out := flinkOptions(v.base)
	maps.Copy(out, flinkOptions(v.object))
	return out
}

// locate goes by the id that the operator gave the job: its name is up to the
// program.
func (flinkSessionJob) locate(ctx context.Context, v *view) (core.JobRef, error) {
	id := v.object.text("status", "jobStatus", "jobId")
	if id == "" {
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: v.target.Name,
			Err: fmt.Errorf("%w: it was not submitted yet (%s)", core.ErrNotFound, operated{v}.says())}
	}
	job, err := v.byID(ctx, id)
	if err != nil {
		return job, operated{v}.explain(err)
	}
	return job, nil
}

func (flinkSessionJob) method(ctx context.Context, v *view) (method, error) {
	return operatorMethod(ctx, v)
}
