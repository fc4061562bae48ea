package evaluate

import (
	"fmt"
	"math"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Input is what an evaluation is made of.
type Input struct {
	Topology core.Topology
	// Samples are those that count, oldest first.
	Samples []core.Sample
	Policy  policy.Policy
	// LagSeen lists the sources that have ever shown a backlog, sorted.
	LagSeen []string
}

// Vertex is what the evidence says of one vertex. Rates are records per
// second; a Reading is not Present where the number does not exist.
type Vertex struct {
	ID          string
	TargetRate  core.Reading
	CatchUpRate core.Reading
	// TrueRate is NotApplicable when it has no bound: see Idle.
	TrueRate core.Reading
	// UpBelow and DownAbove are the bounds of TrueRate. DownAbove is
	// NotApplicable when there is none: never down.
	UpBelow   core.Reading
	DownAbove core.Reading
	Capacity  core.Reading
	Load      core.Reading
	Lag       core.Reading
	// Idle is true when nothing was processed, or in no time: such a vertex
	// could do any rate.
	Idle bool
	// Outside is true when TrueRate lies outside of its bounds.
	Outside bool
	// Unjudged says why the vertex must be left as it is, empty when it can be
	// judged.
	Unjudged core.Reason
	// Gap says why the vertex must not get smaller: evidence of it or of
	// something upstream is not complete (I1). Empty when all is there.
	Gap core.Reason
	// Note explains Unjudged, Gap, or a lag that is not known.
	Note string
}

// Result is an evaluation, sorted by vertex id.
type Result struct {
	Vertices []Vertex
	// Backlog is true while a source has more lag than the policy's threshold:
	// nothing goes down then.
	Backlog bool
}

// Find gives the evaluation of a vertex.
func (r Result) Find(id string) (Vertex, bool) {
	for _, v := range r.Vertices {
		if v.ID == id {
			return v, true
		}
	}
	return Vertex{}, false
}

// state is an evaluation in the making.
type state struct {
	in      Input
	lines   map[string]series
	outputs map[string]int // how many vertices read from it
	target  map[string]float64
	catchUp map[string]float64
	done    map[string]Vertex
	backlog bool
}

// Evaluate computes rates and bounds of every vertex.
func Evaluate(in Input) Result {
	s := state{
		in: in, lines: bySample(in.Topology, in.Samples), outputs: map[string]int{},
		target: map[string]float64{}, catchUp: map[string]float64{}, done: map[string]Vertex{},
	}
	for _, v := range in.Topology.Vertices {
		for _, from := range inputs(v) {
			s.outputs[from]++
		}
		s.backlog = s.backlog || s.hasBacklog(v)
	}
	for _, v := range in.Topology.Ordered() {
		s.rates(v)
		s.done[v.ID] = s.judge(v)
	}
	out := Result{Backlog: s.backlog}
	for _, v := range in.Topology.Vertices {
		out.Vertices = append(out.Vertices, s.done[v.ID])
	}
	slices.SortFunc(out.Vertices, func(a, b Vertex) int { return compare(a.ID, b.ID) })
	return out
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// inputs lists the distinct vertices that v reads from.
func inputs(v core.Vertex) []string {
	var out []string
	for _, e := range v.Inputs {
		if !slices.Contains(out, e.From) {
			out = append(out, e.From)
		}
	}
	return out
}

// hasBacklog is true for a source whose lag takes longer than the threshold at
// its present rate.
func (s *state) hasBacklog(v core.Vertex) bool {
	if !v.IsSource() || v.Finished {
		return false
	}
	line := s.lines[v.ID]
	waiting, ok := line.latest(lag).Value()
	r := line.rate(recordsIn)
	if !ok || math.IsNaN(r) || waiting <= 0 {
		return false
	}
	return waiting/r > seconds(s.in.Policy.BacklogLagThreshold) || r <= 0
}

// rates computes what v has to do: a source what arrives for it, the others
// what their inputs send them.
func (s *state) rates(v core.Vertex) {
	target, catchUp := 0.0, 0.0
	line := s.lines[v.ID]
	switch {
	case v.Finished:
	case v.IsSource():
		target = float64(line.rate(recordsIn) + zeroIfNaN(line.rate(lag)))
		target = math.Max(0, target)
		if c := seconds(s.in.Policy.CatchUp); c > 0 {
			catchUp = line.latest(lag).Or(0) / c
		}
	default:
		for _, from := range inputs(v) {
			ratio := s.ratio(from, v)
			target += float64(s.target[from] * ratio)
			catchUp += float64(s.catchUp[from] * ratio)
		}
		if math.IsNaN(target) {
			// Nothing is known of what comes; what it takes in is a lower bound.
			// The gap upstream keeps it from getting smaller.
			target, catchUp = line.rate(recordsIn), zeroIfNaN(catchUp)
		}
	}
	s.target[v.ID], s.catchUp[v.ID] = core.Round3(target), core.Round3(catchUp)
}

func zeroIfNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// ratio is how many records reach `to` for each one that `from` takes in.
func (s *state) ratio(from string, to core.Vertex) float64 {
	in := s.rateOf(from, recordsIn)
	if !(in > 0) {
		return 0
	}
	edge := s.edge(from, to)
	if !(edge > 0) {
		return 0
	}
	return edge / in
}

// edge is the rate of records from one vertex to another. Flink counts what a
// vertex reads and writes in all, so with more than one edge it is a guess.
func (s *state) edge(from string, to core.Vertex) float64 {
	ins := inputs(to)
	if len(ins) == 1 {
		return s.rateOf(to.ID, recordsIn)
	}
	others := 0.0
	for _, other := range ins {
		if other == from {
			continue
		}
		if s.outputs[other] != 1 {
			return s.rateOf(from, recordsOut)
		}
		others += s.rateOf(other, recordsOut)
	}
	return s.rateOf(to.ID, recordsIn) - others
}

// rateOf is the slope of a counter, 0 for a finished vertex.
func (s *state) rateOf(id string, f field) float64 {
	if v, ok := s.in.Topology.Find(id); ok && v.Finished {
		return 0
	}
	return s.lines[id].rate(f)
}

// judge puts the numbers of one vertex together.
func (s *state) judge(v core.Vertex) Vertex {
	p, line := s.in.Policy, s.lines[v.ID]
	out := Vertex{ID: v.ID, Lag: core.Absent(core.NotApplicable)}
	if v.IsSource() {
		out.Lag = line.latest(lag)
	}
	s.findGap(v, &out)
	if out.Unjudged = s.unjudged(v, &out); v.Finished {
		return out
	}
	target, catchUp := s.target[v.ID], s.catchUp[v.ID]
	busy := line.busyMs(v.Parallelism, p.BusyTimeAggregator)
	out.TargetRate, out.CatchUpRate = core.Read(target), core.Read(catchUp)
	out.Load = core.Read(core.Round3(busy / 1000))
	upper, lower := p.UtilizationMax, p.UtilizationMin
	if s.backlog {
		upper, lower = 1, 0
	}
	up, down := Capacity(target, catchUp, upper, false, p), Capacity(target, catchUp, lower, true, p)
	out.UpBelow, out.DownAbove = core.Read(up), bounded(down)
	out.Capacity = core.Read(Capacity(target, catchUp, p.UtilizationTarget, true, p))
	tpr := s.trueRate(v, busy)
	out.TrueRate, out.Idle = bounded(tpr), math.IsInf(tpr, 1)
	if out.Unjudged == "" {
		out.Unjudged = lacking(&out, tpr)
	}
	out.Outside = out.Unjudged == "" && (tpr < up || tpr > down)
	return out
}

func (s *state) trueRate(v core.Vertex, busyMs float64) float64 {
	p, line := s.in.Policy, s.lines[v.ID]
	observed := math.NaN()
	if v.IsSource() {
		observed = line.observed(p)
	}
	processed := line.processed(v.IsSource(), p.BusyTimeAggregator)
	return core.Round3(TrueRate(busyRate(processed, busyMs), observed, p.ObservedSwitchThreshold))
}

// bounded is a reading of a number that may be without bound.
func bounded(x float64) core.Reading {
	if math.IsInf(x, 1) {
		return core.Absent(core.NotApplicable)
	}
	return core.Read(x)
}

// unjudged tells why a vertex is left alone by its nature or by order.
func (s *state) unjudged(v core.Vertex, out *Vertex) core.Reason {
	busy := load(s.newest(v.ID), s.in.Policy.BusyTimeAggregator)
	switch {
	case v.Finished:
		out.Note = "finished"
		return core.ReasonExcluded
	case slices.Contains(s.in.Policy.Exclude, v.ID):
		out.Note = "in " + policy.Prefix + "vertex.exclude.ids"
		return core.ReasonExcluded
	case v.IsSource() && busy.State() == core.NotApplicable:
		out.Note = "no busy time: a source of the old kind, left as it is"
		return core.ReasonExcluded
	case v.IsSource() && s.lagLost(v):
		out.Note = "the backlog metric (pendingRecords) was there before and is gone: its lag is not known"
		return core.ReasonMetricsMissing
	}
	return ""
}

func (s *state) newest(id string) core.VertexSample {
	line := s.lines[id]
	if len(line) == 0 {
		return core.VertexSample{}
	}
	return line[len(line)-1].v
}

// lagLost is true when a source used to show its lag and does not any more.
// One that never did is taken to have none.
func (s *state) lagLost(v core.Vertex) bool {
	if s.newest(v.ID).Lag.State() == core.Present {
		return false
	}
	if _, seen := slices.BinarySearch(s.in.LagSeen, v.ID); seen {
		return true
	}
	return slices.ContainsFunc(s.lines[v.ID], func(p point) bool { return p.v.Lag.State() == core.Present })
}

// lacking names the number without which nothing can be said.
func lacking(out *Vertex, tpr float64) core.Reason {
	for _, x := range []struct {
		what  string
		there bool
	}{
		{"its rate of records", out.TargetRate.State() == core.Present},
		{"its busy time", !math.IsNaN(tpr)},
		{"a capacity", out.Capacity.State() == core.Present && tpr > 0},
	} {
		if !x.there && out.Gap != "" {
			return out.Gap
		}
		if !x.there {
			out.Note = fmt.Sprintf("cannot be judged: %s cannot be computed from the samples", x.what)
			return core.ReasonMetricsMissing
		}
	}
	return ""
}

// findGap looks for missing evidence of the vertex itself in every sample that
// counts, and takes over what is missing upstream.
func (s *state) findGap(v core.Vertex, out *Vertex) {
	if v.Finished {
		return
	}
	for _, from := range inputs(v) {
		if up := s.done[from]; up.Gap != "" && out.Gap == "" {
			out.Gap, out.Note = up.Gap, fmt.Sprintf("upstream %s: %s", from, up.Note)
		}
	}
	if own, note := s.ownGap(v); own != "" {
		out.Gap, out.Note = own, note
		return
	}
	if out.Note == "" && v.IsSource() && out.Lag.State() != core.Present {
		out.Note = "no backlog metric: lag unknown, taken as 0"
	}
}

func (s *state) ownGap(v core.Vertex) (core.Reason, string) {
	line := s.lines[v.ID]
	if len(line) < 2 {
		return core.ReasonWindowNotFull, fmt.Sprintf("%d sample(s) are not enough", len(line))
	}
	bad, worst, what := 0, core.Present, ""
	for _, p := range line {
		if r, name := s.weakest(v, p); r != core.Present {
			bad++
			worst, what = r, name
		}
	}
	switch {
	case bad > 0 && worst == core.Incomplete:
		return core.ReasonIncomplete, fmt.Sprintf("%s incomplete in %d of %d samples", what, bad, len(line))
	case bad > 0:
		return core.ReasonMetricsMissing, fmt.Sprintf("%s missing in %d of %d samples", what, bad, len(line))
	case v.IsSource() && s.lagLost(v):
		return core.ReasonMetricsMissing, "the backlog metric was there before and is gone"
	}
	return "", ""
}

// weakest finds a reading that a decision needs and that one sample lacks.
func (s *state) weakest(v core.Vertex, p point) (core.ReadingState, string) {
	busy := load(p.v, s.in.Policy.BusyTimeAggregator)
	if s.in.Policy.BusyTimeAggregator == policy.AggregateAvg && busy.State() == core.Present {
		busy = p.v.BusyTotal
	}
	if v.IsSource() && busy.State() == core.NotApplicable {
		busy = core.Read(0)
	}
	for _, x := range []struct {
		what string
		r    core.Reading
	}{{"records in", p.v.RecordsIn}, {"records out", p.v.RecordsOut}, {"busy time", busy}} {
		if x.r.State() != core.Present {
			return x.r.State(), x.what
		}
	}
	if v.IsSource() && p.v.Lag.State() == core.Incomplete {
		return core.Incomplete, "lag"
	}
	return core.Present, ""
}
