package yarn

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// What a JobRef of this platform carries along.
const (
	extraTarget      = "target"      // how the application is found, as JSON
	extraApplication = "application" // the id of the application in which the job runs
)

// place is an application with the Flink behind it.
type place struct {
	cluster *Cluster
	target  core.YarnTarget
	app     application
	flink   *flink.Cluster
}

// Locate finds the job that runs in the application that the target names.
func (c *Cluster) Locate(ctx context.Context, target core.Target) (core.JobRef, error) {
	if target.Yarn == nil {
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: target.Canonical(),
			Hint: "the cluster is a YARN cluster: name the application with target.yarn", Err: fmt.Errorf("%w: not a target of this cluster", core.ErrRefused)}
	}
	app, err := c.find(ctx, *target.Yarn)
	if err != nil {
		return core.JobRef{}, err
	}
	p, err := c.at(app, *target.Yarn)
	if err != nil {
		return core.JobRef{}, err
	}
	return p.only(ctx)
}

// find gives the one live application that the target describes.
func (c *Cluster) find(ctx context.Context, target core.YarnTarget) (application, error) {
	query := url.Values{"states": {live}, "deSelects": {"resourceRequests"}}
	if target.ApplicationTag != "" {
		query.Set("applicationTags", target.ApplicationTag)
	}
	apps, err := c.applications(ctx, query)
	if err != nil {
		return application{}, err
	}
	var found []application
	var ids []string
	for _, a := range apps {
		if a.is(target) && !a.State.ended() {
			found, ids = append(found, a), append(ids, a.ID)
		}
	}
	subject := target.ApplicationName + target.ApplicationTag
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return application{}, &core.OpError{Op: "find application", Subject: subject, Err: core.ErrNotFound}
	}
	return application{}, &core.OpError{Op: "find application", Subject: subject, Err: fmt.Errorf("%w: %s", core.ErrAmbiguous, strings.Join(ids, ", "))}
}

// at gives the place of an application.
func (c *Cluster) at(app application, target core.YarnTarget) (*place, error) {
	if app.RPCAddress == "" {
		return nil, &core.OpError{Op: "reach Flink", Subject: app.ID, Err: fmt.Errorf("%w: YARN shows no address, the application is %s", core.ErrNotReady, app.State)}
	}
	f, err := c.flinkAt(app.RPCAddress)
	return &place{cluster: c, target: target, app: app, flink: f}, err
}

// open finds the place of a job again.
func (c *Cluster) open(ctx context.Context, job core.JobRef) (*place, error) {
	var target core.YarnTarget
	if err := json.Unmarshal([]byte(job.Extras[extraTarget]), &target); err != nil || job.Extras[extraApplication] == "" {
		return nil, &core.OpError{Op: "find job", Subject: job.ID, Err: fmt.Errorf("%w: the job was not found on this cluster", core.ErrRefused)}
	}
	app, err := c.application(ctx, job.Extras[extraApplication])
	if err != nil {
		return nil, err
	}
	if app.State.ended() {
		return nil, &core.OpError{Op: "find job", Subject: app.ID, Err: fmt.Errorf("%w: the application is %s", core.ErrNotFound, app.State)}
	}
	return c.at(app, target)
}

// only finds the one live job of the application, of the target's name where that
// has one.
func (p *place) only(ctx context.Context) (core.JobRef, error) {
	jobs, err := p.flink.Jobs(ctx)
	if err != nil {
		return core.JobRef{}, err
	}
	var found []flink.Job
	var ids []string
	for _, j := range jobs {
		if !j.State.Ended() && (p.target.JobName == "" || j.Name == p.target.JobName) {
			found, ids = append(found, j), append(ids, j.ID)
		}
	}
	switch len(found) {
	case 0:
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: p.app.ID, Err: core.ErrNotFound}
	case 1:
		return p.ref(ctx, found[0])
	}
	return core.JobRef{}, &core.OpError{Op: "find job", Subject: p.app.ID, Err: fmt.Errorf("%w: %s", core.ErrAmbiguous, strings.Join(ids, ", ")),
		Hint: "target.yarn.jobName names one of the jobs of a session"}
}

// ref is a job of the place.
func (p *place) ref(ctx context.Context, j flink.Job) (core.JobRef, error) {
	b, err := json.Marshal(p.target)
	if err != nil {
		return core.JobRef{}, fmt.Errorf("target: %w", err)
	}
	ref := core.JobRef{ID: j.ID, Name: j.Name, State: j.State, Extras: map[string]string{extraTarget: string(b), extraApplication: p.app.ID}}
	if v, err := p.flink.Version(ctx); err == nil { // not knowing it is no reason not to find the job
		ref.FlinkVersion = v.Flink
	}
	ref.Means = &core.Means{Method: "yarn-in-place", Elastic: true}
	return ref, nil
}
