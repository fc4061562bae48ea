package kubesim

import (
	"context"
	"strings"
)

// scaleInPlace changes the size of a job without stopping it. It is false when
// that is not possible: then a full upgrade follows.
func (o *Operator) scaleInPlace(ctx context.Context, s *subject) (bool, error) {
	if isStandalone(s.spec) {
		return o.scaleReactive(ctx, s)
	}
	if !o.mayScale(s) {
		return false, nil
	}
	want, err := parseOverrides(o.effective(s.spec)[keyOverrides])
	if err != nil {
		return false, nil //nolint:nilerr // as the operator does: it goes on with a full upgrade
	}
	before, err := parseOverrides(o.previous(s)[keyOverrides])
	if err != nil {
		return false, nil //nolint:nilerr // the same
	}
	changed, possible := o.demand(ctx, s, before, want)
	if !possible {
		return false, nil
	}
	if changed {
		if err := o.api.tell(ctx, s.o, note{"Job", "Scaling", "In-place scaling triggered", false}); err != nil {
			return false, err
		}
	}
	state := deployedState
	if o.old() && changed {
		state = upgradingState
	}
	o.mark(s, s.spec, state, "running")
	return true, o.save(ctx, s)
}

// previous is the configuration in which removed entries are looked for. Up to
// 1.7 that of a session job is not found: it was looked for in the session
// cluster's.
func (o *Operator) previous(s *subject) map[string]string {
	if o.old() && s.session != nil {
		return s.session
	}
	return flatten(asMap(s.reconciled.Spec["flinkConfiguration"]))
}

// mayScale says whether a native job can be rescaled in place at all.
func (o *Operator) mayScale(s *subject) bool {
	conf := o.effective(s.reconciled.Spec)
	if s.session != nil {
		conf = s.session
	}
	return s.job() != nil && isAdaptive(conf) && !isReactive(conf) &&
		!strings.EqualFold(o.effective(s.spec)[keyInPlace], "false") &&
		o.isNewFlink(s) && s.status.Job.State != jobReconciling && !hasEnded(s.status.Job.State)
}

// isNewFlink is true from Flink 1.18 on: before, requirements cannot be set.
func (o *Operator) isNewFlink(s *subject) bool {
	v, _ := s.spec["flinkVersion"].(string)
	return v == "" || v >= "v1_18" // v1_13 to v1_20, v2_0 and on
}

func hasEnded(state string) bool {
	return state == jobFinished || state == "FAILED" || state == "CANCELED"
}

// demand asks Flink for the sizes wanted. changed is false when it has them
// already; possible is false when Flink refuses, or when a vertex loses its
// override.
func (o *Operator) demand(ctx context.Context, s *subject, before, want map[string]int) (changed, possible bool) {
	f := o.flink(s)
	have, err := f.requirements(ctx, s.status.Job.ID)
	if err != nil {
		return false, false
	}
	for id, r := range have {
		n, wanted := want[id]
		if !wanted {
			if _, had := before[id]; had {
				return false, false
			}
			continue
		}
		next := bound{Lower: min(r.Parallelism.Lower, n), Upper: n}
		if o.old() {
			next.Lower = n
		}
		if next != r.Parallelism {
			changed = true
		}
		have[id] = requirement{next}
	}
	if changed && f.require(ctx, s.status.Job.ID, have) != nil {
		return false, false
	}
	return changed, true
}

// scaleReactive changes the replicas of the TaskManagers of a standalone
// cluster, to which Flink reacts by itself.
func (o *Operator) scaleReactive(ctx context.Context, s *subject) (bool, error) {
	if !isReactive(o.effective(s.reconciled.Spec)) {
		return false, nil
	}
	key := name{Namespace: s.o.GetNamespace(), Name: s.o.GetName() + "-taskmanager"}
	patch := map[string]any{"spec": map[string]any{"replicas": o.managers(s)}}
	if err := o.api.patch(ctx, deployments, key, patch); err != nil {
		return false, err
	}
	if err := o.api.tell(ctx, s.o, note{"Job", "Scaling", "In-place scaling triggered", false}); err != nil {
		return false, err
	}
	o.mark(s, s.spec, deployedState, "running")
	o.setSize(s, true)
	return true, o.save(ctx, s)
}

// managers is how many TaskManagers a standalone cluster has.
func (o *Operator) managers(s *subject) int {
	if n := asInt(asMap(s.spec["taskManager"])["replicas"]); n > 0 {
		return n
	}
	slots := number(o.effective(s.spec), keySlots, 1)
	return (o.parallelism(s.spec) + slots - 1) / slots
}
