package flinksim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// epoch is where tests begin.
func epoch() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

// rig is a cluster whose time stands still, and a client for it.
type rig struct {
	t *testing.T
	c *Cluster
}

func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	o.Start = epoch()
	c := New(o)
	t.Cleanup(c.Close)
	return &rig{t, c}
}

// ask sends a request and gives status and body.
func (r *rig) ask(method, path, body string) (int, string) {
	r.t.Helper()
	req := httptest.NewRequestWithContext(r.t.Context(), method, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	r.c.Handler().ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// get decodes a 200.
func (r *rig) get(path string, into any) {
	r.t.Helper()
	status, body := r.ask(http.MethodGet, path, "")
	if status != http.StatusOK {
		r.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		r.t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}

// seen is what a client reads of a job.
type seen struct {
	State    string           `json:"state"`
	Stamps   map[string]int64 `json:"timestamps"`
	Start    int64            `json:"start-time"`
	Now      int64            `json:"now"`
	Max      int              `json:"maxParallelism"`
	Vertices []struct {
		ID      string         `json:"id"`
		Par     int            `json:"parallelism"`
		Tasks   map[string]int `json:"tasks"`
		Metrics struct {
			Read     int64 `json:"read-records"`
			Complete bool  `json:"read-records-complete"`
		} `json:"metrics"`
	} `json:"vertices"`
	Plan map[string]any `json:"plan"`
}

func (r *rig) job(id string) seen {
	r.t.Helper()
	var s seen
	r.get("/v1/jobs/"+id, &s)
	return s
}

func (r *rig) view(id string) View {
	r.t.Helper()
	v, err := r.c.View(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// fetch makes the JobManager fetch metrics: one look starts a round, the next
// finds it done.
func (r *rig) fetch() {
	r.t.Helper()
	r.c.Advance(r.c.opt.FetchInterval + time.Millisecond)
	r.ask(http.MethodGet, "/jobmanager/metrics", "")
	r.c.Advance(time.Nanosecond)
}

func (r *rig) clock() string {
	r.t.Helper()
	var m []plainMetric
	r.get("/jobmanager/metrics?get=Status.JVM.CPU.Time", &m)
	if len(m) == 0 {
		return ""
	}
	return m[0].Value
}

type values struct {
	ID                       string
	Min, Max, Avg, Sum, Skew float64
}

func (r *rig) metrics(job, vertex, ids string) []values {
	r.t.Helper()
	var out []values
	r.get("/jobs/"+job+"/vertices/"+VertexID(vertex)+"/subtasks/metrics?get="+ids, &out)
	return out
}

// one is the value of one metric.
func (r *rig) one(job, vertex, id string) values {
	r.t.Helper()
	m := r.metrics(job, vertex, id)
	if len(m) != 1 {
		r.t.Fatalf("%s of %s: %d values", id, vertex, len(m))
	}
	return m[0]
}

// requirements of the default job.
func requirements(source, enrich, sink int) string {
	b := func(n int) map[string]any {
		return map[string]any{"parallelism": map[string]int{"lowerBound": 1, "upperBound": n}}
	}
	out, _ := json.Marshal(map[string]any{
		VertexID("Source: orders"): b(source), VertexID("enrich"): b(enrich), VertexID("sink: Writer"): b(sink),
	})
	return string(out)
}

func (r *rig) put(job, body string) (int, string) {
	r.t.Helper()
	return r.ask(http.MethodPut, "/v1/jobs/"+job+"/resource-requirements", body)
}

func (r *rig) mustPut(job, body string) {
	r.t.Helper()
	if status, answer := r.put(job, body); status != http.StatusOK || answer != "{}" {
		r.t.Fatalf("PUT: %d %s", status, answer)
	}
}
