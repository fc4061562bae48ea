//go:build integration

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"sigs.k8s.io/yaml"

	"flinkscaler/internal/child"
	"flinkscaler/internal/devserver"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/logging"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

const (
	jobs     = 20
	vertices = 10
	interval = 2 * time.Second
	// cycles are measured per job, after warmup ones.
	cycles = 20
	warmup = 5
)

// BenchmarkIdleCycle measures a cycle in which nothing changes: 20 jobs of 10
// vertices on a real Temporal server, one real worker, a simulated Flink.
func BenchmarkIdleCycle(b *testing.B) {
	for b.Loop() {
		idle(b)
	}
}

func idle(b *testing.B) {
	ctx := b.Context()
	r := start(b)
	for i := range jobs {
		r.startJob(ctx, b, fmt.Sprintf("job-%02d", i))
	}
	r.awaitCycles(ctx, b, warmup)
	before := r.measure(ctx, b)
	r.awaitCycles(ctx, b, warmup+cycles)
	after := r.measure(ctx, b)

	n := float64(after.cycles - before.cycles)
	b.ReportMetric(float64(after.events-before.events)/n, "events/cycle")
	b.ReportMetric(float64(after.bytes-before.bytes)/n/1024, "KiB-history/cycle")
	b.ReportMetric((after.server-before.server)*1000/n, "server-cpu-ms/cycle")
	b.ReportMetric((after.worker-before.worker)*1000/n, "worker-cpu-ms/cycle")
	b.ReportMetric(n, "cycles")
}

// rig is a server, a worker and a simulated cluster.
type rig struct {
	server *devserver.Server
	worker *child.Process
	client client.Client
}

// sample is what was used up so far, over all jobs.
type sample struct {
	cycles, events, bytes int64
	server, worker        float64 // CPU seconds
}

func start(b *testing.B) *rig {
	b.Helper()
	dir := b.TempDir()
	r := &rig{}
	cache, err := toolcache.Open()
	must(b, err)
	temporal, err := cache.FindTemporal(b.Context())
	must(b, err)
	r.server, err = devserver.Start(b.Context(), devserver.Options{Temporal: temporal, Dir: filepath.Join(dir, "temporal")})
	must(b, err)
	b.Cleanup(func() { _ = r.server.Close() })
	log, err := logging.New(logging.Settings{Name: "bench", Level: "error", Format: "human", Output: os.Stderr})
	must(b, err)
	r.client, err = client.Dial(client.Options{HostPort: r.server.Address(), Logger: log.Temporal()})
	must(b, err)
	b.Cleanup(r.client.Close)
	r.startWorker(b, dir, simulated(b))
	return r
}

// simulated is a cluster whose jobs are well as they are.
func simulated(b *testing.B) string {
	b.Helper()
	c := flinksim.New(flinksim.Options{Slots: jobs * vertices, FetchInterval: 500 * time.Millisecond, FetchTime: 10 * time.Millisecond, CacheTime: 100 * time.Millisecond})
	url, err := c.Start()
	must(b, err)
	b.Cleanup(c.Close)
	for i := range jobs {
		c.AddJob(flinksim.JobSpec{Name: fmt.Sprintf("job-%02d", i), Load: flinksim.Constant(1400), Vertices: chain()})
	}
	return url
}

// chain is a source and nine vertices one after the other.
func chain() []flinksim.VertexSpec {
	out := []flinksim.VertexSpec{{Name: "Source: events", Parallelism: 2, Capacity: 1000}}
	for i := 1; i < vertices; i++ {
		out = append(out, flinksim.VertexSpec{
			Name: fmt.Sprintf("operator-%d", i), Parallelism: 2, Capacity: 1000,
			Inputs: []flinksim.Input{{From: out[i-1].Name, Ship: "HASH"}},
		})
	}
	return out
}

func (r *rig) startWorker(b *testing.B, dir, url string) {
	b.Helper()
	path := filepath.Join(dir, "flinkscaler-worker")
	if out, err := exec.Command("go", "build", "-o", path, "flinkscaler/worker").CombinedOutput(); err != nil {
		b.Fatalf("build the worker: %v\n%s", err, out)
	}
	config, err := yaml.Marshal(map[string]any{
		"http":     map[string]any{"listen": "127.0.0.1:0"},
		"clusters": map[string]any{"bench": map[string]any{"flink": map[string]any{"url": url, "maxRequests": 64}}},
	})
	must(b, err)
	must(b, os.WriteFile(filepath.Join(dir, "worker.yaml"), config, 0o600))
	r.worker, err = child.Start(child.Command{
		Name: "worker", Path: path, Args: []string{"--config", filepath.Join(dir, "worker.yaml")}, Dir: dir, LogDir: dir,
		Env: []string{"TEMPORAL_ADDRESS=" + r.server.Address(), "TEMPORAL_CONFIG_FILE=" + filepath.Join(dir, "none.toml")},
	})
	must(b, err)
	b.Cleanup(func() { _ = r.worker.Kill() })
}

func (r *rig) startJob(ctx context.Context, b *testing.B, name string) {
	b.Helper()
	input, err := json.Marshal(map[string]any{"cluster": "bench", "job": name, "policy": map[string]any{
		"job.autoscaler.interval": interval.String(), "job.autoscaler.metrics.window": "20 s", "job.autoscaler.stabilization.interval": "1 s",
	}})
	must(b, err)
	_, err = r.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id(name), TaskQueue: workflows.TaskQueue}, workflows.ScaleName, json.RawMessage(input))
	must(b, err)
}

func id(name string) string { return "flink/bench/" + name }

// awaitCycles waits until every job has had so many cycles.
func (r *rig) awaitCycles(ctx context.Context, b *testing.B, least int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for i := range jobs {
		must(b, child.WaitFor(ctx, "cycles", func(ctx context.Context) (string, bool, error) {
			s, err := r.status(ctx, fmt.Sprintf("job-%02d", i))
			if err != nil {
				return err.Error(), false, nil
			}
			return fmt.Sprint(s.Cycle), s.Cycle >= least, nil
		}))
	}
}

func (r *rig) status(ctx context.Context, name string) (workflows.Status, error) {
	var s workflows.Status
	v, err := r.client.QueryWorkflow(ctx, id(name), "", workflows.QueryStatus)
	if err != nil {
		return s, err
	}
	return s, v.Get(&s)
}

func (r *rig) measure(ctx context.Context, b *testing.B) sample {
	b.Helper()
	out := sample{server: cpu(b, r.server.PID()), worker: cpu(b, r.worker.PID())}
	for i := range jobs {
		name := fmt.Sprintf("job-%02d", i)
		s, err := r.status(ctx, name)
		must(b, err)
		d, err := r.client.DescribeWorkflow(ctx, id(name), "")
		must(b, err)
		out.cycles += int64(s.Cycle)
		out.events += d.RawResponse.GetWorkflowExecutionInfo().GetHistoryLength()
		out.bytes += d.RawResponse.GetWorkflowExecutionInfo().GetHistorySizeBytes()
	}
	return out
}

// ticks is the kernel's unit of CPU time: 100 a second on Linux.
const ticks = 100

// cpu gives the CPU seconds that a process has used.
func cpu(b *testing.B, pid int) float64 {
	b.Helper()
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	must(b, err)
	_, after, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(after)
	user, err := strconv.ParseFloat(fields[11], 64)
	must(b, err)
	system, err := strconv.ParseFloat(fields[12], 64)
	must(b, err)
	return (user + system) / ticks
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
