//go:build e2e

// Package yarn_test runs the real worker against real Hadoop and real Flink.
package yarn_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/toolcache"
)

// What the tests share: the programs under test, and one cluster, started when the
// first test needs it.
var (
	bin struct{ worker, starter, tctl string }

	cluster struct {
		sync.Mutex
		*hadoop.Cluster
	}
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "flinkscaler-e2e-yarn-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		err = prepare(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if cluster.Cluster != nil {
		if err := cluster.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// prepare builds the programs under test and finds the others in the cache.
func prepare(dir string) error {
	bin.worker, bin.starter = filepath.Join(dir, "flinkscaler-worker"), filepath.Join(dir, "flinkscaler")
	for out, pkg := range map[string]string{bin.worker: "flinkscaler/worker", bin.starter: "flinkscaler/starter"} {
		if b, err := exec.Command("go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, b)
		}
	}
	cache, err := toolcache.Open()
	if err != nil {
		return err
	}
	bin.tctl, err = cache.FindTctl()
	return err
}

// onHadoop gives the shared cluster: HDFS, and one ResourceManager with a capacity
// scheduler.
func onHadoop(t *testing.T) *hadoop.Cluster {
	t.Helper()
	cluster.Lock()
	defer cluster.Unlock()
	if cluster.Cluster == nil {
		c, err := hadoop.Start(context.Background(), hadoop.Options{YARN: true, Log: os.Stderr}) //nolint:usetesting // it outlives the test
		must(t, err)
		cluster.Cluster = c
	}
	return cluster.Cluster
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
