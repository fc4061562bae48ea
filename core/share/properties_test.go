package share

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// jobs are few, so that they meet each other often.
var jobs = []string{"a", "b", "c", "d", "e", "f"}

// TestAnyOrderOfEvents: whatever comes, grants stay within the limits, lists
// stay sorted and single, and all of it survives JSON.
func TestAnyOrderOfEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := State{Limits: Limits{Slots: rapid.IntRange(0, 20).Draw(t, "slots"), Rescales: rapid.IntRange(0, 3).Draw(t, "rescales"), Lease: 3 * time.Minute}}
		now := start()
		granted := map[string]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "wait")) * time.Second)
			job := rapid.SampledFrom(jobs).Draw(t, "job")
			decision := fmt.Sprintf("%s-%d", job, rapid.IntRange(1, 3).Draw(t, "decision"))
			held := rapid.IntRange(-1, 12).Draw(t, "held")
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0, 1, 2:
				s.Request(Request{Job: job, DecisionID: decision, Held: held, Slots: rapid.IntRange(-1, 12).Draw(t, "more"), Priority: rapid.IntRange(-20, 20).Draw(t, "priority")}, now)
			case 3:
				s.Renew(Lease{Job: job, DecisionID: decision, Held: held, Slots: 1}, now)
			case 4:
				s.Release(job, decision, held, rapid.Bool().Draw(t, "again"), now)
			case 5:
				s.SetLimits(Limits{Slots: rapid.IntRange(0, 20).Draw(t, "slots"), Rescales: rapid.IntRange(0, 3).Draw(t, "rescales"), Lease: 3 * time.Minute})
			case 6:
				s.Lost(job, decision)
			}
			s.Expire(now)
			got := s.Grants(now)
			grows := 0
			for _, l := range got {
				grows += l.Slots
				granted[l.DecisionID] = true
			}
			if grows > 0 && s.Limits.Slots > 0 && s.Used() > s.Limits.Slots {
				t.Fatalf("%d slots are taken after a grant, the limit is %d", s.Used(), s.Limits.Slots)
			}
			if len(got) > 0 && s.Limits.Rescales > 0 && len(s.Leases) > s.Limits.Rescales {
				t.Fatalf("%d grow after a grant, the limit is %d", len(s.Leases), s.Limits.Rescales)
			}
			if again := s.Grants(now); len(again) > 0 {
				t.Fatalf("granted once more without any event: %v", again)
			}
			sound(t, s)
		}
	})
}

// sound checks what holds of every state.
func sound(t *rapid.T, s State) {
	for i := 1; i < len(s.Leases); i++ {
		if s.Leases[i-1].Job >= s.Leases[i].Job {
			t.Fatalf("leases are not sorted: %v", s.Leases)
		}
	}
	for i := 1; i < len(s.Queue); i++ {
		if before(s.Queue[i-1], s.Queue[i]) >= 0 {
			t.Fatalf("the queue is not sorted: %v", s.Queue)
		}
	}
	for _, r := range s.Queue {
		if _, grows := s.lease(r.Job); grows {
			t.Fatalf("%s grows and waits", r.Job)
		}
		if _, ok := s.use(r.Job); !ok {
			t.Fatalf("%s is in no account", r.Job)
		}
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("does not survive JSON:\n%s", diff)
	}
}

// TestOrderOfSimultaneousRequests is irrelevant.
func TestOrderOfSimultaneousRequests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Slots: rapid.IntRange(0, 20).Draw(t, "slots"), Rescales: rapid.IntRange(0, 3).Draw(t, "rescales")}
		var all []Request
		for _, j := range jobs {
			all = append(all, ask(j, rapid.IntRange(0, 6).Draw(t, "held"), rapid.IntRange(0, 6).Draw(t, "more"), rapid.IntRange(-3, 3).Draw(t, "priority")))
		}
		one, two := State{Limits: limits}, State{Limits: limits}
		for _, r := range all {
			one.Request(r, start())
		}
		shuffled := append([]Request{}, all...)
		rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))).Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] }) //nolint:gosec // a test
		for _, r := range shuffled {
			two.Request(r, start())
		}
		if diff := cmp.Diff(one.Grants(start()), two.Grants(start())); diff != "" {
			t.Fatalf("grants differ:\n%s", diff)
		}
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatalf("states differ:\n%s", diff)
		}
	})
}

// TestNobodyStarves: small jobs come and come, each of them alone would fit; a
// large one and one of the least priority are served all the same, as long as
// jobs give back what they take.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(4, 20).Draw(t, "limit")
		s := State{Limits: Limits{Slots: limit, Rescales: rapid.IntRange(0, 4).Draw(t, "rescales"), Lease: 10 * time.Minute}}
		large := Request{Job: "large", DecisionID: "large-1", Held: 1, Slots: limit - 1, Priority: rapid.IntRange(MinPriority, 0).Draw(t, "priority")}
		now := start()
		for i := 0; ; i++ {
			if now.Sub(start()) > 3*time.Hour {
				t.Fatalf("the large one waits after %s: %+v", now.Sub(start()), s.Places(now)[0])
			}
			s.Request(large, now)
			// Small ones with any priority, new ones every minute; each grows
			// for up to three minutes and is gone then.
			small := Request{Job: fmt.Sprintf("s%d", i), Slots: rapid.IntRange(1, 3).Draw(t, "more"), Priority: rapid.IntRange(0, MaxPriority).Draw(t, "p")}
			small.DecisionID = small.Job
			s.Request(small, now)
			for k := range s.Queue {
				s.Queue[k].Seen = now
			}
			s.Expire(now)
			for _, l := range s.Grants(now) {
				if l.Job == "large" {
					return
				}
			}
			now = now.Add(time.Minute)
			for _, l := range append([]Lease{}, s.Leases...) {
				if now.Sub(l.Since) >= 3*time.Minute || rapid.Bool().Draw(t, "ends") {
					s.Release(l.Job, l.DecisionID, 0, false, now)
				}
			}
		}
	})
}
