package workflows_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/workflows"
)

// ailing is a job that fails after a change.
func ailing(w *world) {
	w.preflight = func(activities.RescaleInput) (activities.Preflight, error) {
		return activities.Preflight{Job: core.JobRef{ID: "job-1"}, Before: sized(2), Held: wish(2), Wish: wish(4), At: w.env.Now()}, nil
	}
	w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
		if in.Undoing {
			return activities.Verified{Kind: core.Applied, Note: "every vertex runs", Got: in.Wanted, WishHeld: true}, nil
		}
		return activities.Verified{Kind: core.Failed, Reason: core.ReasonJobFailing, Undo: core.ReasonJobFailing, Note: "3 failures", Got: sized(4), WishHeld: true}, nil
	}
	w.checkUndo = func(in activities.UndoInput) (activities.Preflight, error) {
		return activities.Preflight{Job: in.Job, Before: sized(4), Held: wish(4), Wish: wish(2)}, nil
	}
}

// TestWithUndoSwitchedOff: nothing is checked nor written, and the alarm says so.
func TestWithUndoSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ailing(w)
	writes := 0
	w.apply = func(activities.ApplyInput) (activities.ApplyResult, error) {
		writes++
		return activities.ApplyResult{At: w.env.Now()}, nil
	}
	w.checkUndo = func(activities.UndoInput) (activities.Preflight, error) {
		t.Error("it was checked whether it may be undone")
		return activities.Preflight{}, nil
	}
	w.env.ExecuteWorkflow(workflows.RescaleName, activities.RescaleInput{
		Key: key(), JobID: "job-1", DecisionID: "7-1", Attempt: 3, Cause: core.ReasonScaleUp, From: sized(2), Wanted: sized(4), NoUndo: true,
	})
	var o core.Outcome
	if err := w.env.GetWorkflowResult(&o); err != nil {
		t.Fatal(err)
	}
	want := core.Undo{DecisionID: "7-1-undo", Cause: core.ReasonJobFailing, Note: "3 failures", Kind: core.Rejected, Reason: core.ReasonUndoOff}
	if o.Undo == nil || o.Kind != core.Failed || o.Reason != core.ReasonJobFailing || writes != 1 {
		t.Fatalf("outcome %+v, writes %d", o, writes)
	}
	if diff := cmp.Diff(want, *o.Undo); diff != "" || o.Note != "3 failures; not undone (undo-switched-off): switched off by job.autoscaler.rescale.undo.enabled" {
		t.Errorf("note %q (-want +got):\n%s", o.Note, diff)
	}
	if len(w.alarms) != 1 || w.alarms[0].Kind != core.Failed {
		t.Errorf("alarms %+v", w.alarms)
	}
}

// TestThePolicySwitchesUndoOff: what a decision says of it goes with the rescale.
func TestThePolicySwitchesUndoOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got []activities.RescaleInput
	w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
		got = append(got, in)
		return activities.Preflight{Reason: core.ReasonStorage}, nil
	}
	w.noUndo, w.want = true, 4
	w.stopAt(10 * time.Minute)
	w.start(input())
	if len(got) == 0 || !got[0].NoUndo {
		t.Errorf("rescales %+v", got)
	}
}

// TestAnOutcomeIsToldOnce: by the rescale itself, so that it does not matter who
// follows it, and where the sink does not answer, nothing but the event is lost.
func TestAnOutcomeIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason  string
		change  func(*world, *activities.RescaleInput)
		kind    core.OutcomeKind
		because core.Reason
		alarms  int
		note    string
	}{
		"undone": {"an alarm", func(*world, *activities.RescaleInput) {}, core.Undone, core.ReasonJobFailing, 1, "3 failures; undone: every vertex runs"},
		"sink away": {"half a minute, then the outcome comes without it", func(w *world, _ *activities.RescaleInput) {
			w.report = func(activities.ReportInput) error { return errors.New("disk full") }
		}, core.Undone, core.ReasonJobFailing, 0, "3 failures"},
		"sink away once": {"tried again", func(w *world, _ *activities.RescaleInput) {
			tried := 0
			w.report = func(activities.ReportInput) error {
				if tried++; tried == 1 {
					return errors.New("disk full")
				}
				return nil
			}
		}, core.Undone, core.ReasonJobFailing, 1, "3 failures"},
		"not read": {"an alarm", func(w *world, _ *activities.RescaleInput) {
			w.verify = func(activities.VerifyInput) (activities.Verified, error) {
				return activities.Verified{}, temporal.NewNonRetryableApplicationError("no route", activities.ErrTypeUnauthorized, nil, string(core.ReasonUnauthorized))
			}
		}, core.Failed, core.ReasonUnauthorized, 1, "could not be read: no route"},
		"an undo": {"the size before is asked for by a decision of its own, which says why", func(_ *world, in *activities.RescaleInput) {
			in.Cause, in.Undoes, in.Note = core.ReasonUndo, core.ReasonLagObjective, "lag-objective: 7 min behind"
		}, core.Applied, core.ReasonLagObjective, 1, "lag-objective: 7 min behind; every vertex runs"},
		"applied": {"no alarm", func(w *world, _ *activities.RescaleInput) {
			w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
				return activities.Verified{Kind: core.Applied, Got: in.Wanted, WishHeld: true}, nil
			}
		}, core.Applied, "", 0, ""},
		"rejected": {"no alarm: the next decision says why it is held", func(w *world, _ *activities.RescaleInput) {
			w.preflight = func(activities.RescaleInput) (activities.Preflight, error) {
				return activities.Preflight{Reason: core.ReasonStorage, Note: "disk"}, nil
			}
		}, core.Rejected, core.ReasonStorage, 0, "not attempted: disk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ailing(w)
			in := activities.RescaleInput{Key: key(), JobID: "job-1", DecisionID: "7-1", Attempt: 3, Cause: core.ReasonScaleUp, From: sized(2), Wanted: sized(4)}
			tt.change(w, &in)
			w.env.ExecuteWorkflow(workflows.RescaleName, in)
			var o core.Outcome
			if err := w.env.GetWorkflowResult(&o); err != nil {
				t.Fatal(err)
			}
			if o.Kind != tt.kind || o.Reason != tt.because || !strings.Contains(o.Note, tt.note) {
				t.Errorf("%s: %s (%s): %s", tt.reason, o.Kind, o.Reason, o.Note)
			}
			if len(w.alarms) != tt.alarms {
				t.Fatalf("%s: %d alarms, want %d", tt.reason, len(w.alarms), tt.alarms)
			}
			if tt.alarms == 1 {
				if diff := cmp.Diff(o, w.alarms[0]); diff != "" {
					t.Errorf("another outcome was told (-outcome +told):\n%s", diff)
				}
			}
		})
	}
}

// TestARescaleWithoutAnOutcomeIsTold: one that was terminated cannot tell itself.
func TestARescaleWithoutAnOutcomeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.find = func() activities.FoundRescale {
		return activities.FoundRescale{Exists: true, Open: true, RunID: "r", Attempt: 6, DecisionID: "5-1"}
	}
	w.awaitErr = temporal.NewNonRetryableApplicationError("terminated", "gone", nil)
	w.stopAt(3 * time.Minute)
	w.start(input())
	if len(w.alarms) != 1 || w.alarms[0].Kind != core.Failed || w.alarms[0].Attempt != 6 || w.alarms[0].DecisionID != "5-1" {
		t.Errorf("alarms %+v", w.alarms)
	}
}
