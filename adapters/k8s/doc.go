// Package k8s is the adapter for Flink jobs on Kubernetes: it finds a job by the
// object of the Kubernetes API that runs it, reads it through the Flink REST API
// behind that object, and changes its size the safest way that the object allows.
//
// What the object is decides how (see method): the Flink Kubernetes operator's
// FlinkDeployment and FlinkSessionJob, flink-on-k8s-operator's FlinkCluster, or
// plain workloads. Objects are read when they are needed; nothing is watched.
// Everything is written by server-side apply or a guarded patch under the field
// manager FieldManager, never by force: who owns a field keeps it.
package k8s
