package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"flinkscaler/core/spec"
)

// discoverAs runs the command.
func discoverAs(t *testing.T, args ...string) asked {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), append([]string{"discover"}, args...), nil, &stdout, &stderr)
	return asked{code, stdout.String(), stderr.String()}
}

// apiServer knows the FlinkDeployments of namespace shop, no other kind, and lets
// nobody look at other namespaces. It gives the file of a configuration with it as
// dev, and a Flink as plain.
func apiServer(t *testing.T) string {
	t.Helper()
	deployment := func(name, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeployment","metadata":{"name":%q,"namespace":"shop","uid":"u"},"spec":%s}`, name, spec)
	}
	list := `{"apiVersion":"flink.apache.org/v1beta1","kind":"FlinkDeploymentList","metadata":{},"items":[` +
		deployment("orders", `{"job":{}}`) + "," + deployment("broken", `{"job":{},"flinkConfiguration":{"rest.port":"none"}}`) + "]}"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case path == "/apis/flink.apache.org/v1beta1/namespaces/shop/flinkdeployments":
			fmt.Fprint(w, list)
		case path == "/apis/flink.apache.org/v1beta1":
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"flink.apache.org/v1beta1","resources":[{"name":"flinkdeployments"}]}`)
		case strings.HasSuffix(path, "/flinkdeployments"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"no such kind","code":404}`)
		}
	}))
	t.Cleanup(server.Close)
	kubeconfig := put(t, "kubeconfig", `{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "`+server.URL+`"}}], users: [{name: u, user: {token: x}}], contexts: [{name: x, context: {cluster: c, user: u}}], current-context: x}`)
	return put(t, "w.yaml", `clusters: {dev: {kubernetes: {kubeconfig: "`+kubeconfig+`", namespaces: [shop], flink: {timeout: 1 s}}}, plain: {flink: {url: "http://127.0.0.1:1"}}}`)
}

func TestDiscoverPrintsInputs(t *testing.T) {
	t.Parallel()
	file := apiServer(t)
	got := discoverAs(t, "--config", file, "--cluster", "dev")
	const want = `{"cluster":"dev","job":"shop.orders","target":{"kubernetes":{"namespace":"shop","kind":"FlinkDeployment","name":"orders"}}}` + "\n"
	if got.code != exitOK || got.out != want {
		t.Errorf("code %d, printed %q; want %q", got.code, got.out, want)
	}
	if _, problems := spec.Decode([]byte(got.out)); len(problems) > 0 {
		t.Errorf("it is no good input: %v", problems)
	}
	for _, words := range []string{
		`# {"cluster":"dev","job":"shop.broken",`, "# is not scaled: ", "rest.port",
		"note: FlinkDeployment shop/orders: how its size can be changed is not known now",
		"2 jobs found, 1 of them cannot be scaled", "name them by hand",
	} {
		if !strings.Contains(got.stderr, words) {
			t.Errorf("beside it says %q; want %q", got.stderr, words)
		}
	}
}

func TestDiscoverPrintsADocument(t *testing.T) {
	t.Parallel()
	got := discoverAs(t, "--config", apiServer(t), "--cluster", "dev", "-o", "json")
	var doc struct {
		Jobs  []candidate
		Notes []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil || got.code != exitOK {
		t.Fatalf("code %d, %v: %s", got.code, err, got.out)
	}
	if len(doc.Jobs) != 2 || doc.Jobs[0].Refused == "" || doc.Jobs[1].Refused != "" || doc.Jobs[1].Input.Job != "shop.orders" || len(doc.Notes) != 2 {
		t.Errorf("jobs %+v, notes %+v", doc.Jobs, doc.Notes)
	}
}

func TestDiscoverSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	file := apiServer(t)
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		words  string
	}{
		"no cluster":        {"there may be several", []string{"--config", file}, exitConfig, "--cluster"},
		"unknown cluster":   {"with the known ones", []string{"--config", file, "--cluster", "prod"}, exitConfig, `unknown cluster "prod"; the configuration knows dev, plain`},
		"another platform":  {"a Flink cluster has no objects", []string{"--config", file, "--cluster", "plain"}, exitConfig, "is no Kubernetes or YARN cluster"},
		"unknown output":    {"with the known ones", []string{"--config", file, "--cluster", "dev", "-o", "yaml"}, exitConfig, "known are text and json"},
		"an argument":       {"it takes none", []string{"--config", file, "--cluster", "dev", "shop"}, exitConfig, `unexpected argument "shop"`},
		"another namespace": {"the flag goes before the configuration", []string{"--config", file, "--cluster", "dev", "--namespace", "other"}, exitFailed, "in namespace other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := discoverAs(t, tc.args...)
			if got.code != tc.code || !strings.Contains(got.stderr, tc.words) || got.out != "" {
				t.Errorf("%s: code %d, %q, printed %q; want %d, %q and nothing", tc.reason, got.code, got.stderr, got.out, tc.code, tc.words)
			}
		})
	}
}
