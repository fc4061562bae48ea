package main

import (
	"context"
	"strings"

	"flinkscaler/internal/toolcache"
)

// kube is what a Kubernetes control plane consists of.
func (e *ensurer) kube() []target {
	return []target{
		goTarget{
			e: e, program: "etcd", version: toolcache.EtcdVersion,
			pkg:     "go.etcd.io/etcd/server/v3",
			flags:   []string{quickly, stripped},
			place:   e.cache.Etcd(),
			usually: "half a minute to 2 minutes",
			find:    found(e.cache.FindEtcd),
		},
		goTarget{
			e: e, program: "kube-apiserver", module: "kube", version: toolcache.KubeVersion,
			pkg:     "k8s.io/kubernetes/cmd/kube-apiserver",
			flags:   []string{quickly, kubeVersion()},
			place:   e.cache.KubeAPIServer(),
			usually: "3 to 10 minutes",
			find:    found(e.cache.FindKubeAPIServer),
		},
		goTarget{
			e: e, program: "kube-controller-manager", module: "kube", version: toolcache.KubeVersion,
			pkg:     "k8s.io/kubernetes/cmd/kube-controller-manager",
			flags:   []string{quickly, kubeVersion()},
			place:   e.cache.KubeControllerManager(),
			usually: "1 to 4 minutes",
			find:    found(e.cache.FindKubeControllerManager),
		},
	}
}

// found ignores a context that a look into the cache does not need.
func found(find func() (string, error)) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return find() }
}

// quickly leaves out optimisation: a third less to compile, and fast enough for a test.
const quickly = "-gcflags=all=-N -l"

// kubeVersion stamps the version that the servers report; without it they have none, and clients go by it.
func kubeVersion() string {
	const stamp = "k8s.io/component-base/version"
	major, rest, _ := strings.Cut(toolcache.KubeVersion, ".")
	minor, _, _ := strings.Cut(rest, ".")
	flags := stripped
	for _, pair := range []string{
		"gitVersion=v" + toolcache.KubeVersion, "gitMajor=" + major, "gitMinor=" + minor,
		"gitTreeState=clean", "gitCommit=" + strings.Repeat("0", 40),
	} {
		flags += " -X " + stamp + "." + pair
	}
	return flags
}
