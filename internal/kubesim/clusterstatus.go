package kubesim

import (
	"context"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clusterStatus is that of a FlinkCluster.
type clusterStatus struct {
	State          string          `json:"state,omitempty"`
	Components     components      `json:"components"`
	Savepoint      *savepointState `json:"savepoint,omitempty"`
	Revision       revisionStatus  `json:"revision"`
	LastUpdateTime string          `json:"lastUpdateTime,omitempty"`
}

type revisionStatus struct {
	Current string `json:"currentRevision,omitempty"`
	Next    string `json:"nextRevision,omitempty"`
}

type components struct {
	ConfigMap   *component  `json:"configMap,omitempty"`
	JobManager  *component  `json:"jobManager,omitempty"`
	Service     *component  `json:"jobManagerService,omitempty"`
	TaskManager *component  `json:"taskManager,omitempty"`
	Job         *clusterJob `json:"job,omitempty"`
}

type component struct {
	Name          string `json:"name"`
	State         string `json:"state"`
	Replicas      int64  `json:"replicas,omitempty"`
	ReadyReplicas int64  `json:"readyReplicas,omitempty"`
	Ready         string `json:"ready,omitempty"`
	Selector      string `json:"selector,omitempty"`
}

type clusterJob struct {
	ID                  string `json:"id,omitempty"`
	Name                string `json:"name,omitempty"`
	State               string `json:"state"`
	FromSavepoint       string `json:"fromSavepoint,omitempty"`
	SavepointGeneration int64  `json:"savepointGeneration,omitempty"`
	SavepointLocation   string `json:"savepointLocation,omitempty"`
	SavepointTime       string `json:"savepointTime,omitempty"`
	FinalSavepoint      bool   `json:"finalSavepoint,omitempty"`
	StartTime           string `json:"startTime,omitempty"`
	RestartCount        int64  `json:"restartCount,omitempty"`
}

type savepointState struct {
	State     string `json:"state"`
	Reason    string `json:"triggerReason"`
	JobID     string `json:"jobID,omitempty"`
	Triggered string `json:"triggerTime,omitempty"`
	Message   string `json:"message,omitempty"`
}

// States of components and of clusters.
const (
	notReady  = "NotReady"
	isReadyUp = "Ready"

	clusterCreating = "Creating"
	clusterRunning  = "Running"
	clusterUpdating = "Updating"
	clusterStopped  = "Stopped"

	jobPending   = "Pending"
	jobUpdating  = "Updating"
	jobDeploying = "Deploying"
	jobUp        = "Running"
	jobLost      = "Lost"
)

// cluster is a FlinkCluster that is worked on, as it was read once.
type cluster struct {
	o       *object
	spec    map[string]any
	status  clusterStatus
	written clusterStatus
}

func (o *ClusterOperator) load(ctx context.Context, key name) (*cluster, error) {
	cr, err := o.api.get(ctx, flinkClusters, key)
	if err != nil || cr == nil {
		return nil, err
	}
	c := &cluster{o: cr, spec: clone(asMap(cr.Object["spec"]))}
	for _, to := range []*clusterStatus{&c.status, &c.written} {
		if err := convert(nested(cr, "status"), to); err != nil {
			return nil, fmt.Errorf("status of %s: %w", key, err)
		}
	}
	return c, nil
}

// save writes the status if it differs from what was read or written last.
func (o *ClusterOperator) save(ctx context.Context, c *cluster) error {
	c.status.LastUpdateTime = c.written.LastUpdateTime
	if reflect.DeepEqual(c.status, c.written) {
		return nil
	}
	c.status.LastUpdateTime = time.Now().UTC().Format(time.RFC3339)
	content := map[string]any{}
	if err := convert(c.status, &content); err != nil {
		return fmt.Errorf("status of %s: %w", nameOf(c.o), err)
	}
	next, err := o.api.get(ctx, flinkClusters, nameOf(c.o))
	if err != nil || next == nil {
		return err
	}
	next.Object["status"] = ints(content)
	if _, err := o.api.Resource(flinkClusters).Namespace(next.GetNamespace()).UpdateStatus(ctx, next, metav1.UpdateOptions{FieldManager: o.api.manager}); err != nil {
		return fmt.Errorf("write status of %s: %w", nameOf(c.o), err)
	}
	c.written, c.status = c.status, clusterStatus{} // they must not share what they point to
	return convert(content, &c.status)
}

func (c *cluster) name() string { return c.o.GetName() }

func (c *cluster) key(suffix string) name {
	return name{Namespace: c.o.GetNamespace(), Name: c.o.GetName() + suffix}
}

func (c *cluster) job() map[string]any { return asMap(c.spec["job"]) }

// isApplication is true when the JobManager itself runs the job.
func (c *cluster) isApplication() bool { return c.job()["mode"] == "Application" }

func (c *cluster) restPort() int {
	if n := asInt(asMap(asMap(c.spec["jobManager"])["ports"])["ui"]); n > 0 {
		return n
	}
	return 8081
}

// replicas of the TaskManagers, 3 by default.
func (c *cluster) replicas() int {
	if n := asInt(asMap(c.spec["taskManager"])["replicas"]); n > 0 {
		return n
	}
	return 3
}

func (c *cluster) properties() map[string]string { return flatten(asMap(c.spec["flinkProperties"])) }

func (c *cluster) slots() int { return number(c.properties(), keySlots, 1) }

// parallelism of the job, all slots when it does not say.
func (c *cluster) parallelism() int {
	if n := asInt(c.job()["parallelism"]); n > 0 {
		return n
	}
	return c.replicas() * c.slots()
}

// isSet reads a flag that is true unless the spec says no.
func isSet(m map[string]any, key string) bool { return m[key] != false }
