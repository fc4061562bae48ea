package kerberos

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/spnego"

	"flinkscaler/core"
)

// maxDrain is how much of an answer that is not wanted is read so that its connection can be used again, in bytes.
const maxDrain = 64 << 10

// Transport is an http.RoundTripper that logs in where a server asks for it (SPNEGO: WWW-Authenticate: Negotiate). The
// cookie that Hadoop gives for it is kept for each server and sent from then on, so a KDC is asked once in a while only.
//
// A server that says 401 again to a new ticket gets its last chance with a ticket of a new login; what it says then is
// the answer. Requests that cannot be authenticated for want of a ticket fail as Login.Client does.
type Transport struct {
	base   http.RoundTripper
	prove  func(ctx context.Context, service string) (proof, error)
	forget func(c *client.Client)
	// Service names the service of a host, which is a name without a port. Default: HTTP/ and the name as it is in the
	// address, in small letters.
	Service func(host string) string

	servers servers
}

// Transport makes one on top of base, which has the limits and the TLS; nil is http.DefaultTransport. Set its fields
// before its first use.
func (l *Login) Transport(base http.RoundTripper) *Transport {
	if base == nil {
		base = http.DefaultTransport
	}
	return &Transport{
		base: base, prove: l.prove, forget: l.Forget,
		Service: func(host string) string { return "HTTP/" + strings.ToLower(host) },
	}
}

// proof is what a request carries to show who sends it.
type proof struct {
	cookie string         // name=value
	token  string         // the value of Authorization
	client *client.Client // whose ticket is in token
}

// maxTokens is how many tickets a server may refuse in one request.
const maxTokens = 2

// RoundTrip sends a request, again with a ticket where the server asks for one. The body is replayed; see maxBody.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := newBody(request)
	if err != nil {
		return nil, err
	}
	server := request.URL.Scheme + "://" + request.URL.Host
	p, err := t.first(request.Context(), server, request.URL.Hostname())
	if err != nil {
		return nil, err
	}
	for tokens := 0; ; {
		if p.token != "" {
			tokens++
		}
		attempt, err := p.on(request, body)
		if err != nil {
			return nil, err
		}
		response, err := t.base.RoundTrip(attempt)
		if err != nil {
			return nil, err
		}
		if !negotiates(response) {
			t.took(server, p, response)
			return response, nil
		}
		t.servers.asks(server)
		t.refused(p)
		if tokens == maxTokens {
			return response, nil
		}
		drain(response)
		if p, err = t.prove(request.Context(), t.Service(request.URL.Hostname())); err != nil {
			return nil, err
		}
	}
}

// CloseIdleConnections is what http.Client's method of that name calls.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// first is what a request carries at first: what the server gave, or a ticket when it is known to ask for one, so that a
// body is not sent in vain.
func (t *Transport) first(ctx context.Context, server, host string) (proof, error) {
	cookie, asks := t.servers.known(server)
	if cookie != "" || !asks {
		return proof{cookie: cookie}, nil
	}
	return t.prove(ctx, t.Service(host))
}

// prove makes a token of a ticket.
func (l *Login) prove(ctx context.Context, service string) (proof, error) {
	c, err := l.Client(ctx, service)
	if err != nil {
		return proof{}, err
	}
	token, err := negotiation(c, service)
	if err != nil {
		return proof{}, &core.OpError{Op: "log in to " + service, Subject: l.config.Principal,
			Err: fmt.Errorf("%w: %s", core.ErrUnauthorized, shorten(err.Error()))}
	}
	return proof{token: token, client: c}, nil
}

// negotiation takes the ticket that the client holds: it does not ask a KDC.
func negotiation(c *client.Client, service string) (string, error) {
	ticket, key, ok := c.GetCachedTicket(service)
	if !ok {
		return "", fmt.Errorf("the ticket for %s has ended", service)
	}
	init, err := spnego.NewNegTokenInitKRB5(c, ticket, key)
	if err != nil {
		return "", err
	}
	token := spnego.SPNEGOToken{Init: true, NegTokenInit: init}
	encoded, err := token.Marshal()
	if err != nil {
		return "", err
	}
	return "Negotiate " + base64.StdEncoding.EncodeToString(encoded), nil
}

// took learns from an answer. Hadoop gives a cookie with any answer to a ticket that it took, and 403 without one to a
// ticket that it cannot read.
func (t *Transport) took(server string, p proof, response *http.Response) {
	gave := t.servers.keep(server, response)
	if response.StatusCode == http.StatusForbidden && !gave {
		t.refused(p)
	}
}

func (t *Transport) refused(p proof) {
	if p.client != nil {
		t.forget(p.client)
	}
}

// on gives a copy of the request that carries the proof: a RoundTripper must not change what it is given.
func (p proof) on(request *http.Request, b body) (*http.Request, error) {
	attempt := request.Clone(request.Context())
	content, err := b.open()
	if err != nil {
		return nil, err
	}
	attempt.Body, attempt.GetBody = content, nil
	if p.token != "" {
		attempt.Header.Set("Authorization", p.token)
	}
	if p.cookie != "" {
		sent := append(slices.Clone(attempt.Header["Cookie"]), p.cookie)
		attempt.Header.Set("Cookie", strings.Join(sent, "; "))
	}
	return attempt, nil
}

// negotiates reports whether a server asks for a ticket.
func negotiates(response *http.Response) bool {
	return response.StatusCode == http.StatusUnauthorized && slices.ContainsFunc(response.Header.Values("WWW-Authenticate"), func(v string) bool {
		scheme, _, _ := strings.Cut(strings.TrimSpace(v), " ")
		return strings.EqualFold(scheme, "Negotiate")
	})
}

func drain(response *http.Response) {
	_, _ = io.CopyN(io.Discard, response.Body, maxDrain)
	_ = response.Body.Close()
}
