package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/internal/connect"
)

func TestParseJob(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]core.JobKey{
		"dev/orders":               {Cluster: "dev", Job: "orders"},
		"flink/dev/orders":         {Cluster: "dev", Job: "orders"},
		"flink/orders":             {Cluster: "flink", Job: "orders"},
		"flink/flink/flink":        {Cluster: "flink", Job: "flink"},
		"prod-eu/Orders v2.1_blue": {Cluster: "prod-eu", Job: "Orders v2.1_blue"},
	} {
		if got, err := parseJob(text); err != nil || got != want {
			t.Errorf("parseJob(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "orders", "dev/", "/orders", "dev/orders/", "a/dev/orders", "flink/a/b/c", "dev/ords\x1b[2J", "-dev/orders"} {
		_, err := parseJob(text)
		if f, ok := errors.AsType[*failure](err); !ok || f.code != exitUsage {
			t.Errorf("parseJob(%q) = %v, want bad usage", text, err)
		}
	}
}

func TestParseVertex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, text, name string
		n                  int
	}{
		{"the plain case", "Map=4", "Map", 4},
		{"names may hold an =", "Filter(a=1) -> Map=12", "Filter(a=1) -> Map", 12},
		{"names keep their blanks, since they must be exact", " Map =4", " Map ", 4},
		{"blanks around the number do no harm", "Map= 4 ", "Map", 4},
	} {
		if name, n, err := parseVertex(c.text); err != nil || name != c.name || n != c.n {
			t.Errorf("%s: %q, %d, %v", c.reason, name, n, err)
		}
	}
}

func TestClosest(t *testing.T) {
	t.Parallel()
	names := []string{"prod/clicks", "dev/order-items", "dev/orders", "dev/others"}
	for _, c := range []struct {
		reason, to string
		want       []string
	}{
		{"nearest first, and only what a slip may have meant", "dev/oders", []string{"dev/orders", "dev/others"}},
		{"case is no difference", "DEV/Orders", []string{"dev/orders", "dev/others"}},
		{"there is always one", "something/else-entirely", []string{"dev/order-items"}},
	} {
		if diff := cmp.Diff(c.want, closest(c.to, names, 3)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
	if got := closest("x", nil, 3); len(got) != 0 {
		t.Errorf("closest of nothing is %v", got)
	}
}

func TestTranslate(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range []struct {
		reason      string
		ctx         context.Context //nolint:containedctx // one case of a table
		err         error
		needsWorker bool
		want        error
	}{
		{"nothing there", t.Context(), serviceerror.NewNotFound("workflow not found for ID: flink/dev/x"), true, errNotFound},
		{"there, but ended", t.Context(), serviceerror.NewNotFound("workflow execution already completed"), true, errEnded},
		{"the server saw no poller", t.Context(), serviceerror.NewFailedPrecondition("no poller seen for task queue recently, worker may be down"), true, errNoWorker},
		{"a query ran out of time", late, context.DeadlineExceeded, true, errNoWorker},
		{"an update ran out of time", late, client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded), true, errNoWorker},
		{"what needs no worker and runs out of time lacks the server", late, context.DeadlineExceeded, false, errUnreachable},
		{"the server is away", t.Context(), serviceerror.NewUnavailable("connection refused"), true, errUnreachable},
		{"not allowed", t.Context(), serviceerror.NewPermissionDenied("no", ""), false, errDenied},
		{"no such namespace", t.Context(), serviceerror.NewNamespaceNotFound("sales"), false, errNamespace},
		{"the workflow refuses", t.Context(), temporal.NewNonRetryableApplicationError("override.parallelism: too much", "InvalidInput", nil), true, errRejected},
	} {
		got := translate(c.ctx, c.err, c.needsWorker)
		if !errors.Is(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.reason, got, c.want)
		}
	}
	strange := fmt.Errorf("strange")
	if got := translate(t.Context(), strange, true); !errors.Is(got, strange) {
		t.Errorf("an unexpected error became %v", got)
	}
	if got := translate(t.Context(), nil, true); got != nil {
		t.Errorf("no error became %v", got)
	}
}

func TestWhereTheAddressComesFrom(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "temporal.toml")
	text := "[profile.default]\naddress = \"default.example:1\"\n[profile.prod]\naddress = \"prod.example:2\"\nnamespace = \"sales\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	none := "TEMPORAL_CONFIG_FILE=" + file + ".none"
	for _, c := range []struct {
		reason string
		s      settings
		env    connect.Environ
		want   endpoint
	}{
		{"nobody says anything", settings{}, connect.Environ{none}, endpoint{"localhost:7233", "the default", "default"}},
		{"the default profile", settings{}, connect.Environ{"TEMPORAL_CONFIG_FILE=" + file}, endpoint{"default.example:1", `from profile "default" in ` + file, "default"}},
		{"a profile by variable", settings{}, connect.Environ{"TEMPORAL_CONFIG_FILE=" + file, "TEMPORAL_PROFILE=prod"}, endpoint{"prod.example:2", `from profile "prod" in ` + file, "sales"}},
		{"a profile by flag", settings{Profile: "prod"}, connect.Environ{"TEMPORAL_CONFIG_FILE=" + file}, endpoint{"prod.example:2", `from profile "prod" in ` + file, "sales"}},
		{"a variable before the profile", settings{Profile: "prod"}, connect.Environ{"TEMPORAL_CONFIG_FILE=" + file, "TEMPORAL_ADDRESS=var.example:3"}, endpoint{"var.example:3", "from TEMPORAL_ADDRESS", "sales"}},
		{"a flag before all", settings{Address: "flag.example:4", Namespace: "mine"}, connect.Environ{"TEMPORAL_CONFIG_FILE=" + file, "TEMPORAL_ADDRESS=var.example:3"}, endpoint{"flag.example:4", "from --address", "mine"}},
	} {
		_, got, err := c.s.options(c.env)
		if diff := cmp.Diff(strings.ReplaceAll(c.want.Address, "localhost", "127.0.0.1"), strings.ReplaceAll(got.Address, "localhost", "127.0.0.1")); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.reason, err, diff)
		}
		if got.From != c.want.From || got.Namespace != c.want.Namespace {
			t.Errorf("%s: got %+v, want %+v", c.reason, got, c.want)
		}
	}
	_, _, err := settings{Profile: "stage"}.options(connect.Environ{"TEMPORAL_CONFIG_FILE=" + file})
	if f, ok := errors.AsType[*failure](err); !ok || f.code != exitUsage || !strings.Contains(f.do, "default, prod") {
		t.Errorf("an unknown profile gives %v, want bad usage with the known ones", err)
	}
}

// TestAClosedPortIsFoundAtOnce: nobody waits ten seconds to learn that nothing
// listens.
func TestAClosedPortIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := newStage()
	s.app.dial = dial
	start := time.Now()
	got := s.run(t.Context(), []string{"list", "--address", l.Addr().String()})
	if !strings.Contains(got, "(from --address) does not answer") || !strings.HasSuffix(got, "[exit 1]\n") || time.Since(start) > 5*time.Second {
		t.Errorf("after %s: %s", time.Since(start), got)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"plain": "plain", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "Map=4": "Map=4", "$x": "'$x'", "a>b": "'a>b'"} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

// TestReadInputsSurvivesAnything: no line, however odd, is lost or ends the
// reading.
func TestReadInputsSurvivesAnything(t *testing.T) {
	t.Parallel()
	text := "\ufeff{\"cluster\": \"dev\", \"job\": \"bom\"}\r\n\x00\n[]\n{}\nnull\n\"\"\n" + strings.Repeat("x", 70_000) + "\n{\"cluster\": \"dev\", \"job\": \"last\"}"
	inputs, problems, err := readInputs(strings.NewReader(text))
	if err != nil || len(inputs) != 8 || inputs[0].spec.Key.Job != "bom" || inputs[7].spec.Key.Job != "last" {
		t.Errorf("%d inputs, %v", len(inputs), err)
	}
	lines := map[string]bool{}
	for _, p := range problems {
		line, _, _ := strings.Cut(p, ":")
		lines[line] = true
	}
	if len(lines) != 6 {
		t.Errorf("problems on %d lines, want 6: %v", len(lines), problems)
	}
	_, _, err = readInputs(strings.NewReader("{}\n" + strings.Repeat("x", maxLine+1)))
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("an endless line gives %v", err)
	}
}

func FuzzReadInputs(f *testing.F) {
	f.Add("{\"cluster\": \"dev\", \"job\": \"orders\"}\n# comment\n\nnot json")
	f.Fuzz(func(t *testing.T, text string) {
		inputs, problems, err := readInputs(strings.NewReader(text))
		if err != nil || len(problems) > 0 {
			return
		}
		seen := map[core.JobKey]bool{}
		for _, in := range inputs {
			if seen[in.spec.Key] || len(in.raw) == 0 {
				t.Errorf("%q: input %+v came through", text, in)
			}
			seen[in.spec.Key] = true
		}
	})
}
