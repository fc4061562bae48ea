package connect

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"go.temporal.io/sdk/client"

	"flinkscaler/internal/connect/connecttest"
)

const marker = "s3cret-marker"

// profiles is a profile file for tests, and the environment that names it.
func profiles(t *testing.T, text string) Environ {
	t.Helper()
	file := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Environ{"TEMPORAL_CONFIG_FILE=" + file}
}

func TestOptionsWhoWins(t *testing.T) {
	t.Parallel()
	env := profiles(t, "[profile.default]\naddress = \"file:1\"\nnamespace = \"file\"\n[profile.prod]\naddress = \"prod:1\"\n")
	none := profiles(t, "")
	for name, c := range map[string]struct {
		override Override
		want     [2]string
	}{
		"nothing":     {Override{Lookup: none}, [2]string{"127.0.0.1:7233", "default"}},
		"file":        {Override{Lookup: env}, [2]string{"file:1", "file"}},
		"profile":     {Override{Lookup: env, Profile: "prod"}, [2]string{"prod:1", "default"}},
		"environment": {Override{Lookup: append(env, "TEMPORAL_ADDRESS=env:2")}, [2]string{"env:2", "file"}},
		"override":    {Override{Lookup: append(env, "TEMPORAL_ADDRESS=env:2"), Address: "ours:3", Namespace: "ours"}, [2]string{"ours:3", "ours"}},
	} {
		opts, err := Options(c.override)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, [2]string{opts.HostPort, opts.Namespace}); diff != "" {
			t.Errorf("%s: address and namespace (-want +got):\n%s", name, diff)
		}
	}
}

// TestOptionsErrorsHideValues: a profile file holds API keys (I11).
func TestOptionsErrorsHideValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, profile, want string }{
		"not quoted":   {"[profile.default]\napi_key = " + marker + "\n", "", "line 2"},
		"not closed":   {"[profile.default]\napi_key = \"" + marker + "\n", "", "line"},
		"number":       {"[profile.default]\napi_key = 7\naddress = \"" + marker + "\"\n", "", "temporal profile"},
		"unknown key":  {"[profile.default]\napikey = \"" + marker + "\"\n", "", "apikey"},
		"no profile":   {"[profile.default]\napi_key = \"" + marker + "\"\n", "prod", "prod"},
		"no such cert": {"[profile.default]\napi_key = \"" + marker + "\"\n[profile.default.tls]\nclient_cert_path = \"/nowhere.pem\"\nclient_key_path = \"/nowhere.key\"\n", "", "/nowhere"},
		"bad cert":     {"[profile.default]\n[profile.default.tls]\nclient_cert_data = \"" + marker + "\"\nclient_key_data = \"" + marker + "\"\n", "", "temporal profile"},
	} {
		_, err := Options(Override{Lookup: profiles(t, c.text), Profile: c.profile})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q in it", name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), marker) {
			t.Errorf("%s: the error repeats a secret: %v", name, err)
		}
	}
}

func TestDial(t *testing.T) {
	t.Parallel()
	server := &connecttest.Server{Namespaces: []string{"default"}}
	address := server.Start(t)
	opts := options(address)
	opts.Credentials = client.NewAPIKeyStaticCredentials(marker)
	c, err := Dial(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if got := server.Authorizations(); len(got) != 1 || got[0] != "Bearer "+marker {
		t.Errorf("authorization is %q", got)
	}
}

func TestDialSaysWhatToDo(t *testing.T) {
	t.Parallel()
	address := (&connecttest.Server{Namespaces: []string{"default"}}).Start(t)
	elsewhere, encrypted := options(address), options(address)
	elsewhere.Namespace = "shop"
	encrypted.ConnectionOptions.TLSDisabled = false
	for name, c := range map[string]struct {
		opts client.Options
		want []string
	}{
		"nobody there": {options(closedPort(t)), []string{"reach Temporal at 127.0.0.1:", "start the server"}},
		"no TLS":       {encrypted, []string{"TEMPORAL_TLS"}},
		"no namespace": {elsewhere, []string{"namespace shop", "create the namespace"}},
	} {
		opts := c.opts
		opts.Credentials = client.NewAPIKeyStaticCredentials(marker)
		_, err := Dial(t.Context(), opts)
		var failed *Error
		if !errors.As(err, &failed) {
			t.Errorf("%s: error is %v, want an *Error", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q is not in %q", name, w, err)
			}
		}
		if strings.Contains(err.Error(), marker) {
			t.Errorf("%s: the error repeats a secret: %v", name, err)
		}
	}
}

// TestWaitGoesOn: the server appears after the first failure.
func TestWaitGoesOn(t *testing.T) {
	t.Parallel()
	address := closedPort(t)
	var out strings.Builder
	log := hclog.New(&hclog.LoggerOptions{Output: &out})
	failures := 0
	c, err := Wait(t.Context(), options(address), log, func(error) {
		if failures++; failures > 1 {
			return
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Skipf("somebody else took the port: %v", err)
		}
		(&connecttest.Server{Namespaces: []string{"default"}}).Serve(t, l)
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	for _, w := range []string{"[WARN]", "cannot reach Temporal", "address=" + address, "namespace=default", "attempt=1", "retry_in=1s", "do=\"start the server"} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("%q is not in the log:\n%s", w, out.String())
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Wait(ctx, options(closedPort(t)), hclog.NewNullLogger(), func(error) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	e := Environ{"A=1", "B", "A=2", "C="}
	for name, want := range map[string]string{"A": "2", "B": "none", "C": "", "D": "none"} {
		got, ok := e.LookupEnv(name)
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func options(address string) client.Options {
	return client.Options{
		HostPort: address, Namespace: "default", Logger: hclog.NewNullLogger(),
		// An API key would turn TLS on.
		ConnectionOptions: client.ConnectionOptions{TLSDisabled: true},
	}
}

// closedPort is an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
