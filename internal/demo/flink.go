package demo

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/flinksim"
)

// flink is the cluster of the demo.
type flink struct {
	url string
	// policy is how its job is scaled.
	policy map[string]string
	// submit runs the job, with 2 subtasks where the work is.
	submit func(context.Context) error
	// set changes the rate at which records arrive.
	set   func(perSecond float64) error
	close func()
}

const jobName = "orders"

// simulated starts a simulated cluster: everything is quick, so that a minute
// shows what takes hours in earnest.
func simulated() (flink, error) {
	c := flinksim.New(flinksim.Options{
		Slots: 8, FetchInterval: 300 * time.Millisecond, FetchTime: 20 * time.Millisecond, GaugeSpan: 2 * time.Second,
		CacheTime: 200 * time.Millisecond, Cooldown: 200 * time.Millisecond, MaxDelay: time.Second, Stabilization: 200 * time.Millisecond,
		Downtime: 500 * time.Millisecond, Deploy: 100 * time.Millisecond, CheckpointInterval: time.Second,
	})
	url, err := c.Start()
	if err != nil {
		return flink{}, err
	}
	return flink{
		url: url, policy: quick("1 s", "5 s", "1 s", "4 s", "4 s"), close: c.Close,
		submit: func(context.Context) error {
			_, err := c.Submit(flinksim.JobSpec{Name: jobName})
			return err
		},
		set: func(perSecond float64) error { return c.SetLoad(jobName, flinksim.Constant(perSecond)) },
	}, nil
}

// genuine starts a real cluster; its job is the test job.
func genuine(ctx context.Context, version, dir string, log io.Writer) (flink, error) {
	jar, err := testjob.Jar()
	if err != nil {
		return flink{}, err
	}
	rates, err := flinklocal.NewRateFile(filepath.Join(dir, "rates"))
	if err != nil {
		return flink{}, err
	}
	c, err := flinklocal.Start(ctx, flinklocal.Options{Version: version, TaskManagers: 2, Slots: 4, Dir: dir, Log: log})
	if err != nil {
		return flink{}, err
	}
	f := flink{url: c.URL(), policy: quick("2 s", "10 s", "3 s", "4 s", "8 s"), close: func() { _ = c.Close() }, set: rates.Set}
	f.submit = func(ctx context.Context) error {
		id, err := c.Submit(ctx, jar, flinklocal.JobOptions{
			Name: jobName, Parallelism: 2,
			Args: []string{"--rate-file", rates.Path(), "--splits", "12", "--cost-us", "1000", "--max-parallelism", "24", "--name", jobName},
		})
		if err != nil {
			return err
		}
		if err := c.WaitRunning(ctx, id); err != nil {
			return err
		}
		job, err := c.Job(ctx, id)
		// The source has nothing to do. Making it smaller would be a restart of
		// its own, in a demo that has no time for it.
		source, _ := job.Vertex(testjob.SourceName)
		f.policy["job.autoscaler.vertex.exclude.ids"] = source.ID
		return err
	}
	return f, nil
}

// quick is a policy with windows of seconds, fit for watching.
func quick(interval, window, stabilization, restart, down string) map[string]string {
	return map[string]string{
		"job.autoscaler.interval":               interval,
		"job.autoscaler.metrics.window":         window,
		"job.autoscaler.stabilization.interval": stabilization,
		"job.autoscaler.restart.time":           restart,
		"job.autoscaler.scale-down.interval":    down,
		"job.autoscaler.catch-up.duration":      "30 s",
		"job.autoscaler.utilization.target":     "0.75",
		"job.autoscaler.utilization.max":        "0.9",
		"job.autoscaler.utilization.min":        "0.45",
		// Flink's per-second meters need a minute to be right, longer than
		// these windows: counters are used instead.
		"job.autoscaler.metrics.busy-time.aggregator":     "AVG",
		"job.autoscaler.vertex.max-parallelism":           "8",
		"job.autoscaler.rescale.verify-timeout":           "60 s",
		"job.autoscaler.rescale.backoff":                  "5 s",
		"job.autoscaler.backlog-processing.lag-threshold": "30 s",
	}
}
