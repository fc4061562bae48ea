package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/internal/toolcache"
)

func testEnsurer(t *testing.T) (*ensurer, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	return &ensurer{cache: toolcache.At(t.TempDir()), root: t.TempDir(), screen: newScreen(out)}, out
}

func targetNames(targets []target) []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.name())
	}
	return names
}

func TestTargets(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		names  []string
		want   []string
	}{
		"in order":          {"the order is the user's", []string{"tctl", "temporal"}, []string{"tctl", "temporal"}},
		"job implies Flink": {"the job is compiled against Flink 1", []string{"testjob"}, []string{"flink:1.20.5", "testjob"}},
		"control plane":     {"one name for all of it", []string{"kube"}, []string{"etcd", "kube-apiserver", "kube-controller-manager"}},
		"renderers":         {"both are needed to compare", []string{"render"}, []string{"helm", "kustomize"}},
		"hadoop":            {"the pinned release, once", []string{"hadoop", "hadoop:3.4.2", "hadoop:3.3.6"}, []string{"hadoop:3.4.2", "hadoop:3.3.6"}},
		"once each":         {"nothing is made twice", []string{"flink:1.20.5", "testjob", "flink:1.20.5"}, []string{"flink:1.20.5", "testjob"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := testEnsurer(t)
			got, err := e.targets(tc.names)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, targetNames(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnknownTargetsAreAllReported(t *testing.T) {
	t.Parallel()
	e, _ := testEnsurer(t)
	_, err := e.targets([]string{"kafka", "temporal", "flink:two", "hadoop:three", "hadoop:"})
	if err == nil || !strings.Contains(err.Error(), "kafka: unknown; known are") || !strings.Contains(err.Error(), "flink:two") ||
		!strings.Contains(err.Error(), "hadoop:three") || !strings.Contains(err.Error(), "target hadoop:: ") {
		t.Errorf("error %v; want both bad targets", err)
	}
}

func TestPinnedVersionsAreThoseOfTheModules(t *testing.T) {
	t.Parallel()
	cases := []struct{ file, want string }{
		{"../temporal/go.mod", "github.com/temporalio/cli v" + toolcache.TemporalVersion},
		{"../tctl/go.mod", "github.com/temporalio/tctl v" + toolcache.TctlVersion},
		{"../etcd/go.mod", "go.etcd.io/etcd/server/v3 v" + toolcache.EtcdVersion},
		{"../kube/go.mod", "k8s.io/kubernetes v" + toolcache.KubeVersion},
		{"../kube/go.mod", "k8s.io/apiserver => k8s.io/apiserver v0" + strings.TrimPrefix(toolcache.KubeVersion, "1")},
		{"../helm/go.mod", "helm.sh/helm/v3 v" + toolcache.HelmVersion},
		{"../kustomize/go.mod", "sigs.k8s.io/kustomize/kustomize/v5 v" + toolcache.KustomizeVersion},
		{"operator-pom.xml", "<operator.version>" + toolcache.OperatorVersion + "</operator.version>"},
	}
	for _, tc := range cases {
		content, err := os.ReadFile(tc.file)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(regexp.QuoteMeta(tc.want) + `\s`).Match(content) {
			t.Errorf("%s does not say %s", tc.file, tc.want)
		}
	}
}

func TestVersionOfTheKubernetesServers(t *testing.T) {
	t.Parallel()
	const p = " -X k8s.io/component-base/version."
	want := "-ldflags=-s -w" + p + "gitVersion=v1.37.2" + p + "gitMajor=1" + p + "gitMinor=37" +
		p + "gitTreeState=clean" + p + "gitCommit=0000000000000000000000000000000000000000"
	if diff := cmp.Diff(want, kubeVersion()); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

// fakeTarget counts how often it is made.
type fakeTarget struct {
	there  *atomic.Bool
	made   *atomic.Int64
	needed []prerequisite
}

func newFakeTarget() fakeTarget { return fakeTarget{there: &atomic.Bool{}, made: &atomic.Int64{}} }

func (fakeTarget) name() string                          { return "fake" }
func (f fakeTarget) have(context.Context) (string, bool) { return "somewhere", f.there.Load() }
func (f fakeTarget) needs() []prerequisite               { return f.needed }
func (fakeTarget) intro() string                         { return "making a fake; usually no time" }
func (f fakeTarget) make(context.Context, *task) error {
	f.made.Add(1)
	f.there.Store(true)
	return nil
}

func TestTwoRunsMakeItOnce(t *testing.T) {
	t.Parallel()
	e, _ := testEnsurer(t)
	fake := newFakeTarget()
	unlock, err := e.lock(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	other := &ensurer{cache: e.cache, screen: newScreen(&bytes.Buffer{})}
	go func() { second <- other.makeLocked(t.Context(), fake) }()
	if err := fake.make(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	unlock()
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if got := fake.made.Load(); got != 1 {
		t.Errorf("made %d times; want once", got)
	}
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	e, _ := testEnsurer(t)
	unlock, err := e.lock(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.lock(ctx, "fake"); !errors.Is(err, context.Canceled) {
		t.Errorf("lock with an ended context: %v; want context.Canceled", err)
	}
}

func TestMissingProgramsAreReportedTogether(t *testing.T) {
	t.Parallel()
	fake := newFakeTarget()
	fake.needed = []prerequisite{
		{name: "first", check: []string{"no-such-program-1"}, hint: "get one"},
		{name: "second", check: []string{"no-such-program-2"}, hint: "get two"},
	}
	err := checkPrerequisites(t.Context(), []target{fake, fake})
	if err == nil {
		t.Fatal("no error for missing programs")
	}
	for _, want := range []string{"fake needs first (get one)", "fake needs second (get two)"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("error %q; want %q in it once", err, want)
		}
	}
}

func TestFailingToolShowsItsLastLines(t *testing.T) {
	t.Parallel()
	e, _ := testEnsurer(t)
	script := "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i >&2; done; printf 'the reason' >&2; echo apart; exit 3"
	err := e.runTool(t.Context(), command{args: []string{"sh", "-c", script}})
	if err == nil {
		t.Fatal("no error from a failing tool")
	}
	if !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "  line 100\n") || !strings.HasSuffix(err.Error(), "  the reason") {
		t.Errorf("error does not end with the last lines: %v", err)
	}
	if strings.Contains(err.Error(), "line 70\n") {
		t.Errorf("error shows more than %d lines", failureLines)
	}
}

func TestInHome(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		path string
		want bool
	}{
		"dist":            {"lib/flink-dist-2.3.0.jar", true},
		"logging":         {"lib/log4j-core-2.25.3.jar", true},
		"script":          {"bin/jobmanager.sh", true},
		"plugin":          {"plugins/metrics-prometheus/flink-metrics-prometheus-2.3.0.jar", true},
		"configuration":   {"conf/config.yaml", true},
		"table":           {"lib/flink-table-runtime-2.3.0.jar", false},
		"cep":             {"lib/flink-cep-2.3.0.jar", false},
		"csv":             {"lib/flink-csv-2.3.0.jar", false},
		"scala":           {"lib/flink-scala_2.12-2.3.0.jar", false},
		"optional":        {"opt/flink-python-2.3.0.jar", false},
		"python":          {"table/catalog.py", false},
		"folder":          {"bin/", false},
		"name alone":      {"bin", false},
		"out of the home": {"bin/../../escape", false},
	}
	for name, tc := range cases {
		if got := inHome(tc.path); got != tc.want {
			t.Errorf("%s: inHome(%q) = %v; want %v", name, tc.path, got, tc.want)
		}
	}
}

func TestUnpackJoinsWheelAndSourceArchive(t *testing.T) {
	t.Parallel()
	e, _ := testEnsurer(t)
	flink := flinkTarget{e: e, version: "1.20.5"}
	wheel := writeWheel(t, map[string]string{"pyflink/bin/flink": "script", "pyflink/conf/config.yaml": "conf", "pyflink/java_gateway.py": "x"})
	source := writeSourceArchive(t, map[string]string{"libs-1.20.5/deps/lib/flink-dist-1.20.5.jar": "dist", "libs-1.20.5/deps/lib/flink-cep-1.20.5.jar": "cep", "libs-1.20.5/setup.py": "x"})
	if err := flink.unpack(t.Context(), []string{wheel, source}); err != nil {
		t.Fatal(err)
	}
	home, there := flink.have(t.Context())
	if !there {
		t.Fatal("the distribution is not at its place")
	}
	want := map[string]fs.FileMode{"bin/flink": 0o755, "conf/config.yaml": 0o644, "lib/flink-dist-1.20.5.jar": 0o644}
	if diff := cmp.Diff(want, fileModes(t, home)); diff != "" {
		t.Errorf("unpacked files (-want +got):\n%s", diff)
	}
}

func TestUnpackOfADamagedArchiveLeavesNothing(t *testing.T) {
	t.Parallel()
	e, out := testEnsurer(t)
	flink := flinkTarget{e: e, version: "2.3.0"}
	downloads := e.cache.Downloads()
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"apache_flink-2.3.0-cp311.whl", "apache_flink_libraries-2.3.0-py3-none-any.whl"} {
		if err := os.WriteFile(filepath.Join(downloads, name), []byte("half an archive"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err := flink.make(t.Context(), e.screen.begin("flink:2.3.0", "unpacking"))
	if err == nil || !strings.Contains(err.Error(), "run it again") {
		t.Errorf("error %v; want one that says what to do", err)
	}
	if _, there := flink.have(t.Context()); there {
		t.Error("a distribution is there")
	}
	if left := fileModes(t, e.cache.Root()); len(left) != 0 {
		t.Errorf("files left behind: %v (output %q)", left, out)
	}
}

func TestArchivesByVersionAndNaming(t *testing.T) {
	t.Parallel()
	e, _ := testEnsurer(t)
	folder := e.cache.Downloads()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		"1.18.1": "apache-flink-libraries-1.18.1.tar.gz",
		"1.20.5": "apache_flink_libraries-1.20.5.tar.gz",
		"2.3.0":  "apache_flink_libraries-2.3.0-py2.py3-none-any.whl",
	}
	for _, name := range append(slices.Collect(maps.Values(cases)), "apache_flink_libraries-1.20.50.tar.gz") {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for version, want := range cases {
		flink := flinkTarget{e: e, version: version}
		got, err := flink.archive(flink.packages()[1])
		if err != nil || filepath.Base(got) != want {
			t.Errorf("archive of %s = %q, %v; want %s", version, got, err, want)
		}
	}
}

func writeWheel(t *testing.T, files map[string]string) string {
	t.Helper()
	var content bytes.Buffer
	writer := zip.NewWriter(&content)
	for name, text := range files {
		file, err := writer.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return writeArchive(t, "some.whl", content.Bytes())
}

func writeSourceArchive(t *testing.T, files map[string]string) string {
	t.Helper()
	var content bytes.Buffer
	zipped := gzip.NewWriter(&content)
	writer := tar.NewWriter(zipped)
	for name, text := range files {
		header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(text))}
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(writer.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return writeArchive(t, "some.tar.gz", content.Bytes())
}

func writeArchive(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fileModes lists the files below a folder.
func fileModes(t *testing.T, folder string) map[string]fs.FileMode {
	t.Helper()
	modes := map[string]fs.FileMode{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		modes[filepath.ToSlash(relative)] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return modes
}
