package flinksim

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (s seen) sizes() []int {
	var out []int
	for _, v := range s.Vertices {
		out = append(out, v.Par)
	}
	return out
}

func at(ms int64) time.Duration { return time.UnixMilli(ms).Sub(epoch()) }

// TestRescaleIsSeenStepByStep follows a PUT on 1.20, which rescales at once.
func TestRescaleIsSeenStepByStep(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Version: Flink120, CacheTime: -1, Downtime: 2 * time.Second, CheckpointInterval: -1})
	id := r.c.AddJob(JobSpec{Load: Constant(1500)})
	r.c.Advance(60 * time.Second)
	r.fetch()
	before := r.job(id)
	r.mustPut(id, requirements(1, 4, 2))

	r.c.Advance(time.Second)
	down := r.job(id)
	if down.State != "RESTARTING" || down.Vertices[1].Tasks["CANCELING"] != 2 || down.Stamps["RESTARTING"] == 0 {
		t.Errorf("a second later: %+v", down)
	}
	lag := r.view(id).Lag
	r.c.Advance(time.Second + 100*time.Millisecond)
	fresh := r.job(id)
	if fresh.State != "RUNNING" || fresh.Vertices[1].Tasks["INITIALIZING"] != 4 || fresh.Vertices[1].Tasks["RUNNING"] != 0 {
		t.Errorf("RUNNING comes before the tasks run: %+v", fresh)
	}
	if fresh.Vertices[0].Metrics.Complete || fresh.Vertices[0].Metrics.Read != 0 {
		t.Errorf("the new attempt was not fetched yet: %+v", fresh.Vertices[0].Metrics)
	}
	if old := r.one(id, "enrich", "numRecordsIn"); old.Sum < 80000 {
		t.Errorf("aggregated metrics are those of the attempt before: %+v", old)
	}
	if fresh.Start != before.Start || fresh.Stamps["INITIALIZING"] != before.Stamps["INITIALIZING"] {
		t.Errorf("start-time moved: %+v", fresh)
	}
	if fresh.Stamps["RUNNING"] <= before.Stamps["RUNNING"] || fresh.Stamps["CREATED"] <= before.Stamps["CREATED"] || fresh.Stamps["RESTARTING"] != 0 {
		t.Errorf("timestamps: %v", fresh.Stamps)
	}
	r.c.Advance(100 * time.Millisecond)
	up := r.job(id)
	if diff := cmp.Diff([]int{1, 4, 2}, up.sizes()); diff != "" || up.Vertices[1].Tasks["RUNNING"] != 4 {
		t.Errorf("sizes (-want +got):\n%s%+v", diff, up)
	}
	v := r.view(id)
	if v.Lag <= lag || v.Restarts != 1 || v.Rescales != 1 {
		t.Errorf("lag %f after %f, %d restarts, %d rescales", v.Lag, lag, v.Restarts, v.Rescales)
	}
	r.fetch()
	if got := r.job(id).Vertices[0].Metrics; !got.Complete || got.Read == 0 || got.Read > 60000 {
		t.Errorf("counters begin near 0: %+v", got)
	}
}

// TestRescaleWaitsForCheckpoint: 2.3 rescales with the next checkpoint, or
// without one after the longest delay, and reads little again.
func TestRescaleWaitsForCheckpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		opt    Options
		after  time.Duration // from the PUT, which comes at 61 s
	}{
		"checkpoint": {"due at 65 s, takes 50 ms", Options{MaxDelay: time.Minute}, 4*time.Second + 50*time.Millisecond},
		"max delay":  {"no checkpoint within 3 s", Options{}, 3 * time.Second},
		"none taken": {"without checkpoints nothing is waited for", Options{CheckpointInterval: -1}, 0},
		"cooldown":   {"80 s from the start, no rescale before", Options{Cooldown: 80 * time.Second, CheckpointInterval: -1}, 19 * time.Second},
		"old":        {"1.20 does not wait", Options{Version: Flink120}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.opt.CacheTime = -1
			c.opt.Downtime = time.Second
			r := newRig(t, c.opt)
			id := r.c.AddJob(JobSpec{})
			r.c.Advance(61 * time.Second)
			r.mustPut(id, requirements(1, 4, 1))
			if w := r.view(id); w.Vertices[1].Upper != 4 {
				t.Errorf("the requirement is read back at once: %+v", w.Vertices[1])
			}
			r.c.Advance(time.Minute)
			s := r.job(id)
			if got, want := at(s.Stamps["RUNNING"]), 61*time.Second+c.after+time.Second; got != want {
				t.Errorf("RUNNING at %s, want %s: %s", got, want, c.reason)
			}
		})
	}
}

func TestSlotsAreShort(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CacheTime: -1, CheckpointInterval: -1, ResourceWait: 20 * time.Second})
	id := r.c.AddJob(JobSpec{})
	r.c.Advance(10 * time.Second)

	// Upper 12 of 8 slots: it waits a while for more, then takes what fits.
	r.mustPut(id, requirements(1, 12, 1))
	r.c.Advance(900 * time.Millisecond)
	if s := r.job(id); s.State != "RUNNING" || s.Vertices[1].Par != 2 {
		t.Errorf("before the stabilization time: %s at %v", s.State, s.sizes())
	}
	r.c.Advance(5 * time.Second)
	if s := r.job(id); s.State != "RUNNING" || s.Vertices[1].Par != 8 {
		t.Errorf("with 8 slots: %s at %v", s.State, s.sizes())
	}
	// Two more slots come.
	r.c.SetSlots(10)
	r.c.Advance(5 * time.Second)
	if s := r.job(id); s.Vertices[1].Par != 10 {
		t.Errorf("with 10 slots: %v", s.sizes())
	}
	// Lower 11 cannot be had: it runs on, but the trap is set.
	lower := strings.Replace(requirements(1, 12, 1), `"lowerBound":1,"upperBound":12`, `"lowerBound":11,"upperBound":12`, 1)
	r.mustPut(id, lower)
	r.c.Advance(time.Minute)
	if s := r.job(id); s.State != "RUNNING" || s.Vertices[1].Par != 10 {
		t.Errorf("lower bound above what is there: %s at %v", s.State, s.sizes())
	}
	if err := r.c.RestartJob(id, "boom"); err != nil {
		t.Fatal(err)
	}
	r.c.Advance(5 * time.Second)
	waiting := r.job(id)
	if waiting.State != "CREATED" || waiting.Max != -1 || len(waiting.Vertices) != 3 || waiting.Vertices[1].Par != 1 || waiting.Stamps["RUNNING"] != 0 {
		t.Errorf("waiting for slots: %+v", waiting)
	}
	if nodes, is := waiting.Plan["nodes"].([]any); !is || len(nodes) != 0 {
		t.Errorf("2.3 has an empty plan while it waits: %v", waiting.Plan)
	}
	r.c.Advance(20 * time.Second)
	if s := r.job(id); s.State != "FAILED" {
		t.Errorf("after the wait: %s", s.State)
	}
	if status, _ := r.ask(http.MethodGet, "/jobs/"+id+"/resource-requirements", ""); status != http.StatusInternalServerError {
		t.Errorf("requirements of a failed job: %d", status)
	}
	var e struct {
		ExceptionHistory struct{ Entries []exceptionBody }
	}
	r.get("/jobs/"+id+"/exceptions", &e)
	if len(e.ExceptionHistory.Entries) != 2 || !strings.Contains(e.ExceptionHistory.Entries[0].Stack, "Not enough resources available for scheduling.") {
		t.Errorf("exceptions: %+v", e)
	}
}

func TestOldVersionHasNoPlanWhileWaiting(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Version: Flink120, Slots: 1})
	id := r.c.AddJob(JobSpec{})
	if err := r.c.control(id, func(j *job, now time.Time) error {
		j.wanted[1].lower = 2
		j.state = created
		j.reconsider(now)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, have := r.job(id).Plan["nodes"]; have {
		t.Error("1.20 has no nodes while a job waits")
	}
}

func TestSlotsAreSharedBetweenJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CacheTime: -1, CheckpointInterval: -1, Slots: 6})
	a, b := r.c.AddJob(JobSpec{Name: "a"}), r.c.AddJob(JobSpec{Name: "b"})
	r.c.Advance(10 * time.Second)
	r.mustPut(a, requirements(1, 6, 1))
	r.c.Advance(10 * time.Second)
	if got := r.view("a").Slots; got != 4 {
		t.Errorf("a holds %d slots, want 4", got)
	}
	if err := r.c.CancelJob(b); err != nil {
		t.Fatal(err)
	}
	r.c.Advance(10 * time.Second)
	v := r.view("a")
	if v.Slots != 6 || v.SlotsFree != 0 {
		t.Errorf("after b ended a holds %d slots, %d are free", v.Slots, v.SlotsFree)
	}
}

func TestLostTaskManager(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CacheTime: -1, LossFreeze: 10 * time.Second, FetchInterval: time.Second, CheckpointDuration: 50 * time.Millisecond})
	vertices := DefaultVertices()
	vertices[1].Parallelism = 8
	id := r.c.AddJob(JobSpec{Vertices: vertices, Load: Constant(1000)})
	r.c.Advance(62 * time.Second)
	r.fetch()
	read := r.view(id).Done
	r.c.LoseTaskManager()
	if v := r.view(id); v.State != "RESTARTING" || v.SlotsTotal != 4 || v.Done >= read {
		t.Errorf("at once: %+v", v)
	}
	r.c.Advance(4 * time.Second)
	r.job(id)
	r.c.Advance(4 * time.Second)
	s := r.job(id)
	if s.State != "RUNNING" || s.Vertices[1].Par != 4 || s.Vertices[0].Metrics.Complete || s.Vertices[0].Metrics.Read != 0 {
		t.Errorf("8 s later: %+v", s)
	}
	r.c.Advance(5 * time.Second)
	r.job(id)
	r.c.Advance(time.Second)
	if s := r.job(id); !s.Vertices[0].Metrics.Complete {
		t.Errorf("14 s later: %+v", s)
	}
	r.c.RestoreTaskManager()
	r.c.Advance(20 * time.Second)
	if s := r.job(id); s.Vertices[1].Par != 8 {
		t.Errorf("with the TaskManager back: %v", s.sizes())
	}
}

func TestHungTaskManagerFreezesAllMetrics(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CacheTime: -1, Slots: 4, SlotsPerTaskManager: 2, HeartbeatTimeout: time.Hour, WebTimeout: 10 * time.Minute})
	hit := r.c.AddJob(JobSpec{Name: "hit", Load: Constant(1000)})
	other := r.c.AddJob(JobSpec{Name: "other", Load: Constant(1000)})
	r.c.Advance(time.Minute)
	r.fetch()
	r.c.HangTaskManager(true) // the busiest, the last of those that are alike
	frozen, theirs := r.one(other, "enrich", "numRecordsIn").Sum, r.one(hit, "enrich", "numRecordsIn").Sum
	clock := r.clock()

	// Each round begins with the JobManager's own metrics: its clock moves.
	r.fetch()
	if r.clock() == clock {
		t.Error("the first round brings the JobManager's own metrics")
	}
	if a, b := r.one(other, "enrich", "numRecordsIn").Sum, r.one(hit, "enrich", "numRecordsIn").Sum; a != frozen || b != theirs {
		t.Errorf("jobs on it and elsewhere: %f and %f, want the old %f and %f", a, b, frozen, theirs)
	}
	clock = r.clock()
	for range 20 {
		r.fetch()
	}
	if r.clock() != clock || r.one(hit, "enrich", "numRecordsIn").Sum != theirs {
		t.Error("after the first round everything stands still")
	}
	s := r.job(other)
	if s.State != "RUNNING" || !s.Vertices[0].Metrics.Complete {
		t.Errorf("nothing says so: %+v", s)
	}
	var tms struct {
		TaskManagers []struct {
			Heartbeat int64 `json:"timeSinceLastHeartbeat"`
		} `json:"taskmanagers"`
	}
	r.get("/taskmanagers", &tms)
	if alive, silent := s.Now-tms.TaskManagers[0].Heartbeat, s.Now-tms.TaskManagers[1].Heartbeat; alive > 10000 || silent < 180000 {
		t.Errorf("ms since the last heartbeat: %d and %d", alive, silent)
	}
	r.c.HangTaskManager(false)
	if r.one(hit, "enrich", "numRecordsIn").Sum <= theirs {
		t.Error("the round that was stuck ends when it answers")
	}
	r.fetch()
	r.fetch()
	if r.clock() == clock || r.one(other, "enrich", "numRecordsIn").Sum <= frozen {
		t.Error("it all moves again")
	}
	if v := r.view("other"); v.Lag < 100000 && v.Done < 100000 {
		t.Errorf("its job did nothing meanwhile: %+v", v)
	}
}

func TestHungTaskManagerIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CacheTime: -1, HeartbeatTimeout: 50 * time.Second, WebTimeout: 2 * time.Minute})
	id := r.c.AddJob(JobSpec{})
	r.c.Advance(time.Minute)
	r.fetch()
	r.c.HangTaskManager(true)
	r.fetch()
	r.c.Advance(41 * time.Second)
	if v := r.view(id); v.Restarts != 1 || v.SlotsTotal != 4 {
		t.Errorf("after the heartbeat time-out: %+v", v)
	}
	clock := r.clock()
	r.c.Advance(65 * time.Second)
	if r.clock() != clock {
		t.Error("metrics move before web.timeout")
	}
	r.c.Advance(10 * time.Second)
	r.fetch()
	r.fetch()
	if r.clock() == clock {
		t.Error("metrics do not move after web.timeout")
	}
}

func TestJobIsCached(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Version: Flink120, CacheTime: 3 * time.Second, CheckpointInterval: -1, Downtime: time.Millisecond, Deploy: time.Millisecond})
	id := r.c.AddJob(JobSpec{})
	r.c.Advance(10 * time.Second)
	r.job(id)
	r.mustPut(id, requirements(1, 4, 1))
	r.c.Advance(2900 * time.Millisecond)
	old := r.job(id)
	if old.Vertices[1].Par != 2 || at(old.Now) != 12900*time.Millisecond {
		t.Errorf("within the refresh interval: %v at %s; the clock is never old", old.sizes(), at(old.Now))
	}
	r.c.Advance(100 * time.Millisecond)
	if s := r.job(id); s.Vertices[1].Par != 4 {
		t.Errorf("after the refresh interval: %v", s.sizes())
	}
}

func TestResubmit(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Load: Steps{{5000, 20 * time.Second}, {Rate: 100}}})
	r.c.Advance(10 * time.Second)
	before := r.view(id)
	again, err := r.c.Resubmit("orders")
	if err != nil || again == id {
		t.Fatalf("resubmit: %s, %v", again, err)
	}
	if v := r.view(id); v.State != "CANCELED" {
		t.Errorf("the old one is %s", v.State)
	}
	v := r.view("orders")
	if v.JobID != again || v.Load != 5000 || v.Lag < before.Lag || v.Vertices[0].ID != before.Vertices[0].ID {
		t.Errorf("the new one: %+v, before %+v", v, before)
	}
	r.c.Advance(11 * time.Second)
	if v := r.view("orders"); v.Load != 100 {
		t.Errorf("the load begins anew: %f", v.Load)
	}
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CheckpointTimeout: 30 * time.Second})
	id := r.c.AddJob(JobSpec{})
	type stats struct {
		Counts  countsBody
		Latest  latestBody
		History []*checkpointBody
	}
	read := func() (b stats) { r.get("/jobs/"+id+"/checkpoints", &b); return b }
	r.c.Advance(21 * time.Second)
	if b := read(); b.Counts.Completed != 4 || b.Latest.Completed.Trigger != epoch().Add(20*time.Second).UnixMilli() || b.Latest.Failed != nil {
		t.Errorf("after 21 s: %+v", b.Counts)
	}
	if err := r.c.SetCheckpoints(id, CheckpointsFail); err != nil {
		t.Fatal(err)
	}
	r.c.Advance(10 * time.Second)
	if b := read(); b.Counts.Completed != 4 || b.Counts.Failed != 2 || b.History[0].Status != "FAILED" || *b.Latest.Failed.FailureText == "" {
		t.Errorf("after failures: %+v", b.Counts)
	}
	if err := r.c.SetCheckpoints(id, CheckpointsExpire); err != nil {
		t.Fatal(err)
	}
	r.c.Advance(20 * time.Second)
	if b := read(); b.Counts.InProgress != 1 || b.History[0].Status != "IN_PROGRESS" {
		t.Errorf("while it hangs: %+v", b.Counts)
	}
	r.c.Advance(20 * time.Second)
	if b := read(); *b.Latest.Failed.FailureText != "Checkpoint expired before completing." {
		t.Errorf("after it expired: %+v", b.Latest.Failed)
	}
	if err := r.c.SetCheckpoints(id, "never"); err == nil {
		t.Error("an unknown mode was taken")
	}
}

func TestRescaleHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{})
	r.c.Advance(10 * time.Second)
	r.mustPut(id, requirements(1, 2, 1)) // nothing to do
	r.mustPut(id, requirements(1, 4, 1))
	r.mustPut(id, requirements(1, 5, 1)) // overtakes it
	r.c.Advance(10 * time.Second)
	var h []rescaleBody
	r.get("/jobs/"+id+"/rescales/history", &h)
	var got []string
	for _, e := range h {
		got = append(got, e.Cause+" "+*e.Terminal+" "+*e.Reason)
	}
	want := []string{
		"UPDATE_REQUIREMENT COMPLETED SUCCEEDED",
		"UPDATE_REQUIREMENT IGNORED RESOURCE_REQUIREMENTS_UPDATED",
		"UPDATE_REQUIREMENT IGNORED NO_RESOURCES_OR_PARALLELISMS_CHANGE",
		"INITIAL_SCHEDULE COMPLETED SUCCEEDED",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var full rescaleBody
	r.get("/jobs/"+id+"/rescales/details/"+h[0].UUID, &full)
	if e := full.Vertices[VertexID("enrich")]; e.Desired != 5 || *e.Before != 2 || *e.After != 5 || len(full.States) != 4 {
		t.Errorf("details: %+v", full)
	}
}

func TestThousandJobsAreCheap(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Slots: 4000, SlotsPerTaskManager: 200})
	for i := range 1000 {
		r.c.AddJob(JobSpec{Name: "j" + time.Duration(i).String(), Load: Wave{Low: 500, High: 4500, Period: time.Minute}})
	}
	began := time.Now()
	r.c.Advance(time.Hour)
	r.fetch()
	r.fetch()
	if v := r.c.Views(); len(v) != 1000 || v[999].Done < 1e6 {
		t.Errorf("%d jobs", len(v))
	}
	t.Logf("an hour of 1000 jobs took %s", time.Since(began))
}

// TestPutWhileTasksDeploy: a rescale that is asked for before the tasks run
// waits for a checkpoint that can come.
func TestPutWhileTasksDeploy(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CacheTime: -1, Cooldown: -1, MaxDelay: time.Minute, Downtime: time.Second, Deploy: time.Second})
	r.c.SetSlots(0)
	id := r.c.AddJob(JobSpec{})
	r.c.Advance(5 * time.Second)
	r.c.SetSlots(8)
	r.c.Advance(500 * time.Millisecond) // RUNNING since 5 s, the tasks from 6 s on
	r.mustPut(id, requirements(1, 4, 1))
	r.c.Advance(time.Minute)
	s := r.job(id)
	if got, want := at(s.Stamps["RUNNING"]), 12*time.Second+50*time.Millisecond; got != want || s.Vertices[1].Par != 4 {
		t.Errorf("RUNNING at %s with %v, want %s: checkpoint at 11 s", got, s.sizes(), want)
	}
}

// TestAJobThatFailsAtASize: with words it is a failure in the list, without it
// is a restart that nobody explains; a smaller size ends both.
func TestAJobThatFailsAtASize(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason, text string
		failures     int
	}{
		"failure": {"BC-18", "Insufficient number of network buffers", 3},
		"restart": {"BC-17: nothing is in the list", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Options{Version: Flink120, CacheTime: -1})
			vertices := DefaultVertices()
			vertices[1].FailAt, vertices[1].FailAfter, vertices[1].FailText = 4, 2*time.Second, tt.text
			id := r.c.AddJob(JobSpec{Load: Constant(1500), Vertices: vertices})
			r.c.Advance(time.Minute)
			if n := r.view(id).Restarts; n != 0 {
				t.Fatalf("%s: %d restarts at the size before", tt.reason, n)
			}
			r.mustPut(id, requirements(1, 4, 1))
			// A restart takes 1 s, the tasks need 0.2 s to come up and fail 2 s later.
			r.c.Advance(11 * time.Second)
			var list struct {
				History struct {
					Entries []struct{ Stacktrace string }
				} `json:"exceptionHistory"`
			}
			r.get("/jobs/"+id+"/exceptions", &list)
			if n := r.view(id).Restarts; n != 4 || len(list.History.Entries) != tt.failures {
				t.Errorf("%s: %d restarts, %d failures", tt.reason, n, len(list.History.Entries))
			}
			r.mustPut(id, requirements(1, 3, 1))
			r.c.Advance(5 * time.Second)
			before := r.view(id).Restarts
			r.c.Advance(time.Minute)
			if v := r.view(id); !v.TasksRunning || v.Restarts != before {
				t.Errorf("%s: at a smaller size: %+v", tt.reason, v)
			}
		})
	}
}

// TestLossOfTheJobManager: with HA the jobs come back as they were asked for and
// nothing is told of before; without, nobody knows them, and an id may come again.
func TestLossOfTheJobManager(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{CacheTime: -1})
	id := r.c.AddJob(JobSpec{})
	r.c.Advance(10 * time.Second)
	r.mustPut(id, requirements(1, 4, 1))
	r.c.Advance(10 * time.Second)
	if err := r.c.RestartJob(id, "a bad record"); err != nil {
		t.Fatal(err)
	}
	r.c.Advance(10 * time.Second)
	before := r.view(id)

	r.c.Recover()
	if v := r.view(id); v.State == "RUNNING" {
		t.Errorf("right after the loss: %s", v.State)
	}
	r.c.Advance(10 * time.Second)
	v := r.view(id)
	if v.JobID != id || v.State != "RUNNING" || v.Vertices[1].Parallelism != 4 || v.Vertices[1].Upper != 4 || !v.RunningSince.After(before.RunningSince) {
		t.Errorf("with HA: %+v", v)
	}
	if _, got := r.ask(http.MethodGet, "/jobs/"+id+"/exceptions", ""); strings.Contains(got, "a bad record") {
		t.Errorf("failures of before are still told: %s", got)
	}

	r.c.Forget()
	if _, err := r.c.View(id); err == nil {
		t.Error("without HA the job is still known")
	}
	if again, err := r.c.Submit(JobSpec{ID: id}); err != nil || again != id {
		t.Fatalf("submitted again: %s, %v", again, err)
	}
	r.c.Advance(10 * time.Second)
	if v := r.view(id); v.State != "RUNNING" || v.Vertices[1].Upper != 2 {
		t.Errorf("without HA what was asked for is forgotten: %+v", v)
	}
}
