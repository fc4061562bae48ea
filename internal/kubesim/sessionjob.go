package kubesim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errNoSession is a session cluster that is not there or not ready yet.
var errNoSession = errors.New("the session cluster is not ready")

// stepSessionJob brings one FlinkSessionJob further.
func (o *Operator) stepSessionJob(ctx context.Context, key name) (time.Duration, error) {
	return o.work(ctx, flinkSessionJobs, key, func(ctx context.Context, s *subject) error {
		if err := o.inSession(ctx, s); err != nil {
			if errors.Is(err, errNoSession) {
				return nil // it comes with the next look
			}
			return err
		}
		return o.reconcileDeployment(ctx, s)
	})
}

// inSession finds the configuration of the cluster that a session job runs on.
// Other resources have none.
func (o *Operator) inSession(ctx context.Context, s *subject) error {
	if s.resource != flinkSessionJobs {
		return nil
	}
	cluster, _ := s.spec["deploymentName"].(string)
	d, err := o.load(ctx, flinkDeployments, name{Namespace: s.o.GetNamespace(), Name: cluster})
	if err != nil {
		return err
	}
	if d == nil || d.reconciled == nil || d.status.JobManager != managerReady {
		return fmt.Errorf("%s: %s: %w", s.key(), cluster, errNoSession)
	}
	s.session = o.effective(d.reconciled.Spec)
	return nil
}

// runInSession submits the job to the session cluster.
func (o *Operator) runInSession(ctx context.Context, s *subject, from string) error {
	conf := map[string]string{}
	for key, value := range flatten(asMap(s.spec["flinkConfiguration"])) {
		if !ofOperator(key) {
			conf[key] = value
		}
	}
	list, _ := s.job()["args"].([]any)
	args := []string{}
	for _, a := range list {
		args = append(args, text(a))
	}
	body := map[string]any{
		"jobId": s.status.Job.ID, "parallelism": o.parallelism(s.spec), "programArgsList": args, "flinkConfiguration": conf,
	}
	if from != "" {
		body["savepointPath"] = from
	}
	if _, err := o.flink(s).run(ctx, body); err != nil {
		return err
	}
	return o.autoscalerMap(ctx, s)
}
