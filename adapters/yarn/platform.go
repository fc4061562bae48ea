package yarn

import (
	"context"

	"flinkscaler/core"
)

// Measure reads status, topology and metrics from Flink.
func (c *Cluster) Measure(ctx context.Context, job core.JobRef, pick core.Picker) (core.Measurement, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return core.Measurement{}, err
	}
	return p.flink.Measure(ctx, job, pick)
}

// Status reads the job as Flink shows it, without metrics.
func (c *Cluster) Status(ctx context.Context, job core.JobRef) (core.JobStatus, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return core.JobStatus{}, err
	}
	return p.flink.Status(ctx, job)
}

// Wanted reads the requirements in force.
func (c *Cluster) Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return nil, err
	}
	return p.flink.Wanted(ctx, job)
}

// Want sets the requirements: Flink itself asks YARN for what they need.
func (c *Cluster) Want(ctx context.Context, job core.JobRef, decision string, r core.Requirements) error {
	p, err := c.open(ctx, job)
	if err != nil {
		return err
	}
	return p.flink.Want(ctx, job, decision, r)
}

// Inspect reads checkpoints and failures.
func (c *Cluster) Inspect(ctx context.Context, job core.JobRef) (core.JobHealth, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return core.JobHealth{}, err
	}
	return p.flink.Inspect(ctx, job)
}

// Waits reads how long Flink itself waits around a rescale.
func (c *Cluster) Waits(ctx context.Context, job core.JobRef) (core.Waits, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return core.Waits{}, err
	}
	return p.flink.Waits(ctx, job)
}

// Slots counts the slots of the Flink cluster. Free ones are no bound: it starts
// TaskManagers by itself.
func (c *Cluster) Slots(ctx context.Context, job core.JobRef) (core.Slots, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return core.Slots{}, err
	}
	s, err := p.flink.Slots(ctx, job)
	s.Elastic = true
	return s, err
}
