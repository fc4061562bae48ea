package k8s

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/adapters/flink/shared"
	"flinkscaler/core"
)

// Found is a job that a workflow could be started for.
type Found struct {
	Target core.KubernetesTarget
	// Means is how its size would be changed, with Refused set where there is no safe
	// way. nil: that cannot be told now, and a Note says why.
	Means *core.Means
}

// Note says something that people should know: of an object, or of what was not
// looked at.
type Note struct {
	// Target is the object, nil where it is about none.
	Target *core.KubernetesTarget
	Text   string
}

// atOnce is how many objects are looked at at the same time. Most of that time is
// spent waiting for Flink.
const atOnce = 32

// Discover finds the jobs that custom resources stand for, sorted by namespace, kind
// and name, with one for each job that runs on a session cluster. No namespaces are
// all of them. Plain workloads are not among them: nothing marks them as Flink's.
//
// A kind that is not installed has no objects. One that may not be listed in a
// namespace is a Note; core.ErrUnauthorized is for none that may be. An object that
// cannot be judged is a Note too and ends nothing.
func (c *Cluster) Discover(ctx context.Context, namespaces []string) ([]Found, []Note, error) {
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	objects, notes, err := c.resources(ctx, namespaces)
	if err != nil {
		return nil, nil, err
	}
	found := make([]judged, len(objects))
	shared.Each(len(objects), atOnce, func(i int) { found[i] = c.judge(ctx, objects[i], objects) })
	var out []Found
	for _, d := range found {
		out, notes = append(out, d.found...), append(notes, d.notes...)
	}
	return out, notes, ctx.Err()
}

// listed is an object with the kind by which a target names it.
type listed struct {
	*object
	called string
}

func (r listed) target(job string) core.KubernetesTarget {
	return core.KubernetesTarget{Namespace: r.GetNamespace(), Kind: r.called, Name: r.GetName(), JobName: job}
}

// discovered are the kinds that are looked for.
func discovered() []string {
	return []string{core.KindFlinkCluster, core.KindFlinkDeployment, core.KindFlinkSessionJob}
}

// resources lists the custom resources of the namespaces, in order.
func (c *Cluster) resources(ctx context.Context, namespaces []string) ([]listed, []Note, error) {
	var out []listed
	var notes []Note
	looked := false
	for _, namespace := range namespaces {
		for _, called := range discovered() {
			kind := kinds[called].resource()
			objects, how, err := c.listSeen(ctx, kind, namespace)
			switch {
			case err != nil:
				return nil, nil, err
			case how == unkindSeen:
				notes = append(notes, Note{Text: hiddenText(kind.GroupResource().String(), namespace)})
			case how == kindSeen:
				looked = true
			}
			for _, o := range objects {
				out = append(out, listed{o, called})
			}
		}
	}
	if !looked && len(notes) > 0 {
		return nil, nil, &core.OpError{Op: "find jobs", Subject: orAll(strings.Join(namespaces, ", ")), Err: fmt.Errorf("%w: %s", core.ErrUnauthorized, notes[0].Text)}
	}
	slices.SortStableFunc(out, func(a, b listed) int {
		return strings.Compare(a.GetNamespace()+" "+a.called+" "+a.GetName(), b.GetNamespace()+" "+b.called+" "+b.GetName())
	})
	return out, notes, nil
}

// How a kind was seen: listed, kept from us, or not installed.
type sight int

const (
	kindSeen sight = iota
	unkindSeen
	kindMissing
)

func (c *Cluster) listSeen(ctx context.Context, kind schema.GroupVersionResource, namespace string) ([]*object, sight, error) {
	objects, err := c.list(ctx, kind, namespace, "")
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, kindMissing, nil
	case errors.Is(err, core.ErrUnauthorized):
		// The API server refuses to list a kind before it looks whether there is any.
		served, err := c.serves(ctx, kind)
		if err != nil || served {
			return nil, unkindSeen, err
		}
		return nil, kindMissing, nil
	}
	return objects, kindSeen, err
}

// hiddenText says what to do about a kind that may not be listed.
func hiddenText(resource, namespace string) string {
	if namespace == "" {
		return "the worker may not list " + resource + " in all namespaces: name those where it has a Role, with namespaces of the cluster in its configuration or with --namespace"
	}
	return "the worker may not list " + resource + " in namespace " + namespace + ", so there may be more jobs: give its ServiceAccount a Role to get and list them there"
}

// judged is what one object came to.
type judged struct {
	found []Found
	notes []Note
}

func (d *judged) note(t core.KubernetesTarget, format string, args ...any) {
	d.notes = append(d.notes, Note{&t, fmt.Sprintf(format, args...)})
}

// judge finds the jobs of an object, and how their sizes would be changed. all are
// the objects that were listed with it.
func (c *Cluster) judge(ctx context.Context, r listed, all []listed) judged {
	var d judged
	jobs := []string{""}
	if r.session() {
		var err error
		if jobs, err = c.sessionJobs(ctx, r, all); err != nil {
			d.note(r.target(""), "it is a session cluster, and which jobs run on it is not known: %v", err)
			return d
		}
		if len(jobs) == 0 {
			d.note(r.target(""), "it is a session cluster on which no job runs that is not that of a FlinkSessionJob")
		}
	}
	for _, job := range jobs {
		c.judgeJob(ctx, &d, r, job)
	}
	return d
}

func (c *Cluster) judgeJob(ctx context.Context, d *judged, r listed, job string) {
	t := r.target(job)
	f := Found{Target: t}
	means, err := c.meansOf(ctx, t, r.object)
	switch {
	case err == nil:
		f.Means = &means
	case errors.Is(err, core.ErrRefused):
		f.Means = &core.Means{Refused: err.Error()}
	default:
		d.note(t, "how its size can be changed is not known now: %v", err)
	}
	if on, _ := (operatorSigns{options: flinkOptions(r.object)}).enabled(); on {
		d.note(t, "the operator's own autoscaler is on: nothing is changed before it is handed over")
	}
	d.found = append(d.found, f)
}

// meansOf finds the job of an object that was listed, and how its size is changed.
func (c *Cluster) meansOf(ctx context.Context, t core.KubernetesTarget, o *object) (core.Means, error) {
	v, err := c.see(ctx, t, o)
	if err != nil {
		return core.Means{}, err
	}
	if err := v.seek(ctx); err != nil {
		return core.Means{}, err
	}
	m, err := v.method(ctx)
	if err != nil {
		return core.Means{}, err
	}
	return m.means(), nil
}

// session is true for a cluster that runs whatever is submitted to it.
func (r listed) session() bool {
	return r.called != core.KindFlinkSessionJob && r.field("spec", "job") == nil
}

// sessionJobs names the live jobs on a session cluster, apart from those that
// FlinkSessionJobs stand for.
func (c *Cluster) sessionJobs(ctx context.Context, r listed, all []listed) ([]string, error) {
	v, err := c.see(ctx, r.target(""), r.object)
	if err != nil {
		return nil, err
	}
	jobs, err := v.flink.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, j := range jobs {
		owned := slices.ContainsFunc(all, func(o listed) bool {
			return o.called == core.KindFlinkSessionJob && o.GetNamespace() == r.GetNamespace() && o.text("status", "jobStatus", "jobId") == j.ID
		})
		if !owned && !j.State.Ended() {
			out = append(out, j.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
