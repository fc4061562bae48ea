package k8s

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"flinkscaler/core"
)

// clusterJob changes spec.job.parallelism of a FlinkCluster, with the TaskManagers
// that it needs, in one patch: the operator stops the job with a savepoint and
// starts it from there. Two patches would not do: one of replicas alone is carried
// out without a savepoint, and the operator may mix up two in quick succession.
type clusterJob struct {
	*view
	pool pool
	sized
}

// clusterJobMethod is for the job of a FlinkCluster that is not in reactive mode.
func clusterJobMethod(ctx context.Context, v *view, p pool) (method, error) {
	m := clusterJob{view: v, pool: p}
	if why := m.lossy(); why != "" {
		return unsafe{why}, nil
	}
	var err error
	if m.sized, err = v.sizing(ctx); err != nil {
		return nil, err
	}
	if vertex, size, is := odd(m.topology); is && p.busy() == "" {
		return unsafe{fmt.Sprintf("vertex %q runs at %d and others at %d: the program sets parallelism by itself, and spec.job.parallelism does not reach it; leave it out of the program, or use the adaptive scheduler in reactive mode", cut(vertex.Name), vertex.Parallelism, size)}, nil
	}
	return m, nil
}

// lossy says how an update would lose state, empty where it would not.
func (m clusterJob) lossy() string {
	job := func(key string) string { return m.object.text("spec", "job", key) }
	switch {
	case job("savepointsDir") == "":
		return "an update of the job needs a savepoint: set spec.job.savepointsDir"
	case job("takeSavepointOnUpdate") == "false":
		return "an update would start the job from an old savepoint: leave out spec.job.takeSavepointOnUpdate, or set it to true"
	case job("fromSavepoint") != "":
		return "an update would start the job from spec.job.fromSavepoint again, and what it did since would be lost: take that out"
	case job("cancelRequested") == "true":
		return "spec.job.cancelRequested is set: the job is to end"
	}
	return ""
}

func (m clusterJob) means() core.Means {
	return core.Means{Method: "flinkcluster-job", Uniform: true, Restarts: true, Elastic: !m.follows(), Follows: m.follows(), Step: 1}
}

// parallelism is what the job is asked to have.
func (m clusterJob) parallelism() int {
	if n := m.object.number("spec", "job", "parallelism"); n > 0 {
		return n
	}
	return m.pool.asked * m.slots
}

func (m clusterJob) wanted(context.Context) (core.Requirements, error) {
	if err := m.known(); err != nil {
		return nil, err
	}
	return uniform(m.topology, m.parallelism()), nil
}

func (m clusterJob) known() error {
	if m.graphErr != nil {
		return m.graphErr
	}
	if m.parallelism() < 1 { // neither is set that tells
		return m.slotsErr
	}
	return nil
}

// need is how many slots the job takes at that parallelism.
func (m clusterJob) need(parallelism int) int {
	return m.topology.Slots(sizes(uniform(m.topology, parallelism)))
}

func (m clusterJob) want(ctx context.Context, decision string, r core.Requirements) error {
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
	if m.slotsErr != nil {
		return m.slotsErr
	}
	if err := m.ready(); err != nil {
		return m.pool.problem(err)
	}
	spec, err := m.patch(largest(r))
	if err != nil {
		return m.pool.problem(err)
	}
	return m.cluster.merge(ctx, m.pool.resource, m.object, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{AnnotationDecision: decision, AnnotationRevision: revised{m.object}.next()}},
		"spec":     spec,
	})
}

// patch is the change of the spec. While something else decides on the TaskManagers
// they are left alone, and the job gets no more than fits on them.
func (m clusterJob) patch(parallelism int) (map[string]any, error) {
	job := map[string]any{"parallelism": parallelism}
	need := m.need(parallelism)
	if !m.follows() {
		return map[string]any{"job": job, "taskManager": map[string]any{"replicas": max(1, ceil(need, m.slots))}}, nil
	}
	if there := m.pool.there * m.slots; need > there {
		return nil, fmt.Errorf("%w: it takes %d slots, the %d TaskManagers that are there have %d", core.ErrRefused, need, m.pool.there, there)
	}
	return map[string]any{"job": job}, nil
}

// ready says why an update must not begin now.
func (m clusterJob) ready() error {
	if why := m.pool.busy(); why != "" {
		return fmt.Errorf("%w: %s", core.ErrBusy, why)
	}
	if state := m.state(); !strings.EqualFold(state, "Running") {
		return fmt.Errorf("%w: the operator says that the job is %s: only one that runs can be stopped with a savepoint", core.ErrNotReady, orUnknown(state))
	}
	return nil
}

func (m clusterJob) state() string { return m.object.text("status", "components", "job", "state") }

func (m clusterJob) carried(ctx context.Context, r core.Requirements) (core.Carried, error) {
	if m.graphErr == nil && m.parallelism() > 0 && !slices.Equal(uniform(m.topology, m.parallelism()), r) {
		return core.Carried{Reason: core.ReasonForeignWriter, Note: fmt.Sprintf("spec.job.parallelism is %d now: somebody else changed it", m.parallelism())}, nil
	}
	if failed := m.savepointFailed(); failed != "" {
		return core.Carried{Reason: core.ReasonSavepoint, Note: failed}, nil
	}
	at, err := m.pool.come(ctx, m.pool)
	if err != nil || !at.Done {
		return at, err
	}
	if state := m.state(); !strings.EqualFold(state, "Running") {
		return outstanding("the operator says that the job is %s", orUnknown(state)), nil
	}
	return at, nil
}

// savepointFailed tells of the savepoint of an update that is stuck on it.
func (m clusterJob) savepointFailed() string {
	saved := func(key string) string { return m.object.text("status", "savepoint", key) }
	if m.pool.busy() == "" || saved("triggerReason") != "update" || !strings.Contains(strings.ToLower(saved("state")), "fail") {
		return ""
	}
	return "the savepoint before the update failed: " + cut(saved("message"))
}
