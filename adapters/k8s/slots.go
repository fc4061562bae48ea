package k8s

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

const keySlots = "taskmanager.numberOfTaskSlots"

// slotsPer gives the slots of one TaskManager: of those that are registered, else
// what the options of the JobManager, or of the object, say. It is never guessed:
// core.ErrNotReady while it cannot be known.
func slotsPer(managers []flink.TaskManager, options ...map[string]string) (int, error) {
	n := 0
	for _, tm := range managers {
		if n > 0 && tm.Slots != n {
			return 0, fmt.Errorf("%w: some TaskManagers have %d slots and some %d", core.ErrNotReady, n, tm.Slots)
		}
		n = tm.Slots
	}
	if n > 0 {
		return n, nil
	}
	for _, o := range options {
		if n, err := strconv.Atoi(strings.TrimSpace(o[keySlots])); err == nil && n > 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: no TaskManager is registered, and %s is not set: how many slots one has is not known", core.ErrNotReady, keySlots)
}

// slotsPer reads the slots of one TaskManager of the view's Flink.
func (v *view) slotsPer(ctx context.Context) (int, error) {
	managers, err := v.flink.TaskManagers(ctx)
	if err != nil {
		return 0, err
	}
	options, err := v.flink.ClusterOptions(ctx)
	if err != nil {
		return 0, err
	}
	n, err := slotsPer(managers, options, v.options())
	if err != nil {
		return 0, &core.OpError{Op: "count slots", Subject: v.target.Name, Err: err}
	}
	return n, nil
}

// graph reads the job's graph as it runs. core.ErrNotFound: it has ended;
// core.ErrNotReady: it waits for slots, and Flink shows no graph.
func (v *view) graph(ctx context.Context) (core.Topology, error) {
	status, err := v.flink.Status(ctx, v.job)
	switch {
	case err != nil:
		return core.Topology{}, err
	case status.State.Ended():
		err = fmt.Errorf("%w: the job is %s", core.ErrNotFound, status.State)
	case len(status.Topology.Vertices) == 0:
		err = fmt.Errorf("%w: the job is %s and shows no graph", core.ErrNotReady, status.State)
	default:
		return status.Topology, nil
	}
	return core.Topology{}, &core.OpError{Op: "read job", Subject: v.job.ID, Err: err}
}
