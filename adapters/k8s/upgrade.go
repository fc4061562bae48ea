package k8s

import (
	"context"
	"fmt"

	"flinkscaler/core"
)

// upgrade has the Apache operator change a job that Flink cannot change in place:
// the overrides key alone is written, and the operator stops the job by its upgrade
// mode and starts it again at the new sizes, from operator 1.8 on under a new id.
type upgrade struct{ wish }

func (upgrade) means() core.Means {
	return core.Means{Method: "operator-upgrade", Restarts: true}
}

// wanted is what the object asks for, and the present size of all other vertices.
func (m upgrade) wanted(ctx context.Context) (core.Requirements, error) {
	now, _, err := m.present(ctx)
	if err != nil {
		return nil, err
	}
	for i, b := range now {
		if n, ok := m.asked[b.ID]; ok {
			now[i].Upper = n
		}
	}
	return now, nil
}

// present gives the sizes that the job runs at.
func (m upgrade) present(ctx context.Context) (core.Requirements, core.Topology, error) {
	status, err := m.flink.Status(ctx, m.job)
	if err != nil {
		return nil, core.Topology{}, err
	}
	if len(status.Topology.Vertices) == 0 || status.State.Ended() {
		return nil, core.Topology{}, m.gone(status)
	}
	out := make(core.Requirements, 0, len(status.Topology.Vertices))
	for _, v := range status.Topology.Vertices {
		out = append(out, core.Bounds{ID: v.ID, Lower: 1, Upper: v.Parallelism})
	}
	return out, status.Topology, nil
}

// gone is a job without a graph to read sizes of.
func (m upgrade) gone(status core.JobStatus) error {
	meaning := core.ErrNotReady
	if status.State.Ended() {
		meaning = core.ErrNotFound
	}
	return m.not(meaning, fmt.Sprintf("the job is %s", status.State))
}

func (m upgrade) want(ctx context.Context, decision string, r core.Requirements) error {
	now, known, err := m.present(ctx)
	if err != nil {
		return err
	}
	if err := m.check(r, now, known); err != nil {
		return err
	}
	next := m.next(r, now)
	if m.is(next, r) {
		return nil
	}
	restores := m.restores(next, r)
	if err := m.ready(restores); err != nil {
		return err
	}
	// Only a job that runs can be stopped with a savepoint; the operator would take
	// its last checkpoint for one that does not, or wait.
	if !restores && m.upgradeMode() == "savepoint" && m.jobState() != string(core.JobRunning) {
		return m.not(core.ErrNotReady, "a job that does not run cannot be stopped with a savepoint")
	}
	return m.write(ctx, decision, next)
}
