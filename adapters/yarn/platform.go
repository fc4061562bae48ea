package yarn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"flinkscaler/core"
)

// Measure reads status, topology and metrics from Flink.
func (c *Cluster) Measure(ctx context.Context, job core.JobRef, pick core.Picker) (core.Measurement, error) {
	return of(ctx, c, job, func(p *place) (core.Measurement, error) { return p.flink.Measure(ctx, job, pick) })
}

// Status reads the job as Flink shows it, without metrics. A job of ours that its program
// has not come to yet is INITIALIZING.
func (c *Cluster) Status(ctx context.Context, job core.JobRef) (core.JobStatus, error) {
	status, err := of(ctx, c, job, func(p *place) (core.JobStatus, error) { return p.flink.Status(ctx, job) })
	switch {
	case err == nil:
		return status, nil
	case c.neverBegan(ctx, job, err):
		return core.JobStatus{ID: job.ID, Name: job.Name, State: core.JobInitializing, Now: time.Now().UTC()}, nil
	}
	return c.statusOver(ctx, job, err)
}

// Wanted reads the requirements in force.
func (c *Cluster) Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error) {
	return of(ctx, c, job, func(p *place) (core.Requirements, error) { return p.flink.Wanted(ctx, job) })
}

// Want sets the requirements: Flink itself asks YARN for what they need.
func (c *Cluster) Want(ctx context.Context, job core.JobRef, decision string, r core.Requirements) error {
	_, err := of(ctx, c, job, func(p *place) (struct{}, error) { return struct{}{}, p.flink.Want(ctx, job, decision, r) })
	return err
}

// Inspect reads checkpoints and failures. A job of ours that its program has not come
// to yet has none of either.
func (c *Cluster) Inspect(ctx context.Context, job core.JobRef) (core.JobHealth, error) {
	health, err := of(ctx, c, job, func(p *place) (core.JobHealth, error) { return p.flink.Inspect(ctx, job) })
	switch {
	case err == nil:
		return health, nil
	case c.neverBegan(ctx, job, err):
		return core.JobHealth{}, nil
	}
	return c.healthOver(ctx, job, err)
}

// Waits reads how long Flink itself waits around a rescale.
func (c *Cluster) Waits(ctx context.Context, job core.JobRef) (core.Waits, error) {
	return of(ctx, c, job, func(p *place) (core.Waits, error) { return p.flink.Waits(ctx, job) })
}

// Slots counts the slots of the Flink cluster. Free ones are no bound: it starts
// TaskManagers by itself.
func (c *Cluster) Slots(ctx context.Context, job core.JobRef) (core.Slots, error) {
	s, err := of(ctx, c, job, func(p *place) (core.Slots, error) { return p.flink.Slots(ctx, job) })
	s.Elastic = true
	return s, err
}

// of asks the Flink of a job.
func of[T any](ctx context.Context, c *Cluster, job core.JobRef, ask func(*place) (T, error)) (T, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		var none T
		return none, err
	}
	v, err := ask(p)
	return v, p.recovering(ctx, err)
}

// recovering keeps a JobManager that has just started from calling its jobs gone: one
// that shows no job at all, not even one that has ended, has yet to recover them.
func (p *place) recovering(ctx context.Context, err error) error {
	if !errors.Is(err, core.ErrNotFound) {
		return err
	}
	switch jobs, asked := p.flink.Jobs(ctx); {
	case asked != nil:
		return asked
	case len(jobs) == 0:
		return p.route.fail(errNoJobs)
	}
	return err
}

// errNoJobs is a Flink without jobs.
var errNoJobs = fmt.Errorf("%w: the JobManager shows no job yet", core.ErrNotReady)
