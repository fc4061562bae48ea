package kubesim

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// finalizer of a resource.
func finalizer(r resource) string { return r.Resource + ".flink.apache.org/finalizer" }

// adopt puts the finalizer on. Up to 1.7 that is a write of the whole object,
// which fills in defaults and so makes a second generation.
func (o *Operator) adopt(ctx context.Context, s *subject) (bool, error) {
	for _, f := range s.o.GetFinalizers() {
		if f == finalizer(s.resource) {
			return false, nil
		}
	}
	if !o.old() {
		return true, o.api.patch(ctx, s.resource, s.key(), map[string]any{"metadata": map[string]any{
			"finalizers": append(s.o.GetFinalizers(), finalizer(s.resource)), "resourceVersion": s.o.GetResourceVersion(),
		}})
	}
	whole := s.o.DeepCopy()
	whole.SetFinalizers(append(whole.GetFinalizers(), finalizer(s.resource)))
	if s.job() != nil {
		if err := unstructured.SetNestedField(whole.Object, "running", "spec", "job", "state"); err != nil {
			return false, err
		}
	}
	if s.resource == flinkDeployments && nested(whole, "spec", "jobManager") != nil {
		if err := unstructured.SetNestedField(whole.Object, int64(1), "spec", "jobManager", "replicas"); err != nil {
			return false, err
		}
	}
	_, err := o.api.Resource(s.resource).Namespace(s.o.GetNamespace()).Update(ctx, whole, metav1.UpdateOptions{FieldManager: "fabric8-kubernetes-client"})
	if err != nil {
		return false, fmt.Errorf("adopt %s: %w", s.key(), err)
	}
	return true, nil
}

// reconcileDeployment looks at Flink, shows what it saw, and then carries out
// what the spec asks for.
func (o *Operator) reconcileDeployment(ctx context.Context, s *subject) error {
	if err := o.observe(ctx, s); err != nil {
		return err
	}
	if s.reconciled != nil {
		if err := o.save(ctx, s); err != nil {
			return err
		}
	}
	if valid, err := o.validate(ctx, s); !valid || err != nil {
		return err
	}
	if err := o.overlay(ctx, s); err != nil {
		return err
	}
	return o.act(ctx, s)
}

// validate keeps to the spec reconciled last when the new one is not possible.
func (o *Operator) validate(ctx context.Context, s *subject) (bool, error) {
	problem := ""
	for _, key := range []string{"kubernetes.namespace", "kubernetes.cluster-id", "high-availability.cluster-id"} {
		if flatten(asMap(s.spec["flinkConfiguration"]))[key] != "" {
			problem = "Forbidden Flink config key: " + key
		}
	}
	if j := s.job(); j != nil && j["parallelism"] != nil && asInt(j["parallelism"]) < 1 {
		problem = "Job parallelism must be larger than 0"
	}
	if problem == "" {
		return true, nil
	}
	if err := o.fail(ctx, s, "ValidationError", problem); err != nil {
		return false, err
	}
	return false, nil
}

// fail shows an error in the status and as an Event.
func (o *Operator) fail(ctx context.Context, s *subject, reason, text string) error {
	changed := s.status.Error != text
	s.status.Error = text
	if err := o.save(ctx, s); err != nil || !changed {
		return err
	}
	return o.api.tell(ctx, s.o, note{"Operator", reason, text, true})
}

// act carries out what the spec asks for beyond what was reconciled last.
func (o *Operator) act(ctx context.Context, s *subject) error {
	if s.reconciled == nil {
		return o.firstDeployment(ctx, s)
	}
	if s.between() {
		return o.deploy(ctx, s)
	}
	d := o.difference(s)
	if d.class < scaling {
		return o.accept(ctx, s)
	}
	if err := o.announce(ctx, s, d); err != nil {
		return err
	}
	if f := o.fault(s); f.Error != "" {
		return o.fail(ctx, s, "Error", f.Error)
	} else if f.RollBack {
		return o.rollBack(ctx, s)
	}
	if d.class == scaling {
		if scaled, err := o.scaleInPlace(ctx, s); scaled || err != nil {
			return err
		}
	}
	return o.suspend(ctx, s)
}

// difference is what the spec asks for. The job's state counts as the spec has
// it: what lastReconciledSpec says of it is the operator's own doing.
func (o *Operator) difference(s *subject) specDiff {
	before, after := clone(s.reconciled.Spec), clone(s.spec)
	if j := asMap(after["job"]); j != nil && j["state"] == nil {
		j["state"] = "running"
	}
	return compare(s.kind, before, after)
}

func clone(spec map[string]any) map[string]any {
	out := map[string]any{}
	if err := convert(spec, &out); err != nil {
		panic(err) // it came from JSON
	}
	return out
}

// accept takes note of a spec that changes nothing.
func (o *Operator) accept(ctx context.Context, s *subject) error {
	if o.observedNow(s) {
		return nil
	}
	if o.old() {
		o.mark(s, s.spec, deployedState, stateOf(s.reconciled.Spec)) // shown as DEPLOYED until the next look
	}
	o.observeGeneration(s)
	return o.save(ctx, s)
}

func (o *Operator) observedNow(s *subject) bool { return s.observed() == s.o.GetGeneration() }

func stateOf(spec map[string]any) string {
	state, _ := asMap(spec["job"])["state"].(string)
	return state
}

// announce records the change as an Event, once.
func (o *Operator) announce(ctx context.Context, s *subject, d specDiff) error {
	text := fmt.Sprintf("%s change(s) detected (%s), starting reconciliation.", d.class, d)
	o.mu.Lock()
	known := o.told[s.id()] == text
	o.told[s.id()] = text
	o.mu.Unlock()
	if known {
		return nil
	}
	return o.api.tell(ctx, s.o, note{managerComponent, "SpecChanged", text, false})
}

// managerComponent is what most Events come from, those on session jobs too.
const managerComponent = "JobManagerDeployment"

// rollBack keeps the spec that was stable: what the CR asks for stays in it.
func (o *Operator) rollBack(ctx context.Context, s *subject) error {
	s.status.Reconciliation.State = rolledBackState
	o.observeGeneration(s)
	if err := o.save(ctx, s); err != nil {
		return err
	}
	o.rolledBack(s)
	return o.api.tell(ctx, s.o, note{managerComponent, "Rollback", "Rolling back failed deployment.", false})
}

// cleanup ends what belongs to a resource that is deleted, and lets it go.
func (o *Operator) cleanup(ctx context.Context, s *subject) error {
	if err := o.api.tell(ctx, s.o, note{"Operator", "Cleanup", "Cleaning up " + s.kind, false}); err != nil {
		return err
	}
	if err := o.inSession(ctx, s); err == nil && s.status.Job.ID != "" {
		_ = o.flink(s).cancel(ctx, s.status.Job.ID) // it may be gone
	}
	if s.resource == flinkDeployments {
		if err := o.tearDown(ctx, s); err != nil {
			return err
		}
	}
	var left []any
	for _, f := range s.o.GetFinalizers() {
		if f != finalizer(s.resource) {
			left = append(left, f)
		}
	}
	return o.api.patch(ctx, s.resource, s.key(), map[string]any{"metadata": map[string]any{"finalizers": left}})
}

// tearDown removes the workloads, and waits until they are gone.
func (o *Operator) tearDown(ctx context.Context, s *subject) error {
	for _, n := range []string{s.o.GetName(), s.o.GetName() + "-taskmanager"} {
		if err := o.remove(ctx, name{Namespace: s.o.GetNamespace(), Name: n}); err != nil {
			return err
		}
	}
	return nil
}

// goneWithin is how long the deletion of a Deployment may take.
const goneWithin = time.Minute

// remove deletes a Deployment in the foreground, from 1.8 on scaled to nothing
// first.
func (o *Operator) remove(ctx context.Context, key name) error {
	d, err := o.api.get(ctx, deployments, key)
	if err != nil || d == nil {
		return err
	}
	if !o.old() && nestedInt(d, "spec", "replicas") != 0 {
		if err := o.api.patch(ctx, deployments, key, map[string]any{"spec": map[string]any{"replicas": 0}}); err != nil {
			return err
		}
	}
	if d.GetDeletionTimestamp() == nil {
		if err := o.api.drop(ctx, deployments, key, metav1.DeletePropagationForeground); err != nil {
			return err
		}
	}
	for end := time.Now().Add(goneWithin); time.Now().Before(end); {
		if d, err = o.api.get(ctx, deployments, key); err != nil || d == nil {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("delete Deployment %s: still there after %s", key, goneWithin)
}

// isGone is true for the error of a job that Flink does not know any more.
func isGone(err error) bool {
	return err != nil && strings.Contains(err.Error(), fmt.Sprint(": ", http.StatusNotFound, " "))
}
