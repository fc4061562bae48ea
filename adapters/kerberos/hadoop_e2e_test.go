//go:build e2e

package kerberos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	hdfslib "github.com/colinmarc/hdfs/v2"

	"flinkscaler/adapters/hdfs"
	"flinkscaler/adapters/kerberos"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/child"
	"flinkscaler/internal/kdclocal"
)

// site is a secured Hadoop with its KDC.
type site struct {
	realm
	*hadoop.Cluster
	login *kerberos.Login
}

// TestSecuredHadoop has one cluster for all that is asked of it: a start takes half a minute.
func TestSecuredHadoop(t *testing.T) {
	r := startRealm(t, kdclocal.Options{})
	s := site{realm: r, login: r.login(t)}
	security, err := hadoop.Secure(t.Context(), hadoop.SecureOptions{KDC: r.KDC, HTTP: &http.Client{Transport: s.login.Transport(nil)}})
	must(t, err)
	began := time.Now()
	s.Cluster, err = hadoop.Start(t.Context(), hadoop.Options{YARN: true, Security: security, Log: t.Output()})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Attr("boot_of_a_secured_cluster", time.Since(began).Round(100*time.Millisecond).String())
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"YARN knows who asks", s.yarnKnowsWhoAsks},
		{"HDFS protects by authentication", func(t *testing.T) { s.hdfsProtects(t, hadoop.ProtectAuthentication) }},
		{"tickets end in the middle", s.ticketsEnd},
		{"HDFS protects by integrity", func(t *testing.T) { s.hdfsProtects(t, hadoop.ProtectIntegrity) }},
		{"HDFS protects by privacy", func(t *testing.T) { s.hdfsProtects(t, hadoop.ProtectPrivacy) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			c.test(t)
			t.Logf("took %s", time.Since(began).Round(100*time.Millisecond))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// other is the login of another principal, which may be limited.
func (s site) other(t *testing.T, name string, life time.Duration) (login *kerberos.Login, keytab string) {
	t.Helper()
	keytab = filepath.Join(s.realm.Dir(), name+".keytab")
	must(t, s.Keytab(t.Context(), keytab, name))
	if life > 0 {
		must(t, s.Limit(t.Context(), name, life, 2*life))
	}
	login, err := kerberos.New(kerberos.Config{Principal: name, KeytabFile: keytab, ConfigFile: s.Config()})
	must(t, err)
	t.Cleanup(login.Close)
	return login, keytab
}

// rest asks the ResourceManager.
func (s site) rest(ctx context.Context, h *http.Client, method, path, body string) (int, string, error) {
	q, err := http.NewRequestWithContext(ctx, method, s.ResourceManager().URL()+"/ws/v1/cluster"+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	q.Header.Set("Accept", "application/json")
	q.Header.Set("Content-Type", "application/json")
	response, err := h.Do(q)
	if err != nil {
		return 0, "", err
	}
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), errors.Join(err, response.Body.Close())
}

// want asks the ResourceManager and wants a status.
func (s site) want(t *testing.T, status int, h *http.Client, method, path, body string) string {
	t.Helper()
	got, answer, err := s.rest(t.Context(), h, method, path, body)
	must(t, err)
	if got != status {
		t.Fatalf("%s %s: got %d, want %d: %.400s", method, path, got, status, answer)
	}
	return answer
}

// yarnKnowsWhoAsks runs an application that only sleeps: it is there to be seen and killed.
func (s site) yarnKnowsWhoAsks(t *testing.T) {
	nobody := &http.Client{}
	us := &http.Client{Transport: s.login.Transport(nil)}
	stranger, _ := s.other(t, "stranger", 0)
	them := &http.Client{Transport: stranger.Transport(nil)}

	s.want(t, http.StatusUnauthorized, nobody, http.MethodGet, "/info", "")
	s.want(t, http.StatusUnauthorized, nobody, http.MethodGet, "/info?user.name="+me, "")
	s.want(t, http.StatusOK, us, http.MethodGet, "/info", "")
	unnamed, err := yarn.New(yarn.Config{ResourceManagers: s.ResourceManagerURLs(), User: me})
	must(t, err)
	defer unnamed.Close()
	if _, err := unnamed.Version(t.Context()); !errors.Is(err, core.ErrUnauthorized) {
		t.Errorf("the adapter without a login: got %v", err)
	}
	var fresh struct {
		ID string `json:"application-id"`
	}
	must(t, json.Unmarshal([]byte(s.want(t, http.StatusOK, us, http.MethodPost, "/apps/new-application", "")), &fresh))
	s.want(t, http.StatusAccepted, us, http.MethodPost, "/apps", fmt.Sprintf(`{"application-id":%q,"application-name":"sleeper",
		"application-type":"SLEEP","max-app-attempts":1,"resource":{"memory":128,"vCores":1},
		"am-container-spec":{"commands":{"command":"sleep 600"}}}`, fresh.ID))
	path := "/apps/" + fresh.ID
	var shown struct{ App struct{ User, State string } }
	wait := func(state string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		must(t, child.WaitFor(ctx, "the application to be "+state, func(ctx context.Context) (string, bool, error) {
			_, answer, err := s.rest(ctx, us, http.MethodGet, path, "")
			if err == nil {
				err = json.Unmarshal([]byte(answer), &shown)
			}
			return shown.App.State, shown.App.State == state, err
		}))
	}
	wait("ACCEPTED")
	if shown.App.User != me {
		t.Errorf("YARN takes us for %q, want %q", shown.App.User, me)
	}
	const kill = `{"state":"KILLED"}`
	s.want(t, http.StatusUnauthorized, nobody, http.MethodPut, path+"/state", kill)
	s.want(t, http.StatusUnauthorized, nobody, http.MethodPut, path+"/state?user.name="+me, kill)
	s.want(t, http.StatusForbidden, them, http.MethodPut, path+"/state", kill)
	wait("ACCEPTED")
	s.want(t, http.StatusAccepted, us, http.MethodPut, path+"/state", kill)
	wait("KILLED")
}

// storage is HDFS as the worker sees it.
func (s site) storage(t *testing.T, login *kerberos.Login) *hdfs.Storage {
	t.Helper()
	h, err := hdfs.New(hdfs.Config{ConfigDirectory: s.ConfDir(), Login: login})
	must(t, err)
	return h
}

// tapped is a connection whose bytes are looked at.
type tapped struct {
	net.Conn
	mu   *sync.Mutex
	seen *bytes.Buffer
}

func (c tapped) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.seen.Write(p)
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// hdfsProtects writes and reads with the library itself, and looks at a savepoint as the worker does.
func (s site) hdfsProtects(t *testing.T, protection string) {
	if protection != hadoop.ProtectAuthentication {
		began := time.Now()
		must(t, s.Protect(t.Context(), protection))
		t.Logf("restart of HDFS took %s", time.Since(began).Round(100*time.Millisecond))
	}
	c, err := s.login.Client(t.Context(), "nn/localhost")
	must(t, err)
	var lock sync.Mutex
	var seen bytes.Buffer
	f, err := hdfslib.NewClient(hdfslib.ClientOptions{
		Addresses: []string{s.NameNode().Address()}, KerberosClient: c, KerberosServicePrincipleName: "nn/_HOST",
		DataTransferProtection: protection, UseDatanodeHostname: true,
		DatanodeDialFunc: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return tapped{Conn: conn, mu: &lock, seen: &seen}, err
		},
	})
	must(t, err)
	defer func() { _ = f.Close() }()

	// The library loses its place in what DataNodes send by SASL: in a stream with integrity alone. AES has another.
	reads := protection != hadoop.ProtectIntegrity
	for name, size := range map[string]int{"small": 31_000, "large": 500_000} {
		folder := place(protection, name)
		content := bytes.Repeat([]byte("what a stream would show "), size/25)
		copy(content, "\x49\x60\x67\x2d")
		must(t, f.MkdirAll(folder, 0o755))
		write(t, f, folder+"/_metadata", content)
		lock.Lock()
		plain := bytes.Contains(seen.Bytes(), content[len(content)/2:len(content)/2+100])
		seen.Reset()
		lock.Unlock()
		if plain == (protection == hadoop.ProtectPrivacy) {
			t.Errorf("what goes to the DataNode can be read: %t", plain)
		}
		if reads {
			got, err := f.ReadFile(folder + "/_metadata")
			must(t, err)
			if !bytes.Equal(got, content) {
				t.Errorf("%d bytes were written, and %d others read", len(content), len(got))
			}
		}
		info, err := f.Stat(folder)
		must(t, err)
		if owner := info.(*hdfslib.FileInfo).Owner(); owner != me {
			t.Errorf("HDFS takes us for %q", owner)
		}
		kept, err := f.Stat(folder + "/_metadata")
		must(t, err)
		if kept.Size() != int64(len(content)) {
			t.Errorf("HDFS keeps %d bytes, want %d", kept.Size(), len(content))
		}
		savepoint, err := s.storage(t, s.login).Check(t.Context(), s.DefaultFS()+folder)
		must(t, err)
		if savepoint.Size != int64(len(content)) || !savepoint.At.Equal(kept.ModTime()) {
			t.Errorf("the savepoint has %d bytes of %s, want %d of %s", savepoint.Size, savepoint.At, len(content), kept.ModTime())
		}
		if told := strings.Contains(savepoint.Note, "protection "+protection); told == reads {
			t.Errorf("it was read: %t, but the note says %q", reads, savepoint.Note)
		}
	}
	if !reads {
		s.withoutBytes(t, f, place(protection, "small"))
	}
}

// withoutBytes looks at savepoints whose bytes cannot be read: the NameNode has to call one whole, and its DataNode has
// to be there.
func (s site) withoutBytes(t *testing.T, f *hdfslib.Client, folder string) {
	storage, begun := s.storage(t, s.login), place("begun", "small")
	must(t, f.MkdirAll(begun, 0o755))
	must(t, f.CreateEmptyFile(begun+"/_metadata"))
	if _, err := storage.Check(t.Context(), s.DefaultFS()+begun); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("empty metadata: got %v", err)
	}
	found, err := storage.List(t.Context(), s.DefaultFS()+folder[:strings.LastIndexByte(folder, '/')])
	if err != nil || len(found) != 2 || found[0].Note == "" || found[1].Note == "" {
		t.Errorf("listed %+v, %v", found, err)
	}
	must(t, s.DataNode().Kill())
	if got, err := storage.Check(t.Context(), s.DefaultFS()+folder); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("a killed DataNode: got %+v, %v", got, err)
	}
	must(t, s.DataNode().Restart(t.Context()))
}

// place is where a test's savepoint is.
func place(protection, name string) string {
	return "/savepoints-" + protection + "/savepoint-" + name
}

// write writes a file whole: to close it is to wait until a DataNode has said that it has it.
func write(t *testing.T, f *hdfslib.Client, file string, content []byte) {
	t.Helper()
	w, err := f.Create(file)
	must(t, err)
	_, err = w.Write(content)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, "the file to be closed", func(context.Context) (string, bool, error) {
		err := w.Close()
		if hdfslib.IsErrReplicating(err) {
			return "replicating", false, nil
		}
		return "closed", err == nil, err
	}))
}

// ticketsEnd uses tickets that live for seconds, with a KDC that goes and comes back, and a keytab that is replaced.
func (s site) ticketsEnd(t *testing.T) {
	const life = 6 * time.Second
	login, keytab := s.other(t, "short", life)
	h := s.storage(t, login)
	check := func(ctx context.Context) error {
		_, err := h.Check(ctx, s.DefaultFS()+place(hadoop.ProtectAuthentication, "small"))
		return err
	}
	kept := &http.Client{Transport: login.Transport(nil)}
	asked := func(ctx context.Context, h *http.Client) error {
		status, answer, err := s.rest(ctx, h, http.MethodGet, "/info", "")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%d: %.300s", status, answer)
		}
		return err
	}
	anew := func(ctx context.Context) error {
		c, err := yarn.New(yarn.Config{ResourceManagers: s.ResourceManagerURLs(), Login: login}) // without a cookie
		must(t, err)
		defer c.Close()
		_, err = c.Version(ctx)
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	// until asks again and again until something happens, and gives the error that was there then.
	until := func(what string, ask func(context.Context) error, done func(error) bool) error {
		t.Helper()
		var last error
		must(t, child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
			last = ask(ctx)
			return fmt.Sprint(last), done(last), nil
		}))
		return last
	}

	must(t, asked(ctx, kept))
	first, err := end(t, login, ctx)
	must(t, err)
	until("the ticket to be renewed, and its successor to be got anew", func(ctx context.Context) error {
		must(t, check(ctx))
		must(t, anew(ctx))
		return nil
	}, func(error) bool {
		now, err := end(t, login, ctx)
		must(t, err)
		return now.Sub(first) > life+time.Second // renewing ends after twice the life
	})

	last, err := end(t, login, ctx)
	must(t, err)
	must(t, s.realm.Process().Kill())
	failed := until("the ticket's end", check, func(err error) bool { return err != nil })
	if early := time.Until(last); early > 2*time.Second {
		t.Errorf("without a KDC, HDFS failed %s before the ticket ended: %v", early, failed)
	}
	if !errors.Is(failed, core.ErrUnreachable) {
		t.Errorf("HDFS without a KDC: got %v", failed)
	}
	if err := anew(ctx); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("YARN without a KDC: got %v", err)
	}
	if err := asked(ctx, kept); err != nil {
		t.Errorf("YARN's own cookie outlives the ticket: %v", err)
	}

	must(t, s.realm.Launch(ctx))
	until("HDFS again", check, func(err error) bool { return err == nil })
	must(t, anew(ctx))

	must(t, s.Rotate(ctx, "short"))
	failed = until("the old keys to be refused", check, func(err error) bool { return err != nil })
	if !errors.Is(failed, core.ErrUnauthorized) {
		t.Errorf("HDFS with old keys: got %v", failed)
	}
	if err := anew(ctx); !errors.Is(err, core.ErrUnauthorized) {
		t.Errorf("YARN with old keys: got %v", err)
	}
	must(t, s.Keytab(ctx, keytab, "short"))
	must(t, check(ctx))
	must(t, anew(ctx))
}
