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
}

// NewOurs begins a session. Quirks are differences to the Java autoscaler that are switched off.
func NewOurs(options map[string]string, quirks policy.Quirk) *Ours {
	p, _, problems := policy.Resolve([]policy.Layer{{Name: "case", Values: options}})
	p.Quirks = quirks
	o := &Ours{policy: p, problems: problems}
	o.ctx.Key, o.ctx.JobID = core.JobKey{Cluster: "oracle", Job: "job"}, "job"
	return o
}

// Cycle has one look at the job and decides. pending is true while a decision is not carried out yet.
func (o *Ours) Cycle(m core.Measurement, pending bool) Verdict {
	sample, topology := collect.SampleWith(m, o.previous, o.policy.Quirks)
	o.previous = &sample
	c := &o.ctx
	if len(topology.Vertices) > 0 {
		c.Topology = topology
	}
	c.Window = append(c.Window, sample)
	c.Now, c.Cycle, c.RescaleOpen = m.Status.Now, c.Cycle+1, pending
	would := o.would()
	d, memory, keep := strategy.Decide(*c, o.policy, o.problems)
	full := collect.Counted(c.Window, o.policy).Full
	c.Memory = memory
	c.Window = slices.DeleteFunc(c.Window, func(s core.Sample) bool { return s.At.Before(keep) })
	return o.verdict(d, full, would)
}

// would is what a dry run would do: the decision without it.
func (o *Ours) would() *core.Decision {
	if o.policy.ScalingEnabled {
		return nil
	}
	p := o.policy
	p.ScalingEnabled = true
	d, _, _ := strategy.Decide(o.ctx, p, o.problems)
	return &d
}

// verdict puts a decision into the words that both sides share.
func (o *Ours) verdict(d core.Decision, full bool, would *core.Decision) Verdict {
	v := Verdict{Full: full, Decided: d.Verdict == core.Change, Note: string(d.Reason) + ": " + d.Note}
	sizes := d.Vertices
	if would != nil {
		sizes = would.Vertices
	}
	for i, x := range d.Vertices {
		v.Vertices = append(v.Vertices, VertexVerdict{
			ID: x.ID, Target: number(x.TargetRate), CatchUp: number(x.CatchUpRate), TrueRate: orInf(x.TrueRate),
			Up: number(x.UpBelow), Down: orInf(x.DownAbove), Load: number(x.Load), Lag: number(x.Lag), From: x.From, To: sizes[i].To,
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
