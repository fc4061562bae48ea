package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"flinkscaler/core/spec"
)

// TestDiscoverOnYarn: the input names the application as it can be found.
func TestDiscoverOnYarn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apps":{"app":[{"id":"application_1_1","name":"Orders (EU)","state":"ACCEPTED","applicationType":"Apache Flink"}]}}`)
	}))
	t.Cleanup(server.Close)
	file := put(t, "w.yaml", `clusters: {prod: {yarn: {resourceManagers: ["`+server.URL+`"]}}}`)
	got := discoverAs(t, "--config", file, "--cluster", "prod")
	const begin = `{"cluster":"prod","job":"Orders-EU--`
	const end = `","target":{"yarn":{"applicationName":"Orders (EU)"}}}` + "\n"
	if got.code != exitOK || !strings.HasPrefix(got.out, begin) || !strings.HasSuffix(got.out, end) {
		t.Errorf("code %d, printed %q; want %q and %q", got.code, got.out, begin, end)
	}
	if _, problems := spec.Decode([]byte(got.out)); len(problems) > 0 {
		t.Errorf("it is no good input: %v", problems)
	}
	if !strings.Contains(got.stderr, "note: application Orders (EU): how its size can be changed is not known now") {
		t.Errorf("beside it says %q", got.stderr)
	}
	bad := discoverAs(t, "--config", file, "--cluster", "prod", "--namespace", "shop")
	if bad.code != exitConfig || !strings.Contains(bad.stderr, "no namespaces") {
		t.Errorf("with a namespace: code %d, %q", bad.code, bad.stderr)
	}
}
