package k8s

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"flinkscaler/core"
)

// Trim gives back TaskManagers that the requirements in force do not need: those
// that hold no task, and those that were asked for and did not come. Where Flink,
// an operator or somebody else does that it does nothing.
//
// core.ErrNotReady: some have to wait until their tasks are gone. Flink calls a
// slot taken for a while after the last task left it (slot.idle.timeout), so the
// same call later is right.
func (c *Cluster) Trim(ctx context.Context, job core.JobRef, _ string) (string, error) {
	m, err := c.way(ctx, job)
	if err != nil {
		return "", err
	}
	if w, ok := m.(workers); ok {
		return w.trim(ctx)
	}
	return "", nil
}

func (m workers) trim(ctx context.Context) (string, error) {
	keep, err := m.keep(ctx)
	if err != nil || keep >= m.pool.asked {
		return "", err
	}
	managers, err := m.flink.TaskManagers(ctx)
	if err != nil {
		return "", err
	}
	found, unknown, err := m.pool.workers(ctx, managers)
	if err != nil {
		return "", err
	}
	if len(unknown) > 0 || len(managers) > len(found) {
		return "", m.pool.problem(fmt.Errorf("%w: %d TaskManagers run, which of the %d pods they are cannot be told", core.ErrNotReady, len(managers), len(found)))
	}
	s := spare{asked: m.pool.asked, keep: keep, first: m.pool.object.number("spec", "ordinals", "start"), workers: found}
	to := s.byOrdinal()
	if !m.pool.ordinals() {
		if to, err = m.mark(ctx, s); err != nil {
			return "", err
		}
	}
	return m.giveBack(ctx, s, to)
}

// giveBack writes the smaller number. What has to wait is told.
func (m workers) giveBack(ctx context.Context, s spare, to int) (string, error) {
	if err := m.pool.set(ctx, to); err != nil {
		return "", err
	}
	if to > s.keep {
		return "", m.pool.problem(fmt.Errorf("%w: %d TaskManagers are asked for and %d are needed, but tasks still run on %s", core.ErrNotReady, to, s.keep, strings.Join(s.busy(), ", ")))
	}
	return fmt.Sprintf("%d of %d TaskManagers were given back", s.asked-to, s.asked), nil
}

// keep is how many TaskManagers the requirements in force of all jobs need, one at
// least.
func (m workers) keep(ctx context.Context) (int, error) {
	slots, err := m.slotsPer(ctx)
	if err != nil {
		return 0, err
	}
	need, err := m.needed(ctx, func(string) bool { return true })
	return max(1, ceil(need, slots)), err
}

// spare is what there is of TaskManagers, to find out how many of them can go.
type spare struct {
	// asked are wanted now, keep are needed.
	asked, keep int
	// first is the number of a StatefulSet's first pod.
	first   int
	workers []worker
}

func (s spare) busy() []string {
	var out []string
	for _, w := range s.workers {
		if w.busy {
			out = append(out, w.name())
		}
	}
	return out
}

// byOrdinal is how far a StatefulSet can go down: it takes the pod with the highest
// number, whatever runs there. A number without a pod never came.
func (s spare) byOrdinal() int {
	at := map[int]worker{}
	for _, w := range s.workers {
		at[w.ordinal()] = w
	}
	to := s.asked
	for to > s.keep && !at[s.first+to-1].busy {
		to--
	}
	return to
}

// unready is how far a Deployment can go down for nothing: pods that it did not
// make, and those that are not ready, go first. One with tasks among these would
// go with them.
func (s spare) unready() int {
	never := max(0, s.asked-len(s.workers))
	n := never
	for _, w := range s.workers {
		switch {
		case w.ready:
		case w.busy:
			return max(s.keep, s.asked-never)
		default:
			n++
		}
	}
	return max(s.keep, s.asked-n)
}

// idle is how far it can go down when of the pods that are ready idle ones go
// first.
func (s spare) idle() int {
	n := s.unready()
	for _, w := range s.workers {
		if w.busy && !w.ready {
			return n
		}
	}
	return min(n, max(s.keep, len(s.busy())))
}

// annotationCost says which pods of a Deployment go first: those where it is less.
const annotationCost = "controller.kubernetes.io/pod-deletion-cost"

const costBusy, costIdle = "1000", "0"

// mark makes a Deployment keep the pods with tasks, and gives how far it can go down
// then. Without the right to patch pods it can only give back those that do no work
// at all.
func (m workers) mark(ctx context.Context, s spare) (int, error) {
	if s.idle() == s.unready() {
		return s.idle(), nil
	}
	for _, w := range s.workers {
		cost, marked := w.pod.GetAnnotations()[annotationCost]
		want := costIdle
		if w.busy {
			want = costBusy
		}
		if cost == want || !marked && !w.busy {
			continue
		}
		err := m.cluster.merge(ctx, podResource(), w.pod, map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotationCost: want}}})
		switch {
		case errors.Is(err, core.ErrUnauthorized):
			return s.unready(), nil
		case errors.Is(err, core.ErrNotFound): // it has gone by itself
		case err != nil:
			return 0, err
		}
	}
	return s.idle(), nil
}
