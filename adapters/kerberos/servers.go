package kerberos

import (
	"net/http"
	"strings"
	"sync"
)

// cookieName is that of Hadoop's cookie, which its web servers all share.
const cookieName = "hadoop.auth"

// servers is what is known of each server. The cookies are as good as tickets: they are never shown.
type servers struct {
	mu   sync.Mutex
	each map[string]server
}

type server struct {
	cookie string // name=value, as the server wrote it: it puts quotes around what has = in it
	asks   bool   // for a ticket, of whoever has no cookie
}

func (s *servers) known(name string) (cookie string, asks bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.each[name].cookie, s.each[name].asks
}

// asks notes that a server wants a ticket: what cookie there was is not good any more.
func (s *servers) asks(name string) { s.set(name, server{asks: true}) }

// keep notes the cookie of an answer and reports whether there was one. An empty one takes back what was given.
func (s *servers) keep(name string, response *http.Response) bool {
	cookie, found := authCookie(response)
	if !found {
		return false
	}
	_, asks := s.known(name)
	s.set(name, server{cookie: cookie, asks: asks})
	return cookie != ""
}

func (s *servers) set(name string, to server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.each == nil {
		s.each = map[string]server{}
	}
	s.each[name] = to
}

// authCookie reads Hadoop's cookie of an answer.
func authCookie(response *http.Response) (cookie string, found bool) {
	for _, line := range response.Header.Values("Set-Cookie") {
		pair, _, _ := strings.Cut(line, ";")
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || name != cookieName {
			continue
		}
		if strings.Trim(value, `"`) == "" {
			return "", true
		}
		return name + "=" + value, true
	}
	return "", false
}
