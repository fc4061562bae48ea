package telemetry

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"flinkscaler/core"
)

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func newMetrics(t *testing.T, now func() time.Time) *Metrics {
	t.Helper()
	var out strings.Builder
	m := NewMetrics("1.2.3", hclog.New(&hclog.LoggerOptions{Output: &out}), now)
	t.Cleanup(func() {
		if out.Len() > 0 {
			t.Errorf("metrics were left out:\n%s", out.String())
		}
	})
	return m
}

// scrape gives the lines of /metrics that begin with a prefix, sorted.
func scrape(t *testing.T, m *Metrics, prefix string) []string {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(&Health{}, m.Registry).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", w.Code, w.Body)
	}
	var out []string
	for s := bufio.NewScanner(w.Body); s.Scan(); {
		if strings.HasPrefix(s.Text(), prefix) {
			out = append(out, s.Text())
		}
	}
	slices.Sort(out)
	return out
}

// TestNamesAndValues: what the workflows count comes out under the documented
// names, and values of labels stay as they are.
func TestNamesAndValues(t *testing.T) {
	t.Parallel()
	m := newMetrics(t, start)
	h := m.Temporal()
	for _, cluster := range []string{"prod-eu", "prod_eu"} {
		h.WithTags(map[string]string{"cluster": cluster, "verdict": "change", "reason": "scale-up"}).Counter("flink_autoscaler_decisions").Inc(2)
	}
	h.WithTags(map[string]string{"cluster": "a/b ü", "outcome": "applied", "reason": "none"}).Counter("flink_autoscaler_rescales").Inc(1)
	h.WithTags(map[string]string{"task_queue": "q"}).Gauge("temporal_worker_task_slots_available").Update(7)
	h.WithTags(map[string]string{"task_queue": "q"}).Timer("temporal_request_latency").Record(30 * time.Millisecond)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`flink_autoscaler_build_info{version="1.2.3"} 1`,
		`flink_autoscaler_decisions_total{cluster="prod-eu",reason="scale-up",verdict="change"} 2`,
		`flink_autoscaler_decisions_total{cluster="prod_eu",reason="scale-up",verdict="change"} 2`,
		`flink_autoscaler_rescales_total{cluster="a/b ü",outcome="applied",reason="none"} 1`,
	}
	if diff := cmp.Diff(want, scrape(t, m, "flink_autoscaler_")); diff != "" {
		t.Errorf("ours (-want +got):\n%s", diff)
	}
	got := scrape(t, m, "temporal_")
	for _, w := range []string{
		`temporal_worker_task_slots_available{task_queue="q"} 7`,
		`temporal_request_latency_seconds_count{task_queue="q"} 1`,
		`temporal_request_latency_seconds_bucket{task_queue="q",le="0.025"} 0`,
		`temporal_request_latency_seconds_bucket{task_queue="q",le="0.05"} 1`,
	} {
		if !slices.Contains(got, w) {
			t.Errorf("%q is not in:\n%s", w, strings.Join(got, "\n"))
		}
	}
	if n := len(scrape(t, m, "go_goroutines")); n != 1 {
		t.Errorf("go_goroutines is there %d times", n)
	}
}

// TestAgeOfDecisions: the age is that at the time of the scrape, and a job
// nobody decides on any more is forgotten.
func TestAgeOfDecisions(t *testing.T) {
	t.Parallel()
	now := start()
	m := newMetrics(t, func() time.Time { return now })
	d := m.Decisions
	ages := func() []string { return scrape(t, m, "flink_autoscaler_last_decision_age_seconds") }
	line := func(job, age string) string {
		return `flink_autoscaler_last_decision_age_seconds{cluster="dev",job="` + job + `"} ` + age
	}
	d.Decided(core.JobKey{Cluster: "dev", Job: "orders"}, core.Decision{Verdict: core.Hold}, now)
	now = now.Add(90 * time.Second)
	d.Decided(core.JobKey{Cluster: "dev", Job: "bills"}, core.Decision{Verdict: core.Change}, now)
	for _, step := range []struct {
		name string
		wait time.Duration
		want []string
	}{
		{"two jobs", 0, []string{line("bills", "0"), line("orders", "90")}},
		{"ages grow by themselves", time.Minute, []string{line("bills", "60"), line("orders", "150")}},
		{"a clock set back", -5 * time.Minute, []string{line("bills", "0"), line("orders", "0")}},
		{"a day later", 5*time.Minute + 24*time.Hour - 149*time.Second, []string{line("bills", "86311")}},
		{"both gone", time.Hour, nil},
	} {
		now = now.Add(step.wait)
		if diff := cmp.Diff(step.want, ages()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if len(d.last) != 0 {
		t.Errorf("%d jobs are still kept", len(d.last))
	}
	later := now
	d.Decided(core.JobKey{Cluster: "dev", Job: "orders"}, core.Decision{}, later)
	d.Decided(core.JobKey{Cluster: "dev", Job: "orders"}, core.Decision{}, later.Add(-time.Hour))
	if diff := cmp.Diff([]string{line("orders", "0")}, ages()); diff != "" {
		t.Errorf("an older decision counted (-want +got):\n%s", diff)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	m := newMetrics(t, start)
	h := &Health{}
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		Handler(h, m.Registry).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	type answer struct {
		code int
		text string
	}
	expect := func(name, path string, want answer) {
		t.Helper()
		if code, text := get(path); (answer{code, text}) != want {
			t.Errorf("%s: %s answers %d %q, want %d %q", name, path, code, text, want.code, want.text)
		}
	}
	expect("new", "/healthz", answer{200, "ok"})
	expect("new", "/readyz", answer{503, "not ready: starting"})
	h.NotReady("Temporal at t:7233 was not reached yet")
	expect("waiting", "/healthz", answer{200, "ok"})
	expect("waiting", "/readyz", answer{503, "not ready: Temporal at t:7233 was not reached yet"})
	h.Ready(func(context.Context) error { return nil })
	expect("working", "/readyz", answer{200, "ok"})
	h.Ready(func(context.Context) error { return errors.New("no answer") })
	expect("server gone", "/readyz", answer{503, "not ready: no answer"})
	h.NotReady("stopping")
	expect("stopping", "/readyz", answer{503, "not ready: stopping"})
	if code, _ := get("/nothing"); code != http.StatusNotFound {
		t.Errorf("/nothing answers %d", code)
	}
}

// TestProbesDoNotLoadTheServer: within two seconds the server is asked once.
func TestProbesDoNotLoadTheServer(t *testing.T) {
	t.Parallel()
	h, asked := &Health{}, 0
	h.Ready(func(ctx context.Context) error {
		asked++
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the check has no deadline")
		}
		return nil
	})
	for range 50 {
		if err := h.Err(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("the server was asked %d times, want once", asked)
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	m := newMetrics(t, start)
	s, err := Serve("127.0.0.1:0", Handler(&Health{}, m.Registry), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address()+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || string(body) != "ok\n" {
		t.Errorf("/healthz answers %d %q, %v", res.StatusCode, body, err)
	}
	_ = res.Body.Close()
	if _, err := Serve(s.Address(), http.NotFoundHandler(), hclog.NewNullLogger()); err == nil || !strings.Contains(err.Error(), "--http") {
		t.Errorf("a port in use: error is %v, want what to do in it", err)
	}
	s.Close()
	again, err := Serve(s.Address(), http.NotFoundHandler(), hclog.NewNullLogger())
	if err != nil {
		t.Fatalf("the port is not free after Close: %v", err)
	}
	again.Close()
}
