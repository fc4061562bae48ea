package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/flink"
)

const smallest = `clusters: {dev: {flink: {url: "http://127.0.0.1:8081"}}}`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func load(t *testing.T, s Source) Config {
	t.Helper()
	cfg, _, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestSmallestIsAllDefaults(t *testing.T) {
	t.Parallel()
	want := Default()
	want.Clusters = []Cluster{{Name: "dev", Flink: flink.Config{URLs: []string{"http://127.0.0.1:8081"}}}}
	if diff := cmp.Diff(want, load(t, Source{File: write(t, smallest)})); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// TestWhoWins: the file gives way to the environment, that to the flag.
func TestWhoWins(t *testing.T) {
	t.Parallel()
	file := write(t, smallest+`
taskQueue: from-file
temporal: {address: "file:1", namespace: file, profile: file}
log: {level: warn, format: json}
http: {listen: "127.0.0.1:1"}
searchAttributes: true
limits: {activities: 1, stopTimeout: 1 min}
`)
	environ := []string{
		"FLINKSCALER_TASK_QUEUE=from-env", "FLINKSCALER_TEMPORAL_ADDRESS=ours:2", "TEMPORAL_ADDRESS=cli:2", "TEMPORAL_NAMESPACE=cli",
		"FLINKSCALER_LOG_LEVEL=debug", "FLINKSCALER_HTTP_LISTEN=off", "FLINKSCALER_SEARCH_ATTRIBUTES=false",
		"FLINKSCALER_LIMITS_ACTIVITIES=2", "FLINKSCALER_LIMITS_STOP_TIMEOUT=2 min", "FLINKSCALER_LOG_FORMAT=",
	}
	type picked struct {
		Queue, Level, Format, Listen string
		Temporal                     Temporal
		Attributes                   bool
		Activities                   int
		Stop                         time.Duration
	}
	pick := func(c Config) picked {
		return picked{c.TaskQueue, c.Log.Level, c.Log.Format, c.HTTP.Listen, c.Temporal, c.SearchAttributes, c.Limits.Activities, c.Limits.StopTimeout}
	}
	fromFile := picked{"from-file", "warn", "json", "127.0.0.1:1", Temporal{"file:1", "file", "file"}, true, 1, time.Minute}
	fromEnv := picked{"from-env", "debug", "json", "off", Temporal{"ours:2", "cli", "file"}, false, 2, 2 * time.Minute}
	fromFlags := fromEnv
	fromFlags.Queue, fromFlags.Level, fromFlags.Listen = "from-flag", "trace", "127.0.0.1:3"
	flags := map[string]string{"task-queue": "from-flag", "log-level": "trace", "http": "127.0.0.1:3"}
	for name, c := range map[string]struct {
		source Source
		want   picked
	}{
		"file":  {Source{File: file}, fromFile},
		"env":   {Source{File: file, Environ: environ}, fromEnv},
		"flags": {Source{File: file, Environ: environ, Flags: flags}, fromFlags},
	} {
		if diff := cmp.Diff(c.want, pick(load(t, c.source))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPolicyMayBeDottedNestedAndTyped(t *testing.T) {
	t.Parallel()
	cfg := load(t, Source{File: write(t, `
clusters:
  dev:
    flink: {url: "http://127.0.0.1:8081"}
    policy:
      job.autoscaler.metrics.window: 5 min
      job.autoscaler.vertex.max-parallelism: 40
      job:
        autoscaler:
          scaling.enabled: false
          utilization: {target: 0.6}
          vertex.exclude.ids: [b, a]
      kubernetes.operator.job.autoscaler.enabled: true
`)})
	want := map[string]string{
		"job.autoscaler.metrics.window":              "5 min",
		"job.autoscaler.vertex.max-parallelism":      "40",
		"job.autoscaler.scaling.enabled":             "false",
		"job.autoscaler.utilization.target":          "0.6",
		"job.autoscaler.vertex.exclude.ids":          "b;a",
		"kubernetes.operator.job.autoscaler.enabled": "true",
	}
	if diff := cmp.Diff(want, cfg.Clusters[0].Policy); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

func TestFileIsRequired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source Source
		want   string
	}{
		"no name":  {Source{}, "name the configuration file"},
		"variable": {Source{Environ: []string{EnvFile + "=/nowhere/w.yaml"}}, "/nowhere/w.yaml: 1 problem\n  file: cannot be read: no such file"},
		"flag":     {Source{File: "/nowhere/f.yaml", Environ: []string{EnvFile + "=/nowhere/w.yaml"}}, "/nowhere/f.yaml"},
	} {
		_, _, err := Load(c.source)
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q in it", name, err, c.want)
		}
	}
}

// TestMisspeltVariables: a variable that looks like ours is noted, what
// Kubernetes makes for a service called flinkscaler is not.
func TestMisspeltVariables(t *testing.T) {
	t.Parallel()
	_, notes, err := Load(Source{File: write(t, smallest), Environ: []string{
		"FLINKSCALER_TASKQUEUE=x", "FLINKSCALER_SERVICE_HOST=10.0.0.1", "FLINKSCALER_PORT_9099_TCP_ADDR=10.0.0.1", "FLINKSCALER_CACHE=/c", "HOME=/",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the variable FLINKSCALER_TASKQUEUE has no effect; did you mean FLINKSCALER_TASK_QUEUE?"}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"taskQueue", "temporal", "log", "http", "clusters"}
	for word, want := range map[string]string{
		"taskqueue": "taskQueue", "task_queue": "taskQueue", "cluster": "clusters", "lgo": "log", "temproal": "temporal", "banana": "", "x": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
