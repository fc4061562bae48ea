//go:build e2e

package hadoop_test

import (
	"os"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, o hadoop.Options) *hadoop.Cluster {
	t.Helper()
	began := time.Now()
	if o.Log == nil {
		o.Log = os.Stderr
	}
	c, err := hadoop.Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	t.Logf("boot took %s", time.Since(began).Round(100*time.Millisecond))
	return c
}

func TestOneOfEach(t *testing.T) {
	c := start(t, hadoop.Options{YARN: true})
	out, err := c.FS(t.Context(), "-ls", "/")
	t.Log(out)
	must(t, err)
}
