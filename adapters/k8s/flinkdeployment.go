package k8s

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// flinkDeployment is the FlinkDeployment of Apache's Flink Kubernetes operator: one
// job, or a session cluster.
type flinkDeployment struct{}

func (flinkDeployment) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinkdeployments"}
}

func (flinkDeployment) beneath(_ context.Context, _ *Cluster, o *object) (*object, error) {
	return o, nil
}

func (flinkDeployment) endpoint(v *view) (endpoint, error) { return operatorEndpoint(v.base) }

func (flinkDeployment) options(v *view) map[string]string { return flinkOptions(v.object) }

// session is true for a session cluster.
func (flinkDeployment) session(o *object) bool { return o.field("spec", "job") == nil }

func (k flinkDeployment) locate(ctx context.Context, v *view) (core.JobRef, error) {
	var job core.JobRef
	var err error
	switch {
	case !k.session(v.object):
		job, err = v.only(ctx)
	case v.target.JobName == "":
		return job, &core.OpError{Op: "find job", Subject: v.target.Name, Err: fmt.Errorf("%w: it is a session cluster", core.ErrRefused),
			Hint: "name one of its jobs with target.kubernetes.jobName, or a FlinkSessionJob"}
	default:
		job, err = v.byName(ctx, v.target.JobName)
	}
	if err != nil {
		return job, operated{v}.explain(err)
	}
	if !k.session(v.object) {
		return job, operated{v}.sameJob(job)
	}
	return job, nil
}

func (k flinkDeployment) method(ctx context.Context, v *view) (method, error) {
	switch {
	case k.session(v.object):
		return sessionMethod(ctx, v)
	case strings.EqualFold(v.object.text("spec", "mode"), "standalone"):
		return standaloneMethod(ctx, v)
	}
	return operatorMethod(ctx, v)
}

// flinkOptions are those that an object of the Apache operator brings along.
func flinkOptions(o *object) map[string]string { return o.options("spec", "flinkConfiguration") }

// operatorEndpoint is the Service that the Apache operator makes for a cluster.
func operatorEndpoint(base *object) (endpoint, error) {
	options := flinkOptions(base)
	e := endpoint{namespace: base.GetNamespace(), service: base.GetName() + "-rest", port: DefaultRESTPort, scheme: schemeOf(options)}
	if text := options["rest.port"]; text != "" {
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			return e, &core.OpError{Op: "find job", Subject: base.GetName(), Err: fmt.Errorf("%w: rest.port %q is no port", core.ErrRefused, text)}
		}
		e.port = port
	}
	return e, nil
}
