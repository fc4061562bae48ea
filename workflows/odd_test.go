package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/workflows"
)

// TestATargetThatIsFreeAgainIsTaken: the other workflow has ended; nobody tells
// this one, so it has to ask.
func TestATargetThatIsFreeAgainIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	elsewhere := true
	w.find = func() activities.FoundRescale {
		return activities.FoundRescale{Exists: true, Owner: "flink/dev/other", OwnedElsewhere: elsewhere, Attempt: 5}
	}
	w.at(5*time.Minute, func() {
		if s := w.status(t); s.Reason != core.ReasonManagedElsewhere || w.writes != 0 {
			t.Errorf("reason %s, writes %d", s.Reason, w.writes)
		}
		elsewhere = false
	})
	w.at(10*time.Minute, func() {
		if s := w.status(t); s.Parallelism != 4 || w.writes != 1 || s.LastRescale.Attempt != 6 {
			t.Errorf("after the other has ended: reason %s, writes %d, last %+v", s.Reason, w.writes, s.LastRescale)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestAnOrderBetweenDecisionAndRescaleCounts is I6: what an operator was told
// is in force holds although a change was decided a moment before.
func TestAnOrderBetweenDecisionAndRescaleCounts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		order  func(*world)
		check  func(*world, workflows.Status) bool
	}{
		"pause": {"paused jobs are not changed", func(w *world) { w.env.SignalWorkflow(workflows.MsgPause, nil) }, func(w *world, s workflows.Status) bool {
			return w.writes == 0 && s.Reason == core.ReasonPaused
		}},
		"override": {"one rescale, to what was ordered", func(w *world) { w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"parallelism": 7}) }, func(w *world, s workflows.Status) bool {
			return w.writes == 1 && w.size == 7
		}},
		"evaluate-now": {"no order about the size", func(w *world) { w.env.SignalWorkflow(workflows.MsgEvaluateNow, nil) }, func(w *world, s workflows.Status) bool {
			return w.writes == 1 && w.size == 4
		}},
		"cancel": {"stop managing; start nothing new", func(w *world) { w.env.CancelWorkflow() }, func(w *world, _ workflows.Status) bool { return w.writes == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			looks := 0
			w.find = func() activities.FoundRescale {
				if looks++; looks == 2 { // the first is at the start
					tt.order(w)
				}
				return activities.FoundRescale{}
			}
			w.want = 4
			w.at(3*time.Minute, func() { w.env.CancelWorkflow() })
			w.start(input())
			if s := w.status(t); !tt.check(w, s) {
				t.Errorf("%s: writes %d, size %d, reason %s", tt.reason, w.writes, w.size, s.Reason)
			}
		})
	}
}

// TestARescaleRunsToItsOutcomeWhateverIsCancelled is I5.
func TestARescaleRunsToItsOutcomeWhateverIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.SetStartWorkflowOptions(startOptions("flink-rescale/dev/flink/orders"))
	w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
		return activities.Verified{Kind: core.Applied, Got: in.Wanted}, nil
	}
	w.apply = func(activities.ApplyInput) (activities.ApplyResult, error) {
		w.env.CancelWorkflow()
		return activities.ApplyResult{At: w.env.Now()}, nil
	}
	w.env.ExecuteWorkflow(workflows.RescaleName, activities.RescaleInput{Key: key(), Wanted: []core.VertexSize{{ID: vertexID, Parallelism: 4}}, VerifyTimeout: time.Minute})
	var o core.Outcome
	if err := w.env.GetWorkflowResult(&o); err != nil || o.Kind != core.Applied {
		t.Errorf("outcome %+v, %v", o, err)
	}
}

// TestAFinalErrorAfterALostWriteIsVerified is I5 as well: the write may be in
// force, only Flink can tell.
func TestAFinalErrorAfterALostWriteIsVerified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.apply = func(activities.ApplyInput) (activities.ApplyResult, error) {
		return activities.ApplyResult{}, temporal.NewNonRetryableApplicationError("unauthorized", activities.ErrTypeMaybeWritten, nil, string(core.ReasonUnauthorized))
	}
	w.at(3*time.Minute, func() {
		if s := w.status(t); s.LastRescale == nil || s.LastRescale.Kind != core.Applied {
			t.Errorf("last rescale %+v", s.LastRescale)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestAnAdoptedRescaleWithoutOutcomeIsTold: who terminates a rescale finds its
// decision and attempt in the history all the same.
func TestAnAdoptedRescaleWithoutOutcomeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := true
	w.find = func() activities.FoundRescale {
		defer func() { first = false }()
		return activities.FoundRescale{Exists: true, Open: first, RunID: "r", Attempt: 3, DecisionID: "9-9"}
	}
	w.await = func() core.Outcome {
		return core.Outcome{Kind: core.Failed, Reason: core.ReasonInternal, Note: "terminated"}
	}
	w.at(2*time.Minute, func() {
		if s := w.status(t); s.LastRescale == nil || s.LastRescale.DecisionID != "9-9" || s.LastRescale.Attempt != 3 {
			t.Errorf("last rescale %+v", s.LastRescale)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestARowOfFailedStartsIsOneRecord: history is for the decisions of a day, not
// for one fault.
func TestARowOfFailedStartsIsOneRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.findFails = errors.New("no connection")
	w.at(5*time.Minute, func() {
		h := w.history(t)
		if len(h.Decisions) != 1 || h.Decisions[0].Reason != core.ReasonUnreachable || h.Decisions[0].Count < 4 || len(h.Decisions[0].Sizes) != 0 {
			t.Errorf("%d records, the last %+v", len(h.Decisions), h.Decisions[len(h.Decisions)-1])
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestAnIntervalThatMakesNoSenseIsNoBusyLoop: a loop that never sleeps would
// fill its history in minutes.
func TestAnIntervalThatMakesNoSenseIsNoBusyLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.interval = -time.Minute
	w.stopAt(time.Minute)
	w.start(input())
	if w.observed > 62 {
		t.Errorf("%d looks in a minute", w.observed)
	}
}

// TestNoBackoffIsNoBusyLoop: a policy may set it to 0, and each end of a rescale
// has the job looked at at once.
func TestNoBackoffIsNoBusyLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want, w.noBackoff = 4, true
	rescales := 0
	w.preflight = func(activities.RescaleInput) (activities.Preflight, error) {
		if rescales++; rescales > 100 {
			w.env.CancelWorkflow()
		}
		return activities.Preflight{Reason: core.ReasonStorage}, nil
	}
	w.stopAt(10 * time.Minute)
	w.start(input())
	if rescales > 11 {
		t.Errorf("%d rescales in 10 minutes", rescales)
	}
}

// TestOrdersRunByTheWorkflowsClock: the JobManager's clock may be ahead; an
// order for ten minutes would then never be in force.
func TestOrdersRunByTheWorkflowsClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ahead = time.Hour
	w.want = 4
	seen := core.JobContext{}
	w.decide = func(in activities.DecideInput) core.Decision {
		seen = in.Context
		return core.Decision{ID: fmt.Sprint(in.Context.Cycle), At: in.Context.Now, Verdict: core.Hold, Reason: core.ReasonWithinTarget}
	}
	w.at(time.Second, func() {
		w.env.SignalWorkflow(workflows.MsgPause, map[string]any{"for": "10 min"})
		w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"parallelism": 3, "for": "20 min"})
	})
	w.at(5*time.Minute, func() {
		if !seen.Pause.Active(seen.Now) || !seen.Override.Active(seen.Now) {
			t.Errorf("after 5 minutes at %s: pause %+v, override %+v", seen.Now, seen.Pause, seen.Override)
		}
	})
	w.at(15*time.Minute, func() {
		if seen.Pause != nil || !seen.Override.Active(seen.Now) {
			t.Errorf("after 15 minutes: pause %+v, override %+v", seen.Pause, seen.Override)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestTheWaitAfterAFailureRunsByTheWorkflowsClock, likewise.
func TestTheWaitAfterAFailureRunsByTheWorkflowsClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ahead, w.want = time.Hour, 4
	w.verify = func(activities.VerifyInput) (activities.Verified, error) {
		return activities.Verified{Kind: core.Partial, Reason: core.ReasonNotReached}, nil
	}
	w.at(3*time.Minute, func() {
		last := w.inputs[len(w.inputs)-1].Context
		if !last.Now.Before(last.RetryAfter) {
			t.Errorf("at %s the next may start at %s", last.Now, last.RetryAfter)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestHostileSignalsDoNotFillTheState is I10: what is kept of orders that were
// refused is carried over continue-as-new.
func TestHostileSignalsDoNotFillTheState(t *testing.T) {
	t.Parallel()
	many := map[string]any{}
	for i := range 5000 {
		many[fmt.Sprintf("f%d", i)] = 1
	}
	for name, tt := range map[string]struct {
		reason string
		value  any
	}{
		"many fields":      {"one problem each", many},
		"a long field":     {"its name is the problem's path", map[string]any{strings.Repeat("x", 60000): 1}},
		"many vertices":    {"one problem each", map[string]any{"vertices": sizesOf(5000)}},
		"a long duration":  {"the problem repeats it", map[string]any{"parallelism": 1, "for": strings.Repeat("9", 60000) + " " + strings.Repeat("y", 100)}},
		"a long text":      {"it is shown", map[string]any{"parallelism": 1, "by": strings.Repeat("x", 60000)}},
		"deep nesting":     {"a decoder that recurses", json.RawMessage(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))},
		"control letters":  {"they would reach terminals and logs", map[string]any{"parallelism": 1, "by": "ann\x1b[2J\r\nroot: ok"}},
		"a number as text": {"a typo is no order", map[string]any{"parallelism": "4"}},
		"a fraction":       {"there is no half subtask", map[string]any{"parallelism": 4.5}},
		"an overflow":      {"not a year", map[string]any{"parallelism": 1, "for": "9223372036854775807 d"}},
		"another overflow": {"not a year", map[string]any{"parallelism": 1, "for": "P1e300D"}},
		"given twice":      {"which one is meant?", json.RawMessage(`{"parallelism": 1, "parallelism": 2}`)},
		"a vertex twice":   {"which one is meant?", json.RawMessage(`{"vertices": {"a": 1, "a": 2}}`)},
		"null":             {"no size", map[string]any{"parallelism": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.at(10*time.Second, func() {
				for range 12 {
					w.env.SignalWorkflow(workflows.MsgOverride, tt.value)
				}
			})
			w.at(20*time.Second, func() { w.env.SetContinueAsNewSuggested(true) })
			w.start(input())
			s := carried(t, w.env.GetWorkflowError())
			b, err := json.Marshal(s)
			if err != nil || len(b) > 128<<10 || len(s.Rejected) != 10 || s.Override != nil {
				t.Errorf("%s: %d bytes, %d rejected, override %+v, %v", tt.reason, len(b), len(s.Rejected), s.Override, err)
			}
		})
	}
}

func sizesOf(n int) map[string]any {
	out := map[string]any{}
	for i := range n {
		out[fmt.Sprintf("v%d", i)] = 0
	}
	return out
}

// TestOverridesNameAnyVertex: a name is Flink's, not ours.
func TestOverridesNameAnyVertex(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Source: orders", "ünïcode → 漢字", "a/b/c", "with \"quotes\" | and `ticks`", " "} {
		w := newWorld(t)
		w.at(time.Second, func() {
			w.env.SignalWorkflow(workflows.MsgOverride, map[string]any{"vertices": map[string]int{name: 3}})
			w.env.SignalWorkflow(workflows.MsgPause, nil)
		})
		w.at(2*time.Second, func() {
			s := w.status(t)
			if s.Override == nil || cmp.Diff([]core.VertexSize{{ID: name, Parallelism: 3}}, s.Override.Vertices) != "" {
				t.Errorf("%q: %+v, rejected %+v", name, s.Override, s.Rejected)
			}
			w.env.CancelWorkflow()
		})
		w.start(input())
	}
}

// TestTheStateOfALargeJobFitsAPayload is I10: Temporal takes 2 MiB, and a
// continue-as-new that does not fit stops the workflow for good.
func TestTheStateOfALargeJobFitsAPayload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 300
	large := core.Topology{}
	for i := range n {
		large.Vertices = append(large.Vertices, core.Vertex{ID: fmt.Sprintf("%032d", i), Name: strings.Repeat("map -> ", 40), Parallelism: 2, MaxParallelism: 720})
	}
	w.large = &large
	w.verify = func(in activities.VerifyInput) (activities.Verified, error) {
		return activities.Verified{Kind: core.Partial, Reason: core.ReasonNotReached, Got: in.Wanted}, nil
	}
	w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
		return activities.Preflight{Before: in.From}, nil
	}
	w.decide = func(in activities.DecideInput) core.Decision {
		d := core.Decision{ID: fmt.Sprint(in.Context.Cycle), At: in.Context.Now, Verdict: core.Change, Reason: core.ReasonScaleUp, Note: strings.Repeat("n", 600)}
		if in.Context.RescaleOpen || !in.Context.RetryAfter.IsZero() {
			d.Verdict, d.Reason = core.Hold, core.ReasonBackoff
		}
		x := core.Read(1234567.891)
		for _, v := range large.Vertices {
			d.Vertices = append(d.Vertices, core.VertexDecision{
				ID: v.ID, From: 2, To: 1 + in.Context.Cycle%9, Wanted: 9, TrueRate: x, TargetRate: x, CatchUpRate: x, UpBelow: x, DownAbove: x, Capacity: x, Load: x, Lag: x,
				Why: core.ReasonDownDelayed, Note: strings.Repeat("n", 160), Steps: []core.Step{{By: "job.autoscaler.vertex.max-parallelism", To: 9, Note: strings.Repeat("n", 80)}},
			})
		}
		return d
	}
	w.at(3*time.Hour, func() { w.env.SetContinueAsNewSuggested(true) })
	w.start(input())
	s := carried(t, w.env.GetWorkflowError())
	// What orders may add at the most.
	p := core.NewProposal(w.decide(w.inputs[0]))
	s.Consent = core.Consent{Open: &p, Given: &core.Answered{Proposal: p}, Refused: []core.Answered{{Proposal: p}, {Proposal: p}, {Proposal: p}}}
	s.Last.Proposal = &p
	for range 50 {
		s.Given = append(s.Given, workflows.Order{Message: workflows.MsgSetPolicy, By: strings.Repeat("b", 200), Reason: strings.Repeat("r", 200), Did: strings.Repeat("d", 300), Ended: strings.Repeat("e", 300)})
	}
	s.Set = []workflows.SetKey{{Value: strings.Repeat("v", 16<<10)}}
	b, err := json.Marshal(s)
	t.Logf("%d bytes", len(b))
	if err != nil || len(b) > 1536<<10 || len(s.Rescales) < 2 || len(s.Decisions) < 2 {
		t.Errorf("%d bytes with %d rescales and %d decisions, %v", len(b), len(s.Rescales), len(s.Decisions), err)
	}
}

// TestFindMayFailAtTheStart: the job is observed, but nothing is started
// before it is known what an earlier workflow left.
func TestFindMayFailAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.findFails = errors.New("no connection")
	w.at(5*time.Minute, func() {
		if s := w.status(t); w.writes != 0 || w.observed < 3 || s.Reason != core.ReasonUnreachable {
			t.Errorf("writes %d, looks %d, reason %s", w.writes, w.observed, s.Reason)
		}
		w.findFails = nil
		w.find = func() activities.FoundRescale { return activities.FoundRescale{Exists: true, Attempt: 8} }
	})
	w.at(10*time.Minute, func() {
		if s := w.status(t); w.writes != 1 || s.LastRescale.Attempt != 9 {
			t.Errorf("writes %d, last %+v", w.writes, s.LastRescale)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestARescaleThatCannotStartIsTriedAgain: the server refuses a second open
// one. That is a hold, and asked about again in the next cycle.
func TestARescaleThatCannotStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	const whatever = "mock.Anything" // the test environment's only way to fail a start
	w.env.OnWorkflow(workflows.RescaleName, whatever, whatever).Return(core.Outcome{}, testsuite.ErrMockStartChildWorkflowFailed)
	w.at(5*time.Minute, func() {
		s, h := w.status(t), w.history(t)
		if s.Reason != core.ReasonRescaleOpen || s.Rescale != nil || w.observed < 4 || w.observed > 7 || len(h.Decisions) != 1 || len(h.Rescales) != 0 {
			t.Errorf("reason %s, open %+v, %d looks, history %+v", s.Reason, s.Rescale, w.observed, h)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
	var cancelled *temporal.CanceledError
	if err := w.env.GetWorkflowError(); !errors.As(err, &cancelled) {
		t.Errorf("the end is %v", err)
	}
}

// TestAJobThatIsBackSoonIsSeenSoon: a JobManager that restarts does not answer
// for a while, then has no job for a moment.
func TestAJobThatIsBackSoonIsSeenSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(90*time.Second, func() { w.set(func() { w.fault = core.ReasonUnreachable }) })
	w.at(15*time.Minute, func() { w.set(func() { w.fault = core.ReasonJobGone }) })
	w.at(16*time.Minute+10*time.Second, func() { w.set(func() { w.fault = "" }) })
	w.at(19*time.Minute, func() {
		if s := w.status(t); s.State != workflows.Watching {
			t.Errorf("state %s, the next look at %s", s.State, s.NextEvaluation)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}

// TestLateCheckpointsAreTold is I13: a change that passes although checkpoints
// are late has that in its outcome.
func TestLateCheckpointsAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want = 4
	w.preflight = func(in activities.RescaleInput) (activities.Preflight, error) {
		return activities.Preflight{Note: "no checkpoint completed for 5m0s", Before: in.From}, nil
	}
	w.at(3*time.Minute, func() {
		if s := w.status(t); s.LastRescale == nil || !strings.Contains(s.LastRescale.Note, "no checkpoint completed for 5m0s") {
			t.Errorf("last rescale %+v", s.LastRescale)
		}
		w.env.CancelWorkflow()
	})
	w.start(input())
}
