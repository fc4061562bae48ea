package share

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	// PriorityStep is how much earlier a request counts per point of priority.
	// With priorities from MinPriority to MaxPriority nobody is put off by more
	// than 20 minutes against one who came later.
	PriorityStep = time.Minute
	MinPriority  = -10
	MaxPriority  = 10
	// ReserveAfter is how long a request may be passed by smaller ones behind it.
	// It is long enough that slots do not lie idle for a rescale that takes a
	// minute, and shorter than the time that a saga waits.
	ReserveAfter = 5 * time.Minute
	// AwayFor is how long the place of a job is kept that stopped waiting and
	// means to ask again: it looks anew and decides anew meanwhile.
	AwayFor = 5 * time.Minute
	// KeepFor is how long a job counts that says nothing: one that was taken away
	// must not hold its slots for ever.
	KeepFor = 24 * time.Hour
	// DefaultLease is how long a lease lasts without being renewed.
	DefaultLease = 10 * time.Minute
)

// Bounds of the state. With the longest names and ids that a job can have it
// stays below 2 MiB of JSON, the most that a payload may be; 500 usual jobs need
// 300 KB.
const (
	MaxRequests = 500
	MaxJobs     = 1000
)

// ID is the id of the workflow that shares a cluster's slots.
func ID(cluster string) string { return "flink-slots/" + cluster }

// Limits are what the jobs of a cluster have together. 0 is no limit.
type Limits struct {
	// Slots is how many slots they may hold.
	Slots int `json:"slots,omitempty"`
	// Rescales is how many of them may grow at once.
	Rescales int `json:"rescales,omitempty"`
	// Lease is how long a lease lasts without being renewed.
	Lease time.Duration `json:"lease,omitempty"`
}

// On is true when something is limited.
func (l Limits) On() bool { return l.Slots > 0 || l.Rescales > 0 }

func (l Limits) lease() time.Duration {
	if l.Lease <= 0 {
		return DefaultLease
	}
	return l.Lease
}

// Request is a job that waits.
type Request struct {
	Job        string `json:"job"`
	DecisionID string `json:"decision"`
	// ReplyTo is whom to answer; it means nothing here.
	ReplyTo string `json:"replyTo,omitempty"`
	// Held is how many slots the job has, Slots how many it wants besides.
	Held     int `json:"held"`
	Slots    int `json:"slots"`
	Priority int `json:"priority,omitempty"`
	// Since is when the job began to wait, Seen when it last asked.
	Since time.Time `json:"since"`
	Seen  time.Time `json:"seen"`
	// Away is true when the job stopped waiting and means to ask again: its
	// place is kept for AwayFor.
	Away bool `json:"away,omitempty"`
}

// rank is when a request counts as made.
func (r Request) rank() time.Time {
	return r.Since.Add(-time.Duration(r.Priority) * PriorityStep)
}

// before is the order of the queue. It depends on nothing but the requests, so
// that the order in which simultaneous ones come in does not matter.
func before(a, b Request) int {
	return cmp.Or(a.rank().Compare(b.rank()), a.Since.Compare(b.Since), strings.Compare(a.Job, b.Job))
}

// Lease is a job that grows.
type Lease struct {
	Job        string `json:"job"`
	DecisionID string `json:"decision"`
	ReplyTo    string `json:"replyTo,omitempty"`
	// Held is how many slots the job had, Slots how many it may take besides.
	Held  int       `json:"held"`
	Slots int       `json:"slots"`
	Since time.Time `json:"since"`
	// Asked is since when the job had waited for it, zero for one that did not.
	Asked time.Time `json:"asked,omitzero"`
	// InUse is true once it was renewed: a rescale has it, not only the job.
	InUse bool `json:"inUse,omitempty"`
	// Until is when it ends unless it is renewed.
	Until time.Time `json:"until"`
}

// Use is what a job last said that it holds.
type Use struct {
	Job  string    `json:"job"`
	Held int       `json:"held"`
	At   time.Time `json:"at"`
	// Done is the last decision of the job that is over: it is not granted again.
	Done string `json:"done,omitempty"`
}

// State is all that is known of a cluster. Leases and Uses are sorted by job and
// have one entry per job at most; Queue is in the order of granting and has one
// entry per job at most.
type State struct {
	Limits Limits    `json:"limits"`
	Leases []Lease   `json:"leases,omitempty"`
	Queue  []Request `json:"queue,omitempty"`
	Uses   []Use     `json:"uses,omitempty"`
}

// SetLimits takes other limits. Nobody loses a lease by it.
func (s *State) SetLimits(l Limits) { s.Limits = l }

// Empty is true when nobody grows and nobody waits.
func (s *State) Empty() bool { return len(s.Leases) == 0 && len(s.Queue) == 0 }

// Used is how many slots count as taken: what jobs said that they hold, and
// where one grows the most that it may come to.
func (s *State) Used() int {
	total := 0
	for _, u := range s.Uses {
		total += s.taken(u.Job)
	}
	return total
}

// taken is how many slots count for a job. Each job with a lease or a request
// has a use.
func (s *State) taken(job string) int {
	n := 0
	if i, ok := s.use(job); ok {
		n = s.Uses[i].Held
	}
	if i, ok := s.lease(job); ok {
		n = max(n, s.Leases[i].Held+s.Leases[i].Slots)
	}
	return n
}

func (s *State) use(job string) (int, bool) {
	return slices.BinarySearchFunc(s.Uses, job, func(u Use, job string) int { return strings.Compare(u.Job, job) })
}

func (s *State) lease(job string) (int, bool) {
	return slices.BinarySearchFunc(s.Leases, job, func(l Lease, job string) int { return strings.Compare(l.Job, job) })
}

func (s *State) waiting(job string) (int, bool) {
	i := slices.IndexFunc(s.Queue, func(r Request) bool { return r.Job == job })
	return i, i >= 0
}

func (s *State) dropLease(job string) {
	if i, ok := s.lease(job); ok {
		s.Leases = slices.Delete(s.Leases, i, i+1)
	}
}

func (s *State) dropRequest(job string) {
	if i, ok := s.waiting(job); ok {
		s.Queue = slices.Delete(s.Queue, i, i+1)
	}
}

// report notes what a job holds. Where there are too many jobs, the one that
// said nothing for the longest time and neither grows nor waits is forgotten.
func (s *State) report(job string, held int, now time.Time) {
	held = max(held, 0)
	if i, ok := s.waiting(job); ok {
		s.Queue[i].Held = held
	}
	i, ok := s.use(job)
	if ok {
		s.Uses[i].Held, s.Uses[i].At = held, now
		return
	}
	if len(s.Uses) >= MaxJobs && !s.forgetOne() {
		return
	}
	i, _ = s.use(job)
	s.Uses = slices.Insert(s.Uses, i, Use{Job: job, Held: held, At: now})
}

func (s *State) busy(job string) bool {
	_, grows := s.lease(job)
	_, waits := s.waiting(job)
	return grows || waits
}

func (s *State) forgetOne() bool {
	oldest := -1
	for i, u := range s.Uses {
		if !s.busy(u.Job) && (oldest < 0 || u.At.Before(s.Uses[oldest].At)) {
			oldest = i
		}
	}
	if oldest < 0 {
		return false
	}
	s.Uses = slices.Delete(s.Uses, oldest, oldest+1)
	return true
}
