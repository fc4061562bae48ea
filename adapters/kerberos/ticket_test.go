package kerberos

import (
	"testing"
	"time"
)

func TestTicketsLife(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	hour := ticket{start: start, end: start.Add(time.Hour), renewUntil: start.Add(3 * time.Hour)}
	last := ticket{start: start, end: start.Add(time.Hour), renewUntil: start.Add(time.Hour)}
	never := ticket{start: start, end: start.Add(time.Hour)}
	for name, c := range map[string]struct {
		reason                string
		ticket                ticket
		after                 time.Duration
		alive, due, renewable bool
	}{
		"new":           {"nothing to do", hour, 0, true, false, true},
		"before 2/3":    {"nothing to do", hour, 39 * time.Minute, true, false, true},
		"2/3":           {"time for the next", hour, 40 * time.Minute, true, true, true},
		"last second":   {"what is sent now would come too late", hour, time.Hour - time.Second, false, true, false},
		"over":          {"a KDC renews no ticket that has ended", hour, 2 * time.Hour, false, true, false},
		"last renewal":  {"renewing would not make it longer", last, 45 * time.Minute, true, true, false},
		"not renewable": {"the KDC gave no such right", never, 45 * time.Minute, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := start.Add(c.after)
			if got := c.ticket.alive(now); got != c.alive {
				t.Errorf("%s: alive is %t", c.reason, got)
			}
			if got := c.ticket.due(now); got != c.due {
				t.Errorf("%s: due is %t", c.reason, got)
			}
			if got := c.ticket.renewable(now); got != c.renewable {
				t.Errorf("%s: renewable is %t", c.reason, got)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]time.Duration{
		10 * time.Hour:  time.Minute,
		5 * time.Minute: 30 * time.Second,
		0:               100 * time.Millisecond,
		-time.Hour:      100 * time.Millisecond,
	} {
		if got := (ticket{end: now.Add(left)}).retryAfter(now); got != want {
			t.Errorf("%s before the end: got %s, want %s", left, got, want)
		}
	}
}
