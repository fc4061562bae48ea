package evaluate

import (
	"math"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/collect"
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
	// Observed is what earlier evaluations gave to be remembered.
	Observed []core.ObservedRate
	// Custom changes what was evaluated, nil for none.
	Custom Evaluator
	Now    time.Time
	// Past is set with quirks alone: all samples of the attempt.
	Past []collect.Past
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
	// Observed is true when TrueRate is what was seen under a backlog, not what
	// busy time tells.
	Observed bool
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

// Global is what the evidence says of all TaskManagers together.
type Global struct {
	// GCPressure is the newest share of time in garbage collection; SlotsUsed
	// the slots in use now.
	GCPressure core.Reading
	SlotsUsed  core.Reading
	// HeapRatio is the used share of the heap; HeapUsed, ManagedUsed and
	// MetaspaceUsed are bytes. All four are means over the window.
	HeapRatio     core.Reading
	HeapUsed      core.Reading
	ManagedUsed   core.Reading
	MetaspaceUsed core.Reading
}

// Result is an evaluation, sorted by vertex id.
type Result struct {
	Vertices []Vertex
	Global   Global
	// Observed is to be remembered for the next evaluation, sorted by id.
	Observed []core.ObservedRate
	// Backlog is true while a source has more lag than the policy's threshold:
	// nothing goes down then.
	Backlog bool
	// Failed is set with quirks alone: one bad number spoiled the whole.
	Failed bool
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
	in       Input
	lines    map[string]series
	outputs  map[string]int // how many vertices read from it
	target   map[string]float64
	catchUp  map[string]float64
	done     map[string]Vertex
	order    []Vertex // what is done, in the order of the records' way
	gaps     map[string]string
	notes    map[string]string
	apart    map[string]bool // sources a part of whose lag is left out
	backlog  bool
	observed []core.ObservedRate
}

// Evaluate computes rates and bounds of every vertex.
func Evaluate(in Input) Result {
	s := state{
		in: in, lines: bySample(in.Topology, in.Samples), outputs: map[string]int{},
		target: map[string]float64{}, catchUp: map[string]float64{}, done: map[string]Vertex{},
		gaps: map[string]string{}, notes: map[string]string{}, apart: map[string]bool{},
	}
	for _, v := range in.Topology.Vertices {
		s.leaveOutStuck(v)
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
		s.order = append(s.order, s.done[v.ID])
	}
	out := Result{Backlog: s.backlog, Global: global(in.Samples), Failed: s.failed()}
	for _, v := range in.Topology.Vertices {
		out.Vertices = append(out.Vertices, s.done[v.ID])
	}
	out.Observed = s.observed
	slices.SortFunc(out.Observed, func(a, b core.ObservedRate) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(out.Vertices, func(a, b Vertex) int { return strings.Compare(a.ID, b.ID) })
	return out
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
	if !v.IsSource() || s.over(v) {
		return false
	}
	line := s.lines[v.ID]
	waiting, ok := line.latest(lag).Value()
	r := line.rate(recordsIn)
	if !ok || math.IsNaN(r) || waiting <= 0 {
		return false
	}
	return waiting/r > seconds(s.in.Policy.BacklogLagThreshold) || (r <= 0 && !s.quirk(policy.QuirkReset))
}
