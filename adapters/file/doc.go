// Package file reads savepoints in a directory of this machine, which the Flink
// cluster writes to as well: a shared mount, or a cluster beside the worker.
package file
