package chaos

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
)

// real is a Flink cluster of real processes, with test jobs.
type real struct {
	*flinklocal.Cluster
	ha    bool
	dir   string
	jar   string
	slots int

	mu    sync.Mutex
	rates map[string]*flinklocal.RateFile
	ids   map[string]string
	lost  *flinklocal.Process // the JobManager that was killed
	gone  *flinklocal.Process // the TaskManager that was killed
}

// Real TaskManagers: the loss of one leaves every job enough to run.
const (
	taskManagers = 4
	slotsEach    = 6
)

func newReal(ctx context.Context, ha bool, dir string, log io.Writer) (*real, error) {
	jar, err := testjob.Jar()
	if err != nil {
		return nil, err
	}
	c, err := flinklocal.Start(ctx, flinklocal.Options{
		HA: ha, TaskManagers: taskManagers, Slots: slotsEach, Dir: dir, Log: log, KeepDir: true,
		// A JobManager and a TaskManager can be lost at once: the job that gets no slot
		// then must wait for it, where it would otherwise end for good after 20 s.
		Config: map[string]string{"jobmanager.adaptive-scheduler.submission.resource-wait-timeout": "10 min"},
	})
	if err != nil {
		return nil, err
	}
	return &real{Cluster: c, ha: ha, dir: dir, jar: jar, slots: taskManagers * slotsEach, rates: map[string]*flinklocal.RateFile{}, ids: map[string]string{}}, nil
}

func (r *real) url() string { return r.URL() }

func (r *real) keeps() bool { return r.ha }

func (r *real) submit(ctx context.Context, job, sameID string, failAt int) error {
	rates, err := r.rateFile(job)
	if err != nil {
		return err
	}
	id, err := r.Submit(ctx, r.jar, flinklocal.JobOptions{
		Name: job, Parallelism: 1, JobID: sameID,
		Args: []string{"--rate-file", rates.Path(), "--splits", "12", "--cost-us", "1000", "--max-parallelism", "24", "--fail-at", strconv.Itoa(failAt)},
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.ids[job] = id
	r.mu.Unlock()
	return r.WaitRunning(ctx, id)
}

func (r *real) rateFile(job string) (*flinklocal.RateFile, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.rates[job]; f != nil {
		return f, nil
	}
	f, err := flinklocal.NewRateFile(filepath.Join(r.dir, "rates-"+job))
	if err == nil {
		r.rates[job] = f
		err = f.Set(idleLoad)
	}
	return f, err
}

func (r *real) rate(job string, perSecond float64) error {
	f, err := r.rateFile(job)
	if err != nil {
		return err
	}
	return f.Set(perSecond)
}

func (r *real) hurtJobManager(ctx context.Context) error {
	r.lost = r.JobManagers()[0]
	if r.ha {
		leader, err := r.Leader(ctx)
		if err != nil {
			return err
		}
		r.lost = leader
	}
	return r.lost.Kill()
}

// healJobManager starts it again, and waits until its jobs run, or until all
// slots are there for new ones.
func (r *real) healJobManager(ctx context.Context) error {
	if err := r.lost.Restart(ctx); err != nil {
		return err
	}
	if !r.ha {
		return r.WaitSlots(ctx, r.slots)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for job, id := range r.ids {
		if err := r.WaitRunning(ctx, id); err != nil {
			return fmt.Errorf("%s after the loss of the leader: %w", job, err)
		}
	}
	return nil
}

func (r *real) hurtTaskManager(n int) error {
	all := r.TaskManagers()
	r.gone = all[n%len(all)]
	return r.gone.Kill()
}

func (r *real) healTaskManager(ctx context.Context) error { return r.gone.Restart(ctx) }

func (r *real) close() error { return r.Close() }

func (r *real) policy(loaded bool) map[string]string {
	p := map[string]string{
		"job.autoscaler.interval":                         "2 s",
		"job.autoscaler.metrics.window":                   "14 s",
		"job.autoscaler.metrics.busy-time.aggregator":     "AVG",
		"job.autoscaler.stabilization.interval":           "4 s",
		"job.autoscaler.restart.time":                     "3 s",
		"job.autoscaler.catch-up.duration":                "60 s",
		"job.autoscaler.scale-down.interval":              "6 s",
		"job.autoscaler.utilization.target":               "0.7",
		"job.autoscaler.utilization.max":                  "0.85",
		"job.autoscaler.utilization.min":                  "0.4",
		"job.autoscaler.rescale.verify-timeout":           "90 s",
		"job.autoscaler.backlog-processing.lag-threshold": "60 s",
	}
	return common(p, loaded)
}
