package flink_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// fake answers with what a real Flink 2.3.0 answered, its metrics fetched anew
// for each request for the JobManager's clock. Tests put their own handlers in
// front of single paths.
type fake struct {
	*httptest.Server
	job, slow, source string // ids

	mu       sync.Mutex
	handlers map[string]http.HandlerFunc
	asked    []string // method and URI
	fetches  int64
	inFlight int
	atOnce   int // the most requests in flight
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{handlers: map[string]http.HandlerFunc{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	var job struct{ JID string }
	decodeFile(t, "job.200.json", &job)
	f.job = job.JID
	var bounds map[string]any
	decodeFile(t, "requirements.200.json", &bounds)
	f.slow, f.source = "59fa767824610e31f4a11d6125e09bf4", "6bf01baa9d2ca23a3ef7ce311722523d"
	for _, id := range []string{f.slow, f.source} {
		if bounds[id] == nil {
			t.Fatalf("the recorded job has no vertex %s", id)
		}
	}
	at := "/v1/jobs/" + f.job
	for path, file := range map[string]string{
		"/v1/config": "config", "/v1/jobs/overview": "jobs", at: "job", at + "/jobmanager/config": "job-config",
		at + "/resource-requirements": "requirements", at + "/checkpoints": "checkpoints",
		at + "/checkpoints/config": "checkpoints-config", at + "/exceptions": "exceptions",
		at + "/rescales/history": "rescales-history", "/v1/taskmanagers": "taskmanagers",
	} {
		f.on("GET "+path, text(t, file+".200.json"))
	}
	f.on("PUT "+at+"/resource-requirements", says(http.StatusOK, "{}"))
	f.on("GET /v1/jobmanager/config", says(http.StatusOK, `[{"key":"metrics.fetcher.update-interval","value":"100"},{"key":"heartbeat.interval","value":"1 s"}]`))
	f.on("GET /v1/jobmanager/metrics", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `[{"id":"Status.JVM.CPU.Time","value":"%d"},{"id":"taskSlotsTotal","value":"4"},{"id":"taskSlotsAvailable","value":"3"}]`, f.next())
	})
	var managers struct{ TaskManagers []struct{ ID string } }
	decodeFile(t, "taskmanagers.200.json", &managers)
	for _, tm := range managers.TaskManagers {
		f.on("GET /v1/taskmanagers/"+tm.ID+"/metrics", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `[{"id":"Status.JVM.CPU.Time","value":"%d"}]`, f.next())
		})
	}
	f.metrics("/v1/taskmanagers/metrics", "Status.JVM.Memory.Heap.Used", "Status.JVM.GarbageCollector.All.TimeMsPerSecond", "Status.JVM.Threads.Count")
	f.metrics(f.vertexPath(f.slow), "busyTimeMsPerSecond", "numRecordsIn")
	f.metrics(f.vertexPath(f.source), "busyTimeMsPerSecond", "Source__gen.pendingRecords")
	return f
}

func (f *fake) vertexPath(id string) string {
	return "/v1/jobs/" + f.job + "/vertices/" + id + "/subtasks/metrics"
}

func (f *fake) ref() core.JobRef { return core.JobRef{ID: f.job, Name: "orders"} }

// on sets the handler of "METHOD /path".
func (f *fake) on(what string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers[what] = h
}

// metrics serves ids under an aggregating path, all or nothing, each with its
// index as value.
func (f *fake) metrics(path string, ids ...string) {
	f.on("GET "+path, aggregating(ids))
}

func aggregating(ids []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		get := r.URL.Query().Get("get")
		var out []string
		for i, id := range ids {
			if get == "" {
				out = append(out, fmt.Sprintf(`{"id":%q}`, id))
			} else if contains(strings.Split(get, ","), id) {
				out = append(out, fmt.Sprintf(`{"id":%q,"min":%d,"max":%d,"avg":%d.0,"sum":%d}`, id, i, i, i, i))
			}
		}
		if get != "" && len(out) != len(strings.Split(get, ",")) {
			out = nil
		}
		_, _ = w.Write([]byte("[" + strings.Join(out, ",") + "]"))
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func (f *fake) next() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetches++
	return 5_000_000_000 + f.fetches*10_000_000
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI())
	h := f.handlers[r.Method+" "+r.URL.Path]
	f.inFlight++
	f.atOnce = max(f.atOnce, f.inFlight)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.inFlight--
		f.mu.Unlock()
	}()
	if len(r.URL.RequestURI()) > 3500 {
		h = says(http.StatusNotFound, `{"errors":["Unable to load requested file /bad-request."]}`)
	}
	if h == nil {
		h = says(http.StatusNotFound, `{"errors":["Unable to load requested file `+r.URL.Path+`."]}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	h(w, r)
}

// count is how many requests began like this.
func (f *fake) count(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, a := range f.asked {
		if strings.HasPrefix(a, prefix) {
			n++
		}
	}
	return n
}

func (f *fake) cluster(t *testing.T, edits ...func(*flink.Config)) *flink.Cluster {
	t.Helper()
	cfg := flink.Config{URLs: []string{f.URL}, Timeout: 5 * time.Second}
	for _, edit := range edits {
		edit(&cfg)
	}
	return newCluster(t, cfg)
}

func newCluster(t *testing.T, cfg flink.Config) *flink.Cluster {
	t.Helper()
	c, err := flink.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// text serves a recorded answer, with edits as pairs of old and new.
func text(t *testing.T, file string, edits ...string) http.HandlerFunc {
	t.Helper()
	status, err := strconv.Atoi(strings.Split(file, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	body := string(readFile(t, file))
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(body, edits[i]) {
			t.Fatalf("%s does not hold %q", file, edits[i])
		}
		body = strings.ReplaceAll(body, edits[i], edits[i+1])
	}
	return says(status, body)
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "2.3.0", file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
