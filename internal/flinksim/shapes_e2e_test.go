//go:build e2e

package flinksim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/flinksim"
)

// TestShapesAreThoseOfARealFlink brings a real cluster and a simulated one
// through the same: a job, a rescale, a lost TaskManager. Then all answers must
// have the same keys, with values of the same types.
func TestShapesAreThoseOfARealFlink(t *testing.T) {
	for _, version := range []string{flinksim.Flink23, flinksim.Flink120} {
		t.Run(version, func(t *testing.T) {
			real, realJob := realCluster(t, version)
			sim, simJob := simCluster(t, version)
			paths := []string{
				"/config", "/overview", "/jobs", "/jobs/overview", "/jobs/:id", "/jobs/:id/status", "/jobs/:id/plan",
				"/jobs/:id/jobmanager/config", "/jobmanager/config", "/jobs/:id/resource-requirements",
				"/jobs/:id/checkpoints", "/jobs/:id/checkpoints/config", "/jobs/:id/exceptions", "/taskmanagers",
				"/jobmanager/metrics", "/jobmanager/metrics?get=Status.JVM.CPU.Time,taskSlotsTotal,nope", "/taskmanagers/metrics",
				"/taskmanagers/metrics?get=Status.JVM.CPU.Time,Status.JVM.Memory.Heap.Max&agg=min,max",
				"/jobs/:id/metrics?get=numRestarts,numRescales", "/jobs/:id/vertices/:slow/subtasks/metrics",
				"/jobs/:id/vertices/:slow/subtasks/metrics?get=numRecordsIn,busyTimeMsPerSecond",
				"/jobs/:id/vertices/:slow/subtasks/metrics?get=numRecordsIn,nope", "/jobs/:id/vertices/:slow/metrics?get=0.numRecordsIn,99.x",
				"/nope", "/jobs/nope", "/jobs/00000000000000000000000000000001", "/jobs/00000000000000000000000000000001/resource-requirements",
				"/jobs/:id/rescales/overview", "/jobs/:id/rescales/history", "/jobs/:id/rescales/summary", "/jobs/:id/rescales/config",
				"/applications/overview",
			}
			for _, p := range paths {
				if p == "/jobs/:id/checkpoints" {
					awaitCheckpoint(t, real, realJob)
				}
				at := func(job jobAt) string { return strings.NewReplacer(":id", job.id, ":slow", job.slow).Replace(p) }
				a, b := shape(t, real, at(realJob)), shape(t, sim, at(simJob))
				compare(t, p, a, b)
			}
			idsAreReal(t, real, sim, realJob, simJob)
		})
	}
}

// jobAt is the job under test on one of the clusters.
type jobAt struct{ id, source, slow string }

func realCluster(t *testing.T, version string) (string, jobAt) {
	t.Helper()
	c, err := flinklocal.Start(t.Context(), flinklocal.Options{Version: version, TaskManagers: 2, Slots: 2, Dir: t.TempDir(), Log: t.Output()})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	jar, err := testjob.Jar()
	must(t, err)
	rates, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	must(t, err)
	must(t, rates.Set(200))
	id, err := c.Submit(t.Context(), jar, flinklocal.JobOptions{
		Name: "orders", Parallelism: 1, Args: []string{"--rate-file", rates.Path(), "--splits", "4", "--cost-us", "500"},
	})
	must(t, err)
	must(t, c.WaitRunning(t.Context(), id))
	job, err := c.Job(t.Context(), id)
	must(t, err)
	source, _ := job.Vertex(testjob.SourceName)
	slow, found := job.Vertex(testjob.SlowName)
	if !found {
		t.Fatalf("no slow vertex in %+v", job)
	}
	rescale(t, c.URL(), id, source.ID, slow.ID)
	must(t, c.WaitJob(t.Context(), id, "4 slow subtasks", func(j flinklocal.Job) bool {
		v, _ := j.Vertex(testjob.SlowName)
		return v.Parallelism == 4 && j.AllRunning()
	}))
	must(t, c.TaskManagers()[1].Kill())
	must(t, c.WaitSlots(t.Context(), 2))
	must(t, c.WaitJob(t.Context(), id, "2 slow subtasks", func(j flinklocal.Job) bool {
		v, _ := j.Vertex(testjob.SlowName)
		return v.Parallelism == 2 && j.AllRunning()
	}))
	return c.URL(), jobAt{id, source.ID, slow.ID}
}

func simCluster(t *testing.T, version string) (string, jobAt) {
	t.Helper()
	c := flinksim.New(flinksim.Options{Version: version, Start: time.Now(), Slots: 4, SlotsPerTaskManager: 2})
	t.Cleanup(c.Close)
	url, err := c.Start()
	must(t, err)
	id := c.AddJob(flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(200), Vertices: []flinksim.VertexSpec{
		{Name: "Source: gen", Partitions: 4},
		{Name: "slow -> sink: Writer", Inputs: []flinksim.Input{{From: "Source: gen"}}},
	}})
	v, err := c.View(id)
	must(t, err)
	job := jobAt{id, v.Vertices[0].ID, v.Vertices[1].ID}
	c.Advance(20 * time.Second)
	rescale(t, url, id, job.source, job.slow)
	c.Advance(20 * time.Second)
	c.LoseTaskManager()
	c.Advance(20 * time.Second)
	for range 3 {
		_, _ = ask(t, url+"/jobmanager/metrics")
		c.Advance(11 * time.Second)
	}
	return url, job
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rescale(t *testing.T, url, job, source, slow string) {
	t.Helper()
	body := fmt.Sprintf(`{%q:{"parallelism":{"lowerBound":1,"upperBound":1}},%q:{"parallelism":{"lowerBound":1,"upperBound":4}}}`, source, slow)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/jobs/"+job+"/resource-requirements", strings.NewReader(body))
	must(t, err)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	b, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK || string(b) != "{}" {
		t.Fatalf("PUT: %d %s", res.StatusCode, b)
	}
}

func ask(t *testing.T, url string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, b
}

// awaitCheckpoint waits for what the simulated job has too: a checkpoint that
// completed since it was restored, and none in progress.
func awaitCheckpoint(t *testing.T, url string, job jobAt) {
	t.Helper()
	var b []byte
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("checkpoints: %s", b)
		}
	})
	eventually(t, "a checkpoint", func() bool {
		_, b = ask(t, url+"/jobs/"+job.id+"/checkpoints")
		return bytes.Contains(b, []byte(`"className":"completed"`)) && !bytes.Contains(b, []byte(`"className":"in_progress"`)) &&
			!bytes.Contains(b, []byte(`"restored":null`))
	})
}

var ids = regexp.MustCompile(`^[0-9a-f]{32}$`)

// shape gives the path of every key with the type of its value, and the
// status. Where a list is empty or a value null, all below it is unknown: "?".
func shape(t *testing.T, url, path string) map[string]string {
	t.Helper()
	// The first look may start a fetch and find nothing; the last counts.
	status, body := ask(t, url+path)
	out := map[string]string{"status": fmt.Sprint(status)}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	must(t, d.Decode(&v))
	walk("", v, out)
	return out
}

func walk(at string, v any, out map[string]string) {
	switch x := v.(type) {
	case nil:
		note(out, at, "?")
	case bool:
		note(out, at, "bool")
	case string:
		note(out, at, "string")
		if x == "NaN" {
			out[at] = "double"
		}
	case json.Number:
		if strings.ContainsAny(x.String(), ".E") {
			note(out, at, "double")
		} else {
			note(out, at, "int")
		}
	case []any:
		note(out, at, "list")
		if len(x) == 0 {
			note(out, at+"[]", "?")
		}
		for _, e := range x {
			walk(at+"[]", e, out)
		}
	case map[string]any:
		note(out, at, "object")
		for k, e := range x {
			if ids.MatchString(k) {
				k = "*"
			}
			walk(at+"."+k, e, out)
		}
	}
}

func note(out map[string]string, at, what string) {
	if was, have := out[at]; !have || was == "?" {
		out[at] = what
	}
}

// compare reports keys that only one has, and types that differ.
func compare(t *testing.T, path string, real, sim map[string]string) {
	t.Helper()
	all := map[string]bool{}
	for k := range real {
		all[k] = true
	}
	for k := range sim {
		all[k] = true
	}
	for k := range all {
		a, b := real[k], sim[k]
		if a == b || a == "?" || b == "?" || unknown(k, real) || unknown(k, sim) || allowed(path, k) {
			continue
		}
		t.Errorf("%s: %s is %q in Flink and %q here", path, k, a, b)
	}
}

// unknown is true below an empty list or a null.
func unknown(k string, m map[string]string) bool {
	for at, what := range m {
		if what == "?" && strings.HasPrefix(k, at) {
			return true
		}
	}
	return false
}

// allowed are keys that depend on what happened.
func allowed(path, k string) bool {
	switch {
	case path == "/jobs/:id/exceptions" && strings.HasPrefix(k, ".exceptionHistory.entries[]."):
		return slices.Contains([]string{"taskName", "endpoint", "location", "taskManagerId"}, k[strings.LastIndexByte(k, '.')+1:])
	case path == "/jobs/:id/checkpoints" && strings.HasPrefix(k, ".history[]."):
		return true // completed and failed ones have their own keys
	}
	return false
}

// idsAreReal: every metric that the simulated vertex has, a real one has too.
func idsAreReal(t *testing.T, real, sim string, realJob, simJob jobAt) {
	t.Helper()
	list := func(url, path string) (out []string) {
		var m []struct{ ID string }
		_, b := ask(t, url+path)
		must(t, json.Unmarshal(b, &m))
		for _, e := range m {
			out = append(out, e.ID)
		}
		return out
	}
	for name, at := range map[string]func(jobAt) string{
		"source":      func(j jobAt) string { return "/jobs/" + j.id + "/vertices/" + j.source + "/subtasks/metrics" },
		"slow":        func(j jobAt) string { return "/jobs/" + j.id + "/vertices/" + j.slow + "/subtasks/metrics" },
		"JobManager":  func(jobAt) string { return "/jobmanager/metrics" },
		"TaskManager": func(jobAt) string { return "/taskmanagers/metrics" },
	} {
		have := list(real, at(realJob))
		missing := 0
		for _, id := range list(sim, at(simJob)) {
			if !slices.Contains(have, id) {
				t.Errorf("%s: the simulator has %s, Flink has not", name, id)
			}
		}
		for _, id := range have {
			if !slices.Contains(list(sim, at(simJob)), id) {
				missing++
				t.Logf("%s: only Flink has %s", name, id)
			}
		}
		t.Logf("%s: Flink has %d ids, %d of them not here", name, len(have), missing)
	}
}
