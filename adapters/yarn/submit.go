package yarn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/kerberos"
	"flinkscaler/core"
)

// deploys is what submissions need besides the configuration.
type deploys struct {
	// storage is that of jars and of what is staged, nil for none.
	storage Storage
	times   pace
	// whoIs takes the place of a KDC and the ResourceManager in tests.
	whoIs func(context.Context, *kerberos.Login) (user string, err error)
}

// UseStorage tells where jars are, and what submissions stage.
func (c *Cluster) UseStorage(s Storage) { c.deploys.storage = s }

// pace is how long the steps of a submission may take, and how often is looked.
type pace struct {
	// look is the pause between two looks at the ResourceManager.
	look time.Duration
	// visible is how long an application may take to be listed once its command has
	// ended.
	visible time.Duration
	// overdue is how long the application of a job that has ended may go on until it is
	// killed, dies how long a killed one may take to end.
	overdue, dies time.Duration
	// settles is how long a job that was submitted is watched, since one that fails at
	// once tells why for less than a second.
	settles time.Duration
	// last is how long the command may go on after the application runs.
	last time.Duration
}

func (d deploys) timing() pace {
	if d.times.look > 0 {
		return d.times
	}
	return pace{look: 500 * time.Millisecond, visible: 10 * time.Second, overdue: time.Minute, dies: time.Minute, settles: 20 * time.Second, last: time.Minute}
}

// submission is one call of Submit.
type submission struct {
	c     *Cluster
	s     core.Submission
	m     memo
	t     pace
	limit time.Duration
	// secrets must not show in an error.
	secrets []string
}

// Submit starts the job as an application of its own, or in a session through Flink's
// REST API.
//
// YARN has no key by which a second submission would be refused; the tag is one only
// for whoever looks. So the application is looked for first, and where an earlier call
// may still be on its way, for as long as that may take.
func (c *Cluster) Submit(ctx context.Context, s core.Submission) (core.JobRef, error) {
	x := &submission{c: c, s: s, t: c.deploys.timing(), limit: c.cfg.Redeploy.timeout()}
	ref, err := x.run(ctx)
	if err == nil {
		return ref, nil
	}
	if _, ok := err.(*core.OpError); !ok { //nolint:errorlint // a wrapped one says what it is about
		err = &core.OpError{Op: "submit job", Subject: s.Name, Err: err}
	}
	return core.JobRef{}, flink.Redacted(err, x.secrets)
}

func (x *submission) run(ctx context.Context) (core.JobRef, error) {
	var err error
	if x.m, err = memoOf(x.s.Extras); err != nil {
		return core.JobRef{}, err
	}
	if x.m.session() {
		return x.inSession(ctx)
	}
	// What runs already is not judged by the configuration of now.
	app, found, err := x.find(ctx)
	if err != nil {
		return core.JobRef{}, err
	}
	if found {
		return x.await(ctx, nil)
	}
	cmd, secrets, err := x.c.command(x.s, x.m)
	x.secrets = secrets
	if err != nil {
		return core.JobRef{}, fmt.Errorf("%w: %w", core.ErrRefused, err)
	}
	sweep(ctx, x.s.JobID)
	if x.s.Repeated || !x.s.Elsewhere.IsZero() {
		if app, found, err = x.settle(ctx); err != nil || found {
			if err == nil && !app.State.ended() {
				return x.await(ctx, nil)
			}
			return core.JobRef{}, failureOf(err, app)
		}
		if err := x.forgot(ctx); err != nil {
			return core.JobRef{}, err
		}
	}
	if err := x.madeWay(ctx); err != nil {
		return core.JobRef{}, err
	}
	if cmd.dir, err = scratch(&cmd); err != nil {
		return core.JobRef{}, fmt.Errorf("%w: %w", core.ErrUnreachable, err)
	}
	child, err := cmd.start()
	if err != nil {
		return core.JobRef{}, fmt.Errorf("%w: %w", core.ErrRefused, err)
	}
	return x.await(ctx, child)
}

// failureOf is the error of an application that was found ended, unless there is another.
func failureOf(err error, app application) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", core.ErrRefused, app.reason())
}

// inSession submits to the session in which the job ran.
func (x *submission) inSession(ctx context.Context) (core.JobRef, error) {
	p, err := x.c.open(ctx, core.JobRef{ID: x.s.JobID, Extras: x.m.extras(x.m.stopped)})
	if err != nil {
		return core.JobRef{}, err
	}
	ref, err := p.flink.Submit(ctx, x.s)
	ref.Extras = x.m.extras(x.m.stopped)
	return ref, err
}

// find gives the application of the submission: the one that lives, else the newest.
func (x *submission) find(ctx context.Context) (application, bool, error) {
	apps, err := x.c.submitted(ctx, x.s.JobID)
	var out application
	for _, a := range apps {
		if out.ID == "" || out.State.ended() && (!a.State.ended() || a.StartedMs > out.StartedMs) {
			out = a
		}
	}
	return out, out.ID != "", err
}

// settle looks until nothing of an earlier call can be on its way any more.
func (x *submission) settle(ctx context.Context) (application, bool, error) {
	until := time.Now().Add(x.t.visible)
	if e := x.s.Elsewhere; !e.IsZero() && e.Add(x.limit+x.t.visible).After(until) {
		until = e.Add(x.limit + x.t.visible)
	}
	for {
		asked := time.Now()
		app, found, err := x.find(ctx)
		if found || err == nil && !asked.Before(until) {
			return app, found, err
		}
		if err != nil && (ctx.Err() != nil || !errors.Is(err, core.ErrUnreachable) && !errors.Is(err, core.ErrNoLeader)) {
			return application{}, false, err
		}
		if err := pause(ctx, x.t.look); err != nil {
			return application{}, false, err
		}
	}
}

// madeWay waits until the application of the job that was stopped has ended. One that
// goes on without a job is killed: the new one must never run beside it.
func (x *submission) madeWay(ctx context.Context) error {
	if x.m.stopped == "" {
		return nil
	}
	overdue := time.Now().Add(x.t.overdue)
	for killed := false; ; {
		app, err := x.c.application(ctx, x.m.stopped)
		switch {
		case errors.Is(err, core.ErrNotFound), err == nil && app.State.ended():
			return nil
		case err != nil:
			return err
		case killed && time.Now().After(overdue.Add(x.t.dies)):
			return fmt.Errorf("%w: %s, of the job that was stopped, is still %s", core.ErrUnreachable, app.ID, app.State)
		case !killed && time.Now().After(overdue):
			if jobs, err := x.c.flinkJobs(ctx, app); err == nil {
				for _, j := range jobs {
					if !j.State.Ended() {
						return fmt.Errorf("%w: in %s, of the job that was stopped, runs job %s", core.ErrUnreachable, app.ID, j.ID)
					}
				}
			}
			if err := x.c.kill(ctx, app.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
				return err
			}
			killed = true
		}
		if err := pause(ctx, x.t.look); err != nil {
			return err
		}
	}
}

// await waits until the application runs, with the command that submits it; nil for an
// application that is there already.
func (x *submission) await(ctx context.Context, k *child) (core.JobRef, error) {
	defer k.release()
	deadline := time.Now().Add(x.limit)
	var over time.Time // since when the command has ended and nothing is there
	for {
		app, found, err := x.find(ctx)
		now := time.Now()
		switch {
		case err != nil:
		case found && app.State.ended():
			return core.JobRef{}, fmt.Errorf("%w: %s", core.ErrRefused, app.reason())
		case found && app.address() != "":
			k.letGo(x.t.last)
			return x.begun(ctx, app)
		case !found && k.over() && over.IsZero():
			over = now
		case !found && k.over() && now.Sub(over) >= x.t.visible:
			return core.JobRef{}, x.none(ctx, "there is no application; "+x.said(k))
		}
		if found {
			over = time.Time{}
		}
		if now.After(deadline) {
			return core.JobRef{}, x.giveUp(ctx, k)
		}
		if err := pause(ctx, x.t.look); err != nil {
			return core.JobRef{}, err
		}
	}
}

// said is how the command ended, with its own words.
func (x *submission) said(k *child) string {
	if k == nil {
		return "it is not listed any more"
	}
	how := "the Flink command was ended"
	if k.over() && k.code() >= 0 {
		how = fmt.Sprintf("the Flink command ended with %d", k.code())
	}
	if words := telling(k.output.text()); words != "" {
		how += ": " + words
	}
	return how
}

// giveUp ends a submission that did not come to run in time.
func (x *submission) giveUp(ctx context.Context, k *child) error {
	k.kill()
	app, found, err := x.settle(ctx)
	switch {
	case err != nil:
		return err
	case !found:
		return x.none(ctx, fmt.Sprintf("no application within %s; %s", x.limit, x.said(k)))
	case app.State.ended():
		return fmt.Errorf("%w: %s", core.ErrRefused, app.reason())
	}
	how, why := app.how(), core.ErrRefused
	if app.waits() {
		why = core.ErrNoRoom
	}
	err = x.c.kill(ctx, app.ID)
	if errors.Is(err, core.ErrNotFound) {
		err = x.forgot(ctx)
	}
	if err != nil {
		return err
	}
	if err := x.ended(ctx, app.ID); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s did not run within %s and was ended; it was %s", why, app.ID, x.limit, how)
}

// none says that nothing came of the submission, where that is certain.
func (x *submission) none(ctx context.Context, how string) error {
	if err := x.forgot(ctx); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", core.ErrRefused, how)
}

// ended waits for the end of an application that is about to end.
func (x *submission) ended(ctx context.Context, id string) error {
	until := time.Now().Add(x.t.dies)
	for {
		app, err := x.c.application(ctx, id)
		switch {
		case errors.Is(err, core.ErrNotFound), err == nil && app.State.ended():
			return nil
		case time.Now().After(until) && err == nil:
			return fmt.Errorf("%w: %s is still %s", core.ErrUnreachable, id, app.how())
		case time.Now().After(until):
			return err
		}
		if err := pause(ctx, x.t.look); err != nil {
			return err
		}
	}
}

// begun watches a job that was submitted for a moment: a JobManager whose job fails
// ends within a second, and with it the reason.
func (x *submission) begun(ctx context.Context, app application) (core.JobRef, error) {
	ref := core.JobRef{ID: x.s.JobID, Name: x.s.Name, State: core.JobInitializing, Extras: x.m.extras(app.ID)}
	for until := time.Now().Add(x.t.settles); time.Now().Before(until); {
		jobs, err := x.c.flinkJobs(ctx, app)
		switch {
		case errors.Is(err, core.ErrNotFound):
			if app, err := x.c.application(ctx, app.ID); err == nil && app.State.ended() {
				return core.JobRef{}, fmt.Errorf("%w: %s", core.ErrRefused, app.reason())
			}
		case err == nil:
			for _, j := range jobs {
				if j.ID != x.s.JobID || j.State == core.JobInitializing {
					continue
				}
				if ref.State = j.State; j.State.Ended() {
					return core.JobRef{}, x.failedAtOnce(ctx, ref, app)
				}
				return ref, nil
			}
		}
		if err := pause(ctx, x.t.look/2); err != nil {
			return core.JobRef{}, err
		}
	}
	return ref, nil
}

// failedAtOnce is why a job ended, once its application has, too: it is over then for
// whoever looks next.
func (x *submission) failedAtOnce(ctx context.Context, ref core.JobRef, app application) error {
	why := ""
	if p, err := x.c.open(ctx, ref); err == nil {
		if h, err := p.flink.Inspect(ctx, ref); err == nil {
			why = strings.TrimSpace(h.LastErrorNote)
		}
	}
	if err := x.ended(ctx, app.ID); err != nil {
		return err
	}
	if why == "" {
		return fmt.Errorf("%w: the job is %s; see its logs at %s", core.ErrRefused, ref.State, app.Logs)
	}
	return fmt.Errorf("%w: the job is %s: %s", core.ErrRefused, ref.State, why)
}
