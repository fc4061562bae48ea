package chaos

import (
	"context"
	"time"

	"flinkscaler/internal/flinksim"
)

// simulated is a simulated cluster. Its JobManager is lost by making the REST
// API fail and, with HA, every job restart.
type simulated struct {
	*flinksim.Cluster
	ha bool
}

func newSimulated(ha bool, slots int) (*simulated, error) {
	c := flinksim.New(flinksim.Options{
		FetchInterval: 300 * time.Millisecond, FetchTime: 20 * time.Millisecond, GaugeSpan: 2 * time.Second, CacheTime: 200 * time.Millisecond,
		Cooldown: 200 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Stabilization: 200 * time.Millisecond,
		Downtime: 300 * time.Millisecond, Deploy: 100 * time.Millisecond, CheckpointInterval: time.Second,
		LossFreeze: time.Second, Slots: slots, SlotsPerTaskManager: mostSlots,
	})
	_, err := c.Start()
	return &simulated{c, ha}, err
}

func (s *simulated) url() string { return s.URL() }

func (s *simulated) keeps() bool { return s.ha }

func (s *simulated) submit(_ context.Context, job, sameID string, failAt int) error {
	v := flinksim.DefaultVertices()
	v[1].FailAt, v[1].FailAfter, v[1].FailText = failAt, 400*time.Millisecond, "Insufficient number of network buffers"
	for i := range v {
		v[i].Parallelism = 1
	}
	_, err := s.Submit(flinksim.JobSpec{ID: sameID, Name: job, Load: flinksim.Constant(idleLoad), Vertices: v})
	return err
}

func (s *simulated) rate(job string, perSecond float64) error {
	return s.SetLoad(job, flinksim.Constant(perSecond))
}

// election is how long a new leader takes to be found.
const election = time.Second

func (s *simulated) hurtJobManager(context.Context) error {
	s.SetUnavailable(flinksim.Reset)
	if !s.ha {
		s.Forget()
		return nil
	}
	s.Recover()
	return nil
}

func (s *simulated) healJobManager(ctx context.Context) error {
	if s.ha {
		s.SetUnavailable(flinksim.NoLeader)
		if err := pause(ctx, election); err != nil {
			return err
		}
	}
	s.SetUnavailable(flinksim.Available)
	return nil
}

func (s *simulated) hurtTaskManager(int) error {
	s.LoseTaskManager()
	return nil
}

func (s *simulated) healTaskManager(context.Context) error {
	s.RestoreTaskManager()
	return nil
}

func (s *simulated) close() error {
	s.Close()
	return nil
}

func (s *simulated) policy(loaded bool) map[string]string {
	p := map[string]string{
		"job.autoscaler.interval":                     "2 s",
		"job.autoscaler.metrics.window":               "6 s",
		"job.autoscaler.stabilization.interval":       "1 s",
		"job.autoscaler.restart.time":                 "2 s",
		"job.autoscaler.catch-up.duration":            "30 s",
		"job.autoscaler.scale-down.interval":          "3 s",
		"job.autoscaler.metrics.busy-time.aggregator": "AVG",
		"job.autoscaler.rescale.verify-timeout":       "60 s",
		// A size is avoided at which a fault had the job fail, unless it is behind.
		"job.autoscaler.backlog-processing.lag-threshold": "10 s",
	}
	return common(p, loaded)
}

// common adds what both clusters have in common. A job that is rescaled by orders
// is left alone by the strategy, which would like its idle vertices smaller.
func common(p map[string]string, loaded bool) map[string]string {
	p["job.autoscaler.vertex.max-parallelism"] = "4"
	p["job.autoscaler.rescale.backoff"] = "3 s"
	p["job.autoscaler.rescale.breaker.failures"] = "0"
	if !loaded {
		p["job.autoscaler.scale-down.interval"] = "1 d"
	}
	return p
}
