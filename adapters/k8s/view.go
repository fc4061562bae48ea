package k8s

import (
	"context"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// view is a job as it was found: the object as the API server gave it in one
// GET, what else it stands on, and the Flink behind it.
type view struct {
	cluster *Cluster
	kind    kind
	target  core.KubernetesTarget
	// object is the one that the target names, base the one that has the Flink
	// cluster: a session cluster beneath a FlinkSessionJob, the object itself else.
	object, base *object
	flink        *flink.Cluster
	// job is what runs on that Flink.
	job core.JobRef
}

// options are the Flink options that the objects show.
func (v *view) options() map[string]string { return v.kind.options(v) }

// policy are those options that are policy keys.
func (v *view) policy() map[string]string { return policy.Own(v.options()) }

// method is the way to change the job's size.
func (v *view) method(ctx context.Context) (method, error) { return v.kind.method(ctx, v) }
