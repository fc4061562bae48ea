package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallest = `clusters: {dev: {flink: {url: "http://127.0.0.1:1"}}, shop: {flink: {url: "http://127.0.0.1:1"}}}`

// put writes a file and gives its path.
func put(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCommandLine: what does not need Temporal, with its exit code.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	good, bad := put(t, "good.yaml", smallest), put(t, "bad.yaml", "taskQeue: x\nclusters: {}\n")
	for name, c := range map[string]struct {
		args, env      []string
		code           int
		stdout, stderr string
	}{
		"version":        {[]string{"--version"}, nil, 0, "flinkscaler-worker dev", ""},
		"help":           {[]string{"--help"}, nil, 0, "flinkscaler-worker --check --config worker.yaml", ""},
		"check":          {[]string{"--check", "--config", good}, nil, 0, "ok: task queue flinkscaler, clusters dev, shop\n", ""},
		"check, flags":   {[]string{"--check", "-c", good, "--task-queue", "q"}, nil, 0, "ok: task queue q,", ""},
		"check, env":     {[]string{"--check"}, []string{"FLINKSCALER_CONFIG=" + good, "FLINKSCALER_TASKQUEUE=q"}, 0, "note: the variable FLINKSCALER_TASKQUEUE has no effect", ""},
		"bad file":       {[]string{"--check", "--config", bad}, nil, 2, "", "bad.yaml: 2 problems\n  clusters: must name"},
		"bad file, run":  {[]string{"--config", bad}, nil, 2, "", "taskQeue: unknown key; did you mean taskQueue?"},
		"bad flag value": {[]string{"--config", good, "--log-level", "loud"}, nil, 2, "", `log.level: must be one of trace, debug, info, warn, error, off, got "loud" (from --log-level)`},
		"empty flag":     {[]string{"--config", good, "--task-queue", ""}, nil, 2, "", "taskQueue: must not be empty"},
		"no file":        {nil, nil, 2, "", "--config: name the configuration file"},
		"missing file":   {[]string{"--config", "/nowhere.yaml"}, nil, 2, "", "file: cannot be read"},
		"unknown flag":   {[]string{"--confg", good}, nil, 2, "", "unknown flag: --confg (see flinkscaler-worker --help)"},
		"argument":       {[]string{good}, nil, 2, "", "unexpected argument"},
		"bad profile":    {[]string{"--config", good}, []string{"TEMPORAL_PROFILE=nowhere", "TEMPORAL_CONFIG_FILE=/nowhere.toml"}, 2, "", "unable to find profile nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := execute(t.Context(), c.args, c.env, &stdout, &stderr); code != c.code {
				t.Errorf("exit code is %d, want %d\n%s", code, c.code, stderr.String())
			}
			if !strings.Contains(stdout.String(), c.stdout) {
				t.Errorf("stdout is %q, want %q in it", stdout.String(), c.stdout)
			}
			if !strings.Contains(stderr.String(), c.stderr) || (c.stderr == "" && stderr.Len() > 0) {
				t.Errorf("stderr is %q, want %q in it", stderr.String(), c.stderr)
			}
		})
	}
}
