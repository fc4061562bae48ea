//go:build e2e

package yarn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/flinklocal"
)

// Stage is what all tests on a real cluster share: two ResourceManagers, of which one
// acts, with everything that they need; Flink with HA and the adaptive scheduler; and
// one application that runs all the time, which is started when it is first wanted.
// Tests put back what they break.
type Stage struct {
	*hadoop.Cluster
	dir    string
	orders func() (*hadoop.App, error)
	rates  *flinklocal.RateFile
}

var stage *Stage //nolint:gochecknoglobals // of TestMain

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "yarn-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c, err := hadoop.Start(context.Background(), hadoop.Options{YARN: true, ResourceManagerHA: true, Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("boot took %s\n", time.Since(began).Round(100*time.Millisecond))
	stage = &Stage{Cluster: c, dir: dir}
	stage.orders = sync.OnceValues(stage.startOrders)
	code = m.Run()
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// OnStage gives the cluster that the tests share.
func OnStage() *Stage { return stage }

// startOrders runs the application that the tests share. A TaskManager that is frozen
// for a while stays, and nobody waits for it for long.
func (s *Stage) startOrders() (*hadoop.App, error) {
	rates, err := flinklocal.NewRateFile(filepath.Join(s.dir, "rates"))
	if err != nil {
		return nil, err
	}
	s.rates = rates
	f, err := s.Flink(context.Background(), hadoop.FlinkOptions{HA: true})
	if err := errors.Join(err, rates.Set(300)); err != nil {
		return nil, err
	}
	return f.Submit(context.Background(), hadoop.Application{
		Name: "orders", Tags: []string{"fa-orders"}, Args: hadoop.JobArgs(rates),
		Options: map[string]string{"heartbeat.timeout": "120000", "web.timeout": "3000"},
	})
}

// Orders gives the application that the tests share, with all tasks of its job
// running. It is named orders, has the tag fa-orders, and one slot for each
// TaskManager.
func (s *Stage) Orders(t *testing.T) *hadoop.App {
	t.Helper()
	app, err := s.orders()
	if err != nil {
		t.Fatal(err)
	}
	if err := app.WaitRunning(t.Context()); err != nil {
		t.Fatal(err)
	}
	return app
}

// Rates is the file that the arrivals of the shared application follow.
func (s *Stage) Rates() *flinklocal.RateFile { return s.rates }
