package kubesim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// status is that of a FlinkDeployment or FlinkSessionJob.
type status struct {
	Error              string         `json:"error,omitempty"`
	Lifecycle          string         `json:"lifecycleState,omitempty"`
	JobManager         string         `json:"jobManagerDeploymentStatus,omitempty"`
	ObservedGeneration *int64         `json:"observedGeneration,omitempty"`
	Job                jobStatus      `json:"jobStatus"`
	Reconciliation     reconciliation `json:"reconciliationStatus"`
	TaskManager        *taskManagers  `json:"taskManager,omitempty"`
}

type jobStatus struct {
	ID               string         `json:"jobId,omitempty"`
	Name             string         `json:"jobName,omitempty"`
	State            string         `json:"state,omitempty"`
	StartTime        string         `json:"startTime,omitempty"`
	UpdateTime       string         `json:"updateTime,omitempty"`
	UpgradeSavepoint string         `json:"upgradeSavepointPath,omitempty"`
	Savepoints       savepointsInfo `json:"savepointInfo"`
}

type savepointsInfo struct {
	Last *savepointTaken `json:"lastSavepoint,omitempty"`
}

type savepointTaken struct {
	Location string `json:"location"`
	Time     int64  `json:"timeStamp"`
	Trigger  string `json:"triggerType"`
	Format   string `json:"formatType"`
}

type reconciliation struct {
	State      string `json:"state,omitempty"`
	Time       int64  `json:"reconciliationTimestamp,omitempty"`
	Reconciled string `json:"lastReconciledSpec,omitempty"`
	Stable     string `json:"lastStableSpec,omitempty"`
}

type taskManagers struct {
	Selector string `json:"labelSelector"`
	Replicas int64  `json:"replicas"`
}

// States of a reconciliation and of a JobManager's Deployment.
const (
	deployedState   = "DEPLOYED"
	upgradingState  = "UPGRADING"
	rolledBackState = "ROLLED_BACK"

	managerMissing  = "MISSING"
	managerStarting = "DEPLOYING"
	managerUp       = "DEPLOYED_NOT_READY"
	managerReady    = "READY"

	jobRunning     = "RUNNING"
	jobReconciling = "RECONCILING"
	jobFinished    = "FINISHED"
)

// reconciled is what lastReconciledSpec holds.
type reconciled struct {
	Spec map[string]any `json:"spec"`
	Meta struct {
		APIVersion string `json:"apiVersion"`
		Metadata   *struct {
			Generation int64 `json:"generation"`
		} `json:"metadata,omitempty"` // up to 1.7
		First bool `json:"firstDeployment"`
	} `json:"resource_metadata"`
}

// subject is a resource that is worked on, as it was read once.
type subject struct {
	o          *object
	kind       string
	resource   resource
	spec       map[string]any // of the CR, with what the operator's autoscaler lays over it
	status     status
	reconciled *reconciled       // nil before the first deployment
	session    map[string]string // configuration of the session cluster that a job runs on
	written    status
}

// load reads a resource; nil when it is gone.
func (o *Operator) load(ctx context.Context, r resource, key name) (*subject, error) {
	cr, err := o.api.get(ctx, r, key)
	if err != nil || cr == nil {
		return nil, err
	}
	s := &subject{o: cr, kind: cr.GetKind(), resource: r}
	s.spec = asMap(runtime.DeepCopyJSON(cr.Object)["spec"])
	if err := convert(nested(cr, "status"), &s.status); err != nil {
		return nil, fmt.Errorf("status of %s: %w", key, err)
	}
	if err := convert(nested(cr, "status"), &s.written); err != nil {
		return nil, fmt.Errorf("status of %s: %w", key, err)
	}
	if text := s.status.Reconciliation.Reconciled; text != "" {
		s.reconciled = &reconciled{}
		if err := json.Unmarshal([]byte(text), s.reconciled); err != nil {
			return nil, fmt.Errorf("lastReconciledSpec of %s: %w", key, err)
		}
	}
	return s, nil
}

// convert moves a value from one shape into another by way of JSON.
func convert(from, to any) error {
	if from == nil {
		return nil
	}
	b, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

func (s *subject) key() name { return nameOf(s.o) }

// id tells subjects of all kinds apart.
func (s *subject) id() string { return s.kind + "/" + s.key().String() }

// observed is the generation that was seen last.
func (s *subject) observed() int64 {
	switch {
	case s.status.ObservedGeneration != nil:
		return *s.status.ObservedGeneration
	case s.reconciled != nil && s.reconciled.Meta.Metadata != nil:
		return s.reconciled.Meta.Metadata.Generation
	}
	return 0
}

// job is the job's part of the spec, nil for a session cluster.
func (s *subject) job() map[string]any { return asMap(s.spec["job"]) }

// suspended is true while the job is stopped between two deployments, or for
// good because the spec says so.
func (s *subject) suspended() bool {
	return s.reconciled != nil && asMap(s.reconciled.Spec["job"])["state"] == "suspended"
}

// between is true in the middle of a full upgrade, with nothing deployed.
func (s *subject) between() bool {
	return s.status.Reconciliation.State == upgradingState && (s.suspended() || s.reconciled != nil && s.reconciled.Spec["job"] == nil)
}

// mark makes a spec the one that was reconciled last. The job's state in it is
// what is really so.
func (o *Operator) mark(s *subject, spec map[string]any, state, jobState string) {
	r := &reconciled{Spec: runtime.DeepCopyJSON(spec)}
	if j := asMap(r.Spec["job"]); j != nil {
		j["state"] = jobState
	}
	r.Meta.APIVersion, r.Meta.First = s.o.GetAPIVersion(), o.old() && s.status.Reconciliation.Stable == ""
	if o.old() {
		r.Meta.Metadata = &struct {
			Generation int64 `json:"generation"`
		}{s.o.GetGeneration()}
	}
	s.reconciled = r
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // it came from JSON
	}
	s.status.Reconciliation.Reconciled = string(b)
	s.status.Reconciliation.State = state
	s.status.Reconciliation.Time = time.Now().UnixMilli()
	o.observeGeneration(s)
}

// observeGeneration says that the spec was seen. It goes out in the same write
// as what came of it.
func (o *Operator) observeGeneration(s *subject) {
	if !o.old() {
		g := s.o.GetGeneration()
		s.status.ObservedGeneration = &g
	}
}

// save writes the status if it differs from what was read or written last. The
// spec may move meanwhile; the status is the operator's alone.
func (o *Operator) save(ctx context.Context, s *subject) error {
	s.status.Lifecycle = s.lifecycle()
	if reflect.DeepEqual(s.status, s.written) {
		return nil
	}
	content := map[string]any{}
	if err := convert(s.status, &content); err != nil {
		return fmt.Errorf("status of %s: %w", s.key(), err)
	}
	for {
		next := s.o.DeepCopy()
		next.Object["status"] = ints(content)
		got, err := o.api.Resource(s.resource).Namespace(s.o.GetNamespace()).UpdateStatus(ctx, next, metav1.UpdateOptions{FieldManager: o.api.manager})
		if err == nil {
			s.o.SetResourceVersion(got.GetResourceVersion())
			s.written = s.status
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("write status of %s: %w", s.key(), err)
		}
		fresh, err := o.api.get(ctx, s.resource, s.key())
		if err != nil {
			return err
		}
		if fresh == nil || fresh.GetUID() != s.o.GetUID() {
			return fmt.Errorf("write status of %s: it is gone", s.key())
		}
		s.o.SetResourceVersion(fresh.GetResourceVersion())
	}
}

// ints makes whole numbers of JSON into what unstructured objects hold.
func ints(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for k, v := range out {
		switch v := v.(type) {
		case map[string]any:
			out[k] = ints(v)
		case float64:
			out[k] = int64(v)
		}
	}
	return out
}

// lifecycle follows from everything else.
func (s *subject) lifecycle() string {
	r := s.status.Reconciliation
	if s.reconciled == nil {
		return "CREATED"
	}
	switch r.State {
	case upgradingState:
		return "UPGRADING"
	case rolledBackState:
		return rolledBackState
	}
	switch {
	case s.suspended():
		return "SUSPENDED"
	case s.status.Job.State == "FAILED":
		return "FAILED"
	case r.Stable == r.Reconciled:
		return "STABLE"
	}
	return deployedState
}

// setSize shows what the TaskManagers are, for the scale subresource.
func (o *Operator) setSize(s *subject, deployed bool) {
	if s.resource != flinkDeployments {
		return
	}
	s.status.TaskManager = &taskManagers{}
	if deployed && s.job() != nil {
		slots := number(o.effective(s.spec), keySlots, 1)
		s.status.TaskManager = &taskManagers{
			Selector: "component=taskmanager,app=" + s.o.GetName(),
			Replicas: int64((o.parallelism(s.spec) + slots - 1) / slots),
		}
	}
}

// parallelism is the job's: replicas times slots once replicas are given, as
// the scale subresource does.
func (o *Operator) parallelism(spec map[string]any) int {
	if n := asInt(asMap(spec["taskManager"])["replicas"]); n > 0 {
		return n * number(o.effective(spec), keySlots, 1)
	}
	return max(1, asInt(asMap(spec["job"])["parallelism"]))
}

func asInt(v any) int {
	switch v := v.(type) {
	case int64:
		return int(v)
	case float64:
		return int(v)
	case string:
		n, _ := strconv.Atoi(v)
		return n
	}
	return 0
}

// effective is the configuration in force: the operator's defaults under the
// CR's own.
func (o *Operator) effective(spec map[string]any) map[string]string {
	out := maps.Clone(o.opt.Config)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, flatten(asMap(spec["flinkConfiguration"])))
	return out
}
