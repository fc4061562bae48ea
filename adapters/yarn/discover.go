package yarn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"flinkscaler/adapters/flink/shared"
	"flinkscaler/core"
)

// Found is a job that a workflow could be started for.
type Found struct {
	Target core.YarnTarget
	// Means is how its size would be changed, with Refused set where it cannot be. nil:
	// that cannot be told now, and a Note says why.
	Means *core.Means
}

// Note says something that people should know of an application.
type Note struct {
	// Target is how it is named, nil where it cannot be.
	Target *core.YarnTarget
	Text   string
}

// atOnce is how many applications are looked at at the same time.
const atOnce = 16

// Discover finds the jobs of the live Flink applications, sorted by name, with one for
// each job that runs in a session. An application goes by its name where that is
// unlike all others, else by a tag that it alone has, else by its name with its queue
// and user. One that cannot be judged is a Note and ends nothing.
func (c *Cluster) Discover(ctx context.Context) ([]Found, []Note, error) {
	l, err := c.candidates(ctx, core.YarnTarget{}, 0)
	if err != nil {
		return nil, nil, err
	}
	apps := slices.Clone(l.apps)
	slices.SortFunc(apps, func(a, b application) int { return strings.Compare(a.Name+" "+a.ID, b.Name+" "+b.ID) })
	all := make([]judged, len(apps))
	shared.Each(len(apps), atOnce, func(i int) { all[i] = c.jobsFound(ctx, apps[i], apps) })
	var out []Found
	var notes []Note
	for _, j := range all {
		out, notes = append(out, j.found...), append(notes, j.notes...)
	}
	return out, notes, ctx.Err()
}

// judged is what one application came to.
type judged struct {
	found []Found
	notes []Note
}

func (j *judged) note(t *core.YarnTarget, format string, args ...any) {
	j.notes = append(j.notes, Note{t, fmt.Sprintf(format, args...)})
}

// jobsFound finds the jobs of an application among all that are live.
func (c *Cluster) jobsFound(ctx context.Context, app application, all []application) judged {
	var j judged
	target, ok := nameOf(app, all)
	if !ok {
		j.note(nil, "%s, named %q, cannot be told from others: give it a tag of its own (yarn.tags)", app.who(), cut(app.Name))
		return j
	}
	jobs, err := c.jobsOf(ctx, target)
	switch {
	case err != nil:
		j.note(&target, "how its size can be changed is not known now: %v", err)
		j.found = append(j.found, Found{Target: target})
		return j
	case len(jobs) == 0:
		j.note(&target, "it is a session cluster on which no job runs")
	}
	for _, name := range jobs {
		t := target
		t.JobName = name
		f := Found{Target: t}
		if means, err := c.meansOf(ctx, t); err == nil {
			f.Means = &means
		} else {
			j.note(&t, "how its size can be changed is not known now: %v", err)
		}
		j.found = append(j.found, f)
	}
	return j
}

// nameOf is how a target names an application alone; false where it cannot.
func nameOf(app application, all []application) (core.YarnTarget, bool) {
	candidates := []core.YarnTarget{{ApplicationName: app.Name}}
	for tag := range strings.SplitSeq(app.Tags, ",") {
		if tag != "" {
			candidates = append(candidates, core.YarnTarget{ApplicationTag: tag})
		}
	}
	candidates = append(candidates,
		core.YarnTarget{ApplicationName: app.Name, Queue: app.Queue},
		core.YarnTarget{ApplicationName: app.Name, User: app.User},
		core.YarnTarget{ApplicationName: app.Name, Queue: app.Queue, User: app.User})
	for _, t := range candidates {
		if subjectOf(t) != "" && len(described(all, t)) == 1 {
			return t, true
		}
	}
	return core.YarnTarget{}, false
}

// jobsOf names the live jobs of a session, and gives one empty name for an
// application that runs one job.
func (c *Cluster) jobsOf(ctx context.Context, t core.YarnTarget) ([]string, error) {
	p, err := c.find(ctx, t)
	if err != nil {
		return nil, err
	}
	version, err := p.flink.Version(ctx)
	if err != nil || !version.WebSubmit {
		return []string{""}, err
	}
	jobs, err := p.flink.Jobs(ctx)
	var out []string
	for _, j := range jobs {
		if !j.State.Ended() {
			out = append(out, j.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// meansOf tells how the size of a job would be changed.
func (c *Cluster) meansOf(ctx context.Context, t core.YarnTarget) (core.Means, error) {
	job, err := c.Locate(ctx, core.Target{Yarn: &t})
	if err != nil {
		return core.Means{}, err
	}
	var means core.Means
	if job.Means != nil {
		means = *job.Means
	}
	if _, err := c.Wanted(ctx, job); errors.Is(err, core.ErrNotAdaptive) && !means.Restarts {
		means.Refused = err.Error()
	} else if err != nil && !means.Restarts {
		return core.Means{}, err
	}
	return means, nil
}
