package arch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"flinkscaler/core/spec"
	"flinkscaler/internal/config"
)

// TestExamplesOfKubernetes decodes what docs/kubernetes.md shows: inputs and
// configurations as the worker does, manifests as the API server would. Those of
// Flink are applied to one in e2e/k8s/deploy.
func TestExamplesOfKubernetes(t *testing.T) {
	t.Parallel()
	var inputs, files, manifests int
	for _, m := range fence.FindAllStringSubmatch(read(t, "docs/kubernetes.md"), -1) {
		switch language, text := m[1], m[2]; language {
		case "json":
			for line := range strings.Lines(text) {
				inputs++
				if _, problems := spec.Decode([]byte(line)); len(problems) > 0 {
					t.Errorf("%s: %v", line, problems)
				}
			}
		case "yaml":
			if strings.Contains(text, "clusters:\n") {
				files++
				loads(t, text)
				continue
			}
			manifests++
			var object struct {
				APIVersion, Kind string
				Metadata         struct{ Name, Namespace string }
				Spec             map[string]any
			}
			if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil || object.APIVersion == "" || object.Kind == "" || object.Metadata.Name == "" || len(object.Spec) == 0 {
				t.Errorf("no manifest: %v\n%s", err, text)
			}
		}
	}
	if inputs < 6 || files < 2 || manifests < 4 {
		t.Errorf("only %d inputs, %d configurations and %d manifests were found", inputs, files, manifests)
	}
}

// loads reads a configuration; files that it names are made.
func loads(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	const cluster = "{apiVersion: v1, kind: Config, clusters: [], users: [], contexts: []}"
	file := filepath.Join(dir, "worker.yaml")
	for name, content := range map[string]string{kubeconfig: cluster, file: strings.ReplaceAll(text, "/etc/flinkscaler/kubeconfig", kubeconfig)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := config.Load(config.Source{File: file}); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
