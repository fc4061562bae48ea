package flink

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// managersAge is how old the list of TaskManagers may be when several jobs
// want it: much less than a heartbeat interval.
const managersAge = time.Second

// taskManager is a registered TaskManager.
type taskManager struct {
	id string
	// heard is when its last heartbeat came, by the JobManager's clock.
	heard time.Time
	// silentFor is set instead by a Flink that gives the time since.
	silentFor time.Duration
}

// silentManagers reads the TaskManagers and gives back a function that names
// those not heard of for two and a half heartbeat intervals. A list that
// cannot be read names none.
func (c *Cluster) silentManagers(ctx context.Context) func(now time.Time) []string {
	limit := c.readSettings(ctx).heartbeat * 5 / 2
	all, err := c.managers.get(ctx, managersAge, func(ctx context.Context) ([]taskManager, error) {
		return fetch(ctx, c, request{op: "list TaskManagers", path: "/v1/taskmanagers"}, decodeManagers)
	})
	return func(now time.Time) []string {
		var out []string
		for _, tm := range all {
			silent := tm.silentFor
			if !tm.heard.IsZero() {
				silent = now.Sub(tm.heard)
			}
			if err == nil && silent > limit {
				out = append(out, tm.id)
			}
		}
		slices.Sort(out)
		return out
	}
}

func decodeManagers(b []byte) ([]taskManager, error) {
	body, err := fromJSON[struct {
		Managers *[]struct {
			ID    string `json:"id"`
			Heard int64  `json:"timeSinceLastHeartbeat"`
		} `json:"taskmanagers"`
	}](b)
	if err != nil {
		return nil, err
	}
	if body.Managers == nil {
		return nil, errors.New(`no "taskmanagers" in the answer`)
	}
	out := make([]taskManager, 0, len(*body.Managers))
	for _, m := range *body.Managers {
		tm := taskManager{id: m.ID}
		// Against its name the field is a moment, in ms since 1970. A small
		// number would be what the name says.
		if year := 365 * 24 * time.Hour; m.Heard > year.Milliseconds() {
			tm.heard = millis(m.Heard)
		} else if m.Heard > 0 {
			tm.silentFor = time.Duration(m.Heard) * time.Millisecond
		}
		out = append(out, tm)
	}
	return out, nil
}

// globalMetrics are the cluster-wide TaskManager metrics of one round.
type globalMetrics struct {
	clock  core.Reading
	values []core.Aggregate
}

const managerMetricsPath = "/v1/taskmanagers/metrics"

// managerMetric is true for what tells whether TaskManagers run out of memory.
// The share of time in garbage collection exists since Flink 1.19; names are
// read first because asking for one that does not exist empties the answer.
func managerMetric(id string) bool {
	switch id {
	case "Status.JVM.Memory.Heap.Used", "Status.JVM.Memory.Heap.Max", "Status.JVM.Memory.Metaspace.Used", "Status.JVM.Memory.Metaspace.Max",
		"Status.Flink.Memory.Managed.Used", "Status.Flink.Memory.Managed.Total", "Status.JVM.CPU.Load",
		"Status.JVM.GarbageCollector.All.TimeMsPerSecond":
		return true
	}
	return strings.HasPrefix(id, "Status.JVM.GarbageCollector.") && strings.HasSuffix(id, ".Time")
}

// globalMetrics reads the TaskManager metrics once per fetch of the
// JobManager, however many jobs ask: they are the same for all.
func (c *Cluster) globalMetrics(ctx context.Context, r round) []core.Aggregate {
	age := time.Duration(0)
	if r.fresh {
		age = c.readSettings(ctx).fetch
	}
	load := func(ctx context.Context) (globalMetrics, error) {
		names, err := c.metricNames(ctx, managerMetricsPath, "TaskManagers")
		if err != nil {
			return globalMetrics{}, err
		}
		ids := slices.DeleteFunc(names, func(id string) bool { return !managerMetric(id) })
		return globalMetrics{clock: r.clock, values: c.metricValues(ctx, managerMetricsPath, "TaskManagers", ids)}, nil
	}
	got, err := c.global.get(ctx, age, load)
	if err == nil && moved(got.clock, r.clock) {
		got, _ = c.global.get(ctx, 0, load)
	}
	return slices.Clone(got.values)
}
