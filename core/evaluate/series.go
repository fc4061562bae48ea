package evaluate

import (
	"math"
	"time"

	"flinkscaler/core"
)

// point is one vertex in one sample.
type point struct {
	at time.Time
	v  core.VertexSample
	ok bool // the sample has the vertex
}

// series is one vertex over the samples that count, oldest first.
type series []point

// bySample makes the series of every vertex of the topology.
func bySample(t core.Topology, samples []core.Sample) map[string]series {
	out := make(map[string]series, len(t.Vertices))
	for _, v := range t.Vertices {
		out[v.ID] = make(series, len(samples))
	}
	for i, s := range samples {
		for _, line := range out {
			line[i].at = s.At
		}
		for _, v := range s.Vertices {
			if line, ok := out[v.ID]; ok {
				line[i].v, line[i].ok = v, true
			}
		}
	}
	return out
}

// field picks one reading of a vertex.
type field func(core.VertexSample) core.Reading

func recordsIn(v core.VertexSample) core.Reading   { return v.RecordsIn }
func recordsOut(v core.VertexSample) core.Reading  { return v.RecordsOut }
func inPerSecond(v core.VertexSample) core.Reading { return v.InPerSecond }
func busyTotal(v core.VertexSample) core.Reading   { return v.BusyTotal }
func lag(v core.VertexSample) core.Reading         { return v.Lag }

// rate is the slope per second from the first to the last number there is;
// NaN where there are fewer than two.
func (s series) rate(f field) float64 {
	var first, last float64
	var from, to time.Time
	n := 0
	for _, p := range s {
		x, ok := f(p.v).Value()
		if !ok {
			continue
		}
		if n == 0 {
			first, from = x, p.at
		}
		last, to = x, p.at
		n++
	}
	if n < 2 {
		return math.NaN()
	}
	ms := max(1, to.Sub(from).Milliseconds())
	return float64(float64(last-first)*1000) / float64(ms)
}

// mean is the average of the numbers there are, NaN for none.
func (s series) mean(f field) float64 {
	sum, n := 0.0, 0
	for _, p := range s {
		if x, ok := f(p.v).Value(); ok {
			sum += x
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// latest is the reading in the newest sample.
func (s series) latest(f field) core.Reading {
	if len(s) == 0 {
		return core.Reading{}
	}
	return f(s[len(s)-1].v)
}

// mean averages the finite ones of observed rates: +Inf if there are only
// infinities, NaN if there are fewer finite ones than least.
func mean(values []float64, least int) float64 {
	sum, n, infinite := 0.0, 0, false
	for _, x := range values {
		switch {
		case math.IsNaN(x):
		case math.IsInf(x, 0):
			infinite = true
		default:
			sum += x
			n++
		}
	}
	switch {
	case n == 0 && infinite:
		return math.Inf(1)
	case n == 0 || n < least:
		return math.NaN()
	}
	return sum / float64(n)
}
