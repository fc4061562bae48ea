package stabilize

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// tracking is the default policy (restart.time 5 min, limit 15 min) that uses
// what was measured.
func tracking() policy.Policy {
	p := policy.Default()
	p.RestartTracking = true
	return p
}

// took makes restarts of these lengths in seconds, a second apart.
func took(seconds ...int) []core.Restart {
	var out []core.Restart
	for i, s := range seconds {
		out = append(out, core.Restart{At: at(i), Took: time.Duration(s) * time.Second})
	}
	return out
}

func TestRestartTime(t *testing.T) {
	t.Parallel()
	off, slow := policy.Default(), policy.Default()
	slow.RestartTime = 15*time.Minute + time.Second
	cases := map[string]struct {
		reason   string
		restarts []core.Restart
		p        policy.Policy
		java     int // seconds
		ours     int
		note     string // a part of it
	}{
		"no records":            {"restart.time", nil, tracking(), 300, 300, ""},
		"off":                   {"even with records", took(180, 899), off, 300, 300, ""},
		"off, slow":             {"restart.time itself is not cut", took(180), slow, 901, 901, ""},
		"two":                   {"the longest", took(180, 899), tracking(), 899, 899, "longest of 2 restart(s), 899 s"},
		"two, long":             {"cut at the limit", took(180, 901), tracking(), 900, 900, "limited to 15 min"},
		"image pull":            {"BC-36", took(40, 45, 42, 900), tracking(), 900, 45, "longest of 3 restarts, 45 s; left out as exceptions: 1 of up to 15 min (the median is 44 s)"},
		"order does not matter": {"the exception came first", took(900, 45, 40, 42), tracking(), 900, 45, "exceptions: 1 "},
		"no exception":          {"three times the median is not far above", took(40, 40, 120), tracking(), 120, 120, "longest of 3 restart(s), 2 min"},
		"an exception of three": {"a second above that is", took(40, 40, 121), tracking(), 121, 40, "exceptions: 1 "},
		"two of five":           {"too often to be exceptions: one is left out, the other believed", took(40, 900, 45, 42, 900), tracking(), 900, 900, "exceptions: 1 of up to 15 min"},
		"two of eight":          {"a quarter may be exceptions", took(40, 900, 45, 42, 900, 41, 44, 43), tracking(), 900, 45, "exceptions: 2 "},
		"slow by nature":        {"long, but all alike", took(600, 620, 610), tracking(), 620, 620, "620 s"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, note := RestartTime(c.restarts, c.p)
			if want := time.Duration(c.ours) * time.Second; got != want {
				t.Errorf("%s; want %s: %s", got, want, c.reason)
			}
			if (c.note == "") != (note == "") || !strings.Contains(note, c.note) {
				t.Errorf("note %q; want %q in it", note, c.note)
			}
			if java, want := JavaRestart(c.restarts, c.p), time.Duration(c.java)*time.Second; java != want {
				t.Errorf("by the Java rule %s; want %s", java, want)
			}
		})
	}
	parts := []core.Restart{{Took: 1999 * time.Millisecond}}
	if got, _ := RestartTime(parts, tracking()); got != time.Second {
		t.Errorf("%s; want whole seconds: 1 s", got)
	}
}

func TestTrimRestarts(t *testing.T) {
	t.Parallel()
	now := at(0).Add(24 * time.Hour)
	ago := func(hours ...int) []core.Restart {
		var out []core.Restart
		for _, h := range hours {
			out = append(out, core.Restart{At: now.Add(-time.Duration(h) * time.Hour), Took: time.Second})
		}
		return out
	}
	cases := map[string]struct {
		reason  string
		have    []core.Restart
		age     time.Duration
		most    int
		want    []core.Restart
		ourMost int
	}{
		"age":        {"one of exactly that age stays", ago(3, 2, 1), time.Hour, 5, ago(1), 1},
		"count":      {"the newest five; ours keeps ten", ago(9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 24 * time.Hour, 5, ago(4, 3, 2, 1, 0), 10},
		"single old": {"the newest always stays", ago(24), time.Hour, 5, ago(24), 1},
		"empty":      {"none", nil, time.Hour, 5, nil, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, NewestRestarts(c.have, now.Add(-c.age), c.most)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if got := len(TrimRestarts(c.have, now, keeping(c.most, c.age))); got != c.ourMost {
				t.Errorf("%d kept; want %d", got, c.ourMost)
			}
		})
	}
	many := make([]core.Restart, 500)
	for i := range many {
		many[i].At = now
	}
	if got := len(TrimRestarts(many, now, keeping(1000, time.Hour))); got != mostRestarts {
		t.Errorf("%d kept by a policy that asks for 1000; want %d", got, mostRestarts)
	}
}

// TestRestartStaysWithinWhatWasSeen: between the shortest and the longest, and
// never above the Java rule.
func TestRestartStaysWithinWhatWasSeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRestarts(t)
		if len(r) == 0 {
			return
		}
		p := tracking()
		p.RestartTrackingLimit = time.Hour
		got, _ := RestartTime(r, p)
		shortest := time.Hour
		for _, x := range r {
			shortest = min(shortest, x.Took)
		}
		if got < shortest.Truncate(time.Second) || got > JavaRestart(r, p) {
			t.Fatalf("%s of %v", got, r)
		}
		shuffled := rapid.Permutation(r).Draw(t, "order")
		if again, _ := RestartTime(shuffled, p); again != got {
			t.Fatalf("%s in one order, %s in another", got, again)
		}
	})
}

// TestOneExceptionDoesNotMatter: among at least three that are alike.
func TestOneExceptionDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		alike := rapid.SliceOfN(rapid.IntRange(30, 60), 3, 20).Draw(t, "alike")
		want, _ := RestartTime(took(alike...), tracking())
		exception := rapid.IntRange(200, 3600).Draw(t, "exception")
		got, note := RestartTime(took(append(alike, exception)...), tracking())
		if got != want || !strings.Contains(note, "exceptions: 1 ") {
			t.Fatalf("%s with the exception, %s without: %s", got, want, note)
		}
	})
}
