package kubesim

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// observe looks at the Deployment and at Flink. Nothing of the spec matters.
func (o *Operator) observe(ctx context.Context, s *subject) error {
	if s.reconciled == nil || (s.between()) {
		return nil
	}
	if s.resource == flinkDeployments {
		if err := o.observeManager(ctx, s); err != nil {
			return err
		}
		if s.status.JobManager != managerReady {
			return nil
		}
	}
	if s.job() == nil {
		s.status.Reconciliation.Stable = s.status.Reconciliation.Reconciled
		return nil
	}
	return o.observeJob(ctx, s)
}

// observeManager follows a JobManager until its REST API answers. One that was
// ready stays so, whatever becomes of it, as long as its Deployment is there.
func (o *Operator) observeManager(ctx context.Context, s *subject) error {
	d, err := o.api.get(ctx, deployments, s.key())
	if err != nil {
		return err
	}
	switch {
	case d == nil:
		s.status.JobManager = managerMissing
	case s.status.JobManager == managerReady:
	case s.status.JobManager == managerUp:
		if _, err := o.flink(s).jobs(ctx); err == nil {
			s.status.JobManager = managerReady
		}
	case nestedInt(d, "status", "availableReplicas") > 0:
		s.status.JobManager = managerUp
	default:
		s.status.JobManager = managerStarting
	}
	return nil
}

// observeJob finds the job in Flink's list.
func (o *Operator) observeJob(ctx context.Context, s *subject) error {
	if s.suspended() {
		return nil
	}
	all, err := o.flink(s).jobs(ctx)
	if err != nil {
		if s.status.Job.State == jobRunning {
			s.status.Job.State = jobReconciling
		}
		return nil //nolint:nilerr // shown as RECONCILING, asked again
	}
	for _, j := range all {
		if j.ID == s.status.Job.ID {
			return o.found(ctx, s, j)
		}
	}
	s.status.Job.State = jobReconciling
	if o.old() {
		return nil // it says nothing
	}
	const lost = "Job Not Found"
	s.status.Error = lost
	return o.api.tell(ctx, s.o, note{"Job", "Missing", lost, true})
}

func (o *Operator) found(ctx context.Context, s *subject, j flinkJob) error {
	before := s.status.Job.State
	s.status.Job.State, s.status.Job.Name = j.State, j.Name
	s.status.Job.StartTime = strconv.FormatInt(j.Start, 10)
	if before != j.State {
		s.status.Job.UpdateTime = strconv.FormatInt(time.Now().UnixMilli(), 10)
		if o.fault(s).Error == "" {
			s.status.Error = ""
		}
		text := fmt.Sprintf("Job status changed from %s to %s", before, j.State)
		if err := o.api.tell(ctx, s.o, note{"Job", "JobStatusChanged", text, false}); err != nil {
			return err
		}
	}
	return o.judge(ctx, s)
}

// judge says whether the spec is proven. From 1.8 on a running job is enough;
// before, a rescale under way must have reached its vertices.
func (o *Operator) judge(ctx context.Context, s *subject) error {
	r := &s.status.Reconciliation
	if s.status.Job.State != jobRunning {
		return nil
	}
	if r.State == upgradingState && !s.between() {
		if !o.old() || o.pending(s) {
			return nil
		}
		reached, err := o.reached(ctx, s)
		if err != nil || !reached {
			r.Time = time.Now().UnixMilli()
			return err
		}
		r.State = deployedState
	}
	if r.State == deployedState {
		r.Stable = r.Reconciled
	}
	return nil
}

// pending is true when the spec moved since it was reconciled.
func (o *Operator) pending(s *subject) bool { return s.observed() != s.o.GetGeneration() }

// reached is true when every overridden vertex runs at its number.
func (o *Operator) reached(ctx context.Context, s *subject) (bool, error) {
	want, err := parseOverrides(flatten(asMap(s.reconciled.Spec["flinkConfiguration"]))[keyOverrides])
	if err != nil {
		return false, err
	}
	have, err := o.flink(s).parallelisms(ctx, s.status.Job.ID)
	if err != nil {
		return false, nil //nolint:nilerr // asked again
	}
	for id, n := range want {
		if at, known := have[id]; known && at != n {
			return false, nil
		}
	}
	return true, nil
}

// flink is the REST API behind a resource.
func (o *Operator) flink(s *subject) flinkREST {
	conf := o.effective(s.spec)
	if s.reconciled != nil && s.resource == flinkDeployments {
		conf = o.effective(s.reconciled.Spec)
	}
	if s.session != nil {
		conf = s.session
	}
	return flinkAt(number(conf, keyRestPort, 8081))
}
