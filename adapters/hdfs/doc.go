// Package hdfs reads and tidies the savepoints of Flink jobs on HDFS.
package hdfs
