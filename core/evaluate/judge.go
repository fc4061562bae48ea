package evaluate

import (
	"fmt"
	"math"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// rates are the numbers of one vertex before its bounds follow from them: NaN
// where one does not exist, +Inf for the true rate of an idle vertex.
type rates struct {
	target, catchUp, trueRate, busyMs float64
	lag                               core.Reading
}

// judge puts the numbers of one vertex together.
func (s *state) judge(v core.Vertex) Vertex {
	line := s.lines[v.ID]
	out := Vertex{ID: v.ID, Lag: core.Absent(core.NotApplicable)}
	if v.IsSource() {
		out.Lag = line.latest(lag)
	}
	s.findGap(v, &out)
	if out.Unjudged = s.unjudged(v, &out); s.over(v) {
		return out
	}
	busy := s.busyMs(v)
	r := rates{target: s.target[v.ID], catchUp: s.catchUp[v.ID], busyMs: busy, lag: out.Lag}
	r.trueRate, out.Observed = s.trueRate(v, busy)
	told := r.trueRate
	s.customise(v, &r)
	out.Observed = out.Observed && r.trueRate == told
	s.bounds(r, &out)
	if out.Unjudged == "" {
		out.Unjudged = s.lacking(&out, r.trueRate)
	}
	out.Outside = out.Unjudged == "" && outside(r.trueRate, out)
	s.contradiction(v, &out)
	if note := s.notes[v.ID]; note != "" && out.Unjudged == "" && (out.Note == "" || out.Gap == "") {
		out.Note = note
	}
	return out
}

// bounds fills in what follows from the rates.
func (s *state) bounds(r rates, out *Vertex) {
	p := s.in.Policy
	upper, lower := p.UtilizationMax, p.UtilizationMin
	if s.quirk(policy.QuirkBounds) {
		upper, lower = p.UtilizationTarget+p.UtilizationBoundary, p.UtilizationTarget-p.UtilizationBoundary
	}
	if s.backlog {
		upper, lower = 1, 0
	}
	out.TargetRate, out.CatchUpRate = core.Read(r.target), core.Read(r.catchUp)
	out.Load = core.Read(core.Round3(r.busyMs / 1000))
	out.UpBelow = core.Read(Capacity(r.target, r.catchUp, upper, false, p))
	out.DownAbove = bounded(Capacity(r.target, r.catchUp, lower, true, p))
	out.Capacity = core.Read(Capacity(r.target, r.catchUp, p.UtilizationTarget, true, p))
	out.TrueRate, out.Idle = bounded(s.finite(r.trueRate)), math.IsInf(r.trueRate, 1)
}

// outside is true for a true rate that lies outside of its bounds. A bound that
// does not exist is never passed.
func outside(trueRate float64, v Vertex) bool {
	up, ok := v.UpBelow.Value()
	if ok && trueRate < up {
		return true
	}
	down, ok := v.DownAbove.Value()
	return ok && trueRate > down
}

// trueRate is the rate at full load, and whether it is one that was seen.
func (s *state) trueRate(v core.Vertex, busyMs float64) (rate float64, seen bool) {
	p, line := s.in.Policy, s.lines[v.ID]
	observed := math.NaN()
	if v.IsSource() {
		rate, remember := line.observed(s.remembered(v.ID), p)
		if observed = rate; remember != nil {
			s.observed = append(s.observed, *remember)
		}
		if s.quirk(policy.QuirkObserved) {
			observed = s.observedAsReleased(v.ID)
		}
	}
	processed := line.processed(v.IsSource() || s.quirk(policy.QuirkNumerator), p.BusyTimeAggregator)
	byBusy := busyRate(processed, busyMs)
	chosen := TrueRate(byBusy, observed, p.ObservedSwitchThreshold)
	return core.Round3(chosen), chosen != byBusy && chosen == observed
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
	case s.quirk(policy.QuirkNoBusy) && busy.State() != core.Present:
		return core.ReasonExcluded
	case v.IsSource() && s.lagLost(v) && !s.quirk(policy.QuirkLagNumber):
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
func (s *state) lacking(out *Vertex, tpr float64) core.Reason {
	for _, x := range []struct {
		what  string
		there bool
	}{
		{"its rate of records", out.TargetRate.State() == core.Present},
		{"its busy time", !math.IsNaN(tpr)},
		{"a capacity", out.Capacity.State() == core.Present && (tpr > 0 || s.quirk(policy.QuirkReset))},
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
