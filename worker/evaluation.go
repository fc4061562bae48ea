package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
	"flinkscaler/core/whatif"
	"flinkscaler/internal/config"
)

// evaluation is a job that is judged without a workflow.
type evaluation struct {
	key    core.JobKey
	from   sources
	replay *whatif.Replay

	// What a running job needs besides; a recording has none of it.
	target   core.Target
	look     func(context.Context, activities.ObserveInput) core.Observation
	now      func() time.Time
	wait     func(context.Context, time.Duration)
	names    func(context.Context) []string
	record   func(core.Observation) error
	progress io.Writer
	// span is for how long to look at most, 0 for once; whole has all of it
	// used, also when the window can be judged before.
	span  time.Duration
	whole bool

	// What has come of it.
	looks       int
	first, last whatif.Step
	turns       []turn
	interrupted bool
	// slow is true once it was said why looks take longer than asked for.
	slow bool
}

// turn is a decision that came to something else than the one before.
type turn struct {
	At      time.Time    `json:"at"`
	Verdict core.Verdict `json:"verdict"`
	Reason  core.Reason  `json:"reason"`
	Note    string       `json:"note,omitempty"`
}

func newEvaluation(key core.JobKey, from sources) *evaluation {
	e := &evaluation{key: key, from: from, replay: whatif.NewReplay(key, from.layers)}
	e.replay.Plugins = plugins()
	return e
}

// take judges one more look.
func (e *evaluation) take(o core.Observation) {
	step := e.replay.Look(o)
	d := step.Decision
	if e.looks == 0 || whatif.Turn(e.last.Decision, d) {
		e.turns = append(e.turns, turn{At: o.Sample.At, Verdict: d.Verdict, Reason: d.Reason, Note: d.Note})
	}
	if e.looks == 0 {
		e.first = step
	}
	e.looks++
	e.last = step
}

// run looks until there is an answer, the time is up or ctx ends.
func (e *evaluation) run(ctx context.Context) error {
	began := e.now()
	for {
		if err := e.once(ctx); err != nil {
			return err
		}
		answered := e.judged() || e.last.Decision.Reason == core.ReasonPolicyInvalid
		if e.interrupted || e.span == 0 || (answered && !e.whole) {
			return nil
		}
		every := e.last.Policy.Interval
		next := began.Add(time.Duration(e.looks) * every)
		now := e.now()
		if next.Before(now) {
			// A look took longer than the interval: the next one is due.
			next = now
		}
		if next.After(began.Add(e.span)) {
			return nil
		}
		e.wait(ctx, next.Sub(now))
		if ctx.Err() != nil {
			e.interrupted = true
			return nil
		}
	}
}

// lookLimit is as long as a workflow gives a look.
const lookLimit = 90 * time.Second

// once takes one look and tells it. A look that is cut short tells nothing of
// the job. A job that cannot be found or asked at first is a mistake or an
// outage, and none to wait for; later it is a part of what was seen.
func (e *evaluation) once(ctx context.Context) error {
	in := activities.ObserveInput{Key: e.key, Target: e.target, StateSize: true}
	var known core.Sample
	in.Digest, in.ConfigDigest, known = e.replay.Known()
	in.Clock, in.RunningSince = known.Clock, known.RunningSince
	bounded, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	began := e.now()
	o := e.look(bounded, in)
	took := e.now().Sub(began)
	if ctx.Err() != nil {
		e.interrupted = true
		if e.looks == 0 {
			return fmt.Errorf("%s: interrupted before the first look had ended", e.key)
		}
		return nil
	}
	if e.looks == 0 && unread(o.Sample.Fault) {
		return e.cannotLook(ctx, o.Sample)
	}
	e.take(o)
	if e.record != nil {
		if err := e.record(o); err != nil {
			return fmt.Errorf("record a look: %w", err)
		}
	}
	if e.looks == 1 {
		if err := e.policyProblems(); err != nil {
			return err
		}
		if err := e.announce(); err != nil {
			return err
		}
	}
	e.tell(took)
	return nil
}

// unread is true for a look that found no job, or nobody to ask.
func unread(fault core.Reason) bool {
	switch fault {
	case core.ReasonJobGone, core.ReasonJobAmbiguous, core.ReasonUnreachable, core.ReasonNoLeader, core.ReasonUnauthorized,
		core.ReasonNotFlink, core.ReasonRefused, core.ReasonBusy:
		return true
	}
	return false
}

// cannotLook says what is wrong and what to do about it.
func (e *evaluation) cannotLook(ctx context.Context, s core.Sample) error {
	do := remedy(s.Fault)
	if s.Fault == core.ReasonJobGone {
		do = "no job runs on that cluster"
		if names := e.names(ctx); len(names) > 0 {
			do = "on that cluster run " + strings.Join(few(names, 10), ", ")
		}
	}
	if do != "" {
		do = "\n" + do
	}
	return fmt.Errorf("%s cannot be looked at: %s: %s%s", e.key, s.Fault, printable(s.Note), printable(do))
}

// remedy is what can be done about a reason, empty for nothing.
func remedy(reason core.Reason) string {
	for _, r := range core.Reasons() {
		if r.Reason == reason {
			return r.Do
		}
	}
	return ""
}

// failed is nil for an answer, hold or change. A policy that cannot be used, and a
// last look that found nothing, are none: a script must see that.
func (e *evaluation) failed() error {
	s := e.last
	switch {
	case s.Decision.Reason == core.ReasonPolicyInvalid:
		return &config.Error{File: "the policy of " + e.key.String(), Problems: s.Problems}
	case unread(s.Sample.Fault):
		return fmt.Errorf("%s: the last look failed: %s: %s", e.key, s.Sample.Fault, printable(s.Sample.Note))
	}
	return nil
}

func few(names []string, most int) []string {
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
}

// policyProblems refuses keys of the command line that make the policy bad. One
// that is bad without them is an answer: the job would be held for it.
func (e *evaluation) policyProblems() error {
	if len(e.last.Problems) == 0 || len(e.from.commandLine) == 0 {
		return nil
	}
	without := e.from
	without.commandLine = nil
	if _, _, before := policy.Resolve(without.layers(e.last.Config)); slices.Equal(before, e.last.Problems) {
		return nil
	}
	return &config.Error{File: "--policy", Problems: e.last.Problems}
}

// judged is true when the newest look led to a judgement of the window.
func (e *evaluation) judged() bool {
	if e.last.Sample.Fault != "" {
		return false
	}
	switch e.last.Decision.Reason {
	case core.ReasonWindowNotFull, core.ReasonStabilizing, core.ReasonVertexChanged, core.ReasonPolicyInvalid, core.ReasonInternal:
		return false
	}
	return true
}

// need is how long it takes from a look on until the window can be full, if
// nothing gets in between.
func need(s whatif.Step) time.Duration {
	return s.Policy.MetricsWindow + unsettled(s)
}

// unsettled is how much of the stabilization is left.
func unsettled(s whatif.Step) time.Duration {
	if s.Sample.RunningSince.IsZero() {
		return s.Policy.StabilizationInterval
	}
	return max(0, s.Sample.RunningSince.Add(s.Policy.StabilizationInterval).Sub(s.Sample.At))
}

// announce says before the looking begins what it cannot bring.
func (e *evaluation) announce() error {
	p := e.last.Policy
	if e.span == 0 || e.last.Decision.Reason == core.ReasonPolicyInvalid {
		return nil
	}
	if p.Interval > e.span {
		return usageError{fmt.Errorf("the policy's interval, %s, is longer than --for %s: give --every", policy.FormatDuration(p.Interval), flag(e.span))}
	}
	if n := need(e.last); n > e.span {
		fmt.Fprintf(e.progress, "note: %s, so a window takes %s and is not full within --for %s: expect a hold, with the numbers by then\n%s",
			wants(e.last), n.Round(time.Second), flag(e.span), e.sooner())
	}
	return nil
}

// wants says what the policy asks of the evidence.
func wants(s whatif.Step) string {
	text := "the policy wants samples over " + policy.FormatDuration(s.Policy.MetricsWindow)
	if left := unsettled(s); left > 0 {
		text += fmt.Sprintf(", none of the first %s after a (re)start of the job (%s are left)",
			policy.FormatDuration(s.Policy.StabilizationInterval), left.Round(time.Second))
	}
	return text
}

// sooner offers keys with which the given time is enough. They are never set by
// themselves: less evidence is another question.
func (e *evaluation) sooner() string {
	every, window := e.last.Policy.Interval, time.Duration(0)
	extra := ""
	if e.span < 4*every {
		every = max((e.span / 6).Truncate(time.Second), time.Second)
		extra = " --every " + flag(every)
	}
	if window = (e.span - every).Truncate(time.Second); window < 2*every {
		return ""
	}
	keys := " --policy metrics.window=" + flag(window)
	if unsettled(e.last) > 0 {
		keys += " --policy stabilization.interval=0s"
	}
	if window < meters {
		keys += " --policy metrics.busy-time.aggregator=AVG"
	}
	return "note: on less evidence it would be:" + extra + keys + "\n"
}

// meters is the window below which Flink's own meters, which are means over a
// minute, tell more of the time before than of the window.
const meters = 2 * time.Minute

// flag writes a length of time so that a shell takes it as one word.
func flag(d time.Duration) string { return strings.ReplaceAll(policy.FormatDuration(d), " ", "") }

// enough is a --for that lets the window fill: one look more than it takes.
func enough(s whatif.Step) string {
	d := need(s) + s.Policy.Interval
	round := time.Second
	if d > 2*time.Minute {
		round = time.Minute
	}
	if cut := d.Truncate(round); cut < d {
		d = cut + round
	}
	return flag(d)
}

// tell writes a line for a look, where there are several.
func (e *evaluation) tell(took time.Duration) {
	if e.span == 0 {
		return
	}
	if every := e.last.Policy.Interval; took > every && e.last.Sample.Fault == "" && !e.slow {
		e.slow = true
		fmt.Fprintf(e.progress, "note: a look took %s, longer than the %s between looks: each waits until Flink has fetched new metrics, which it does every 10 s unless metrics.fetcher.update-interval says otherwise\n",
			took.Round(100*time.Millisecond), policy.FormatDuration(every))
	}
	d := e.last.Decision
	fmt.Fprintf(e.progress, "look %d at %s: %s: %s: %s\n", e.looks, e.last.Sample.At.UTC().Format("15:04:05"), d.Verdict, d.Reason, printable(spec.Cut(d.Note, 160)))
}
