package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// ScaleFlinkJob manages one Flink job until an operator ends it: observe,
// decide, rescale, wait. Its input is one JSON object (package spec); a run
// that continues another one gets the State instead. Cancel means: stop
// managing, leave the job as it is.
func ScaleFlinkJob(ctx workflow.Context, raw converter.RawValue) error {
	l := &loop{wake: workflow.NewBufferedChannel(ctx, 1), strays: workflow.NewBufferedChannel(ctx, 1)}
	if err := l.handle(ctx); err != nil {
		return err
	}
	if err := l.begin(ctx, raw); err != nil {
		return err
	}
	return l.run(ctx)
}

// loop is one run of ScaleFlinkJob.
type loop struct {
	s       State
	signals []signal
	// wake holds one token when something happened that the loop must see.
	wake workflow.Channel
	// strays holds one token when signals of unknown names are to be taken.
	strays workflow.Channel
	// urgent is true when an order asks for a cycle at once.
	urgent bool
	// cycles counts the evaluations of this run.
	cycles int
	// telling counts the sets of events that are being sent, and what else is told
	// beside the loop.
	telling int
	// asking is true while a cycle waits for the answer to a request for slots.
	asking bool
	// shown is what the search attributes were last set to.
	shown shown
}

// defaultInterval is used until the first decision has told the policy's.
const defaultInterval = time.Minute

// minInterval is the policy's least. A smaller one would be a fault, and 0 a
// loop that never sleeps.
const minInterval = time.Second

// maxNote bounds a sentence that is kept.
const maxNote = 300

// begin takes over the state of the run before, or checks a new input.
func (l *loop) begin(ctx workflow.Context, raw converter.RawValue) error {
	if workflow.GetInfo(ctx).ContinuedExecutionRunID != "" {
		if err := json.Unmarshal(data(raw), &l.s); err != nil {
			return temporal.NewNonRetryableApplicationError("the state of the run before cannot be read", activities.ErrTypeInvalidInput, err)
		}
		l.s.Runs++
		return nil
	}
	accepted, err := callAccept(ctx, activities.AcceptInput{WorkflowID: workflow.GetInfo(ctx).WorkflowExecution.ID, Raw: string(data(raw))})
	if err != nil {
		return err
	}
	if len(accepted.Problems) > 0 {
		return invalid(accepted.Problems)
	}
	now := workflow.Now(ctx).UTC()
	l.s.Version, l.s.Runs, l.s.StartedAt, l.s.NextAt = 1, 1, now, now
	l.s.Spec, l.s.SearchAttributes, l.s.CyclesPerRun = accepted.Spec, accepted.SearchAttributes, accepted.CyclesPerRun
	l.s.Interval, l.s.Backoff = defaultInterval, defaultInterval
	return l.adopt(ctx)
}

// run is the loop itself.
func (l *loop) run(ctx workflow.Context) error {
	for {
		if err := l.sleep(ctx); err != nil {
			return l.stop(ctx)
		}
		l.cycle(ctx)
		if ctx.Err() != nil {
			return l.stop(ctx)
		}
		if l.full(ctx) {
			return l.again(ctx)
		}
	}
}

// cycle observes, decides and, on a change, starts a rescale.
func (l *loop) cycle(ctx workflow.Context) {
	l.cycles++
	l.s.Cycle++
	l.urgent = false
	l.lookElsewhere(ctx)
	l.s.observe(l.look(ctx))
	if ctx.Err() != nil {
		return
	}
	l.expire(ctx)
	l.strays.SendAsync(true)
	v := l.decide(ctx)
	d := v.Decision
	l.s.decided(d)
	l.upsert(ctx)
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"cluster": l.s.Spec.Key.Cluster, "verdict": string(d.Verdict), "reason": string(d.Reason)}).
		Counter(MetricDecisions).Inc(1)
	if d.Verdict == core.Change && l.s.Open == nil && ctx.Err() == nil {
		from := l.s.Topology.Sizes()
		l.rescale(ctx, v)
		if o := l.s.Open; o != nil && o.DecisionID == d.ID {
			o.From = from
			l.s.carriedOut(o.Attempt, workflow.Now(ctx).UTC())
		}
	}
	l.tell(ctx, carriedOut(v.events, l.s.Open != nil && l.s.Last.Verdict == core.Change))
	l.takePart(ctx, v.slots)
	l.schedule(ctx)
	l.changed(ctx)
	l.wake.ReceiveAsync(nil)
}

// standing is what operators want, to see whether that changed: each new order
// is a new value.
type standing struct {
	pause    *core.Pause
	override *core.Override
	// others counts the orders of other kinds.
	others int
}

func (l *loop) asked() standing { return standing{l.s.Pause, l.s.Override, l.s.Stand} }

// lookElsewhere asks again while another workflow manages the target: when that
// one has ended, this one goes on.
func (l *loop) lookElsewhere(ctx workflow.Context) {
	if l.s.ManagedBy == "" {
		return
	}
	if _, err := l.find(ctx); err != nil {
		workflow.GetLogger(ctx).Warn("could not look whether another workflow still manages the target", "job", l.s.Spec.Key.String(), "error", err)
	}
}

// look is one Observe; when even that fails, the sample says so.
func (l *loop) look(ctx workflow.Context) core.Observation {
	in := activities.ObserveInput{Key: l.s.Spec.Key, Target: l.s.Spec.Target, Digest: l.s.Digest, ConfigDigest: l.s.ConfigDigest, StateSize: l.s.StateSize}
	if n := len(l.s.Window); n > 0 {
		in.Clock, in.RunningSince = l.s.Window[n-1].Clock, l.s.Window[n-1].RunningSince
	}
	o, err := callObserve(ctx, in)
	if err != nil {
		return core.Observation{Digest: l.s.Digest, ConfigDigest: l.s.ConfigDigest, Sample: core.Sample{
			At: workflow.Now(ctx).UTC(), Fault: core.ReasonUnreachable, Note: spec.Cut("observing failed: "+rootCause(err), maxNote),
		}}
	}
	return o
}

// verdict is a decision and what comes with it.
type verdict struct {
	core.Decision
	// events are those that are due.
	events []core.Event
	// slots is what the job has and wants of what the jobs of its cluster share, nil
	// where nothing is shared.
	slots *activities.SlotsWish
	// asked is what operators wanted when it was decided.
	asked standing
}

// decide is one Decide, or two where slots were asked for in between; when that
// fails, the decision is to hold.
func (l *loop) decide(ctx workflow.Context) verdict {
	asked := l.asked()
	out, err := l.judgeJob(ctx)
	if err == nil && l.ask(ctx, out.Decision, out.Slots) {
		l.expire(ctx)
		asked = l.asked()
		out, err = l.judgeJob(ctx)
	}
	if err != nil {
		now := workflow.Now(ctx).UTC()
		l.s.Health = core.Blocked
		d := core.Decision{ID: fmt.Sprintf("%d-%d", l.s.Cycle, now.Unix()), At: now, Verdict: core.Hold, Reason: core.ReasonInternal, Note: spec.Cut(rootCause(err), maxNote)}
		return verdict{Decision: d, asked: asked}
	}
	if out.Memory != nil {
		l.s.Memory = *out.Memory
	}
	if out.ClusterChanged {
		l.s.Cluster, l.s.ClusterDigest = out.ClusterPolicy, out.ClusterDigest
	}
	l.s.Interval, l.s.VerifyTimeout, l.s.Backoff, l.s.NoCheckpoints = max(out.Interval, minInterval), out.VerifyTimeout, out.Backoff, out.NoCheckpoints
	l.s.Health, l.s.NoSlots, l.s.NoUndo, l.s.StateSize, l.s.Redeploy = out.Health, out.NoSlots, out.NoUndo, out.StateSize, out.Redeploy
	// An answer that came meanwhile counts: the next look, which it has ordered,
	// decides on it.
	if out.Consent != nil && l.asked() == asked {
		l.settle(ctx, *out.Consent, out.ConsentNote)
	}
	l.s.forget(out.KeepFrom)
	return verdict{out.Decision, out.Events, out.Slots, asked}
}

func (l *loop) judgeJob(ctx workflow.Context) (activities.Decided, error) {
	return callDecide(ctx, activities.DecideInput{
		Context: l.context(ctx), Set: l.s.set(), Input: l.s.Spec.Policy, Config: l.s.Config, ClusterDigest: l.s.ClusterDigest,
	})
}

// settle takes in what a decision leaves of the proposals, and says it.
func (l *loop) settle(ctx workflow.Context, next core.Consent, said string) {
	if said != "" {
		workflow.GetLogger(ctx).Info("a proposal is no more", "job", l.s.Spec.Key.String(), "why", said)
	}
	l.s.settle(next, said, workflow.Now(ctx).UTC())
}

// context is all that a decision may know. Its Now is the clock of the newest
// sample: ages are differences on one clock, the JobManager's.
func (l *loop) context(ctx workflow.Context) core.JobContext {
	c := core.JobContext{
		Key: l.s.Spec.Key, JobID: l.s.Job.ID, FlinkVersion: l.s.Job.FlinkVersion, Cycle: l.s.Cycle, Now: workflow.Now(ctx).UTC(),
		Topology: l.s.Topology, Window: l.s.Window, Memory: l.s.Memory, Pause: l.s.Pause, Override: l.s.Override, Consent: l.s.Consent,
		RescaleOpen: l.s.Open != nil, RetryAfter: l.s.RetryAfter, ManagedBy: l.s.ManagedBy, AskedAt: l.s.AskedAt,
		Turn: l.s.turn(workflow.Now(ctx).UTC()), Means: l.s.Job.Means,
	}
	if n := len(l.s.Window); n > 0 && l.s.Window[n-1].Fault == "" {
		c.Now = l.s.Window[n-1].At
	}
	if n := len(l.s.Rescales); n > 0 {
		c.LastOutcome = &l.s.Rescales[n-1]
	}
	onClock(&c, workflow.Now(ctx).UTC())
	return c
}

// onClock keeps what runs by the workflow's clock from ending early where the
// JobManager's is ahead: an order that is still there has not ended.
func onClock(c *core.JobContext, now time.Time) {
	if p := c.Pause; p != nil && !p.Active(c.Now) {
		still := *p
		still.Until = time.Time{}
		c.Pause = &still
	}
	if o := c.Override; o != nil && !o.Active(c.Now) {
		still := *o
		still.Until = time.Time{}
		c.Override = &still
	}
	if t := c.RetryAfter; !t.IsZero() && !c.Now.Before(t) {
		c.RetryAfter = c.Now.Add(t.Sub(now))
	}
}

// maxGoneWait bounds how rarely a job that is gone is looked for.
const maxGoneWait = 10 * time.Minute

// schedule sets when the next cycle is due. The period is kept whatever a
// cycle took; the first wait is shorter by a share of the interval that
// depends on the job's name, so that a fleet does not move in step. A job that
// is gone is looked for more and more rarely.
func (l *loop) schedule(ctx workflow.Context) {
	now := workflow.Now(ctx).UTC()
	if l.urgent {
		l.s.NextAt = now
		return
	}
	wait := l.s.Interval
	if n := len(l.s.Decisions); n > 0 && l.s.Last.Reason == core.ReasonJobGone {
		// Counted since it is gone: a cluster that did not answer before says
		// nothing about how soon the job is back.
		wait = min(wait<<min(l.s.Decisions[n-1].Count, 16), max(maxGoneWait, wait))
	}
	if l.s.Cycle == 1 {
		wait = wait/2 + spread(l.s.Spec.Key.String(), wait/2)
	}
	next := l.s.NextAt.Add(wait)
	if !next.After(now) || next.Sub(now) > wait {
		next = now.Add(wait)
	}
	l.s.NextAt = next
}

// spread maps a name to a stable part of d.
func spread(name string, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return time.Duration(h.Sum64() % uint64(d)) //nolint:gosec // d is positive, the result smaller than d
}

// sleep waits until the next cycle is due, handling what ends meanwhile. It
// returns an error only when the workflow is cancelled.
func (l *loop) sleep(ctx workflow.Context) error {
	for {
		now := workflow.Now(ctx).UTC()
		l.expire(ctx)
		if !l.s.NextAt.After(now) {
			return nil
		}
		until, summary := l.s.NextAt, "next evaluation"
		if e := l.s.nextExpiry(); !e.IsZero() && e.Before(until) {
			until, summary = e, "an order ends"
		}
		timerCtx, stop := workflow.WithCancel(ctx)
		timer := workflow.NewTimerWithOptions(timerCtx, until.Sub(now), workflow.TimerOptions{Summary: summary})
		sel := workflow.NewSelector(ctx)
		sel.AddFuture(timer, func(workflow.Future) {})
		sel.AddReceive(l.wake, func(c workflow.ReceiveChannel, _ bool) { c.ReceiveAsync(nil) })
		sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
		sel.Select(ctx)
		stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// expire ends orders that have run out, and looks again at once.
func (l *loop) expire(ctx workflow.Context) {
	now := workflow.Now(ctx).UTC()
	for _, what := range l.s.expire(now) {
		workflow.GetLogger(ctx).Info("order has run out", "job", l.s.Spec.Key.String(), "message", what)
		l.hurry(now)
		l.changed(ctx)
	}
}

// hurry has the next cycle begin at once, also when one is under way.
func (l *loop) hurry(now time.Time) {
	l.urgent, l.s.NextAt = true, now
}

// changed shows the state to people and wakes the loop.
func (l *loop) changed(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, l.s.details())
	l.wake.SendAsync(true)
}

// Cycles per run: enough that a continue-as-new costs nothing, few enough that
// history stays far below the server's limits; spread so that a fleet does not
// turn over together.
const (
	cyclesPerRun = 250
	cyclesSpread = 100
)

// full is true when this run should end and continue as new: only between
// cycles, with no rescale open.
func (l *loop) full(ctx workflow.Context) bool {
	if l.s.Open != nil {
		return false
	}
	limit := l.s.CyclesPerRun
	if limit == 0 {
		limit = cyclesPerRun + int(spread(l.s.Spec.Key.String(), cyclesSpread))
	}
	return l.cycles >= limit || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// again continues as new with everything: handlers done, events sent, channels
// empty.
func (l *loop) again(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return l.telling == 0 && workflow.AllHandlersFinished(ctx) }); err != nil {
		return l.stop(ctx)
	}
	l.drainAll(ctx)
	return workflow.NewContinueAsNewError(ctx, ScaleName, l.s)
}

// stop ends the management of the job: an open rescale first runs to its
// outcome, then the workflow is cancelled.
func (l *loop) stop(ctx workflow.Context) error {
	free, _ := workflow.NewDisconnectedContext(ctx)
	l.leave(free, false)
	if err := workflow.Await(free, func() bool { return l.s.Open == nil && l.telling == 0 && workflow.AllHandlersFinished(free) }); err != nil {
		return err
	}
	workflow.SetCurrentDetails(free, "**stopped**: the job is left as it is")
	return ctx.Err()
}

// rootCause is the innermost message of a Temporal error: what happened, not
// where it passed.
func rootCause(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			break
		}
		err = next
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	return err.Error()
}
