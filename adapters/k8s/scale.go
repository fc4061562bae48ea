package k8s

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

const subScale = "scale"

// pool is where the TaskManagers of a Flink cluster come from: an object with a
// scale subresource, as it was read. There replicas are read and written, so that
// a Role with the scale subresource alone is enough, and whatever scales the same
// object by it sees what we see. No annotation can be written that way: what is
// left of a write of ours is our field manager in managedFields.
type pool struct {
	cluster  *Cluster
	resource schema.GroupVersionResource
	object   *object
	// asked is how many TaskManagers are wanted, there how many the status counts.
	asked, there int
	// selector selects their pods.
	selector string
	// ways says how far the object has come; it depends on the kind.
	ways
}

// ways is what is particular to one kind of object with TaskManagers.
type ways interface {
	// busy says why the replicas must not be changed now, empty where they may.
	busy() string
	// come says how far the object has come with so many TaskManagers.
	come(ctx context.Context, p pool) (core.Carried, error)
}

// errNoScale: the kind of object has no scale subresource.
var errNoScale = errors.New("no scale subresource")

// poolOf reads the scale subresource of an object.
func (c *Cluster) poolOf(ctx context.Context, resource schema.GroupVersionResource, o *object, w ways) (pool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	got, err := c.objects.Resource(resource).Namespace(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{}, subScale)
	if err != nil {
		err = translate(err, call{"get", withSub(resource, []string{subScale}), o.GetNamespace(), o.GetName()})
		if errors.Is(err, core.ErrNotFound) { // the object itself was there a moment ago
			return pool{}, fmt.Errorf("%w: %w", errNoScale, err)
		}
		return pool{}, err
	}
	s := &object{got}
	return pool{
		cluster: c, resource: resource, object: o, ways: w,
		asked: s.number("spec", "replicas"), there: s.number("status", "replicas"), selector: s.text("status", "selector"),
	}, nil
}

// set asks for so many TaskManagers, at most once, and writes nothing where that
// is asked already. The object must be as it was read: core.ErrBusy else.
func (p pool) set(ctx context.Context, replicas int) error {
	if replicas == p.asked {
		return nil
	}
	if why := p.busy(); why != "" {
		return p.problem(fmt.Errorf("%w: %s", core.ErrBusy, why))
	}
	return p.cluster.merge(ctx, p.resource, p.object, map[string]any{"spec": map[string]any{"replicas": replicas}}, subScale)
}

func (p pool) problem(err error) error {
	return &core.OpError{Op: "scale TaskManagers", Subject: p.object.GetName(), Err: err}
}
