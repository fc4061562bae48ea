package stabilize

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func noon() time.Time { return time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC) }

// ago is a rescale so long before noon.
func ago(d, took time.Duration, failed bool) core.Spent {
	return core.Spent{At: noon().Add(-d), Took: took, Failed: failed}
}

func TestSpend(t *testing.T) {
	t.Parallel()
	written := noon().Add(-time.Minute)
	for name, c := range map[string]struct {
		reason string
		o      core.Outcome
		want   []core.Spent
	}{
		"applied":      {"the time until all tasks ran again", core.Outcome{Kind: core.Applied, WrittenAt: written, RunningAt: written.Add(40 * time.Second), EndedAt: noon()}, []core.Spent{ago(0, 40*time.Second, false)}},
		"partial":      {"it had an effect", core.Outcome{Kind: core.Partial, WrittenAt: written, RunningAt: written.Add(time.Second), EndedAt: noon()}, []core.Spent{ago(0, time.Second, false)}},
		"undone":       {"two restarts for nothing", core.Outcome{Kind: core.Undone, WrittenAt: written, RunningAt: written.Add(50 * time.Second), EndedAt: noon()}, []core.Spent{ago(0, 50*time.Second, true)}},
		"failed":       {"how long is not known", core.Outcome{Kind: core.Failed, WrittenAt: written, EndedAt: noon()}, []core.Spent{ago(0, 0, true)}},
		"rejected":     {"nothing was written, nothing spent", core.Outcome{Kind: core.Rejected, EndedAt: noon()}, nil},
		"refused":      {"it was tried, and Flink said no", core.Outcome{Kind: core.Rejected, WrittenAt: written, EndedAt: noon()}, []core.Spent{ago(0, 0, true)}},
		"clock behind": {"no time is negative", core.Outcome{Kind: core.Applied, WrittenAt: written, RunningAt: written.Add(-time.Second), EndedAt: noon()}, []core.Spent{ago(0, 0, false)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Spend(core.Memory{}, c.o).Spent); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	var m core.Memory
	for i := range 1000 {
		m = Spend(m, core.Outcome{Kind: core.Failed, WrittenAt: noon(), EndedAt: noon().Add(time.Duration(i) * time.Second)})
	}
	if len(m.Spent) != mostSpent {
		t.Errorf("%d rescales are remembered, want %d", len(m.Spent), mostSpent)
	}
}

func TestTrimSpent(t *testing.T) {
	t.Parallel()
	hour := time.Hour
	for name, c := range map[string]struct {
		reason      string
		spent, want []core.Spent
	}{
		"a day":             {"a day ago is no more", []core.Spent{ago(24*hour, 0, false), ago(23*hour, 0, false)}, []core.Spent{ago(23*hour, 0, false)}},
		"nothing left":      {"", []core.Spent{ago(25*hour, 0, false)}, nil},
		"failures in a row": {"they keep the breaker open", []core.Spent{ago(40*hour, 0, false), ago(30*hour, 0, true), ago(29*hour, 0, true)}, []core.Spent{ago(30*hour, 0, true), ago(29*hour, 0, true)}},
		"none":              {"", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, TrimSpent(c.spent, noon())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	hour := time.Hour
	two := []core.Spent{ago(25*hour, hour, false), ago(3*hour, 4*time.Minute, false), ago(hour, 3*time.Minute, true)}
	for name, c := range map[string]struct {
		reason string
		count  int
		down   time.Duration
		want   string
	}{
		"no budget":      {"0 is no limit", 0, 0, ""},
		"count not yet":  {"the one of yesterday does not count", 3, 0, ""},
		"count":          {"two were made", 2, 0, "2 rescales in 24 hours are the budget, and 2 were made; the oldest of them is forgotten at 2026-07-21 09:00 UTC"},
		"time not yet":   {"7 minutes are less", 0, 8 * time.Minute, ""},
		"time":           {"exactly the budget is spent", 0, 7 * time.Minute, "7 min without running in 24 hours are the budget, and 2 rescales took 7m0s"},
		"count and time": {"either is enough", 2, 8 * time.Minute, "2 were made"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Default()
			p.BudgetCount, p.BudgetDowntime = c.count, c.down
			if got := Over(two, noon(), p); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q; want %q: %s", got, c.want, c.reason)
			}
		})
	}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	row := []core.Spent{ago(4*time.Hour, 0, false), ago(3*time.Hour, 0, true), ago(2*time.Hour, 0, true)}
	for name, c := range map[string]struct {
		reason string
		most   int
		reset  time.Duration
		spent  []core.Spent
		want   string
	}{
		"not yet":   {"two of three", 3, 0, row, ""},
		"open":      {"two in a row", 2, 3 * time.Hour, row, "2 rescales in a row did not succeed; one is tried again at 2026-07-20 13:00 UTC"},
		"for good":  {"a reset of 0 is never", 2, 0, row, "none is tried again but on an operator's override"},
		"reset":     {"after that time one is tried", 2, 2 * time.Hour, row, ""},
		"succeeded": {"a success in between begins anew", 2, 0, append(row[:len(row):len(row)], ago(time.Hour, 0, false)), ""},
		"off":       {"0 is no limit", 0, 0, row, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Default()
			p.BreakerFailures, p.BreakerReset = c.most, c.reset
			if got, _ := Broken(c.spent, noon(), p); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q; want %q: %s", got, c.want, c.reason)
			}
		})
	}
}
