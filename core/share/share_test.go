package share

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func start() time.Time { return time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC) }

func at(d time.Duration) time.Time { return start().Add(d) }

// ask is a request of a job's first decision.
func ask(job string, held, slots, priority int) Request {
	return Request{Job: job, DecisionID: job + "-1", Held: held, Slots: slots, Priority: priority}
}

// step is something that happens at a time.
type step struct {
	after time.Duration
	do    func(s *State, now time.Time)
}

func asks(after time.Duration, r Request) step {
	return step{after, func(s *State, now time.Time) { s.Request(r, now) }}
}

func grants(after time.Duration) step {
	return step{after, func(s *State, now time.Time) { s.Expire(now); s.Grants(now) }}
}

func releases(after time.Duration, job string, held int) step {
	return step{after, func(s *State, now time.Time) { s.Release(job, job+"-1", held, false, now) }}
}

func leaves(after time.Duration, job string, held int) step {
	return step{after, func(s *State, now time.Time) { s.Release(job, job+"-1", held, true, now) }}
}

func renews(after time.Duration, job string, held int) step {
	return step{after, func(s *State, now time.Time) { s.Renew(Lease{Job: job, DecisionID: job + "-1", Held: held}, now) }}
}

// keeps renews a lease as whoever has it does: with all that it may take.
func keeps(after time.Duration, job string, held, slots int) step {
	return step{after, func(s *State, now time.Time) {
		s.Renew(Lease{Job: job, DecisionID: job + "-1", Held: held, Slots: slots}, now)
	}}
}

func limits(after time.Duration, l Limits) step {
	return step{after, func(s *State, _ time.Time) { s.SetLimits(l) }}
}

// seen is what a state comes to, short: the jobs that grow, the queue with the
// reasons, and what counts as taken.
type seen struct {
	Grow string
	Wait string
	Used int
}

func look(s *State, now time.Time) seen {
	var grow, wait []string
	for _, l := range s.Leases {
		grow = append(grow, l.Job)
	}
	for _, p := range s.Places(now) {
		wait = append(wait, p.Job+":"+string(p.Why))
	}
	return seen{strings.Join(grow, " "), strings.Join(wait, " "), s.Used()}
}

func TestWhoGrowsAndWhoWaits(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	ten := Limits{Slots: 10, Lease: 10 * m}
	for name, tt := range map[string]struct {
		reason string
		limits Limits
		steps  []step
		want   seen
	}{
		"enough for all": {"nobody waits without a need", ten, []step{asks(0, ask("a", 2, 2, 0)), asks(0, ask("b", 2, 4, 0)), grants(0)}, seen{"a b", "", 10}},
		"oldest first": {"the one that asked first gets what there is", ten, []step{asks(0, ask("b", 2, 4, 0)), asks(m, ask("a", 2, 4, 0)), grants(m)},
			seen{"b", "a:no-slots", 8}},
		"priority first": {"of two that ask at about the same time", ten, []step{asks(0, ask("a", 2, 4, 0)), asks(30*time.Second, ask("b", 2, 4, 1)), grants(m)},
			seen{"b", "a:no-slots", 8}},
		"priority is a head start, no right": {"two minutes of waiting weigh more than one point", ten,
			[]step{asks(0, ask("a", 2, 4, 0)), asks(2*m, ask("b", 2, 4, 1)), grants(2 * m)}, seen{"a", "b:no-slots", 8}},
		"a priority out of range": {"counts as the most there is", ten,
			[]step{asks(0, ask("a", 2, 4, 0)), asks(11*m, ask("b", 2, 4, 1000)), asks(11*m, ask("a", 2, 4, 0)), grants(11 * m)}, seen{"a", "b:no-slots", 8}},
		"a small one may pass for a while": {"slots should not lie idle", ten,
			[]step{asks(0, ask("a", 4, 6, 0)), asks(0, ask("b", 2, 2, 0)), grants(m)}, seen{"b", "a:no-slots", 8}},
		"not for ever": {"after five minutes what is free is kept", ten,
			[]step{asks(0, ask("a", 4, 6, 0)), renews(0, "z", 5), asks(4*m, ask("b", 0, 1, 0)), grants(5 * m)}, seen{"z", "a:no-slots b:reserved", 9}},
		"kept until it is enough": {"the large one grows as soon as it can", ten,
			[]step{asks(0, ask("a", 4, 6, 0)), renews(0, "z", 5), asks(4*m, ask("b", 0, 1, 0)), grants(5 * m), releases(6*m, "z", 0), grants(6 * m)},
			seen{"a", "b:no-slots", 10}},
		"more than there can be": {"it keeps nothing from others and says so", ten,
			[]step{asks(0, ask("a", 5, 6, 0)), asks(4*m, ask("b", 0, 1, 0)), grants(9 * m)}, seen{"b", "a:above-limit", 6}},
		"a larger limit": {"lets it grow", ten,
			[]step{asks(0, ask("a", 5, 6, 0)), grants(0), limits(m, Limits{Slots: 11, Lease: 10 * m}), grants(m)}, seen{"a", "", 11}},
		"a smaller limit": {"takes nothing away and grants nothing", ten,
			[]step{asks(0, ask("a", 2, 6, 0)), grants(0), limits(m, Limits{Slots: 4, Lease: 10 * m}), asks(m, ask("b", 0, 1, 0)), grants(m)}, seen{"a", "b:no-slots", 8}},
		"rescales at once": {"the second waits until the first is through", Limits{Rescales: 1},
			[]step{asks(0, ask("a", 1, 100, 0)), asks(0, ask("b", 1, 1, 0)), grants(0)}, seen{"a", "b:rescales-at-limit", 102}},
		"through": {"then the next one grows", Limits{Rescales: 1},
			[]step{asks(0, ask("a", 1, 100, 0)), asks(0, ask("b", 1, 1, 0)), grants(0), releases(m, "a", 101), grants(m)}, seen{"b", "", 103}},
		"got less": {"what it holds counts, not what it was given", ten,
			[]step{asks(0, ask("a", 2, 8, 0)), grants(0), asks(m, ask("b", 0, 5, 0)), releases(m, "a", 4), grants(m)}, seen{"b", "", 9}},
		"a smaller job": {"what it gives back is there for others", ten,
			[]step{releases(0, "a", 10), asks(0, ask("b", 0, 5, 0)), grants(0), releases(m, "a", 5), grants(m)}, seen{"b", "", 10}},
		"killed before it wrote": {"its lease ends, and it has what it had", ten,
			[]step{asks(0, ask("a", 2, 8, 0)), grants(0), asks(9*m, ask("b", 0, 5, 0)), grants(10 * m)}, seen{"b", "", 7}},
		"killed after it wrote": {"it counts with what it last said", ten,
			[]step{asks(0, ask("a", 2, 8, 0)), grants(0), renews(m, "a", 10), asks(10*m, ask("b", 0, 5, 0)), grants(11 * m)}, seen{"", "b:no-slots", 10}},
		"renewed": {"a lease that is renewed goes on", ten,
			[]step{asks(0, ask("a", 2, 8, 0)), grants(0), keeps(9*m, "a", 2, 8), asks(10*m, ask("b", 0, 5, 0)), grants(11 * m)}, seen{"a", "b:no-slots", 10}},
		"forgotten": {"a lease that nobody knows any more is taken up again, even above the limit", ten,
			[]step{releases(0, "b", 8), renews(0, "a", 6)}, seen{"a", "", 14}},
		"nobody asks again": {"a request is not kept for ever", ten,
			[]step{releases(0, "z", 10), asks(0, ask("a", 0, 1, 0)), grants(10 * m)}, seen{"", "", 10}},
		"asked again": {"it stays", ten,
			[]step{releases(0, "z", 10), asks(0, ask("a", 0, 1, 0)), asks(9*m, ask("a", 0, 1, 0)), grants(10 * m)}, seen{"", "a:no-slots", 10}},
		"stopped waiting for a while": {"its place is kept, and what is free with it", ten,
			[]step{asks(0, ask("a", 4, 6, 0)), renews(0, "z", 5), leaves(6*m, "a", 4), asks(6*m, ask("b", 0, 1, 0)), grants(6 * m)}, seen{"z", "a:away b:reserved", 9}},
		"did not come back": {"its place is not kept for ever", ten,
			[]step{asks(0, ask("a", 4, 6, 0)), renews(6*m, "z", 5), leaves(6*m, "a", 4), asks(6*m, ask("b", 0, 1, 0)), grants(11 * m)}, seen{"b z", "", 10}},
		"a job that is gone": {"does not hold its slots for ever", ten,
			[]step{releases(0, "a", 10), asks(24*time.Hour, ask("b", 0, 5, 0)), grants(24 * time.Hour)}, seen{"b", "", 5}},
		"another decision of the same job": {"takes the place of the one before", ten,
			[]step{releases(0, "z", 10), asks(0, ask("a", 0, 1, 0)), asks(m, Request{Job: "a", DecisionID: "a-2", Slots: 3}), releases(2*m, "z", 7), grants(2 * m)}, seen{"a", "", 10}},
		"a rescale that needs no slot": {"waits for nothing but the number of rescales", Limits{Slots: 4},
			[]step{releases(0, "z", 6), asks(0, ask("a", 0, 0, 0)), grants(0)}, seen{"a", "", 6}},
		"no limit": {"everybody grows", Limits{}, []step{asks(0, ask("a", 2, 100, 0)), asks(0, ask("b", 2, 4, 0)), grants(0)}, seen{"a b", "", 108}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := State{Limits: tt.limits}
			var now time.Time
			for _, x := range tt.steps {
				now = at(x.after)
				x.do(&s, now)
			}
			if diff := cmp.Diff(tt.want, look(&s, now)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestOneEffectPerDecision: what is sent again changes nothing, also when the
// decision is over.
func TestOneEffectPerDecision(t *testing.T) {
	t.Parallel()
	s := State{Limits: Limits{Slots: 4}}
	answers := []Answer{s.Request(ask("a", 0, 3, 0), start()), s.Request(ask("a", 0, 3, 0), at(time.Second))}
	first := s.Grants(at(time.Second))
	answers = append(answers, s.Request(ask("a", 0, 3, 0), at(2*time.Second)))
	second := s.Grants(at(2 * time.Second))
	s.Release("a", "a-1", 3, false, at(3*time.Second))
	answers = append(answers, s.Request(ask("a", 0, 3, 0), at(4*time.Second)))
	s.Renew(Lease{Job: "a", DecisionID: "a-1", Held: 3}, at(5*time.Second))
	s.Release("a", "a-1", 3, false, at(6*time.Second))
	if diff := cmp.Diff([]Answer{Queued, Queued, Granted, Over}, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if len(first) != 1 || len(second) != 0 {
		t.Errorf("granted %d and then %d times", len(first), len(second))
	}
	if diff := cmp.Diff(seen{Used: 3}, look(&s, at(6*time.Second))); diff != "" {
		t.Errorf("in the end (-want +got):\n%s", diff)
	}
}

// TestDecidedAnew: a job that waits, or that was given slots and did not begin,
// keeps its place when it decides anew; one that grows is left alone.
func TestDecidedAnew(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	again := func(held, slots int) Request { return Request{Job: "a", DecisionID: "a-2", Held: held, Slots: slots} }
	begin := func() State {
		s := State{Limits: Limits{Slots: 10, Lease: 10 * m}}
		s.Request(ask("a", 2, 3, 0), start())
		s.Grants(start())
		s.Request(ask("b", 1, 4, 0), at(m))
		s.Grants(at(m)) // a has 3 more, b 4: all is taken
		s.Request(ask("c", 0, 1, 0), at(2*m))
		return s
	}
	for name, tt := range map[string]struct {
		reason string
		do     func(s *State) Answer
		answer Answer
		want   seen
	}{
		"it needs more":          {"in its old place, before those who came later", func(s *State) Answer { return s.Request(again(2, 4), at(3*m)) }, Queued, seen{"b", "a:no-slots c:next", 7}},
		"it needs less":          {"it is given that at once, and the rest to others", func(s *State) Answer { return s.Request(again(2, 2), at(3*m)) }, Queued, seen{"b", "a:next c:next", 7}},
		"it could not be judged": {"its place is kept, what it was given is free", func(s *State) Answer { s.Release("a", "a-1", 2, true, at(3*m)); return "" }, "", seen{"b", "a:away c:next", 7}},
		"it grows": {"a rescale that has the lease is not disturbed", func(s *State) Answer {
			s.Renew(Lease{Job: "a", DecisionID: "a-1", Held: 2, Slots: 3}, at(3*m))
			return s.Request(again(2, 4), at(3*m))
		}, Growing, seen{"a b", "c:no-slots", 10}},
		"it grows by less": {"what it leaves is for others", func(s *State) Answer {
			s.Renew(Lease{Job: "a", DecisionID: "a-1", Held: 2, Slots: 2}, at(3*m))
			return ""
		}, "", seen{"a b", "c:next", 9}},
		"its job is gone": {"a rescale goes on without whoever began it", func(s *State) Answer {
			s.Renew(Lease{Job: "a", DecisionID: "a-1", Held: 2, Slots: 3}, at(3*m))
			s.Lost("a", "a-1")
			return ""
		}, "", seen{"a b", "c:no-slots", 10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin()
			answer := tt.do(&s)
			if diff := cmp.Diff(tt.want, look(&s, at(3*m))); diff != "" || answer != tt.answer {
				t.Errorf("%s: %s (-want +got):\n%s", tt.reason, answer, diff)
			}
		})
	}
}

// TestPlacesSayWhy: a person reads it.
func TestPlacesSayWhy(t *testing.T) {
	t.Parallel()
	s := State{Limits: Limits{Slots: 10, Rescales: 1}}
	for _, r := range []Request{ask("a", 4, 4, 0), ask("b", 0, 2, 0), ask("c", 0, 20, 0)} {
		s.Request(r, start())
	}
	s.Grants(start())
	now := at(6 * time.Minute)
	var got []string
	for _, p := range s.Places(now) {
		got = append(got, fmt.Sprintf("%d/%d %s %t: %s", p.Place, p.Of, p.Job, p.Reserved, p.Note))
	}
	want := []string{
		"1/2 b true: 1 jobs grow, the limit is 1 at once",
		"2/2 c false: has 0 slots and asks for 20 more, the limit for all jobs is 10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p, ok := s.Place("c", now); !ok || p.Place != 2 {
		t.Errorf("place of c: %+v", p)
	}
	if _, ok := s.Place("a", now); ok {
		t.Error("a grows and has a place")
	}
}

// TestNextIsWhenSomethingChanges: a timer is set by it.
func TestNextIsWhenSomethingChanges(t *testing.T) {
	t.Parallel()
	s := State{Limits: Limits{Slots: 4, Lease: 10 * time.Minute}}
	if n := s.Next(start()); !n.IsZero() {
		t.Errorf("nothing is there, and it changes at %s", n)
	}
	s.Request(ask("a", 0, 3, 0), start())
	s.Grants(start())
	s.Request(ask("b", 0, 3, 0), at(time.Minute))
	var got []time.Duration
	for now := start(); ; {
		n := s.Next(now)
		if n.IsZero() {
			break
		}
		now = n
		got = append(got, now.Sub(start()))
		s.Expire(now)
	}
	want := []time.Duration{6 * time.Minute, 10 * time.Minute, 11 * time.Minute, KeepFor, KeepFor + time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFiveHundredAtOnce: all are served, the oldest first, and the state stays
// far below what a payload may be.
func TestFiveHundredAtOnce(t *testing.T) {
	t.Parallel()
	const jobs, each = MaxRequests, 2
	s := State{Limits: Limits{Slots: jobs + 40, Rescales: 20, Lease: 10 * time.Minute}}
	now := start()
	name := func(i int) string { return fmt.Sprintf("%03d-%s", i, strings.Repeat("x", 124)) }
	for i := range jobs {
		r := ask(name(i), 1, each, 0)
		r.ReplyTo = strings.Repeat("y", 900)
		if a := s.Request(r, now.Add(time.Duration(i)*time.Millisecond)); a != Queued {
			t.Fatalf("job %d: %s", i, a)
		}
	}
	if a := s.Request(ask("one more", 1, 1, 0), at(time.Second)); a != Full {
		t.Errorf("one more: %s", a)
	}
	b, err := json.Marshal(s)
	if err != nil || len(b) > 1<<20 {
		t.Errorf("the state has %d bytes (%v)", len(b), err)
	}
	var served []string
	for round := 0; len(served) < jobs && round < 1000; round++ {
		now = now.Add(time.Minute)
		for i := range s.Queue {
			s.Queue[i].Seen = now
		}
		s.Expire(now)
		for _, l := range s.Grants(now) {
			served = append(served, l.Job)
		}
		if s.Used() > s.Limits.Slots || len(s.Leases) > s.Limits.Rescales {
			t.Fatalf("round %d: %d slots and %d leases", round, s.Used(), len(s.Leases))
		}
		for _, l := range append([]Lease{}, s.Leases...) {
			s.Release(l.Job, l.DecisionID, l.Held, false, now)
		}
	}
	for i, job := range served {
		if job != name(i) {
			t.Fatalf("number %d is %.8s", i, job)
		}
	}
	if len(served) != jobs {
		t.Errorf("%d of %d were served", len(served), jobs)
	}
}

// TestForgetsRatherThanGrows: so many jobs cannot be, but a list must end.
func TestForgetsRatherThanGrows(t *testing.T) {
	t.Parallel()
	s := State{}
	s.Request(ask("waits", 7, 1, 0), start())
	for i := range MaxJobs + 10 {
		s.Release(fmt.Sprintf("j%04d", i), "d", 1, false, at(time.Duration(i+1)*time.Second))
	}
	if len(s.Uses) != MaxJobs || s.Used() != MaxJobs-1+7 {
		t.Errorf("%d jobs with %d slots", len(s.Uses), s.Used())
	}
	if i, ok := s.use("j0000"); ok {
		t.Errorf("the oldest is still there: %+v", s.Uses[i])
	}
}
