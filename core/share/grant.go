package share

import (
	"fmt"
	"slices"
	"time"
)

// Why says why a job waits.
type Why string

// The reasons.
const (
	// WhyNever: it asks for more than the limit; only another limit helps.
	WhyNever Why = "above-limit"
	// WhySlots: so many slots are not free.
	WhySlots Why = "no-slots"
	// WhyRescales: as many grow as may.
	WhyRescales Why = "rescales-at-limit"
	// WhyBehind: there is enough, but it is kept for one that waited long.
	WhyBehind Why = "reserved"
	// WhyAway: it stopped waiting; its place is kept for a while.
	WhyAway Why = "away"
	// WhyNext: nothing is in its way.
	WhyNext Why = "next"
)

// Place is where a job stands in the queue, and why it waits.
type Place struct {
	Job        string `json:"job"`
	DecisionID string `json:"decision"`
	// Place counts from 1, Of is the length of the queue.
	Place int `json:"place"`
	Of    int `json:"of"`
	Why   Why `json:"why"`
	// Note is a sentence for people.
	Note     string    `json:"note"`
	Slots    int       `json:"slots"`
	Priority int       `json:"priority,omitempty"`
	Since    time.Time `json:"since"`
	// Reserved is true when nobody behind it may pass it any more.
	Reserved bool `json:"reserved,omitempty"`
}

// Grants gives leases to those who may grow now, and takes them out of the
// queue.
func (s *State) Grants(now time.Time) []Lease {
	var out []Lease
	for _, p := range s.judge(now) {
		if p.Why != WhyNext {
			continue
		}
		i, _ := s.waiting(p.Job)
		r := s.Queue[i]
		l := Lease{Job: r.Job, DecisionID: r.DecisionID, ReplyTo: r.ReplyTo, Held: r.Held, Slots: r.Slots, Since: now, Asked: r.Since, Until: now.Add(s.Limits.lease())}
		s.dropRequest(r.Job)
		at, _ := s.lease(r.Job)
		s.Leases = slices.Insert(s.Leases, at, l)
		out = append(out, l)
	}
	return out
}

// Place is the place of a job in the queue; false when it does not wait.
func (s *State) Place(job string, now time.Time) (Place, bool) {
	i, ok := s.waiting(job)
	if !ok {
		return Place{}, false
	}
	return s.judge(now)[i], true
}

// Places are all who wait, the next first.
func (s *State) Places(now time.Time) []Place { return s.judge(now) }

// round is one walk through the queue, from the front.
type round struct {
	Limits

	// free is how many slots nobody has or was promised in this walk.
	free int
	// growing is how many grow or were promised to.
	growing int
	// keeper is the job for which all that is free is kept, empty for none.
	keeper string
}

// judge says of each in the queue whether it may grow now, or why not.
func (s *State) judge(now time.Time) []Place {
	w := round{Limits: s.Limits, free: s.Limits.Slots - s.Used(), growing: len(s.Leases)}
	out := make([]Place, 0, len(s.Queue))
	for i, r := range s.Queue {
		p := Place{Job: r.Job, DecisionID: r.DecisionID, Place: i + 1, Of: len(s.Queue), Slots: r.Slots, Priority: r.Priority, Since: r.Since}
		p.Why, p.Note = w.step(r)
		p.Reserved = p.Why != WhyNever && !now.Before(r.Since.Add(ReserveAfter))
		switch {
		case p.Why == WhyNext:
			w.free -= r.Slots
			w.growing++
		case p.Reserved && w.keeper == "":
			w.keeper = r.Job
		}
		out = append(out, p)
	}
	return out
}

func (w round) step(r Request) (Why, string) {
	switch {
	case w.Slots > 0 && r.Slots > 0 && r.Held+r.Slots > w.Slots:
		return WhyNever, fmt.Sprintf("has %d slots and asks for %d more, the limit for all jobs is %d", r.Held, r.Slots, w.Slots)
	case r.Away:
		return WhyAway, "does not wait at present; its place is kept while it decides anew"
	case w.keeper != "":
		return WhyBehind, fmt.Sprintf("what becomes free is kept for %s, which has waited for long in front", w.keeper)
	case w.Rescales > 0 && w.growing >= w.Rescales:
		return WhyRescales, fmt.Sprintf("%d jobs grow, the limit is %d at once", w.growing, w.Rescales)
	case w.Slots > 0 && r.Slots > max(w.free, 0):
		return WhySlots, fmt.Sprintf("asks for %d slots, %d of %d are free", r.Slots, max(w.free, 0), w.Slots)
	}
	return WhyNext, "is next"
}
