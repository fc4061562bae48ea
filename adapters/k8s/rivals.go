package k8s

import (
	"context"
	"slices"
	"time"

	"flinkscaler/core"
)

// Rivals lists who else changes the size of a job, or may, those that forbid a
// change first. It looks at the API server only, and writes nothing.
//
// What may not be read is a doubt, and an error that matches
// core.ErrUnauthorized, where missing it would mean a fight: the job's own
// object and HorizontalPodAutoscalers. Where something else would still give the
// rival away it is a warning that names what was not looked at: ScaledObjects
// (theirs is a HorizontalPodAutoscaler most of the time), the operator's
// ConfigMap and the events (its other sizes show in the object's status), and
// VerticalPodAutoscalers (never more than a warning). Every other failure to look
// is a doubt.
func (c *Cluster) Rivals(ctx context.Context, job core.JobRef) ([]core.Rival, error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return nil, err
	}
	return v.rivals(ctx, time.Now())
}

func (v *view) rivals(ctx context.Context, now time.Time) ([]core.Rival, error) {
	out := append(parents(v.object), v.owners()...)
	for _, find := range []func(context.Context) ([]core.Rival, error){
		func(ctx context.Context) ([]core.Rival, error) { return v.operatorScaler(ctx, now) },
		v.podScalers,
		v.verticalScalers,
	} {
		found, err := find(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(a, b core.Rival) int { return order(a.Warning) - order(b.Warning) })
	return out, nil
}

func order(later bool) int {
	if later {
		return 1
	}
	return 0
}

// unseen is the warning about objects that may not be read.
func unseen(resource, missed string) core.Rival {
	return core.Rival{
		Kind: "Forbidden", Name: resource, Warning: true,
		What: "the worker may not list " + resource + ", so " + missed + " would not be seen: allow its ServiceAccount to get and list them",
	}
}

// follows is true where something else is meant to set the TaskManagers.
func (v *view) follows() bool { return v.target.Mode == core.ModeFollow }

// parents are objects that this one is made from: what is written here is
// written over by them.
func parents(o *object) []core.Rival {
	var out []core.Rival
	for _, r := range o.GetOwnerReferences() {
		if r.Kind == "FlinkBlueGreenDeployment" {
			out = append(out, core.Rival{
				Kind: r.Kind, Name: r.Name,
				What: "it makes this object from its own template and replaces it at each transition, so a size set here is lost: set the size in the template, and end the workflow",
			})
		}
	}
	return out
}
