package kerberos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"

	"flinkscaler/core"
)

// Login is a principal's standing login. It asks a KDC when somebody needs a ticket, not before. Its methods may be
// called from any goroutine.
type Login struct {
	config Config
	now    func() time.Time

	mu      sync.Mutex
	closed  bool
	session *session // nil before the first login, and after Forget
	refresh *question
	// tryAfter is when a KDC is asked again that gave no new ticket while the old one lives.
	tryAfter time.Time
	running  sync.WaitGroup // questions
}

// session is one ticket and what was got with it.
type session struct {
	user   user
	ticket ticket
	client *client.Client
	// services are questions for tickets of services, by the service's name, while they are open. used are the services
	// that a ticket was got for. Login.mu guards both.
	services map[string]*question
	used     map[string]bool
}

// question is one that a KDC was asked and has not answered, or has just answered.
type question struct {
	done chan struct{}
	err  error // set before done is closed
}

var errClosed = errors.New("the login was closed")

// New makes a login without asking the KDC. The error lists all problems of the configuration.
func New(c Config) (*Login, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Login{config: c, now: time.Now}, nil
}

// Principal is who logs in, as configured.
func (l *Login) Principal() string { return l.config.Principal }

// ConfigFile is the krb5.conf that is read.
func (l *Login) ConfigFile() string { return l.config.configFile() }

// Client gives a client with a ticket that lives, and with tickets for the services that are named ("HTTP/host",
// "nn/host"), so that what uses them does not have to wait for a KDC without a limit. The client is shared: do not
// destroy it. It does not outlive its ticket, so get one for each thing to do.
//
// The errors match core.ErrUnauthorized when the KDC refuses, when the keytab does not fit or cannot be read, and
// core.ErrUnreachable when no KDC answers until ctx ends or within Config.Timeout.
func (l *Login) Client(ctx context.Context, services ...string) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, l.config.timeout())
	defer cancel()
	s, err := l.ready(ctx)
	if err != nil {
		return nil, err
	}
	for _, service := range services {
		if err := l.serviceTicket(ctx, s, service); err != nil {
			return nil, err
		}
	}
	return s.client, nil
}

// Forget drops the ticket that a client holds, for a service that refused one of its tickets: it may have new keys. The
// next Client logs in again. Another client than the present one is forgotten already.
func (l *Login) Forget(c *client.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != nil && l.session.client == c {
		l.session = nil
	}
}

// Close ends the login and returns when no question to a KDC is open any more.
func (l *Login) Close() {
	l.mu.Lock()
	l.closed = true
	l.session = nil
	l.mu.Unlock()
	l.running.Wait()
}

// ready gives a session with a living ticket. While the present one lives nobody waits for the next.
func (l *Login) ready(ctx context.Context) (*session, error) {
	for {
		s, q, err := l.look()
		if s != nil || err != nil {
			return s, err
		}
		if err := l.wait(ctx, "log in", l.config.Principal, q); err != nil {
			return nil, err
		}
	}
}

// look gives the present session or, when that has ended, the question that will bring the next.
func (l *Login) look() (*session, *question, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, &core.OpError{Op: "log in", Subject: l.config.Principal, Err: fmt.Errorf("%w: %w", core.ErrUnreachable, errClosed)}
	}
	now, s := l.now(), l.session
	if s != nil && s.ticket.alive(now) {
		if s.ticket.due(now) && l.refresh == nil && !now.Before(l.tryAfter) {
			l.renewLocked(s)
		}
		return s, nil, nil
	}
	if l.refresh == nil {
		l.renewLocked(nil)
	}
	return nil, l.refresh, nil
}

// renewLocked starts the question for the next ticket. old is nil when there is none that lives.
func (l *Login) renewLocked(old *session) {
	q := l.askLocked(func() error {
		next, err := l.next(old)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refresh = nil
		if err != nil {
			if old != nil {
				l.tryAfter = l.now().Add(old.ticket.retryAfter(l.now()))
			}
			return failure("log in", l.config.Principal, err)
		}
		if !l.closed {
			l.session, l.tryAfter = next, time.Time{}
		}
		return nil
	})
	l.refresh = q
}

// next gives the session after the old one. It takes the tickets of services along, so that no user of the login has to
// ask the KDC because of the change: it may be gone by then.
func (l *Login) next(old *session) (*session, error) {
	s, err := l.renewed(old)
	if err != nil || old == nil {
		return s, err
	}
	l.mu.Lock()
	used := slices.Sorted(maps.Keys(old.used))
	l.mu.Unlock()
	for _, service := range used {
		_, _, err := s.client.GetServiceTicket(service)
		switch {
		case err == nil:
			s.used[service] = true
		case !answered(err):
			return nil, err
		} // what is refused now is the concern of who asks for it next
	}
	return s, nil
}

// renewed renews the ticket, and logs in with the keytab where that cannot be done.
func (l *Login) renewed(old *session) (*session, error) {
	if old != nil && old.ticket.renewable(l.now()) {
		if t, err := old.user.renew(old.ticket); err == nil {
			return newSession(old.user, t)
		} // the login tells what is wrong
	}
	u, err := newUser(l.config)
	if err != nil {
		return nil, err
	}
	t, err := u.login()
	if err != nil {
		return nil, err
	}
	if !t.alive(l.now()) {
		return nil, fmt.Errorf("the ticket ended %s ago when it came: the clocks of this machine and of the KDC differ too much", l.now().Sub(t.end))
	}
	return newSession(u, t)
}

func newSession(u user, t ticket) (*session, error) {
	c, err := u.holder(t)
	if err != nil {
		return nil, err
	}
	return &session{user: u, ticket: t, client: c, services: map[string]*question{}, used: map[string]bool{}}, nil
}

// serviceTicket sees to it that a session's client holds a ticket of a service.
func (l *Login) serviceTicket(ctx context.Context, s *session, service string) error {
	l.mu.Lock()
	q := s.services[service]
	if q == nil {
		q = l.askLocked(func() error {
			_, _, err := s.client.GetServiceTicket(service)
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(s.services, service)
			if err == nil {
				s.used[service] = true
				return nil
			}
			if l.session == s && answered(err) && !unknownService(err) {
				l.session = nil // the KDC does not like the ticket, so it will not like it next time
			}
			return failure("get a ticket for "+service, l.config.Principal, err)
		})
		s.services[service] = q
	}
	l.mu.Unlock()
	return l.wait(ctx, "get a ticket for "+service, l.config.Principal, q)
}

// askLocked runs a question on a goroutine, since the library cannot be told to stop. It ends by itself: the library
// waits 5 s for each KDC and protocol.
func (l *Login) askLocked(ask func() error) *question {
	q := &question{done: make(chan struct{})}
	l.running.Add(1)
	go func() {
		defer l.running.Done()
		defer close(q.done)
		q.err = ask()
	}()
	return q
}

// wait waits for an answer, but no longer than ctx.
func (l *Login) wait(ctx context.Context, op, subject string, q *question) error {
	select {
	case <-q.done:
		return q.err
	case <-ctx.Done():
		return &core.OpError{Op: op, Subject: subject, Hint: "no KDC of the realm answered in time",
			Err: fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(ctx))}
	}
}
