//go:build e2e

package deploy

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"flinkscaler/internal/config"
)

// TestTheWorkersFile: the configuration in the manifests is a good one, and fits
// to what is around it.
func TestTheWorkersFile(t *testing.T) {
	for way, objects := range map[string][]object{
		"base": kustomize(t, "worker"), "example": kustomize(t, "example"), "chart": helm(t), "everything": helm(t, everything()...),
	} {
		t.Run(way, func(t *testing.T) {
			cfg := load(t, one(t, objects, "ConfigMap"))
			pod := podOf(t, one(t, objects, "Deployment"))
			if grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second; grace <= cfg.Limits.StopTimeout {
				t.Errorf("pods are killed after %s, activities have %s to end", grace, cfg.Limits.StopTimeout)
			}
			host, port, err := net.SplitHostPort(cfg.HTTP.Listen)
			if err != nil || net.ParseIP(host) == nil || !net.ParseIP(host).IsUnspecified() {
				t.Errorf("it listens on %s, where kubelet does not reach it", cfg.HTTP.Listen)
			}
			container := pod.Spec.Containers[0]
			if got := strconv.Itoa(int(container.Ports[0].ContainerPort)); got != port || container.Ports[0].Name != "metrics" {
				t.Errorf("port %s %s, it listens on %s", container.Ports[0].Name, got, port)
			}
			for path, probe := range map[string]*corev1.Probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
				if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "metrics" {
					t.Errorf("%s is probed by %v", path, probe.HTTPGet)
				}
			}
			if len(cfg.Clusters) != 1 || cfg.Clusters[0].Name != "here" || cfg.Clusters[0].Kubernetes == nil {
				t.Errorf("clusters %v; want the one that it runs in", cfg.Clusters)
			}
		})
	}
}

// load reads the worker's file out of a ConfigMap as the worker does.
func load(t *testing.T, configMap object) config.Config {
	t.Helper()
	text, _, err := unstructured.NestedString(configMap.Object, "data", "worker.yaml")
	must(t, err)
	file := filepath.Join(t.TempDir(), "worker.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	cfg, _, err := config.Load(config.Source{File: file})
	must(t, err)
	return cfg
}
