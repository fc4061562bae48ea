package strategy

import (
	"math"

	"flinkscaler/core"
)

// flow lets records pass the vertices that have a cap for one cycle: from what
// arrives it computes what each processes, how busy and held back it is, and
// the lag of sources. It is a plain model: a source never reads more than all
// that is downstream of it can take, and what it does not read waits.
func (s *scene) flow() {
	if s.restarting() {
		for _, a := range s.vertices {
			if a.capacity > 0 && a.IsSource() {
				a.lag += a.in * s.cycle.Seconds()
				a.lagTo = a.lag
			}
			a.keepUp(0, 1)
		}
		return
	}
	runs := min(s.cycle, s.now.Sub(s.running)).Seconds()
	var topology core.Topology
	for _, a := range s.vertices {
		topology.Vertices = append(topology.Vertices, a.Vertex)
	}
	offered := map[string]float64{}
	for _, a := range s.vertices {
		if a.capacity > 0 && a.IsSource() {
			arrived := a.lag + a.in*s.cycle.Seconds()
			offered[a.ID] = min(arrived/runs, a.able())
		}
	}
	s.spread(topology, offered)
	tight := s.tightness(topology, offered)
	for _, a := range s.vertices {
		if a.capacity > 0 && a.IsSource() {
			offered[a.ID] *= tight[a.ID]
		}
	}
	s.spread(topology, offered)
	for _, a := range s.vertices {
		if a.capacity == 0 {
			continue
		}
		a.keepUp(offered[a.ID], tight[a.ID])
		// The counters move by what was done in the part of the cycle that ran.
		a.rate *= runs / s.cycle.Seconds()
		a.out = a.rate * a.ratio
		if a.IsSource() {
			a.lag = max(0, math.Round(a.lag+(a.in-a.rate)*s.cycle.Seconds()))
			a.lagTo = a.lag
		}
	}
}

// able is what all subtasks can do in records per second.
func (a *actor) able() float64 {
	able := a.capacity * float64(a.Parallelism)
	if a.most > 0 {
		return min(able, a.most)
	}
	return able
}

// keepUp sets what a vertex does at a rate, while what is downstream takes a
// share of what it could send.
func (a *actor) keepUp(rate, share float64) {
	if a.capacity == 0 {
		return
	}
	busy := 1000 * rate / a.able()
	a.rate, a.back = rate, 1000*(1-share)
	a.busy = busyTime{busy, busy, busy}
}

// spread computes what reaches each vertex that is no source.
func (s *scene) spread(t core.Topology, rates map[string]float64) {
	for _, v := range t.Ordered() {
		if v.IsSource() {
			continue
		}
		rates[v.ID] = 0
		for _, e := range v.Inputs {
			rates[v.ID] += rates[e.From] * s.find(e.From).ratio
		}
	}
}

// tightness is the share of its rate that each vertex can send on: what the
// tightest vertex downstream takes.
func (s *scene) tightness(t core.Topology, rates map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, a := range s.vertices {
		out[a.ID] = 1
	}
	for _, a := range s.vertices {
		if a.capacity == 0 || rates[a.ID] <= a.able() {
			continue
		}
		share := a.able() / rates[a.ID]
		for _, up := range t.Upstream(a.ID) {
			out[up] = min(out[up], share)
		}
	}
	return out
}
