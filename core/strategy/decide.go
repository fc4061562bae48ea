package strategy

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
	"flinkscaler/core/stabilize"
	"flinkscaler/core/strategy/flink"
)

// Rule is a strategy: what every vertex should run at, sorted by id.
type Rule func(evaluate.Input, *stabilize.Delays, time.Time) []core.VertexDecision

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
	return decide(ctx, p, problems, rule)
}

func decide(ctx core.JobContext, p policy.Policy, problems []core.Problem, find func(string) (Rule, bool)) (d core.Decision, m core.Memory, keepFrom time.Time) {
	defer func() {
		if r := recover(); r != nil {
			d = empty(ctx, p)
			d.Reason, d.Note = core.ReasonInternal, fmt.Sprintf("a fault while deciding: %v", r)
			m, keepFrom = ctx.Memory, time.Time{}
		}
		bound(&d)
	}()
	c := &cycle{ctx: ctx, p: p, find: find, memory: ctx.Memory, window: collect.Counted(ctx.Window, p)}
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
	find   func(string) (Rule, bool)
	window collect.Window
	memory core.Memory
	delays *stabilize.Delays
	d      core.Decision
}

func (c *cycle) hold(r core.Reason, note string) {
	c.d.Verdict, c.d.Reason, c.d.Note = core.Hold, r, note
}

func (c *cycle) run(problems []core.Problem) {
	c.d.Vertices = nil
	if len(problems) > 0 {
		c.d.Problems = problems
		c.hold(core.ReasonPolicyInvalid, fmt.Sprintf("%d problem(s) in the policy, the first: %s", len(problems), problems[0]))
		return
	}
	if !c.fit() {
		return
	}
	c.remember()
	c.delays = stabilize.Load(c.memory)
	c.delays.Retain(c.ctx.Topology)
	if c.ctx.Override.Active(c.ctx.Now) {
		c.override()
	} else {
		c.strategy()
	}
	c.veto()
	if c.d.Verdict == core.Change {
		c.delays.ClearAll()
	}
	c.memory.Delayed = c.delays.Store()
}

// fit is true when the newest look shows a job that may be judged, or at least
// changed by order.
func (c *cycle) fit() bool {
	if len(c.ctx.Window) == 0 {
		c.hold(core.ReasonWindowNotFull, "nothing was seen of the job yet")
		return false
	}
	newest := c.ctx.Window[len(c.ctx.Window)-1]
	if newest.Fault != "" && !(c.ctx.Override.Active(c.ctx.Now) && obeys(newest.Fault)) {
		c.hold(newest.Fault, newest.Note)
		return false
	}
	if len(c.ctx.Topology.Vertices) == 0 {
		c.hold(core.ReasonVertexChanged, "the job's graph is not known")
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

// strategy lets the policy's rule decide, if there is enough to decide on.
func (c *cycle) strategy() {
	in := evaluate.Input{Topology: c.ctx.Topology, Samples: c.window.Samples, Policy: c.p, LagSeen: c.memory.LagSeen}
	propose, ok := c.find(c.p.Strategy)
	switch {
	case !ok:
		c.hold(core.ReasonPolicyInvalid, fmt.Sprintf("unknown strategy %q", c.p.Strategy))
		return
	case !c.window.Full:
		c.notFull(in)
		return
	}
	c.d.Vertices = propose(in, c.delays, c.ctx.Now)
	c.sumUp()
}
