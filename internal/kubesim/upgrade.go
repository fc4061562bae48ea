package kubesim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"
)

// Ways to stop a job for an upgrade, as spec.job.upgradeMode names them.
const (
	stateless = "stateless"
	savepoint = "savepoint"
	lastState = "last-state"
)

// firstDeployment takes the spec as it is; the way to stop is shown as
// stateless, since there is nothing to stop.
func (o *Operator) firstDeployment(ctx context.Context, s *subject) error {
	spec := withMode(s.spec, stateless)
	o.mark(s, spec, upgradingState, "suspended")
	if s.resource == flinkDeployments {
		s.status.JobManager = managerMissing
	}
	o.setSize(s, false)
	if err := o.save(ctx, s); err != nil {
		return err
	}
	return o.deploy(ctx, s)
}

// withMode gives a spec with another way to stop.
func withMode(spec map[string]any, mode string) map[string]any {
	out := clone(spec)
	if j := asMap(out["job"]); j != nil {
		j["upgradeMode"] = mode
	}
	return out
}

func modeOf(spec map[string]any) string {
	if mode, _ := asMap(spec["job"])["upgradeMode"].(string); mode != "" {
		return mode
	}
	return stateless
}

// suspend is the first half of a full upgrade: the job is stopped. Until that
// is done nothing of it shows in the resource.
func (o *Operator) suspend(ctx context.Context, s *subject) error {
	mode, possible := o.wayToStop(s)
	if !possible {
		return nil // it waits for the job to run
	}
	begin := time.Now()
	if s.job() != nil && !s.suspended() {
		if err := o.api.tell(ctx, s.o, note{managerComponent, "Suspended", "Suspending existing deployment.", false}); err != nil {
			return err
		}
		if problem := o.stopJob(ctx, s, mode); problem != "" {
			return o.fail(ctx, s, "SavepointError", problem)
		}
	}
	if err := pause(ctx, o.opt.StaleFor-time.Since(begin)); err != nil {
		return err
	}
	if stateOf(s.spec) == "suspended" {
		return o.keepSuspended(ctx, s)
	}
	o.mark(s, withMode(s.spec, mode), upgradingState, "suspended")
	o.setSize(s, false)
	return o.save(ctx, s)
}

// keepSuspended ends an upgrade to a job that shall not run.
func (o *Operator) keepSuspended(ctx context.Context, s *subject) error {
	if s.resource == flinkDeployments {
		if err := o.tearDown(ctx, s); err != nil {
			return err
		}
		s.status.JobManager = managerMissing
	}
	o.mark(s, s.spec, deployedState, "suspended")
	s.status.Reconciliation.Stable = s.status.Reconciliation.Reconciled
	o.setSize(s, false)
	return o.save(ctx, s)
}

// wayToStop is how the job can be stopped now. A savepoint needs a job that
// runs, last-state needs HA.
func (o *Operator) wayToStop(s *subject) (string, bool) {
	mode := modeOf(s.spec)
	ha := s.session == nil && hasHA(o.effective(s.reconciled.Spec))
	switch {
	case s.job() == nil, mode == stateless, hasEnded(s.status.Job.State):
		return mode, true
	case mode == savepoint && s.status.Job.State == jobRunning:
		return mode, true
	case ha:
		return lastState, true
	}
	return mode, false
}

// stopJob stops the job and remembers where its state is. It gives what Flink
// has against it.
func (o *Operator) stopJob(ctx context.Context, s *subject, mode string) string {
	if hasEnded(s.status.Job.State) {
		return ""
	}
	place := ""
	switch mode {
	case stateless:
		if err := o.flink(s).cancel(ctx, s.status.Job.ID); err != nil && !isGone(err) {
			return err.Error()
		}
	case savepoint:
		dir := o.savepointDir(s)
		if dir == "" {
			return "Job could not be upgraded with savepoint while config key[state.savepoints.dir] is not set"
		}
		var err error
		if place, err = o.flink(s).stop(ctx, s.status.Job.ID, dir); err != nil {
			return err.Error()
		}
	}
	s.status.Job.State = jobFinished
	o.rememberSavepoint(s, place)
	return ""
}

func (o *Operator) savepointDir(s *subject) string {
	conf := o.effective(s.spec)
	for _, c := range []map[string]string{conf, s.session} {
		for _, key := range []string{"execution.checkpointing.savepoint-dir", "state.savepoints.dir"} {
			if c[key] != "" {
				return c[key]
			}
		}
	}
	return ""
}

// rememberSavepoint shows where the state is; up to 1.7 among the savepoints.
func (o *Operator) rememberSavepoint(s *subject, place string) {
	s.status.Job.UpgradeSavepoint = ""
	s.status.Job.Savepoints.Last = nil
	switch {
	case place == "":
	case o.old():
		s.status.Job.Savepoints.Last = &savepointTaken{place, time.Now().UnixMilli(), "UPGRADE", "CANONICAL"}
	default:
		s.status.Job.UpgradeSavepoint = place
	}
}

// state is the savepoint that the job begins with, empty for none.
func (s *subject) state() string {
	if s.status.Job.UpgradeSavepoint != "" {
		return s.status.Job.UpgradeSavepoint
	}
	if last := s.status.Job.Savepoints.Last; last != nil {
		return last.Location
	}
	if s.status.Job.ID == "" {
		place, _ := s.job()["initialSavepointPath"].(string)
		return place
	}
	return ""
}

// deploy is the second half of an upgrade: what was there goes, and the spec as
// it is now comes.
func (o *Operator) deploy(ctx context.Context, s *subject) error {
	from, mode := s.state(), modeOf(s.reconciled.Spec)
	if s.resource == flinkDeployments {
		if err := o.tearDown(ctx, s); err != nil {
			return err
		}
		s.status.JobManager = managerMissing
		if err := o.save(ctx, s); err != nil {
			return err
		}
	}
	if s.job() != nil && o.needsJobID(s, mode) {
		s.status.Job.ID = newJobID()
		if s.resource == flinkDeployments { // that of a session job shows once it is submitted
			if err := o.save(ctx, s); err != nil {
				return err
			}
		}
	}
	if err := o.submit(ctx, s, from); err != nil {
		return err
	}
	spec := s.spec
	if s.status.Reconciliation.Stable == "" {
		spec = withMode(spec, stateless)
	}
	o.mark(s, spec, deployedState, "running")
	if s.job() != nil {
		s.status.Job.State = jobReconciling
	}
	o.setSize(s, true)
	return o.save(ctx, s)
}

// submit makes what runs the job, or the session cluster.
func (o *Operator) submit(ctx context.Context, s *subject, from string) error {
	component := managerComponent
	if s.resource == flinkSessionJobs {
		component = "Job"
	}
	if s.job() != nil {
		if err := o.api.tell(ctx, s.o, note{component, "Submit", "Starting deployment", false}); err != nil {
			return err
		}
	}
	if s.resource == flinkSessionJobs {
		return o.runInSession(ctx, s, from)
	}
	s.status.JobManager = managerStarting
	return o.createCluster(ctx, s, from)
}

// needsJobID is true when the next deployment is another job: from 1.8 on after
// every upgrade that does not leave the job to HA. A session cluster runs an id once,
// so a session job gets another one in every release.
func (o *Operator) needsJobID(s *subject, mode string) bool {
	return s.status.Job.ID == "" || s.resource == flinkSessionJobs || (!o.old() && mode != lastState)
}

func newJobID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return strings.ToLower(hex.EncodeToString(b))
}
