// Package proxy stands between a worker and Flink in tests. It records every
// write of resource requirements as Flink sees it, with what was in force right
// before, and makes faults at chosen requests: late, lost, repeated, or answered
// with something else than Flink's answer.
package proxy
