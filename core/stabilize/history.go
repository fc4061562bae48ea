package stabilize

import (
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// mostChanges bounds the changes that are remembered of a whole job, whatever
// history.max.count says (I10): memory travels with every decision. A job of
// 300 vertices keeps 3 of each. leastChanges is what each may keep in any case,
// the default of history.max.count.
const (
	mostChanges  = 900
	leastChanges = 3
)

// Record adds the changes of a decision to what is remembered of each vertex,
// and drops what is too old or too much. A decision that holds adds nothing.
func Record(changes []core.VertexHistory, d core.Decision, now time.Time, p policy.Policy) []core.VertexHistory {
	out := slices.Clone(changes)
	if d.Verdict == core.Change {
		for _, v := range d.Vertices {
			if v.To != v.From {
				c := core.Scaled{At: now, DecisionID: d.ID, From: v.From, To: v.To, TrueRate: v.TrueRate}
				if p.Quirks.Has(policy.QuirkEffect) {
					c.Planned, c.Got = plan(v, p), v.To
				}
				out = add(out, v.ID, c)
			}
		}
	}
	return Trim(out, now, p)
}

// add appends a change to the history of its vertex.
func add(changes []core.VertexHistory, id string, c core.Scaled) []core.VertexHistory {
	i, ok := slices.BinarySearchFunc(changes, id, byID)
	if !ok {
		changes = slices.Insert(changes, i, core.VertexHistory{ID: id})
	}
	changes[i].Changes = append(slices.Clone(happened(changes[i].Changes, c.From)), c)
	return changes
}

func byID(h core.VertexHistory, id string) int { return strings.Compare(h.ID, id) }

// happened gives the changes of a vertex without the last ones that never came
// to be, judged by the size at which it runs now. A decision is not always
// carried out, and one that was not never gets an outcome. The Java autoscaler
// keeps them all, so that repeated decisions fill its history with copies.
func happened(changes []core.Scaled, size int) []core.Scaled {
	n := len(changes)
	for n > 0 && neverRan(changes[n-1], size) {
		n--
	}
	return changes[:n]
}

// neverRan is true for a change without an outcome that left its vertex where
// it was.
func neverRan(c core.Scaled, size int) bool { return c.Got == 0 && c.From == size }

// Trim drops the changes from before history.max.age, one of exactly that age
// stays, and then all but the newest history.max.count of each vertex.
func Trim(changes []core.VertexHistory, now time.Time, p policy.Policy) []core.VertexHistory {
	from := now.Add(-p.HistoryMaxAge)
	most := min(p.HistoryMaxCount, max(leastChanges, mostChanges/max(1, len(changes))))
	var out []core.VertexHistory
	for _, h := range changes {
		var kept []core.Scaled
		for _, c := range h.Changes {
			if !c.At.Before(from) {
				kept = append(kept, c)
			}
		}
		if kept = kept[max(0, len(kept)-most):]; len(kept) > 0 {
			out = append(out, core.VertexHistory{ID: h.ID, Changes: kept})
		}
	}
	return out
}

// Retain forgets the vertices that the job no longer has.
func Retain(changes []core.VertexHistory, t core.Topology) []core.VertexHistory {
	var out []core.VertexHistory
	for _, h := range changes {
		if _, ok := t.Find(h.ID); ok {
			out = append(out, h)
		}
	}
	return out
}

// Find gives the history of a vertex, an empty one where there is none.
func Find(changes []core.VertexHistory, id string) core.VertexHistory {
	if i, ok := slices.BinarySearchFunc(changes, id, byID); ok {
		return changes[i]
	}
	return core.VertexHistory{ID: id}
}
