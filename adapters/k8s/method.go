package k8s

import (
	"context"

	"flinkscaler/core"
)

// method is one way to change the size of a job. It is chosen by what the object
// is at each look, and keeps nothing.
type method interface {
	// means says how it is done. With Refused set nothing else is asked of it.
	means() core.Means
	// wanted gives what is wanted of the job now: each vertex, sorted by id. Where
	// lower bounds are not ours to set they are 1.
	wanted(ctx context.Context) (core.Requirements, error)
	// want writes what is wanted, at most once, under the guards of the object as
	// it was found.
	want(ctx context.Context, decision string, r core.Requirements) error
	// carried says how far that has come, by the object alone.
	carried(ctx context.Context, r core.Requirements) (core.Carried, error)
}
