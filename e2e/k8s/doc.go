// Package k8s tests on Kubernetes as it is: a real API server and controllers, the real Flink operator, and real Flink behind
// it. Everything that its tests share is started once; each has a namespace of its own.
package k8s
