//go:build e2e

package yarn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/child"
)

// await waits until look is done.
func await(t *testing.T, what string, look func(ctx context.Context) (state string, done bool, err error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 4*time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, what, look))
}

// onStage is the adapter in front of the shared cluster.
func onStage(t *testing.T, change func(*yarn.Config)) *yarn.Cluster {
	t.Helper()
	cfg := yarn.Config{ResourceManagers: yarn.OnStage().ResourceManagerURLs(), Timeout: 5 * time.Second, Flink: flink.Config{Timeout: 5 * time.Second}}
	if change != nil {
		change(&cfg)
	}
	return open(t, cfg)
}

// TestRealYarnKeepsTheContract: of a job that is found on YARN and changed in place.
func TestRealYarnKeepsTheContract(t *testing.T) {
	app := yarn.OnStage().Orders(t)
	line := &line{}
	porttest.Run(t, porttest.Harness{
		Platform: onStage(t, func(c *yarn.Config) { c.Dial, c.Flink.Timeout = line.dial, 3*time.Second }),
		Target:   named("orders"), Absent: named("no such application"),
		Source: "Source: gen", Slow: "slow", Checkpointing: true, Elastic: true, Means: core.Means{Elastic: true}, Timeout: 3 * time.Minute,
		// A second application, another attempt and an end are tests of their own.
		NotOffered: []string{"Twin", "End", "Again"},
		Hooks: porttest.Hooks{
			Freeze: func(t *testing.T) func() {
				pid := taskManager(t, app)
				must(t, syscall.Kill(pid, syscall.SIGSTOP))
				return func() { must(t, syscall.Kill(pid, syscall.SIGCONT)) }
			},
			Break: func(*testing.T) func() {
				line.cut(true)
				return func() { line.cut(false) }
			},
		},
	})
}

// line is a network that can be cut, with all connections over it.
type line struct {
	mu    sync.Mutex
	gone  bool
	conns []net.Conn
}

func (l *line) cut(gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.gone, l.conns = gone, nil
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return nil, errors.Join(errors.New("no route to host"), conn.Close())
	}
	l.conns = append(l.conns, conn)
	return conn, nil
}

// taskManager gives the process of one of an application.
func taskManager(t *testing.T, app *hadoop.App) int {
	t.Helper()
	all, err := yarn.OnStage().Containers()
	must(t, err)
	i := slices.IndexFunc(all, func(c hadoop.Container) bool { return c.Application == app.ID && c.Number != 1 })
	if i < 0 {
		t.Fatalf("%s has no TaskManager on this machine: %+v", app.ID, all)
	}
	return all[i].PID
}

// TestWhatNeedsTheAddress: where a firewall is in between, reads and changes in place
// go through the ResourceManager, and nothing else does.
func TestWhatNeedsTheAddress(t *testing.T) {
	app := yarn.OnStage().Orders(t)
	status, err := app.Status(t.Context())
	must(t, err)
	c := onStage(t, func(c *yarn.Config) { c.Dial = firewall(status.Address) })
	ref, err := c.Locate(t.Context(), named("orders"))
	must(t, err)
	m, err := c.Measure(t.Context(), ref, nil)
	must(t, err)
	if !m.Status.AllTasksRunning() || m.Config == nil {
		t.Errorf("measured %+v", m.Status)
	}
	wanted, err := c.Wanted(t.Context(), ref)
	must(t, err)
	must(t, c.Want(t.Context(), ref, "d1", wanted))
	err = c.CancelForTest(t.Context(), ref)
	if !errors.Is(err, core.ErrRefused) || !strings.Contains(fmt.Sprint(err), "rest.bind-port") {
		t.Errorf("a cancel through the proxy: %v; want refused with what to open", err)
	}
	closed := onStage(t, func(c *yarn.Config) { c.Dial, c.NoProxy = firewall(status.Address), true })
	if _, err := closed.Locate(t.Context(), named("orders")); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("without the proxy: %v; want unreachable", err)
	}
}

// TestTwoApplicationsOfOneName: none is guessed, also while one of them still starts;
// a tag tells them apart.
func TestTwoApplicationsOfOneName(t *testing.T) {
	stage := yarn.OnStage()
	app := stage.Orders(t)
	f, err := stage.Flink(t.Context(), hadoop.FlinkOptions{})
	must(t, err)
	second, err := f.Begin(t.Context(), hadoop.Application{Name: "orders", Tags: []string{"fa-second"}, Queue: "root.small", Args: []string{"--help"}})
	must(t, err)
	c := onStage(t, nil)
	await(t, "two applications to be named", func(ctx context.Context) (string, bool, error) {
		_, err := c.Locate(ctx, named("orders"))
		return fmt.Sprint(err), errors.Is(err, core.ErrAmbiguous) && strings.Contains(err.Error(), app.ID) &&
			strings.Contains(err.Error(), second.ID) && strings.Contains(err.Error(), "queue root.small"), nil
	})
	byTag, err := c.Locate(t.Context(), core.Target{Yarn: &core.YarnTarget{ApplicationName: "orders", ApplicationTag: "FA-Orders"}})
	must(t, err)
	byQueue, err := c.Locate(t.Context(), core.Target{Yarn: &core.YarnTarget{ApplicationName: "orders", Queue: "default"}})
	must(t, err)
	if byTag.ID != byQueue.ID || byTag.Extras["application"] != app.ID {
		t.Errorf("by tag %+v, by queue %+v", byTag, byQueue)
	}
	must(t, second.Kill(t.Context()))
	await(t, "one to be left", func(ctx context.Context) (string, bool, error) {
		ref, err := c.Locate(ctx, named("orders"))
		return fmt.Sprint(err), err == nil && ref.ID == byTag.ID, nil
	})
}
