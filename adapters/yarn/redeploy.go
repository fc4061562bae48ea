package yarn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"flinkscaler/core"
)

// Stop asks Flink for a savepoint and the end of the job after it. Only the
// application's own address takes it.
func (c *Cluster) Stop(ctx context.Context, job core.JobRef, s core.StopRequest) error {
	p, err := c.open(ctx, job)
	if err != nil {
		return err
	}
	return p.flink.Stop(ctx, job, s)
}

// StopResult reads how far a stop is. The first read of the result lets the
// JobManager of an application end; one that has ended knows of none.
func (c *Cluster) StopResult(ctx context.Context, job core.JobRef, trigger string) (core.StopResult, error) {
	p, err := c.open(ctx, job)
	var result core.StopResult
	if err == nil {
		result, err = p.flink.StopResult(ctx, job, trigger)
	}
	if errors.Is(err, core.ErrNotFound) {
		return core.StopResult{State: core.StopUnknown}, nil
	}
	return result, err
}

// Cancel ends a job without a savepoint. Where its application, which is ours, waits
// for an attempt, or its program has not come to the job, there is nothing that Flink
// could end: the ResourceManager ends the application.
func (c *Cluster) Cancel(ctx context.Context, job core.JobRef) error {
	p, err := c.open(ctx, job)
	if err == nil {
		err = p.flink.Cancel(ctx, job)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	app, asked := c.application(ctx, job.Extras[extraApplication])
	if asked != nil || app.State.ended() || app.jobOf() != job.ID {
		return err
	}
	if app.address() != "" && !c.neverBegan(ctx, job, err) {
		return err
	}
	return c.kill(ctx, app.ID)
}

// neverBegan is true for a job that its Flink does not know since the program of the
// application, which is ours, has not come to it yet, or never will. Only the first
// attempt of an ApplicationMaster proves that: a later one knows no job either until it
// has found it in its high-availability storage.
func (c *Cluster) neverBegan(ctx context.Context, job core.JobRef, failure error) bool {
	if !errors.Is(failure, core.ErrNotFound) && !errors.Is(failure, core.ErrNotReady) {
		return false
	}
	app, err := c.application(ctx, job.Extras[extraApplication])
	if err != nil || app.jobOf() != job.ID || app.address() == "" {
		return false
	}
	jobs, err := c.flinkJobs(ctx, app)
	if err != nil || len(jobs) > 0 {
		return false
	}
	// Asked last: so it was the first attempt that knew no job.
	n, err := c.attempts(ctx, app.ID)
	return err == nil && n == 1
}

// statusOver is the status of a job whose application, which is ours, has ended with
// it; for any other job it gives the failure to find it.
func (c *Cluster) statusOver(ctx context.Context, job core.JobRef, failure error) (core.JobStatus, error) {
	app, ok := c.over(ctx, job, failure)
	if !ok {
		return core.JobStatus{}, failure
	}
	return core.JobStatus{ID: job.ID, Name: job.Name, State: app.jobState(), Now: time.Now().UTC()}, nil
}

// healthOver is that with the reason for which it failed.
func (c *Cluster) healthOver(ctx context.Context, job core.JobRef, failure error) (core.JobHealth, error) {
	app, ok := c.over(ctx, job, failure)
	if !ok {
		return core.JobHealth{}, failure
	}
	var h core.JobHealth
	if app.jobState() == core.JobFailed {
		h.LastError, h.LastErrorNote = time.UnixMilli(app.FinishedMs).UTC(), app.reason()
		h.Errors = []time.Time{h.LastError}
	}
	return h, nil
}

// over gives the application of a job that was not found, where it was submitted by us
// for that job and has ended.
func (c *Cluster) over(ctx context.Context, job core.JobRef, failure error) (application, bool) {
	if !errors.Is(failure, core.ErrNotFound) {
		return application{}, false
	}
	app, err := c.application(ctx, job.Extras[extraApplication])
	return app, err == nil && app.State.ended() && app.jobOf() == job.ID
}

// kill ends an application by the ResourceManager. core.ErrNotFound: it does not know
// it. One that has ended is none to it.
func (c *Cluster) kill(ctx context.Context, id string) error {
	r := request{op: "kill application", subject: id, method: "PUT", path: "/apps/" + id + "/state", body: []byte(`{"state":"KILLED"}`)}
	_, err := fetch(ctx, c, r, func(b []byte) (struct{}, error) {
		state, err := fromJSON[struct {
			State string `json:"state"`
		}](b)
		if err == nil && state.State == "" {
			err = errors.New(`no "state" in the answer`)
		}
		return struct{}{}, err
	})
	return err
}

// pause waits between two looks; the error is that of a ctx that ended.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(ctx))
	case <-t.C:
		return nil
	}
}
