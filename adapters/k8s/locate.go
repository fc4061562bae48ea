package k8s

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/core"
)

// find reads the target's object and finds the job on the Flink behind it.
func (c *Cluster) find(ctx context.Context, target core.KubernetesTarget) (*view, error) {
	v, err := c.read(ctx, target)
	if err != nil {
		return nil, err
	}
	name := target.JobName
	v.job, err = v.flink.Locate(ctx, core.Target{Flink: &core.FlinkTarget{JobName: name}})
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(target)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	v.job.Extras = map[string]string{extraTarget: string(b), extraUID: string(v.object.GetUID())}
	return v, nil
}

// targetOf gives the target that a job was found by.
func targetOf(job core.JobRef) (core.KubernetesTarget, error) {
	var t core.KubernetesTarget
	if err := json.Unmarshal([]byte(job.Extras[extraTarget]), &t); err != nil {
		return t, &core.OpError{Op: "find job", Subject: job.ID, Err: fmt.Errorf("%w: the job was not found on this cluster", core.ErrRefused)}
	}
	return t, nil
}

// read reads the target's object, and where the REST API of its Flink is.
func (c *Cluster) read(ctx context.Context, target core.KubernetesTarget) (*view, error) {
	resource, ok := resources[target.Kind]
	if !ok {
		return nil, &core.OpError{Op: "find job", Subject: target.Name, Err: fmt.Errorf("%w: unknown kind %q", core.ErrRefused, target.Kind)}
	}
	got, err := c.objects.Resource(resource).Namespace(target.Namespace).Get(ctx, target.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	o := &object{got}
	v := &view{cluster: c, target: target, object: o, base: o}
	v.flink, err = c.flinkAt(endpoint{namespace: target.Namespace, service: target.Name + "-rest", port: DefaultRESTPort, scheme: schemeOf(v.options())})
	return v, err
}

// options are the Flink options of the object, those of its base beneath.
func (v *view) options() map[string]string { return v.object.options("spec", "flinkConfiguration") }

// policy are the options that are policy keys.
func (v *view) policy() map[string]string { return v.options() }

// method is the way to change the job's size.
func (v *view) method() method { return unsafe{"this kind of object cannot be scaled yet"} }
