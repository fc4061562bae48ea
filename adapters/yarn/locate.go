package yarn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

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
	// app is how YARN showed the application some seconds ago at most.
	app   application
	flink *flink.Cluster
	route *route
}

// Locate finds the job that runs in the application that the target names.
func (c *Cluster) Locate(ctx context.Context, target core.Target) (core.JobRef, error) {
	if target.Yarn == nil {
		return core.JobRef{}, &core.OpError{Op: "find job", Subject: target.Canonical(),
			Hint: "the cluster is a YARN cluster: name the application with target.yarn", Err: fmt.Errorf("%w: not a target of this cluster", core.ErrRefused)}
	}
	p, err := c.find(ctx, *target.Yarn)
	if err != nil {
		return core.JobRef{}, err
	}
	return p.only(ctx)
}

// find gives the place of the one live application that the target describes. What a
// list of some seconds ago does not show as one is looked for anew. One that was
// found before, and that the ResourceManager does not list any more, is asked for by
// its id: after a restart of the ResourceManager it may run all the same.
func (c *Cluster) find(ctx context.Context, t core.YarnTarget) (*place, error) {
	var found []application
	var at time.Time
	for _, age := range []time.Duration{c.shareFor, 0} {
		l, err := c.candidates(ctx, t, age)
		if err != nil {
			return nil, err
		}
		if found, at = described(l.apps, t), l.at; len(found) == 1 || age == 0 {
			break
		}
	}
	switch len(found) {
	case 1:
		r, err := c.routeTo(found[0], at)
		if err != nil {
			return nil, err
		}
		c.found(t, found[0].ID)
		return r.place(ctx, t)
	case 0:
		return c.lost(ctx, t)
	}
	return nil, &core.OpError{Op: "find application", Subject: subjectOf(t), Hint: "narrow the target with queue, user or another tag, or end one of them",
		Err: fmt.Errorf("%w: %s", core.ErrAmbiguous, listed(found))}
}

// described are the live applications of a list that a target describes.
func described(apps []application, t core.YarnTarget) []application {
	var out []application
	for _, a := range apps {
		if a.is(t) && !a.State.ended() {
			out = append(out, a)
		}
	}
	return out
}

// listed names applications for people.
func listed(apps []application) string {
	var out []string
	for _, a := range apps {
		out = append(out, a.who())
	}
	return cut(strings.Join(out, ", "))
}

func subjectOf(t core.YarnTarget) string { return cmp.Or(t.ApplicationName, t.ApplicationTag) }

// lost looks for the application that a target last was.
func (c *Cluster) lost(ctx context.Context, t core.YarnTarget) (*place, error) {
	none := &core.OpError{Op: "find application", Subject: subjectOf(t),
		Err: fmt.Errorf("%w: no live application of type %q is described by the target", core.ErrNotFound, kindOf(t))}
	r := c.known(c.lastOf(t))
	if r == nil {
		return nil, none
	}
	if err := r.look(ctx); err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	p, err := r.place(ctx, t)
	if err == nil && !p.app.is(t) { // its queue can be changed
		return nil, none
	}
	return p, err
}

// open finds the place of a job again.
func (c *Cluster) open(ctx context.Context, job core.JobRef) (*place, error) {
	var target core.YarnTarget
	id := job.Extras[extraApplication]
	if err := json.Unmarshal([]byte(job.Extras[extraTarget]), &target); err != nil || id == "" {
		return nil, &core.OpError{Op: "find job", Subject: job.ID, Err: fmt.Errorf("%w: the job was not found on this cluster", core.ErrRefused)}
	}
	r := c.known(id)
	if r == nil { // found by another worker
		asked := time.Now()
		app, err := c.application(ctx, id)
		if err != nil {
			return nil, err
		}
		if r, err = c.routeTo(app, asked); err != nil {
			return nil, err
		}
	}
	if _, at, _ := r.seen(); time.Since(at) >= c.shareFor {
		if err := r.look(ctx); err != nil && !errors.Is(err, core.ErrNotFound) {
			return nil, err
		}
	}
	return r.place(ctx, target)
}

// look asks the ResourceManager for the application anew.
func (r *route) look(ctx context.Context) error {
	_, err := r.cluster.application(ctx, r.id)
	if errors.Is(err, core.ErrNotFound) {
		r.forgotten()
	}
	return err
}

// place gives where the Flink of the application is. Where YARN shows no address now,
// the last one is good as long as a job that was seen there runs there.
func (r *route) place(ctx context.Context, t core.YarnTarget) (*place, error) {
	app, _, address := r.seen()
	p := &place{cluster: r.cluster, target: t, app: app, flink: r.flink, route: r}
	switch {
	case app.State.ended():
		return nil, &core.OpError{Op: "find job", Subject: r.id, Err: fmt.Errorf("%w: the application is %s", core.ErrNotFound, app.how())}
	case app.address() != "":
		return p, nil
	case address == "" && app.State == stateUnknown:
		return nil, &core.OpError{Op: "find job", Subject: r.id, Err: fmt.Errorf("%w: the ResourceManager knows no such application", core.ErrNotFound)}
	case address == "":
		return nil, r.fail(fmt.Errorf("%w: YARN shows no address yet, the application is %s", core.ErrNotReady, app.how()))
	}
	jobs, err := r.flink.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	if !r.proves(jobs) {
		return nil, r.fail(fmt.Errorf("%w: reconnecting; YARN shows no address, the application is %s, and at its last address none of its jobs is shown", core.ErrNotReady, app.how()))
	}
	return p, nil
}

// only finds the one live job of the application, of the target's name where that
// has one.
func (p *place) only(ctx context.Context) (core.JobRef, error) {
	jobs, err := p.flink.Jobs(ctx)
	if err != nil {
		return core.JobRef{}, err
	}
	if len(jobs) == 0 {
		return core.JobRef{}, p.route.fail(errNoJobs)
	}
	p.route.saw(jobs)
	job, err := flink.OnlyLive(jobs, func(j flink.Job) bool { return p.target.JobName == "" || j.Name == p.target.JobName })
	if err != nil {
		e := &core.OpError{Op: "find job", Subject: p.app.ID, Err: err}
		if errors.Is(err, core.ErrAmbiguous) {
			e.Hint = "target.yarn.jobName names one of the jobs of a session"
		}
		return core.JobRef{}, e
	}
	return p.ref(ctx, job)
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
	ref.Means = &core.Means{Method: methodOf(j.Scheduler), Elastic: true, Withdraws: true}
	return ref, nil
}

// methodOf names how jobs of a scheduler are changed, for people. Flink tells the
// scheduler from 2.3 on; before, what it refuses tells it.
func methodOf(scheduler string) string {
	switch scheduler {
	case "Adaptive":
		return "yarn-in-place"
	case "":
		return "yarn"
	}
	return "yarn-redeploy"
}
