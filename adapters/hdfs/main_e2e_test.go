//go:build e2e

package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	library "github.com/colinmarc/hdfs/v2"

	"flinkscaler/adapters/hdfs"
	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
)

// cluster is HDFS with two NameNodes and one DataNode, for all tests of this package.
var cluster *hadoop.Cluster

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	c, err := hadoop.Start(context.Background(), hadoop.Options{NameNodeHA: true, HDFS: map[string]string{"dfs.permissions.enabled": "true"}, Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() {
		if err := c.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	cluster = c
	code = m.Run()
}

const (
	service = "hdfs://testfs"
	// quick bounds an answer in tests: far more than HDFS needs, far less than a freeze.
	quick = 3 * time.Second
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// storage is one that reads the configuration of the cluster.
func storage(t *testing.T, change ...func(*hdfs.Config)) *hdfs.Storage {
	t.Helper()
	cfg := hdfs.Config{ConfigDirectory: cluster.ConfDir(), Timeout: quick}
	for _, f := range change {
		f(&cfg)
	}
	s, err := hdfs.New(cfg)
	must(t, err)
	return s
}

// super is a client of its own for what tests put there.
func super(t *testing.T) *library.Client {
	t.Helper()
	var nodes []string
	for _, n := range cluster.NameNodes() {
		nodes = append(nodes, n.Address())
	}
	c, err := library.NewClient(library.ClientOptions{Addresses: nodes, User: cluster.User()})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// put writes metadata; nil ones are those of a savepoint that was begun.
func put(t *testing.T, url string, metadata []byte) {
	t.Helper()
	dir := strings.TrimPrefix(url, service)
	c := super(t)
	must(t, c.MkdirAll(dir, 0o755))
	if metadata == nil {
		return
	}
	w, err := c.Create(path.Join(dir, "_metadata"))
	must(t, err)
	_, err = w.Write(metadata)
	must(t, err)
	for deadline := time.Now().Add(time.Minute); ; {
		err := w.Close()
		if err == nil || !library.IsErrReplicating(err) || time.Now().After(deadline) {
			must(t, err)
			return
		}
	}
}

func magic() []byte { return []byte{0x49, 0x60, 0x67, 0x2d, 0, 0, 0, 6, 1, 2, 3} }

// savepoint puts one there.
func savepoint(t *testing.T, name string) string {
	t.Helper()
	url := service + "/" + name + "/savepoint-a"
	put(t, url, magic())
	return url
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
	var op *core.OpError
	if err != nil && !errors.As(err, &op) {
		t.Errorf("%s: %v says not what was tried", what, err)
	}
}

// heals waits until a savepoint is read again.
func heals(t *testing.T, s *hdfs.Storage, url string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if _, err = s.Check(t.Context(), url); err == nil {
			return
		}
	}
	t.Fatalf("it does not heal: %v", err)
}

func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
