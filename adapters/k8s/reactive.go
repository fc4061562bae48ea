package k8s

import (
	"context"
	"fmt"
	"slices"

	"flinkscaler/core"
)

// takesAll is for a job in reactive mode: it takes all slots that there are, so
// its size is that of its TaskManagers. Flink restarts it from its last checkpoint
// when they come or go.
type takesAll struct {
	*view
	pool pool
	sized
}

// reactiveMethod is for TaskManagers of a pool whose Flink shows itself to be in
// reactive mode.
func reactiveMethod(ctx context.Context, v *view, p pool) (method, error) {
	if v.follows() {
		return unsafe{"in reactive mode Flink itself takes every slot that there is: whatever scales the TaskManagers needs nothing beside it"}, nil
	}
	of, err := v.sizing(ctx)
	if err != nil {
		return nil, err
	}
	m := takesAll{view: v, pool: p, sized: of}
	if n := groups(m.topology); n > 1 {
		return unsafe{fmt.Sprintf("the job has %d slot sharing groups: in reactive mode they divide the slots among them, and no number of TaskManagers gives a known size; put all operators into one group", n)}, nil
	}
	return m, nil
}

func (m takesAll) means() core.Means {
	return core.Means{Method: "taskmanagers-reactive", Uniform: true, Step: m.slots, Elastic: true}
}

// wanted: each vertex takes the slots of all TaskManagers that are asked for.
func (m takesAll) wanted(context.Context) (core.Requirements, error) {
	if err := m.known(); err != nil {
		return nil, err
	}
	return uniform(m.topology, m.pool.asked*m.slots), nil
}

// known says what is missing to tell what is wanted.
func (m takesAll) known() error {
	if m.graphErr != nil {
		return m.graphErr
	}
	if m.slotsErr == nil && m.pool.asked < 1 {
		return m.pool.problem(fmt.Errorf("%w: no TaskManager is asked for", core.ErrNotReady))
	}
	return m.slotsErr
}

// want asks for the TaskManagers that the largest vertex needs.
func (m takesAll) want(ctx context.Context, _ string, r core.Requirements) error {
	held, err := m.wanted(ctx)
	if err != nil {
		return err
	}
	if err := refuseList(m.topology, held, r); err != nil {
		return m.pool.problem(err)
	}
	if slices.Equal(held, r) {
		return nil
	}
	return m.pool.set(ctx, ceil(largest(r), m.slots))
}

func (m takesAll) carried(ctx context.Context, r core.Requirements) (core.Carried, error) {
	if m.slotsErr != nil {
		return core.Carried{Reason: core.ReasonTasksNotRunning, Note: m.slotsErr.Error()}, nil
	}
	want := ceil(largest(r), m.slots)
	if m.pool.asked != want && !slices.Equal(uniform(m.topology, m.pool.asked*m.slots), r) {
		return core.Carried{Reason: core.ReasonForeignWriter, Note: fmt.Sprintf("%d TaskManagers are asked for now, not %d: somebody else changed that", m.pool.asked, want)}, nil
	}
	return m.pool.come(ctx, m.pool)
}
