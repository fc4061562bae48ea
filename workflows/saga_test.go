package workflows_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/workflows"
)

func sized(p int) []core.VertexSize { return []core.VertexSize{{ID: vertexID, Parallelism: p}} }

func wish(p int) core.Requirements {
	return core.Requirements{{ID: vertexID, Lower: 1, Upper: p}}
}

// saga runs one rescale of the world's job from 2 to 4.
func saga(t *testing.T, w *world) core.Outcome {
	t.Helper()
	w.env.ExecuteWorkflow(workflows.RescaleName, activities.RescaleInput{
		Key: key(), Target: core.Target{Flink: &core.FlinkTarget{JobName: "orders"}}, JobID: "job-1", DecisionID: "7-1", Attempt: 3,
		Cause: core.ReasonScaleUp, From: sized(2), Wanted: sized(4),
	})
	var o core.Outcome
	if err := w.env.GetWorkflowResult(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestUndoOfARescale is I5: what is not well after a change is taken back, once,
// as a decision of its own, and whatever comes of that is told.
func TestUndoOfARescale(t *testing.T) {
	t.Parallel()
	bad := activities.Verified{Kind: core.Failed, Reason: core.ReasonJobFailing, Undo: core.ReasonJobFailing, Note: "3 failures", Got: sized(4), WishHeld: true}
	back := func(k core.OutcomeKind, r core.Reason, note string) activities.Verified {
		return activities.Verified{Kind: k, Reason: r, Note: note, Got: sized(2), WishHeld: k != core.Partial}
	}
	for name, tt := range map[string]struct {
		reason string
		check  activities.Preflight
		fails  error
		then   activities.Verified
		want   core.Outcome
		writes int
		note   string
	}{
		"undone": {"the size before runs again", activities.Preflight{}, nil, back(core.Applied, "", "every vertex runs"),
			core.Outcome{Kind: core.Undone, Reason: core.ReasonJobFailing, Wish: wish(2), Undo: &core.Undo{Kind: core.Applied, Got: sized(2)}}, 2, "3 failures; undone: every vertex runs"},
		"undone, and not well": {"an alarm with both reasons", activities.Preflight{}, nil, back(core.Failed, core.ReasonTasksNotRunning, "still down"),
			core.Outcome{Kind: core.Failed, Reason: core.ReasonJobFailing, Wish: wish(2), Undo: &core.Undo{Kind: core.Failed, Reason: core.ReasonTasksNotRunning, Got: sized(2)}}, 2, "3 failures; not undone (tasks-not-running): still down"},
		"somebody wrote": {"not fought", activities.Preflight{Reason: core.ReasonForeignWriter, Note: "4 -> 3"}, nil, activities.Verified{},
			core.Outcome{Kind: core.Failed, Reason: core.ReasonJobFailing, Wish: wish(4), Undo: &core.Undo{Kind: core.Rejected, Reason: core.ReasonForeignWriter}}, 1, "not undone (foreign-writer): 4 -> 3"},
		"storage is away": {"I13", activities.Preflight{Reason: core.ReasonStorage, Note: "disk"}, nil, activities.Verified{},
			core.Outcome{Kind: core.Failed, Reason: core.ReasonJobFailing, Wish: wish(4), Undo: &core.Undo{Kind: core.Rejected, Reason: core.ReasonStorage}}, 1, "not undone (storage-unavailable): disk"},
		"no answer": {"told, never unknown", activities.Preflight{}, temporal.NewNonRetryableApplicationError("no route", activities.ErrTypeUnauthorized, nil, string(core.ReasonUnauthorized)), activities.Verified{},
			core.Outcome{Kind: core.Failed, Reason: core.ReasonJobFailing, Wish: wish(4), Undo: &core.Undo{Kind: core.Rejected, Reason: core.ReasonUnauthorized}}, 1, "not undone (unauthorized): no route"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var ids []string
			var waits []activities.VerifyInput
			w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
				return activities.Preflight{Job: core.JobRef{ID: "job-1"}, Before: sized(2), Held: wish(2), Wish: wish(4), At: w.env.Now(), VerifyFor: 10 * time.Minute}, nil
			}
			w.apply = func(in activities.ApplyInput) (activities.ApplyResult, error) {
				ids = append(ids, in.DecisionID)
				return activities.ApplyResult{At: w.env.Now()}, nil
			}
			w.checkUndo = func(in activities.UndoInput) (activities.Preflight, error) {
				if diff := cmp.Diff(wish(4), in.Wish) + cmp.Diff(sized(2), in.Back); diff != "" {
					t.Errorf("undo (-want +got):\n%s", diff)
				}
				out := tt.check
				out.Job, out.Before, out.Held, out.Wish, out.VerifyFor = in.Job, sized(4), wish(4), wish(2), 3*time.Minute
				return out, tt.fails
			}
			w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
				waits = append(waits, in)
				if len(waits) == 1 {
					return bad, nil
				}
				return tt.then, nil
			}
			o := saga(t, w)
			got := core.Outcome{Kind: o.Kind, Reason: o.Reason, Wish: o.Wish, Undo: o.Undo}
			tt.want.Undo.DecisionID, tt.want.Undo.Cause, tt.want.Undo.Note = "7-1-undo", core.ReasonJobFailing, "3 failures"
			if tt.writes == 2 {
				tt.want.Undo.WrittenAt = o.Undo.WrittenAt
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || !strings.Contains(o.Note, tt.note) {
				t.Errorf("%s: note %q (-want +got):\n%s", tt.reason, o.Note, diff)
			}
			if len(ids) != tt.writes || ids[0] != "7-1" || (tt.writes == 2 && (ids[1] != "7-1-undo" || o.Undo.WrittenAt.IsZero())) {
				t.Errorf("written for %v, want %d", ids, tt.writes)
			}
			if d := waits[0].Deadline.Sub(waits[0].Since); d != 10*time.Minute {
				t.Errorf("waited for %s, the preflight said 10 min", d)
			}
			if tt.writes == 2 && !cmp.Equal(sized(2), waits[1].Wanted) {
				t.Errorf("the undo waited for %v", waits[1].Wanted)
			}
		})
	}
}

// TestAnUndoGoesFromWhatIsAskedFor: a job in a restart loop runs at less, which
// is not the size that failed.
func TestAnUndoGoesFromWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.preflight = func(activities.RescaleInput) (activities.Preflight, error) {
		return activities.Preflight{Job: core.JobRef{ID: "job-1"}, Before: sized(1), Held: wish(4), Wish: wish(2)}, nil
	}
	w.env.ExecuteWorkflow(workflows.RescaleName, activities.RescaleInput{Key: key(), JobID: "job-1", Cause: core.ReasonUndo, From: sized(4), Wanted: sized(2)})
	var o core.Outcome
	if err := w.env.GetWorkflowResult(&o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sized(4), o.From); diff != "" || o.Kind != core.Applied || o.Cause != core.ReasonUndo {
		t.Errorf("outcome %+v (-want +got):\n%s", o, diff)
	}
}

// TestAnUndoThatMayBeWrittenClaimsNothing: what is in force is then not known.
func TestAnUndoThatMayBeWrittenClaimsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	applied, watched := 0, 0
	w.checkUndo = func(in activities.UndoInput) (activities.Preflight, error) {
		return activities.Preflight{Job: in.Job, Held: wish(4), Wish: wish(2), VerifyFor: time.Minute}, nil
	}
	w.apply = func(activities.ApplyInput) (activities.ApplyResult, error) {
		if applied++; applied == 2 {
			return activities.ApplyResult{}, temporal.NewNonRetryableApplicationError("lost", activities.ErrTypeMaybeWritten, nil)
		}
		return activities.ApplyResult{At: w.env.Now()}, nil
	}
	w.verify = func(activities.VerifyInput) (activities.Verified, error) {
		if watched++; watched == 1 {
			return activities.Verified{Kind: core.Failed, Reason: core.ReasonTasksNotRunning, Undo: core.ReasonTasksNotRunning, WishHeld: true}, nil
		}
		return activities.Verified{Kind: core.Failed, Reason: core.ReasonUnreachable}, nil
	}
	if o := saga(t, w); o.Kind != core.Failed || o.Wish != nil || o.Undo == nil || o.Undo.Kind != core.Failed {
		t.Errorf("outcome %+v, undo %+v", o, o.Undo)
	}
}

// TestARescaleSaysHowFarItIs: while it waits, and when it is over.
func TestARescaleSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	progress := func() workflows.RescaleProgress {
		v, err := w.env.QueryWorkflow(workflows.QueryProgress)
		if err != nil {
			t.Fatal(err)
		}
		var p workflows.RescaleProgress
		if err := v.Get(&p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
		return activities.Preflight{Job: core.JobRef{ID: "job-1"}, Before: sized(2), Wish: wish(4), VerifyFor: 31 * time.Minute, VerifyWhy: "a checkpoint 30m0s"}, nil
	}
	var waiting workflows.RescaleProgress
	w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
		waiting = progress()
		return activities.Verified{Kind: core.Applied, Got: sized(4), WishHeld: true}, nil
	}
	o := saga(t, w)
	if waiting.Phase != "waiting for the new size" || waiting.Deadline.Sub(waiting.Since) != 31*time.Minute || waiting.DeadlineWhy != "a checkpoint 30m0s" || waiting.Outcome != nil {
		t.Errorf("while it waits: %+v", waiting)
	}
	after := progress()
	if after.Outcome == nil || after.Outcome.Kind != core.Applied || !after.Deadline.IsZero() {
		t.Errorf("when it is over: %+v", after)
	}
	if diff := cmp.Diff(wish(4), o.Wish); diff != "" || o.JobID != "job-1" || o.Cause != core.ReasonScaleUp {
		t.Errorf("what the write left: job %q, cause %q (-want +got):\n%s", o.JobID, o.Cause, diff)
	}
}

// TestWhatIsInForceIsKnownOnlyWhereItWasSeen: an outcome never claims a wish
// that may not be in force.
func TestWhatIsInForceIsKnownOnlyWhereItWasSeen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason  string
		written error
		held    bool
		want    core.Requirements
	}{
		"answered":           {"Flink took it", nil, false, wish(4)},
		"not answered, seen": {"Flink shows it", temporal.NewNonRetryableApplicationError("lost", activities.ErrTypeMaybeWritten, nil), true, wish(4)},
		"not answered":       {"nobody knows", temporal.NewNonRetryableApplicationError("lost", activities.ErrTypeMaybeWritten, nil), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.apply = func(activities.ApplyInput) (activities.ApplyResult, error) {
				return activities.ApplyResult{At: w.env.Now()}, tt.written
			}
			w.verify = func(activities.VerifyInput) (activities.Verified, error) {
				return activities.Verified{Kind: core.Partial, Got: sized(3), WishHeld: tt.held}, nil
			}
			if diff := cmp.Diff(tt.want, saga(t, w).Wish); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestARescaleGivesBackTaskManagers: where Flink does not end them, the saga has
// it done after the size is there, and after one that did not come.
func TestARescaleGivesBackTaskManagers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		trim   bool
		then   activities.Verified
		fails  error
		calls  int
		note   string
	}{
		"applied":          {"TaskManagers are too many", true, activities.Verified{Kind: core.Applied, Note: "every vertex runs", WishHeld: true}, nil, 1, "every vertex runs; gave 2 back"},
		"not reached":      {"what did not come is not waited for", true, activities.Verified{Kind: core.Partial, Reason: core.ReasonNotReached, Note: "4 of 8", WishHeld: true}, nil, 1, "4 of 8; gave 2 back"},
		"Flink does it":    {"nobody is asked", false, activities.Verified{Kind: core.Applied, Note: "every vertex runs", WishHeld: true}, nil, 0, "every vertex runs"},
		"cannot be done":   {"the outcome stays what it is", true, activities.Verified{Kind: core.Applied, Note: "every vertex runs", WishHeld: true}, temporal.NewNonRetryableApplicationError("no right", activities.ErrTypeUnauthorized, nil, string(core.ReasonUnauthorized)), 1, "could not be given back: no right"},
		"under another id": {"the job that is there now", true, activities.Verified{Kind: core.Applied, Note: "every vertex runs", WishHeld: true, Job: &core.JobRef{ID: "job-2"}}, nil, 1, "gave 2 back"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.preflight = func(activities.RescaleInput) (activities.Preflight, error) {
				return activities.Preflight{Job: core.JobRef{ID: "job-1"}, Before: sized(2), Held: wish(2), Wish: wish(4), Trim: tt.trim}, nil
			}
			w.verify = func(activities.VerifyInput) (activities.Verified, error) { return tt.then, nil }
			var asked []string
			w.trim = func(in activities.TrimInput) (activities.Trimmed, error) {
				asked = append(asked, in.Job.ID+" "+in.DecisionID)
				return activities.Trimmed{Note: "gave 2 back"}, tt.fails
			}
			o := saga(t, w)
			id := "job-1"
			if tt.then.Job != nil {
				id = tt.then.Job.ID
			}
			if o.Kind != tt.then.Kind || o.JobID != id || !strings.Contains(o.Note, tt.note) {
				t.Errorf("%s: %s of %s: %s", tt.reason, o.Kind, o.JobID, o.Note)
			}
			if len(asked) != tt.calls || tt.calls == 1 && asked[0] != id+" 7-1" {
				t.Errorf("asked for %v", asked)
			}
		})
	}
}

// TestWithdrawal: what is left of a wish is what is in force from then on, so that it
// is not taken for somebody else's.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.preflight = func(activities.RescaleInput) (activities.Preflight, error) {
		return activities.Preflight{Job: core.JobRef{ID: "job-1"}, Before: sized(2), Held: wish(2), Wish: wish(4), Trim: true, Managers: 2}, nil
	}
	w.verify = func(activities.VerifyInput) (activities.Verified, error) {
		return activities.Verified{Kind: core.Partial, Reason: core.ReasonNoRoom, Note: "3 of 4", WishHeld: true, Got: sized(3)}, nil
	}
	var asked activities.TrimInput
	w.trim = func(in activities.TrimInput) (activities.Trimmed, error) {
		asked = in
		return activities.Trimmed{Note: "withdrawn", Wish: wish(3), Withdrawn: &core.Withdrawal{DecisionID: in.DecisionID + "-withdraw"}}, nil
	}
	o := saga(t, w)
	if !slices.Equal(asked.Wish, wish(4)) || asked.Managers != 2 {
		t.Errorf("asked with %+v", asked)
	}
	if o.Kind != core.Partial || o.Reason != core.ReasonNoRoom || o.Withdrawn == nil || o.Withdrawn.DecisionID != "7-1-withdraw" || !slices.Equal(o.Wish, wish(3)) || o.Note != "withdrawn; 3 of 4" {
		t.Errorf("outcome %+v", o)
	}
}
