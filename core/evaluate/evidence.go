package evaluate

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// findGap looks for missing evidence of the vertex itself in every sample that
// counts, and takes over what is missing upstream.
func (s *state) findGap(v core.Vertex, out *Vertex) {
	if v.Finished || s.quirk(policy.QuirkGaps) {
		return
	}
	for _, from := range inputs(v) {
		// A contradiction is the vertex' own: what it sends on is still known.
		if up := s.done[from]; up.Gap != "" && up.Gap != core.ReasonContradiction && out.Gap == "" {
			out.Gap, out.Note = up.Gap, s.gaps[from]
		}
	}
	if own, note := s.ownGap(v); own != "" {
		out.Gap, out.Note = own, note
		s.gaps[v.ID] = fmt.Sprintf("upstream %s: %s", v.ID, note)
		return
	}
	s.gaps[v.ID] = out.Note
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

// A busy vertex that holds back what is before it has too few subtasks, whatever
// its rate says: ratios over bursts, and between several inputs, are guesses.
const (
	// busyShare is the mean share of busy time of all subtasks from which on
	// they work without a pause.
	busyShare = 0.9
	// heldBackMs is the mean back pressure in ms per second that a vertex
	// upstream must show.
	heldBackMs = 100
)

// contradiction finds a vertex that its rate would make smaller while its busy
// time and the back pressure before it say the opposite: a gap in the evidence
// for less, not for more.
func (s *state) contradiction(v core.Vertex, out *Vertex) {
	capacity, ok1 := out.Capacity.Value()
	rate, ok2 := out.TrueRate.Value()
	if s.quirk(policy.QuirkContradiction) || out.Gap != "" || out.Unjudged != "" || !ok1 || !ok2 || rate <= capacity || v.IsSource() {
		return
	}
	if target, ok := out.TargetRate.Value(); ok && target == 0 {
		if in := s.lines[v.ID].rate(recordsIn); in > 0 && s.in.Custom == nil {
			out.Gap = core.ReasonContradiction
			out.Note = fmt.Sprintf("what feeds it sends nothing by its own counters, but it takes in %s/s", core.Decimal(core.Read(core.Round3(in))))
			return
		}
	}
	busy := s.lines[v.ID].mean(func(x core.VertexSample) core.Reading { return x.BusyAvg })
	if !(busy >= busyShare*1000) {
		return
	}
	for _, from := range inputs(v) {
		back := s.lines[from].mean(func(x core.VertexSample) core.Reading { return x.BackPressure })
		if back >= heldBackMs {
			out.Gap = core.ReasonContradiction
			out.Note = fmt.Sprintf("target rate contradicts busy time and back pressure: busy %.0f %%, and %s is held back %.0f %% of the time", busy/10, from, back/10)
			return
		}
	}
}
