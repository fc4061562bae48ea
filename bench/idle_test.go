//go:build integration

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/stack"
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
		r.startJob(ctx, b, key(i))
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

// rig is an installation beside a simulated cluster.
type rig struct{ *stack.Stack }

// sample is what was used up so far, over all jobs.
type sample struct {
	cycles, events, bytes int64
	server, worker        float64 // CPU seconds
}

func start(b *testing.B) *rig {
	b.Helper()
	dir := b.TempDir()
	worker := filepath.Join(dir, "flinkscaler-worker")
	if out, err := exec.Command("go", "build", "-o", worker, "flinkscaler/worker").CombinedOutput(); err != nil {
		b.Fatalf("build the worker: %v\n%s", err, out)
	}
	s, err := stack.Start(b.Context(), stack.Options{
		Dir: dir, Worker: worker,
		Clusters: map[string]any{cluster: map[string]any{"flink": map[string]any{"url": simulated(b), "maxRequests": 64}}},
	})
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	return &rig{s}
}

// simulated is a cluster whose jobs are well as they are.
func simulated(b *testing.B) string {
	b.Helper()
	c := flinksim.New(flinksim.Options{Slots: jobs * vertices, FetchInterval: 500 * time.Millisecond, FetchTime: 10 * time.Millisecond, CacheTime: 100 * time.Millisecond})
	url, err := c.Start()
	must(b, err)
	b.Cleanup(c.Close)
	for i := range jobs {
		c.AddJob(flinksim.JobSpec{Name: key(i).Job, Load: flinksim.Constant(1400), Vertices: chain()})
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

func (r *rig) startJob(ctx context.Context, b *testing.B, job core.JobKey) {
	b.Helper()
	must(b, r.StartJob(ctx, job, map[string]string{
		"job.autoscaler.interval": interval.String(), "job.autoscaler.metrics.window": "20 s", "job.autoscaler.stabilization.interval": "1 s",
		// Flink's meters need a minute to be right; counters are at once.
		"job.autoscaler.metrics.busy-time.aggregator": "AVG",
	}))
}

const cluster = "bench"

// key names one of the jobs.
func key(i int) core.JobKey { return core.JobKey{Cluster: cluster, Job: fmt.Sprintf("job-%02d", i)} }

// awaitCycles waits until every job has had so many cycles.
func (r *rig) awaitCycles(ctx context.Context, b *testing.B, least int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for i := range jobs {
		must(b, child.WaitFor(ctx, "cycles", func(ctx context.Context) (string, bool, error) {
			s, err := r.status(ctx, key(i))
			if err != nil {
				return err.Error(), false, nil
			}
			if s.LastRescale != nil || s.Rescale != nil {
				return "", false, fmt.Errorf("job %s is not idle: %+v", key(i), s.LastRescale)
			}
			return fmt.Sprint(s.Cycle), s.Cycle >= least, nil
		}))
	}
}

func (r *rig) status(ctx context.Context, job core.JobKey) (workflows.Status, error) {
	var s workflows.Status
	err := r.Query(ctx, job, workflows.QueryStatus, &s)
	return s, err
}

func (r *rig) measure(ctx context.Context, b *testing.B) sample {
	b.Helper()
	out := sample{server: cpu(b, r.Server.PID()), worker: cpu(b, r.Worker.PID())}
	for i := range jobs {
		s, err := r.status(ctx, key(i))
		must(b, err)
		d, err := r.Client.DescribeWorkflow(ctx, spec.ID(key(i)), "")
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
