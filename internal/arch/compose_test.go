package arch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/google/go-cmp/cmp"

	"flinkscaler/internal/config"
)

const repository = "../.."

// compose loads docker-compose.yml as docker compose would.
func compose(t *testing.T) *types.Project {
	t.Helper()
	opts, err := cli.NewProjectOptions([]string{filepath.Join(repository, "docker-compose.yml")}, cli.WithWorkingDirectory(repository), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	p, err := opts.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pinned is an image with a tag that names one release.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:[0-9]+\.[0-9]+[0-9a-z._-]*$`) //nolint:gochecknoglobals // a constant

func TestComposeServices(t *testing.T) {
	t.Parallel()
	p := compose(t)
	type service struct {
		Image string
		// Needs lists what it waits for, with the condition.
		Needs []string
		// Ports lists address:published:target.
		Ports   []string
		Checked bool
	}
	got := map[string]service{}
	for name, s := range p.Services {
		row := service{Image: s.Image, Checked: s.HealthCheck != nil && len(s.HealthCheck.Test) > 1}
		for other, d := range s.DependsOn {
			row.Needs = append(row.Needs, other+" "+d.Condition)
		}
		for _, port := range s.Ports {
			row.Ports = append(row.Ports, fmt.Sprintf("%s:%s:%d", port.HostIP, port.Published, port.Target))
		}
		slices.Sort(row.Needs)
		slices.Sort(row.Ports)
		got[name] = row
	}
	want := map[string]service{
		"postgresql":  {Image: "postgres:16.10-alpine", Checked: true},
		"temporal":    {Image: "temporalio/auto-setup:1.29.1", Needs: []string{"postgresql service_healthy"}, Ports: []string{"127.0.0.1:7233:7233"}, Checked: true},
		"temporal-ui": {Image: "temporalio/ui:2.42.1", Needs: []string{"temporal service_healthy"}, Ports: []string{"127.0.0.1:8080:8080"}},
		"jobmanager":  {Image: "flink:2.3.0-scala_2.12-java17", Ports: []string{"127.0.0.1:8081:8081"}, Checked: true},
		"taskmanager": {Image: "flink:2.3.0-scala_2.12-java17", Needs: []string{"jobmanager service_healthy"}, Checked: true},
		"worker": {
			Image: "flinkscaler:dev", Needs: []string{"jobmanager service_healthy", "temporal service_healthy"},
			Ports: []string{"127.0.0.1:9099:9099"}, Checked: true,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	for name, s := range p.Services {
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %s is not pinned to a release", name, s.Image)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to the network", name, port.Published)
			}
		}
		for other, d := range s.DependsOn {
			if d.Condition == types.ServiceConditionHealthy && p.Services[other].HealthCheck == nil {
				t.Errorf("%s waits for the health of %s, which has no check", name, other)
			}
		}
	}
}

// TestComposeWorker: the mounted file is the one that the image reads, it is
// good, and what it names is there.
func TestComposeWorker(t *testing.T) {
	t.Parallel()
	p := compose(t)
	w := p.Services["worker"]
	if w.Build == nil || w.Build.Dockerfile != "Dockerfile" {
		t.Fatalf("the worker is not built from the Dockerfile: %+v", w.Build)
	}
	if len(w.Volumes) != 1 {
		t.Fatalf("the worker has %d mounts, want its configuration alone", len(w.Volumes))
	}
	mount := w.Volumes[0]
	if !mount.ReadOnly || mount.Type != types.VolumeTypeBind {
		t.Errorf("the configuration is not mounted read-only: %+v", mount)
	}
	if !strings.Contains(read(t, "Dockerfile"), fmt.Sprintf(`CMD ["--config", %q]`, mount.Target)) {
		t.Errorf("the image does not read %s", mount.Target)
	}
	cfg, notes, err := config.Load(config.Source{File: mount.Source})
	if err != nil || len(notes) > 0 {
		t.Fatalf("%v, notes %q", err, notes)
	}
	target := func(service string) uint32 { return p.Services[service].Ports[0].Target }
	if want := fmt.Sprintf("temporal:%d", target("temporal")); cfg.Temporal.Address != want {
		t.Errorf("temporal.address is %s, want %s", cfg.Temporal.Address, want)
	}
	if want := fmt.Sprintf("0.0.0.0:%d", target("worker")); cfg.HTTP.Listen != want {
		t.Errorf("http.listen is %s, want %s: a published port does not reach loopback of the container", cfg.HTTP.Listen, want)
	}
	if want := []string{fmt.Sprintf("http://jobmanager:%d", target("jobmanager"))}; len(cfg.Clusters) != 1 || !slices.Equal(cfg.Clusters[0].Flink.URLs, want) {
		t.Errorf("clusters are %+v, want one at %s", cfg.Clusters, want)
	}
	if w.StopGracePeriod == nil || time.Duration(*w.StopGracePeriod) <= cfg.Limits.StopTimeout {
		t.Errorf("stop_grace_period is %v, want more than limits.stopTimeout (%s)", w.StopGracePeriod, cfg.Limits.StopTimeout)
	}
}

// TestComposeFlink: the scheduler can change parallelism in place, and no
// value falls victim to the image, which takes out blanks and knows no
// comments.
func TestComposeFlink(t *testing.T) {
	t.Parallel()
	p := compose(t)
	manager, worker := p.Services["jobmanager"].Environment["FLINK_PROPERTIES"], p.Services["taskmanager"].Environment["FLINK_PROPERTIES"]
	if manager == nil || worker == nil || *manager != *worker {
		t.Fatal("JobManager and TaskManager are configured differently")
	}
	values := map[string]string{}
	for line := range strings.Lines(*manager) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.ContainsAny(key+value, " #") {
			t.Errorf("line %q is not key: value without blanks", line)
		}
		values[key] = value
	}
	for key, want := range map[string]string{"jobmanager.rpc.address": "jobmanager", "jobmanager.scheduler": "adaptive"} {
		if values[key] != want {
			t.Errorf("%s is %q, want %q", key, values[key], want)
		}
	}
}

// TestComposeHealthCommands runs the checks that are scripts, against a server
// that answers as Flink does.
func TestComposeHealthCommands(t *testing.T) {
	t.Parallel()
	p := compose(t)
	registered := `{"taskmanagers":[]}`
	code := http.StatusOK
	flink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		if r.URL.Path == "/taskmanagers" {
			_, _ = fmt.Fprint(w, registered)
		}
	}))
	defer flink.Close()
	host, port, _ := strings.Cut(strings.TrimPrefix(flink.URL, "http://"), ":")
	check := func(service string) error {
		test := slices.Clone(p.Services[service].HealthCheck.Test)
		if test[0] != "CMD" || test[1] != "bash" {
			t.Fatalf("%s: the check is %q, want a script for bash", service, test)
		}
		script := regexp.MustCompile(`/dev/tcp/[^/]+/8081`).ReplaceAllString(test[3], "/dev/tcp/"+host+"/"+port)
		return exec.CommandContext(t.Context(), test[1], test[2], script).Run() //nolint:gosec // our own script
	}
	expect := func(what, service string, healthy bool) {
		t.Helper()
		if err := check(service); (err == nil) != healthy {
			t.Errorf("%s: %s is healthy: %v, want %v (%v)", what, service, err == nil, healthy, err)
		}
	}
	expect("no TaskManager", "jobmanager", true)
	expect("no TaskManager", "taskmanager", false)
	registered = `{"taskmanagers":[{"id":"10.0.0.2:1-a"}]}`
	expect("one TaskManager", "taskmanager", true)
	code = http.StatusServiceUnavailable
	expect("no leader", "jobmanager", false)
	flink.Close()
	expect("nobody there", "jobmanager", false)
}

// TestDockerfile: every stage is pinned, the last does not run as root and has
// both programs, and nothing that they are built from is kept out of the build.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text := read(t, "Dockerfile")
	images := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1)
	if len(images) != 2 {
		t.Errorf("%d stages, want 2", len(images))
	}
	for _, m := range images {
		if !pinned.MatchString(m[1]) {
			t.Errorf("image %s is not pinned to a release", m[1])
		}
	}
	for _, want := range []string{"CGO_ENABLED=0", "\nUSER 65532:65532\n", "-o /out/flinkscaler-worker ./worker", "-o /out/flinkscaler ./starter"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the Dockerfile", want)
		}
	}
	kept := strings.Split(strings.TrimSpace(read(t, ".dockerignore")), "\n")
	if kept[0] != "*" {
		t.Fatal("the build context is not closed")
	}
	for _, dir := range append([]string{"go.mod", "go.sum"}, needed(t, "worker", "starter")...) {
		if !slices.Contains(kept, "!"+dir) {
			t.Errorf("%s is needed by the build but kept out of it by .dockerignore", dir)
		}
	}
}

// needed lists the top folders of the module that programs are built from.
func needed(t *testing.T, programs ...string) []string {
	t.Helper()
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test {
			imports[s.dir()] = append(imports[s.dir()], s.imports...)
		}
	}
	seen, top := map[string]bool{}, []string{}
	for todo := programs; len(todo) > 0; {
		dir := todo[0]
		todo = todo[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		top = append(top, strings.Split(dir, "/")[0])
		for _, p := range imports[dir] {
			if ours(p) {
				todo = append(todo, strings.TrimPrefix(p, module+"/"))
			}
		}
	}
	slices.Sort(top)
	if top = slices.Compact(top); len(top) < 5 {
		t.Fatalf("the programs are built from %q alone", top)
	}
	return top
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repository, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
