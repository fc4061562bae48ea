// Package kubesim plays, against a real Kubernetes API server, what runs Flink
// there and cannot be had: the Apache Flink Kubernetes operator as of 1.15.0
// (and what 1.7.0 did differently), the flink-on-k8s-operator with its
// FlinkCluster, and a kubelet whose Flink pods are simulated clusters (package
// flinksim). So hundreds of custom resources cost next to nothing, and each
// behaves as the real thing was recorded to.
//
// What is real: the API server with all that it does (generations, field
// owners, conflicts, subresources, events), the objects that the operators
// make, and Flink's REST API. What is played: the operators' decisions and the
// processes.
//
// The three do not know each other. An operator talks to the API server and to
// Flink's REST API on 127.0.0.1, at the port that the resource names
// (rest.port, or spec.jobManager.ports.ui of a FlinkCluster), as the real one
// does outside of a cluster. The kubelet turns JobManager workloads into
// simulated clusters that listen on the port their ConfigMap names, and the
// replicas of TaskManager workloads into slots. It serves the real operator as
// well.
//
// It must not be imported by anything that is shipped, and uses nothing of
// adapters: it is there to judge them.
package kubesim
