//go:build e2e

package hadoop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
)

// shared is the cluster of all tests here: everything twice that can be there twice.
var shared *hadoop.Cluster

func TestMain(m *testing.M) {
	if os.Getenv("HADOOP_TEST_PARENT") != "" { // this is the parent in TestReaper: it needs no cluster
		os.Exit(m.Run())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run ends with the test that Close leaves nothing behind: it is no test of its own, since nothing may come after it.
func run(m *testing.M) (int, error) {
	began := time.Now()
	var err error
	shared, err = hadoop.Start(context.Background(), hadoop.Options{
		YARN: true, NameNodeHA: true, ResourceManagerHA: true, Log: os.Stderr,
	})
	if err != nil {
		return 1, err
	}
	fmt.Printf("boot of two NameNodes, a DataNode, two ResourceManagers, a NodeManager and ZooKeeper took %s\n", time.Since(began).Round(100*time.Millisecond))
	code := m.Run()
	return code, errors.Join(shared.Close(), nothingLeft(shared))
}

func nothingLeft(c *hadoop.Cluster) error {
	containers, err := c.Containers()
	if err != nil {
		return err
	}
	if len(containers) > 0 {
		return fmt.Errorf("closed, and %d containers run", len(containers))
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		return fmt.Errorf("closed, and %s is there: %w", c.Dir(), err)
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits for what takes seconds on a quiet machine.
func await(t *testing.T, what string, look func(ctx context.Context) (state string, done bool)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		state, done := look(ctx)
		return state, done, nil
	}))
}

// arrivals is a rate file with so many records a second.
func arrivals(t *testing.T, perSecond float64) *flinklocal.RateFile {
	t.Helper()
	f, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	must(t, err)
	must(t, f.Set(perSecond))
	return f
}
