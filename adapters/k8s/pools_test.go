package k8s

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"flinkscaler/core"
)

func TestStandaloneFlinkDeployment(t *testing.T) {
	t.Parallel()
	last := func(n int) string { return fmt.Sprintf(`'{"spec":{"taskManager":{"replicas":%d}}}'`, n) }
	for name, c := range map[string]struct {
		reason, status, busy, waits string
	}{
		"stable":        {"done, and may be changed", "{observedGeneration: 4, lifecycleState: STABLE, reconciliationStatus: {lastReconciledSpec: " + last(3) + "}}", "", ""},
		"before 1.8":    {"that operator shows no generation", "{lifecycleState: STABLE, reconciliationStatus: {lastReconciledSpec: " + last(3) + "}}", "", ""},
		"deployed":      {"carried out, not proven: no other change yet", "{observedGeneration: 4, lifecycleState: DEPLOYED, reconciliationStatus: {lastReconciledSpec: " + last(3) + "}}", "DEPLOYED", ""},
		"stale":         {"STABLE is of the generation before", "{observedGeneration: 3, lifecycleState: STABLE, reconciliationStatus: {lastReconciledSpec: " + last(3) + "}}", "not seen", "it has 3"},
		"another spec":  {"seen, not carried out", "{observedGeneration: 4, lifecycleState: STABLE, reconciliationStatus: {lastReconciledSpec: " + last(2) + "}}", "", "it has 2"},
		"upgrading":     {"under way", "{observedGeneration: 4, lifecycleState: UPGRADING, reconciliationStatus: {lastReconciledSpec: " + last(3) + "}}", "UPGRADING", "UPGRADING"},
		"error":         {"the operator has a problem", "{observedGeneration: 4, lifecycleState: STABLE, error: no way, reconciliationStatus: {lastReconciledSpec: " + last(3) + "}}", "no way", "no way"},
		"nothing shown": {"no operator runs", "{}", "unknown", "it has none"},
		"no JSON":       {"nothing can be read there", "{observedGeneration: 4, lifecycleState: STABLE, reconciliationStatus: {lastReconciledSpec: nonsense}}", "", "it has none"},
	} {
		s := standalone{made(t, "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: orders, generation: 4}, status: "+c.status+"}")}
		if busy := s.busy(); (busy == "") != (c.busy == "") || !strings.Contains(busy, c.busy) {
			t.Errorf("%s (%s): busy %q, want %q", name, c.reason, busy, c.busy)
		}
		got, err := s.come(t.Context(), pool{asked: 3})
		if err != nil || got.Done != (c.waits == "") || !strings.Contains(got.Note, c.waits) {
			t.Errorf("%s (%s): %+v %v, want %q", name, c.reason, got, err, c.waits)
		}
	}
}

func TestWorkloadComes(t *testing.T) {
	t.Parallel()
	quota := "conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: 'pods \"tm\" is forbidden: exceeded quota: small'}]"
	for name, c := range map[string]struct {
		reason, status, busy, waits string
		why                         core.Reason
	}{
		"all there":  {"as many as wanted are ready", "{observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3}", "", "", ""},
		"not seen":   {"the numbers are of the generation before", "{observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3}", "", "not seen", core.ReasonNotCarried},
		"starting":   {"pods are there and not ready", "{observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 1}", "", "1 of 3", core.ReasonNotCarried},
		"some to go": {"more than wanted", "{observedGeneration: 2, replicas: 4, updatedReplicas: 4, readyReplicas: 4}", "", "4 of 3", core.ReasonNotCarried},
		"quota":      {"said as the reason", "{observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, " + quota + "}", "", "exceeded quota", core.ReasonNoRoom},
		"roll-out":   {"another template comes", "{observedGeneration: 2, replicas: 3, updatedReplicas: 1, readyReplicas: 2}", "rolled out", "2 of 3", core.ReasonNotCarried},
	} {
		o := made(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: tm, generation: 2}, status: "+c.status+"}")
		w := controlled{o}
		if busy := w.busy(); (busy == "") != (c.busy == "") || !strings.Contains(busy, c.busy) {
			t.Errorf("%s (%s): busy %q, want %q", name, c.reason, busy, c.busy)
		}
		got, err := w.come(t.Context(), pool{object: o, asked: 3})
		if err != nil || got.Done != (c.waits == "") || !strings.Contains(got.Note, c.waits) || got.Reason != c.why {
			t.Errorf("%s (%s): %+v %v, want %q", name, c.reason, got, err, c.waits)
		}
	}
}

func TestOwnedWorkload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, owners, want string }{
		"nobody":      {"made by a person", "[]", ""},
		"an operator": {"it would undo a change", "[{apiVersion: v1, kind: Something, name: x, uid: u, controller: true}]", "Something x"},
		"native":      {"the operator sets itself as owner, not as controller", "[{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: orders, uid: u}]", "FlinkDeployment orders"},
		"a bystander": {"it only goes when that goes", "[{apiVersion: v1, kind: ConfigMap, name: x, uid: u}]", ""},
	} {
		if got, is := owned(made(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: tm, ownerReferences: "+c.owners+"}}")); got != c.want || is != (c.want != "") {
			t.Errorf("%s (%s): %q %v", name, c.reason, got, is)
		}
	}
}

// TestReactiveIsCarried: what is asked for is compared with what was wanted.
func TestReactiveIsCarried(t *testing.T) {
	t.Parallel()
	graph := graphOf([]int{4, 3}, []int{128, 3})
	done := made(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: tm, generation: 1}, status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2}}")
	for name, c := range map[string]struct {
		reason string
		wanted core.Requirements
		done   bool
		why    core.Reason
	}{
		"as wanted":       {"two TaskManagers of two slots", bounds(4, 3), true, ""},
		"rounded":         {"three slots need two TaskManagers, too", bounds(3, 3), true, ""},
		"somebody else":   {"six were wanted, four are asked for", bounds(6, 3), false, core.ReasonForeignWriter},
		"fewer by others": {"two were wanted, four are asked for", bounds(2, 2), false, core.ReasonForeignWriter},
	} {
		m := takesAll{sized: sized{slots: 2, topology: graph}, pool: pool{object: done, asked: 2, ways: controlled{done}}}
		got, err := m.carried(t.Context(), c.wanted)
		if err != nil || got.Done != c.done || got.Reason != c.why {
			t.Errorf("%s (%s): %+v %v", name, c.reason, got, err)
		}
	}
	capped := takesAll{sized: sized{slots: 2, topology: graphOf([]int{3}, []int{3})}, pool: pool{object: done, asked: 2, ways: controlled{done}}}
	capped.pool.asked = 5
	held, err := capped.wanted(t.Context())
	if err != nil || largest(held) != 3 {
		t.Fatalf("%+v %v", held, err)
	}
	if got, err := capped.carried(t.Context(), held); err != nil || got.Reason == core.ReasonForeignWriter {
		t.Errorf("more TaskManagers than the job can use are nobody's change: %+v %v", got, err)
	}
	none := takesAll{sized: sized{slots: 2, topology: graph}, pool: pool{object: done}}
	if _, err := none.wanted(t.Context()); !errors.Is(err, core.ErrNotReady) {
		t.Errorf("no TaskManagers asked for: %v", err)
	}
}
