package k8s

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	m, err := v.method(ctx)
	if err != nil {
		return core.JobRef{}, err
	}
	means := m.means()
	v.job.Means, v.job.Mark = &means, mark(m, v.object)
	return v.job, nil
}

// Measure reads status, topology and metrics from Flink, and the policy keys of
// the object.
func (c *Cluster) Measure(ctx context.Context, job core.JobRef, pick core.Picker) (core.Measurement, error) {
	p, err := c.place(ctx, job)
	if err != nil {
		return core.Measurement{}, err
	}
	m, err := p.flink.Measure(ctx, job, pick)
	m.Config = p.configWith(m.Config)
	return m, err
}

// Status reads the job as Flink shows it, without metrics.
func (c *Cluster) Status(ctx context.Context, job core.JobRef) (core.JobStatus, error) {
	p, err := c.place(ctx, job)
	if err != nil {
		return core.JobStatus{}, err
	}
	return p.flink.Status(ctx, job)
}

// Wanted gives what is wanted of the job.
func (c *Cluster) Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error) {
	m, err := c.way(ctx, job)
	if err != nil {
		return nil, err
	}
	return m.wanted(ctx)
}

// Want writes what is wanted, the way that the object allows.
//
// Whoever looks after the object writes its status at any time, which makes it
// another version than the one that was read. Where its spec is the same, it is
// looked at anew and written at once. Where the spec was changed too, what is wanted
// may be somebody else's by now: core.ErrBusy.
func (c *Cluster) Want(ctx context.Context, job core.JobRef, decision string, r core.Requirements) error {
	var (
		refused    error
		generation int64
	)
	for range wantTries {
		v, err := c.open(ctx, job)
		if err != nil {
			return err
		}
		if refused != nil && v.object.GetGeneration() != generation {
			return refused
		}
		m, err := v.method(ctx)
		if err != nil {
			return err
		}
		generation = v.object.GetGeneration()
		if refused = m.want(ctx, decision, r); !errors.Is(refused, errStale) {
			return refused
		}
	}
	return refused
}

// wantTries is how often Want looks at an object whose status changes all the time.
const wantTries = 4

// Carried says how far what was wanted has come, by the object alone.
func (c *Cluster) Carried(ctx context.Context, job core.JobRef, r core.Requirements) (core.Carried, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return core.Carried{}, err
	}
	m, err := v.method(ctx)
	if err != nil {
		return core.Carried{}, err
	}
	carried, err := m.carried(ctx, r)
	waits := carried.Done || carried.Reason == core.ReasonNotCarried || carried.Reason == core.ReasonNotReached
	if err != nil || !waits {
		return carried, err
	}
	if reason, note := v.whyNoPods(ctx, r); note != "" {
		carried.Reason, carried.Note = reason, strings.TrimPrefix(carried.Note+"; "+note, "; ")
	}
	return carried, nil
}

// way reads the object behind a job, and gives the method that it allows now.
func (c *Cluster) way(ctx context.Context, job core.JobRef) (method, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return nil, err
	}
	return v.method(ctx)
}

// Inspect reads checkpoints and failures.
func (c *Cluster) Inspect(ctx context.Context, job core.JobRef) (core.JobHealth, error) {
	p, err := c.place(ctx, job)
	if err != nil {
		return core.JobHealth{}, err
	}
	return p.flink.Inspect(ctx, job)
}

// Waits reads how long Flink itself waits around a rescale.
func (c *Cluster) Waits(ctx context.Context, job core.JobRef) (core.Waits, error) {
	p, err := c.place(ctx, job)
	if err != nil {
		return core.Waits{}, err
	}
	return p.flink.Waits(ctx, job)
}

// Slots counts the slots of the Flink cluster.
func (c *Cluster) Slots(ctx context.Context, job core.JobRef) (core.Slots, error) {
	p, err := c.place(ctx, job)
	if err != nil {
		return core.Slots{}, err
	}
	return p.flink.Slots(ctx, job)
}
