package stabilize

import (
	"math"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// Delays holds the scale-downs that wait, while a decision is made.
type Delays struct {
	vertices []core.DelayedDown
}

// Load copies what decisions remember.
func Load(m core.Memory) *Delays {
	d := &Delays{}
	for _, v := range m.Delayed {
		v.Entries = slices.Clone(v.Entries)
		d.vertices = append(d.vertices, v)
	}
	return d
}

// Store gives the scale-downs that wait, sorted by vertex id, nil for none.
func (d *Delays) Store() []core.DelayedDown { return d.vertices }

func (d *Delays) find(id string) (int, bool) {
	return slices.BinarySearchFunc(d.vertices, id, func(v core.DelayedDown, id string) int { return strings.Compare(v.ID, id) })
}

// Record notes that a vertex could be smaller now. A new entry takes the place
// of those that wanted as little or less.
func (d *Delays) Record(id string, e core.DelayedEntry) core.DelayedDown {
	i, ok := d.find(id)
	if !ok {
		d.vertices = slices.Insert(d.vertices, i, core.DelayedDown{ID: id, First: e.At})
	}
	v := &d.vertices[i]
	for n := len(v.Entries); n > 0 && v.Entries[n-1].Parallelism <= e.Parallelism; n-- {
		v.Entries = v.Entries[:n-1]
	}
	v.Entries = thin(append(v.Entries, e), max(leastWishes, mostWishes/len(d.vertices)))
	return *v
}

// mostWishes bounds the entries of a whole job (I10): a load that falls all
// through a long delay leaves one entry a cycle and vertex. leastWishes is what
// each vertex may keep in any case.
const (
	mostWishes  = 3000
	leastWishes = 8
)

// thin brings entries down to so many by letting the larger of two neighbours
// stand for both until the later of their times: for a moment longer a vertex
// stays larger, never smaller. Those closest in time go first; the newest
// stays.
func thin(entries []core.DelayedEntry, most int) []core.DelayedEntry {
	for len(entries) > most {
		at, gap := 0, time.Duration(math.MaxInt64)
		for i := range len(entries) - 2 {
			if g := entries[i+1].At.Sub(entries[i].At); g < gap {
				at, gap = i, g
			}
		}
		entries[at].At = entries[at+1].At
		entries = slices.Delete(entries, at+1, at+2)
	}
	return entries
}

// Largest drops the entries of a vertex from before a time and gives the
// largest that is left. There is none when the newest entry is older.
func (d *Delays) Largest(id string, from time.Time) (core.DelayedEntry, bool) {
	i, ok := d.find(id)
	if !ok {
		return core.DelayedEntry{}, false
	}
	v := &d.vertices[i]
	for len(v.Entries) > 0 && v.Entries[0].At.Before(from) {
		v.Entries = v.Entries[1:]
	}
	if len(v.Entries) == 0 {
		return core.DelayedEntry{}, false
	}
	return v.Entries[0], true
}

// Clear forgets a vertex: it does not want to be smaller any more.
func (d *Delays) Clear(id string) {
	if i, ok := d.find(id); ok {
		d.vertices = slices.Delete(d.vertices, i, i+1)
	}
	if len(d.vertices) == 0 {
		d.vertices = nil
	}
}

// ClearAll forgets all: a change is about to be made.
func (d *Delays) ClearAll() { d.vertices = nil }

// Retain forgets the vertices that the job no longer has.
func (d *Delays) Retain(t core.Topology) {
	d.vertices = slices.DeleteFunc(d.vertices, func(v core.DelayedDown) bool {
		_, ok := t.Find(v.ID)
		return !ok
	})
	if len(d.vertices) == 0 {
		d.vertices = nil
	}
}

// Freeze moves the entries of each vertex on by the time in which it was not
// judged: where the newest entry is older than longest, all are moved so that
// it is one cycle old.
func (d *Delays) Freeze(now time.Time, cycle, longest time.Duration) {
	for i := range d.vertices {
		v := &d.vertices[i]
		if len(v.Entries) == 0 {
			continue
		}
		gap := now.Sub(v.Entries[len(v.Entries)-1].At)
		if gap <= longest {
			continue
		}
		shift := gap - cycle
		v.First = v.First.Add(shift)
		for j := range v.Entries {
			v.Entries[j].At = v.Entries[j].At.Add(shift)
		}
	}
}

// Result is what the delay makes of a wish to be smaller.
type Result struct {
	// To is the size now, Outside whether the vertex was out of bounds when
	// that size was wanted.
	To      int
	Outside bool
	// Ready is when the delay is over, if it is what keeps the size.
	Ready time.Time
}

// Down takes in that a vertex at parallelism from could be smaller, and says
// what it may become now.
func (d *Delays) Down(id string, from int, wish core.DelayedEntry, delay time.Duration) Result {
	if delay <= 0 {
		return Result{To: wish.Parallelism, Outside: wish.Outside}
	}
	v := d.Record(id, wish)
	start := wish.At.Add(-delay)
	if start.Before(v.First) {
		return Result{To: from, Outside: wish.Outside, Ready: v.First.Add(delay)}
	}
	e, ok := d.Largest(id, start)
	if !ok || e.Parallelism >= from {
		return Result{To: from, Outside: wish.Outside, Ready: e.At.Add(delay)}
	}
	return Result{To: e.Parallelism, Outside: e.Outside}
}
