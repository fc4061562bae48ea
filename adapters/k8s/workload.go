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

// native is true for the JobManager of a cluster whose Flink starts TaskManagers
// by itself, as kubernetes-session.sh and run-application make it.
func native(o *object) bool { return o.GetLabels()["type"] == "flink-native-kubernetes" }

func (workload) endpoint(v *view) (endpoint, error) {
	e := endpoint{namespace: v.target.Namespace, service: v.target.Service, port: v.target.Port, scheme: "http"}
	if e.port == 0 {
		e.port = DefaultRESTPort
	}
	if e.service == "" && native(v.object) {
		e.service = v.target.Name + "-rest"
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

func (k workload) method(ctx context.Context, v *view) (method, error) {
	if owner, is := owned(v.object); is {
		return unsafe{fmt.Sprintf("the %s belongs to the %s, which would undo a change of it: name that as the target", v.target.Kind, owner)}, nil
	}
	if native(v.object) {
		return nativeMethod(ctx, v)
	}
	options, err := v.flink.ClusterOptions(ctx)
	if err != nil {
		return nil, err
	}
	p, err := v.cluster.poolOf(ctx, k.resource(), v.object, controlled{v.object})
	switch {
	case err != nil:
		return nil, err
	case reactive(options):
		return reactiveMethod(ctx, v, p)
	case v.follows():
		return followMethod(ctx, v, options)
	}
	return workersMethod(v, p, options)
}

// owned says who has made an object and keeps it as it should be.
func owned(o *object) (owner string, is bool) {
	for _, r := range o.GetOwnerReferences() {
		if r.Controller != nil && *r.Controller || r.Kind == core.KindFlinkDeployment || r.Kind == core.KindFlinkCluster {
			return r.Kind + " " + r.Name, true
		}
	}
	return "", false
}

// nativeMethod is for a cluster that starts and ends TaskManagers by itself: only
// the requirements are ours to change, and pods follow.
func nativeMethod(ctx context.Context, v *view) (method, error) {
	if v.follows() {
		return unsafe{"this Flink starts and ends its TaskManagers by itself: there is nothing that could be followed; leave out target.kubernetes.mode"}, nil
	}
	options, err := v.flink.ClusterOptions(ctx)
	if err != nil {
		return nil, err
	}
	if !adaptive(options) {
		return unsafe{"the job runs under a scheduler that cannot change its size: set jobmanager.scheduler to adaptive"}, nil
	}
	return direct{v, "requirements"}, nil
}
