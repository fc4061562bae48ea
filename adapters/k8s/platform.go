package k8s

import (
	"context"
	"fmt"
	"maps"

	"flinkscaler/core"
)

// What a JobRef of this platform carries along.
const (
	extraTarget = "target" // the object, as in the target's canonical spelling
	extraUID    = "uid"    // of that object: another one of its name is another job
)

// Locate finds the job that runs behind the target's object now. What a change of
// its size would be like is in the Means of the result.
func (c *Cluster) Locate(ctx context.Context, target core.Target) (core.JobRef, error) {
	if target.Kubernetes == nil {
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: target.Canonical(),
			Hint: "the cluster is a Kubernetes cluster: name the object with target.kubernetes", Err: fmt.Errorf("%w: not a target of this cluster", core.ErrRefused)}
	}
	v, err := c.find(ctx, *target.Kubernetes)
	if err != nil {
		return core.JobRef{}, err
	}
	means := v.method().means()
	v.job.Means = &means
	return v.job, nil
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

// Measure reads status, topology and metrics from Flink, and the policy keys of
// the object.
func (c *Cluster) Measure(ctx context.Context, job core.JobRef, pick core.Picker) (core.Measurement, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.Measurement{}, err
	}
	m, err := v.flink.Measure(ctx, job, pick)
	if err != nil {
		return m, err
	}
	if m.Config == nil {
		m.Config = map[string]string{}
	}
	maps.Copy(m.Config, v.policy())
	return m, nil
}

// Status reads the job as Flink shows it, without metrics.
func (c *Cluster) Status(ctx context.Context, job core.JobRef) (core.JobStatus, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.JobStatus{}, err
	}
	return v.flink.Status(ctx, job)
}

// Wanted gives what is wanted of the job.
func (c *Cluster) Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return nil, err
	}
	return v.method().wanted(ctx)
}

// Want writes what is wanted, the way that the object allows.
func (c *Cluster) Want(ctx context.Context, job core.JobRef, decision string, r core.Requirements) error {
	v, err := c.open(ctx, job)
	if err != nil {
		return err
	}
	m := v.method()
	if why := m.means().Refused; why != "" {
		return &core.OpError{Op: "change size", Subject: v.target.Name, Hint: why, Err: core.ErrRefused}
	}
	return m.want(ctx, decision, r)
}

// Carried says how far what was wanted has come, by the object alone.
func (c *Cluster) Carried(ctx context.Context, job core.JobRef, r core.Requirements) (core.Carried, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.Carried{}, err
	}
	return v.method().carried(ctx, r)
}

// Inspect reads checkpoints and failures.
func (c *Cluster) Inspect(ctx context.Context, job core.JobRef) (core.JobHealth, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.JobHealth{}, err
	}
	return v.flink.Inspect(ctx, job)
}

// Waits reads how long Flink itself waits around a rescale.
func (c *Cluster) Waits(ctx context.Context, job core.JobRef) (core.Waits, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.Waits{}, err
	}
	return v.flink.Waits(ctx, job)
}

// Slots counts the slots of the Flink cluster.
func (c *Cluster) Slots(ctx context.Context, job core.JobRef) (core.Slots, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.Slots{}, err
	}
	return v.flink.Slots(ctx, job)
}
