package flink

import (
	"context"
	"time"

	"flinkscaler/core"
)

// clockMetric moves with every fetch of the JobManager and only then.
const clockMetric = "Status.JVM.CPU.Time"

const clockPath = "/v1/jobmanager/metrics?get=" + clockMetric + ",taskSlotsTotal,taskSlotsAvailable"

// clockReading is one look at the JobManager's own metrics.
type clockReading struct {
	clock, slotsTotal, slotsFree core.Reading
}

// round is a fetch of metrics by the JobManager, as seen from outside.
type round struct {
	clockReading
	// fresh is true when the fetch began after we asked.
	fresh  bool
	waited time.Duration
}

// pollEvery is how often the clock is looked at while it does not move: often
// enough to be soon after the fetch, seldom enough not to be a load.
func pollEvery(interval time.Duration) time.Duration {
	return min(max(interval/40, 100*time.Millisecond), 500*time.Millisecond)
}

// awaitRound makes the cluster fetch its metrics and waits for that. Flink
// fetches when it is asked and its last fetch is an interval old, so the first
// look both gives the old value and starts a fetch.
func (c *Cluster) awaitRound(ctx context.Context) round {
	interval := c.readSettings(ctx).fetch
	every := pollEvery(interval)
	began := time.Now()
	until := lastMoment(ctx, began, 2*interval+time.Second)
	first, _ := c.readClock(ctx, 0)
	last := first
	tick := time.NewTicker(every)
	defer tick.Stop()
	for time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return round{clockReading: last, waited: time.Since(began)}
		case <-tick.C:
		}
		now, ok := c.readClock(ctx, every/2)
		if !ok {
			continue
		}
		last = now
		if moved(first.clock, now.clock) {
			return round{clockReading: now, fresh: true, waited: time.Since(began)}
		}
		if first.clock.State() != core.Present {
			first = now // before its first fetch a JobManager has no metrics
		}
	}
	return round{clockReading: last, waited: time.Since(began)}
}

// moved is true when both are numbers and differ. A JobManager that restarted
// begins again near zero.
func moved(a, b core.Reading) bool {
	x, okA := a.Value()
	y, okB := b.Value()
	return okA && okB && x != y
}

// lastMoment bounds a wait; where ctx ends before, a quarter of its time is
// kept for reading what there is.
func lastMoment(ctx context.Context, began time.Time, bound time.Duration) time.Time {
	until := began.Add(bound)
	if deadline, ok := ctx.Deadline(); ok {
		if early := deadline.Add(-deadline.Sub(began) / 4); early.Before(until) {
			return early
		}
	}
	return until
}

func (c *Cluster) readClock(ctx context.Context, maxAge time.Duration) (clockReading, bool) {
	now, err := c.clock.get(ctx, maxAge, func(ctx context.Context) (clockReading, error) {
		plain, err := fetch(ctx, c, request{op: "read JobManager metrics", path: clockPath}, decodePlain)
		return clockReading{plain[clockMetric], plain["taskSlotsTotal"], plain["taskSlotsAvailable"]}, err
	})
	return now, err == nil
}
