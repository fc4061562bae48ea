package k8s

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"flinkscaler/core"
)

// Options of Flink and of its operator that decide how a job can be changed.
const (
	keyScheduler     = "jobmanager.scheduler"
	keySchedulerMode = "scheduler-mode"
	keyInPlace       = "kubernetes.operator.job.upgrade.inplace-scaling.enabled"
	keySavepoints    = "state.savepoints.dir"
	keySavepoints2   = "execution.checkpointing.savepoint-dir" // from Flink 2.0 on
)

// adaptive is true where the options have the adaptive scheduler.
func adaptive(options map[string]string) bool {
	return strings.EqualFold(options[keyScheduler], "adaptive") || reactive(options)
}

// reactive is true where a job takes all slots that there are.
func reactive(options map[string]string) bool {
	return strings.EqualFold(options[keySchedulerMode], "reactive")
}

// operatorMethod is for a job of the Apache operator in native mode, of its own
// cluster or on a session cluster. Both ways write the overrides key alone; what
// Flink runs with decides what the operator makes of that.
func operatorMethod(ctx context.Context, v *view) (method, error) {
	o := operated{v}
	if why := o.refused(); why != "" {
		return unsafe{why}, nil
	}
	asked, err := wishOf(o)
	if err != nil {
		return unsafe{err.Error() + "; the operator cannot read it and would lose the job at the next change: correct it"}, nil //nolint:nilerr // it is the reason
	}
	running, err := v.flink.JobOptions(ctx, v.job)
	if err != nil {
		return nil, err
	}
	written := v.options()
	switch {
	case reactive(running):
		return unsafe{"scheduler-mode is reactive, which native mode does not know; take it out"}, nil
	case !adaptive(running) || !rescales(v.base.text("spec", "flinkVersion")):
		return upgradeMethod(asked, running, written), nil
	case strings.EqualFold(written[keyInPlace], "false"):
		return unsafe{keyInPlace + " is false: each change would restart the job although its scheduler need not; take it out"}, nil
	}
	return inPlace{asked}, nil
}

// upgradeMethod is for a job that is stopped and started again for each change.
func upgradeMethod(asked wish, options ...map[string]string) method {
	if asked.upgradeMode() != "savepoint" {
		return upgrade{asked}
	}
	for _, each := range options {
		if each[keySavepoints] != "" || each[keySavepoints2] != "" {
			return upgrade{asked}
		}
	}
	return unsafe{"each change stops the job with a savepoint, and there is no place for one: set " + keySavepoints}
}

// rescales is true for a Flink that the operator changes in place, 1.18 and later.
func rescales(version string) bool {
	var major, minor int
	if n, err := fmt.Sscanf(version, "v%d_%d", &major, &minor); n != 2 || err != nil {
		return false
	}
	return major > 1 || minor >= 18
}

// sessionMethod is for a job on a session cluster that no FlinkSessionJob stands
// for. There is nothing to write its sizes to, so Flink alone is told: who submits
// the job anew gives it its sizes.
func sessionMethod(ctx context.Context, v *view) (method, error) {
	owner, err := v.sessionJob(ctx)
	if err != nil {
		return nil, err
	}
	if owner != "" {
		return unsafe{"the job is that of FlinkSessionJob " + owner + ": name that as the target"}, nil
	}
	running, err := v.flink.JobOptions(ctx, v.job)
	switch {
	case err != nil:
		return nil, err
	case !adaptive(running):
		return unsafe{"nothing can change the size of a job on a session cluster but the adaptive scheduler: set jobmanager.scheduler: adaptive, or submit it as a FlinkSessionJob"}, nil
	}
	return direct{v, "flink-in-place"}, nil
}

// sessionJob names the FlinkSessionJob that the job is of, empty for none.
func (v *view) sessionJob(ctx context.Context) (string, error) {
	all, err := v.cluster.list(ctx, flinkSessionJob{}.resource(), v.target.Namespace, "")
	if errors.Is(err, core.ErrNotFound) { // the kind is not installed
		return "", nil
	}
	for _, o := range all {
		if o.text("status", "jobStatus", "jobId") == v.job.ID {
			return o.GetName(), nil
		}
	}
	return "", err
}
