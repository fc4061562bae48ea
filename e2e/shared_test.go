//go:build integration || e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"flinkscaler/e2e/proxy"
	"flinkscaler/internal/stack"
)

// An installation costs seconds and processors, and one of them manages many
// jobs. Tests that need none of their own share one: each has a Flink cluster of
// its own in it.

// clusters is how many tests can share one installation in a run.
const clusters = 100

// slots are the names of the clusters of a shared installation, sorted.
func slots() []string {
	var out []string
	for i := range clusters {
		out = append(out, fmt.Sprintf("sim-%03d", i))
	}
	return out
}

// aimed is a proxy that is started before there is a Flink behind it.
type aimed struct {
	*proxy.Proxy
	at atomic.Value
}

func newAimed() *aimed {
	a := &aimed{}
	a.at.Store("http://127.0.0.1:1") // nobody is there
	a.Proxy = proxy.New(func() string { return a.at.Load().(string) })
	return a
}

// common is an installation that tests share.
type common struct {
	*stack.Stack
	dir     string
	proxies []*aimed
	// used is how many of the clusters are given away: none is given twice.
	used int
}

var (
	commonsMu sync.Mutex
	// commons are by how many cycles a run of their workflows has.
	commons = map[int]*common{}
)

// shared gives a test a Flink cluster of its own in an installation that it
// shares with others. Workflows continue as new after so many cycles, 0: when
// they like.
func shared(t *testing.T, flinkURL string, cyclesPerRun int) *rig {
	t.Helper()
	r, behind, err := takeCluster(cyclesPerRun)
	must(t, err)
	r.t, r.dir = t, t.TempDir()
	behind.at.Store(flinkURL)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("worker: %s", r.Worker.Tail())
		}
		// What has ended by itself is none to terminate.
		_ = r.Client.TerminateWorkflow(context.Background(), r.workflow(), "", "the test is over")
		_ = r.Client.TerminateWorkflow(context.Background(), r.rescale(), "", "the test is over")
	})
	return r
}

func takeCluster(cyclesPerRun int) (*rig, *aimed, error) {
	commonsMu.Lock()
	defer commonsMu.Unlock()
	c := commons[cyclesPerRun]
	if c == nil {
		c = &common{}
		if err := c.start(cyclesPerRun); err != nil {
			return nil, nil, errors.Join(err, c.close())
		}
		commons[cyclesPerRun] = c
	}
	if c.used == clusters {
		return nil, nil, errors.New("no cluster is left in the shared installation: raise clusters")
	}
	p := c.proxies[c.used]
	r := &rig{Stack: c.Stack, cluster: slots()[c.used], proxy: p.Proxy}
	c.used++
	return r, p, nil
}

func (c *common) start(cyclesPerRun int) (err error) {
	if c.dir, err = os.MkdirTemp("", "flinkscaler-e2e-"); err != nil {
		return err
	}
	sections := map[string]any{}
	for _, name := range slots() {
		p := newAimed()
		c.proxies = append(c.proxies, p)
		sections[name] = map[string]any{"flink": map[string]any{"url": p.URL(), "timeout": "5 s"}}
	}
	// It outlives the test that needs it first.
	c.Stack, err = stack.Start(context.Background(), stack.Options{
		Dir: c.dir, Worker: bin.worker, Attributes: true, CyclesPerRun: cyclesPerRun, Clusters: sections,
	})
	return err
}

func (c *common) close() error {
	var err error
	if c.Stack != nil {
		err = c.Close()
	}
	for _, p := range c.proxies {
		p.Close()
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

// closeShared ends what tests have shared.
func closeShared() error {
	commonsMu.Lock()
	defer commonsMu.Unlock()
	var problems []error
	for _, c := range commons {
		problems = append(problems, c.close())
	}
	return errors.Join(problems...)
}
