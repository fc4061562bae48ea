// Package kubetest gives the tests of a package one Kubernetes control plane together, and each a namespace of its own. Who
// asks gets the real Flink operator too, and real Flink behind it.
//
//	func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }
package kubetest
