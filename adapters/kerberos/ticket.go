package kerberos

import (
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// ticket is what a login gives: the right to ask for the tickets of services.
type ticket struct {
	tgt                    messages.Ticket
	key                    types.EncryptionKey
	start, end, renewUntil time.Time
}

// ticketOf takes it out of a KDC's answer.
func ticketOf(tgt messages.Ticket, part messages.EncKDCRepPart) ticket {
	start := part.StartTime
	if start.IsZero() {
		start = part.AuthTime
	}
	return ticket{tgt: tgt, key: part.Key, start: start, end: part.EndTime, renewUntil: part.RenewTill}
}

// refreshAfter is the part of a ticket's life after which a new one is got. The library would do so itself, in its own
// way, when five sixths are over.
const refreshAfter = 2.0 / 3

// endMargin is how long before its end a ticket is taken for ended: what is started with it has to arrive.
const endMargin = time.Second

// alive reports whether it can be used.
func (t ticket) alive(now time.Time) bool { return now.Before(t.end.Add(-endMargin)) }

// due reports whether it is time for a new one.
func (t ticket) due(now time.Time) bool {
	life := t.end.Sub(t.start)
	return !now.Before(t.start.Add(time.Duration(refreshAfter * float64(life))))
}

// renewable reports whether renewing it would give one that lives longer.
func (t ticket) renewable(now time.Time) bool { return t.alive(now) && t.renewUntil.After(t.end) }

// retryAfter is how long to leave a KDC alone that gave no new ticket while the old one lives: a tenth of what is left
// of it, so that a KDC that comes back is asked in time, but no more than a minute.
func (t ticket) retryAfter(now time.Time) time.Duration {
	return min(max(t.end.Sub(now)/10, 100*time.Millisecond), time.Minute)
}
