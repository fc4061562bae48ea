package k8s

import (
	"context"
	"errors"
	"strings"
	"time"

	"flinkscaler/core"
)

// workers changes an adaptive job by Flink's own resource requirements, and its
// TaskManagers by the replicas of their object, in an order in which no task is
// ever without a slot: on the way up TaskManagers come first, on the way down the
// requirements, and TaskManagers go afterwards, once they are idle (see trim).
type workers struct {
	*view
	pool pool
}

// workersMethod is for TaskManagers of a pool that serve adaptive jobs.
func workersMethod(v *view, p pool, options map[string]string) (method, error) {
	if !adaptive(options) {
		return notAdaptive(), nil
	}
	return workers{v, p}, nil
}

func notAdaptive() unsafe {
	return unsafe{"the jobs of this Flink run under a scheduler that cannot change their size: set jobmanager.scheduler to adaptive, or scheduler-mode to reactive where it runs one application"}
}

func (m workers) means() core.Means {
	return core.Means{Method: "taskmanagers-and-requirements", Elastic: true, Trims: true}
}

func (m workers) wanted(ctx context.Context) (core.Requirements, error) {
	return m.flink.Wanted(ctx, m.job)
}

// want asks for more TaskManagers where they are too few, waits a while for their
// slots, and then puts the requirements. Slots that do not come in time do no harm:
// an adaptive job runs on and takes them when they come.
func (m workers) want(ctx context.Context, decision string, r core.Requirements) error {
	held, err := m.wanted(ctx)
	if err != nil {
		return err
	}
	t, err := m.graph(ctx)
	if err != nil {
		return err
	}
	if err := refuseList(t, held, r); err != nil {
		return m.pool.problem(err)
	}
	if need := t.Slots(sizes(r)); need > t.Slots(sizes(held)) || need > t.Slots(t.Sizes()) {
		if err := m.grow(ctx, need); err != nil {
			return err
		}
	}
	return m.flink.Want(ctx, m.job, decision, r)
}

// grow has as many TaskManagers as the job needs, with those of the other jobs.
func (m workers) grow(ctx context.Context, need int) error {
	slots, err := m.slotsPer(ctx)
	if err != nil {
		return err
	}
	others, err := m.needed(ctx, func(id string) bool { return id != m.job.ID })
	if err != nil {
		return err
	}
	if n := ceil(need+others, slots); n > m.pool.asked {
		if err := m.pool.set(ctx, n); err != nil {
			return err
		}
	}
	m.await(ctx, need+others)
	return nil
}

// needed counts the slots that the live jobs which match are asked to have. A job
// that is not adaptive needs what it runs on. core.ErrNotReady: a job waits, and
// Flink does not show what for.
func (v *view) needed(ctx context.Context, matches func(id string) bool) (int, error) {
	jobs, err := v.flink.Jobs(ctx)
	if err != nil {
		return 0, err
	}
	need := 0
	for _, j := range jobs {
		if j.State.Ended() || !matches(j.ID) {
			continue
		}
		n, err := v.neededBy(ctx, core.JobRef{ID: j.ID, Name: j.Name})
		if errors.Is(err, core.ErrNotFound) {
			continue // it ended meanwhile
		}
		if err != nil {
			return 0, err
		}
		need += n
	}
	return need, nil
}

func (v *view) neededBy(ctx context.Context, job core.JobRef) (int, error) {
	one := *v
	one.job = job
	t, err := one.graph(ctx)
	if err != nil {
		return 0, err
	}
	held, err := v.flink.Wanted(ctx, job)
	if errors.Is(err, core.ErrNotAdaptive) {
		return t.Slots(t.Sizes()), nil
	}
	return t.Slots(sizes(held)), err
}

const (
	// slotsWithin bounds the wait for slots: TaskManagers on nodes that are there
	// start in seconds. Who waits for nodes waits better for Flink, which takes slots
	// as they come.
	slotsWithin = 20 * time.Second
	// putWithin is kept back of the caller's time to put the requirements.
	putWithin  = 8 * time.Second
	slotsEvery = 250 * time.Millisecond
)

// await waits until so many slots are registered, or there is no time left.
func (m workers) await(ctx context.Context, slots int) {
	limit := slotsWithin
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)-putWithin)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(slotsEvery)
	defer tick.Stop()
	for {
		if have, err := m.flink.Slots(ctx, m.job); err == nil && have.Total >= slots {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// carried: what TaskManagers the requirements need are there. Flink has the
// requirements themselves already, or want failed.
func (m workers) carried(ctx context.Context, r core.Requirements) (core.Carried, error) {
	t, err := m.graph(ctx)
	if errors.Is(err, core.ErrNotReady) {
		return outstanding("%s", err), nil
	}
	if err != nil {
		return core.Carried{}, err
	}
	have, err := m.flink.Slots(ctx, m.job)
	if err != nil {
		return core.Carried{}, err
	}
	if have.Total >= t.Slots(sizes(r)) {
		return core.Carried{Done: true}, nil
	}
	return m.pool.come(ctx, m.pool)
}

// ordinals is true where TaskManagers are taken away by their number, the highest
// first: in a StatefulSet, which a FlinkCluster has unless it says otherwise.
func (p pool) ordinals() bool {
	switch p.object.GetKind() {
	case core.KindStatefulSet:
		return true
	case core.KindFlinkCluster:
		return !strings.EqualFold(p.object.text("spec", "taskManager", "deploymentType"), "Deployment")
	}
	return false
}
