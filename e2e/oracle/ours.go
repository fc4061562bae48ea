package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/policy"
	"flinkscaler/core/strategy"
)

// Ours is our side of a session: what a workflow keeps of a job from cycle to cycle.
type Ours struct {
	policy   policy.Policy
	problems []core.Problem
	ctx      core.JobContext
	previous *core.Sample
	// decision is the last change that was decided.
	decision core.Decision
	attempt  int
}

// Cycle is one look at a job, as our side gets it.
type Cycle struct {
	core.Measurement
	// Pending is true while a decision is not carried out yet, Applied when the last one has just been.
	Pending, Applied bool
}

// NewOurs begins a session. Options are those of a policy and of Flink. Quirks are differences to the Java autoscaler
// that are switched off.
func NewOurs(options map[string]string, quirks policy.Quirk) *Ours {
	o := &Ours{}
	keys := map[string]string{}
	o.ctx.Config = map[string]string{}
	for k, v := range options {
		if strings.HasPrefix(k, prefix) || strings.HasPrefix(k, oldPrefix) {
			keys[k] = v
		} else {
			o.ctx.Config[k] = v
		}
	}
	o.policy, _, o.problems = policy.Resolve([]policy.Layer{{Name: "case", Values: keys}})
	o.policy.Quirks = quirks
	o.ctx.Key, o.ctx.JobID = core.JobKey{Cluster: "oracle", Job: "job"}, "job"
	return o
}

// Cycle has one look at the job and decides.
func (o *Ours) Cycle(k Cycle) Verdict {
	m := k.Measurement
	sample, topology := collect.SampleWith(m, o.previous, o.policy.Quirks)
	o.previous = &sample
	c := &o.ctx
	if len(topology.Vertices) > 0 {
		c.Topology = topology
	}
	c.Window = append(c.Window, sample)
	c.Now, c.Cycle, c.RescaleOpen = m.Status.Now, c.Cycle+1, k.Pending
	if k.Applied {
		o.settle(m)
	}
	d, memory, keep := strategy.Decide(*c, o.policy, o.problems)
	would := o.would(d)
	full := collect.Counted(c.Window, o.policy).Full
	if d.Verdict == core.Change {
		o.decision = d
	}
	c.Memory = memory
	c.Window = slices.DeleteFunc(c.Window, func(s core.Sample) bool { return s.At.Before(keep) })
	return o.verdict(d, full, would)
}

// settle tells of the outcome of the last decision, as a workflow would.
func (o *Ours) settle(m core.Measurement) {
	o.attempt++
	o.ctx.LastOutcome = &core.Outcome{
		Kind: core.Applied, DecisionID: o.decision.ID, Attempt: o.attempt, Wanted: o.decision.Sizes(), Got: m.Status.Topology.Sizes(),
		StartedAt: o.decision.At, WrittenAt: o.decision.At, RunningAt: m.Status.RunningSince, EndedAt: m.Status.Now,
	}
}

// would is what is decided but may not be carried out, in a dry run, in an excluded period or over a quota: the
// decision without those.
func (o *Ours) would(d core.Decision) core.Decision {
	switch d.Reason {
	case core.ReasonScalingDisabled, core.ReasonExcludedPeriod, core.ReasonQuota:
	default:
		return d
	}
	p := o.policy
	p.ScalingEnabled, p.ExcludedPeriods, p.QuotaCPU, p.QuotaMemory = true, nil, 0, 0
	d, _, _ = strategy.Decide(o.ctx, p, o.problems)
	return d
}

// verdict puts a decision into the words that both sides share.
func (o *Ours) verdict(d core.Decision, full bool, would core.Decision) Verdict {
	v := Verdict{Full: full, Decided: d.Verdict == core.Change, Note: string(d.Reason) + ": " + d.Note}
	if d.Reason == core.ReasonInternal || d.Reason == core.ReasonPolicyInvalid || d.Reason == core.ReasonVertexChanged {
		v.Broken = v.Note
	}
	for i, x := range d.Vertices {
		v.Vertices = append(v.Vertices, VertexVerdict{
			ID: x.ID, Target: number(x.TargetRate), CatchUp: number(x.CatchUpRate), TrueRate: orInf(x.TrueRate),
			Up: number(x.UpBelow), Down: orInf(x.DownAbove), Load: number(x.Load), Lag: number(x.Lag), From: x.From, To: would.Vertices[i].To,
		})
	}
	return v
}

func number(r core.Reading) float64 { return r.Or(math.NaN()) }

// orInf reads a number that may have no bound.
func orInf(r core.Reading) float64 {
	if r.State() == core.NotApplicable {
		return math.Inf(1)
	}
	return r.Or(math.NaN())
}

// Measure turns a look into what our adapter of Flink makes of the same answers.
func Measure(l Look) core.Measurement {
	m := core.Measurement{
		Status: core.JobStatus{
			ID: "job", Name: "job", State: core.JobRunning, Now: time.UnixMilli(l.Now).UTC(), RunningSince: time.UnixMilli(l.Running).UTC(),
		},
		Clock: core.Read(l.Clock), Fresh: l.Fresh,
		SlotsTotal: plain(l.JobManager["taskSlotsTotal"]), SlotsFree: plain(l.JobManager["taskSlotsAvailable"]),
	}
	vertices := slices.Clone(l.Vertices)
	slices.SortFunc(vertices, func(a, b Vertex) int { return strings.Compare(a.ID, b.ID) })
	for _, v := range vertices {
		known := topologyOf(v)
		m.Status.Topology.Vertices = append(m.Status.Topology.Vertices, known)
		m.Status.Vertices = append(m.Status.Vertices, statusOf(v))
		m.Vertices = append(m.Vertices, metricsOf(v, known))
	}
	for _, a := range l.TaskManagers {
		m.TaskManagers = append(m.TaskManagers, core.Aggregate{ID: a.ID, Min: value(a.Min), Max: value(a.Max), Avg: value(a.Avg), Sum: math.NaN()})
	}
	slices.SortFunc(m.TaskManagers, func(a, b core.Aggregate) int { return strings.Compare(a.ID, b.ID) })
	return m
}

func plain(text string) core.Reading {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return core.Reading{}
	}
	return core.Read(f)
}

func value(n *Number) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n)
}

func topologyOf(v Vertex) core.Vertex {
	out := core.Vertex{ID: v.ID, Name: v.Name, Parallelism: v.Parallelism, MaxParallelism: v.Max, SlotGroup: v.Group}
	for _, i := range v.Inputs {
		out.Inputs = append(out.Inputs, core.Edge{From: i.ID, Ship: core.ShipStrategy(i.Ship)})
	}
	slices.SortFunc(out.Inputs, func(a, b core.Edge) int { return strings.Compare(a.From, b.From) })
	return out
}

func statusOf(v Vertex) core.VertexStatus {
	out := core.VertexStatus{
		ID: v.ID, Tasks: core.TaskCounts{Running: v.Parallelism - v.Waiting, Total: v.Parallelism},
		RecordsRead: core.Read(float64(v.Read)), RecordsWritten: core.Read(float64(v.Written)), BusyMs: core.Read(float64(v.Busy)),
	}
	if v.Finished {
		out.Tasks.Running, out.Tasks.Finished = 0, v.Parallelism
	}
	if !v.Complete {
		out.RecordsRead, out.RecordsWritten = core.Absent(core.Incomplete), core.Absent(core.Incomplete)
	}
	return out
}

// metricsOf fetches the metrics that are wanted, as the adapter does.
func metricsOf(v Vertex, known core.Vertex) core.VertexMetrics {
	out := core.VertexMetrics{ID: v.ID}
	for _, m := range v.Metrics {
		out.Names = append(out.Names, m.ID)
	}
	known.Finished = v.Finished
	wanted := collect.Wanted(known, out.Names)
	for _, m := range v.Metrics {
		if slices.Contains(wanted, m.ID) {
			out.Values = append(out.Values, core.Aggregate{ID: m.ID, Min: value(m.Min), Max: value(m.Max), Avg: value(m.Avg), Sum: value(m.Sum)})
		}
	}
	slices.SortFunc(out.Values, func(a, b core.Aggregate) int { return strings.Compare(a.ID, b.ID) })
	return out
}
