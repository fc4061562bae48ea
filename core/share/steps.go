package share

import (
	"slices"
	"time"
)

// Answer is what comes of a request.
type Answer string

// The answers.
const (
	// Queued: it waits, Place says where; Grants says whether it is next.
	Queued Answer = "queued"
	// Granted: it has its lease already.
	Granted Answer = "granted"
	// Over: that decision has ended, nothing is given for it.
	Over Answer = "over"
	// Full: too many wait already; ask again later.
	Full Answer = "full"
	// Growing: a rescale of the job has a lease of another decision; ask again
	// when that has ended.
	Growing Answer = "growing"
)

// Request puts a job into the queue. A job has one request: a new decision takes
// the place of the one before and keeps the time since when the job waits. So it
// does with a lease that no rescale uses yet: the job decided anew before it
// could begin.
func (s *State) Request(r Request, now time.Time) Answer {
	r.Held, r.Slots, r.Priority = max(r.Held, 0), max(r.Slots, 0), min(max(r.Priority, MinPriority), MaxPriority)
	r.Since, r.Seen, r.Away = now, now, false
	if i, ok := s.use(r.Job); ok && s.Uses[i].Done == r.DecisionID {
		return Over
	}
	if i, ok := s.lease(r.Job); ok && s.Leases[i].DecisionID == r.DecisionID {
		s.Leases[i].Until, s.Leases[i].ReplyTo = now.Add(s.Limits.lease()), r.ReplyTo
		return Granted
	}
	if i, ok := s.lease(r.Job); ok {
		if s.Leases[i].InUse {
			return Growing
		}
		s.requeue(i, now)
	}
	i, waits := s.waiting(r.Job)
	if !waits && len(s.Queue)+len(s.Leases) >= MaxRequests {
		return Full
	}
	if waits {
		r.Since = s.Queue[i].Since
		s.dropRequest(r.Job)
	}
	s.report(r.Job, r.Held, now)
	s.enqueue(r)
	return Queued
}

func (s *State) enqueue(r Request) {
	at, _ := slices.BinarySearchFunc(s.Queue, r, before)
	s.Queue = slices.Insert(s.Queue, at, r)
}

// requeue makes a lease a request again, in the place that it had.
func (s *State) requeue(i int, now time.Time) {
	l := s.Leases[i]
	s.dropLease(l.Job)
	r := Request{Job: l.Job, DecisionID: l.DecisionID, ReplyTo: l.ReplyTo, Held: l.Held, Slots: l.Slots, Since: l.Asked, Seen: now}
	if r.Since.IsZero() {
		r.Since = now
	}
	s.enqueue(r)
}

// Renew keeps a lease that a rescale uses, and notes what the job holds now. Who
// needs less than was given leaves the rest to others. A lease that is not known
// is taken up again, above the limit too: the job does grow, whatever was
// forgotten. A request counts as asked again.
func (s *State) Renew(l Lease, now time.Time) {
	l.Held, l.Slots = max(l.Held, 0), max(l.Slots, 0)
	if i, ok := s.waiting(l.Job); ok {
		if s.Queue[i].DecisionID == l.DecisionID {
			s.Queue[i].Seen = now
		}
		return
	}
	if i, ok := s.use(l.Job); ok && s.Uses[i].Done == l.DecisionID {
		return
	}
	i, ok := s.lease(l.Job)
	switch {
	case ok && s.Leases[i].DecisionID == l.DecisionID:
		k := &s.Leases[i]
		k.Until, k.InUse = now.Add(s.Limits.lease()), true
		k.Slots = min(k.Slots, max(l.Held+l.Slots-k.Held, 0))
	case !ok && len(s.Queue)+len(s.Leases) < MaxRequests:
		l.Since, l.Until, l.InUse = now, now.Add(s.Limits.lease()), true
		s.Leases = slices.Insert(s.Leases, i, l)
	default:
		return
	}
	s.report(l.Job, l.Held, now)
}

// Release ends a lease or a request, and notes what the job holds then. It is
// also how a job says what it holds. again keeps the place in the queue for a
// while: the job will ask anew.
func (s *State) Release(job, decision string, held int, again bool, now time.Time) {
	if i, ok := s.lease(job); ok && again && s.Leases[i].DecisionID == decision && !s.Leases[i].InUse {
		s.requeue(i, now)
	}
	if i, ok := s.waiting(job); ok && s.Queue[i].DecisionID == decision {
		if again {
			s.Queue[i].Away, s.Queue[i].Seen = true, now
		} else {
			s.dropRequest(job)
		}
	}
	if i, ok := s.lease(job); ok && s.Leases[i].DecisionID == decision {
		s.dropLease(job)
	}
	s.report(job, held, now)
	if i, ok := s.use(job); ok {
		s.Uses[i].Done = decision
	}
}

// Lost ends a lease or a request whose owner cannot be reached, and says whether
// there was one. What the job holds is not known better by it. A rescale that
// has the lease needs nobody who is told.
func (s *State) Lost(job, decision string) bool {
	if i, ok := s.waiting(job); ok && s.Queue[i].DecisionID == decision {
		s.dropRequest(job)
		return true
	}
	if i, ok := s.lease(job); ok && s.Leases[i].DecisionID == decision && !s.Leases[i].InUse {
		s.dropLease(job)
		return true
	}
	return false
}

// Ended is what ended by itself.
type Ended struct {
	Job        string `json:"job"`
	DecisionID string `json:"decision,omitempty"`
	// What is "lease", "request" or "job".
	What string `json:"what"`
}

// Expire ends what was not renewed: leases, requests that nobody repeats,
// places that were kept in vain, and jobs that said nothing for KeepFor.
func (s *State) Expire(now time.Time) []Ended {
	var out []Ended
	s.Leases = slices.DeleteFunc(s.Leases, func(l Lease) bool {
		over := !now.Before(l.Until)
		if over {
			out = append(out, Ended{l.Job, l.DecisionID, "lease"})
		}
		return over
	})
	s.Queue = slices.DeleteFunc(s.Queue, func(r Request) bool {
		over := !now.Before(s.requestEnds(r))
		if over {
			out = append(out, Ended{r.Job, r.DecisionID, "request"})
		}
		return over
	})
	s.Uses = slices.DeleteFunc(s.Uses, func(u Use) bool {
		over := !now.Before(u.At.Add(KeepFor)) && !s.busy(u.Job)
		if over {
			out = append(out, Ended{Job: u.Job, What: "job"})
		}
		return over
	})
	return out
}

func (s *State) requestEnds(r Request) time.Time {
	if r.Away {
		return r.Seen.Add(AwayFor)
	}
	return r.Seen.Add(s.Limits.lease())
}

// Next is the next time at which something changes by itself: something ends, or
// a request is not passed any more. Zero for never.
func (s *State) Next(now time.Time) time.Time {
	var next time.Time
	at := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, l := range s.Leases {
		at(l.Until)
	}
	for _, r := range s.Queue {
		at(s.requestEnds(r))
		at(r.Since.Add(ReserveAfter))
	}
	for _, u := range s.Uses {
		at(u.At.Add(KeepFor))
	}
	return next
}
