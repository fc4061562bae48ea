package config

import (
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/hdfs"
	"flinkscaler/adapters/k8s"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core/share"
	"flinkscaler/internal/logging"
)

// Config is the worker's configuration, checked.
type Config struct {
	// TaskQueue is the task queue of workflows and activities. One group of
	// workers shares it; a worker near one cluster has its own.
	TaskQueue string
	Temporal  Temporal
	Log       Log
	HTTP      HTTP
	// SearchAttributes is true when they are registered on the namespace.
	SearchAttributes bool
	Limits           Limits
	// Clusters are sorted by name; there is at least one.
	Clusters []Cluster
}

// Temporal overrides the profile of the temporal CLI. Credentials and TLS stay
// there, and in the TEMPORAL_* variables.
type Temporal struct {
	// Address is host:port.
	Address   string
	Namespace string
	// Profile is a section of the CLI's profile file.
	Profile string
}

// Log says how lines are written.
type Log struct {
	Level  string
	Format string
}

// HTTP is where health and metrics are served.
type HTTP struct {
	// Listen is host:port, or Off.
	Listen string
}

// Off as http.listen: no health, no metrics.
const Off = "off"

// Limits bound one worker process.
type Limits struct {
	// WorkflowTasks is how many workflows may be advanced at once. It is pure
	// computing, so a few per core are enough; the rest only wait.
	WorkflowTasks int
	// Activities is how many activities may run at once. One look at a job
	// takes up to 21 s, nearly all of it waiting for Flink's own metric
	// fetches, so 1,000 serve 2,800 jobs at one look a minute.
	Activities int
	// LocalActivities is how many decisions may be computed at once.
	LocalActivities int
	// CachedWorkflows is how many workflows are kept in memory (60 KB each);
	// one that is not is replayed when it is needed.
	CachedWorkflows int
	// CyclesPerRun is after how many cycles a workflow continues as new, to
	// keep its history short; 0 for 250 to 350, spread over the jobs. It holds
	// for workflows that are started from then on.
	CyclesPerRun int
	// StopTimeout is how long a worker that ends lets its activities finish.
	StopTimeout time.Duration
}

// MinStopTimeout lets one look at a job come to its end.
const MinStopTimeout = 30 * time.Second

// Cluster is one Flink cluster, or a Kubernetes or YARN cluster with Flink jobs.
type Cluster struct {
	Name string
	// Flink is how its REST API is reached. Files are absolute paths, or
	// relative to the working directory of the process.
	Flink flink.Config
	// Kubernetes is how the cluster's API server is reached, nil for a Flink cluster
	// with addresses of its own.
	Kubernetes *k8s.Config
	// Yarn is how the ResourceManagers of a YARN cluster are reached, nil for others.
	Yarn *yarn.Config
	// HDFS is how the HDFS is reached that has the savepoints of its jobs, nil for
	// none.
	HDFS *hdfs.Config
	// KeepSavepoints is how many savepoints of a job's stops are kept, 0 for all.
	KeepSavepoints int
	// Policy holds the cluster's defaults of job.autoscaler.* keys, as text.
	Policy map[string]string
	// Share limits what its jobs have together, the zero value nothing. With a
	// limit, jobs that grow wait for each other.
	Share share.Limits
}

// DefaultKeepSavepoints leaves a way back over the last two redeploys.
const DefaultKeepSavepoints = 3

// MinLease lets a lease be renewed three times before it ends.
const MinLease = time.Minute

// Default is the configuration where nobody said anything; it has no cluster.
func Default() Config {
	return Config{
		TaskQueue: "flinkscaler",
		Log:       Log{Level: "info", Format: logging.Human},
		HTTP:      HTTP{Listen: "127.0.0.1:9099"},
		Limits: Limits{
			WorkflowTasks: 200, Activities: 1000, LocalActivities: 200,
			CachedWorkflows: 10000, StopTimeout: MinStopTimeout,
		},
	}
}
