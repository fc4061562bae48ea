package kubesim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Releases of the Apache operator that can be played.
const (
	Operator115 = "1.15.0"
	Operator17  = "1.7.0"
)

// Options describe the operator. Every zero means the default.
type Options struct {
	// Version is Operator115 (the default) or Operator17.
	Version string
	// Namespaces to watch, all when empty.
	Namespaces []string
	// Config is the operator's own Flink configuration, under that of every
	// resource.
	Config map[string]string
	// ReconcileEvery is kubernetes.operator.reconcile.interval, 5 s (60 s in the
	// operator). ProgressEvery is for what is being deployed, 2 s, and RestDelay
	// between a JobManager that is up and its REST API, 1 s.
	ReconcileEvery, ProgressEvery, RestDelay time.Duration
	// StaleFor is how long a full upgrade runs at the least before anything of it
	// shows in the resource, 300 ms.
	StaleFor time.Duration
	// Log gets lines for people; nothing by default.
	Log func(format string, args ...any)
}

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = Operator115
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	for _, d := range []struct {
		d         *time.Duration
		byDefault time.Duration
	}{
		{&o.ReconcileEvery, 5 * time.Second}, {&o.ProgressEvery, 2 * time.Second},
		{&o.RestDelay, time.Second}, {&o.StaleFor, 300 * time.Millisecond},
	} {
		if *d.d == 0 {
			*d.d = d.byDefault
		}
	}
	return o
}

// Operator plays the Apache Flink Kubernetes operator.
type Operator struct {
	opt  Options
	api  *api
	loop *loop
	jobs *loop
	stop context.CancelFunc

	mu      sync.Mutex
	faults  map[name]Fault
	decided map[name]map[string]int // by the operator's own autoscaler, to come
	told    map[string]string       // the change that was announced last, by subject
	seen    map[string]time.Time    // when a change was seen first, for Fault.Delay
	passed  map[name]int            // how often a resource was not looked at
	halted  bool
}

// StartOperator serves FlinkDeployments and FlinkSessionJobs until Stop or the
// end of the context.
func StartOperator(ctx context.Context, config *rest.Config, opt Options) (*Operator, error) {
	opt = opt.withDefaults()
	if opt.Version != Operator115 && opt.Version != Operator17 {
		return nil, fmt.Errorf("kubesim: unknown operator %q, known are %s and %s", opt.Version, Operator115, Operator17)
	}
	a, err := newAPI(config, "flink-operator")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	o := &Operator{
		opt: opt, api: a, stop: stop,
		faults: map[name]Fault{}, decided: map[name]map[string]int{}, told: map[string]string{}, seen: map[string]time.Time{}, passed: map[name]int{},
	}
	o.loop = &loop{api: a, namespaces: opt.Namespaces, step: o.stepDeployment, log: opt.Log}
	o.jobs = &loop{api: a, namespaces: opt.Namespaces, step: o.stepSessionJob, log: opt.Log}
	err = o.loop.start(ctx,
		source{resource: flinkDeployments, keys: itself, onSpec: true},
		source{resource: deployments, selector: "component=jobmanager", keys: appOf})
	if err == nil {
		err = o.jobs.start(ctx, source{resource: flinkSessionJobs, keys: itself, onSpec: true})
	}
	if err != nil {
		o.Stop()
		return nil, err
	}
	return o, nil
}

// appOf is the FlinkDeployment of a JobManager.
func appOf(o *object) []name {
	return []name{{Namespace: o.GetNamespace(), Name: o.GetLabels()["app"]}}
}

// Stop ends the operator; everything that it made stays.
func (o *Operator) Stop() {
	o.stop()
	o.loop.done()
	o.jobs.done()
}

// old is true when 1.7.0 is played.
func (o *Operator) old() bool { return o.opt.Version == Operator17 }

// stepDeployment brings one FlinkDeployment further.
func (o *Operator) stepDeployment(ctx context.Context, key name) (time.Duration, error) {
	return o.work(ctx, flinkDeployments, key, o.reconcileDeployment)
}

// work reads a resource, keeps to the faults that are set, and lets do bring it
// further.
func (o *Operator) work(ctx context.Context, r resource, key name, do func(context.Context, *subject) error) (time.Duration, error) {
	s, err := o.load(ctx, r, key)
	if err != nil || s == nil {
		return 0, err
	}
	if wait := o.away(s); wait > 0 {
		return wait, nil
	}
	if s.o.GetDeletionTimestamp() != nil {
		return 0, o.cleanup(ctx, s)
	}
	if adopted, err := o.adopt(ctx, s); adopted || err != nil {
		return time.Millisecond, err
	}
	if err := do(ctx, s); err != nil {
		return 0, err
	}
	return o.next(s), nil
}

// next is when a resource is looked at again.
func (o *Operator) next(s *subject) time.Duration {
	switch {
	case s.between():
		return time.Millisecond
	case s.suspended():
		return o.opt.ReconcileEvery
	case s.status.JobManager == managerUp:
		return o.opt.RestDelay
	case s.status.JobManager == managerStarting || s.status.JobManager == managerMissing:
		return o.opt.ProgressEvery
	}
	return o.opt.ReconcileEvery
}
