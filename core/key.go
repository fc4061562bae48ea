package core

import (
	"net/url"
	"strings"
)

// JobKey names a job for good: the same key is the same job over restarts,
// redeploys and new Flink job ids.
type JobKey struct {
	// Cluster is the name under which the worker's configuration knows the
	// Flink cluster; its addresses and credentials never leave the worker.
	Cluster string `json:"cluster"`
	// Job is the operator's name for the job, unique within the cluster.
	Job string `json:"job"`
}

// String gives "cluster/job", for people and logs.
func (k JobKey) String() string { return k.Cluster + "/" + k.Job }

// Target says where the job runs. Exactly one field is set.
type Target struct {
	Flink      *FlinkTarget      `json:"flink,omitempty"`
	Kubernetes *KubernetesTarget `json:"kubernetes,omitempty"`
	Yarn       *YarnTarget       `json:"yarn,omitempty"`
}

// FlinkTarget is a job on the REST address that the worker's configuration
// gives for the cluster.
type FlinkTarget struct {
	// JobName is the job's name in Flink, as in the web UI. It is the stable
	// part: the job id changes with each submission.
	JobName string `json:"jobName"`
}

// The kinds of objects that a KubernetesTarget may name.
const (
	KindFlinkDeployment = "FlinkDeployment" // of Apache's Flink operator: one job, or a session cluster with JobName
	KindFlinkSessionJob = "FlinkSessionJob" // of Apache's Flink operator
	KindFlinkCluster    = "FlinkCluster"    // of flink-on-k8s-operator
	KindDeployment      = "Deployment"      // TaskManagers without an operator, or the JobManager of a native cluster
	KindStatefulSet     = "StatefulSet"     // TaskManagers without an operator
)

// The modes of a KubernetesTarget.
const (
	// ModeManage: we alone decide on the size. It is what empty means.
	ModeManage = "manage"
	// ModeFollow: something else, such as a HorizontalPodAutoscaler, decides on the
	// TaskManagers, and we keep the job's parallelism in step with them.
	ModeFollow = "follow"
)

// KubernetesTarget is a job behind an object of the Kubernetes API.
type KubernetesTarget struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// JobName is the job's name in Flink, where the object runs several jobs.
	JobName string `json:"jobName,omitempty"`
	// Mode is ModeManage or ModeFollow, empty for the first.
	Mode string `json:"mode,omitempty"`
	// Service is where Flink's REST API is served in the same namespace, and Port its
	// port, for objects that do not tell: a Deployment or a StatefulSet. 0: 8081.
	Service string `json:"service,omitempty"`
	Port    int    `json:"port,omitempty"`
}

// YarnTarget is a job of an application on YARN, found by what stays the same over
// redeploys. What is given must all be true of the application, and of one alone.
type YarnTarget struct {
	// ApplicationName is the application's name (yarn.application.name), and
	// ApplicationTag one of its tags (yarn.tags); at least one is given. Tags are
	// compared without case, as YARN does.
	ApplicationName string `json:"applicationName,omitempty"`
	ApplicationTag  string `json:"applicationTag,omitempty"`
	// ApplicationType is empty for "Apache Flink".
	ApplicationType string `json:"applicationType,omitempty"`
	// Queue and User narrow the choice. A queue is a leaf's name, or its path.
	Queue string `json:"queue,omitempty"`
	User  string `json:"user,omitempty"`
	// JobName is the job's name in Flink, where the application is a session with
	// several jobs.
	JobName string `json:"jobName,omitempty"`
}

// canonical tells applications of one name apart by queue and user, which may
// differ; one tag is one application.
func (t YarnTarget) canonical() string {
	s := "yarn/name/" + url.PathEscape(t.ApplicationName)
	if t.ApplicationName == "" {
		s = "yarn/tag/" + url.PathEscape(strings.ToLower(t.ApplicationTag))
	}
	for _, narrowed := range []struct{ key, value string }{{"queue", t.Queue}, {"user", t.User}} {
		if narrowed.value != "" && t.ApplicationName != "" {
			s += "/" + narrowed.key + "/" + url.PathEscape(narrowed.value)
		}
	}
	if t.JobName != "" {
		s += "/job/" + url.PathEscape(t.JobName)
	}
	return s
}

// Canonical is the target's one spelling, used where two workflows must not
// manage the same thing. It never holds a space.
func (t Target) Canonical() string {
	if t.Flink != nil {
		return "flink/" + t.Flink.JobName
	}
	if k := t.Kubernetes; k != nil {
		s := "kubernetes/" + k.Namespace + "/" + k.Kind + "/" + k.Name
		if k.JobName != "" {
			s += "/" + k.JobName
		}
		return s
	}
	if t.Yarn != nil {
		return t.Yarn.canonical()
	}
	return "none"
}
