package yarn_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
)

// rms are two ResourceManagers with the same applications, of which the first acts.
type rms struct{ one, two *fakeRM }

func newRMs(t *testing.T, apps ...fakeApp) *rms {
	t.Helper()
	p := &rms{newRM(t, apps...), newRM(t, apps...)}
	p.act(p.one)
	return p
}

// act makes one of them the active one: the other sends to it. nil: both are standby.
func (p *rms) act(active *fakeRM) {
	for _, rm := range []*fakeRM{p.one, p.two} {
		rm.set(func() {
			rm.state, rm.odd = "ACTIVE", nil
			if rm == active {
				return
			}
			rm.state = "STANDBY"
			rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/info") {
					return false
				}
				if active == nil {
					w.Header().Set("Refresh", "7;url="+r.URL.RequestURI())
				} else {
					w.Header().Set("Location", active.URL+r.URL.RequestURI())
				}
				answerText(w, http.StatusTemporaryRedirect, "text/plain", "This is standby RM.")
				return true
			}
		})
	}
}

// TestTheActiveOneIsFound: at once by what both say of themselves, and again after a
// failover; in between there is no leader, and nothing is gone.
func TestTheActiveOneIsFound(t *testing.T) {
	t.Parallel()
	sim, address := startSim(t, "")
	submit(t, sim, "orders")
	p := newRMs(t, running(firstID, "orders", address))
	c := open(t, yarn.Config{ResourceManagers: []string{p.two.URL, p.one.URL}})
	locate := func() error {
		_, err := c.Locate(t.Context(), core.Target{Yarn: &core.YarnTarget{ApplicationTag: "fa-orders", Queue: "default"}})
		return err
	}
	absent := func() error { _, err := c.Locate(t.Context(), named("absent")); return err }
	must(t, locate())
	if n := p.two.asked("GET /ws/v1/cluster/apps"); n != 0 {
		t.Errorf("the standby was asked %d times", n)
	}
	p.act(p.two)
	wantMeaning(t, "the other acts now", absent(), core.ErrNotFound)
	p.act(nil)
	wantMeaning(t, "none acts", absent(), core.ErrNoLeader)
	p.act(p.one)
	p.two.Close()
	for end := time.Now().Add(10 * time.Second); ; {
		err := absent()
		if core.ReasonFor(err) == core.ReasonJobGone {
			break
		}
		if core.ReasonFor(err) != core.ReasonNoLeader || time.Now().After(end) {
			t.Fatalf("the first acts again, the second is down: %v", err)
		}
	}
	p.one.Close()
	wantMeaning(t, "both are down", absent(), core.ErrUnreachable)
}

// TestOneThatHangsCostsNothing: the active one is found beside it.
func TestOneThatHangsCostsNothing(t *testing.T) {
	t.Parallel()
	hung, rm := newRM(t), newRM(t)
	hung.odd = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
	c := open(t, yarn.Config{ResourceManagers: []string{hung.URL, rm.URL}, Timeout: time.Minute})
	began := time.Now()
	_, err := c.Locate(t.Context(), named("orders"))
	wantMeaning(t, "it is not there", err, core.ErrNotFound)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestCredentials: they are read for each request, go to configured addresses alone,
// and show in no error.
func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	must(t, os.WriteFile(password, []byte("first-s3cret\n"), 0o600))
	var got []string
	stranger := newRM(t)
	rm := newRM(t)
	rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
		user, pass, _ := r.BasicAuth()
		got = append(got, r.URL.Path+" "+user+" "+pass)
		w.Header().Set("Location", stranger.URL+r.URL.RequestURI())
		answerText(w, 307, "text/plain", "sent "+r.Header.Get("Authorization"))
		return true
	}
	c := open(t, yarn.Config{ResourceManagers: []string{rm.URL + "/gateway/default/resourcemanager"}, Username: "etl", PasswordFile: password})
	_, err := c.Locate(t.Context(), named("orders"))
	wantMeaning(t, "a redirect to a stranger", err, core.ErrNoLeader)
	must(t, os.WriteFile(password, []byte("second-s3cret\n"), 0o600))
	_, _ = c.Version(t.Context())
	const path = "/gateway/default/resourcemanager/v1/cluster"
	if len(got) != 2 || got[0] != path+"/apps etl first-s3cret" || got[1] != path+"/info etl second-s3cret" {
		t.Errorf("the gateway was sent %q", got)
	}
	if n := stranger.asked(""); n != 0 {
		t.Errorf("a stranger was asked %d times", n)
	}
	if strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a secret: %v", err)
	}
	must(t, os.Remove(password))
	_, err = c.Version(t.Context())
	wantMeaning(t, "no password", err, core.ErrUnauthorized)
	simple := newRM(t)
	if _, err := open(t, yarn.Config{ResourceManagers: []string{simple.URL}, User: "etl"}).Version(t.Context()); err != nil || simple.asked("GET /ws/v1/cluster/info?user.name=etl") != 1 {
		t.Errorf("simple authentication: %v, asked %q", err, simple.seen)
	}
}

// TestJobsShareReads: many jobs are found in one list.
func TestJobsShareReads(t *testing.T) {
	t.Parallel()
	sim, address := startSim(t, "")
	submit(t, sim, "orders")
	rm := newRM(t)
	for i := range 50 {
		id := firstID + strings.Repeat("1", i)
		rm.apps[id] = running(id, "job"+strings.Repeat("x", i), address)
	}
	c := open(t, yarn.Config{ResourceManagers: []string{rm.URL}})
	for i := range 50 {
		ref, err := c.Locate(t.Context(), named("job"+strings.Repeat("x", i)))
		must(t, err)
		_, err = c.Status(t.Context(), ref)
		must(t, err)
	}
	// The machine may be slow: a list is good for some seconds.
	if n := rm.asked("GET"); n > 20 {
		t.Errorf("50 jobs cost %d requests", n)
	}
}
