package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassPathOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"a.jar", "flink-autoscaler-1.7.0.jar", "flink-core-1.17.1.jar", "flink-kubernetes-operator-1.7.0.jar",
		"flink-kubernetes-operator-api-1.7.0.jar", "flink-kubernetes-standalone-1.7.0.jar",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path, err := classPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"flink-kubernetes-standalone-1.7.0.jar", "flink-kubernetes-operator-1.7.0.jar", "flink-autoscaler-1.7.0.jar",
		"flink-kubernetes-operator-api-1.7.0.jar", "a.jar", "flink-core-1.17.1.jar",
	}
	var got []string
	for _, jar := range filepath.SplitList(path) {
		got = append(got, filepath.Base(jar))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("class path (-want +got):\n%s", diff)
	}
	if err := os.Remove(filepath.Join(dir, want[2])); err != nil {
		t.Fatal(err)
	}
	if path, err := classPath(dir); err == nil || !strings.Contains(err.Error(), want[2]) {
		t.Errorf("without the autoscaler: %q, %v; want an error that names it", path, err)
	}
}

func TestConfigurationCanBeOverridden(t *testing.T) {
	t.Parallel()
	config := configuration("/d", 1, map[string]string{"kubernetes.operator.reconcile.interval": "60 s", "x": "y"})
	if config["kubernetes.operator.reconcile.interval"] != "60 s" || config["x"] != "y" || config["kubernetes.operator.health.probe.port"] != "1" {
		t.Errorf("configuration %v", config)
	}
}
