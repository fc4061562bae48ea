package stabilize

import (
	"math"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// notYet stands for a restart that was not seen yet.
const notYet = time.Duration(math.MinInt64)

// AsReleased takes in what the release would know of restarts at a look at the
// job, which is in RUNNING since running. Without quirks it does nothing.
func (b *Book) AsReleased(running time.Time, t core.Topology) {
	if !b.p.Quirks.Has(policy.QuirkRestarts) {
		return
	}
	b.memory.Restarts = NewestRestarts(b.memory.Restarts, b.now.Add(-b.p.HistoryMaxAge), b.p.HistoryMaxCount)
	n := len(b.memory.Restarts)
	if n == 0 || b.memory.Restarts[n-1].Took != notYet {
		return
	}
	last := &b.memory.Restarts[n-1]
	for _, h := range b.memory.Changes {
		for _, c := range h.Changes {
			if v, _ := t.Find(h.ID); c.At.Equal(last.At) && v.Parallelism != c.To {
				return
			}
		}
	}
	last.Took = running.Sub(last.At)
}

// restartAsReleased is the longest restart of all that were seen.
func restartAsReleased(restarts []core.Restart, p policy.Policy) time.Duration {
	var seen []core.Restart
	for _, r := range restarts {
		// What took less than nothing was the restart of another decision.
		if r.Took != notYet && r.Took >= 0 {
			seen = append(seen, r)
		}
	}
	return JavaRestart(seen, p)
}

// plan is the true rate that the size of a vertex was chosen for.
func plan(v core.VertexDecision, p policy.Policy) core.Reading {
	return v.TrueRate.Map(func(rate float64) float64 {
		factor := v.Capacity.Or(0) / rate
		factor = min(max(factor, 1-p.ScaleDownMaxFactor), 1+p.ScaleUpMaxFactor)
		return core.Round3(rate * factor)
	})
}

// judgeAsReleased judges the last change that was decided, whatever came of it,
// by the rate that was planned with, at the first look.
func judgeAsReleased(h core.VertexHistory, v core.VertexDecision, p policy.Policy) *core.Effect {
	n := len(h.Changes)
	if v.Wanted <= v.From || n == 0 {
		return nil
	}
	c := h.Changes[n-1]
	if c.To != v.From || c.To <= c.From {
		return nil
	}
	before, planned, now := number(c.TrueRate), number(c.Planned), number(v.TrueRate)
	if gain, expected := now-before, planned-before; !(gain/expected >= p.EffectivenessThreshold) {
		return &core.Effect{ExpectedGain: expected, Gain: gain, Blocks: p.EffectivenessDetection}
	}
	return nil
}

// number reads a true rate, which is without bound where it has none.
func number(r core.Reading) float64 { return r.Or(math.Inf(1)) }
