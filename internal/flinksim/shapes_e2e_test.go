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

	"github.com/google/go-cmp/cmp"
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
				"/applications/overview", "/jars", "/jobs/:id/savepoints/00000000000000000000000000000001",
			}
			for _, p := range paths {
				if p == "/jobs/:id/checkpoints" {
					awaitCheckpoint(t, real, realJob)
				}
				if strings.Contains(p, "busyTime") {
					awaitGauges(t, real, realJob)
				}
				at := func(job jobAt) string { return strings.NewReplacer(":id", job.id, ":slow", job.slow).Replace(p) }
				a, b := shape(t, real, at(realJob)), shape(t, sim, at(simJob))
				compare(t, p, a, b)
			}
			awaitGauges(t, real, realJob)
			idsAreReal(t, real, sim, realJob, simJob)
			refusalsAreReal(t, real, sim, realJob, simJob)
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
	eventually(t, "a checkpoint before the rescale", func() bool {
		_, b := ask(t, c.URL()+"/jobs/"+id+"/checkpoints")
		return bytes.Contains(b, []byte(`"className":"completed"`))
	})
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
	c.AddJar("testjob.jar", func([]string) (flinksim.JobSpec, error) { return flinksim.JobSpec{}, nil })
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

// refusalsAreReal: what is refused is refused with the same code and words.
func refusalsAreReal(t *testing.T, real, sim string, realJob, simJob jobAt) {
	t.Helper()
	both := func(lower, upper string) string {
		return `{":source":{"parallelism":{"lowerBound":1,"upperBound":1}},":slow":{"parallelism":{"lowerBound":` + lower + `,"upperBound":` + upper + `}}}`
	}
	for name, c := range map[string]struct{ method, path, body string }{
		"unknown path":   {http.MethodGet, "/nope", ""},
		"unknown put":    {http.MethodPut, "/nope", "{}"},
		"unknown below":  {http.MethodGet, "/jobs/:id/nope", ""},
		"bad id":         {http.MethodGet, "/jobs/nope", ""},
		"unknown job":    {http.MethodGet, "/jobs/00000000000000000000000000000001", ""},
		"wanted unknown": {http.MethodGet, "/jobs/00000000000000000000000000000001/resource-requirements", ""},
		"put unknown":    {http.MethodPut, "/jobs/00000000000000000000000000000001/resource-requirements", both("1", "2")},
		"bad agg":        {http.MethodGet, "/jobs/:id/vertices/:slow/subtasks/metrics?get=numRecordsIn&agg=p99", ""},
		"bad subtasks":   {http.MethodGet, "/jobs/:id/vertices/:slow/subtasks/metrics?get=numRecordsIn&subtasks=x", ""},
		"unknown tm":     {http.MethodGet, "/taskmanagers/nope", ""},
		"unknown tm's":   {http.MethodGet, "/taskmanagers/nope/metrics", ""},
		"unknown vertex": {http.MethodGet, "/jobs/:id/vertices/00000000000000000000000000000001/subtasks/metrics", ""},
		"long line":      {http.MethodGet, "/jobs/:id/vertices/:slow/subtasks/metrics?get=" + strings.Repeat("x", 4200), ""},
		"rescale gone":   {http.MethodGet, "/jobs/:id/rescales/details/00000000000000000000000000000001", ""},
		"missing vertex": {http.MethodPut, "/jobs/:id/resource-requirements", `{":slow":{"parallelism":{"lowerBound":1,"upperBound":1}}}`},
		"alien vertex":   {http.MethodPut, "/jobs/:id/resource-requirements", strings.Replace(both("1", "1"), "{", `{"00000000000000000000000000000001":{"parallelism":{"lowerBound":1,"upperBound":1}},`, 1)},
		"lower above":    {http.MethodPut, "/jobs/:id/resource-requirements", both("3", "2")},
		"zero":           {http.MethodPut, "/jobs/:id/resource-requirements", both("0", "2")},
		"above max":      {http.MethodPut, "/jobs/:id/resource-requirements", both("1", "9999")},
		"empty":          {http.MethodPut, "/jobs/:id/resource-requirements", "{}"},
		"no body":        {http.MethodPut, "/jobs/:id/resource-requirements", ""},
		"bad JSON":       {http.MethodPut, "/jobs/:id/resource-requirements", "{"},
		"no upper":       {http.MethodPut, "/jobs/:id/resource-requirements", strings.Replace(both("1", "2"), `,"upperBound":2`, "", 1)},
	} {
		a, b := refusal(t, real, realJob, c.method, c.path, c.body), refusal(t, sim, simJob, c.method, c.path, c.body)
		if a != b {
			t.Errorf("%s:\n  Flink %s\n  here  %s", name, a, b)
		}
	}
}

// refusal is the code and the first line of each error text, with the ids and
// limits of the job replaced.
func refusal(t *testing.T, url string, job jobAt, method, path, body string) string {
	t.Helper()
	put := strings.NewReplacer(":id", job.id, ":source", job.source, ":slow", job.slow)
	req, err := http.NewRequestWithContext(t.Context(), method, url+put.Replace(path), strings.NewReader(put.Replace(body)))
	must(t, err)
	req.Close = true // Flink ends the connection after a line that was too long
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	must(t, err)
	var e struct{ Errors []string }
	if json.Unmarshal(b, &e) == nil {
		var lines []string
		for _, text := range e.Errors {
			line, _, _ := strings.Cut(text, "\n\tat ")
			lines = append(lines, line)
		}
		b = []byte(strings.Join(lines, " | "))
	}
	out := strings.NewReplacer(job.id, ":id", job.source, ":source", job.slow, ":slow").Replace(fmt.Sprintf("%d %s", res.StatusCode, b))
	return regexp.MustCompile(`maximum parallelism \d+`).ReplaceAllString(out, "maximum parallelism N")
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

// awaitGauges waits for the time gauges, which young tasks do not have.
func awaitGauges(t *testing.T, url string, job jobAt) {
	t.Helper()
	eventually(t, "time gauges", func() bool {
		_, b := ask(t, url+"/jobs/"+job.id+"/vertices/"+job.slow+"/subtasks/metrics")
		return bytes.Contains(b, []byte(`"busyTimeMsPerSecond"`))
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

// idsAreReal: the simulated cluster has exactly the metrics of the real one.
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
		ours := list(sim, at(simJob))
		have = slices.DeleteFunc(have, secondName)
		slices.Sort(have)
		slices.Sort(ours)
		if diff := cmp.Diff(have, ours); diff != "" {
			t.Errorf("metrics of the %s (-Flink +simulator):\n%s", name, diff)
		}
	}
}

// secondName is true for an id that a real Flink shows now and then. A sink
// writer's counters of records and bytes have two names each; the TaskManager's
// query service knows one name per counter, the one registered last: nearly
// always ...Send.
func secondName(id string) bool {
	return id == "sink__Writer.numRecordsOut" || id == "sink__Writer.numBytesOut"
}
