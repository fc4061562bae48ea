// Package hadoop runs real HDFS, YARN and ZooKeeper servers on loopback, each a JVM of its own, and real Flink on them,
// for tests. The jars come from the tool cache: `go run ./tools/ensure hadoop flink:2.3.0 flink:1.20.5 testjob`.
//
//	cluster, err := hadoop.Start(ctx, hadoop.Options{YARN: true, Log: os.Stderr}) // 10 to 20 s
//	flink, err := cluster.Flink(ctx, hadoop.FlinkOptions{Version: "2.3.0"})        // uploads it once
//	app, err := flink.Submit(ctx, hadoop.Application{Name: "orders", Tags: []string{"gen-1"}, Args: flink.JobArgs(rates)})
//	err = cluster.ResourceManager().Kill()                                       // each server: Kill, Freeze, Thaw, Restart
//	err = cluster.Close()                                                        // nothing is left behind
//
// A server never outlives this process on Linux (see package spawn). The containers of applications are no children of
// ours: Close kills them, and when this process is killed a small shell that waits for that does.
//
// The configuration is made for tests: small memory, losses noticed in seconds, no permissions. It is no example of how
// to configure a cluster.
package hadoop
