package kubesim

import (
	"context"
	"time"
)

// prepareJob settles what the next submission begins with, before there is
// one.
func (o *ClusterOperator) prepareJob(c *cluster) {
	s := &c.status.Components
	if c.job() == nil {
		s.Job = nil
		return
	}
	if s.Job == nil {
		s.Job = &clusterJob{State: jobPending}
	}
	if s.Job.State != jobPending && s.Job.State != jobUpdating {
		return
	}
	s.Job.FromSavepoint = s.Job.SavepointLocation
	if fixed, _ := c.job()["fromSavepoint"].(string); fixed != "" {
		s.Job.FromSavepoint = fixed
	}
	if c.isApplication() {
		s.Job.ID = newJobID()
	}
	s.Job.State = jobDeploying
	s.Job.FinalSavepoint = false
}

// runJob submits the job once, and follows it.
func (o *ClusterOperator) runJob(ctx context.Context, c *cluster) error {
	j := c.status.Components.Job
	if j == nil {
		return nil
	}
	f := flinkAt(c.restPort())
	if j.State == jobDeploying && !c.isApplication() {
		body := map[string]any{"parallelism": c.parallelism(), "programArgsList": c.args(), "flinkConfiguration": map[string]string{}}
		if j.FromSavepoint != "" {
			body["savepointPath"] = j.FromSavepoint
		}
		id, err := f.run(ctx, body)
		if err != nil {
			return err
		}
		j.ID, j.State, j.StartTime = id, jobUp, time.Now().UTC().Format(time.RFC3339)
	}
	all, err := f.jobs(ctx)
	if err != nil {
		return nil //nolint:nilerr // the JobManager is away; what was known stays
	}
	state := ""
	for _, x := range all {
		if x.ID == j.ID {
			state, j.Name = x.State, x.Name
		}
	}
	j.State = jobWord(state)
	return nil
}

func (c *cluster) args() []string {
	list, _ := c.job()["args"].([]any)
	out := []string{}
	for _, a := range list {
		out = append(out, text(a))
	}
	return out
}

// stopJob ends the job for an update: with a savepoint unless the spec names
// one to begin with, or wants none. It is false while it cannot.
func (o *ClusterOperator) stopJob(ctx context.Context, c *cluster) (bool, error) {
	j := c.status.Components.Job
	if j == nil || j.State == jobUpdating || j.ID == "" {
		return true, nil
	}
	f := flinkAt(c.restPort())
	fixed, _ := c.job()["fromSavepoint"].(string)
	if !isSet(c.job(), "takeSavepointOnUpdate") || fixed != "" {
		if err := f.cancel(ctx, j.ID); err != nil && !isGone(err) {
			return false, err
		}
		j.State = jobUpdating
		return true, o.save(ctx, c)
	}
	dir, _ := c.job()["savepointsDir"].(string)
	now := time.Now().UTC().Format(time.RFC3339)
	c.status.Savepoint = &savepointState{State: "InProgress", Reason: "update", JobID: j.ID, Triggered: now}
	if err := o.save(ctx, c); err != nil {
		return false, err
	}
	j = c.status.Components.Job
	place, err := f.stop(ctx, j.ID, dir)
	if err != nil {
		c.status.Savepoint.State, c.status.Savepoint.Message = "Failed", err.Error()
		if saved := o.save(ctx, c); saved != nil {
			return false, saved
		}
		return false, err
	}
	c.status.Savepoint.State = "Succeeded"
	j.State, j.SavepointLocation, j.SavepointTime, j.FinalSavepoint = jobUpdating, place, now, true
	j.SavepointGeneration++
	return true, o.save(ctx, c)
}
