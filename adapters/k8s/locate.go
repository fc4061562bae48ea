package k8s

import (
	"context"
	"encoding/json"
	"fmt"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// find reads the target's object and finds the job on the Flink behind it.
func (c *Cluster) find(ctx context.Context, target core.KubernetesTarget) (*view, error) {
	v, err := c.read(ctx, target)
	if err != nil {
		return nil, err
	}
	return v, v.seek(ctx)
}

// seek finds the job on the Flink behind the object.
func (v *view) seek(ctx context.Context) (err error) {
	if v.job, err = v.kind.locate(ctx, v); err != nil {
		return err
	}
	b, err := json.Marshal(v.target)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	v.job.Extras = map[string]string{extraTarget: string(b), extraUID: string(v.object.GetUID())}
	return nil
}

// read reads the target's object, and where the REST API of its Flink is.
func (c *Cluster) read(ctx context.Context, target core.KubernetesTarget) (*view, error) {
	k, ok := kinds[target.Kind]
	if !ok {
		return nil, &core.OpError{Op: "find job", Subject: target.Name, Err: fmt.Errorf("%w: unknown kind %q", core.ErrRefused, target.Kind)}
	}
	o, err := c.get(ctx, k.resource(), target.Namespace, target.Name)
	if err != nil {
		return nil, err
	}
	return c.see(ctx, target, o)
}

// see finds out where the REST API of the Flink of an object is, which was read
// for the target just now.
func (c *Cluster) see(ctx context.Context, target core.KubernetesTarget, o *object) (*view, error) {
	k := kinds[target.Kind]
	base, err := k.beneath(ctx, c, o)
	if err != nil {
		return nil, err
	}
	v := &view{cluster: c, kind: k, target: target, object: o, base: base}
	e, err := k.endpoint(v)
	if err != nil {
		return nil, err
	}
	if v.flink, err = c.flinkAt(e); err != nil {
		return nil, err
	}
	c.remember(v)
	return v, nil
}

// open reads the object behind a job again, and refuses another of its name.
func (c *Cluster) open(ctx context.Context, job core.JobRef) (*view, error) {
	target, err := targetOf(job)
	if err != nil {
		return nil, err
	}
	v, err := c.read(ctx, target)
	if err != nil {
		return nil, err
	}
	if uid := string(v.object.GetUID()); uid != job.Extras[extraUID] {
		return nil, &core.OpError{Op: "find job", Subject: target.Name,
			Err: fmt.Errorf("%w: the %s was deleted and created anew since", core.ErrNotFound, target.Kind)}
	}
	v.job = job
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

// only finds the one live job of a Flink that runs one job. Its name must be that
// of the target, where that has one.
func (v *view) only(ctx context.Context) (core.JobRef, error) {
	return v.pick(ctx, v.target.JobName, func(j flink.Job) bool { return v.target.JobName == "" || j.Name == v.target.JobName })
}

// byName finds the one live job of that name.
func (v *view) byName(ctx context.Context, name string) (core.JobRef, error) {
	return v.pick(ctx, name, func(j flink.Job) bool { return j.Name == name })
}

// byID finds the live job of that id.
func (v *view) byID(ctx context.Context, id string) (core.JobRef, error) {
	return v.pick(ctx, id, func(j flink.Job) bool { return j.ID == id })
}

// pick finds the one live job that fits.
func (v *view) pick(ctx context.Context, subject string, fits func(flink.Job) bool) (core.JobRef, error) {
	if subject == "" {
		subject = v.target.Name
	}
	jobs, err := v.flink.Jobs(ctx)
	if err != nil {
		return core.JobRef{}, err
	}
	job, err := flink.OnlyLive(jobs, fits)
	if err != nil {
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: subject, Err: err}
	}
	ref := core.JobRef{ID: job.ID, Name: job.Name, State: job.State}
	if version, err := v.flink.Version(ctx); err == nil { // not knowing it is no reason not to find the job
		ref.FlinkVersion = version.Flink
	}
	return ref, nil
}
