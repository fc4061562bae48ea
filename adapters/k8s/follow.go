package k8s

import (
	"context"
	"errors"
	"fmt"

	"flinkscaler/core"
)

// keepsStep keeps an adaptive job in step with TaskManagers on which something else
// decides: by Flink's own resource requirements alone, never above the slots that
// are there.
type keepsStep struct{ direct }

// followMethod is for an adaptive job on TaskManagers that something else scales.
// The job must have all of them: what part of them a second job, or a second slot
// sharing group, should get nobody has said.
func followMethod(ctx context.Context, v *view, options map[string]string) (method, error) {
	if !adaptive(options) {
		return notAdaptive(), nil
	}
	t, err := v.graph(ctx)
	if err != nil && !errors.Is(err, core.ErrNotReady) {
		return nil, err
	}
	jobs, err := v.flink.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if !j.State.Ended() && j.ID != v.job.ID {
			return unsafe{fmt.Sprintf("in mode follow a job takes all slots that there are, but job %q runs on the same TaskManagers", cut(j.Name))}, nil
		}
	}
	if n := groups(t); n > 1 {
		return unsafe{fmt.Sprintf("in mode follow all vertices get one size, but the job has %d slot sharing groups, which divide the slots among them: put all operators into one group", n)}, nil
	}
	return keepsStep{direct{v, "requirements-follow"}}, nil
}

func (m keepsStep) means() core.Means {
	return core.Means{Method: m.name, Uniform: true, Follows: true, Step: 1}
}

// want refuses what does not fit on the TaskManagers that are there: it would leave
// a wish behind that the next one takes up, whoever asks for it.
func (m keepsStep) want(ctx context.Context, decision string, r core.Requirements) error {
	have, err := m.flink.Slots(ctx, m.job)
	if err != nil {
		return err
	}
	if need := largest(r); need > have.Total {
		return &core.OpError{Op: "change size", Subject: m.job.ID, Hint: "target.kubernetes.mode is follow: what scales the TaskManagers has to bring more of them first",
			Err: fmt.Errorf("%w: it takes %d slots, and there are %d", core.ErrRefused, need, have.Total)}
	}
	return m.direct.want(ctx, decision, r)
}
