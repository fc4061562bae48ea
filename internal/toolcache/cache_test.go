package toolcache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDirFollowsTheEnvironment(t *testing.T) {
	given := t.TempDir()
	t.Setenv(EnvDir, given)
	got, err := Dir()
	if err != nil || got != given {
		t.Errorf("Dir() = %q, %v; want %q", got, err, given)
	}

	t.Setenv(EnvDir, "")
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	got, err = Dir()
	if err != nil || filepath.Base(got) != "flinkscaler" {
		t.Errorf("Dir() = %q, %v; want flinkscaler in the user's cache directory", got, err)
	}
}

func TestPathsCarryTheVersion(t *testing.T) {
	t.Parallel()
	cache := At("/c")
	got := []string{
		cache.Temporal(), cache.Tctl(), cache.FlinkHome("2.3.0"), cache.TestJob("abc"), cache.Downloads(),
		cache.Etcd(), cache.KubeAPIServer(), cache.KubeControllerManager(), cache.FlinkOperator().CRDs, cache.Helm(), cache.Kustomize(),
		cache.HadoopDist("3.4.2").Daemons, cache.HadoopDist("3.4.2").Client,
	}
	want := []string{
		"/c/bin/temporal-1.5.1", "/c/bin/tctl-1.18.0", "/c/flink-2.3.0", "/c/testjob-abc.jar", "/c/dl",
		"/c/bin/etcd-3.6.16", "/c/bin/kube-apiserver-1.37.2", "/c/bin/kube-controller-manager-1.37.2",
		"/c/flink-operator-1.7.0-crds-1.10.0/crds", "/c/bin/helm-3.22.0", "/c/bin/kustomize-5.8.2",
		"/c/hadoop-3.4.2/daemons", "/c/hadoop-3.4.2/client",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestMissingToolSaysHowToGetIt(t *testing.T) {
	t.Parallel()
	cache := At(t.TempDir())
	_, err := cache.FindFlinkHome("2.3.0")
	if !errors.Is(err, ErrMissing) {
		t.Fatalf("FindFlinkHome in an empty cache: %v; want ErrMissing", err)
	}
	want := "find flink:2.3.0 (run: go run ./tools/ensure flink:2.3.0): not in the tool cache"
	if err.Error() != want {
		t.Errorf("error %q; want %q", err, want)
	}
	if err := os.Mkdir(cache.FlinkHome("2.3.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := cache.FindFlinkHome("2.3.0"); err != nil || got != cache.FlinkHome("2.3.0") {
		t.Errorf("FindFlinkHome = %q, %v; want the folder", got, err)
	}
}

func TestTemporalOnThePathIsUsedWhenNewEnough(t *testing.T) {
	cases := map[string]struct {
		reason string
		output string
		want   bool
	}{
		"pinned":    {"the pinned version is enough", "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)", true},
		"newer":     {"newer is fine", "temporal version 1.10.0 (Server 1.32.0, UI 2.50.0)", true},
		"older":     {"an older one may lack commands", "temporal version 1.4.9 (Server 1.28.0, UI 2.40.0)", false},
		"unstamped": {"built with go build: the server decides", "temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)", true},
		"old build": {"an old one built with go build", "temporal version 0.0.0-DEV (Server 1.27.0, UI 2.40.0)", false},
		"foreign":   {"another program of this name", "usage: temporal [file]", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			script := "#!/bin/sh\necho '" + tc.output + "'\n"
			if err := os.WriteFile(filepath.Join(folder, "temporal"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", folder)
			cache := At(t.TempDir())
			path, err := cache.FindTemporal(t.Context())
			if tc.want && (err != nil || path != filepath.Join(folder, "temporal")) {
				t.Errorf("%s: FindTemporal = %q, %v; want the one on the PATH", tc.reason, path, err)
			}
			if !tc.want && !errors.Is(err, ErrMissing) {
				t.Errorf("%s: FindTemporal = %q, %v; want ErrMissing", tc.reason, path, err)
			}
		})
	}
}

func TestPinnedTemporalIsGood(t *testing.T) {
	t.Parallel()
	if !temporalGood("temporal version " + TemporalVersion) {
		t.Errorf("temporalGood refuses TemporalVersion %s", TemporalVersion)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		older, newer string
	}{
		"patch":             {"1.20.4", "1.20.5"},
		"minor as a number": {"1.9.3", "1.20.0"},
		"major":             {"1.20.5", "2.0.0"},
		"short":             {"2", "2.0.1"},
	}
	for name, tc := range cases {
		older, err := ParseVersion(tc.older)
		if err != nil {
			t.Fatal(err)
		}
		newer, err := ParseVersion(tc.newer)
		if err != nil {
			t.Fatal(err)
		}
		if older.AtLeast(newer) || !newer.AtLeast(older) || !newer.AtLeast(newer) {
			t.Errorf("%s: %s and %s are in the wrong order", name, tc.older, tc.newer)
		}
	}
	for _, bad := range []string{"", "x", "1.x", "1.2.3.4", "1..2", "-1"} {
		if got, err := ParseVersion(bad); err == nil {
			t.Errorf("ParseVersion(%q) = %v; want an error", bad, got)
		}
	}
	if got, err := ParseVersion("v2.3.0-SNAPSHOT"); err != nil || got.String() != "2.3.0" {
		t.Errorf("ParseVersion with a suffix = %v, %v", got, err)
	}
}
