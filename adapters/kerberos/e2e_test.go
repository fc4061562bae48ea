//go:build e2e

package kerberos_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/service"
	"github.com/jcmturner/gokrb5/v8/spnego"

	"flinkscaler/adapters/kerberos"
	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/kdclocal"
)

// realm is a KDC with a principal that logs in.
type realm struct {
	*kdclocal.KDC
	keytab string
}

const me = "flinkscaler"

func startRealm(t *testing.T, o kdclocal.Options) realm {
	t.Helper()
	o.Log = t.Output()
	k, err := kdclocal.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	r := realm{KDC: k, keytab: filepath.Join(k.Dir(), "me.keytab")}
	r.writeKeytab(t)
	return r
}

func (r realm) writeKeytab(t *testing.T) {
	t.Helper()
	if err := r.Keytab(t.Context(), r.keytab, me); err != nil {
		t.Fatal(err)
	}
}

func (r realm) config() kerberos.Config {
	return kerberos.Config{Principal: me + "@" + r.Realm(), KeytabFile: r.keytab, ConfigFile: r.Config()}
}

func (r realm) login(t *testing.T) *kerberos.Login {
	t.Helper()
	l, err := kerberos.New(r.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// serve runs a server that wants tickets for HTTP/localhost and says whose they are. Like most servers that are not
// Hadoop it gives no cookie.
func (r realm) serve(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	file := filepath.Join(r.Dir(), "http.keytab")
	if err := r.Keytab(t.Context(), file, "HTTP/localhost"); err != nil {
		t.Fatal(err)
	}
	keys, err := keytab.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	asked = &atomic.Int64{}
	who := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		content, _ := io.ReadAll(q.Body)
		_, _ = w.Write(append([]byte("seen "), content...))
	})
	checked := spnego.SPNEGOKRB5Authenticate(who, keys, service.DecodePAC(false))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		checked.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1), asked
}

func put(t *testing.T, h *http.Client, url, content string) (int, string, error) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.Do(q)
	if err != nil {
		return 0, "", err
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer), nil
}

func TestNegotiates(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	url, asked := r.serve(t)
	h := &http.Client{Transport: r.login(t).Transport(nil)}
	for i, want := range []int64{2, 1, 1} { // at first it is not known that the server wants a ticket
		asked.Store(0)
		status, answer, err := put(t, h, url, "a body")
		if err != nil || status != http.StatusOK || answer != "seen a body" {
			t.Fatalf("request %d: %d %q %v", i, status, answer, err)
		}
		if asked.Load() != want {
			t.Errorf("request %d: the server was asked %d times, want %d", i, asked.Load(), want)
		}
	}
	// While the ticket lives no KDC is needed.
	if err := r.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	if status, _, err := put(t, h, url, "x"); err != nil || status != http.StatusOK {
		t.Errorf("without a KDC: %d %v", status, err)
	}
}

func TestServiceThatIsNotKnown(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	_, err := r.login(t).Client(t.Context(), "HTTP/elsewhere")
	if !errors.Is(err, core.ErrUnauthorized) || !strings.Contains(err.Error(), "does not know the service") {
		t.Errorf("got %v", err)
	}
}

func TestWrongKeysThenRightOnes(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	l := r.login(t)
	if err := r.Rotate(t.Context(), me); err != nil {
		t.Fatal(err)
	}
	_, err := l.Client(t.Context())
	if !errors.Is(err, core.ErrUnauthorized) || !strings.Contains(err.Error(), "new keytab") {
		t.Errorf("old keys: got %v", err)
	}
	r.writeKeytab(t)
	if _, err := l.Client(t.Context()); err != nil {
		t.Errorf("the new keytab: %v", err)
	}
	if err := os.Remove(r.keytab); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Client(t.Context()); err != nil {
		t.Errorf("a ticket that lives needs no keytab: %v", err)
	}
}

func TestServiceWithNewKeys(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	old, _ := r.serve(t)
	h := &http.Client{Transport: r.login(t).Transport(nil)}
	if status, _, err := put(t, h, old, "x"); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	if err := r.Rotate(t.Context(), "HTTP/localhost"); err != nil {
		t.Fatal(err)
	}
	// Another server of that name, with the new keys: the ticket that is held does not fit.
	now, _ := r.serve(t)
	if status, _, err := put(t, h, now, "x"); err != nil || status != http.StatusOK {
		t.Errorf("%d %v", status, err)
	}
}

// end is when a client's ticket ends.
func end(t *testing.T, l *kerberos.Login, ctx context.Context) (time.Time, error) {
	t.Helper()
	c, err := l.Client(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return kerberos.TicketEnd(c), nil
}

// waitForOther waits until the ticket ends at another time than before.
func waitForOther(t *testing.T, l *kerberos.Login, before time.Time) (after time.Time) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := child.WaitFor(ctx, "another ticket", func(ctx context.Context) (string, bool, error) {
		var err error
		after, err = end(t, l, ctx)
		return "the same", err == nil && after.After(before), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return after
}

func TestRenewedThenGotAnew(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	if err := r.Limit(t.Context(), me, 6*time.Second, 9*time.Second); err != nil {
		t.Fatal(err)
	}
	l := r.login(t)
	first, err := end(t, l, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Renewing needs no key: what comes after the keytab is gone, and before renewing ends, was renewed.
	away := r.keytab + ".away"
	if err := os.Rename(r.keytab, away); err != nil {
		t.Fatal(err)
	}
	second := waitForOther(t, l, first)
	if got := second.Sub(first); got > 3*time.Second {
		t.Errorf("the renewed ticket ends %s later, but renewing ends 3 s later", got)
	}
	if err := os.Rename(away, r.keytab); err != nil {
		t.Fatal(err)
	}
	if third := waitForOther(t, l, second); third.Sub(first) < 4*time.Second {
		t.Errorf("the third ticket ends %s after the first, so it is no new one", third.Sub(first))
	}
}

func TestKDCDownAndBack(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	if err := r.Limit(t.Context(), me, 6*time.Second, 0); err != nil {
		t.Fatal(err)
	}
	l := r.login(t)
	url, _ := r.serve(t)
	h := &http.Client{Transport: l.Transport(nil)}
	if status, _, err := put(t, h, url, "x"); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	ends, err := end(t, l, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	// It works until the ticket ends, then says why it does not.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var failed error
	err = child.WaitFor(ctx, "the ticket's end", func(context.Context) (string, bool, error) {
		_, _, failed = put(t, h, url, "x")
		return "works", failed != nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if early := time.Until(ends); early > 2*time.Second {
		t.Errorf("it failed %s before the ticket ended: %v", early, failed)
	}
	if !errors.Is(failed, core.ErrUnreachable) {
		t.Errorf("without a KDC: got %v", failed)
	}
	if err := r.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	if status, _, err := put(t, h, url, "x"); err != nil || status != http.StatusOK {
		t.Errorf("the KDC is back: %d %v", status, err)
	}
}

func TestSilentKDC(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	l := r.login(t)
	if err := r.Process().Freeze(); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := l.Client(ctx)
	if !errors.Is(err, core.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(started); took > 4*time.Second {
		t.Errorf("it took %s", took)
	}
	if err := r.Process().Thaw(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Client(t.Context()); err != nil {
		t.Errorf("it answers again: %v", err)
	}
}
