package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
	"flinkscaler/workflows"
)

// session is a session cluster as the steps of a redeploy see it: a job runs,
// ends with a savepoint, runs again. Each step can be bent.
type session struct {
	// live are the jobs that run, with their size; ended those that have.
	live  map[string]int
	ended map[string]bool

	stop  func() error
	await func() (activities.StopEnded, error)
	check func() error
	// unread is the note of a savepoint whose content was not looked at.
	unread  string
	submit  func(n int, in activities.SubmitInput) (activities.Submitted, error)
	verify  func(n int, in activities.VerifyInput) (activities.Verified, error)
	makeWay func(in activities.MakeWayInput) (activities.Way, error)
	prune   func() (activities.Pruned, error)
	tidy    func() (activities.Tidied, error)

	pruned    []activities.PruneInput
	tidied    []activities.TidyInput
	stops     []core.StopRequest
	submitted []activities.SubmitInput
	verified  []activities.VerifyInput
	// most is how many jobs ran at once.
	most int
}

func (s *session) register(env *testsuite.TestWorkflowEnvironment) {
	for name, f := range map[string]any{
		activities.NameStopJob: s.StopJob, activities.NameAwaitStop: s.AwaitStop, activities.NameCheckSavepoint: s.CheckSavepoint,
		activities.NameSubmitJob: s.SubmitJob, activities.NameMakeWay: s.MakeWay,
		activities.NameTidySavepoints: s.TidySavepoints, activities.NameTidy: s.Tidy,
	} {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

func (s *session) StopJob(ctx context.Context, in activities.StopInput) (activities.StopTaken, error) {
	s.stops = append(s.stops, in.Stop)
	if s.stop != nil {
		if err := s.stop(); err != nil {
			return activities.StopTaken{}, err
		}
	}
	return activities.StopTaken{At: time.Date(2026, 11, 29, 12, 0, 1, 0, time.UTC)}, nil
}

func (s *session) AwaitStop(context.Context, activities.StopInput) (activities.StopEnded, error) {
	if s.await != nil {
		return s.await()
	}
	delete(s.live, "job-1")
	return activities.StopEnded{Ending: redeploy.Stopped, Savepoint: "file:/sp/1"}, nil
}

func (s *session) CheckSavepoint(context.Context, activities.CheckSavepointInput) (core.Savepoint, error) {
	if s.check != nil {
		return core.Savepoint{}, s.check()
	}
	return core.Savepoint{Size: 9, Note: s.unread}, nil
}

func (s *session) SubmitJob(_ context.Context, in activities.SubmitInput) (activities.Submitted, error) {
	s.submitted = append(s.submitted, in)
	if s.submit != nil {
		if out, err := s.submit(len(s.submitted), in); err != nil || out != (activities.Submitted{}) {
			return out, err
		}
	}
	id := redeploy.JobID(in.Trigger, in.Number)
	if s.ended[id] {
		return activities.Submitted{Ended: true, Note: "it is FAILED"}, nil
	}
	s.live[id] = in.Vertices[0].Parallelism
	s.most = max(s.most, len(s.live))
	return activities.Submitted{JobID: id}, nil
}

func (s *session) Verify(w *world, in activities.VerifyInput) (activities.Verified, error) {
	s.verified = append(s.verified, in)
	if s.verify != nil {
		if out, err := s.verify(len(s.verified), in); err != nil || out.Kind != "" {
			return out, err
		}
	}
	return activities.Verified{Kind: core.Applied, Note: "every vertex runs at the wanted size", Got: in.Wanted, RunningAt: w.env.Now(), WishHeld: true}, nil
}

func (s *session) MakeWay(_ context.Context, in activities.MakeWayInput) (activities.Way, error) {
	if s.makeWay != nil {
		return s.makeWay(in)
	}
	delete(s.live, in.Job.ID)
	s.ended[in.Job.ID] = true
	return activities.Way{Clear: true, Ended: true, From: in.Restored}, nil
}

func (s *session) TidySavepoints(_ context.Context, in activities.PruneInput) (activities.Pruned, error) {
	s.pruned = append(s.pruned, in)
	if s.prune != nil {
		return s.prune()
	}
	return activities.Pruned{}, nil
}

func (s *session) Tidy(_ context.Context, in activities.TidyInput) (activities.Tidied, error) {
	s.tidied = append(s.tidied, in)
	if s.tidy != nil {
		return s.tidy()
	}
	return activities.Tidied{}, nil
}

const trigger = "aa000000000000000000000000000000"

// redeploying is a world whose job is changed from 2 to 4 by a redeploy.
func redeploying(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.session.live, w.session.ended = map[string]int{"job-1": 2}, map[string]bool{}
	w.preflight = func(activities.RescaleInput) (activities.Preflight, error) {
		return activities.Preflight{
			Job: core.JobRef{ID: "job-1", Name: "orders"}, Before: sized(2), At: w.env.Now(), VerifyFor: 10 * time.Minute,
			Redeploy: &activities.RedeployPlan{
				Stop:     core.StopRequest{Trigger: trigger, Directory: "file:///sp/d"},
				Vertices: []core.SubmittedVertex{{ID: vertexID, Name: "slow", Parallelism: 4, Was: 2}},
			},
		}, nil
	}
	w.apply = func(activities.ApplyInput) (activities.ApplyResult, error) {
		t.Error("a redeploy wrote requirements")
		return activities.ApplyResult{}, nil
	}
	w.verify = func(in activities.VerifyInput) (activities.Verified, error) { return w.session.Verify(w, in) }
	return w
}

// one is the only job that lives.
func one(t *testing.T, w *world) (id string, size int) {
	t.Helper()
	if len(w.session.live) != 1 || w.session.most > 1 {
		t.Fatalf("jobs that live: %v, at once %d", w.session.live, w.session.most)
	}
	for id, size = range w.session.live {
	}
	return id, size
}

func TestARedeploy(t *testing.T) {
	t.Parallel()
	w := redeploying(t)
	o := saga(t, w)
	id, size := one(t, w)
	if o.Kind != core.Applied || o.JobID != id || size != 4 || id != redeploy.JobID(trigger, 0) || o.Undo != nil || o.WrittenAt.IsZero() || o.RunningAt.IsZero() {
		t.Errorf("job %s at %d, outcome %+v", id, size, o)
	}
	want := &core.Redeploy{Trigger: trigger, Directory: "file:///sp/d", From: "job-1", To: id, Savepoint: "file:/sp/1"}
	if diff := cmp.Diff(want, o.Redeploy); diff != "" {
		t.Errorf("what it left (-want +got):\n%s", diff)
	}
	if v := w.session.verified[0]; v.Restored != "file:/sp/1" || v.Job.ID != id || v.Job.Name != "orders" || !cmp.Equal(v.Wanted, sized(4)) {
		t.Errorf("watched %+v", v)
	}
	if diff := cmp.Diff([]core.StopRequest{{Trigger: trigger, Directory: "file:///sp/d"}}, w.session.stops); diff != "" {
		t.Errorf("stops (-want +got):\n%s", diff)
	}
}

// TestARedeployAtEachFailure: the job runs at the end, once, as it was or as it
// should be, and where nothing more can be tried the note says how to start it.
func TestARedeployAtEachFailure(t *testing.T) {
	t.Parallel()
	unwell := activities.Verified{Kind: core.Failed, Reason: core.ReasonJobFailing, Undo: core.ReasonJobFailing, Note: "3 failures"}
	lost := temporal.NewNonRetryableApplicationError("no answer", activities.ErrTypeTryAgain, nil, string(core.ReasonUnreachable))
	first := func(v activities.Verified) func(int, activities.VerifyInput) (activities.Verified, error) {
		return func(n int, _ activities.VerifyInput) (activities.Verified, error) {
			if n == 1 {
				return v, nil
			}
			return activities.Verified{}, nil
		}
	}
	for name, tt := range map[string]struct {
		reason string
		bend   func(*session)
		kind   core.OutcomeKind
		why    core.Reason
		note   string
		// size is what the one job runs at, 0 for none.
		size    int
		submits int
		undo    core.OutcomeKind
	}{
		"stop refused": {"the job runs on as before", func(s *session) {
			s.await = func() (activities.StopEnded, error) {
				return activities.StopEnded{Ending: redeploy.RunsOn, Note: "no space left"}, nil
			}
		}, core.Rejected, core.ReasonSavepoint, "runs on as before: no space left", 2, 0, ""},
		"stop not answered, not taken": {"what came of it is seen, not guessed", func(s *session) {
			s.stop = func() error { return lost }
			s.await = func() (activities.StopEnded, error) {
				return activities.StopEnded{Ending: redeploy.RunsOn, Note: "Flink knows nothing of the stop"}, nil
			}
		}, core.Rejected, core.ReasonSavepoint, "knows nothing of the stop; no answer", 2, 0, ""},
		"stop not answered, taken": {"the job is started again all the same", func(s *session) { s.stop = func() error { return lost } },
			core.Applied, "", "", 4, 1, ""},
		"savepoint not readable": {"it is the only way on: Flink calls it complete", func(s *session) { s.check = func() error { return lost } },
			core.Applied, "", "the savepoint could not be read: no answer", 4, 1, ""},
		"savepoint not looked into": {"its name and size did, and that is told", func(s *session) { s.unread = "its content was not looked at" },
			core.Applied, "", "of the savepoint: its content was not looked at", 4, 1, ""},
		"savepoint lost": {"an alarm, with all that a person needs", func(s *session) {
			s.await = func() (activities.StopEnded, error) {
				delete(s.live, "job-1")
				return activities.StopEnded{Ending: redeploy.Lost, Note: "the job is FAILED and its stop left no savepoint"}, nil
			}
		}, core.Failed, core.ReasonLeftStopped, "flink run -d -s <the newest savepoint in file:///sp/d, else the newest checkpoint of job job-1>", 0, 0, ""},
		"somebody started it": {"never two of one name", func(s *session) {
			s.submit = func(int, activities.SubmitInput) (activities.Submitted, error) {
				s.live["theirs"] = 3
				return activities.Submitted{Other: "theirs", Note: "job theirs of that name runs, which somebody else started"}, nil
			}
		}, core.Failed, core.ReasonForeignWriter, "the savepoint is file:/sp/1", 3, 1, ""},
		"refused at the new size": {"the size before runs", func(s *session) {
			s.submit = func(n int, _ activities.SubmitInput) (activities.Submitted, error) {
				if n == 1 {
					return activities.Submitted{Refused: core.ReasonRefused, Note: "no such argument"}, nil
				}
				return activities.Submitted{}, nil
			}
		}, core.Undone, core.ReasonRefused, "no such argument; undone: every vertex runs", 2, 2, core.Applied},
		"unwell at the new size": {"BC-18", func(s *session) { s.verify = first(unwell) },
			core.Undone, core.ReasonJobFailing, "3 failures; undone: every vertex runs", 2, 2, core.Applied},
		"unwell, with checkpoints": {"going back would repeat what was committed", func(s *session) {
			s.verify = first(unwell)
			s.makeWay = func(activities.MakeWayInput) (activities.Way, error) {
				return activities.Way{Note: "it is left alone"}, nil
			}
		}, core.Failed, core.ReasonJobFailing, "it is left alone", 4, 1, core.Rejected},
		"failed at once": {"its id is used up: another one", func(s *session) {
			s.submit = func(n int, in activities.SubmitInput) (activities.Submitted, error) {
				if n == 1 {
					s.ended[redeploy.JobID(in.Trigger, in.Number)] = true
				}
				return activities.Submitted{}, nil
			}
		}, core.Undone, core.ReasonJobNotRunning, "it is FAILED; undone", 2, 2, core.Applied},
		"away for a while": {"it is tried until it lives", func(s *session) {
			s.submit = func(n int, _ activities.SubmitInput) (activities.Submitted, error) {
				if n < 6 {
					return activities.Submitted{Refused: core.ReasonRefused, Note: "no uploaded jar"}, nil
				}
				return activities.Submitted{}, nil
			}
		}, core.Undone, core.ReasonRefused, "undone: every vertex runs", 2, 6, core.Applied},
		"away for good": {"an alarm, with the command", func(s *session) {
			s.submit = func(int, activities.SubmitInput) (activities.Submitted, error) {
				return activities.Submitted{Refused: core.ReasonRefused, Note: "no uploaded jar"}, nil
			}
		}, core.Failed, core.ReasonLeftStopped, "flink run -d -s file:/sp/1 -Dpipeline.jobvertex-parallelism-overrides=" + vertexID + ":2 ", 0, 12, core.Failed},
		"failed after a checkpoint": {"from that one, which is newer", func(s *session) {
			s.verify = first(activities.Verified{Kind: core.Failed, Reason: core.ReasonJobNotRunning, Note: "the job ended as FAILED"})
			s.makeWay = func(in activities.MakeWayInput) (activities.Way, error) {
				delete(s.live, in.Job.ID)
				s.ended[in.Job.ID] = true
				return activities.Way{Clear: true, Ended: true, From: "file:/cp/chk-3"}, nil
			}
			s.submit = func(n int, in activities.SubmitInput) (activities.Submitted, error) {
				if want := []string{"file:/sp/1", "file:/cp/chk-3"}[n-1]; in.Savepoint != want {
					return activities.Submitted{}, temporal.NewNonRetryableApplicationError("restored from "+in.Savepoint, "Test", nil)
				}
				return activities.Submitted{}, nil
			}
		}, core.Undone, core.ReasonJobNotRunning, "undone", 2, 2, core.Applied},
		"at another size": {"it runs: what the program gave it is told", func(s *session) {
			s.verify = first(activities.Verified{Kind: core.Partial, Reason: core.ReasonNotReached, Note: "the program did not take the sizes", Got: sized(2)})
		}, core.Partial, core.ReasonNotReached, "did not take", 4, 1, ""},
		"not watched": {"it may be well: it is left to live", func(s *session) {
			s.verify = first(activities.Verified{Kind: core.Failed, Reason: core.ReasonUnreachable, Note: "at the deadline Flink could not tell"})
			s.makeWay = func(in activities.MakeWayInput) (activities.Way, error) {
				if in.Unwell {
					return activities.Way{}, fmt.Errorf("asked to end a job that may be well")
				}
				return activities.Way{Note: "it lives and is left alone"}, nil
			}
		}, core.Failed, core.ReasonUnreachable, "left alone", 4, 1, ""},
		"unwell at both": {"one alarm with both", func(s *session) {
			s.verify = func(int, activities.VerifyInput) (activities.Verified, error) { return unwell, nil }
			s.makeWay = func(in activities.MakeWayInput) (activities.Way, error) {
				if !in.Unwell { // without slots, say: it waits for them, and is all that there is
					return activities.Way{Note: "it lives and is left alone"}, nil
				}
				delete(s.live, in.Job.ID)
				s.ended[in.Job.ID] = true
				return activities.Way{Clear: true, Ended: true, From: in.Restored}, nil
			}
		}, core.Failed, core.ReasonJobFailing, "at the size before: 3 failures", 2, 2, core.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := redeploying(t)
			tt.bend(&w.session)
			o := saga(t, w)
			if o.Kind != tt.kind || o.Reason != tt.why || !strings.Contains(o.Note, tt.note) {
				t.Errorf("%s: %s (%s) %q, want %s (%s) %q", tt.reason, o.Kind, o.Reason, o.Note, tt.kind, tt.why, tt.note)
			}
			if o.WrittenAt.IsZero() {
				t.Errorf("%s: the outcome says that nothing was asked of Flink", tt.reason)
			}
			if n, want := len(w.session.pruned), tt.kind == core.Applied || tt.kind == core.Partial || tt.kind == core.Undone; n > 0 != want {
				t.Errorf("%s: tidied %d times", tt.reason, n)
			}
			if n := len(w.session.submitted); n != tt.submits {
				t.Errorf("%s: submitted %d times, want %d", tt.reason, n, tt.submits)
			}
			if (o.Undo != nil) != (tt.undo != "") || (o.Undo != nil && o.Undo.Kind != tt.undo) {
				t.Errorf("%s: undo %+v, want %q", tt.reason, o.Undo, tt.undo)
			}
			if tt.size == 0 {
				if len(w.session.live) != 0 {
					t.Errorf("jobs that live: %v", w.session.live)
				}
				return
			}
			id, size := one(t, w)
			if size != tt.size || (id != "theirs" && o.Redeploy.Savepoint != "" && (o.JobID != id || o.Redeploy.To != id)) {
				t.Errorf("%s: job %s runs at %d, want %d; outcome %+v, %+v", tt.reason, id, size, tt.size, o, o.Redeploy)
			}
		})
	}
}

// TestTidyingChangesNoOutcome: what was deleted is told, and so is that it failed.
func TestTidyingChangesNoOutcome(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		tidy   func() (activities.Pruned, error)
		note   string
	}{
		"deleted": {"an operator sees what is gone", func() (activities.Pruned, error) {
			return activities.Pruned{Deleted: []string{"file:///sp/a"}, Note: "deleted 1 older savepoint"}, nil
		}, "every vertex runs at the wanted size; deleted 1 older savepoint"},
		"failed": {"the job runs all the same", func() (activities.Pruned, error) {
			return activities.Pruned{}, temporal.NewNonRetryableApplicationError("not allowed", activities.ErrTypeRefused, nil)
		}, "old savepoints could not be deleted: not allowed"},
		"nothing": {"nothing is told", nil, "every vertex runs at the wanted size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := redeploying(t)
			w.session.prune = tt.tidy
			o := saga(t, w)
			if o.Kind != core.Applied || o.Reason != "" || !strings.HasSuffix(o.Note, tt.note) {
				t.Errorf("%s: %s (%s) %q, want %q", tt.reason, o.Kind, o.Reason, o.Note, tt.note)
			}
			id, _ := one(t, w)
			want := []activities.PruneInput{{Key: key(), Job: core.JobRef{Key: key(), ID: id, Name: "orders"}, Directory: "file:///sp/d", Keep: []string{"file:/sp/1"}}}
			if diff := cmp.Diff(want, w.session.pruned); diff != "" {
				t.Errorf("tidied (-want +got):\n%s", diff)
			}
		})
	}
}

// TestARedeployOutlivesItsCancel: half of one is no outcome.
func TestARedeployOutlivesItsCancel(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"stop", "await", "submit", "verify", "pause"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := redeploying(t)
			end := func(at string) {
				if at == step {
					w.env.CancelWorkflow()
				}
			}
			w.session.stop = func() error { end("stop"); return nil }
			w.session.await = func() (activities.StopEnded, error) {
				end("await")
				delete(w.session.live, "job-1")
				return activities.StopEnded{Ending: redeploy.Stopped, Savepoint: "file:/sp/1"}, nil
			}
			w.session.submit = func(n int, _ activities.SubmitInput) (activities.Submitted, error) {
				end("submit")
				if step == "pause" && n < 4 {
					w.at(time.Second, w.env.CancelWorkflow) // in the middle of a pause
					return activities.Submitted{Refused: core.ReasonRefused, Note: "not yet"}, nil
				}
				return activities.Submitted{}, nil
			}
			w.session.verify = func(int, activities.VerifyInput) (activities.Verified, error) {
				end("verify")
				return activities.Verified{}, nil
			}
			o := saga(t, w)
			if _, size := one(t, w); o.Kind != core.Applied && o.Kind != core.Undone || (size != 4 && step != "pause") {
				t.Errorf("cancelled at %s: %+v, size %d", step, o, size)
			}
		})
	}
}

// TestARedeployIsCalledOne, while it is under way.
func TestARedeployIsCalledOne(t *testing.T) {
	t.Parallel()
	w := redeploying(t)
	var seen []string
	w.session.submit = func(int, activities.SubmitInput) (activities.Submitted, error) {
		v, err := w.env.QueryWorkflow(workflows.QueryProgress)
		if err != nil {
			t.Fatal(err)
		}
		var p workflows.RescaleProgress
		if err := v.Get(&p); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, p.Method+": "+p.Phase)
		return activities.Submitted{}, nil
	}
	saga(t, w)
	if diff := cmp.Diff([]string{"redeploy: redeploy: submitting the job at the new size"}, seen); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

// TestARedeployWithoutUndo: switched off, it ends no job that lives; one that is
// down is started again all the same.
func TestARedeployWithoutUndo(t *testing.T) {
	t.Parallel()
	for name, lives := range map[string]bool{"it lives": true, "it is down": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := redeploying(t)
			w.session.verify = func(n int, _ activities.VerifyInput) (activities.Verified, error) {
				if n == 1 {
					return activities.Verified{Kind: core.Failed, Reason: core.ReasonJobFailing, Undo: core.ReasonJobFailing, Note: "3 failures"}, nil
				}
				return activities.Verified{}, nil
			}
			w.session.makeWay = func(in activities.MakeWayInput) (activities.Way, error) {
				if in.Unwell {
					t.Error("undo is switched off, and a job is to be ended for it")
				}
				if lives {
					return activities.Way{Note: "it lives and is left alone"}, nil
				}
				delete(w.session.live, in.Job.ID)
				w.session.ended[in.Job.ID] = true
				return activities.Way{Clear: true, Ended: true, From: in.Restored}, nil
			}
			w.env.ExecuteWorkflow(workflows.RescaleName, activities.RescaleInput{
				Key: key(), Target: core.Target{Flink: &core.FlinkTarget{JobName: "orders"}}, JobID: "job-1", DecisionID: "7-1", Attempt: 3,
				Cause: core.ReasonScaleUp, From: sized(2), Wanted: sized(4), NoUndo: true,
			})
			var o core.Outcome
			if err := w.env.GetWorkflowResult(&o); err != nil {
				t.Fatal(err)
			}
			_, size := one(t, w)
			if lives && (o.Kind != core.Failed || size != 4 || o.Undo == nil || o.Undo.Reason != core.ReasonUndoOff) {
				t.Errorf("at %d: %+v, undo %+v", size, o, o.Undo)
			}
			if !lives && (o.Kind != core.Undone || size != 2) {
				t.Errorf("at %d: %+v, undo %+v", size, o, o.Undo)
			}
		})
	}
}

// TestWhatAPersonRuns is what the platform says: another command would start another
// job.
func TestWhatAPersonRuns(t *testing.T) {
	t.Parallel()
	w := redeploying(t)
	before := w.preflight
	w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
		pre, err := before(in)
		pre.Redeploy.ByHand = core.ByHand{Command: "flink run -t yarn-application -d", Options: "-Dyarn.tags=a"}
		return pre, err
	}
	w.session.submit = func(int, activities.SubmitInput) (activities.Submitted, error) {
		return activities.Submitted{Refused: core.ReasonRefused, Note: "no jar"}, nil
	}
	o := saga(t, w)
	want := "flink run -t yarn-application -d -s file:/sp/1 -Dpipeline.jobvertex-parallelism-overrides=" + vertexID + ":2 -Dyarn.tags=a <jar> <arguments>"
	if o.Reason != core.ReasonLeftStopped || !strings.Contains(o.Note, want) {
		t.Errorf("%s: %q, want in it %q", o.Reason, o.Note, want)
	}
}

// TestClearingUp: after the change, with the ids of all that was submitted, whether it
// did or not; and what comes of it changes no outcome.
func TestClearingUp(t *testing.T) {
	t.Parallel()
	extras := map[string]string{"queue": "shop"}
	first, second := redeploy.JobID(trigger, 0), redeploy.JobID(trigger, 1)
	refuse := func(int, activities.SubmitInput) (activities.Submitted, error) {
		return activities.Submitted{Refused: core.ReasonRefused, Note: "no jar"}, nil
	}
	for name, tt := range map[string]struct {
		reason string
		extras map[string]string
		bend   func(*session)
		kind   core.OutcomeKind
		// job is the one that lives, submitted what was submitted beside the one that was
		// stopped; nil: nothing is to be cleared up.
		job       core.JobRef
		submitted []string
		note      string
	}{
		"nothing left by the platform": {"a session cluster stages nothing", nil, nil, core.Applied, core.JobRef{}, nil, "every vertex runs at the wanted size"},
		"applied": {"it is told what was ended", extras, func(s *session) {
			s.tidy = func() (activities.Tidied, error) { return activities.Tidied{Note: "ended application_2"}, nil }
		}, core.Applied, core.JobRef{ID: first, Extras: map[string]string{"application": "new"}}, []string{first}, "every vertex runs at the wanted size; ended application_2"},
		"undone": {"both submissions have staged something", extras, func(s *session) {
			s.submit = func(n int, in activities.SubmitInput) (activities.Submitted, error) {
				s.ended[first] = true
				return submitted(s, in), nil
			}
		}, core.Undone, core.JobRef{ID: second, Extras: map[string]string{"application": "new"}}, []string{first, second}, "every vertex runs at the wanted size"},
		"left stopped": {"what was staged in vain is removed, by what is known of the job", extras, func(s *session) { s.submit = refuse },
			core.Failed, core.JobRef{Extras: extras}, []string{first}, "no jar"},
		"not cleared up": {"the job runs all the same", extras, func(s *session) {
			s.tidy = func() (activities.Tidied, error) {
				return activities.Tidied{}, temporal.NewNonRetryableApplicationError("not allowed", activities.ErrTypeRefused, nil)
			}
		}, core.Applied, core.JobRef{ID: first, Extras: map[string]string{"application": "new"}}, []string{first}, "wanted size; not cleared up: not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := redeploying(t)
			before := w.preflight
			w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
				pre, err := before(in)
				pre.Redeploy.Extras = tt.extras
				return pre, err
			}
			if tt.extras != nil {
				w.session.submit = func(_ int, in activities.SubmitInput) (activities.Submitted, error) {
					return submitted(&w.session, in), nil
				}
			}
			if tt.bend != nil {
				tt.bend(&w.session)
			}
			o := saga(t, w)
			if o.Kind != tt.kind || !strings.Contains(o.Note, tt.note) {
				t.Errorf("%s: %s %q, want %s %q", tt.reason, o.Kind, o.Note, tt.kind, tt.note)
			}
			var want []activities.TidyInput
			if tt.submitted != nil {
				job := tt.job
				job.Key, job.Name = key(), "orders"
				want = []activities.TidyInput{{Key: key(), Job: job, Submitted: append([]string{"job-1"}, tt.submitted...)}}
			}
			if diff := cmp.Diff(want, w.session.tidied); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// submitted starts the job as on a platform that has applications.
func submitted(s *session, in activities.SubmitInput) activities.Submitted {
	id := redeploy.JobID(in.Trigger, in.Number)
	if s.ended[id] {
		return activities.Submitted{Ended: true, Note: "it is FAILED"}
	}
	s.live[id] = in.Vertices[0].Parallelism
	s.most = max(s.most, len(s.live))
	return activities.Submitted{JobID: id, Job: &core.JobRef{ID: id, Extras: map[string]string{"application": "new"}}}
}

// TestWhereAJobsOwnCheckpointsAre is told to whoever has to end it.
func TestWhereAJobsOwnCheckpointsAre(t *testing.T) {
	t.Parallel()
	w := redeploying(t)
	before := w.preflight
	w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
		pre, err := before(in)
		pre.Checkpoint = "hdfs://ns/cp/job-1/chk-7"
		return pre, err
	}
	w.session.verify = func(n int, _ activities.VerifyInput) (activities.Verified, error) {
		if n == 1 {
			return activities.Verified{Kind: core.Failed, Reason: core.ReasonJobFailing, Undo: core.ReasonJobFailing}, nil
		}
		return activities.Verified{}, nil
	}
	way := w.session.MakeWay
	asked := ""
	w.session.makeWay = func(in activities.MakeWayInput) (activities.Way, error) {
		asked = in.Checkpoints
		w.session.makeWay = nil
		return way(t.Context(), in)
	}
	o := saga(t, w)
	if want := "hdfs://ns/cp/" + redeploy.JobID(trigger, 0); o.Kind != core.Undone || asked != want {
		t.Errorf("%s, looked into %q, want %q", o.Kind, asked, want)
	}
}
