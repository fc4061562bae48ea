package kerberos

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jcmturner/gokrb5/v8/client"

	"flinkscaler/core"
)

// hadoop answers as Hadoop's web servers do. It notes what each request carried.
type hadoop struct {
	seen []string
	// takes says whether it takes a token.
	takes func(token string) bool
	// cookies are given for a token, and taken.
	cookies bool
	// unreadable is answered to tokens that it does not take: 401 or 403.
	unreadable int
}

const given = `hadoop.auth="u=me&p=me@A.REALM&t=kerberos&e=1&s=x="`

func (h *hadoop) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	content, _ := io.ReadAll(q.Body)
	token, cookie := q.Header.Get("Authorization"), q.Header.Get("Cookie")
	h.seen = append(h.seen, strings.Join(strings.Fields(q.Method+" "+token+" "+map[bool]string{true: "cookie "}[strings.Contains(cookie, "u=me")]+string(content)), " "))
	switch {
	case h.cookies && strings.Contains(cookie, given):
	case token != "" && h.takes(token):
		if h.cookies {
			w.Header().Set("Set-Cookie", given+"; Path=/; HttpOnly")
		}
	case token != "" && h.unreadable == http.StatusForbidden:
		w.WriteHeader(http.StatusForbidden)
		return
	default:
		w.Header().Set("WWW-Authenticate", "Negotiate")
		w.Header().Set("Set-Cookie", `hadoop.auth=; Path=/; HttpOnly`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = w.Write([]byte("done"))
}

// tickets gives the tokens t1, t2, ... of one client; forgetting that brings the next.
type tickets struct {
	forgotten int
	asked     []string
	client    *client.Client
	err       error
}

func (s *tickets) prove(_ context.Context, service string) (proof, error) {
	s.asked = append(s.asked, service)
	if s.err != nil {
		return proof{}, s.err
	}
	if s.client == nil {
		s.client = &client.Client{}
	}
	return proof{token: "t" + string(rune('1'+s.forgotten)), client: s.client}, nil
}

func (s *tickets) forget(c *client.Client) {
	if c == s.client {
		s.forgotten++
		s.client = nil
	}
}

func (s *tickets) transport() *Transport {
	t := (&Login{}).Transport(nil)
	t.prove, t.forget = s.prove, s.forget
	return t
}

func TestTransportNegotiates(t *testing.T) {
	t.Parallel()
	all := func(string) bool { return true }
	for name, c := range map[string]struct {
		reason    string
		server    hadoop
		requests  int
		seen      []string
		forgotten int
		status    int
	}{
		"cookie": {
			reason: "the cookie replaces tickets", server: hadoop{takes: all, cookies: true}, requests: 3, status: 200,
			seen: []string{"PUT body", "PUT t1 body", "PUT cookie body", "PUT cookie body"},
		},
		"no cookie": {
			reason: "a server that is known to ask gets a ticket at once", server: hadoop{takes: all}, requests: 2, status: 200,
			seen: []string{"PUT body", "PUT t1 body", "PUT t1 body"},
		},
		"old ticket": {
			reason: "a new login gives one that fits", server: hadoop{takes: func(s string) bool { return s == "t2" }}, requests: 1, status: 200,
			seen: []string{"PUT body", "PUT t1 body", "PUT t2 body"}, forgotten: 1,
		},
		"never content": {
			reason: "it has its last word", server: hadoop{takes: func(string) bool { return false }}, requests: 1, status: 401,
			seen: []string{"PUT body", "PUT t1 body", "PUT t2 body"}, forgotten: 2,
		},
		"unreadable": {
			reason: "403 without a cookie is Hadoop's word for a ticket of other keys: not again now, but with a new one next time",
			server: hadoop{takes: func(s string) bool { return s == "t2" }, unreadable: http.StatusForbidden}, requests: 2, status: 200,
			seen: []string{"PUT body", "PUT t1 body", "PUT t2 body"}, forgotten: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&c.server)
			defer server.Close()
			s := &tickets{}
			transport := s.transport()
			h := http.Client{Transport: transport}
			status := 0
			for range c.requests {
				status = send(t, &h, server.URL, strings.NewReader("body"))
			}
			if status != c.status {
				t.Errorf("%s: got %d", c.reason, status)
			}
			if diff := cmp.Diff(c.seen, c.server.seen); diff != "" {
				t.Errorf("%s:\n%s", c.reason, diff)
			}
			if s.forgotten != c.forgotten {
				t.Errorf("%s: forgotten %d times", c.reason, s.forgotten)
			}
			if s.asked[0] != "HTTP/127.0.0.1" {
				t.Errorf("asked for %s", s.asked[0])
			}
		})
	}
}

func send(t *testing.T, h *http.Client, url string, content io.Reader) int {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, content)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Cookie", "other=1")
	response, err := h.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if len(q.Header) != 1 || q.Header.Get("Cookie") != "other=1" {
		t.Errorf("the request was changed: %v", q.Header)
	}
	return response.StatusCode
}

func TestTransportKeepsServersApart(t *testing.T) {
	t.Parallel()
	first, second := &hadoop{takes: func(string) bool { return true }, cookies: true}, &hadoop{takes: func(string) bool { return true }, cookies: true}
	h := http.Client{Transport: (&tickets{}).transport()}
	for _, server := range []*hadoop{first, second} {
		listening := httptest.NewServer(server)
		defer listening.Close()
		send(t, &h, listening.URL, nil)
	}
	if diff := cmp.Diff([]string{"PUT", "PUT t1"}, second.seen); diff != "" {
		t.Errorf("the second server:\n%s", diff)
	}
}

func TestTransportWithoutATicket(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&hadoop{})
	defer server.Close()
	s := &tickets{err: &core.OpError{Op: "log in", Err: core.ErrUnreachable}}
	_, err := (&http.Client{Transport: s.transport()}).Get(server.URL)
	if !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

func TestTransportReplaysAStream(t *testing.T) {
	t.Parallel()
	server := &hadoop{takes: func(string) bool { return true }}
	listening := httptest.NewServer(server)
	defer listening.Close()
	h := http.Client{Transport: (&tickets{}).transport()}
	send(t, &h, listening.URL, io.MultiReader(strings.NewReader("bo"), strings.NewReader("dy"))) // no GetBody
	if diff := cmp.Diff([]string{"PUT body", "PUT t1 body"}, server.seen); diff != "" {
		t.Error(diff)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPut, listening.URL, io.LimitReader(zeros{}, maxBody+1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Do(q); !errors.Is(err, core.ErrRefused) {
		t.Errorf("too long: got %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestTransportLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason, challenge string
		status            int
	}{
		"basic":     {reason: "a gateway that wants a password", challenge: `Basic realm="knox"`, status: http.StatusUnauthorized},
		"forbidden": {reason: "no question of who it is", challenge: "Negotiate", status: http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("WWW-Authenticate", c.challenge)
				w.WriteHeader(c.status)
			}))
			defer server.Close()
			s := &tickets{}
			if got := send(t, &http.Client{Transport: s.transport()}, server.URL, nil); got != c.status || len(s.asked) != 0 {
				t.Errorf("%s: got %d, asked for %v", c.reason, got, s.asked)
			}
		})
	}
}
