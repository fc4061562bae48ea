//go:build integration || e2e

package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// proxy stands between worker and Flink. It counts writes as Flink sees them,
// and can hold one before or after Flink has taken it.
type proxy struct {
	url string

	mu     sync.Mutex
	target *url.URL
	writes []write
	// before and after, when set, are called once around the next request that
	// matches; the request waits for them.
	before, after func()
	matches       func(*http.Request) bool
}

// write is one PUT of resource requirements that Flink answered.
type write struct {
	body   string
	status int
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	u, err := url.Parse(target)
	must(t, err)
	p := &proxy{target: u}
	rp := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(p.upstream()) },
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			panic(http.ErrAbortHandler) // as a dead server: no answer
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isPut(r) || p.held(r) {
			p.write(w, r, rp)
			return
		}
		rp.ServeHTTP(w, r)
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func isPut(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/resource-requirements")
}

// held is true for a request around which something is to happen.
func (p *proxy) held(r *http.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.matches != nil && (p.before != nil || p.after != nil) && p.matches(r)
}

func (p *proxy) upstream() *url.URL {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

func (p *proxy) write(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if f := p.take(&p.before); f != nil {
		f()
	}
	// The write reaches Flink whatever becomes of who sent it.
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r.WithContext(r.Context()))
	if isPut(r) {
		p.mu.Lock()
		p.writes = append(p.writes, write{string(body), answer.Code})
		p.mu.Unlock()
	}
	if f := p.take(&p.after); f != nil {
		f()
	}
	for k, v := range answer.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (p *proxy) take(f *func()) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := *f
	*f = nil
	return out
}

// hook sets what happens around the next write.
func (p *proxy) hook(before, after func()) { p.hookOn(isPut, before, after) }

// hookOn sets what happens around the next request that matches.
func (p *proxy) hookOn(matches func(*http.Request) bool, before, after func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.matches, p.before, p.after = matches, before, after
}

// taken gives the writes that Flink took.
func (p *proxy) taken() []write {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []write
	for _, w := range p.writes {
		if w.status == http.StatusOK {
			out = append(out, w)
		}
	}
	return out
}
