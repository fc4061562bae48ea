package flinksim

import "time"

// The versions that can be imitated.
const (
	Flink23  = "2.3.0"
	Flink120 = "1.20.5"
)

// Options describe a cluster. Every zero means the default.
type Options struct {
	// Version is Flink23 (the default) or Flink120.
	Version string
	// Addr is where Start listens, a free loopback port when empty.
	Addr string
	// Slots of the cluster, 8 by default, negative for none; SlotsPerTaskManager 4.
	Slots, SlotsPerTaskManager int
	// Reactive is scheduler-mode: reactive. A job takes all slots, up to the max
	// parallelism of each vertex, at once and without an end to the wait for the
	// first one; requirements can be read and not be changed.
	Reactive bool
	// Start makes time stand still at this moment but for Advance and Tick.
	// The zero moment means the real clock.
	Start time.Time
	// Tick is by how much each request moves a clock that stands still.
	Tick time.Duration

	// FetchInterval is metrics.fetcher.update-interval, 10 s. FetchTime is how
	// long a fetch takes: 300 ms, or nothing when time stands still.
	FetchInterval, FetchTime time.Duration
	// GaugeSpan is over what time gauges and meters average: a minute in
	// Flink. Demos with short windows want it shorter.
	GaugeSpan time.Duration
	// CacheTime is web.refresh-interval, 3 s: how long /jobs/:id answers what
	// it answered before. Negative means no cache.
	CacheTime time.Duration
	// WebTimeout is web.timeout, 10 min: how long a hung TaskManager freezes
	// all metrics.
	WebTimeout time.Duration
	// HeartbeatInterval is 10 s, HeartbeatTimeout 50 s: after it a hung
	// TaskManager is given up and its jobs restart.
	HeartbeatInterval, HeartbeatTimeout time.Duration
	// LossFreeze is how long metrics stand still after a TaskManager was
	// lost, 10 s.
	LossFreeze time.Duration

	// Cooldown after a (re)start during which no rescale begins, 1 s.
	// MaxDelay is how long 2.x waits for a checkpoint before it rescales, 3 s.
	// Stabilization is how long it waits for more slots when there are fewer
	// than wanted but enough, 1 s. ResourceWait is how long a job that cannot
	// run waits for slots until it fails for good, 20 s. Flink's own defaults
	// are 30 s, three checkpoints, 60 s and 5 min. Negative means none.
	Cooldown, MaxDelay, Stabilization, ResourceWait time.Duration
	// Downtime is from the stop of the tasks to the new graph, 1 s. Deploy is
	// from there until all tasks run, 200 ms, with the job RUNNING already.
	// Negative means none.
	Downtime, Deploy time.Duration
	// CheckpointInterval is 5 s, negative for none; CheckpointDuration 50 ms;
	// CheckpointTimeout 10 min.
	CheckpointInterval, CheckpointDuration, CheckpointTimeout time.Duration
	// SavepointTime is how long a stop with a savepoint takes, 100 ms.
	SavepointTime time.Duration
	// RescaleHistory is web.adaptive-scheduler.rescale-history.size (2.3): 20,
	// negative for off.
	RescaleHistory int

	// Config is added to what jobmanager/config shows; an empty value takes a
	// key away.
	Config map[string]string
	// BeforePut and AfterPut run around each PUT of requirements that came as
	// far as the JobManager, outside all locks: before Flink looks at it, and
	// after it took it but before it answers. The fault they return is what
	// the client gets instead of an answer. While they run, another PUT for
	// the same job is answered 409.
	BeforePut, AfterPut func(Write) Unavailability
	// BeforePost and AfterPost do the same for the requests that stop and run
	// jobs, with the path of the request.
	BeforePost, AfterPost func(path string) Unavailability
}

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = Flink23
	}
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Slots == 0 {
		o.Slots = 8
	}
	if o.SlotsPerTaskManager <= 0 {
		o.SlotsPerTaskManager = 4
	}
	if o.RescaleHistory == 0 {
		o.RescaleHistory = 20
	}
	fetch := 300 * time.Millisecond
	if !o.Start.IsZero() {
		fetch = -1
	}
	for _, d := range []struct {
		d         *time.Duration
		byDefault time.Duration
	}{
		{&o.FetchInterval, 10 * time.Second}, {&o.FetchTime, fetch},
		{&o.GaugeSpan, time.Minute}, {&o.CacheTime, 3 * time.Second},
		{&o.WebTimeout, 10 * time.Minute},
		{&o.HeartbeatInterval, 10 * time.Second}, {&o.HeartbeatTimeout, 50 * time.Second},
		{&o.LossFreeze, 10 * time.Second},
		{&o.Cooldown, time.Second}, {&o.MaxDelay, 3 * time.Second},
		{&o.Stabilization, time.Second}, {&o.ResourceWait, 20 * time.Second},
		{&o.Downtime, time.Second}, {&o.Deploy, 200 * time.Millisecond},
		{&o.CheckpointInterval, 5 * time.Second}, {&o.CheckpointDuration, 50 * time.Millisecond},
		{&o.CheckpointTimeout, 10 * time.Minute},
		{&o.SavepointTime, 100 * time.Millisecond},
	} {
		if *d.d == 0 {
			*d.d = d.byDefault
		}
		*d.d = max(0, *d.d)
	}
	return o
}

// is23 is true when 2.3 is imitated.
func (o Options) is23() bool { return o.Version == Flink23 }
