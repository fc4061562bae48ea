package flinklocal

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/internal/child"
)

// clusterAt is a Cluster whose only JobManager is a test server.
func clusterAt(t *testing.T, handler http.Handler) *Cluster {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	jobManager := &Process{url: server.URL, child: child.New(child.Command{Name: "jobmanager-0"})}
	return &Cluster{options: Options{WaitTimeout: time.Minute}, http: server.Client(), jobManagers: []*Process{jobManager}}
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestSubmitUploadsAndRuns(t *testing.T) {
	t.Parallel()
	var upload, run string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jars/upload", func(w http.ResponseWriter, r *http.Request) {
		file, header, err := r.FormFile("jarfile")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		content, _ := io.ReadAll(file)
		upload = header.Header.Get("Content-Type") + " " + string(content)
		answer(200, `{"filename":"/x/flink-web-upload/u1_job.jar","status":"success"}`)(w, r)
	})
	mux.HandleFunc("POST /jars/u1_job.jar/run", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		run = string(body)
		answer(200, `{"jobid":"abc"}`)(w, r)
	})
	jar := filepath.Join(t.TempDir(), "job.jar")
	if err := os.WriteFile(jar, []byte("classes"), 0o644); err != nil {
		t.Fatal(err)
	}
	id, err := clusterAt(t, mux).Submit(t.Context(), jar, JobOptions{
		Name: "orders", Parallelism: 2, Args: []string{"--splits", "4"},
		Config: map[string]string{"k": "v"}, JobID: "abc",
	})
	if err != nil || id != "abc" {
		t.Fatalf("Submit = %q, %v", id, err)
	}
	if want := "application/x-java-archive classes"; upload != want {
		t.Errorf("uploaded %q; want %q", upload, want)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(run), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"parallelism": 2.0, "programArgsList": []any{"--splits", "4", "--name", "orders"},
		"flinkConfiguration": map[string]any{"k": "v"}, "jobId": "abc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run body (-want +got):\n%s", diff)
	}
}

func TestWaitFailsAtOnceWhenTheJobFailed(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /jobs/j", answer(200, `{"jid":"j","state":"FAILED"}`))
	mux.HandleFunc("GET /jobs/j/exceptions", answer(200, `{"exceptionHistory":{"entries":[{"stacktrace":"NoResourceAvailable"}]}}`))
	err := clusterAt(t, mux).WaitRunning(t.Context(), "j")
	if err == nil || !strings.Contains(err.Error(), "FAILED: NoResourceAvailable") {
		t.Errorf("error %v; want the state and the cause", err)
	}
}

func TestWaitOutlastsErrors(t *testing.T) {
	t.Parallel()
	calls := 0
	c := clusterAt(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if calls == 1 {
			answer(503, "ongoing leader election")(w, r)
			return
		}
		answer(200, `{"state":"RUNNING","vertices":[{"parallelism":1,"tasks":{"RUNNING":1}}]}`)(w, r)
	}))
	if err := c.WaitRunning(t.Context(), "j"); err != nil {
		t.Error(err)
	}
}

func TestCancelOfAnEndedJobIsNoError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusConflict} {
		if err := clusterAt(t, answer(status, "{}")).Cancel(t.Context(), "j"); err != nil {
			t.Errorf("status %d: %v", status, err)
		}
	}
	err := clusterAt(t, answer(http.StatusInternalServerError, "trace")).Cancel(t.Context(), "j")
	var failed *StatusError
	if !errors.As(err, &failed) || failed.Code != 500 || failed.Body != "trace" {
		t.Errorf("status 500: %v; want a StatusError", err)
	}
}

func TestAllRunning(t *testing.T) {
	t.Parallel()
	vertex := func(parallelism, running int) Vertex {
		return Vertex{Parallelism: parallelism, Tasks: map[string]int{"RUNNING": running}}
	}
	cases := map[string]struct {
		reason string
		job    Job
		want   bool
	}{
		"all":           {"job and tasks run", Job{State: "RUNNING", Vertices: []Vertex{vertex(2, 2), vertex(1, 1)}}, true},
		"deploying":     {"the job runs before its tasks do", Job{State: "RUNNING", Vertices: []Vertex{vertex(2, 2), vertex(2, 1)}}, false},
		"recovering":    {"after a failover there are no vertices yet", Job{State: "RUNNING"}, false},
		"another state": {"tasks still run while the job restarts", Job{State: "RESTARTING", Vertices: []Vertex{vertex(1, 1)}}, false},
	}
	for name, tc := range cases {
		if got := tc.job.AllRunning(); got != tc.want {
			t.Errorf("%s: AllRunning = %v; %s", name, got, tc.reason)
		}
	}
}
