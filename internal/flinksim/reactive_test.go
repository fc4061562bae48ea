package flinksim

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func reactiveRig(t *testing.T, slots int) *rig {
	t.Helper()
	return newRig(t, Options{
		Version: Flink120, Reactive: true, Slots: slots, SlotsPerTaskManager: 2,
		CacheTime: -1, Cooldown: -1, Downtime: 2 * time.Second,
	})
}

// reactiveVertices has one vertex that cannot take all slots.
func reactiveVertices() []VertexSpec {
	v := DefaultVertices()
	v[2].MaxParallelism = 3
	return v
}

// TestReactiveTakesAllSlots follows a job while TaskManagers come and go.
func TestReactiveTakesAllSlots(t *testing.T) {
	t.Parallel()
	steps := []struct {
		reason   string
		managers int
		want     []int
	}{
		{"two TaskManagers of two slots, whatever the program asks for", 2, []int{4, 4, 3}},
		{"up at once, without waiting for more", 3, []int{6, 6, 3}},
		{"down with what goes, from the last checkpoint", 1, []int{2, 2, 2}},
	}
	r := reactiveRig(t, -1)
	id := r.c.AddJob(JobSpec{Vertices: reactiveVertices(), NotAdaptive: true})
	r.c.Advance(time.Hour)
	if v := r.view(id); v.State != "CREATED" {
		t.Fatalf("without a slot it waits for ever, got %s", v.State)
	}
	for _, s := range steps {
		r.c.SetTaskManagers(s.managers)
		r.c.Advance(5 * time.Second)
		got := r.job(id)
		if diff := cmp.Diff(s.want, got.sizes()); diff != "" || got.State != "RUNNING" {
			t.Errorf("%s: %s (-want +got):\n%s", s.reason, got.State, diff)
		}
	}
	if v := r.view(id); v.Restarts != 2 || v.SlotsTotal != 2 {
		t.Errorf("one restart for each change: %+v", v)
	}
}

// TestTaskManagersAtHosts: who stays keeps its tasks, whatever its place in the list.
func TestTaskManagersAtHosts(t *testing.T) {
	t.Parallel()
	r := reactiveRig(t, -1)
	id := r.c.AddJob(JobSpec{})
	shown := func() (hosts []string) {
		var all struct {
			Managers []struct{ Path string } `json:"taskmanagers"`
		}
		r.get("/taskmanagers", &all)
		for _, m := range all.Managers {
			host, _, _ := strings.Cut(strings.TrimPrefix(m.Path, "pekko.tcp://flink@"), ":")
			hosts = append(hosts, host)
		}
		return hosts
	}
	for _, s := range []struct {
		reason   string
		at, want []string
		restarts int
	}{
		{"they come", []string{"tm-0", "tm-1"}, []string{"tm-0", "tm-1"}, 0},
		{"the same again", []string{"tm-1", "tm-0"}, []string{"tm-0", "tm-1"}, 0},
		{"the first one goes", []string{"tm-1"}, []string{"tm-1"}, 1},
		{"one twice is one", []string{"tm-1", "tm-1"}, []string{"tm-1"}, 1},
	} {
		r.c.SetTaskManagersAt(s.at...)
		r.c.Advance(10 * time.Second)
		if diff := cmp.Diff(s.want, shown()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.reason, diff)
		}
		if v := r.view(id); v.Restarts != s.restarts || v.SlotsTotal != 2*len(s.want) {
			t.Errorf("%s: %d restarts, want %d; %d slots", s.reason, v.Restarts, s.restarts, v.SlotsTotal)
		}
	}
}

// TestReactiveRefusesRequirements is what Flink says to a PUT, while a GET
// shows how far each vertex may grow.
func TestReactiveRefusesRequirements(t *testing.T) {
	t.Parallel()
	r := reactiveRig(t, 4)
	id := r.c.AddJob(JobSpec{Vertices: reactiveVertices()})
	status, body := r.ask(http.MethodPut, "/jobs/"+id+"/resource-requirements", requirements(1, 2, 1))
	if status != http.StatusInternalServerError || !strings.Contains(body, "Cannot change the parallelism of a job running in reactive mode.") {
		t.Errorf("PUT: %d %s", status, body)
	}
	var got map[string]boundsBody
	r.get("/jobs/"+id+"/resource-requirements", &got)
	sink := got[VertexID("sink: Writer")]
	if sink.Parallelism.Lower != 1 || sink.Parallelism.Upper == nil || *sink.Parallelism.Upper != 3 {
		t.Errorf("GET: %+v", got)
	}
	if diff := cmp.Diff([]int{4, 4, 3}, r.job(id).sizes()); diff != "" {
		t.Errorf("the job goes on (-want +got):\n%s", diff)
	}
}

// TestReactiveShowsInTheConfig: the scheduler is implied and so not shown.
func TestReactiveShowsInTheConfig(t *testing.T) {
	t.Parallel()
	r := reactiveRig(t, 4)
	var all []keyValue
	r.get("/jobmanager/config", &all)
	m := map[string]string{}
	for _, kv := range all {
		m[kv.Key] = kv.Value
	}
	if m["scheduler-mode"] != "REACTIVE" || m["jobmanager.scheduler"] != "" {
		t.Errorf("config: %v", m)
	}
}

// TestSavepointMovesToAnotherCluster: offsets, backlog and load go with it, and
// what arrives between the two jobs waits.
func TestSavepointMovesToAnotherCluster(t *testing.T) {
	t.Parallel()
	a := newRig(t, Options{Version: Flink120})
	id := a.c.AddJob(JobSpec{Load: Constant(500)})
	a.c.Advance(time.Minute)
	a.ask(http.MethodPost, "/jobs/"+id+"/stop", `{"targetDirectory":"`+t.TempDir()+`","triggerId":"00000000000000000000000000000001"}`)
	a.c.Advance(time.Second)
	var stopped stopBody
	a.get("/jobs/"+id+"/savepoints/00000000000000000000000000000001", &stopped)
	place, _ := stopped.Operation["location"].(string)
	before := a.view(id)

	b := New(Options{Version: Flink120, Start: a.c.Now().Add(9 * time.Second)})
	t.Cleanup(b.Close)
	other, err := b.SubmitFrom(JobSpec{}, place)
	if err != nil {
		t.Fatal(err)
	}
	after, err := b.View(other)
	if err != nil {
		t.Fatal(err)
	}
	if after.LoadText != "const:500" || after.Done != before.Done {
		t.Errorf("load and offsets: before %+v\nafter %+v", before, after)
	}
	// The savepoint took 100 ms of the second, and nine went by between the two.
	if want := 500 * 9.9; after.Lag < want-1 || after.Lag > want+1 {
		t.Errorf("lag %g, want %g", after.Lag, want)
	}
	if err := b.Keep(other, t.TempDir()+"/kept"); err != nil {
		t.Errorf("keep: %v", err)
	}
	if _, err := b.SubmitFrom(JobSpec{}, "/nowhere"); err == nil {
		t.Error("a savepoint that is not there was restored")
	}
}
