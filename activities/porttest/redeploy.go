package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// RedeployHarness is a platform with a running job that its scheduler cannot
// change in place. The job takes checkpoints; a slot more than it uses is free.
type RedeployHarness struct {
	Platform   activities.Platform
	Redeployer activities.Redeployer
	Savepoints activities.Savepoints
	// Target names the job; Slow begins the name of its vertex that is resized.
	Target core.Target
	Slow   string
	// Unwritable is a directory in which no savepoint can be written.
	Unwritable string
	// Timeout bounds each wait for the cluster to get somewhere.
	Timeout time.Duration
}

// RunRedeploy tests what stops and starts jobs. The cases build on each other.
func RunRedeploy(t *testing.T, h RedeployHarness) {
	t.Helper()
	if h.Platform == nil || h.Redeployer == nil || h.Savepoints == nil || h.Slow == "" || h.Unwritable == "" || h.Timeout <= 0 {
		t.Fatal("harness: every field is needed")
	}
	r := &redeploying{Harness: Harness{Platform: h.Platform, Target: h.Target, Timeout: h.Timeout}, h: h}
	r.job = r.locate(t)
	r.status = r.running(t, r.job, nil)
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"prepare", r.prepare}, {"a stop that fails", r.failedStop}, {"a stop", r.stop}, {"a lost savepoint", r.lost}, {"a start", r.start},
		{"cancelled", r.cancelled}, {"cancel", r.cancel},
	} {
		if !t.Run(c.name, c.run) {
			return
		}
	}
}

type redeploying struct {
	Harness
	h      RedeployHarness
	job    core.JobRef
	status core.JobStatus

	prepared       core.Prepared
	base, location string
}

const trigger = "5c1e5c1e5c1e5c1e5c1e5c1e5c1e5c1e"

// vertices are those of the job, one of them grown by one.
func (r *redeploying) vertices(t *testing.T) []core.SubmittedVertex {
	t.Helper()
	slow := vertex(t, r.status.Topology, r.h.Slow)
	var out []core.SubmittedVertex
	for _, v := range r.status.Topology.Vertices {
		s := core.SubmittedVertex{ID: v.ID, Name: v.Name, Parallelism: v.Parallelism, Was: v.Parallelism}
		if v.ID == slow.ID {
			s.Parallelism++
		}
		out = append(out, s)
	}
	return out
}

func (r *redeploying) prepare(t *testing.T) {
	_, err := r.h.Platform.Wanted(t.Context(), r.job)
	wantError(t, "wanted of a job whose scheduler is not adaptive", err, core.ErrNotAdaptive)
	if r.prepared, err = r.h.Redeployer.Prepare(t.Context(), r.job, r.vertices(t)); err != nil || r.prepared.Savepoints == "" {
		t.Fatalf("prepare: %+v, %v", r.prepared, err)
	}
	r.base = r.prepared.Savepoints
	if _, err := r.h.Savepoints.List(t.Context(), r.base); err != nil {
		t.Errorf("the directory for savepoints: %v", err)
	}
	other := r.job
	other.Name = "a job of which nobody said how it is submitted"
	_, err = r.h.Redeployer.Prepare(t.Context(), other, r.vertices(t))
	wantError(t, "prepare for a job that is not configured", err, core.ErrRefused)
}

func (r *redeploying) result(t *testing.T, id string) core.StopResult {
	t.Helper()
	s, err := r.h.Redeployer.StopResult(t.Context(), r.job, id)
	if err != nil {
		t.Fatalf("result of a stop: %v", err)
	}
	return s
}

// failedStop: a stop that cannot write its savepoint leaves the job as it was.
func (r *redeploying) failedStop(t *testing.T) {
	if s := r.result(t, trigger); s.State != core.StopUnknown {
		t.Errorf("a stop that nobody asked for: %+v", s)
	}
	bad := core.StopRequest{Trigger: strings.Repeat("bad0", 8), Directory: r.h.Unwritable}
	if err := r.h.Redeployer.Stop(t.Context(), r.job, bad); err != nil {
		t.Fatalf("stop: %v", err)
	}
	var s core.StopResult
	r.await(t, "the stop to fail", func() bool {
		s = r.result(t, bad.Trigger)
		return s.State == core.StopFailed
	})
	if s.Why == "" || strings.ContainsAny(s.Why, "\n\t") || strings.Contains(s.Why, "Exception:") {
		t.Errorf("why it failed: %q", s.Why)
	}
	now := r.running(t, r.job, nil)
	if !now.RunningSince.Equal(r.status.RunningSince) {
		t.Errorf("a stop that failed restarted the job")
	}
	if err := r.h.Redeployer.Stop(t.Context(), r.gone(t), core.StopRequest{Trigger: strings.Repeat("bad1", 8), Directory: r.base}); err == nil {
		r.await(t, "the stop of an unknown job to fail", func() bool {
			s, err := r.h.Redeployer.StopResult(t.Context(), r.gone(t), strings.Repeat("bad1", 8))
			return err == nil && s.State == core.StopFailed
		})
	} else {
		wantError(t, "stop a job that was never there", err, core.ErrNotFound)
	}
	err := r.h.Redeployer.Stop(t.Context(), r.job, core.StopRequest{Trigger: "no id", Directory: r.base})
	wantError(t, "stop with a trigger that is none", err, core.ErrRefused)
}

// stop: twice with one trigger is one stop, and its savepoint is found by its
// result as by its directory.
func (r *redeploying) stop(t *testing.T) {
	s := core.StopRequest{Trigger: trigger, Directory: strings.TrimRight(r.base, "/") + "/porttest-" + r.job.ID[:8]}
	for range 2 {
		if err := r.h.Redeployer.Stop(t.Context(), r.job, s); err != nil {
			t.Fatalf("stop: %v", err)
		}
	}
	r.await(t, "the stop to be done", func() bool {
		got := r.result(t, trigger)
		r.location = got.Location
		return got.State == core.StopDone
	})
	r.await(t, "the job to end", func() bool { return r.stateOf(t, r.job.ID) == core.JobFinished })
	found, err := r.h.Savepoints.List(t.Context(), s.Directory)
	if err != nil || len(found) != 1 || !redeploy.SamePath(found[0].Path, r.location) || found[0].Size == 0 || found[0].At.IsZero() {
		t.Errorf("in the directory of the stop: %+v, %v, want %s alone", found, err, r.location)
	}
	if one, err := r.h.Savepoints.Check(t.Context(), r.location); err != nil || one.Size == 0 {
		t.Errorf("the savepoint: %+v, %v", one, err)
	}
	if err := r.h.Redeployer.Stop(t.Context(), r.job, s); err != nil {
		t.Errorf("the same stop once more: %v", err)
	}
}

// ref is a job of this id as a redeploy asks for it: with what was prepared, as
// long as that is not the job itself.
func (r *redeploying) ref(id string) core.JobRef {
	if id == r.job.ID {
		return r.job
	}
	return core.JobRef{ID: id, Name: r.job.Name, Extras: r.prepared.Extras}
}

func (r *redeploying) submission(t *testing.T, id, savepoint string) core.Submission {
	t.Helper()
	return core.Submission{JobID: id, Name: r.job.Name, Savepoint: savepoint, Vertices: r.vertices(t), Extras: r.prepared.Extras}
}

func (r *redeploying) stateOf(t *testing.T, id string) core.JobState {
	t.Helper()
	copies, err := r.h.Redeployer.Copies(t.Context(), r.ref(id))
	if err != nil {
		t.Fatalf("copies: %v", err)
	}
	for _, j := range copies {
		if j.ID == id {
			return j.State
		}
	}
	return ""
}

func (r *redeploying) live(t *testing.T) (ids []string) {
	t.Helper()
	copies, err := r.h.Redeployer.Copies(t.Context(), r.ref(""))
	if err != nil {
		t.Fatalf("copies: %v", err)
	}
	for _, j := range copies {
		if !j.State.Ended() {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

// lost: from a savepoint that is not there nothing comes to run.
func (r *redeploying) lost(t *testing.T) {
	id := redeploy.JobID(trigger, 7)
	_, err := r.h.Redeployer.Submit(t.Context(), r.submission(t, id, r.location+"-lost"))
	if err != nil {
		wantError(t, "submit from a savepoint that is not there", err, core.ErrRefused)
		if !strings.Contains(err.Error(), "lost") {
			t.Errorf("the text does not tell what is not there: %v", err)
		}
	}
	r.await(t, "nothing to run", func() bool { return len(r.live(t)) == 0 })
	if _, err := r.h.Savepoints.Check(t.Context(), r.location+"-lost"); err == nil {
		t.Error("check a savepoint that is not there: no error")
	} else {
		wantError(t, "check a savepoint that is not there", err, core.ErrNotFound)
	}
}

// start: once, however often it is asked for, from the savepoint, at its sizes.
func (r *redeploying) start(t *testing.T) {
	s := r.submission(t, redeploy.JobID(trigger, 0), r.location)
	started, err := r.h.Redeployer.Submit(t.Context(), s)
	if err != nil || started.ID != s.JobID {
		t.Fatalf("submit: %+v, %v", started, err)
	}
	if len(r.prepared.Extras) > 0 {
		if _, err := r.h.Platform.Status(t.Context(), started); err != nil && !errors.Is(err, core.ErrNotFound) && !errors.Is(err, core.ErrNotReady) {
			t.Errorf("the job that was submitted cannot be asked for: %v", err)
		}
	}
	if _, err := r.h.Redeployer.Submit(t.Context(), s); err != nil {
		wantError(t, "submit the same id again", err, core.ErrRefused)
	}
	if live := r.live(t); !slices.Equal(live, []string{s.JobID}) {
		t.Fatalf("live jobs %v, want %s alone", live, s.JobID)
	}
	r.job = r.locate(t)
	if r.job.ID != s.JobID {
		t.Errorf("located %s", r.job.ID)
	}
	now := r.running(t, r.job, nil)
	want := make([]core.VertexSize, 0, len(s.Vertices))
	for _, v := range s.Vertices {
		want = append(want, core.VertexSize{ID: v.ID, Parallelism: v.Parallelism})
	}
	if diff := cmp.Diff(want, now.Topology.Sizes()); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	var health core.JobHealth
	r.await(t, "where it was restored from", func() bool {
		var err error
		health, err = r.h.Platform.Inspect(t.Context(), r.job)
		return err == nil && health.RestoredPath != ""
	})
	if !redeploy.SamePath(health.RestoredPath, r.location) {
		t.Errorf("restored from %s, want %s", health.RestoredPath, r.location)
	}
	r.await(t, "a checkpoint of its own", func() bool {
		health, err := r.h.Platform.Inspect(t.Context(), r.job)
		return err == nil && health.Completed > 0 && health.CompletedPath != ""
	})
}

func (r *redeploying) cancelled(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	for name, call := range map[string]func() error{
		"prepare": func() error { _, err := r.h.Redeployer.Prepare(ctx, r.job, r.vertices(t)); return err },
		"stop": func() error {
			return r.h.Redeployer.Stop(ctx, r.job, core.StopRequest{Trigger: trigger, Directory: r.base})
		},
		"result": func() error { _, err := r.h.Redeployer.StopResult(ctx, r.job, trigger); return err },
		"cancel": func() error { return r.h.Redeployer.Cancel(ctx, r.job) },
		"submit": func() error {
			_, err := r.h.Redeployer.Submit(ctx, core.Submission{JobID: trigger, Name: r.job.Name, Extras: r.prepared.Extras})
			return err
		},
		"copies":  func() error { _, err := r.h.Redeployer.Copies(ctx, r.job); return err },
		"list":    func() error { _, err := r.h.Savepoints.List(ctx, r.base); return err },
		"checked": func() error { _, err := r.h.Savepoints.Check(ctx, r.location); return err },
	} {
		began := time.Now()
		if err := call(); !errors.Is(err, core.ErrUnreachable) && !errors.Is(err, core.ErrRefused) {
			t.Errorf("%s with a cancelled ctx: error %v, want unreachable", name, err)
		}
		if took := time.Since(began); took > quick {
			t.Errorf("%s with a cancelled ctx took %s", name, took)
		}
	}
	if live := r.live(t); len(live) != 1 {
		t.Errorf("live jobs after cancelled calls: %v", live)
	}
}

func (r *redeploying) cancel(t *testing.T) {
	err := r.h.Redeployer.Cancel(t.Context(), r.gone(t))
	wantError(t, "cancel a job that was never there", err, core.ErrNotFound)
	if err := r.h.Redeployer.Cancel(t.Context(), r.job); err != nil {
		t.Fatalf("cancel: %v", err)
	}
	r.await(t, "the job to be cancelled", func() bool { return r.stateOf(t, r.job.ID) == core.JobCanceled })
	old := r.job
	if err := r.h.Redeployer.Cancel(t.Context(), old); err != nil {
		wantError(t, "cancel a job that has ended", err, core.ErrNotFound)
	}
}
