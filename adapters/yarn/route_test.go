package yarn_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
)

// scene is an application named orders with a simulated Flink, found once.
type scene struct {
	rm      *fakeRM
	sim     *flinksim.Cluster
	address string
	c       *yarn.Cluster
	job     core.JobRef
}

func newScene(t *testing.T, change func(*yarn.Config, *scene)) *scene {
	t.Helper()
	s := &scene{}
	s.sim, s.address = startSim(t, "")
	submit(t, s.sim, "orders")
	s.rm = newRM(t, running(firstID, "orders", s.address))
	cfg := yarn.Config{ResourceManagers: []string{s.rm.URL}, Timeout: 5 * time.Second, Flink: flink.Config{Timeout: 5 * time.Second}}
	if change != nil {
		change(&cfg, s)
	}
	s.c = open(t, cfg).Impatient(time.Minute)
	var err error
	s.job, err = s.c.Locate(t.Context(), named("orders"))
	must(t, err)
	return s
}

func (s *scene) locate(t *testing.T) (core.JobRef, error) {
	t.Helper()
	return s.c.Locate(t.Context(), named("orders"))
}

// TestTheLastAddressStands: what YARN shows around a restart of a ResourceManager says
// nothing of the job as long as its Flink answers.
func TestTheLastAddressStands(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		do     func(t *testing.T, s *scene)
		want   error // nil: the job is found
		words  string
	}{
		"accepted":           {"after a restart of the ResourceManager", func(_ *testing.T, s *scene) { s.shown("ACCEPTED", "") }, nil, ""},
		"accepted, no Flink": {"a new attempt starts", func(_ *testing.T, s *scene) { s.shown("ACCEPTED", ""); s.sim.Close() }, core.ErrNotReady, "reconnecting"},
		"accepted, another":  {"another Flink took the address", func(t *testing.T, s *scene) { s.shown("ACCEPTED", ""); s.sim.Close(); another(t, s.address) }, core.ErrNotReady, "none of its jobs"},
		"forgotten":          {"by a ResourceManager without recovery", func(_ *testing.T, s *scene) { s.forgotten() }, nil, ""},
		"forgotten, gone":    {"nothing answers either", func(_ *testing.T, s *scene) { s.forgotten(); s.sim.Close() }, core.ErrNotFound, "nothing answers at its last address"},
		"forgotten, hung": {"something is there that does not answer", func(_ *testing.T, s *scene) { s.forgotten(); s.sim.SetUnavailable(flinksim.Reset) },
			core.ErrUnreachable, "cannot be judged"},
		"recovering": {"a JobManager that has just started shows no job", func(t *testing.T, s *scene) { _, s.address = startSim(t, ""); s.shown("RUNNING", s.address) },
			core.ErrNotReady, "no job yet"},
		"finished": {"its address is a stale one", func(_ *testing.T, s *scene) { s.shown("FINISHED", s.address) }, core.ErrNotFound, "FINISHED"},
		"failed":   {"with YARN's reasons", func(_ *testing.T, s *scene) { s.shown("FAILED", "") }, core.ErrNotFound, "FAILED: exit code 137"},
		"no address": {"a port of -1 is none", func(_ *testing.T, s *scene) { s.shown("RUNNING", "N/A:-1"); s.sim.Close() },
			core.ErrNotReady, "RUNNING"},
		"no answer": {"of Flink, whatever YARN shows", func(_ *testing.T, s *scene) { s.sim.Close() }, core.ErrUnreachable, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, nil)
			tc.do(t, s)
			check := func(what string, err error) {
				if tc.want == nil {
					if err != nil {
						t.Errorf("%s, %s: %v", tc.reason, what, err)
					}
					return
				}
				wantMeaning(t, tc.reason+", "+what, err, tc.want)
				if err != nil && !strings.Contains(err.Error(), tc.words) {
					t.Errorf("%s, %s: %v; want %q in it", tc.reason, what, err, tc.words)
				}
			}
			ref, err := s.locate(t)
			check("locate", err)
			if tc.want == nil && ref.ID != s.job.ID {
				t.Errorf("%s: found %s, it was %s", tc.reason, ref.ID, s.job.ID)
			}
			_, err = s.c.Status(t.Context(), s.job)
			check("status", err)
		})
	}
}

// shown changes how YARN shows the application.
func (s *scene) shown(state, address string) {
	s.rm.app(firstID, func(a *fakeApp) {
		a.State, a.Address = state, address
		if state == "FAILED" {
			a.Diagnostics = "exit code 137\n"
		}
	})
}

func (s *scene) forgotten() { s.rm.set(func() { delete(s.rm.apps, firstID) }) }

// another is the Flink of somebody else at an address.
func another(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	must(t, err)
	list := says(200, isJSON, `{"jobs":[{"jid":"00000000000000000000000000000000","name":"orders","state":"RUNNING","start-time":1,"last-modification":1}]}`)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { list(w, r) })}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }()
}

// TestAFirstLookWhileItStarts: without a last address there is none to try.
func TestAFirstLookWhileItStarts(t *testing.T) {
	t.Parallel()
	rm := newRM(t, fakeApp{ID: firstID, Name: "orders", State: "ACCEPTED", Type: "Apache Flink", Diagnostics: "waiting for resources"})
	_, err := open(t, yarn.Config{ResourceManagers: []string{rm.URL}}).Locate(t.Context(), named("orders"))
	wantMeaning(t, "it starts", err, core.ErrNotReady)
	if !strings.Contains(err.Error(), "waiting for resources") {
		t.Errorf("text: %v", err)
	}
}

// TestAMovedJobManager: the request that meets the old address is answered by the new
// one, and many such requests ask the ResourceManager about once (BC-29).
func TestAMovedJobManager(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	next, address := startSim(t, "")
	id := submit(t, next, "orders")
	s.c.Remembering(time.Hour)
	s.sim.Close()
	s.rm.app(firstID, func(a *fakeApp) { a.Address = address })
	before := s.rm.asked("GET /ws/v1/cluster/apps/" + firstID)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			ref := s.job
			ref.ID = id
			if _, err := s.c.Inspect(t.Context(), ref); err != nil {
				t.Errorf("at the new address: %v", err)
			}
		})
	}
	group.Wait()
	if n := s.rm.asked("GET /ws/v1/cluster/apps/"+firstID) - before; n > 8 {
		t.Errorf("20 requests asked %d times where it is", n)
	}
	ref, err := s.locate(t)
	must(t, err)
	wanted, err := s.c.Wanted(t.Context(), ref)
	must(t, err)
	must(t, s.c.Want(t.Context(), ref, "d1", wanted))
}

// TestChangesAreNotSentTwice: a PUT whose answer was lost is not tried elsewhere.
func TestChangesAreNotSentTwice(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	puts := 0
	s := newScene(t, nil)
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.address})
	deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			behind.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		puts++
		s.rm.app(firstID, func(a *fakeApp) { a.Address = s.address }) // where it could be sent again
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(deaf.Close)
	wanted, err := s.c.Wanted(t.Context(), s.job)
	must(t, err)
	s.rm.app(firstID, func(a *fakeApp) { a.Address = strings.TrimPrefix(deaf.URL, "http://") })
	err = s.c.Want(t.Context(), s.job, "d1", wanted)
	wantMeaning(t, "the answer was lost", err, core.ErrUnreachable)
	if puts != 1 || s.rm.asked("PUT") != 0 {
		t.Errorf("%d PUTs to Flink, %d to the ResourceManager; want one and none", puts, s.rm.asked("PUT"))
	}
}

// TestThroughTheProxy: behind a firewall reads and PUT pass, in the one form that was
// tried on real clusters; the rest is refused with what to open.
func TestThroughTheProxy(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(c *yarn.Config, s *scene) { c.Dial, c.User = firewall(s.address), "etl" })
	var body string
	s.rm.set(func() {
		s.rm.odd = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				b := make([]byte, r.ContentLength)
				_, _ = r.Body.Read(b)
				body = string(b)
				r.Body = http.NoBody
				if r.URL.Query().Get("user.name") != "etl" {
					t.Error("the proxy was not told who asks")
				}
			}
			return false
		}
	})
	wanted, err := s.c.Wanted(t.Context(), s.job)
	must(t, err)
	_ = s.c.Want(t.Context(), s.job, "d1", wanted)
	if body == "" || strings.ContainsAny(body, " \n\t") {
		t.Errorf("the body of the PUT is %q; want JSON in one line", body)
	}
	s.rm.set(func() { s.rm.odd = nil })
	err = s.c.CancelForTest(t.Context(), s.job)
	wantMeaning(t, "the proxy carries no PATCH", err, core.ErrRefused)
	if !errors.Is(err, yarn.ErrDirectOnly) || !strings.Contains(err.Error(), "rest.bind-port") {
		t.Errorf("text: %v", err)
	}
	// Where Flink does not answer through the proxy either, nothing is known.
	s.sim.Close()
	wantMeaning(t, "both ways are closed", s.c.CancelForTest(t.Context(), s.job), core.ErrUnreachable)
	_, err = s.c.Status(t.Context(), s.job)
	wantMeaning(t, "both ways are closed", err, core.ErrUnreachable)
}

// TestWhatTheProxyAnswers: only JSON of Flink is data.
func TestWhatTheProxyAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		odd    func(http.ResponseWriter, *http.Request) bool
		want   error
	}{
		"accepted":     {"it sends to its own page", recordedAnswer(t, "proxy-accepted-get.302.html"), core.ErrNotReady},
		"a page":       {"a warning, or an error that says 200", says(200, "text/html", "<html>jobs</html>"), core.ErrNotFlink},
		"unknown":      {"a page of a ResourceManager", recordedAnswer(t, "proxy-unknown.404.html"), core.ErrUnreachable},
		"broken":       {"the proxy itself, in JSON", recordedAnswer(t, "proxy-malformed.500.json"), core.ErrUnreachable},
		"broken, HTML": {"the JobManager is gone", says(500, "text/html", "<html>"), core.ErrUnreachable},
		"method":       {"though it carried GET before", recordedAnswer(t, "proxy-post.405.json"), core.ErrRefused},
		"not known":    {"nor this", recordedAnswer(t, "proxy-patch.501.txt"), core.ErrRefused},
		"unauthorized": {"with a hint", says(401, "text/html", ""), core.ErrUnauthorized},
		"no leader":    {"a failover", says(307, "text/plain", "", "Refresh", "3"), core.ErrNoLeader},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, func(c *yarn.Config, s *scene) { c.Dial = firewall(s.address) })
			s.rm.set(func() {
				s.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
					return strings.HasPrefix(r.URL.Path, "/proxy/") && tc.odd(w, r)
				}
			})
			_, err := s.c.Status(t.Context(), s.job)
			wantMeaning(t, tc.reason, err, tc.want)
		})
	}
}

// TestTheDirectWayIsTriedAgain: after a while, not at each request.
func TestTheDirectWayIsTriedAgain(t *testing.T) {
	t.Parallel()
	gate := &gate{}
	s := newScene(t, func(c *yarn.Config, s *scene) { gate.address = s.address; gate.shut(true); c.Dial = gate.dial })
	tried := gate.tries()
	for range 5 {
		_, err := s.c.Status(t.Context(), s.job)
		must(t, err)
	}
	if n := gate.tries() - tried; n != 0 {
		t.Errorf("the direct way was tried %d times", n)
	}
	gate.shut(false)
	s.c.Impatient(0)
	proxied := s.rm.asked("GET /proxy/")
	_, err := s.c.Status(t.Context(), s.job)
	must(t, err)
	if gate.tries() == tried || s.rm.asked("GET /proxy/") != proxied {
		t.Error("the direct way was not tried again")
	}
	// Without a proxy there is no way round.
	closed := newScene(t, nil)
	c := open(t, yarn.Config{ResourceManagers: []string{closed.rm.URL}, NoProxy: true, Dial: firewall(closed.address)})
	_, err = c.Locate(t.Context(), named("orders"))
	wantMeaning(t, "no proxy", err, core.ErrUnreachable)
	if n := closed.rm.asked("GET /proxy/"); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// TestTwoOfOneDescription: both are named, with what could tell them apart.
func TestTwoOfOneDescription(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	second := running(secondID, "orders", "")
	second.State, second.User, second.Queue, second.Tags = "ACCEPTED", "bi", "root.small", "other"
	s.rm.set(func() { s.rm.apps[secondID] = second })
	_, err := s.locate(t)
	wantMeaning(t, "two", err, core.ErrAmbiguous)
	for _, words := range []string{firstID + " of etl in queue root.default", secondID + " of bi in queue root.small"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v; want %q in it", err, words)
		}
	}
	for name, target := range map[string]core.YarnTarget{
		"tag": {ApplicationTag: "FA-orders"}, "user": {ApplicationName: "orders", User: "etl"}, "leaf": {ApplicationName: "orders", Queue: "default"},
		"path": {ApplicationName: "orders", Queue: "root.default"}, "type": {ApplicationTag: "fa-orders", ApplicationType: "apache flink"},
	} {
		ref, err := s.c.Locate(t.Context(), core.Target{Yarn: &target})
		if err != nil || ref.ID != s.job.ID {
			t.Errorf("by %s: %v", name, err)
		}
	}
}
