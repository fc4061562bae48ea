package k8s

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/adapters/flink/shared"
)

// shareFor is how old a list of a namespace may be that all jobs there look through
// for rivals, and reportsFor how old the events about one object: a worker of
// thousands of jobs would else ask for the same again and again. What is written in
// between is found by the next look.
const (
	shareFor   = 5 * time.Second
	reportsFor = time.Minute
)

// maxLists bounds the lists that are kept; more are read anew.
const maxLists = 4096

// question is what a list answers.
type question struct {
	resource  schema.GroupVersionResource
	namespace string
	// about is an object's uid, for its events; empty for all of the namespace.
	about string
	// optional is true for a kind that need not exist.
	optional bool
}

// listing is the answer: what was found, and whether it may not be read.
type listing struct {
	found  []*object
	hidden bool
}

// shared gives a list that others have asked for a moment ago, or asks.
func (c *Cluster) shared(ctx context.Context, q question) (listing, error) {
	age := c.shareFor
	if q.about != "" {
		age = c.reportsFor
	}
	return c.answer(q).Get(ctx, age, func(ctx context.Context) (out listing, err error) {
		switch {
		case q.about != "":
			out.found, out.hidden, err = c.eventsOf(ctx, q.namespace, q.about)
		case q.optional:
			out.found, out.hidden, err = c.listIfAny(ctx, q.resource, q.namespace, "")
		default:
			out.found, err = c.list(ctx, q.resource, q.namespace, "")
		}
		return out, err
	})
}

func (c *Cluster) answer(q question) *shared.Answer[listing] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.lists[q]; ok {
		return a
	}
	if len(c.lists) >= maxLists {
		clear(c.lists)
	}
	a := &shared.Answer[listing]{}
	c.lists[q] = a
	return a
}
