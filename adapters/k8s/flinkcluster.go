package k8s

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

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
	e := endpoint{namespace: v.target.Namespace, service: v.target.Name + "-jobmanager", port: DefaultRESTPort, scheme: schemeOf(v.options())}
	if text := v.object.text("spec", "jobManager", "ports", "ui"); text != "" {
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			return e, &core.OpError{Op: "find job", Subject: v.target.Name, Err: fmt.Errorf("%w: spec.jobManager.ports.ui %q is no port", core.ErrRefused, text)}
		}
		e.port = port
	}
	return e, nil
}

func (flinkCluster) options(v *view) map[string]string {
	return v.object.options("spec", "flinkProperties")
}

// session is true for a cluster that runs whatever is submitted to it.
func (flinkCluster) session(o *object) bool { return o.field("spec", "job") == nil }

func (k flinkCluster) locate(ctx context.Context, v *view) (core.JobRef, error) {
	switch {
	case !k.session(v.object):
		return v.only(ctx)
	case v.target.JobName == "":
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: v.target.Name, Err: fmt.Errorf("%w: it is a session cluster", core.ErrRefused),
			Hint: "name one of its jobs with target.kubernetes.jobName"}
	}
	return v.byName(ctx, v.target.JobName)
}

func (k flinkCluster) method(ctx context.Context, v *view) (method, error) {
	options, err := v.flink.ClusterOptions(ctx)
	if err != nil {
		return nil, err
	}
	p, err := v.cluster.poolOf(ctx, k.resource(), v.object, revised{v.object})
	switch {
	case errors.Is(err, errNoScale):
		return unsafe{"the FlinkCluster CRD here has no scale subresource: it is that of an operator before 0.5.0, or of the abandoned original; install a release of the maintained fork"}, nil
	case err != nil:
		return nil, err
	case k.session(v.object):
		return clusterSessionMethod(ctx, v, p, options)
	case !reactive(options):
		return clusterJobMethod(ctx, v, p)
	case !strings.EqualFold(v.object.text("spec", "job", "mode"), "Application"):
		return unsafe{"Flink runs in reactive mode, which is for application clusters alone: set spec.job.mode to Application"}, nil
	}
	return reactiveMethod(ctx, v, p)
}

// clusterSessionMethod is for a job on a FlinkCluster without a job of its own.
// There the operator takes any change of replicas for a full update.
func clusterSessionMethod(ctx context.Context, v *view, p pool, options map[string]string) (method, error) {
	if v.follows() {
		return followMethod(ctx, v, options)
	}
	switch {
	case !v.cluster.cfg.SessionTaskManagers:
		return unsafe{"on a session cluster of this operator a change of replicas is a full update, in which JobManager and TaskManagers are made anew and jobs without HA are lost; where spec.recreateOnUpdate is false and HA is on, sessionTaskManagers in the worker's configuration allows it"}, nil
	case v.object.text("spec", "recreateOnUpdate") != "false":
		return unsafe{"a change of replicas would make JobManager and TaskManagers of the session cluster anew: set spec.recreateOnUpdate to false"}, nil
	case !available(options):
		return unsafe{"a JobManager of the session cluster that is restarted would lose its jobs: switch on HA (high-availability.type)"}, nil
	}
	return workersMethod(v, p, options)
}

// available is true where a JobManager that is restarted has its jobs back.
func available(options map[string]string) bool {
	for _, key := range []string{"high-availability.type", "high-availability"} {
		if kind := strings.TrimSpace(options[key]); kind != "" {
			return !strings.EqualFold(kind, "none")
		}
	}
	return false
}
