// Package flinklocal runs real Flink processes on loopback, for tests and for the demo: JobManagers, TaskManagers and,
// for high availability, the ZooKeeper that flink-dist carries. It needs a Flink distribution (tools/ensure puts one
// into the tool cache) and Java, nothing else.
//
// Processes are started with java directly. Flink's own scripts first start a helper JVM each, which takes longer than
// Flink itself. The configuration is made for tests: short heartbeats, quick rescales, small memory. It is not an
// example of how to configure a cluster.
//
// A child never outlives its parent on Linux, however the parent ends (see child.Spawn). On other systems Close must be
// called.
package flinklocal
