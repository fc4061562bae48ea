package core

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
	Flink *FlinkTarget `json:"flink,omitempty"`
}

// FlinkTarget is a job on the REST address that the worker's configuration
// gives for the cluster.
type FlinkTarget struct {
	// JobName is the job's name in Flink, as in the web UI. It is the stable
	// part: the job id changes with each submission.
	JobName string `json:"jobName"`
}

// Canonical is the target's one spelling, used where two workflows must not
// manage the same thing. It never holds a space.
func (t Target) Canonical() string {
	if t.Flink != nil {
		return "flink/" + t.Flink.JobName
	}
	return "none"
}
