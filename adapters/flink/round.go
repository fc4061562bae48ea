package flink

import (
	"context"
	"time"

	"flinkscaler/core"
)

// clockMetric is the CPU time of a JVM: it moves with every fetch of its
// metrics and only then. Flink counts it in steps of 10 ms.
const clockMetric = "Status.JVM.CPU.Time"

const clockPath = "/v1/jobmanager/metrics?get=" + clockMetric + ",taskSlotsTotal,taskSlotsAvailable"

// clockReading is one look at the JobManager's own metrics.
type clockReading struct {
	clock, slotsTotal, slotsFree core.Reading
}

// round is a fetch of metrics by the JobManager, as seen from outside.
type round struct {
	clockReading
	// fresh is true when the metrics of the JobManager and of every
	// TaskManager were fetched after we asked.
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
// look both gives the old values and starts a fetch.
//
// The JobManager's clock alone is not enough. While one TaskManager hangs, each
// fetch still brings the JobManager's own metrics and then waits for
// web.timeout, and no TaskManager's metrics come at all, not even those of the
// healthy ones: seen on 1.20.5 and 2.3.0 with a stopped process.
func (c *Cluster) awaitRound(ctx context.Context) round {
	interval := c.readSettings(ctx).fetch
	every := pollEvery(interval)
	began := time.Now()
	until := lastMoment(ctx, began, 2*interval+time.Second)
	out := round{}
	first, known := c.readClock(ctx, 0)
	managers, managersKnown := c.managerClocks(ctx)
	out.clockReading = first
	tick := time.NewTicker(every)
	defer tick.Stop()
	for time.Now().Before(until) && !out.fresh {
		select {
		case <-ctx.Done():
			until = began
			continue
		case <-tick.C:
		}
		now, ok := c.readClock(ctx, every/2)
		switch {
		case !ok:
			continue
		case !known || !managersKnown: // there was nothing to compare with
			first, known = now, true
			managers, managersKnown = c.managerClocks(ctx)
		case moved(first.clock, now.clock):
			out.fresh = c.allMoved(ctx, managers)
		}
		out.clockReading = now
	}
	out.waited = time.Since(began)
	return out
}

// moved is true when a metric was fetched between two looks at it: it differs,
// or was not there before. A JVM that restarted begins again near zero.
func moved(before, now core.Reading) bool {
	return now.State() == core.Present && now != before
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
	now, err := c.clock.Get(ctx, maxAge, func(ctx context.Context) (clockReading, error) {
		plain, err := fetch(ctx, c, request{op: "read JobManager metrics", path: clockPath}, decodePlain)
		return clockReading{plain[clockMetric], plain["taskSlotsTotal"], plain["taskSlotsAvailable"]}, err
	})
	return now, err == nil
}
