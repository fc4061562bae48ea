package stabilize

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
)

// How long a size is not tried again at which the job failed: a quarter of an
// hour at first, since what was wrong may well have been something else; twice
// as long each time that it is confirmed, up to a day.
const (
	firstBad   = 15 * time.Minute
	longestBad = 24 * time.Hour
)

// mostBad bounds the sizes that are remembered, mostBadVertices the vertices of
// all of them (I10).
const (
	mostBad         = 8
	mostBadVertices = 600
)

// MarkBad remembers the size that a rescale showed to be no good: one that was
// undone, or after which the job was not well. Others change nothing.
func MarkBad(bad []core.BadSize, o core.Outcome, now time.Time) []core.BadSize {
	from, failed, ok := badOf(o)
	if !ok {
		return bad
	}
	mark := core.BadSize{DecisionID: o.DecisionID, For: firstBad}
	for _, v := range failed {
		before, known := core.FindSize(from, v.ID)
		switch {
		case !known || before == v.Parallelism:
		case before < v.Parallelism:
			mark.Above = append(mark.Above, v)
		default:
			mark.Below = append(mark.Below, v)
		}
	}
	if len(mark.Above)+len(mark.Below) == 0 {
		return bad
	}
	var out []core.BadSize
	for _, b := range bad {
		if !sameVertices(b, mark) {
			out = append(out, b)
			continue
		}
		mark.For = min(2*b.For, longestBad)
		closer(mark.Above, b.Above, func(a, b int) bool { return b < a })
		closer(mark.Below, b.Below, func(a, b int) bool { return b > a })
	}
	mark.Until = now.Add(mark.For)
	return boundBad(append(out, mark))
}

// badOf gives the size before and the one that failed. An undo that was a
// change of its own shows that the size before it failed.
func badOf(o core.Outcome) (from, failed []core.VertexSize, ok bool) {
	switch {
	case o.Cause == core.ReasonUndo && !o.WrittenAt.IsZero():
		return o.Wanted, o.From, true
	case o.Kind == core.Undone, o.Kind == core.Failed && o.Undo != nil:
		return o.From, o.Wanted, true
	}
	return nil, nil, false
}

func sameVertices(a, b core.BadSize) bool {
	same := func(x, y []core.VertexSize) bool {
		return slices.EqualFunc(x, y, func(v, w core.VertexSize) bool { return v.ID == w.ID })
	}
	return same(a.Above, b.Above) && same(a.Below, b.Below)
}

// closer takes the size that is nearer to what was well, of two that failed.
func closer(marks, before []core.VertexSize, nearer func(a, b int) bool) {
	for i := range marks {
		if nearer(marks[i].Parallelism, before[i].Parallelism) {
			marks[i].Parallelism = before[i].Parallelism
		}
	}
}

func boundBad(bad []core.BadSize) []core.BadSize {
	n, first := 0, len(bad)
	for first > 0 && len(bad)-first < mostBad {
		n += len(bad[first-1].Above) + len(bad[first-1].Below)
		if n > mostBadVertices && first < len(bad) {
			break
		}
		first--
	}
	return bad[first:]
}

// TrimBad forgets what is of no use any more: a mark is remembered for a day after
// it forbade anything, so that a second failure is seen as one although a
// scale-down waits longer than the first marks last. What belongs to a vertex
// that is gone was of another job.
func TrimBad(bad []core.BadSize, t core.Topology, now time.Time) []core.BadSize {
	var out []core.BadSize
	for _, b := range bad {
		gone := func(v core.VertexSize) bool { _, ok := t.Find(v.ID); return !ok }
		if now.Before(b.Until.Add(longestBad)) && !slices.ContainsFunc(b.Above, gone) && !slices.ContainsFunc(b.Below, gone) {
			out = append(out, b)
		}
	}
	return out
}

// Avoid gives the size next to the wanted one at which the job has not failed,
// and why it is another; never one on the other side of the size now.
func Avoid(bad []core.BadSize, id string, from, to int, now time.Time) (int, string) {
	note := ""
	for _, b := range bad {
		if !now.Before(b.Until) {
			continue
		}
		if n, ok := core.FindSize(b.Above, id); ok && to > from && to >= n {
			to = max(from, n-1)
			note = badNote(n, b)
		}
		if n, ok := core.FindSize(b.Below, id); ok && to < from && to <= n {
			to = min(from, n+1)
			note = badNote(n, b)
		}
	}
	return to, note
}

func badNote(n int, b core.BadSize) string {
	return fmt.Sprintf("the job was not well at %d after decision %s; tried again at %s", n, b.DecisionID, b.Until.UTC().Format("2006-01-02 15:04 UTC"))
}
