package k8s

import (
	"context"

	"flinkscaler/core"
)

// direct changes the job by Flink's own resource requirements alone, where no
// object has a say in its size: in place. It is for adaptive jobs.
type direct struct {
	*view
	// name is the method's.
	name string
}

func (m direct) means() core.Means { return core.Means{Method: m.name} }

func (m direct) wanted(ctx context.Context) (core.Requirements, error) {
	return m.flink.Wanted(ctx, m.job)
}

func (m direct) want(ctx context.Context, decision string, r core.Requirements) error {
	return m.flink.Want(ctx, m.job, decision, r)
}

// carried: Flink has taken it, or want failed.
func (m direct) carried(context.Context, core.Requirements) (core.Carried, error) {
	return core.Carried{Done: true}, nil
}
