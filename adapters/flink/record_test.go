//go:build e2e && record

package flink_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/internal/flinklocal"
)

// recorder writes answers as they come, but for what belongs to a machine and
// for long lists.
type recorder struct {
	t    *testing.T
	base string
	dir  string // of the cluster
	into string
}

// TestRecord makes testdata/<version> anew:
//
//	FLINK_VERSIONS="2.3.0 1.20.5 1.18.1" go test -tags e2e,record -run TestRecord ./adapters/flink
func TestRecord(t *testing.T) {
	for _, version := range flinkVersions() {
		t.Run(version, func(t *testing.T) {
			into := filepath.Join("testdata", version)
			must(t, os.RemoveAll(into))
			must(t, os.MkdirAll(into, 0o755))
			recordAdaptive(t, version, into)
			recordDefault(t, version, into)
		})
	}
}

// recordAdaptive records a job from before it runs until after it ended.
func recordAdaptive(t *testing.T, version, into string) {
	r := startReal(t, flinklocal.Options{Version: version, TaskManagers: 2, Slots: 2})
	rec := recorder{t: t, base: r.URL(), dir: r.Dir(), into: into}
	must(t, r.WaitRunning(t.Context(), r.job))
	c := adapter(t, r.URL())
	ref, err := c.Locate(t.Context(), target("orders"))
	must(t, err)
	waitFresh(t, c, ref)
	rec.get("config", "/v1/config")
	rec.get("jobs", "/v1/jobs/overview")
	rec.get("job", "/v1/jobs/"+ref.ID)
	rec.get("job-config", "/v1/jobs/"+ref.ID+"/jobmanager/config")
	rec.get("cluster-config", "/v1/jobmanager/config")
	rec.get("jobmanager-metrics", "/v1/jobmanager/metrics?get=Status.JVM.CPU.Time,taskSlotsTotal,taskSlotsAvailable")
	rec.get("taskmanagers", "/v1/taskmanagers")
	rec.get("taskmanagers-names", "/v1/taskmanagers/metrics")
	rec.get("taskmanagers-values", "/v1/taskmanagers/metrics?agg=min,max,avg,sum&get=Status.JVM.Memory.Heap.Used,Status.JVM.Memory.Heap.Max")
	recordVertices(t, c, &rec, ref)
	recordRequirements(t, c, &rec, ref)
	rec.get("checkpoints", "/v1/jobs/"+ref.ID+"/checkpoints")
	rec.get("checkpoints-config", "/v1/jobs/"+ref.ID+"/checkpoints/config")
	rec.get("exceptions-none", "/v1/jobs/"+ref.ID+"/exceptions?maxExceptions=3")
	const gone = "00000000000000000000000000000bad"
	for _, path := range []string{"", "/checkpoints/config", "/exceptions", "/resource-requirements", "/jobmanager/config"} {
		rec.get("gone"+strings.ReplaceAll(path, "/", "-"), "/v1/jobs/"+gone+path)
	}
	rec.get("no-such-path", "/v1/jobs/"+ref.ID+"/no-such-path")
	rec.get("too-long", "/v1/jobmanager/metrics?get="+strings.Repeat("x", 4200))
	for _, path := range []string{"history", "config", "overview"} {
		rec.get("rescales-"+path, "/v1/jobs/"+ref.ID+"/rescales/"+path)
	}
	// With half of its slots lost for a while the job restarts; with all lost
	// it waits.
	must(t, r.TaskManagers()[0].Kill())
	must(t, r.TaskManagers()[1].Kill())
	await(t, "the job to wait for slots", func() bool {
		status, err := c.Status(t.Context(), ref)
		return err == nil && status.State == core.JobCreated
	})
	rec.get("job-waiting", "/v1/jobs/"+ref.ID)
	must(t, r.TaskManagers()[0].Restart(t.Context()))
	must(t, r.WaitRunning(t.Context(), ref.ID))
	rec.get("exceptions", "/v1/jobs/"+ref.ID+"/exceptions?maxExceptions=3")
	rec.get("checkpoints-failed", "/v1/jobs/"+ref.ID+"/checkpoints")
	must(t, r.Cancel(t.Context(), ref.ID))
	await(t, "the job to end", func() bool {
		status, err := c.Status(t.Context(), ref)
		return err == nil && status.State.Ended()
	})
	rec.get("job-ended", "/v1/jobs/"+ref.ID)
	rec.get("requirements-ended", "/v1/jobs/"+ref.ID+"/resource-requirements")
}

func waitFresh(t *testing.T, c *flink.Cluster, ref core.JobRef) {
	t.Helper()
	await(t, "fresh and complete metrics", func() bool {
		m, err := c.Measure(t.Context(), ref, nil)
		return err == nil && m.Fresh && len(m.Vertices) == 2 && len(m.Vertices[0].Names) > 0 &&
			m.Status.Vertices[0].RecordsRead.Or(0) > 0 && m.Status.Vertices[1].RecordsWritten.Or(0) > 0
	})
}

func recordVertices(t *testing.T, c *flink.Cluster, rec *recorder, ref core.JobRef) {
	t.Helper()
	status, err := c.Status(t.Context(), ref)
	must(t, err)
	for _, v := range status.Topology.Vertices {
		name, ids := "slow", "busyTimeMsPerSecond,numRecordsIn"
		if v.IsSource() {
			name, ids = "source", "busyTimeMsPerSecond,Source__gen.pendingRecords,Source__gen.numRecordsIn"
		}
		path := "/v1/jobs/" + ref.ID + "/vertices/" + v.ID + "/subtasks/metrics"
		rec.get(name+"-names", path)
		rec.get(name+"-values", path+"?agg=min,max,avg,sum&get="+ids)
		rec.get(name+"-one-unknown", path+"?agg=min,max,avg,sum&get=no.such.metric,"+ids)
	}
}

func recordRequirements(t *testing.T, c *flink.Cluster, rec *recorder, ref core.JobRef) {
	t.Helper()
	wanted, err := c.Wanted(t.Context(), ref)
	must(t, err)
	path := "/v1/jobs/" + ref.ID + "/resource-requirements"
	rec.get("requirements", path)
	one := func(id string, lower, upper int) string {
		return fmt.Sprintf(`"%s":{"parallelism":{"lowerBound":%d,"upperBound":%d}}`, id, lower, upper)
	}
	a, b := wanted[0].ID, wanted[1].ID
	rec.put("put-same", path, "{"+one(a, 1, 1)+","+one(b, 1, 1)+"}")
	rec.put("put-missing", path, "{"+one(a, 1, 1)+"}")
	rec.put("put-unknown", path, "{"+one(a, 1, 1)+","+one(b, 1, 1)+","+one(strings.Repeat("0", 32), 1, 1)+"}")
	rec.put("put-above-max", path, "{"+one(a, 1, 25)+","+one(b, 1, 25)+"}")
	rec.put("put-lower-above-upper", path, "{"+one(a, 3, 2)+","+one(b, 1, 1)+"}")
	rec.put("put-zero", path, "{"+one(a, 0, 0)+","+one(b, 1, 1)+"}")
	rec.put("put-empty", path, "{}")
	rec.put("put-broken", path, "{")
}

// recordDefault records what the default scheduler says.
func recordDefault(t *testing.T, version, into string) {
	r := startReal(t, flinklocal.Options{Version: version, Slots: 2, Config: map[string]string{"jobmanager.scheduler": "default"}})
	rec := recorder{t: t, base: r.URL(), dir: r.Dir(), into: into}
	must(t, r.WaitRunning(t.Context(), r.job))
	path := "/v1/jobs/" + r.job + "/resource-requirements"
	rec.get("default-scheduler-requirements", path)
	rec.put("default-scheduler-put", path, "{}")
	rec.get("default-scheduler-rescales", "/v1/jobs/"+r.job+"/rescales/history")
	id, err := r.Submit(t.Context(), r.jar, flinklocal.JobOptions{
		Name: "unsafe", Args: []string{"--rate-file", r.rates.Path()},
		Config: map[string]string{"execution.checkpointing.interval": "9223372036854775807 ms"},
	})
	if err != nil {
		t.Logf("no job without checkpoints: %v", err)
		return
	}
	must(t, r.WaitRunning(t.Context(), id))
	rec.get("no-checkpoints", "/v1/jobs/"+id+"/checkpoints")
	rec.get("no-checkpoints-config", "/v1/jobs/"+id+"/checkpoints/config")
}

func (r *recorder) get(name, path string)       { r.send(name, http.MethodGet, path, "") }
func (r *recorder) put(name, path, body string) { r.send(name, http.MethodPut, path, body) }

// send writes testdata/<version>/<name>.<status>.json.
func (r *recorder) send(name, method, path, body string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, strings.NewReader(body))
	must(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(r.t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	must(r.t, err)
	file := filepath.Join(r.into, fmt.Sprintf("%s.%d.json", name, res.StatusCode))
	must(r.t, os.WriteFile(file, r.scrub(b), 0o644))
}

var (
	traceLines = regexp.MustCompile(`((?:\\n\\tat [^\\]*){4})(?:\\n\\tat [^\\]*)+`)
	webFolder  = regexp.MustCompile(`(?:PLACE)?/[\w./\-]*/flink-web-[\w\-]+`)
)

// maxNames bounds lists of metric names: 2.3 has seven per split of a source.
const maxNames = 60

// scrub takes out what belongs to a machine, and shortens traces and lists.
func (r *recorder) scrub(b []byte) []byte {
	host, _ := os.Hostname()
	text := traceLines.ReplaceAllString(string(b), "$1")
	for _, old := range []string{r.dir, filepath.Dir(r.dir), os.Getenv("HOME"), host} {
		if len(old) > 2 {
			text = strings.ReplaceAll(text, old, "PLACE")
		}
	}
	if u, err := url.Parse(r.base); err == nil {
		text = strings.ReplaceAll(text, u.Port(), "8081")
	}
	text = webFolder.ReplaceAllString(text, "PLACE/flink-web")
	var list []map[string]any
	if json.Unmarshal([]byte(text), &list) != nil {
		return []byte(text)
	}
	list = slices.DeleteFunc(list, func(e map[string]any) bool {
		key, _ := e["key"].(string)
		return strings.HasPrefix(key, "env.")
	})
	if len(list) > maxNames && list[0]["key"] == nil {
		slices.SortFunc(list, func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(b["id"]), fmt.Sprint(a["id"])) })
		list = slices.DeleteFunc(list, func(e map[string]any) bool {
			id := fmt.Sprint(e["id"])
			return strings.Contains(id, "mailboxLatencyMs") || strings.Contains(id, "Shuffle.Netty") || strings.Contains(id, ".split.s1.") || strings.Contains(id, ".split.s2.")
		})
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	must(r.t, encoder.Encode(list))
	return out.Bytes()
}
