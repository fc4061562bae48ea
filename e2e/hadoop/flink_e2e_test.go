//go:build e2e

package hadoop_test

import (
	"path/filepath"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

func rates(t *testing.T, perSecond float64) *flinklocal.RateFile {
	t.Helper()
	f, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	must(t, err)
	must(t, f.Set(perSecond))
	return f
}

func TestApplication(t *testing.T) {
	c := start(t, hadoop.Options{YARN: true})
	for _, version := range []string{toolcache.Flink2, toolcache.Flink1} {
		t.Run(version, func(t *testing.T) {
			began := time.Now()
			flink, err := c.Flink(t.Context(), hadoop.FlinkOptions{Version: version})
			must(t, err)
			t.Logf("home and upload took %s", time.Since(began))
			began = time.Now()
			app, err := flink.Submit(t.Context(), hadoop.Application{Name: "orders", Tags: []string{"fa-orders", "fa-gen-1"}, Args: hadoop.JobArgs(rates(t, 200))})
			must(t, err)
			t.Logf("submission took %s", time.Since(began))
			must(t, app.Kill(t.Context()))
		})
	}
}
