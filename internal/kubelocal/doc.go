// Package kubelocal runs a real Kubernetes control plane on loopback, for tests: etcd, kube-apiserver and, where asked
// for, kube-controller-manager, all from the tool cache. There is no kubelet and no scheduler: what is scheduled stays
// pending unless package kubelet plays its part.
//
// One plane takes seconds to start and half a gigabyte, so a test run has one, and each test a namespace of its own (see
// package kubetest). Nothing of it is kept: Close kills the programs and removes their folder. On Linux they also end
// with this process, however that ends.
package kubelocal
