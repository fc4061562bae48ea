package workflows_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/workflows"
)

// world is a job as the workflows see it: activities that behave, not mocks
// that expect. Tests change it while a workflow runs in skipped time.
type world struct {
	mu sync.Mutex
	// size is what the job runs at, want what decide asks for.
	size, want int
	fault      core.Reason
	jobID      string
	running    time.Time
	// interval is the policy's, zero for a minute.
	interval time.Duration
	// decide overrides the decision.
	decide func(in activities.DecideInput) core.Decision
	// events are what a decision gives rise to, nil for nothing ever.
	events func(d core.Decision) []core.Event
	// report overrides the sink.
	report func(in activities.ReportInput) error
	// preflight, apply and verify override the saga's steps.
	preflight func(in activities.RescaleInput) (activities.Preflight, error)
	apply     func(in activities.ApplyInput) (activities.ApplyResult, error)
	verify    func(in activities.VerifyInput) (activities.Verified, error)
	checkUndo func(in activities.UndoInput) (activities.Preflight, error)
	trim      func(in activities.TrimInput) (activities.Trimmed, error)
	find      func() activities.FoundRescale
	await     func() core.Outcome
	noBackoff bool
	// noUndo is the policy's, awaitErr fails every attempt of AwaitRescale.
	noUndo   bool
	awaitErr error
	// findFails fails every attempt of FindRescale.
	findFails error
	// ahead is how far the JobManager's clock is ahead of the workflow's.
	ahead time.Duration
	// ask has changes wait for a person's yes, nil for none; its times and its
	// default are those of the proposals.
	ask *core.Proposal
	// wrote hears of each write.
	wrote func(size int)
	// cyclesPerRun is when a run continues as new, 0 for the workflow's choice.
	cyclesPerRun int
	// stateSize has decisions ask for the size of the job's state; looks with it
	// are counted.
	stateSize bool
	sized     int
	// large takes the place of the job's graph.
	large *core.Topology
	// shared has the job's slots be shared with other jobs.
	shared bool
	env    *testsuite.TestWorkflowEnvironment

	// session is the cluster on which jobs are stopped and started.
	session session

	observed, decided, writes int
	inputs                    []activities.DecideInput
	reported                  []core.Event
	alarms                    []core.Outcome
}

const vertexID = "6bf01baa9d2ca23a3ef7ce311722523d"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{size: 2, want: 2, jobID: "job-1"}
	w.environment(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	return w
}

// next begins the run that continues the present one, where that one ended.
func (w *world) next(t *testing.T) {
	t.Helper()
	w.environment(w.env.Now())
	w.env.SetContinuedExecutionRunID("the run before")
}

// environment makes the environment of one run.
func (w *world) environment(start time.Time) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	w.env = suite.NewTestWorkflowEnvironment()
	patient(w.env)
	w.env.SetStartWorkflowOptions(startOptions(spec.ID(key())))
	w.env.SetStartTime(start)
	for name, f := range map[string]any{
		activities.NameAccept: w.Accept, activities.NameObserve: w.Observe, activities.NameDecide: w.Decide,
		activities.NamePreflight: w.Preflight, activities.NameApply: w.Apply, activities.NameVerify: w.Verify,
		activities.NameFindRescale: w.FindRescale, activities.NameAwaitRescale: w.AwaitRescale,
		activities.NameReport: w.Report, activities.NameCheckUndo: w.CheckUndo,
		activities.NameTrim: func(_ context.Context, in activities.TrimInput) (activities.Trimmed, error) { return w.trim(in) },
	} {
		w.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	w.session.register(w.env)
	w.env.RegisterWorkflowWithOptions(workflows.ScaleFlinkJob, workflow.RegisterOptions{Name: workflows.ScaleName})
	w.env.RegisterWorkflowWithOptions(workflows.RescaleFlinkJob, workflow.RegisterOptions{Name: workflows.RescaleName})
}

// patient gives a busy machine time: a workflow that gets no processor for a
// second is no deadlock.
func patient(env *testsuite.TestWorkflowEnvironment) {
	env.SetTestTimeout(10 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
}

func key() core.JobKey { return core.JobKey{Cluster: "dev", Job: "orders"} }

func (w *world) Accept(_ context.Context, in activities.AcceptInput) (activities.Accepted, error) {
	s, problems := spec.Decode([]byte(in.Raw))
	return activities.Accepted{Spec: s, Problems: problems, CyclesPerRun: w.cyclesPerRun}, nil
}

func (w *world) Observe(_ context.Context, in activities.ObserveInput) (core.Observation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.observed++
	if in.StateSize {
		w.sized++
	}
	topology := core.Topology{Vertices: []core.Vertex{{ID: vertexID, Name: "Source: orders", Parallelism: w.size, MaxParallelism: 24}}}
	if w.large != nil {
		topology = *w.large
	}
	s := core.Sample{At: w.env.Now().Add(w.ahead), RunningSince: w.running, Clock: core.Read(float64(w.observed)), Fault: w.fault}
	if w.fault == core.ReasonJobGone {
		return core.Observation{Sample: s}, nil
	}
	return core.Observation{Sample: s, Job: core.JobRef{Key: key(), ID: w.jobID, Name: "orders"}, Digest: topology.Digest(), Topology: &topology}, nil
}

func (w *world) Decide(_ context.Context, in activities.DecideInput) (activities.Decided, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decided++
	w.inputs = append(w.inputs, in)
	d, slots := w.turn(in.Context, w.decision(in))
	interval := w.interval
	if interval == 0 {
		interval = time.Minute
	}
	out := activities.Decided{Decision: d, Health: core.HealthOf(in.Context, d), Interval: interval, VerifyTimeout: 5 * time.Minute, Backoff: 5 * time.Minute, NoUndo: w.noUndo, StateSize: w.stateSize, Slots: slots}
	if w.noBackoff {
		out.Backoff = 0
	}
	if next, said := in.Context.Consent.After(d); next.Open != in.Context.Consent.Open || next.Given != in.Context.Consent.Given {
		out.Consent, out.ConsentNote = &next, said
	}
	if w.events != nil {
		out.Events = w.events(d)
	}
	return out, nil
}

// decision is a small rule with the gates that the workflow relies on.
func (w *world) decision(in activities.DecideInput) core.Decision {
	c := in.Context
	d := core.Decision{ID: fmt.Sprintf("%d-%d", c.Cycle, c.Now.Unix()), At: c.Now, Strategy: "test", Verdict: core.Hold, Reason: core.ReasonWithinTarget}
	to := w.want
	if o := c.Override; o != nil {
		to = o.Parallelism
		if len(o.Vertices) > 0 {
			to = o.Vertices[0].Parallelism
		}
	}
	d.Vertices = []core.VertexDecision{{ID: vertexID, From: w.size, To: to, Wanted: to}}
	switch {
	case w.decide != nil:
		return w.decide(in)
	case w.fault != "":
		d.Reason = w.fault
	case c.ManagedBy != "":
		d.Reason = core.ReasonManagedElsewhere
	case c.Pause != nil:
		d.Reason = core.ReasonPaused
	case c.RescaleOpen:
		d.Reason = core.ReasonRescaleOpen
	case !c.RetryAfter.IsZero():
		d.Reason = core.ReasonBackoff
	case to != w.size && c.Override != nil:
		d.Verdict, d.Reason = core.Change, core.ReasonOverride
	case to > w.size:
		d.Verdict, d.Reason = core.Change, core.ReasonScaleUp
	case to < w.size:
		d.Verdict, d.Reason = core.Change, core.ReasonScaleDown
	}
	return w.asking(d, c.Consent)
}

// asking has a change wait for a yes, by the rule of the real strategy.
func (w *world) asking(d core.Decision, c core.Consent) core.Decision {
	if w.ask == nil || d.Verdict != core.Change || d.Reason == core.ReasonOverride {
		return d
	}
	_, no := c.FindRefused(d.Vertices)
	p := core.NewProposal(d)
	p.Within, p.Quiet, p.Apply = w.ask.Within, w.ask.Quiet, w.ask.Apply
	if c.Given != nil {
		if sizes, ok := c.Given.Proposal.Carry(d.Vertices); ok {
			d.Vertices = slices.Clone(d.Vertices)
			d.Vertices[0].To = sizes[0].Parallelism
			return d
		}
	}
	switch {
	case c.Open != nil && c.Open.Covers(d.Vertices):
		d.Reason = core.ReasonApproval
	case no:
		d.Reason = core.ReasonDeclined
	default:
		d.Reason, d.Proposal = core.ReasonApproval, &p
	}
	d.Verdict = core.Hold
	d.Vertices = slices.Clone(d.Vertices)
	d.Vertices[0].To = d.Vertices[0].From
	return d
}

// turn has a change wait for slots, by the rule of the real strategy.
func (w *world) turn(c core.JobContext, d core.Decision) (core.Decision, *activities.SlotsWish) {
	if !w.shared {
		return d, nil
	}
	t := c.Turn
	if t == nil {
		t = &core.Turn{}
	}
	slots := &activities.SlotsWish{Held: w.size}
	if d.Verdict != core.Change {
		return d, slots
	}
	v := &d.Vertices[0]
	slots.Slots = v.To - w.size
	if v.To > max(w.size, t.Granted) {
		d.Verdict, d.Reason, d.Note, d.Needs, v.To = core.Hold, core.ReasonSlotsShared, t.Standing, v.To, w.size
	}
	return d, slots
}

func (w *world) Preflight(_ context.Context, in activities.RescaleInput) (activities.Preflight, error) {
	if w.preflight != nil {
		return w.preflight(in)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return activities.Preflight{
		Job: core.JobRef{ID: w.jobID}, Before: []core.VertexSize{{ID: vertexID, Parallelism: w.size}},
		Wish: core.Requirements{{ID: vertexID, Lower: 1, Upper: in.Wanted[0].Parallelism}},
	}, nil
}

func (w *world) CheckUndo(_ context.Context, in activities.UndoInput) (activities.Preflight, error) {
	return w.checkUndo(in)
}

func (w *world) Apply(_ context.Context, in activities.ApplyInput) (activities.ApplyResult, error) {
	if w.apply != nil {
		return w.apply(in)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if w.wrote != nil {
		w.wrote(in.Wish[0].Upper)
	}
	return activities.ApplyResult{At: w.env.Now()}, nil
}

func (w *world) Verify(_ context.Context, in activities.VerifyInput) (activities.Verified, error) {
	if w.verify != nil {
		return w.verify(in)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size, w.running = in.Wanted[0].Parallelism, w.env.Now()
	return activities.Verified{Kind: core.Applied, Got: in.Wanted, RunningAt: w.running, WishHeld: true}, nil
}

func (w *world) FindRescale(context.Context, activities.FindRescaleInput) (activities.FoundRescale, error) {
	if w.findFails != nil {
		return activities.FoundRescale{}, w.findFails
	}
	if w.find != nil {
		return w.find(), nil
	}
	return activities.FoundRescale{}, nil
}

func (w *world) AwaitRescale(context.Context, activities.AwaitRescaleInput) (core.Outcome, error) {
	if w.awaitErr != nil {
		return core.Outcome{}, w.awaitErr
	}
	if w.await != nil {
		return w.await(), nil
	}
	return core.Outcome{Kind: core.Applied, Attempt: 3}, nil
}

func (w *world) Report(_ context.Context, in activities.ReportInput) error {
	if w.report != nil {
		if err := w.report(in); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reported = append(w.reported, in.Events...)
	if in.Outcome != nil {
		w.alarms = append(w.alarms, *in.Outcome)
	}
	return nil
}

// at runs f at a time after the start, in the workflow's time.
func (w *world) at(d time.Duration, f func()) { w.env.RegisterDelayedCallback(f, d) }

// set changes the world under its lock.
func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// stopAt cancels the workflow after d.
func (w *world) stopAt(d time.Duration) { w.at(d, w.env.CancelWorkflow) }

// start runs the workflow with an input that is typed as an operator would.
func (w *world) start(input any) { w.env.ExecuteWorkflow(workflows.ScaleName, input) }

// input is a good one.
func input() map[string]any { return map[string]any{"cluster": "dev", "job": "orders"} }

// status asks the running workflow.
func (w *world) status(t *testing.T) workflows.Status {
	t.Helper()
	v, err := w.env.QueryWorkflow(workflows.QueryStatus)
	if err != nil {
		t.Fatalf("query status: %v", err)
	}
	var s workflows.Status
	if err := v.Get(&s); err != nil {
		t.Fatalf("query status: %v", err)
	}
	return s
}

func (w *world) history(t *testing.T) workflows.History {
	t.Helper()
	v, err := w.env.QueryWorkflow(workflows.QueryHistory)
	if err != nil {
		t.Fatalf("query history: %v", err)
	}
	var h workflows.History
	if err := v.Get(&h); err != nil {
		t.Fatalf("query history: %v", err)
	}
	return h
}
