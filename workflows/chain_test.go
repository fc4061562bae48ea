package workflows_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"flinkscaler/workflows"
)

// chain plays a world over all its runs, each in an environment of its own, as
// a server does over continue-as-new.
type chain struct {
	w     *world
	begun time.Time
	steps []*step
	runs  int
}

// step is something that happens at a time after the very first start.
type step struct {
	at   time.Duration
	do   func()
	done bool
}

func newChain(w *world) *chain { return &chain{w: w, begun: w.env.Now()} }

func (c *chain) at(d time.Duration, f func()) { c.steps = append(c.steps, &step{at: d, do: f}) }

// run plays until a time after the start, and gives the state that the last run
// would have carried on.
func (c *chain) run(t *testing.T, until time.Duration) workflows.State {
	t.Helper()
	c.at(until, func() {})
	end := c.steps[len(c.steps)-1]
	end.do = func() { c.w.env.SetContinueAsNewSuggested(true) }
	var in any = input()
	for {
		c.runs++
		if c.runs > 1000 {
			t.Fatal("it continues as new without end")
		}
		for _, s := range c.steps {
			if !s.done {
				c.w.at(max(0, s.at-c.w.env.Now().Sub(c.begun)), func() { s.done = true; s.do() })
			}
		}
		c.w.start(in)
		var again *workflow.ContinueAsNewError
		if err := c.w.env.GetWorkflowError(); !errors.As(err, &again) {
			t.Fatalf("run %d ended with %v", c.runs, err)
		}
		state := carried(t, c.w.env.GetWorkflowError())
		if end.done {
			return state
		}
		c.w.next(t)
		in = state
	}
}

// TestRunsMakeNoDifference is I9: whatever people order, and when, a job that
// continues as new every second cycle comes to the same state by the same
// writes as one that never does.
func TestRunsMakeNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		script := drawScript(r)
		apply := rapid.Bool().Draw(r, "apply")
		// While an activity runs, the environment's clock goes on with the machine's:
		// on a busy one a message can come in another moment of a cycle. What is
		// really lost is lost each time.
		diff := ""
		for range 3 {
			if diff = difference(t, script, apply); diff == "" {
				return
			}
		}
		r.Error(diff)
	})
}

// difference says how a script that is played in one run and in many differ.
func difference(t *testing.T, script []saying, apply bool) string {
	t.Helper()
	whole, wrote, _ := perform(t, script, apply, 0)
	parts, also, runs := perform(t, script, apply, 2)
	if runs < 5 {
		return fmt.Sprintf("only %d runs", runs)
	}
	if diff := cmp.Diff(wrote, also); diff != "" {
		return fmt.Sprintf("writes (-in one run +in %d):\n%s", runs, diff)
	}
	if diff := cmp.Diff(whole, parts, cmpopts.IgnoreFields(workflows.State{}, "Runs", "CyclesPerRun")); diff != "" {
		return fmt.Sprintf("state (-in one run +in %d):\n%s", runs, diff)
	}
	return ""
}

// saying is one message of a script: with a decision, the newest proposal is
// meant.
type saying struct {
	at      time.Duration
	name    string
	payload map[string]any
	want    int
}

func drawScript(r *rapid.T) []saying {
	span := rapid.SampledFrom([]any{nil, "95 s", "247 s", "30 min"})
	key := rapid.SampledFrom([]string{"job.autoscaler.vertex.max-parallelism", "job.autoscaler.metrics.window", "job.autoscaler.nonsense"})
	return rapid.SliceOfNDistinct(rapid.Custom(func(r *rapid.T) saying {
		s := saying{
			at: moment(rapid.IntRange(0, 168).Draw(r, "moment")),
			name: rapid.SampledFrom([]string{
				workflows.MsgPause, workflows.MsgResume, workflows.MsgOverride, workflows.MsgClearOverride, workflows.MsgUndo, workflows.MsgApprove,
				workflows.MsgReject, workflows.MsgSetPolicy, workflows.MsgEvaluateNow, "load",
			}).Draw(r, "message"),
			payload: map[string]any{"by": rapid.SampledFrom([]string{"ann", "bob"}).Draw(r, "by")},
		}
		if id := rapid.IntRange(0, 8).Draw(r, "id"); id > 0 {
			s.payload["id"] = fmt.Sprint("m", id)
		}
		switch s.name {
		case workflows.MsgOverride:
			s.payload["parallelism"] = rapid.IntRange(0, 6).Draw(r, "size") // 0 is malformed
		case workflows.MsgSetPolicy:
			s.payload["policy"] = map[string]any{key.Draw(r, "key"): rapid.SampledFrom([]any{nil, "20 min", "5"}).Draw(r, "value")}
		case "load":
			s.want = rapid.IntRange(1, 6).Draw(r, "wanted size")
		}
		switch s.name {
		case workflows.MsgPause, workflows.MsgOverride, workflows.MsgUndo, workflows.MsgSetPolicy:
			if v := span.Draw(r, "for"); v != nil {
				s.payload["for"] = v
			}
		}
		return s
	}), 1, 25, func(s saying) time.Duration { return s.at }).Draw(r, "script")
}

// moment is when the n-th of 169 messages that there may be comes: never close
// to another, nor to a cycle or an end that another one brings about. Which of
// two things at the same time comes first is nobody's promise.
func moment(n int) time.Duration {
	return 10*time.Second + time.Duration(n)*7*time.Second + time.Duration(1+n*37%25*40)*time.Millisecond
}

// perform plays a script for 20 minutes: the state it ends with, what was
// written and when, and in how many runs.
func perform(t *testing.T, script []saying, apply bool, cyclesPerRun int) (workflows.State, []string, int) {
	t.Helper()
	w := asks(t, apply)
	w.ask.Within, w.ask.Quiet = 190*time.Second, 250*time.Second
	w.cyclesPerRun = cyclesPerRun
	if cyclesPerRun == 0 {
		w.cyclesPerRun = 1 << 20
	}
	var wrote []string
	w.wrote = func(size int) { wrote = append(wrote, fmt.Sprint(w.env.Now().Format(time.TimeOnly), " ", size)) }
	c := newChain(w)
	for _, s := range script {
		c.at(s.at, func() {
			payload := map[string]any{}
			for k, v := range s.payload {
				payload[k] = v
			}
			switch s.name {
			case "load":
				w.set(func() { w.want = s.want })
				return
			case workflows.MsgApprove, workflows.MsgReject:
				payload["decision"] = "none"
				for _, o := range w.history(t).Orders {
					if o.Decision != "" {
						payload["decision"] = o.Decision
					}
				}
			}
			w.env.SignalWorkflow(s.name, payload)
		})
	}
	state := c.run(t, 20*time.Minute)
	return state, wrote, c.runs
}
