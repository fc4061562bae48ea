package flink_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// all picks everything.
func all(_ core.Vertex, names []string) []string { return names }

func measure(t *testing.T, c *flink.Cluster, ref core.JobRef, pick core.Picker) core.Measurement {
	t.Helper()
	m, err := c.Measure(t.Context(), ref, pick)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	m := measure(t, f.cluster(t), f.ref(), all)
	if !m.Fresh || m.Restarted || len(m.SilentTaskManagers) > 0 {
		t.Errorf("fresh %v, restarted %v, silent %v", m.Fresh, m.Restarted, m.SilentTaskManagers)
	}
	want := []core.VertexMetrics{
		{ID: f.slow, Names: []string{"busyTimeMsPerSecond", "numRecordsIn"}, Values: []core.Aggregate{{ID: "busyTimeMsPerSecond"}, one("numRecordsIn")}},
		{ID: f.source, Names: []string{"Source__gen.pendingRecords", "busyTimeMsPerSecond"}, Values: []core.Aggregate{one("Source__gen.pendingRecords"), {ID: "busyTimeMsPerSecond"}}},
	}
	if diff := cmp.Diff(want, m.Vertices); diff != "" {
		t.Errorf("vertices (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]core.Aggregate{one("Status.JVM.GarbageCollector.All.TimeMsPerSecond"), {ID: "Status.JVM.Memory.Heap.Used"}}, m.TaskManagers); diff != "" {
		t.Errorf("TaskManagers (-want +got):\n%s", diff)
	}
	if m.SlotsTotal.Or(0) != 4 || m.SlotsFree.Or(0) != 3 || m.Config["jobmanager.scheduler"] != "adaptive" {
		t.Errorf("slots %s, free %s, %d settings", m.SlotsTotal, m.SlotsFree, len(m.Config))
	}
}

// one is a metric whose every value is 1.
func one(id string) core.Aggregate { return core.Aggregate{ID: id, Min: 1, Max: 1, Avg: 1, Sum: 1} }

// still makes a clock stand still.
func still(f *fake, what string) {
	f.on("GET "+what, says(200, `[{"id":"Status.JVM.CPU.Time","value":"77000000"},{"id":"taskSlotsTotal","value":"4"}]`))
}

func managerIDs(t *testing.T) []string {
	t.Helper()
	var body struct{ TaskManagers []struct{ ID string } }
	decodeFile(t, "taskmanagers.200.json", &body)
	ids := make([]string, 0, len(body.TaskManagers))
	for _, tm := range body.TaskManagers {
		ids = append(ids, tm.ID)
	}
	return ids
}

func TestFrozenMetrics(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		freeze func(t *testing.T, f *fake)
		fresh  bool
	}{
		"all frozen": {"a fetch hangs", func(_ *testing.T, f *fake) { still(f, "/v1/jobmanager/metrics") }, false},
		"one TaskManager frozen": {"the JobManager's clock moves while a TaskManager hangs",
			func(t *testing.T, f *fake) { still(f, "/v1/taskmanagers/"+managerIDs(t)[1]+"/metrics") }, false},
		"a TaskManager not fetched yet": {"it may hold tasks",
			func(t *testing.T, f *fake) {
				f.on("GET /v1/taskmanagers/"+managerIDs(t)[1]+"/metrics", says(200, `[]`))
			}, false},
		"clock unreadable": {"what cannot be read is not fresh",
			func(_ *testing.T, f *fake) { f.on("GET /v1/jobmanager/metrics", page(200)) }, false},
		"clock missing":           {"", func(_ *testing.T, f *fake) { f.on("GET /v1/jobmanager/metrics", says(200, `[]`)) }, false},
		"TaskManagers unreadable": {"", func(_ *testing.T, f *fake) { f.on("GET /v1/taskmanagers", page(200)) }, false},
		"one TaskManager's clock unreadable": {"",
			func(t *testing.T, f *fake) { f.on("GET /v1/taskmanagers/"+managerIDs(t)[0]+"/metrics", page(200)) }, false},
		"no TaskManagers": {"nobody is stale", func(_ *testing.T, f *fake) { f.on("GET /v1/taskmanagers", says(200, `{"taskmanagers":[]}`)) }, true},
		"first fetch ever": {"a clock that was not there and is now was fetched meanwhile", func(_ *testing.T, f *fake) {
			var looks atomic.Int32
			f.on("GET /v1/jobmanager/metrics", func(w http.ResponseWriter, r *http.Request) {
				if looks.Add(1) == 1 {
					_, _ = w.Write([]byte("[]"))
					return
				}
				_, _ = w.Write([]byte(`[{"id":"Status.JVM.CPU.Time","value":"77000000"}]`))
			})
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c.freeze(t, f)
			began := time.Now()
			m := measure(t, f.cluster(t), f.ref(), all)
			if m.Fresh != c.fresh {
				t.Errorf("fresh %v, want %v (%s)", m.Fresh, c.fresh, c.reason)
			}
			bound := 2*100*time.Millisecond + time.Second // two fetch intervals and a second
			if took := time.Since(began); took > bound+time.Second || (!c.fresh && took < bound) || m.Waited > bound+time.Second {
				t.Errorf("took %s, waited %s, want about %s at most", took, m.Waited, bound)
			}
			if len(m.Vertices) != 2 || len(m.Vertices[0].Values) == 0 {
				t.Errorf("values are given all the same, as stale ones: %+v", m.Vertices)
			}
		})
	}
}

func TestFreezeDoesNotEatTheCallersTime(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	still(f, "/v1/jobmanager/metrics")
	f.on("GET /v1/jobmanager/config", says(200, `[]`)) // Flink's 10 s
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	m, err := f.cluster(t).Measure(ctx, f.ref(), all)
	if err != nil || m.Fresh || len(m.Vertices) != 2 {
		t.Errorf("%v, fresh %v: a frozen cluster is an answer, and the deadline leaves time for it", err, m.Fresh)
	}
}

func TestSilentTaskManagers(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var job struct{ Now int64 }
	decodeFile(t, "job.200.json", &job)
	f.on("GET /v1/taskmanagers", says(200, fmt.Sprintf(`{"taskmanagers":[{"id":"b","timeSinceLastHeartbeat":%d},{"id":"a","timeSinceLastHeartbeat":%d},{"id":"c","timeSinceLastHeartbeat":%d},{"id":"d","timeSinceLastHeartbeat":0}]}`,
		job.Now-2501, job.Now-9000, job.Now-2499)))
	m := measure(t, f.cluster(t), f.ref(), nil)
	if diff := cmp.Diff([]string{"a", "b"}, m.SilentTaskManagers); diff != "" {
		t.Errorf("silent with a heartbeat interval of 1 s (-want +got):\n%s", diff)
	}
}

func TestManyTaskManagersAreReadAsOne(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf(`{"id":"tm-%d","timeSinceLastHeartbeat":0}`, i))
	}
	f.on("GET /v1/taskmanagers", says(200, `{"taskmanagers":[`+strings.Join(list, ",")+`]}`))
	f.on("GET /v1/taskmanagers/metrics", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("get") == "Status.JVM.CPU.Time" {
			_, _ = fmt.Fprintf(w, `[{"id":"Status.JVM.CPU.Time","sum":%d}]`, f.next())
			return
		}
		_, _ = w.Write([]byte("[]"))
	})
	if m := measure(t, f.cluster(t), f.ref(), nil); !m.Fresh || f.count("GET /v1/taskmanagers/tm-") > 0 {
		t.Errorf("fresh %v, %d single requests", m.Fresh, f.count("GET /v1/taskmanagers/tm-"))
	}
}

func TestJobThatRestartsWhileRead(t *testing.T) {
	t.Parallel()
	var job struct {
		Now        int64
		Timestamps struct{ RUNNING int64 }
	}
	decodeFile(t, "job.200.json", &job)
	running := fmt.Sprint(job.Timestamps.RUNNING)
	later := fmt.Sprint(job.Timestamps.RUNNING + 5)
	cases := map[string]struct {
		reason string
		second http.HandlerFunc // of the job, nil for no change
		list   http.HandlerFunc
		kept   bool // the vertices' values
	}{
		"restarted":      {"", text(t, "job.200.json", `"RUNNING":`+running, `"RUNNING":`+later), nil, true},
		"rescaled":       {"", text(t, "job.200.json", `"maxParallelism":24,"parallelism":1`, `"maxParallelism":24,"parallelism":3`), nil, false},
		"waits":          {"its old numbers are not the job's", text(t, "job-waiting.200.json"), nil, false},
		"ended":          {"", text(t, "job-ended.200.json"), nil, false},
		"changed lately": {"/jobs/:id is a copy from before", nil, says(200, fmt.Sprintf(`{"jobs":[{"jid":"%s","state":"RUNNING","last-modification":%d}]}`, jobID(t), job.Now-1000)), true},
		"list differs":   {"", nil, says(200, fmt.Sprintf(`{"jobs":[{"jid":"%s","state":"RESTARTING","last-modification":1}]}`, jobID(t))), true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			if c.list != nil {
				f.on("GET /v1/jobs/overview", c.list)
			}
			var looks atomic.Int32
			first := text(t, "job.200.json")
			f.on("GET /v1/jobs/"+f.job, func(w http.ResponseWriter, r *http.Request) {
				if looks.Add(1) == 1 || c.second == nil {
					first(w, r)
					return
				}
				c.second(w, r)
			})
			m := measure(t, f.cluster(t), f.ref(), all)
			if !m.Restarted || m.Fresh || (len(m.Vertices) > 0) != c.kept {
				t.Errorf("restarted %v, fresh %v, %d vertices (%s)", m.Restarted, m.Fresh, len(m.Vertices), c.reason)
			}
		})
	}
}

func jobID(t *testing.T) string {
	t.Helper()
	var job struct{ JID string }
	decodeFile(t, "job.200.json", &job)
	return job.JID
}

func TestJobThatDoesNotRunIsMeasuredWithoutMetrics(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"job-waiting.200.json", "job-ended.200.json"} {
		f := newFake(t)
		f.on("GET /v1/jobs/"+f.job, text(t, file))
		m := measure(t, f.cluster(t), f.ref(), all)
		if m.Fresh || len(m.Vertices) > 0 || m.Clock.State() != core.Missing || f.count("GET /v1/jobmanager/metrics") > 0 {
			t.Errorf("%s: %+v", file, m)
		}
		if len(m.Config) == 0 {
			t.Errorf("%s: the configuration counts also while the job waits", file)
		}
	}
}

func TestJobThatVanishesWhileRead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET /v1/jobs/overview", says(200, `{"jobs":[]}`))
	_, err := f.cluster(t).Measure(t.Context(), f.ref(), all)
	if err == nil || core.ReasonFor(err) != core.ReasonJobGone {
		t.Errorf("%v, want not found", err)
	}
}

func TestIncompleteAndStrangeNumbers(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET /v1/jobs/"+f.job, text(t, "job.200.json", `"read-records-complete":true`, `"read-records-complete":false`, `"accumulated-busy-time":`, `"accumulated-busy-time":"NaN","x":`))
	f.on("GET "+f.vertexPath(f.slow), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("get") == "" {
			_, _ = w.Write([]byte(`[{"id":"busyTimeMsPerSecond"},{"id":"currentInputWatermark"}]`))
			return
		}
		_, _ = w.Write([]byte(`[{"id":"busyTimeMsPerSecond","min":"NaN","max":"Infinity","avg":"-Infinity","sum":1e999},{"id":"currentInputWatermark","min":-9.223372036854776E18}]`))
	})
	m := measure(t, f.cluster(t), f.ref(), all)
	for _, v := range m.Status.Vertices {
		if v.RecordsRead.State() != core.Incomplete || v.BusyMs.State() != core.Incomplete || v.RecordsWritten.State() != core.Present {
			t.Errorf("%+v: a partial number is none", v)
		}
	}
	got := m.Vertices[0].Values
	if len(got) != 2 || !math.IsNaN(got[0].Min) || !math.IsNaN(got[0].Max) || !math.IsNaN(got[0].Avg) || !math.IsNaN(got[0].Sum) {
		t.Errorf("%+v: not one of them is a number", got)
	}
	if len(got) == 2 && (got[1].Min != -9.223372036854776e18 || !math.IsNaN(got[1].Max)) {
		t.Errorf("%+v: what is not given is not zero", got[1])
	}
}

func TestLongListsAreSplit(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	ids := make([]string, 0, 1000)
	for i := range 1000 {
		ids = append(ids, fmt.Sprintf("Source__orders_and_returns.KafkaSourceReader.topic.orders.partition.%04d.currentOffset", i))
	}
	f.metrics(f.vertexPath(f.source), ids...)
	m := measure(t, f.cluster(t), f.ref(), all)
	if got := m.Vertices[1]; len(got.Values) != 1000 || len(got.Names) != 1000 {
		t.Errorf("%d of 1000 values, %d names", len(got.Values), len(got.Names))
	}
	if n := f.count("GET " + f.vertexPath(f.source) + "?"); n < 20 || n > 40 {
		t.Errorf("%d requests for 84 kB of names", n)
	}
}

func TestAMetricThatVanishes(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var looks atomic.Int32
	before, after := aggregating([]string{"busyTimeMsPerSecond", "gone", "numRecordsIn"}), aggregating([]string{"busyTimeMsPerSecond", "numRecordsIn"})
	f.on("GET "+f.vertexPath(f.slow), func(w http.ResponseWriter, r *http.Request) {
		if looks.Add(1) == 1 {
			before(w, r)
			return
		}
		after(w, r)
	})
	got := measure(t, f.cluster(t), f.ref(), all).Vertices[0].Values
	if len(got) != 2 || got[0].ID != "busyTimeMsPerSecond" || got[1].ID != "numRecordsIn" {
		t.Errorf("%+v: the others are still there", got)
	}
	if n := looks.Load(); n != 4 { // names, all, names again, the rest
		t.Errorf("%d requests, want 4", n)
	}
}

func TestMetricsThatCannotBeReadAreLeftOut(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET "+f.vertexPath(f.slow), serverError("x"))
	f.on("GET /v1/taskmanagers/metrics", page(500))
	f.on("GET /v1/jobs/"+f.job+"/jobmanager/config", serverError("x"))
	m := measure(t, f.cluster(t), f.ref(), all)
	if len(m.Vertices) != 2 || len(m.Vertices[0].Names) > 0 || len(m.Vertices[1].Values) != 2 || len(m.TaskManagers) > 0 {
		t.Errorf("%+v, %+v", m.Vertices, m.TaskManagers)
	}
	if m.Config != nil {
		t.Errorf("a configuration that cannot be read is not an empty one: %v", m.Config)
	}
}

func TestConfigurationIsReadOncePerMinute(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.cluster(t)
	for range 3 {
		m := measure(t, c, f.ref(), nil)
		m.Config["jobmanager.scheduler"] = "mine now"
	}
	if got := measure(t, c, f.ref(), nil).Config["jobmanager.scheduler"]; got != "adaptive" {
		t.Errorf("a caller changed what others see: %s", got)
	}
	for _, path := range []string{"/v1/jobs/" + f.job + "/jobmanager/config", "/v1/jobmanager/config", "/v1/config"} {
		if n := f.count("GET " + path); n != 1 {
			t.Errorf("%s was read %d times", path, n)
		}
	}
}

func TestJobsOfOneClusterShareTheirQuestions(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	// Nothing moves for a while, so that all wait at the same time.
	began := time.Now()
	f.on("GET /v1/jobmanager/metrics", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `[{"id":"Status.JVM.CPU.Time","value":"%d"}]`, 1+int(time.Since(began)/(700*time.Millisecond)))
	})
	c := f.cluster(t)
	const jobs = 60
	var wg sync.WaitGroup
	var fresh atomic.Int32
	for range jobs {
		wg.Go(func() {
			m, err := c.Measure(t.Context(), f.ref(), func(core.Vertex, []string) []string { return nil })
			if err == nil && m.Fresh {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if fresh.Load() != jobs {
		t.Errorf("%d of %d are fresh", fresh.Load(), jobs)
	}
	if n := f.count("GET /v1/jobmanager/metrics"); n > 3*jobs {
		t.Errorf("%d looks at the clock for %d jobs", n, jobs)
	}
	if n := f.count("GET /v1/taskmanagers/metrics"); n > 2*4 {
		t.Errorf("%d reads of the TaskManagers' metrics for %d jobs in one fetch or two", n, jobs)
	}
	if f.atOnce > flink.DefaultMaxRequests {
		t.Errorf("%d requests at once", f.atOnce)
	}
}

func TestPickIsGivenTheVertexAndItsNames(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	seen := map[string][]string{}
	measure(t, f.cluster(t), f.ref(), func(v core.Vertex, names []string) []string {
		seen[v.Name] = slices.Clone(names)
		names[0] = "changed by the picker"
		return []string{"numRecordsIn", "numRecordsIn", "not there"}
	})
	want := map[string][]string{
		"Source: gen": {"Source__gen.pendingRecords", "busyTimeMsPerSecond"}, "slow -> sink: Writer": {"busyTimeMsPerSecond", "numRecordsIn"},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
