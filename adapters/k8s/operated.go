package k8s

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"flinkscaler/core"
)

// operated is a job of the Apache operator, with what the operator says about it.
type operated struct{ *view }

// explain adds how the operator sees the job to a failure to find it. A Flink that
// does not answer while its JobManager is not up yet has no leader.
func (o operated) explain(err error) error {
	manager := o.base.text("status", "jobManagerDeploymentStatus")
	silent := errors.Is(err, core.ErrUnreachable) || errors.Is(err, core.ErrNotFlink)
	meaning := error(nil)
	switch {
	case silent && o.suspended() && (manager == "MISSING" || manager == ""):
		meaning = fmt.Errorf("%w: no live job: it is suspended", core.ErrNotFound)
	case silent && manager != "" && manager != "READY":
		meaning = fmt.Errorf("%w: the JobManager is not ready", core.ErrNoLeader)
	default:
		return fmt.Errorf("%w; the operator says: %s", err, o.says())
	}
	return &core.OpError{Op: "find job", Subject: o.target.Name, Err: fmt.Errorf("%w; the operator says: %s", meaning, o.says())}
}

func (o operated) suspended() bool {
	return o.object.text("spec", "job", "state") == "suspended" || o.lifecycle() == "SUSPENDED"
}

func (o operated) lifecycle() string { return o.object.text("status", "lifecycleState") }

// jobState is Flink's, as the operator saw it last.
func (o operated) jobState() string { return o.object.text("status", "jobStatus", "state") }

// upgradeMode is how the operator replaces the job.
func (o operated) upgradeMode() string { return o.object.text("spec", "job", "upgradeMode") }

// says is how the operator sees the job, for people.
func (o operated) says() string {
	var parts []string
	for _, p := range []struct{ what, value string }{
		{"lifecycle ", o.lifecycle()},
		{"job ", o.jobState()},
		{"JobManager ", o.base.text("status", "jobManagerDeploymentStatus")},
		{"error: ", cut(o.object.text("status", "error"))},
	} {
		if p.value != "" {
			parts = append(parts, p.what+p.value)
		}
	}
	if len(parts) == 0 {
		return "nothing yet; does it run, and watch this namespace?"
	}
	return strings.Join(parts, ", ")
}

// sameJob holds what Flink runs against what the operator thinks that it runs.
// While a job is replaced they differ for a moment.
func (o operated) sameJob(job core.JobRef) error {
	known := o.object.text("status", "jobStatus", "jobId")
	if known == "" || known == job.ID {
		return nil
	}
	return &core.OpError{Op: "find job", Subject: o.target.Name,
		Err: fmt.Errorf("%w: Flink runs job %s, the operator knows it as %s: %s", core.ErrNotReady, job.ID, known, o.says())}
}

// refused says why the job must not be changed through the operator whatever its
// scheduler is, and what to do about it; empty for a job that may.
func (o operated) refused() string {
	switch mode := o.upgradeMode(); {
	case slices.Contains(o.owners(), "FlinkBlueGreenDeployment"):
		return "it belongs to a FlinkBlueGreenDeployment, which would put its own template back; blue-green deployments are not scaled"
	case o.suspended():
		return "it is suspended: set spec.job.state to running first"
	case strings.HasPrefix(o.lifecycle(), "ROLL"):
		return "the operator has rolled the job back (" + o.lifecycle() + "): the object holds a spec that does not run; correct it first"
	case mode == "stateless" || mode == "":
		// In place is never certain: when the operator's call to Flink fails, or takes
		// longer than its client waits, it falls back to a full upgrade, and a stateless
		// one starts the job empty.
		return "upgradeMode is stateless (which is what the operator takes where nothing is said): if the operator cannot change the job in place it would start it again without its state; set spec.job.upgradeMode to savepoint or last-state, which restarts nothing"
	case strings.EqualFold(o.base.text("spec", "mode"), "standalone"):
		return "its session cluster is in standalone mode, where the operator redeploys a job for each change of a vertex; only native mode is scaled"
	}
	return ""
}

// owners are the kinds of the objects that own the job, or its session cluster.
func (o operated) owners() []string {
	var out []string
	for _, each := range []*object{o.object, o.base} {
		for _, owner := range each.GetOwnerReferences() {
			out = append(out, owner.Kind)
		}
	}
	return out
}
