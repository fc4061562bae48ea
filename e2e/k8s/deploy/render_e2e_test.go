//go:build e2e

package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"flinkscaler/internal/toolcache"
)

// manifests is the folder of what is tested here.
const manifests = "../../../deploy"

// chart is the Helm chart.
var chart = filepath.Join(manifests, "helm", "flinkscaler") //nolint:gochecknoglobals // a constant

// object is one object of a manifest.
type object struct{ *unstructured.Unstructured }

func (o object) json(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(o.Object)
	must(t, err)
	return string(b)
}

func (o object) resource() schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	return plural
}

// kustomize renders a folder of deploy/kustomize.
func kustomize(t *testing.T, folder string) []object {
	t.Helper()
	cache, err := toolcache.Open()
	must(t, err)
	program, err := cache.FindKustomize()
	must(t, err)
	return render(t, program, "build", filepath.Join(manifests, "kustomize", folder))
}

// helm renders the chart for the place of the example, with more arguments.
func helm(t *testing.T, args ...string) []object {
	t.Helper()
	return render(t, helmProgram(t), append([]string{"template", account, chart, "--namespace", home, "--kube-version", toolcache.KubeVersion}, args...)...)
}

func helmProgram(t *testing.T) string {
	t.Helper()
	cache, err := toolcache.Open()
	must(t, err)
	program, err := cache.FindHelm()
	must(t, err)
	return program
}

func render(t *testing.T, program string, args ...string) []object {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, problems.String())
	}
	return decode(t, out.Bytes())
}

func decode(t *testing.T, text []byte) []object {
	t.Helper()
	var out []object
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var content map[string]any
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if len(content) > 0 {
			out = append(out, object{&unstructured.Unstructured{Object: content}})
		}
	}
	if len(out) == 0 {
		t.Fatal("nothing was rendered")
	}
	return out
}
