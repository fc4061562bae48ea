package flink_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

func write(t *testing.T, file, content string) string {
	t.Helper()
	if !filepath.IsAbs(file) {
		file = filepath.Join(t.TempDir(), file)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestConfigProblems(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "geheim\n")
	cases := map[string]struct {
		cfg  flink.Config
		want []string
	}{
		"nothing":           {flink.Config{}, []string{"urls: must name at least one address"}},
		"user in URL":       {flink.Config{URLs: []string{"http://flink:geheim@jm:8081"}}, []string{"urls[0]: must not hold a user or password; use usernameFile and passwordFile"}},
		"token in URL":      {flink.Config{URLs: []string{"http://jm:8081/?token=geheim"}}, []string{"urls[0]: must not hold a query or fragment"}},
		"broken URL":        {flink.Config{URLs: []string{"http://jm", "http://geheim:%zz"}}, []string{"urls[1]: is not a URL"}},
		"no scheme":         {flink.Config{URLs: []string{"jm:8081"}}, []string{"urls[0]: must begin with http:// or https://"}},
		"no host":           {flink.Config{URLs: []string{"http:///flink"}}, []string{"urls[0]: has no host"}},
		"negative":          {flink.Config{URLs: []string{"http://jm"}, Timeout: -1, MaxBodyBytes: -1, MaxRequests: -1}, []string{"timeout: must not be negative", "maxBodyBytes: must not be", "maxRequests: must not be"}},
		"TLS without https": {flink.Config{URLs: []string{"http://jm"}, ServerName: "jm"}, []string{"are of no use without an https address"}},
		"half a pair":       {flink.Config{URLs: []string{"https://jm"}, KeyFile: secret}, []string{"certFile, keyFile: one needs the other"}},
		"not a certificate": {flink.Config{URLs: []string{"https://jm"}, CAFile: secret}, []string{"caFile: holds no certificate in PEM form"}},
		"not a pair":        {flink.Config{URLs: []string{"https://jm"}, CertFile: secret, KeyFile: secret}, []string{"certFile and keyFile: "}},
		"user alone":        {flink.Config{URLs: []string{"http://jm"}, Username: "flink"}, []string{"passwordFile: goes with username"}},
		"two users":         {flink.Config{URLs: []string{"http://jm"}, Username: "flink", UsernameFile: secret, PasswordFile: secret}, []string{"username, usernameFile: only one"}},
		"token beside it":   {flink.Config{URLs: []string{"http://jm"}, Username: "flink", PasswordFile: secret, BearerTokenFile: secret}, []string{"bearerTokenFile: cannot be used beside"}},
		"missing file":      {flink.Config{URLs: []string{"http://jm"}, BearerTokenFile: "/no/such/file"}, []string{"bearerTokenFile: open /no/such/file"}},
		"empty file":        {flink.Config{URLs: []string{"http://jm"}, BearerTokenFile: write(t, "empty", " \n")}, []string{"bearerTokenFile: ", "is empty"}},
		"two lines":         {flink.Config{URLs: []string{"http://jm"}, Username: "a", PasswordFile: write(t, "two", "geheim\ngeheim")}, []string{"passwordFile: ", "must hold one line"}},
		"several":           {flink.Config{URLs: []string{"jm"}, Timeout: -1}, []string{"urls[0]: ", "timeout: "}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := flink.New(c.cfg)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "geheim") {
				t.Errorf("%q tells a secret", err)
			}
		})
	}
}

func TestCredentialsAreReadForEachRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var got string
	f.on("GET /v1/jobs/"+f.job, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		_, _ = w.Write(readFile(t, "job.200.json"))
	})
	ask := func(c *flink.Cluster, want string) {
		t.Helper()
		if _, err := c.Status(t.Context(), f.ref()); err != nil || got != want {
			t.Errorf("%v, sent %q, want %q", err, got, want)
		}
	}
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	password := write(t, "password", "first\n")
	c := f.cluster(t, func(cfg *flink.Config) { cfg.Username, cfg.PasswordFile = "flink", password })
	ask(c, basic("flink:first"))
	write(t, password, "other") // replaced at once, of the same length
	ask(c, basic("flink:other"))
	user := write(t, "user", "scaler")
	ask(f.cluster(t, func(cfg *flink.Config) { cfg.UsernameFile, cfg.PasswordFile = user, password }), basic("scaler:other"))
	token := write(t, "token", "abc")
	c = f.cluster(t, func(cfg *flink.Config) { cfg.BearerTokenFile = token })
	ask(c, "Bearer abc")
	ask(f.cluster(t), "")
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	before := f.count("GET")
	if _, err := c.Status(t.Context(), f.ref()); !errors.Is(err, core.ErrUnauthorized) || f.count("GET") != before {
		t.Errorf("%v: without its token nothing is asked", err)
	}
}

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.cluster(t, func(cfg *flink.Config) { cfg.Username, cfg.PasswordFile = "flink", write(t, "password", "geheim") })
	for name, h := range map[string]http.HandlerFunc{
		"a refusal that echoes": func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			says(400, `{"errors":["bad header `+r.Header.Get("Authorization")+` with `+password+`"]}`)(w, r)
		},
		"a list of what came": func(w http.ResponseWriter, r *http.Request) {
			says(200, `["`+r.Header.Get("Authorization")+`"]`)(w, r)
		},
		"a redirect with it": func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			http.Redirect(w, r, "http://flink:"+password+"@elsewhere/?p="+password, http.StatusFound)
		},
	} {
		f.on("GET /v1/jobs/"+f.job, h)
		_, err := c.Status(t.Context(), f.ref())
		var op *core.OpError
		if err == nil || !errors.As(err, &op) {
			t.Fatalf("%s: %v", name, err)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), "geheim") || strings.Contains(e.Error(), base64.StdEncoding.EncodeToString([]byte("flink:geheim"))) {
				t.Errorf("%s: %q tells a secret", name, e)
			}
		}
	}
}

// authority makes certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.make(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	return a
}

func (a *authority) make(template *x509.Certificate, parent *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "flinkscaler test"}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	signer, signKey := template, key
	if parent != nil {
		signer, signKey = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, signKey)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// issue makes a certificate for localhost and 127.0.0.1, or a client.
func (a *authority) issue(names ...string) (certPEM, keyPEM string) {
	a.t.Helper()
	cert, key := a.make(&x509.Certificate{
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a)
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return asPEM("CERTIFICATE", cert.Raw), asPEM("EC PRIVATE KEY", der)
}

func asPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// serveTLS serves a fake with a certificate of a, and asks for one of clients.
func serveTLS(t *testing.T, f *fake, a, clients *authority) *httptest.Server {
	t.Helper()
	certPEM, keyPEM := a.issue("jobmanager")
	pair, err := tls.X509KeyPair([]byte(certPEM), []byte(keyPEM))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(f)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if clients != nil {
		server.TLS.ClientAuth, server.TLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		server.TLS.ClientCAs.AddCert(clients.cert)
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are wanted
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	f := newFake(t)
	server := serveTLS(t, f, ours, theirs)
	ca, certPEM, keyPEM := asPEM("CERTIFICATE", ours.cert.Raw), "", ""
	certPEM, keyPEM = theirs.issue()
	good := flink.Config{URLs: []string{server.URL}, CAFile: write(t, "ca", ca), CertFile: write(t, "cert", certPEM), KeyFile: write(t, "key", keyPEM)}
	ask := func(cfg flink.Config) error {
		_, err := newCluster(t, cfg).Status(t.Context(), f.ref())
		return err
	}
	if err := ask(good); err != nil {
		t.Errorf("with everything right: %v", err)
	}
	named := good
	named.ServerName = "jobmanager"
	if err := ask(named); err != nil {
		t.Errorf("with the name in the certificate: %v", err)
	}
	named.ServerName = "elsewhere"
	unknown := good
	unknown.CAFile = write(t, "ca", asPEM("CERTIFICATE", theirs.cert.Raw))
	without := good
	without.CertFile, without.KeyFile = "", ""
	for name, cfg := range map[string]flink.Config{"wrong name": named, "unknown authority": unknown, "no client certificate": without} {
		if err := ask(cfg); !errors.Is(err, core.ErrUnreachable) {
			t.Errorf("%s: %v, want unreachable", name, err)
		}
	}
}

func TestCertificatesAreReadForEachConnection(t *testing.T) {
	t.Parallel()
	first, second := newAuthority(t), newAuthority(t)
	f := newFake(t)
	old := serveTLS(t, f, first, nil)
	renewed := serveTLS(t, f, second, nil)
	ca := write(t, "ca", asPEM("CERTIFICATE", first.cert.Raw))
	c := newCluster(t, flink.Config{URLs: []string{old.URL, renewed.URL}, CAFile: ca, Timeout: 2 * time.Second})
	if _, err := c.Status(t.Context(), f.ref()); err != nil {
		t.Fatal(err)
	}
	old.Close()
	if _, err := c.Status(t.Context(), f.ref()); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("%v: the renewed certificate is not of a known authority yet", err)
	}
	write(t, ca, asPEM("CERTIFICATE", second.cert.Raw))
	if _, err := c.Status(t.Context(), f.ref()); err != nil {
		t.Errorf("after the authority's file was replaced: %v", err)
	}
}

func TestPathInFrontIsKept(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	server := httptest.NewServer(http.StripPrefix("/proxy/application_1_2", f))
	defer server.Close()
	c := newCluster(t, flink.Config{URLs: []string{server.URL + "/proxy/application_1_2/"}})
	if m := measure(t, c, f.ref(), all); !m.Fresh || len(m.Vertices[0].Values) != 2 {
		t.Errorf("%+v", m)
	}
}

func TestRescalesAreOptional(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.cluster(t)
	got, kept, err := c.Rescales(t.Context(), f.ref())
	if err != nil || !kept || len(got) == 0 || got[0].Cause == "" || got[0].StartedAt.IsZero() {
		t.Errorf("%+v, %v, %v", got, kept, err)
	}
	f.on("GET /v1/jobs/"+f.job+"/rescales/history", text(t, "default-scheduler-rescales.404.json"))
	if got, kept, err := c.Rescales(t.Context(), f.ref()); err != nil || kept || len(got) > 0 {
		t.Errorf("not kept: %+v, %v, %v", got, kept, err)
	}
	if _, kept, err := c.RescaleTimings(t.Context(), f.ref()); err != nil || kept {
		t.Errorf("no such path: %v, %v", kept, err)
	}
	f.on("GET /v1/jobs/"+f.job+"/rescales/history", text(t, "gone.404.json"))
	if _, _, err := c.Rescales(t.Context(), f.ref()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("of a job that is gone: %v", err)
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.cluster(t)
	at := "GET /v1/jobs/" + f.job
	f.on(at+"/checkpoints", says(200, `{"counts":{},"latest":{"completed":{"trigger_timestamp":1000,"state_size":123456,"checkpointed_size":99},"failed":{"trigger_timestamp":2000,"failure_message":"java.io.IOException: disk full\n\tat x"}},
		"history":[{"status":"IN_PROGRESS","is_savepoint":true}]}`))
	f.on(at+"/exceptions", says(200, `{"root-exception":"old","timestamp":1,"exceptionHistory":{"entries":[
		{"exceptionName":"a.B","stacktrace":"org.apache.flink.util.FlinkException: TaskManager was killed\n\tat x","timestamp":5000},{"exceptionName":"a.C","stacktrace":"x","timestamp":4000}]}}`))
	got, err := c.Inspect(t.Context(), f.ref())
	want := core.JobHealth{
		Checkpointing: true, Interval: 5 * time.Second, LastCompleted: time.UnixMilli(1000).UTC(), StateSize: core.Read(123456), LastFailed: time.UnixMilli(2000).UTC(),
		FailureNote: "disk full", SavepointInProgress: true, LastError: time.UnixMilli(5000).UTC(), LastErrorNote: "TaskManager was killed",
		Errors: []time.Time{time.UnixMilli(5000).UTC(), time.UnixMilli(4000).UTC()},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %+v, want %+v", err, got, want)
	}
	// A job without checkpointing is no error, and its failures still count.
	f.on(at+"/checkpoints/config", says(404, `{"errors":["org.apache.flink.runtime.rest.handler.RestHandlerException: Checkpointing is not enabled for this job (1).\n\tat x"]}`))
	got, err = c.Inspect(t.Context(), f.ref())
	if err != nil || got.Checkpointing || got.LastErrorNote != "TaskManager was killed" {
		t.Errorf("%v, %+v", err, got)
	}
	f.on(at+"/exceptions", serverError("x"))
	if _, err = c.Inspect(t.Context(), f.ref()); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("%v: what cannot be read is said", err)
	}
}

func TestLocateNeverGuesses(t *testing.T) {
	t.Parallel()
	job := func(id, name, state string) string {
		return `{"jid":"` + id + `","name":"` + name + `","state":"` + state + `","start-time":1}`
	}
	cases := map[string]struct {
		reason string
		jobs   []string
		want   string
		err    error
	}{
		"one":             {"", []string{job("a", "orders", "RUNNING"), job("b", "other", "RUNNING")}, "a", nil},
		"ended are not":   {"", []string{job("a", "orders", "FAILED"), job("b", "orders", "CANCELED"), job("c", "orders", "FINISHED"), job("d", "orders", "RESTARTING")}, "d", nil},
		"all ended":       {"", []string{job("a", "orders", "FAILED")}, "", core.ErrNotFound},
		"none":            {"an empty cluster", nil, "", core.ErrNotFound},
		"two":             {"the newest is never guessed", []string{job("a", "orders", "RUNNING"), job("b", "orders", "CREATED")}, "", core.ErrAmbiguous},
		"being cancelled": {"it still holds slots", []string{job("a", "orders", "CANCELLING"), job("b", "orders", "RUNNING")}, "", core.ErrAmbiguous},
		"suspended":       {"it comes back under its id", []string{job("a", "orders", "SUSPENDED")}, "a", nil},
		"exact name":      {"", []string{job("a", "Orders", "RUNNING"), job("b", "orders ", "RUNNING")}, "", core.ErrNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.on("GET /v1/jobs/overview", says(200, `{"jobs":[`+strings.Join(c.jobs, ",")+`]}`))
			got, err := f.cluster(t).Locate(t.Context(), target("orders"))
			if got.ID != c.want || !errors.Is(err, c.err) {
				t.Errorf("%q, %v; want %q, %v (%s)", got.ID, err, c.want, c.err, c.reason)
			}
			if c.err == nil && got.FlinkVersion != "2.3.0" {
				t.Errorf("version %q", got.FlinkVersion)
			}
		})
	}
	f := newFake(t)
	f.on("GET /v1/config", page(200))
	if got, err := f.cluster(t).Locate(t.Context(), target("orders")); err != nil || got.ID != f.job || got.FlinkVersion != "" {
		t.Errorf("without a version: %+v, %v", got, err)
	}
}
