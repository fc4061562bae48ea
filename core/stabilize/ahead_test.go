package stabilize

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func TestNothingWaitsForATimeThatHasNotCome(t *testing.T) {
	t.Parallel()
	now, year := noon(), 365*24*time.Hour
	past, future := now.Add(-time.Hour), now.Add(year)
	entry := func(at time.Time) []core.DelayedEntry { return []core.DelayedEntry{{At: at, Parallelism: 2}} }
	m := core.Memory{
		Delayed: []core.DelayedDown{
			{ID: "a", First: past, Entries: entry(now)}, {ID: "b", First: future, Entries: entry(future)}, {ID: "c", First: past, Entries: entry(future)},
		},
		Observed: []core.ObservedRate{{ID: "a", Until: future}, {ID: "b", Until: now}},
		Spent:    []core.Spent{{At: past}, {At: future}},
		Doubts:   []core.Doubt{{ID: "a", Until: future}, {ID: "b", Until: now.Add(time.Minute)}, {ID: "c"}},
	}
	p := policy.Default()
	want := core.Memory{
		Delayed:  m.Delayed[:1],
		Observed: m.Observed[1:],
		Spent:    []core.Spent{{At: past}, {At: now}},
		Doubts:   []core.Doubt{{ID: "a", Until: now.Add(p.EffectivenessExpiry)}, {ID: "b", Until: now.Add(time.Minute)}, {ID: "c"}},
	}
	if diff := cmp.Diff(want, notAhead(m, now, p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !m.Spent[1].At.Equal(future) || !m.Doubts[0].Until.Equal(future) {
		t.Error("what was given is changed in place")
	}
}
