package yarn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// Copies gives every job of the applications that the job's target describes, that
// were submitted for its id, or in which it ran. An application of ours that has not
// come to run yet is a job that is INITIALIZING, another one such a job under the id of
// the application.
func (c *Cluster) Copies(ctx context.Context, job core.JobRef) ([]core.JobRef, error) {
	m, err := memoOf(job.Extras)
	if err != nil {
		return nil, &core.OpError{Op: "find job", Subject: job.ID, Err: err}
	}
	apps, err := c.related(ctx, m, job.ID)
	if err != nil {
		return nil, err
	}
	var out []core.JobRef
	for _, app := range apps {
		jobs, err := c.copiesIn(ctx, app, m, job)
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	slices.SortFunc(out, func(a, b core.JobRef) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// related are the applications in which a copy of a job may be, each once.
func (c *Cluster) related(ctx context.Context, m memo, jobID string) ([]application, error) {
	live, err := c.candidates(ctx, m.target, 0)
	if err != nil {
		return nil, err
	}
	apps := described(live.apps, m.target)
	if jobID != "" && !m.session() {
		tagged, err := c.submitted(ctx, jobID)
		if err != nil {
			return nil, err
		}
		apps = append(apps, tagged...)
	}
	if m.application != "" && !slices.ContainsFunc(apps, func(a application) bool { return a.ID == m.application }) {
		app, err := c.application(ctx, m.application)
		switch {
		case err == nil:
			apps = append(apps, app)
		case !errors.Is(err, core.ErrNotFound):
			return nil, err
		default: // forgotten by the ResourceManager: it may run all the same
			apps = append(apps, application{ID: m.application, State: stateUnknown})
		}
	}
	slices.SortStableFunc(apps, func(a, b application) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(apps, func(a, b application) bool { return a.ID == b.ID }), nil
}

// submitted are the applications that were submitted for a job, in any state.
func (c *Cluster) submitted(ctx context.Context, jobID string) ([]application, error) {
	tag := tagJob + jobID
	apps, err := c.applications(ctx, url.Values{"applicationTags": {tag}, "deSelects": {"resourceRequests"}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(apps, func(a application) bool { return !a.tagged(tag) }), nil
}

// copiesIn are the copies of a job in one application.
func (c *Cluster) copiesIn(ctx context.Context, app application, m memo, job core.JobRef) ([]core.JobRef, error) {
	own, its := app.jobOf(), app.ID == m.application
	switch {
	case app.State.ended():
		return over(app, m, job), nil
	case app.address() == "" && (m.session() || its && own == ""):
		// It ran before. After a restart of the ResourceManager it may do so still.
		p, err := c.open(ctx, core.JobRef{ID: job.ID, Name: job.Name, Extras: m.extras(app.ID)})
		if errors.Is(err, core.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		jobs, err := p.flink.Jobs(ctx)
		return m.copies(app, jobs, job), err
	case app.address() == "":
		id := cmp.Or(own, app.ID)
		return []core.JobRef{{ID: id, Name: job.Name, State: core.JobInitializing, Extras: m.extras(app.ID)}}, nil
	}
	jobs, err := c.flinkJobs(ctx, app)
	if errors.Is(err, core.ErrNotFound) { // it has ended since
		if app, err = c.application(ctx, app.ID); err == nil && !app.State.ended() {
			err = fmt.Errorf("%w: the application is %s", core.ErrNotReady, app.how())
		}
		if err == nil {
			return over(app, m, job), nil
		}
	}
	if err != nil {
		return nil, &core.OpError{Op: "find job", Subject: app.ID, Hint: "it is not known whether a copy of the job runs there", Err: err}
	}
	found := m.copies(app, jobs, job)
	if len(found) > 0 || m.session() {
		return found, nil
	}
	if own == "" && its {
		return nil, &core.OpError{Op: "find job", Subject: app.ID, Err: fmt.Errorf("%w: its Flink shows no job", core.ErrNotReady)}
	}
	// Its program has not come to its job yet.
	return []core.JobRef{{ID: cmp.Or(own, app.ID), Name: job.Name, State: core.JobInitializing, Extras: m.extras(app.ID)}}, nil
}

// flinkJobs asks the Flink of an application for its jobs.
func (c *Cluster) flinkJobs(ctx context.Context, app application) ([]flink.Job, error) {
	a, err := c.application(ctx, app.ID)
	if err != nil {
		return nil, err
	}
	r, err := c.routeTo(a, time.Now())
	if err != nil {
		return nil, err
	}
	return r.flink.Jobs(ctx)
}

// copies are the jobs of an application that count: all, but in a session those of the
// name or the id.
func (m memo) copies(app application, jobs []flink.Job, job core.JobRef) []core.JobRef {
	var out []core.JobRef
	for _, j := range jobs {
		if !m.session() || j.Name == job.Name || j.ID == job.ID {
			out = append(out, core.JobRef{ID: j.ID, Name: j.Name, State: j.State, Extras: m.extras(app.ID)})
		}
	}
	return out
}

// over is the job of an application that has ended: the one it was submitted for, or
// the one that is asked for where it ran there.
func over(app application, m memo, job core.JobRef) []core.JobRef {
	id := app.jobOf()
	if id == "" && app.ID == m.application {
		id = job.ID
	}
	if id == "" || m.session() {
		return nil
	}
	return []core.JobRef{{ID: id, Name: job.Name, State: app.jobState(), Extras: m.extras(app.ID)}}
}
