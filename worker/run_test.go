package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/internal/child"
	"flinkscaler/internal/config"
	"flinkscaler/internal/connect/connecttest"
	"flinkscaler/internal/logging"
	"flinkscaler/internal/telemetry"
)

// patience bounds every wait of these tests; it is never used up on a machine
// that works.
const patience = 60 * time.Second

// output is a buffer that can be read while it is written.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := child.WaitFor(ctx, what, func(context.Context) (string, bool, error) { return "not yet", holds(), nil })
	if err != nil {
		t.Fatal(err)
	}
}

// running is a worker inside the test process.
type running struct {
	log  *output
	code chan int
	stop context.CancelFunc
}

func startWorker(t *testing.T, environ []string, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{log: &output{}, code: make(chan int, 1), stop: stop}
	go func() { r.code <- execute(ctx, args, environ, io.Discard, r.log) }()
	t.Cleanup(stop)
	return r
}

// end asks the worker to end and gives its exit code.
func (r *running) end(t *testing.T) int {
	t.Helper()
	r.stop()
	select {
	case code := <-r.code:
		return code
	case <-time.After(patience):
		t.Fatalf("the worker does not end:\n%s", r.log)
		return -1
	}
}

var listening = regexp.MustCompile(`serving health and metrics: address=(http://\S+)`) //nolint:gochecknoglobals // a constant

// address waits for the address of health and metrics.
func (r *running) address(t *testing.T) string {
	t.Helper()
	var found []string
	until(t, "the address of /healthz in the log", func() bool {
		found = listening.FindStringSubmatch(r.log.String())
		return found != nil
	})
	return found[1]
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestWorks: it polls its task queue, is ready, shows metrics, and ends with 0.
func TestWorks(t *testing.T) {
	t.Parallel()
	server := &connecttest.Server{Namespaces: []string{"shop"}}
	env := []string{"TEMPORAL_ADDRESS=" + server.Start(t), "TEMPORAL_NAMESPACE=shop"}
	r := startWorker(t, env, "--config", put(t, "w.yaml", smallest), "--task-queue", "flinkscaler-test", "--http", "127.0.0.1:0")
	url := r.address(t)
	until(t, "/readyz is ok", func() bool { code, _ := get(t, url+"/readyz"); return code == http.StatusOK })
	until(t, "both kinds of tasks are polled", func() bool { return strings.Contains(strings.Join(server.Polled(), " "), "flinkscaler-test") })
	until(t, "the SDK's metrics", func() bool {
		_, text := get(t, url+"/metrics")
		return strings.Contains(text, "temporal_num_pollers{") && strings.Contains(text, "flink_autoscaler_build_info{")
	})
	if code := r.end(t); code != exitOK {
		t.Errorf("exit code is %d, want %d", code, exitOK)
	}
	for _, w := range []string{"[INFO]", "working: address=", "namespace=shop", "task_queue=flinkscaler-test", "a cluster does not answer; its jobs are left as they are until it does: cluster=dev", "stopping", "stopped"} {
		if !strings.Contains(r.log.String(), w) {
			t.Errorf("%q is not in the log:\n%s", w, r.log)
		}
	}
	if strings.Contains(r.log.String(), "[ERROR]") {
		t.Errorf("an orderly end is no error:\n%s", r.log)
	}
}

// TestServerGoes: /readyz follows the server, the process stays.
func TestServerGoes(t *testing.T) {
	t.Parallel()
	server := &connecttest.Server{Namespaces: []string{"default"}}
	address := server.Start(t)
	r := startWorker(t, []string{"TEMPORAL_ADDRESS=" + address}, "--config", put(t, "w.yaml", smallest), "--http", "127.0.0.1:0", "--log-format", "human")
	url := r.address(t)
	until(t, "/readyz is ok", func() bool { code, _ := get(t, url+"/readyz"); return code == http.StatusOK })
	server.Stop()
	until(t, "/readyz says that the server is gone", func() bool {
		code, text := get(t, url+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "not ready: temporal at "+address+" does not answer")
	})
	if code, _ := get(t, url+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answers %d", code)
	}
	if code := r.end(t); code != exitOK {
		t.Errorf("exit code is %d, want %d", code, exitOK)
	}
}

// TestWaitsForTemporal: a server that is not there yet is no reason to die.
func TestWaitsForTemporal(t *testing.T) {
	t.Parallel()
	address := closedPort(t)
	r := startWorker(t, []string{"TEMPORAL_ADDRESS=" + address}, "--config", put(t, "w.yaml", smallest), "--http", "127.0.0.1:0")
	url := r.address(t)
	until(t, "the first failure is logged", func() bool { return strings.Contains(r.log.String(), "cannot reach Temporal") })
	until(t, "/readyz says why", func() bool {
		code, text := get(t, url+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "reach Temporal at "+address)
	})
	if code, _ := get(t, url+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answers %d while it waits", code)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("somebody else took the port: %v", err)
	}
	(&connecttest.Server{Namespaces: []string{"default"}}).Serve(t, l)
	until(t, "it works once the server is there", func() bool { code, _ := get(t, url+"/readyz"); return code == http.StatusOK })
	if code := r.end(t); code != exitOK {
		t.Errorf("exit code is %d, want %d", code, exitOK)
	}
}

func TestEndsWhileItWaits(t *testing.T) {
	t.Parallel()
	r := startWorker(t, []string{"TEMPORAL_ADDRESS=" + closedPort(t)}, "--config", put(t, "w.yaml", smallest), "--http", "off")
	until(t, "the first failure is logged", func() bool { return strings.Contains(r.log.String(), "cannot reach Temporal") })
	if code := r.end(t); code != exitOK {
		t.Errorf("exit code is %d, want %d", code, exitOK)
	}
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := startWorker(t, nil, "--config", put(t, "w.yaml", smallest), "--http", l.Addr().String())
	if code := <-r.code; code != exitFailed {
		t.Errorf("exit code is %d, want %d", code, exitFailed)
	}
	if !strings.Contains(r.log.String(), "set http.listen or --http to a free address") {
		t.Errorf("what to do is not in the text:\n%s", r.log)
	}
}

// fakeWorker is a worker without a server.
type fakeWorker struct {
	startErr error
	stopped  int
}

func (f *fakeWorker) Start() error { return f.startErr }
func (f *fakeWorker) Stop()        { f.stopped++ }

// TestHowWorkEnds: what no waiting mends ends the process, a signal lets the
// worker finish.
func TestHowWorkEnds(t *testing.T) {
	t.Parallel()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	fatal := make(chan error, 1)
	fatal <- errors.New("namespace is gone")
	for name, c := range map[string]struct {
		ctx     context.Context
		worker  fakeWorker
		fatal   chan error
		err     string
		ready   string
		stopped int
	}{
		"signal":       {done, fakeWorker{}, nil, "", "stopping", 1},
		"fatal":        {t.Context(), fakeWorker{}, fatal, "worker on task queue flinkscaler: namespace is gone", "the worker failed: namespace is gone", 0},
		"cannot start": {t.Context(), fakeWorker{startErr: errors.New("no")}, nil, "start worker on task queue flinkscaler: no", "starting", 0},
	} {
		log, err := logging.New(logging.Settings{Level: "off", Format: "human"})
		if err != nil {
			t.Fatal(err)
		}
		p := process{cfg: config.Default(), log: log, health: &telemetry.Health{}}
		var text string
		if err := p.work(c.ctx, &c.worker, c.fatal, func(context.Context) error { return nil }); err != nil {
			text = err.Error()
		}
		if text != c.err {
			t.Errorf("%s: error is %q, want %q", name, text, c.err)
		}
		if err := p.health.Err(t.Context()); err == nil || err.Error() != c.ready {
			t.Errorf("%s: not ready because of %v, want %q", name, err, c.ready)
		}
		if c.worker.stopped != c.stopped {
			t.Errorf("%s: stopped %d times, want %d", name, c.worker.stopped, c.stopped)
		}
	}
}

// TestNoSecretInLogs: credentials are used, and at the most talkative level
// none of them is in a line, though the Flink cluster echoes what it was sent
// (I11).
func TestNoSecretInLogs(t *testing.T) {
	t.Parallel()
	const marker = "s3cret-marker"
	var mu sync.Mutex
	var sent []string
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent = append(sent, r.Header.Get("Authorization"))
		mu.Unlock()
		user, password, _ := r.BasicAuth()
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "no entry for %s: %s with %s", user, password, r.Header.Get("Authorization"))
	}))
	defer echo.Close()
	server := &connecttest.Server{Namespaces: []string{"default"}}
	file := put(t, "w.yaml", fmt.Sprintf(`
log: {level: trace, format: json}
clusters:
  basic: {flink: {url: %q, username: me, passwordFile: secret}}
  bearer: {flink: {url: %q, tokenFile: secret}}
`, echo.URL, echo.URL))
	putBeside(t, file, "secret", marker+"\n")
	env := []string{"TEMPORAL_ADDRESS=" + server.Start(t), "TEMPORAL_API_KEY=" + marker, "TEMPORAL_TLS=false", "TEMPORAL_GRPC_META_X_SECRET=" + marker}
	r := startWorker(t, env, "--config", file, "--http", "127.0.0.1:0")
	until(t, "both clusters refuse", func() bool { return strings.Count(r.log.String(), "a cluster does not answer") == 2 })
	until(t, "it works", func() bool { return strings.Contains(r.log.String(), `"@message":"working"`) })
	if code := r.end(t); code != exitOK {
		t.Errorf("exit code is %d, want %d", code, exitOK)
	}
	if diff := cmp.Diff([]string{"Bearer " + marker}, server.Authorizations()); diff != "" {
		t.Errorf("the API key was not used (-want +got):\n%s", diff)
	}
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(sent, " "); !strings.Contains(all, "Basic ") || !strings.Contains(all, "Bearer "+marker) {
		t.Errorf("the credentials of Flink were not used: %q", sent)
	}
	for _, s := range append([]string{marker}, sent...) {
		if text := r.log.String(); s != "" && strings.Contains(text, strings.TrimPrefix(s, "Basic ")) {
			t.Errorf("a secret is in the log:\n%s", text)
		}
	}
}

func putBeside(t *testing.T, file, name, text string) {
	t.Helper()
	if err := writeFile(filepath.Join(filepath.Dir(file), name), text); err != nil {
		t.Fatal(err)
	}
}
