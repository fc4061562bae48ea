// Package hdfs reads and tidies the savepoints of Flink jobs on HDFS.
//
// The NameNodes of a place come from the authority of its URL alone, never from
// another nameservice. Each call has connections of its own: they are closed on the
// first error, when the call ends and when its ctx does, so that no late answer is
// ever read as the answer to another question.
package hdfs
