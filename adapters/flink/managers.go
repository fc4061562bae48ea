package flink

import (
	"context"
	"errors"
	"net/url"
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
	host      string
	slots     int
	free      int
}

func (c *Cluster) listManagers(ctx context.Context, maxAge time.Duration) ([]taskManager, error) {
	return c.managers.Get(ctx, maxAge, func(ctx context.Context) ([]taskManager, error) {
		return fetch(ctx, c, request{op: "list TaskManagers", path: "/v1/taskmanagers"}, decodeManagers)
	})
}

// silentManagers names the TaskManagers not heard of for two and a half
// heartbeat intervals, sorted. A list that cannot be read names none.
func (c *Cluster) silentManagers(ctx context.Context, now time.Time) []string {
	all, err := c.listManagers(ctx, managersAge)
	if err != nil {
		return nil
	}
	return silent(all, now, c.readSettings(ctx).heartbeat*5/2)
}

func silent(all []taskManager, now time.Time, limit time.Duration) []string {
	var out []string
	for _, tm := range all {
		since := tm.silentFor
		if !tm.heard.IsZero() {
			since = now.Sub(tm.heard)
		}
		if since > limit {
			out = append(out, tm.id)
		}
	}
	slices.Sort(out)
	return out
}

// manyManagers is the number of TaskManagers up to which the clock of each is
// read; of more only their sum, which sees a standstill of all.
const manyManagers = 64

// allManagers stands for the sum over all TaskManagers.
const allManagers = ""

// managerClocks reads the clocks of the registered TaskManagers; false when
// that is not possible. One look serves all that ask at the same time.
func (c *Cluster) managerClocks(ctx context.Context) (map[string]core.Reading, bool) {
	clocks, err := c.clocks.Get(ctx, 0, func(ctx context.Context) (map[string]core.Reading, error) {
		all, err := c.listManagers(ctx, 0)
		if err != nil {
			return nil, err
		}
		if len(all) > manyManagers {
			sum, err := c.somePart(ctx, managerMetricsPath, "TaskManagers", []string{clockMetric})
			if err != nil || len(sum) != 1 {
				return map[string]core.Reading{allManagers: {}}, err
			}
			return map[string]core.Reading{allManagers: core.Read(sum[0].Sum)}, nil
		}
		return c.eachClock(ctx, all)
	})
	return clocks, err == nil
}

// eachClock reads the clocks a few at a time. A TaskManager that is gone
// meanwhile is left out.
func (c *Cluster) eachClock(ctx context.Context, all []taskManager) (map[string]core.Reading, error) {
	clocks := make([]core.Reading, len(all))
	errs := make([]error, len(all))
	forEach(len(all), func(i int) {
		path := "/v1/taskmanagers/" + url.PathEscape(all[i].id) + "/metrics?get=" + clockMetric
		plain, err := fetch(ctx, c, request{op: "read TaskManager metrics", subject: all[i].id, path: path}, decodePlain)
		clocks[i], errs[i] = plain[clockMetric], err
	})
	out := make(map[string]core.Reading, len(all))
	for i, tm := range all {
		switch {
		case errors.Is(errs[i], core.ErrNotFound):
		case errs[i] != nil:
			return nil, errs[i]
		default:
			out[tm.id] = clocks[i]
		}
	}
	return out, nil
}

// allMoved is true when each of the TaskManagers that are still registered was
// fetched since. One that came meanwhile is no concern: it has no tasks of a
// job that did not restart.
func (c *Cluster) allMoved(ctx context.Context, before map[string]core.Reading) bool {
	now, ok := c.managerClocks(ctx)
	if !ok {
		return false
	}
	for id, was := range before {
		if is, registered := now[id]; registered && !moved(was, is) {
			return false
		}
	}
	return true
}

func decodeManagers(b []byte) ([]taskManager, error) {
	body, err := fromJSON[struct {
		Managers *[]struct {
			ID    string `json:"id"`
			Path  string `json:"path"`
			Heard int64  `json:"timeSinceLastHeartbeat"`
			Slots int    `json:"slotsNumber"`
			Free  int    `json:"freeSlots"`
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
		tm := taskManager{id: m.ID, host: hostOf(m.Path), slots: max(0, m.Slots), free: max(0, m.Free)}
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
	got, err := c.global.Get(ctx, age, load)
	if err == nil && moved(got.clock, r.clock) {
		got, _ = c.global.Get(ctx, 0, load)
	}
	return slices.Clone(got.values)
}
