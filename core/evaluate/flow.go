package evaluate

import (
	"math"

	"flinkscaler/core"
)

// rates computes what v has to do: a source what arrives for it, the others
// what their inputs send them.
func (s *state) rates(v core.Vertex) {
	target, catchUp := 0.0, 0.0
	line := s.lines[v.ID]
	switch {
	case s.over(v):
	case v.IsSource():
		target = math.Max(0, s.arrives(line))
		if c := seconds(s.in.Policy.CatchUp); c > 0 {
			catchUp = line.latest(lag).Or(s.noLag()) / c
		}
	default:
		for _, from := range s.sources(v) {
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

// arrives is the rate of records that arrive for a source.
func (s *state) arrives(line series) float64 {
	waiting := line.rate(lag)
	if math.IsNaN(waiting) {
		waiting = s.noLag()
	}
	return float64(line.rate(recordsIn) + waiting)
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
	ins := s.sources(to)
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
	if v, ok := s.in.Topology.Find(id); ok && s.over(v) {
		return 0
	}
	return s.lines[id].rate(f)
}
