package evaluate

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// A source whose lag sits in front of one subtask that is not busy waits for
// something that more subtasks cannot give: a partition that makes no progress,
// or one hot partition whose reader is not the limit.
const (
	// stuckShare is the share of the lag in front of one subtask from which on
	// it counts as all of it.
	stuckShare = 0.9
	// freeMs is the back pressure in ms per second below which a source is not
	// held back.
	freeMs = 100
)

// leaveOutStuck takes the lag of such a subtask out of what is evaluated of a
// source.
func (s *state) leaveOutStuck(v core.Vertex) {
	line := s.lines[v.ID]
	if !v.IsSource() || v.Parallelism < 2 || len(line) < 2 || s.quirk(policy.QuirkStuck) {
		return
	}
	for _, p := range line {
		if !s.stuck(p.v) {
			return
		}
	}
	most := line[len(line)-1].v.LagMax.Or(0)
	for i := range line {
		p := &line[i].v
		p.Lag = core.Read(core.Round3(max(0, p.Lag.Or(0)-p.LagMax.Or(0))))
	}
	// What was observed before it was seen to be stuck was no full load.
	s.apart[v.ID] = true
	s.notes[v.ID] = fmt.Sprintf("%s records wait in front of one subtask that is not busy: more subtasks cannot help, they are left out", core.Decimal(core.Read(most)))
}

func (s *state) stuck(v core.VertexSample) bool {
	all, ok1 := v.Lag.Value()
	most, ok2 := v.LagMax.Value()
	busy, ok3 := v.BusyMax.Value()
	back, ok4 := v.BackPressure.Value()
	rate, ok5 := v.InPerSecond.Value()
	return ok1 && ok2 && ok3 && ok4 && ok5 && all > 0 && rate > 0 && most >= stuckShare*all &&
		busy < s.in.Policy.UtilizationTarget*1000 && back < freeMs &&
		most > float64(seconds(s.in.Policy.ObservedLagThreshold)*rate)
}
