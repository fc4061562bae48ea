package flink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"

	"strings"
	"sync/atomic"
	"testing"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

func decodeFile(t *testing.T, file string, into any) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, file), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// hang answers nothing until the client gives up, which a server sees only
// after it has read the body.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// page answers like a login.
func page(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<!DOCTYPE html><title>Log in</title>"))
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

// half promises more than it sends.
func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"jid":"00`))
}

// reset closes the connection without an answer.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// trickle sends a byte now and then, for ever.
func trickle(w http.ResponseWriter, r *http.Request) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := w.Write([]byte(" ")); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// huge sends more than the limit and then some.
func huge(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte(`{"jid":"`))
	for r.Context().Err() == nil {
		if _, err := w.Write([]byte(strings.Repeat("x", 64<<10))); err != nil {
			return
		}
	}
}

func serverError(text string) http.HandlerFunc {
	return says(http.StatusInternalServerError, fmt.Sprintf(`{"errors":["Internal server error.","<Exception on server side:\n%s\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n\nEnd of exception on server side>"]}`, text))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		handler http.HandlerFunc
		want    error
	}{
		"hang":              {"a standby without a leader", hang, core.ErrUnreachable},
		"trickle":           {"the time-out is for the whole answer", trickle, core.ErrUnreachable},
		"half":              {"cut on its way", half, core.ErrUnreachable},
		"cut JSON":          {"cut by something that ended the answer well", says(200, `{"jid":"00`), core.ErrUnreachable},
		"empty":             {"", says(200, ""), core.ErrUnreachable},
		"reset":             {"", reset, core.ErrUnreachable},
		"huge":              {"", huge, core.ErrNotFlink},
		"page":              {"a login page with 200", page(200), core.ErrNotFlink},
		"page not found":    {"another program on the port", page(404), core.ErrNotFlink},
		"page, no type":     {"", says(200, "  <html></html>"), core.ErrNotFlink},
		"gateway page":      {"a proxy that cannot reach Flink", page(502), core.ErrUnreachable},
		"unavailable page":  {"", page(503), core.ErrUnreachable},
		"other API":         {"", says(404, `{"code":404,"message":"not found"}`), core.ErrNotFlink},
		"other JSON":        {"", says(200, `{"status":"ok"}`), core.ErrNotFlink},
		"a list":            {"", says(200, `[]`), core.ErrNotFlink},
		"null":              {"", says(200, `null`), core.ErrNotFlink},
		"not JSON":          {"", says(200, `hello`), core.ErrNotFlink},
		"redirect":          {"a redirect is not followed", redirect("https://login.example.com/?ticket=geheim"), core.ErrNotFlink},
		"unauthorized":      {"", says(401, ""), core.ErrUnauthorized},
		"forbidden":         {"", page(403), core.ErrUnauthorized},
		"too many":          {"a proxy's limit", says(429, ""), core.ErrBusy},
		"election":          {"", says(503, `{"errors":["Service temporarily unavailable due to an ongoing leader election. Please refresh."]}`), core.ErrNoLeader},
		"leader lost":       {"", serverError("org.apache.flink.runtime.rpc.exceptions.RecipientUnreachableException: Could not send message [x] to actor 17"), core.ErrNoLeader},
		"initializing":      {"", serverError("org.apache.flink.runtime.dispatcher.UnavailableDispatcherOperationException: Unable to get JobMasterGateway for initializing job. The requested operation is not available while the JobManager is initializing."), core.ErrNotReady},
		"reactive":          {"", serverError("java.lang.UnsupportedOperationException: Cannot change the parallelism of a job running in reactive mode."), core.ErrNotAdaptive},
		"server time-out":   {"", serverError("java.util.concurrent.TimeoutException: Invocation of [x] timed out."), core.ErrUnreachable},
		"anything":          {"a 500 must be worth another try", serverError("java.lang.NullPointerException"), core.ErrUnreachable},
		"no such job":       {"", says(404, `{"errors":["org.apache.flink.runtime.rest.NotFoundException: Job 0 not found\n\tat x"]}`), core.ErrNotFound},
		"404 without sense": {"nothing that says that a job is gone", says(404, `{"errors":["hm"]}`), core.ErrNotFlink},
		"long line":         {"", says(414, ""), flink.ErrURLTooLong},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.on("GET /v1/jobs/"+f.job, c.handler)
			cluster := f.cluster(t, func(cfg *flink.Config) { cfg.Timeout, cfg.MaxBodyBytes = within(c.want), 256<<10 })
			began := time.Now()
			_, err := cluster.Status(t.Context(), f.ref())
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v (%s)", err, c.want, c.reason)
			}
			if time.Since(began) > time.Minute {
				t.Errorf("took %s", time.Since(began))
			}
			if err != nil && (strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "geheim") || !strings.Contains(err.Error(), f.job)) {
				t.Errorf("not for a person's eyes: %q", err)
			}
			var op *core.OpError
			if !errors.As(err, &op) || op.Op != "read job" {
				t.Errorf("%v does not say what was tried", err)
			}
			// The connection is whole again: nothing of the bad answer is left.
			f.on("GET /v1/jobs/"+f.job, text(t, "job.200.json"))
			if _, err := cluster.Status(t.Context(), f.ref()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := newCluster(t, flink.Config{URLs: []string{server.URL}}).Locate(t.Context(), target("orders"))
	if !errors.Is(err, core.ErrUnreachable) || errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v, want unreachable", err)
	}
}

func TestCancelledAndLate(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET /v1/jobs/"+f.job, hang)
	c := f.cluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for f.count("GET /v1/jobs/"+f.job) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := c.Status(ctx, f.ref()); !errors.Is(err, core.ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Status(ctx, f.ref()); !errors.Is(err, core.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
}

func TestSeveralJobManagers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		first  http.HandlerFunc
		want   error // nil: the second is asked and answers
	}{
		"hangs":        {"a standby without a leader", hang, nil},
		"election":     {"", says(503, `{"errors":["leader election"]}`), nil},
		"leader lost":  {"", serverError("x.RecipientUnreachableException: y"), nil},
		"redirects":    {"an old standby", redirect("http://leader.example.com:8081/"), nil},
		"resets":       {"", reset, nil},
		"page":         {"", page(200), nil},
		"job gone":     {"an answer is an answer", says(404, `{"errors":["x.NotFoundException: Job 0 not found"]}`), core.ErrNotFound},
		"unauthorized": {"all have the same credentials", says(401, ""), core.ErrUnauthorized},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newFake(t), newFake(t)
			path := "GET /v1/jobs/" + first.job
			first.on(path, c.first)
			cluster := newCluster(t, flink.Config{URLs: []string{first.URL, second.URL}, Timeout: 200 * time.Millisecond})
			for range 3 {
				if _, err := cluster.Status(t.Context(), first.ref()); !errors.Is(err, c.want) {
					t.Fatalf("%v, want %v (%s)", err, c.want, c.reason)
				}
			}
			if c.want == nil && (first.count(path) != 1 || second.count(path) != 3) {
				t.Errorf("asked the first %d and the second %d times, want 1 and 3: the good one is remembered", first.count(path), second.count(path))
			}
			if c.want != nil && second.count(path) != 0 {
				t.Error("the second was asked though the first had answered")
			}
		})
	}
}

func TestAllJobManagersFail(t *testing.T) {
	t.Parallel()
	down, electing := newFake(t), newFake(t)
	down.Close()
	electing.on("GET /v1/jobs/"+electing.job, says(503, `{"errors":["leader election"]}`))
	c := newCluster(t, flink.Config{URLs: []string{down.URL, electing.URL}, Timeout: time.Second})
	_, err := c.Status(t.Context(), down.ref())
	if !errors.Is(err, core.ErrNoLeader) || errors.Is(err, core.ErrUnreachable) {
		t.Errorf("%v: the one that answers says more than the one that is down", err)
	}
	if !strings.Contains(fmt.Sprint(err), strings.TrimPrefix(electing.URL, "http://")) {
		t.Errorf("%v does not name the address", err)
	}
}

func TestShortTimeIsSharedByAddresses(t *testing.T) {
	t.Parallel()
	first, second := newFake(t), newFake(t)
	first.on("GET /v1/jobs/"+first.job, hang)
	c := newCluster(t, flink.Config{URLs: []string{first.URL, second.URL}, Timeout: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := c.Status(ctx, first.ref()); err != nil {
		t.Errorf("%v: the first took all the time", err)
	}
}

func wantOf(t *testing.T, c *flink.Cluster, ref core.JobRef) core.Requirements {
	t.Helper()
	r, err := c.Wanted(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWantSendsTheWholeListOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	path := "PUT /v1/jobs/" + f.job + "/resource-requirements"
	var body atomic.Value
	f.on(path, func(w http.ResponseWriter, r *http.Request) {
		var got map[string]struct {
			Parallelism struct{ LowerBound, UpperBound int }
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v, content type %q", err, r.Header.Get("Content-Type"))
		}
		body.Store(fmt.Sprint(got[f.slow], got[f.source], len(got)))
		_, _ = w.Write([]byte("{}"))
	})
	c := f.cluster(t)
	wanted := wantOf(t, c, f.ref())
	wanted[0].Upper = 7
	if err := c.Want(t.Context(), f.ref(), "d1", wanted); err != nil {
		t.Fatal(err)
	}
	if got, want := body.Load(), "{{1 7}} {{1 1}} 2"; got != want {
		t.Errorf("sent %v, want %v", got, want)
	}
	if n := f.count(path); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// within is a time-out: short only where running into it is no other error, since
// a busy machine answers late.
func within(want error) time.Duration {
	if errors.Is(want, core.ErrUnreachable) {
		return 300 * time.Millisecond
	}
	return time.Minute
}

func TestWantIsNeverRepeated(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		handler http.HandlerFunc
		want    error
	}{
		"busy":      {says(409, `{"errors":["Another update to the job [%s] resource requirements is in progress."]}`), core.ErrBusy},
		"hangs":     {hang, core.ErrUnreachable},
		"resets":    {reset, core.ErrUnreachable},
		"half":      {half, core.ErrUnreachable},
		"election":  {says(503, `{"errors":["leader election"]}`), core.ErrNoLeader},
		"page":      {page(200), core.ErrNotFlink},
		"redirects": {redirect("/elsewhere"), core.ErrNotFlink},
		"not taken": {says(200, `{"status":"ok"}`), core.ErrNotFlink},
		"not saved": {serverError("java.io.IOException: could not be persisted"), core.ErrUnreachable},
		"refused":   {text(t, "put-above-max.400.json"), core.ErrRefused},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newFake(t), newFake(t)
			path := "PUT /v1/jobs/" + first.job + "/resource-requirements"
			first.on(path, c.handler)
			first.on("GET /elsewhere", says(200, "{}"))
			cluster := newCluster(t, flink.Config{URLs: []string{first.URL, second.URL}, Timeout: within(c.want)})
			err := cluster.Want(t.Context(), first.ref(), "d1", wantOf(t, cluster, first.ref()))
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if n := first.count("PUT") + second.count("PUT"); n != 1 || first.count("GET /elsewhere") > 0 {
				t.Errorf("%d requests left us, want one", n)
			}
		})
	}
}

func TestWantGoesOnWhereNothingWasSent(t *testing.T) {
	t.Parallel()
	first, second := newFake(t), newFake(t)
	var put atomic.Bool
	// The first answers the look before and is gone when the PUT comes.
	first.on("GET /v1/jobs/"+first.job+"/resource-requirements", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(readFile(t, "requirements.200.json"))
		put.Store(true)
	})
	closed := httptest.NewServer(first)
	closed.Close()
	c := newCluster(t, flink.Config{
		URLs: []string{first.URL, second.URL}, Timeout: time.Second,
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if put.Load() && "http://"+r.URL.Host == first.URL {
				r = r.Clone(r.Context())
				r.URL.Host = strings.TrimPrefix(closed.URL, "http://")
			}
			return http.DefaultTransport.RoundTrip(r)
		}),
	})
	if err := c.Want(t.Context(), first.ref(), "d1", wantOf(t, c, first.ref())); err != nil {
		t.Fatal(err)
	}
	if first.count("PUT") != 0 || second.count("PUT") != 1 {
		t.Errorf("sent to the first %d, to the second %d times", first.count("PUT"), second.count("PUT"))
	}
}

func TestWantStopsWhereItMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	first, second := newFake(t), newFake(t)
	c := newCluster(t, flink.Config{
		URLs: []string{first.URL, second.URL}, Timeout: time.Second,
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPut { // a transport that tells nothing
				return nil, errors.New("something went wrong")
			}
			return http.DefaultTransport.RoundTrip(r)
		}),
	})
	if err := c.Want(t.Context(), first.ref(), "d1", wantOf(t, c, first.ref())); !errors.Is(err, core.ErrUnreachable) {
		t.Error(err)
	}
	if n := first.count("PUT") + second.count("PUT"); n != 0 {
		t.Errorf("sent again %d times", n)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestLowerBoundIsNeverRaised(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.cluster(t)
	wanted := wantOf(t, c, f.ref())
	wanted[1].Lower, wanted[1].Upper = 2, 4
	err := c.Want(t.Context(), f.ref(), "d1", wanted)
	if !errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), "from 1 to 2") {
		t.Errorf("%v", err)
	}
	if n := f.count("PUT"); n != 0 {
		t.Errorf("%d requests left us", n)
	}
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	release := make(chan struct{})
	f.on("GET /v1/jobs/"+f.job, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = w.Write(readFile(t, "job.200.json"))
	})
	c := f.cluster(t, func(cfg *flink.Config) { cfg.MaxRequests = 3 })
	errs := make(chan error)
	for range 20 {
		go func() {
			_, err := c.Status(t.Context(), f.ref())
			errs <- err
		}()
	}
	for f.count("GET") < 3 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if f.atOnce > 3 {
		t.Errorf("%d requests at once", f.atOnce)
	}
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(f)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	c := newCluster(t, flink.Config{URLs: []string{server.URL}})
	for range 20 {
		if _, err := c.Status(t.Context(), f.ref()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Status(t.Context(), core.JobRef{ID: "gone"}); err == nil {
			t.Fatal("no error")
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for requests one after another", n)
	}
}
