//go:build e2e

package hadoop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
)

// TestShapesOfTheRESTAPI: what was recorded for the adapter's tests is what this release answers, but for values.
func TestShapesOfTheRESTAPI(t *testing.T) {
	active, err := shared.Active(t.Context())
	must(t, err)
	cases := map[string]struct{ path, file string }{
		"info":              {"/info", "info-active.200.json"},
		"metrics":           {"/metrics", "metrics-idle.200.json"},
		"nodes":             {"/nodes", "nodes.200.json"},
		"scheduler":         {"/scheduler", "scheduler-capacity-idle.200.json"},
		"no application":    {"/apps?states=NEW", "apps-none.200.json"},
		"no such":           {"/apps/application_1_0001", "app-unknown.404.json"},
		"malformed":         {"/apps/nonsense", "app-malformed.400.json"},
		"no such state":     {"/apps?states=NONSENSE", "apps-unknown-state.400.json"},
		"attempts, no such": {"/apps/application_1_0001/appattempts", "appattempts-unknown.404.json"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { sameShape(t, active.URL()+"/ws/v1/cluster"+tc.path, tc.file) })
	}
}

// TestShapeAlone: one of each server, and the fair scheduler; and a port that was free when it was chosen and is taken when
// the first server wants it.
func TestShapeAlone(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, other.Close()) })
	hadoop.TakePorts(t, other.Addr().(*net.TCPAddr).Port)
	began := time.Now()
	c, err := hadoop.Start(t.Context(), hadoop.Options{YARN: true, Fair: true, Log: os.Stderr})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	t.Logf("boot of one of each, at the second try, took %s", time.Since(began).Round(100*time.Millisecond))
	api := c.ResourceManager().URL() + "/ws/v1/cluster"
	sameShape(t, api+"/info", "info-alone.200.json")
	sameShape(t, api+"/scheduler", "scheduler-fair-idle.200.json")
	must(t, c.NodeManager().Kill())
	must(t, c.ResourceManager().Restart(t.Context()))
	must(t, c.DataNode().Restart(t.Context()))
}

// sameShape asks a ResourceManager, and wants the status and every field that were recorded for this release.
func sameShape(t *testing.T, url, file string) {
	t.Helper()
	recorded, err := os.ReadFile(filepath.Join("..", "..", "adapters", "yarn", "testdata", shared.Version(), file))
	must(t, err)
	status, live := ask(t, url)
	if !strings.Contains(file, fmt.Sprintf(".%d.", status)) {
		t.Errorf("status %d; recorded is %s", status, file)
	}
	want, got := paths(t, recorded), paths(t, live)
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if !got[path] {
			t.Errorf("%s of %s is not in\n%s", path, file, live)
		}
	}
}

func ask(t *testing.T, url string) (status int, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, body
}

// paths are the places in a JSON text, each with the kind of value there.
func paths(t *testing.T, text []byte) map[string]bool {
	t.Helper()
	var value any
	must(t, json.Unmarshal(text, &value))
	found := map[string]bool{}
	collect(found, "", value)
	return found
}

func collect(found map[string]bool, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			collect(found, path+"/"+key, inner)
		}
	case []any:
		for _, inner := range v {
			collect(found, path+"[]", inner)
		}
	default:
		found[fmt.Sprintf("%s: %T", path, value)] = true
	}
}
