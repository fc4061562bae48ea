package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Call is a request of the worker.
type Call struct {
	Method string
	// Path is without the version, such as "/jobs/<id>/exceptions".
	Path string
	// JobID is the Flink job that it is about, empty for none.
	JobID string
	// Body is what it sends.
	Body string
}

// Writes is true for a PUT of resource requirements.
func (c Call) Writes() bool {
	return c.Method == http.MethodPut && strings.HasSuffix(c.Path, "/resource-requirements")
}

// Inspects is true for the read of a job's failures, which a rescale alone does:
// once in its preflight, and again and again while it verifies.
func (c Call) Inspects() bool {
	return c.Method == http.MethodGet && strings.HasSuffix(c.Path, "/exceptions")
}

// Answer is what the worker gets for a request.
type Answer string

// The answers.
const (
	Genuine     Answer = ""     // Flink's own
	Dropped     Answer = "drop" // none: the connection ends
	Unavailable Answer = "503"
	Conflict    Answer = "409"
	Page        Answer = "html" // 200, but a page of somebody else
	Half        Answer = "half" // Flink's status, and the half of a body
)

// Fault is what becomes of one request. The zero value is none.
type Fault struct {
	// Before runs before Flink sees the request, After when Flink has answered and
	// the worker has not; the request waits for both.
	Before, After func()
	// Lost keeps the request from Flink.
	Lost bool
	// Twice sends a write a second time, Gap after Flink's first answer, as a
	// network that repeats does.
	Twice bool
	Gap   time.Duration
	// Answer is what the worker gets.
	Answer Answer
}

// Write is one PUT of resource requirements.
type Write struct {
	// At is when it came from the worker, Done when Flink had answered.
	At, Done time.Time
	JobID    string
	Body     string
	// Before is the requirements in force when it went on to Flink, empty when
	// Flink did not tell.
	Before string
	// Status is Flink's answer, 0 for none, or when it was kept from Flink.
	Status int
	// Lost is true when Flink never saw it, Repeat when nobody but this proxy
	// sent it.
	Lost, Repeat bool
}

// Rule is an armed fault.
type Rule struct {
	match func(Call) bool
	fault Fault
	left  int
	fired chan struct{}
}

// Fired is closed when the fault begins for the first time.
func (r *Rule) Fired() <-chan struct{} { return r.fired }

// Began is true once Fired is closed.
func (r *Rule) Began() bool {
	select {
	case <-r.fired:
		return true
	default:
		return false
	}
}

// Proxy is a running proxy.
type Proxy struct {
	server   *httptest.Server
	upstream http.RoundTripper
	// background are repeats that are still to be sent.
	background sync.WaitGroup

	mu     sync.Mutex
	target func() string
	rules  []*Rule
	writes []Write
	queues map[string]*sync.Mutex
}

// upstreamLimit bounds a request that nobody waits for any longer: a jar that is
// run takes seconds.
const upstreamLimit = 30 * time.Second

// New starts a proxy on a free loopback port. Target gives the base URL of Flink
// for each request anew.
func New(target func() string) *Proxy {
	p := &Proxy{
		target: target, queues: map[string]*sync.Mutex{},
		upstream: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: time.Minute},
	}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	return p
}

// URL is where the worker reaches Flink.
func (p *Proxy) URL() string { return p.server.URL }

// Close ends it, and requests that still hang.
func (p *Proxy) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
	p.background.Wait()
}

// Arm has a fault happen to the next requests that match, so many times.
func (p *Proxy) Arm(match func(Call) bool, f Fault, times int) *Rule {
	r := &Rule{match: match, fault: f, left: times, fired: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
	return r
}

// Disarm takes a rule away; what it has begun goes on.
func (p *Proxy) Disarm(r *Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = slices.DeleteFunc(p.rules, func(x *Rule) bool { return x == r })
}

// On runs functions around the next request that matches, before and after Flink
// has taken it; the request waits for them. Nil is none.
func (p *Proxy) On(match func(Call) bool, before, after func()) {
	p.Arm(match, Fault{Before: before, After: after}, 1)
}

// OnWrite is On for the next write.
func (p *Proxy) OnWrite(before, after func()) { p.On(Call.Writes, before, after) }

// Writes gives all writes; those to one job are in the order in which Flink saw
// them.
func (p *Proxy) Writes() []Write {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.writes)
}

// Taken gives the writes that Flink took.
func (p *Proxy) Taken() []Write {
	return slices.DeleteFunc(p.Writes(), func(w Write) bool { return w.Status != http.StatusOK })
}

var jobPath = regexp.MustCompile(`^/jobs/([0-9a-f]{32})(/|$)`) //nolint:gochecknoglobals // a constant

func callOf(r *http.Request, body []byte) Call {
	c := Call{Method: r.Method, Path: strings.TrimPrefix(r.URL.Path, "/v1"), Body: string(body)}
	if m := jobPath.FindStringSubmatch(c.Path); m != nil {
		c.JobID = m[1]
	}
	return c
}

// fault takes the fault that is armed for a call.
func (p *Proxy) fault(c Call) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, r := range p.rules {
		if !r.match(c) {
			continue
		}
		if !r.Began() {
			close(r.fired)
		}
		if r.left--; r.left <= 0 {
			p.rules = slices.Delete(p.rules, i, i+1)
		}
		return r.fault
	}
	return Fault{}
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	call := callOf(r, body)
	f := p.fault(call)
	if f.Before != nil {
		f.Before()
	}
	got := p.forward(r, call, f, body, at)
	if f.After != nil {
		f.After()
	}
	respond(w, got, f.Answer)
}

// reply is an answer of Flink; status 0 is none.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// forward has Flink answer, as often as the fault says.
func (p *Proxy) forward(r *http.Request, call Call, f Fault, body []byte, at time.Time) reply {
	if f.Lost && call.Writes() {
		p.note(Write{At: at, JobID: call.JobID, Body: string(body), Lost: true})
	}
	if f.Lost {
		return reply{}
	}
	if call.Method == http.MethodGet {
		return p.ask(r, body)
	}
	// What changes something reaches Flink whatever becomes of who sent it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), upstreamLimit)
	defer cancel()
	if !call.Writes() {
		return p.ask(r.WithContext(ctx), body)
	}
	got := p.write(r.WithContext(ctx), call, body, at, false)
	if f.Twice {
		again := r.Clone(context.WithoutCancel(r.Context()))
		p.background.Go(func() {
			time.Sleep(f.Gap)
			ctx, cancel := context.WithTimeout(again.Context(), upstreamLimit)
			defer cancel()
			p.write(again.WithContext(ctx), call, body, time.Now(), true)
		})
	}
	return got
}

// write sends a PUT and records it with what was in force before. Writes to one
// job go one after the other: otherwise nobody could say that.
func (p *Proxy) write(r *http.Request, call Call, body []byte, at time.Time, repeat bool) reply {
	queue := p.queue(call.JobID)
	queue.Lock()
	defer queue.Unlock()
	look := r.Clone(r.Context())
	look.Method, look.ContentLength = http.MethodGet, 0
	before := p.ask(look, nil)
	got := p.ask(r, body)
	w := Write{At: at, JobID: call.JobID, Body: string(body), Status: got.status, Repeat: repeat}
	if before.status == http.StatusOK {
		w.Before = string(before.body)
	}
	p.note(w)
	return got
}

func (p *Proxy) queue(job string) *sync.Mutex {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queues[job] == nil {
		p.queues[job] = &sync.Mutex{}
	}
	return p.queues[job]
}

func (p *Proxy) note(w Write) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Done = time.Now()
	p.writes = append(p.writes, w)
}

// ask sends a request to Flink once.
func (p *Proxy) ask(r *http.Request, body []byte) reply {
	p.mu.Lock()
	base := p.target()
	p.mu.Unlock()
	out, err := http.NewRequestWithContext(r.Context(), r.Method, base+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return reply{}
	}
	out.Header = r.Header.Clone()
	resp, err := p.upstream.RoundTrip(out)
	if err != nil {
		return reply{}
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{} // half an answer is none
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: content}
}

// respond gives the worker its answer.
func respond(w http.ResponseWriter, got reply, a Answer) {
	switch a {
	case Unavailable:
		plain(w, http.StatusServiceUnavailable, `{"errors":["Service temporarily unavailable due to an ongoing leader election. Please refresh."]}`)
		return
	case Conflict:
		plain(w, http.StatusConflict, `{"errors":["org.apache.flink.runtime.rest.handler.RestHandlerException: Another update to the job [%s] resource requirements is in progress."]}`)
		return
	case Page:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n")
		return
	case Half:
		if got.status == 0 {
			got = reply{status: http.StatusOK, body: []byte("{}")}
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.Header().Set("Content-Length", "100000")
		w.WriteHeader(got.status)
		_, _ = w.Write(got.body[:(len(got.body)+1)/2])
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	if got.status == 0 || a == Dropped {
		panic(http.ErrAbortHandler) // as a dead server: no answer
	}
	for k, v := range got.header {
		w.Header()[k] = v
	}
	w.WriteHeader(got.status)
	_, _ = w.Write(got.body)
}

func plain(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
