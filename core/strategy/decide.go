package strategy

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
	"flinkscaler/core/spec"
	"flinkscaler/core/stabilize"
	"flinkscaler/core/strategy/flink"
)

// Rule is a strategy: what every vertex should run at, sorted by id.
type Rule func(scale.Job, *stabilize.Book, scale.Aligner) []core.VertexDecision

// rule finds a strategy by name. A new one is one package and one line here.
func rule(name string) (Rule, bool) {
	switch name {
	case "flink":
		return flink.Propose, true
	}
	return nil, false
}

// Decide judges a job. problems are those of the policy; with any, nothing
// changes. It gives the decision, what to remember for the next one, and since
// when samples are still of use.
func Decide(ctx core.JobContext, p policy.Policy, problems []core.Problem) (core.Decision, core.Memory, time.Time) {
	return BuiltIn().Decide(ctx, p, problems)
}

// Decide is Decide with the plugins of a program of its own.
func (x Extensions) Decide(ctx core.JobContext, p policy.Policy, problems []core.Problem) (core.Decision, core.Memory, time.Time) {
	return decide(ctx, p, problems, x, rule)
}

func decide(ctx core.JobContext, p policy.Policy, problems []core.Problem, x Extensions, find func(string) (Rule, bool)) (d core.Decision, m core.Memory, keepFrom time.Time) {
	defer func() {
		if r := recover(); r != nil {
			d = empty(ctx, p)
			d.Reason, d.Note = core.ReasonInternal, fmt.Sprintf("a fault while deciding: %v", r)
			m, keepFrom = ctx.Memory, time.Time{}
		}
		bound(&d)
	}()
	c := &cycle{ctx: ctx, p: p, ext: x, find: find, memory: ctx.Memory, window: collect.Counted(ctx.Window, p)}
	c.d = empty(ctx, p)
	c.d.Samples, c.d.Span, c.d.WindowEnds = len(c.window.Samples), c.window.Span(), c.window.Ends
	c.run(problems)
	return c.d, c.memory, c.window.KeepFrom
}

// DecideLayers resolves the policy and decides.
func DecideLayers(ctx core.JobContext, layers []policy.Layer) (core.Decision, core.Memory, time.Time) {
	p, _, problems := policy.Resolve(layers)
	return Decide(ctx, p, problems)
}

func empty(ctx core.JobContext, p policy.Policy) core.Decision {
	return core.Decision{
		ID: fmt.Sprintf("%d-%d", ctx.Cycle, ctx.Now.Unix()), At: ctx.Now, Strategy: p.Strategy, Verdict: core.Hold,
	}
}

// Bounds of the texts in a decision. It goes into history each cycle; for a
// job of 300 vertices a list of all names per problem would break its limits
// (I10).
const (
	maxNote       = 600
	maxVertexNote = 160
)

func bound(d *core.Decision) {
	d.Note, d.Problems = spec.Cut(d.Note, maxNote), spec.Few(d.Problems)
	for i := range d.Vertices {
		v := &d.Vertices[i]
		v.Note = spec.Cut(v.Note, maxVertexNote)
	}
}

// cycle is one decision in the making.
type cycle struct {
	ctx    core.JobContext
	p      policy.Policy
	ext    Extensions
	find   func(string) (Rule, bool)
	window collect.Window
	memory core.Memory
	book   *stabilize.Book
	plugins
	// result is what was evaluated, observed what to remember of rates.
	result   evaluate.Result
	observed []core.ObservedRate
	alarm    alarm
	d        core.Decision
}

func (c *cycle) hold(r core.Reason, note string) {
	c.d.Verdict, c.d.Reason, c.d.Note = core.Hold, r, note
}

func (c *cycle) run(problems []core.Problem) {
	c.d.Vertices = nil
	if len(problems) > 0 {
		c.invalid(problems)
		return
	}
	c.memory = stabilize.Learn(c.memory, c.ctx.LastOutcome, c.ctx.Now, c.p)
	if n := len(c.ctx.Window); n > 0 {
		c.memory = stabilize.Renew(c.memory, c.ctx.Window[n-1])
		c.memory = stabilize.Watch(c.memory, c.ctx.JobID, c.ctx.Window[n-1], c.p.UndoLagWithin)
	}
	if !c.fit() {
		return
	}
	if problems := c.load(c.ext, c.p); len(problems) > 0 {
		c.invalid(problems)
		return
	}
	c.remember()
	c.book = stabilize.Open(c.memory, c.ctx.LastOutcome, c.ctx.Topology, c.ctx.Now, c.p)
	c.book.AsReleased(c.ctx.Window[len(c.ctx.Window)-1].RunningSince, c.ctx.Topology)
	c.asked()
	c.p.RestartTime, c.d.Restart = c.restart()
	if c.d.Restart != "" {
		c.d.RestartTime = c.p.RestartTime
	}
	switch {
	case c.ctx.Override.Active(c.ctx.Now):
		c.override()
	case c.follows():
		c.follow()
	default:
		c.strategy()
		c.tellUnwell()
	}
	c.veto()
	c.book.Record(c.d)
	c.before()
	c.memory = c.book.Store()
	c.memory.Observed = c.observed
}

// restart is how long a restart is taken to last, and a sentence on it where it
// was measured.
func (c *cycle) restart() (time.Duration, string) {
	d, note := c.book.Restart()
	if note != "" {
		note = fmt.Sprintf("a restart is taken to last %s: %s", policy.FormatDuration(d), note)
	}
	return d, note
}

func (c *cycle) invalid(problems []core.Problem) {
	c.d.Problems = problems
	c.hold(core.ReasonPolicyInvalid, fmt.Sprintf("%d problem(s) in the policy, the first: %s", len(problems), problems[0]))
}

// fit is true when the newest look shows a job that may be judged, or at least
// changed by order.
func (c *cycle) fit() bool {
	if len(c.ctx.Window) == 0 {
		c.hold(core.ReasonWindowNotFull, "nothing was seen of the job yet")
		return false
	}
	newest := c.ctx.Window[len(c.ctx.Window)-1]
	if newest.Fault != "" && !(c.ctx.Override.Active(c.ctx.Now) && obeys(newest.Fault)) && !c.loops(newest.Fault) {
		c.hold(newest.Fault, newest.Note)
		return false
	}
	if len(c.ctx.Topology.Vertices) == 0 {
		c.hold(core.ReasonVertexChanged, "the job's graph is not known")
		return false
	}
	if !slices.ContainsFunc(c.ctx.Topology.Vertices, core.Vertex.IsSource) {
		c.hold(core.ReasonVertexChanged, "the graph that is known has no source: nothing tells what the job has to do")
		return false
	}
	if newest.Fault == "" && !sameVertices(c.ctx.Topology, newest) {
		c.hold(core.ReasonVertexChanged, "the newest sample shows other vertices or sizes than the graph that is known")
		return false
	}
	return true
}

// obeys is true for a fault of the metrics alone: the job itself runs, so an
// operator's order can be carried out.
func obeys(fault core.Reason) bool {
	switch fault {
	case core.ReasonMetricsFrozen, core.ReasonMetricsMissing, core.ReasonIncomplete, core.ReasonTMSilent:
		return true
	}
	return false
}

func sameVertices(t core.Topology, s core.Sample) bool {
	if len(t.Vertices) != len(s.Vertices) {
		return false
	}
	for _, v := range s.Vertices {
		if known, ok := t.Find(v.ID); !ok || known.Parallelism != v.Parallelism {
			return false
		}
	}
	return true
}

// remember notes which sources have shown a backlog, so that its absence later
// is seen as a loss.
func (c *cycle) remember() {
	var seen []string
	for _, v := range c.ctx.Topology.Vertices {
		if !v.IsSource() {
			continue
		}
		_, before := slices.BinarySearch(c.ctx.Memory.LagSeen, v.ID)
		if before || slices.ContainsFunc(c.window.Samples, func(s core.Sample) bool {
			x, _ := s.Vertex(v.ID)
			return x.Lag.State() == core.Present
		}) {
			seen = append(seen, v.ID)
		}
	}
	c.memory.LagSeen = seen
}

// evidence is what an evaluation is made of.
func (c *cycle) evidence() evaluate.Input {
	return evaluate.Input{Topology: c.ctx.Topology, Samples: c.window.Samples, Policy: c.p, LagSeen: c.memory.LagSeen, Observed: c.ctx.Memory.Observed, Custom: c.evaluator, Now: c.ctx.Now, Past: c.window.Past}
}

// evaluate looks at the samples that count, and has what must be remembered of
// them remembered.
func (c *cycle) evaluate() evaluate.Result {
	r := evaluate.Evaluate(c.evidence())
	c.result, c.observed = r, r.Observed
	return r
}

// job is what is known of the job as a whole.
func (c *cycle) job(result evaluate.Result) scale.Job {
	return scale.Job{Topology: c.ctx.Topology, Evidence: result, Policy: c.p, Facts: scale.FactsOf(c.ctx.Config), Means: c.ctx.Means, Now: c.ctx.Now}
}

// strategy lets the policy's rule decide, if there is enough to decide on.
func (c *cycle) strategy() {
	propose, ok := c.find(c.p.Strategy)
	switch {
	case !ok:
		c.hold(core.ReasonPolicyInvalid, fmt.Sprintf("unknown strategy %q", c.p.Strategy))
		return
	case c.goesBack():
		return
	case !c.window.Full:
		c.notFull()
		return
	}
	result := c.evaluate()
	if result.Failed {
		c.hold(core.ReasonMetricsMissing, "the rate of a source is no number")
		return
	}
	if c.fellBehind(result) {
		return
	}
	if blocked, _, note := stabilize.Pressure(result.Global.GCPressure, result.Global.HeapRatio, c.p); blocked {
		c.show(result, core.ReasonMemoryPressure)
		c.hold(core.ReasonMemoryPressure, note)
		return
	}
	c.book.Late(result.Backlog && growing(c.window.Samples))
	job := c.job(result)
	c.d.Vertices = propose(job, c.book, c.aligner)
	scale.Uniform(c.d.Vertices, job)
	c.sumUp()
	if c.d.Verdict == core.Change {
		c.finish(job)
	}
}
