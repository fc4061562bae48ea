// Command ensure fills the tool cache (see internal/toolcache) with what tests and the demo run, and does nothing
// when it is there already:
//
//	go run ./tools/ensure [-v] temporal tctl flink:2.3.0 flink:1.20.5 testjob oracle kube render flink:1.18.1 flink-operator hadoop krb5
//
// Programs are built and distributions downloaded from pinned versions; kube is etcd, kube-apiserver and
// kube-controller-manager, render is helm and kustomize. The test job is compiled against Flink 1.20, the oracle against the Java autoscaler that Maven
// resolves, as it does the Flink Kubernetes operator with its CRDs and the servers of HDFS and YARN. It needs Go, Python
// with pip, a JDK and, for the oracle, the operator and Hadoop alone, Maven; no C
// compiler. MIT Kerberos (krb5) is unpacked from Debian's packages, which needs apt-get. What is missing is said before anything starts, all at once. Two runs at
// the same time wait for each other, and a thing appears in the cache only when it is whole.
//
// Builds and downloads take minutes, so it says what it does and how long that usually takes, and then shows how far
// it is every few seconds.
package main
