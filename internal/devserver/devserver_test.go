//go:build integration

package devserver

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"flinkscaler/internal/child"
	"flinkscaler/internal/toolcache"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func temporal(t *testing.T) string {
	t.Helper()
	cache, err := toolcache.Open()
	must(t, err)
	path, err := cache.FindTemporal(t.Context())
	must(t, err)
	return path
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	o.Temporal, o.Dir = temporal(t), filepath.Join(t.TempDir(), "temporal")
	s, err := Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func dial(t *testing.T, s *Server) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: s.Address()})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// TestAKilledServerGoesOn: what it had told a client is on disk.
func TestAKilledServerGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	run, err := dial(t, s).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "w", TaskQueue: "nobody"}, "Wait", "input")
	must(t, err)
	pid, address := s.PID(), s.Address()
	must(t, s.Kill())
	must(t, s.Restart(t.Context()))
	if s.PID() == pid || s.Address() != address {
		t.Errorf("process %d at %s, then %d at %s; want another one at the same address", pid, address, s.PID(), s.Address())
	}
	found, err := dial(t, s).DescribeWorkflow(t.Context(), "w", run.GetRunID())
	must(t, err)
	if got := found.RawResponse.GetWorkflowExecutionInfo().GetType().GetName(); got != "Wait" {
		t.Errorf("it is a %q", got)
	}
}

// TestATakenPort: somebody else listens, and answers, where the server or its
// UI was to listen.
func TestATakenPort(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = other.Close() })
	taken := other.Addr().(*net.TCPAddr).Port
	looks := 0
	s := start(t, Options{UI: true, ports: func(count int) ([]int, error) {
		ports, err := child.FreePorts(count)
		if looks < 2 && err == nil {
			ports[looks] = taken
		}
		looks++
		return ports, err
	}})
	if looks != 3 {
		t.Errorf("started with the ports of look %d; want the third", looks)
	}
	dial(t, s)
}

// TestWhatCannotStart says what the server said, and is not tried again.
func TestWhatCannotStart(t *testing.T) {
	t.Parallel()
	looks := 0
	_, err := Start(t.Context(), Options{Temporal: temporal(t), Dir: t.TempDir(), Attributes: []string{"Colour=Paint"}, ports: func(count int) ([]int, error) {
		looks++
		return child.FreePorts(count)
	}})
	if err == nil || !strings.Contains(err.Error(), "Paint") || looks != 1 {
		t.Errorf("%d tries: %v", looks, err)
	}
}
