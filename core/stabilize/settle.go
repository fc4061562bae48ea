package stabilize

import (
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// longestRestart is the longest time to run again that is taken for the cost
// of a restart. What takes longer waited for something else, such as slots.
const longestRestart = time.Hour

// Learn takes the outcome of the last rescale in, once, nil for none: into what
// is remembered of sizes and restarts, the budget, what is in force, the sizes
// that failed, and the trial of the change. It needs no evidence and comes first,
// since a job that is down after a change shows none.
func Learn(m core.Memory, o *core.Outcome, now time.Time, p policy.Policy) core.Memory {
	if o == nil || o.Attempt == m.Settled {
		return m
	}
	out := Try(Claim(Spend(Settle(m, o), *o), *o), *o)
	out.Bad = MarkBad(out.Bad, *o, now)
	out = Displaced(out, *o)
	if p.Quirks.Has(policy.QuirkEffect) {
		out.Changes = m.Changes
	}
	if p.Quirks.Has(policy.QuirkRestarts) {
		out.Restarts = m.Restarts
	}
	return out
}

// Settle takes the outcome of the last rescale in, once: the sizes that were
// reached, and how long it kept the job from running. The memory given is not
// changed in place.
func Settle(m core.Memory, o *core.Outcome) core.Memory {
	if o == nil || o.Attempt == m.Settled {
		return m
	}
	m.Settled = o.Attempt
	m.Changes = reach(m.Changes, *o)
	if r, ok := restartOf(*o); ok {
		m.Restarts = addRestart(m.Restarts, r)
	}
	return m
}

// reach notes the sizes that the changes of one decision came to, and drops
// those that came to nothing.
func reach(changes []core.VertexHistory, o core.Outcome) []core.VertexHistory {
	var out []core.VertexHistory
	for _, h := range changes {
		var kept []core.Scaled
		for _, c := range h.Changes {
			if c.DecisionID == o.DecisionID {
				c.Got = reached(h.ID, c, o)
				if c.Got == 0 {
					continue
				}
			}
			kept = append(kept, c)
		}
		if len(kept) > 0 {
			out = append(out, core.VertexHistory{ID: h.ID, Changes: kept})
		}
	}
	return out
}

// reached is the size that a change of a vertex came to, 0 when the vertex
// still is, or again is, where it was: that is no change to learn from.
func reached(id string, c core.Scaled, o core.Outcome) int {
	got, shown := core.FindSize(o.Got, id)
	switch o.Kind {
	case core.Applied, core.Partial:
		if !shown {
			got = c.To
		}
	case core.Failed:
		// The job is not well, but Flink may have changed it all the same.
	case core.Rejected, core.Undone:
		return 0
	}
	if got < 1 || got == c.From {
		return 0
	}
	return got
}

// restartOf is how long a rescale kept the job from running. There is none
// when nothing restarted: Flink then shows a time from before the rescale.
func restartOf(o core.Outcome) (core.Restart, bool) {
	if o.Kind != core.Applied && o.Kind != core.Partial || o.WrittenAt.IsZero() || o.RunningAt.IsZero() {
		return core.Restart{}, false
	}
	took := o.RunningAt.Sub(o.WrittenAt)
	return core.Restart{At: o.RunningAt, Took: took}, took > 0 && took <= longestRestart
}

// addRestart appends a restart, unless it is the newest already.
func addRestart(restarts []core.Restart, r core.Restart) []core.Restart {
	if n := len(restarts); n > 0 && restarts[n-1].At.Equal(r.At) {
		return restarts
	}
	out := append(slices.Clone(restarts), r)
	return out[max(0, len(out)-mostRestarts):]
}
