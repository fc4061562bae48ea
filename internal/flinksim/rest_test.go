package flinksim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// keys lists the paths of all keys of a JSON value, sorted; the elements of a
// list are one.
func keys(t *testing.T, body string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	found := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch x := v.(type) {
		case map[string]any:
			for k, e := range x {
				found[at+"."+k] = true
				walk(at+"."+k, e)
			}
		case []any:
			for _, e := range x {
				walk(at+"[]", e)
			}
		}
	}
	walk("", v)
	out := make([]string, 0, len(found))
	for k := range found {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// What a real Flink answered, cut down to one vertex with and one without
// inputs. The values do not matter, only which keys there are.
const (
	realTasks    = `{"SCHEDULED":0,"RUNNING":2,"CANCELED":0,"CANCELING":0,"FAILED":0,"CREATED":0,"INITIALIZING":0,"DEPLOYING":0,"RECONCILING":0,"FINISHED":0}`
	realVertices = `[{"id":"a","slotSharingGroupId":"b","name":"Source: gen","maxParallelism":24,"parallelism":2,"status":"RUNNING","start-time":1,"end-time":-1,"duration":1,"tasks":` + realTasks +
		`,"metrics":{"read-bytes":0,"read-bytes-complete":true,"write-bytes":1,"write-bytes-complete":true,"read-records":1,"read-records-complete":true,"write-records":1,"write-records-complete":true,"accumulated-backpressured-time":0,"accumulated-idle-time":1,"accumulated-busy-time":240.0}}]`
	realStamps = `{"CREATED":1,"CANCELLING":0,"RECONCILING":0,"RUNNING":1,"FAILING":0,"FAILED":0,"FINISHED":0,"RESTARTING":0,"INITIALIZING":1,"CANCELED":0,"SUSPENDED":0}`
	realNodes  = `[{"id":"a","operator":"","parallelism":2,"operator_strategy":"","description":"Source: gen<br/>","optimizer_properties":{},"inputs":[{"id":"c","num":0,"exchange":"pipelined_bounded","ship_strategy":"HASH"}]}]`
	realJob23  = `{"jid":"8","application-id":"8","name":"j23","isStoppable":false,"state":"RUNNING","job-type":"STREAMING","schedulerType":"Adaptive","start-time":1,"end-time":-1,"duration":1,"maxParallelism":24,"now":1,"timestamps":` + realStamps +
		`,"vertices":` + realVertices + `,"status-counts":` + realTasks + `,"plan":{"jid":"8","name":"j23","type":"STREAMING","nodes":` + realNodes + `},"pending-operators":0}`
	realJob120 = `{"jid":"8","name":"j120","isStoppable":false,"state":"RUNNING","job-type":"STREAMING","start-time":1,"end-time":-1,"duration":1,"maxParallelism":24,"now":1,"timestamps":` + realStamps +
		`,"vertices":` + realVertices + `,"status-counts":` + realTasks + `,"plan":{"jid":"8","name":"j120","type":"STREAMING","nodes":` + realNodes + `}}`
	realCounts   = `{"running":4,"canceling":0,"canceled":0,"total":4,"created":0,"scheduled":0,"deploying":0,"reconciling":0,"finished":0,"initializing":0,"failed":0}`
	realList23   = `{"jobs":[{"jid":"8","name":"j","jobType":"STREAMING","schedulerType":"Adaptive","start-time":1,"end-time":-1,"duration":1,"state":"RUNNING","last-modification":1,"tasks":` + realCounts + `,"pending-operators":0}]}`
	realList120  = `{"jobs":[{"jid":"9","name":"j","start-time":1,"end-time":-1,"duration":1,"state":"RUNNING","last-modification":1,"tasks":` + realCounts + `}]}`
	realOverview = `{"rescalesCounts":{"ignored":20,"inProgress":0,"completed":14,"failed":0},"latest":{"completed":{"rescaleUuid":"4","resourceRequirementsUuid":"c","rescaleAttemptId":1,"vertices":{},"slots":{},"schedulerStates":[],
		"startTimestampInMillis":1,"endTimestampInMillis":1,"terminalState":"COMPLETED","triggerCause":"UPDATE_REQUIREMENT","terminatedReason":"SUCCEEDED"},"failed":null,"ignored":null}}`
	realConfig = `{"rescaleHistoryMax":20,"schedulerExecutionMode":null,"submissionResourceWaitTimeoutInMillis":20000,"submissionResourceStabilizationTimeoutInMillis":1000,"slotIdleTimeoutInMillis":5000,
		"executingCooldownTimeoutInMillis":1000,"executingResourceStabilizationTimeoutInMillis":2000,"maximumDelayForTriggeringRescaleInMillis":3000,"rescaleOnFailedCheckpointCount":2}`
)

func TestShapesAreFlinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ version, path, real string }{
		"job 2.3":          {Flink23, "", realJob23},
		"job 1.20":         {Flink120, "", realJob120},
		"list 2.3":         {Flink23, "overview", realList23},
		"list 1.20":        {Flink120, "overview", realList120},
		"rescales":         {Flink23, "/rescales/overview", realOverview},
		"rescale settings": {Flink23, "/rescales/config", realConfig},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Options{Version: c.version})
			id := r.c.AddJob(JobSpec{})
			path := "/jobs/" + id + c.path
			if c.path == "overview" {
				path = "/jobs/overview"
			}
			_, body := r.ask(http.MethodGet, path, "")
			if diff := cmp.Diff(keys(t, c.real), keys(t, body)); diff != "" {
				t.Errorf("keys of %s (-Flink +ours):\n%s", path, diff)
			}
		})
	}
}

func TestTypesAreFlinks(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Load: Constant(300)})
	r.fetch()
	r.fetch()
	for path, want := range map[string][]string{
		"/jobmanager/metrics?get=taskSlotsAvailable,nope,taskSlotsTotal":                               {`[{"id":"taskSlotsAvailable","value":"6"},{"id":"taskSlotsTotal","value":"8"}]`},
		"/jobs/" + id + "/vertices/" + VertexID("enrich") + "/subtasks/metrics?get=numRecordsIn":       {`"min":`, `.0,"max":`, `"skew":0.0}]`},
		"/jobs/" + id + "/vertices/" + VertexID("enrich") + "/metrics?get=0.numRecordsIn,9.x,0.nope":   {`[{"id":"0.numRecordsIn","value":"`},
		"/jobs/" + id + "/metrics?get=numRestarts,nope":                                                {`[{"id":"numRestarts","value":"0"}]`},
		"/taskmanagers/metrics?get=Status.JVM.Memory.Heap.Used&agg=min,max":                            {`[{"id":"Status.JVM.Memory.Heap.Used","min":3.0858784E7,"max":3.5465816E7}]`},
		"/jobs/" + id + "/resource-requirements":                                                       {`"` + VertexID("enrich") + `":{"parallelism":{"lowerBound":1,"upperBound":2}}`},
		"/jobs/" + id + "/checkpoints":                                                                 {`"className":"completed"`, `"status":"COMPLETED"`, `"end_to_end_duration":{"min":50,"max":50,"avg":50,"p50":50.0`},
		"/jobs/" + id:                                                                                  {`"accumulated-busy-time":`, `"duration":`, `"end-time":-1`},
		"/jobs/" + id + "/vertices/" + VertexID("Source: orders") + "/subtasks/metrics?subtasks=0,3-5": {`"Source__orders.pendingRecords"`, `"busyTimeMsPerSecond"`, `"Source__orders.numRecordsInPerSecond"`},
	} {
		status, body := r.ask(http.MethodGet, path, "")
		for _, w := range want {
			if status != http.StatusOK || !strings.Contains(body, w) {
				t.Errorf("GET %s: %d, no %s in %s", path, status, w, body)
			}
		}
	}
}

// TestErrors: the codes and words of a real cluster.
func TestErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Name: "live"})
	ended := r.c.AddJob(JobSpec{Name: "ended"})
	if err := r.c.FailJob(ended, "boom"); err != nil {
		t.Fatal(err)
	}
	fixed := r.c.AddJob(JobSpec{Name: "fixed", NotAdaptive: true, CheckpointInterval: -1})
	vertex := "/jobs/" + id + "/vertices/" + VertexID("enrich") + "/subtasks/metrics"
	unknown := strings.Repeat("0", 31) + "1"
	for name, c := range map[string]struct {
		path   string
		status int
		words  string
	}{
		"unknown path":          {"/nope", 404, `{"errors":["Unable to load requested file /nope."]}`},
		"unknown version":       {"/v2/config", 404, "Unable to load requested file /v2/config."},
		"unknown job":           {"/jobs/" + unknown, 404, "org.apache.flink.runtime.rest.NotFoundException: Job " + unknown + " not found"},
		"bad job id":            {"/jobs/nope", 400, "Cannot resolve path parameter (jobid) from value"},
		"long line":             {vertex + "?get=" + strings.Repeat("x", 4200), 404, "Unable to load requested file /bad-request."},
		"not so long":           {vertex + "?get=" + strings.Repeat("x", 3900), 200, "[]"},
		"bad aggregation":       {vertex + "?get=numRecordsIn&agg=p99", 400, "Cannot resolve query parameter (agg) from value"},
		"unknown vertex":        {"/jobs/" + id + "/vertices/" + unknown + "/subtasks/metrics", 200, "[]"},
		"metrics unknown job":   {"/jobs/" + unknown + "/vertices/" + unknown + "/subtasks/metrics", 200, "[]"},
		"wanted unknown job":    {"/jobs/" + unknown + "/resource-requirements", 500, "FlinkJobNotFoundException: Could not find Flink job (" + unknown + ")"},
		"wanted of ended":       {"/jobs/" + ended + "/resource-requirements", 500, "FlinkJobNotFoundException"},
		"ended still shown":     {"/jobs/" + ended, 200, `"state":"FAILED"`},
		"wanted not adaptive":   {"/jobs/" + fixed + "/resource-requirements", 500, `["Internal server error.","\u003cException on server side:\njava.lang.UnsupportedOperationException: The DefaultScheduler`},
		"no checkpoints":        {"/jobs/" + fixed + "/checkpoints", 404, "Checkpointing has not been enabled."},
		"no checkpoint config":  {"/jobs/" + fixed + "/checkpoints/config", 404, "Checkpointing is not enabled for this job (" + fixed + ")."},
		"rescales not adaptive": {"/jobs/" + fixed + "/rescales/config", 404, "AdaptiveScheduler is not enabled for this job"},
		"no history":            {"/jobs/" + fixed + "/rescales/overview", 404, "RescalesUnavailableException"},
		"applications":          {"/applications/overview", 200, "SingleJobApplication(live)"},
	} {
		for _, prefix := range []string{"", "/v1"} {
			if strings.HasPrefix(c.path, "/v2") || c.path == "/nope" {
				prefix = ""
			}
			status, body := r.ask(http.MethodGet, prefix+c.path, "")
			if status != c.status || !strings.Contains(body, c.words) {
				t.Errorf("%s: GET %.60s: %d %.300s, want %d with %s", name, prefix+c.path, status, body, c.status, c.words)
			}
		}
	}
}

func TestOldVersionHasNoNewPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Version: Flink120})
	id := r.c.AddJob(JobSpec{})
	if err := r.c.RestartJob(id, "boom"); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/jobs/" + id + "/rescales/overview", "/jobs/" + id + "/rescales/config", "/applications/overview"} {
		if status, body := r.ask(http.MethodGet, p, ""); status != http.StatusNotFound || !strings.Contains(body, "Unable to load requested file") {
			t.Errorf("GET %s: %d %s", p, status, body)
		}
	}
	var e map[string]any
	r.get("/jobs/"+id+"/exceptions", &e)
	for _, k := range []string{"root-exception", "timestamp", "all-exceptions", "truncated", "exceptionHistory"} {
		if _, have := e[k]; !have {
			t.Errorf("1.20 has no %q in exceptions", k)
		}
	}
}

func TestPutIsValidated(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{})
	a, b, c := VertexID("Source: orders"), VertexID("enrich"), VertexID("sink: Writer")
	all := func(lower, upper string) string {
		return `{"` + a + `":{"parallelism":{"lowerBound":1,"upperBound":1}},"` + c + `":{"parallelism":{"lowerBound":1,"upperBound":1}},"` + b +
			`":{"parallelism":{"lowerBound":` + lower + `,"upperBound":` + upper + `}}}`
	}
	for name, x := range map[string]struct {
		body, words string
		status      int
	}{
		"identical":      {all("1", "2"), "{}", 200},
		"unknown fields": {strings.Replace(all("1", "2"), `"lowerBound":1`, `"x":7,"lowerBound":1`, 1), "{}", 200},
		"missing vertex": {`{"` + a + `":{"parallelism":{"lowerBound":1,"upperBound":1}}}`, "The request is incomplete, missing job vertex [" + b + "] resource requirements.", 400},
		"unknown vertex": {strings.Replace(all("1", "2"), b, strings.Repeat("0", 32), 1), "Job vertex [" + strings.Repeat("0", 32) + "] was not found in the JobGraph.", 400},
		"above max":      {all("1", "129"), "The newly requested parallelism 129 for the job vertex " + b + " exceeds its maximum parallelism 128.", 400},
		"lower above":    {all("3", "2"), "The requested lower bound [3] for job vertex [" + b + "] is higher than the upper bound [2].", 400},
		"zero":           {all("0", "2"), "Both, the requested lower bound [0] and upper bound [2] for job vertex [" + b + "] must be greater than zero.", 400},
		"empty":          {"{}", "Request body does not specify resource requirements.", 400},
		"no body":        {"", "Request body does not specify resource requirements.", 400},
		"bad JSON":       {"{", "Request did not match expected format JobResourceRequirementsBody.", 400},
		"no upper":       {strings.Replace(all("1", "2"), `,"upperBound":2`, "", 1), "Request did not match expected format JobResourceRequirementsBody.", 400},
	} {
		status, body := r.put(id, x.body)
		if status != x.status || !strings.Contains(body, x.words) {
			t.Errorf("%s: %d %.300s, want %d with %s", name, status, body, x.status, x.words)
		}
		if status != http.StatusOK && !strings.Contains(body, `\n\tat `) {
			t.Errorf("%s: no stack trace in %s", name, body)
		}
	}
	if got := len(r.c.Writes()); got != 11 {
		t.Errorf("%d writes are kept, want 11", got)
	}
	if v := r.view(id); v.Vertices[1].Upper != 2 {
		t.Errorf("upper bound %d after refused PUTs", v.Vertices[1].Upper)
	}
}

func TestOnlyOnePutAtATime(t *testing.T) {
	t.Parallel()
	var r *rig
	var id string
	inner := 0
	o := Options{BeforePut: func(Write) Unavailability {
		if inner == 0 {
			inner = 1
			inner, _ = r.put(id, requirements(1, 4, 1))
		}
		return Available
	}}
	r = newRig(t, o)
	id = r.c.AddJob(JobSpec{})
	r.mustPut(id, requirements(1, 3, 1))
	if inner != http.StatusConflict {
		t.Errorf("the PUT within got %d, want 409", inner)
	}
	w := r.c.Writes()
	if len(w) != 2 || w[0].Status != 200 || w[1].Status != 409 || !strings.Contains(w[1].Error, "[%s] resource requirements is in progress") {
		t.Errorf("writes: %+v", w)
	}
	if w[0].Bounds["enrich"] != (WriteBounds{1, 3}) {
		t.Errorf("bounds: %+v", w[0].Bounds)
	}
}

func TestMetricsAreFetchedLazily(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{FetchTime: 300 * time.Millisecond})
	id := r.c.AddJob(JobSpec{Load: Constant(300)})
	r.c.Advance(20 * time.Second)
	if got := r.clock(); got != "" {
		t.Errorf("metrics before anyone asked: %s", got)
	}
	r.c.Advance(200 * time.Millisecond)
	if got := r.clock(); got != "" {
		t.Errorf("metrics before the fetch ended: %s", got)
	}
	r.c.Advance(200 * time.Millisecond)
	first, records := r.clock(), r.one(id, "Source: orders", "Source__orders.numRecordsIn").Sum
	if first == "" || !near(records, 6090) {
		t.Errorf("after the fetch: clock %q, records %f, want 6090", first, records)
	}
	// Nothing moves, however much time goes by: this look starts a fetch.
	r.c.Advance(time.Hour)
	if again := r.one(id, "Source: orders", "Source__orders.numRecordsIn").Sum; again != records || r.clock() != first {
		t.Errorf("an hour later: %f, clock %s, want the old ones", again, r.clock())
	}
	r.c.Advance(time.Second)
	if again := r.one(id, "Source: orders", "Source__orders.numRecordsIn").Sum; again <= records || r.clock() == first {
		t.Errorf("after a fetch: %f, clock %s, want others", again, r.clock())
	}
	// And within the interval there is no second one.
	second := r.clock()
	r.c.Advance(8 * time.Second)
	r.clock()
	r.c.Advance(time.Second)
	if r.clock() != second {
		t.Error("fetched twice within the interval")
	}
}

func TestUnknownIDEmptiesTheAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Vertices: []VertexSpec{{Name: "Source: s", Omit: []string{"pendingRecords"}, NaN: []string{"busyTimeMsPerSecond"}}}})
	r.fetch()
	if m := r.metrics(id, "Source: s", "numRecordsIn,idleTimeMsPerSecond"); len(m) != 2 {
		t.Errorf("known ids: %v", m)
	}
	if m := r.metrics(id, "Source: s", "numRecordsIn,doesNotExist"); len(m) != 0 {
		t.Errorf("one unknown id: %v", m)
	}
	if m := r.metrics(id, "Source: s", "Source__s.pendingRecords"); len(m) != 0 {
		t.Errorf("an id that is left out: %v", m)
	}
	if m := r.metrics(id, "Source: s", "isBackPressured,numRecordsIn"); len(m) != 1 {
		t.Errorf("what is no number is left out: %v", m)
	}
	_, body := r.ask(http.MethodGet, "/jobs/"+id+"/vertices/"+VertexID("Source: s")+"/subtasks/metrics?get=busyTimeMsPerSecond", "")
	if !strings.Contains(body, `"sum":"NaN"`) {
		t.Errorf("busy time of a legacy source: %s", body)
	}
}

func TestMetersAreSlow(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Load: Constant(300)})
	r.c.Advance(10 * time.Second)
	r.fetch() // 20 s after the start a real one showed 86.8
	if got := r.one(id, "Source: orders", "Source__orders.numRecordsInPerSecond").Sum; !near(got, 100) {
		t.Errorf("meter after 20 s: %f, want 100", got)
	}
	if got := r.one(id, "enrich", "busyTimeMsPerSecond").Avg; got != 150 {
		t.Errorf("gauge after 20 s: %f, want 150", got)
	}
	r.c.Advance(time.Minute)
	r.fetch()
	if got := r.one(id, "Source: orders", "Source__orders.numRecordsInPerSecond").Sum; !near(got, 300) {
		t.Errorf("meter after 80 s: %f, want 300", got)
	}
}

func TestIDsGrowWithPartitions(t *testing.T) {
	t.Parallel()
	count := func(version string, partitions int, topic string) int {
		r := newRig(t, Options{Version: version})
		id := r.c.AddJob(JobSpec{Vertices: []VertexSpec{{Name: "Source: s", Partitions: partitions, Topic: topic}}})
		r.fetch()
		var ids []plainMetric
		r.get("/jobs/"+id+"/vertices/"+VertexID("Source: s")+"/subtasks/metrics", &ids)
		return len(ids)
	}
	if got := count(Flink23, 12, "") - count(Flink23, 0, ""); got != 84 {
		t.Errorf("2.3 has %d more ids for 12 partitions, want 84", got)
	}
	if got := count(Flink120, 12, "") - count(Flink120, 0, ""); got != 0 {
		t.Errorf("1.20 has %d more ids for 12 partitions, want none", got)
	}
	if got := count(Flink120, 12, "orders") - count(Flink120, 0, ""); got != 24 {
		t.Errorf("the Kafka connector has %d more ids for 12 partitions, want 24", got)
	}
}

func TestYoungTasksHaveNoTimeGauges(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{Flink23: 0, Flink120: 1} {
		r := newRig(t, Options{Version: version, FetchInterval: 100 * time.Millisecond, CacheTime: -1, Downtime: time.Second, Deploy: time.Millisecond})
		id := r.c.AddJob(JobSpec{})
		if err := r.c.RestartJob(id, "boom"); err != nil {
			t.Fatal(err)
		}
		r.c.Advance(1010 * time.Millisecond)
		r.fetch()
		if got := len(r.metrics(id, "enrich", "busyTimeMsPerSecond")); got != want {
			t.Errorf("%s: %d values of a young task, want %d", version, got, want)
		}
		_, body := r.ask(http.MethodGet, "/jobs/"+id, "")
		if strings.Contains(body, `"accumulated-busy-time":"NaN"`) != (want == 0) {
			t.Errorf("%s: %s", version, body)
		}
		r.c.Advance(time.Second)
		r.fetch()
		if got := len(r.metrics(id, "enrich", "busyTimeMsPerSecond")); got != 1 {
			t.Errorf("%s: %d values a second later, want 1", version, got)
		}
	}
}
