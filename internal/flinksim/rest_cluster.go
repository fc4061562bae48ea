package flinksim

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (c *Cluster) serveCluster(q *request) (reply, bool) {
	if q.method != http.MethodGet {
		return reply{}, false
	}
	switch q.path {
	case "/config":
		return ok(c.config()), true
	case "/overview":
		return ok(c.overview()), true
	case "/jobmanager/config":
		return ok(c.jobManagerConfig()), true
	case "/jobmanager/metrics":
		return ok(c.jobManagerMetrics(q)), true
	case "/applications/overview":
		if c.opt.is23() {
			return ok(c.applications()), true
		}
	}
	return reply{}, false
}

type features struct {
	Submit  bool `json:"web-submit"`
	Cancel  bool `json:"web-cancel"`
	Rescale bool `json:"web-rescale"`
	History bool `json:"web-history"`
}

type configBody struct {
	Refresh  int64    `json:"refresh-interval"`
	ZoneName string   `json:"timezone-name"`
	Zone     int      `json:"timezone-offset"`
	Version  string   `json:"flink-version"`
	Revision string   `json:"flink-revision"`
	Features features `json:"features"`
}

func (c *Cluster) config() configBody {
	return configBody{
		Refresh: max(c.opt.CacheTime, time.Millisecond).Milliseconds(), ZoneName: "Coordinated Universal Time", Version: c.opt.Version,
		Revision: "0000000 @ 2026-01-01T00:00:00+0000", Features: features{Submit: true, Cancel: true, Rescale: true},
	}
}

type overviewBody struct {
	TaskManagers int    `json:"taskmanagers"`
	SlotsTotal   int    `json:"slots-total"`
	SlotsFree    int    `json:"slots-available"`
	Running      int    `json:"jobs-running"`
	Finished     int    `json:"jobs-finished"`
	Cancelled    int    `json:"jobs-cancelled"`
	Failed       int    `json:"jobs-failed"`
	Version      string `json:"flink-version"`
	Commit       string `json:"flink-commit"`
}

func (c *Cluster) overview() overviewBody {
	c.enter()
	defer c.mu.Unlock()
	b := overviewBody{TaskManagers: len(c.tms), Version: c.opt.Version, Commit: "0000000"}
	b.SlotsTotal, b.SlotsFree = c.slots()
	for _, j := range c.order {
		switch j.state {
		case canceled:
			b.Cancelled++
		case finished:
			b.Finished++
		case failed:
			b.Failed++
		default:
			b.Running++
		}
	}
	return b
}

type keyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// jobManagerConfig shows explicit keys only, never defaults.
func (c *Cluster) jobManagerConfig() []keyValue {
	o := c.opt
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + " ms" }
	m := map[string]string{
		"jobmanager.scheduler":            "adaptive",
		"jobmanager.rpc.address":          "127.0.0.1",
		"rest.address":                    "127.0.0.1",
		"parallelism.default":             "1",
		"taskmanager.numberOfTaskSlots":   strconv.Itoa(o.SlotsPerTaskManager),
		"metrics.fetcher.update-interval": ms(o.FetchInterval),
		"heartbeat.interval":              ms(o.HeartbeatInterval),
		"heartbeat.timeout":               ms(o.HeartbeatTimeout),
		"web.refresh-interval":            ms(o.CacheTime),
		"web.timeout":                     ms(o.WebTimeout),
		"state.backend.type":              "hashmap",
	}
	if o.CheckpointInterval > 0 {
		m["execution.checkpointing.interval"] = ms(o.CheckpointInterval)
		m["execution.checkpointing.dir"] = "file:///checkpoints"
	}
	const p = "jobmanager.adaptive-scheduler."
	if o.is23() {
		m[p+"executing.cooldown-after-rescaling"] = ms(o.Cooldown)
		m[p+"executing.resource-stabilization-timeout"] = ms(o.Stabilization)
		m[p+"rescale-trigger.max-delay"] = ms(o.MaxDelay)
		m[p+"submission.resource-wait-timeout"] = ms(o.ResourceWait)
		m["web.adaptive-scheduler.rescale-history.size"] = strconv.Itoa(max(0, o.RescaleHistory))
	} else {
		m[p+"scaling-interval.min"] = ms(o.Cooldown)
		m[p+"scaling-interval.max"] = ms(o.Stabilization)
		m[p+"resource-wait-timeout"] = ms(o.ResourceWait)
	}
	if o.Reactive {
		m["scheduler-mode"] = "REACTIVE"
		delete(m, "jobmanager.scheduler") // implied, and so not shown
	}
	for k, v := range o.Config {
		m[k] = v
	}
	out := make([]keyValue, 0, len(m))
	for k, v := range m {
		if v != "" {
			out = append(out, keyValue{k, v})
		}
	}
	slices.SortFunc(out, func(a, b keyValue) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// plainMetric is a metric of one component: its value is text.
type plainMetric struct {
	ID    string `json:"id"`
	Value string `json:"value,omitempty"`
}

// plain answers a plain metrics request: what is not known is left out.
func plain(q *request, have []plainMetric) []plainMetric {
	out := []plainMetric{}
	get := q.query.Get("get")
	if get == "" {
		for _, m := range have {
			out = append(out, plainMetric{ID: m.ID})
		}
		return out
	}
	for _, id := range strings.Split(get, ",") {
		for _, m := range have {
			if m.ID == id {
				out = append(out, m)
			}
		}
	}
	return out
}

func (c *Cluster) jobManagerMetrics(q *request) []plainMetric {
	now := c.enter()
	defer c.mu.Unlock()
	defer c.touch(now)
	f := &c.fetch
	if !f.known {
		return []plainMetric{}
	}
	return plain(q, append([]plainMetric{
		{"taskSlotsTotal", strconv.Itoa(f.slotsTotal)},
		{"taskSlotsAvailable", strconv.Itoa(f.slotsFree)},
		{"numRegisteredTaskManagers", strconv.Itoa(f.tmCount)},
		{"numRunningJobs", strconv.Itoa(f.jobsRunning)},
		{"Status.JVM.CPU.Time", strconv.FormatInt(f.cpuTime, 10)},
	}, c.jvmMetrics()...))
}

// jvmMetrics are what the JobManager's JVM shows besides.
func (c *Cluster) jvmMetrics() []plainMetric {
	out := []plainMetric{{"Status.JVM.CPU.Load", "0.03125"}, {"Status.JVM.GarbageCollector.All.TimeMsPerSecond", "0.45"}}
	for _, m := range c.jvmProcess() {
		out = append(out, plainMetric{m.id, strconv.FormatFloat(m.low, 'f', -1, 64)})
	}
	return out
}

// jvmProcess are metrics that every JVM has and whose values do not matter
// much. Garbage collection is small and the heap half full: else the Java
// autoscaler sees memory pressure.
func (c *Cluster) jvmProcess() []processMetric {
	out := []processMetric{
		{"Status.JVM.Memory.Heap.Used", 3.0858784e7, 3.5465816e7},
		{"Status.JVM.Memory.Heap.Max", 2.5952256e8, 2.5952256e8},
		{"Status.JVM.Memory.Heap.Committed", 6.7108864e7, 6.7108864e7},
		{"Status.JVM.Memory.Metaspace.Used", 4.8008528e7, 4.8322976e7},
		{"Status.JVM.Memory.Metaspace.Max", 1.34217728e8, 1.34217728e8},
		{"Status.JVM.Memory.Metaspace.Committed", 4.9e7, 4.9e7},
		{"Status.JVM.Memory.NonHeap.Used", 7.2e7, 7.3e7},
		{"Status.JVM.Memory.NonHeap.Max", 3.2e8, 3.2e8},
		{"Status.JVM.Memory.NonHeap.Committed", 7.6e7, 7.6e7},
		{"Status.JVM.Memory.Direct.Count", 12, 12},
		{"Status.JVM.Memory.Direct.MemoryUsed", 3.4e7, 3.4e7},
		{"Status.JVM.Memory.Direct.TotalCapacity", 3.4e7, 3.4e7},
		{"Status.JVM.Memory.Mapped.Count", 0, 0},
		{"Status.JVM.Memory.Mapped.MemoryUsed", 0, 0},
		{"Status.JVM.Memory.Mapped.TotalCapacity", 0, 0},
		{"Status.JVM.ClassLoader.ClassesLoaded", 9000, 9100},
		{"Status.JVM.ClassLoader.ClassesUnloaded", 0, 0},
		{"Status.JVM.Threads.Count", 61, 63},
		{"Status.JVM.GarbageCollector.Copy.Count", 28, 37},
		{"Status.JVM.GarbageCollector.Copy.Time", 90, 130},
		{"Status.JVM.GarbageCollector.Copy.TimeMsPerSecond", 0, 0},
		{"Status.JVM.GarbageCollector.MarkSweepCompact.Count", 2, 3},
		{"Status.JVM.GarbageCollector.MarkSweepCompact.Time", 30, 50},
		{"Status.JVM.GarbageCollector.MarkSweepCompact.TimeMsPerSecond", 0, 0},
		{"Status.JVM.GarbageCollector.All.Count", 30, 40},
		{"Status.JVM.GarbageCollector.All.Time", 120, 180},
	}
	if c.opt.is23() {
		out = append(out, processMetric{"Status.JVM.FileDescriptor.Open", 180, 190}, processMetric{"Status.JVM.FileDescriptor.Max", 1048576, 1048576})
	}
	return out

}

type application struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Status   string `json:"status"`
	Start    int64  `json:"start-time"`
	End      int64  `json:"end-time"`
	Duration int64  `json:"duration"`
	// Jobs counts jobs by state; states without any are left out.
	Jobs map[string]int `json:"jobs"`
}

func (c *Cluster) applications() map[string][]application {
	now := c.enter()
	defer c.mu.Unlock()
	out := []application{}
	for _, j := range c.order {
		out = append(out, application{
			ID: j.spec.ID, Name: "SingleJobApplication(" + j.spec.Name + ")", Status: string(j.state),
			Start: millis(j.since), End: j.endMillis(), Duration: j.duration(now),
			Jobs: map[string]int{string(j.state): 1},
		})
	}
	return map[string][]application{"applications": out}
}

type resources struct {
	CPU      double         `json:"cpuCores"`
	Heap     int            `json:"taskHeapMemory"`
	OffHeap  int            `json:"taskOffHeapMemory"`
	Managed  int            `json:"managedMemory"`
	Network  int            `json:"networkMemory"`
	Extended map[string]any `json:"extendedResources"`
}

func slotResources(n int) resources {
	return resources{CPU: double(n), Heap: 40 * n, Managed: 8 * n, Network: 8 * n, Extended: map[string]any{}}
}

type hardware struct {
	Cores    int   `json:"cpuCores"`
	Physical int64 `json:"physicalMemory"`
	Free     int64 `json:"freeMemory"`
	Managed  int64 `json:"managedMemory"`
}

type memory struct {
	FrameworkHeap    int64 `json:"frameworkHeap"`
	TaskHeap         int64 `json:"taskHeap"`
	FrameworkOffHeap int64 `json:"frameworkOffHeap"`
	TaskOffHeap      int64 `json:"taskOffHeap"`
	Network          int64 `json:"networkMemory"`
	Managed          int64 `json:"managedMemory"`
	Metaspace        int64 `json:"jvmMetaspace"`
	Overhead         int64 `json:"jvmOverhead"`
	TotalFlink       int64 `json:"totalFlinkMemory"`
	TotalProcess     int64 `json:"totalProcessMemory"`
}

type taskManagerBody struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	DataPort int    `json:"dataPort"`
	JMXPort  int    `json:"jmxPort"`
	// In spite of its name a moment, in ms since 1970.
	Heartbeat int64     `json:"timeSinceLastHeartbeat"`
	Slots     int       `json:"slotsNumber"`
	Free      int       `json:"freeSlots"`
	Tasks     *int      `json:"assignedTasks,omitempty"` // 2.3
	Total     resources `json:"totalResource"`
	Left      resources `json:"freeResource"`
	Hardware  hardware  `json:"hardware"`
	Memory    memory    `json:"memoryConfiguration"`
}

const mib = 1 << 20

func (c *Cluster) taskManagerBody(t *taskManager, now time.Time) taskManagerBody {
	b := taskManagerBody{
		ID: t.id, Path: "pekko.tcp://flink@" + t.host + ":" + strconv.Itoa(t.port) + "/user/rpc/taskmanager_0",
		DataPort: t.port + 1, JMXPort: -1, Heartbeat: millis(c.heartbeat(t, now)), Slots: t.slots, Free: t.free(),
		Total: slotResources(t.slots), Left: slotResources(t.free()),
		Hardware: hardware{4, 8 << 30, 256 * mib, 32 * mib},
		Memory:   memory{96 * mib, 160 * mib, 64 * mib, 0, 32 * mib, 32 * mib, 128 * mib, 64 * mib, 384 * mib, 576 * mib},
	}
	if c.opt.is23() {
		n := t.taken()
		b.Tasks = &n
	}
	return b
}

// heartbeat is when a TaskManager was last heard.
func (c *Cluster) heartbeat(t *taskManager, now time.Time) time.Time {
	if !t.hung.IsZero() {
		now = t.hung
	}
	if c.opt.HeartbeatInterval <= 0 {
		return now
	}
	return t.since.Add(now.Sub(t.since).Truncate(c.opt.HeartbeatInterval))
}

func (c *Cluster) serveTaskManagers(q *request) (reply, bool) {
	if len(q.parts) == 3 && q.parts[2] == "metrics" && q.method == http.MethodGet {
		return ok(c.oneTaskManager(q)), true
	}
	if q.method != http.MethodGet || len(q.parts) > 2 {
		return reply{}, false
	}
	if len(q.parts) == 2 && q.parts[1] == "metrics" {
		return c.taskManagerMetrics(q), true
	}
	now := c.enter()
	defer c.mu.Unlock()
	bodies := []taskManagerBody{}
	for _, t := range c.tms {
		if len(q.parts) == 2 && t.id == q.parts[1] {
			return ok(c.taskManagerBody(t, now)), true
		}
		bodies = append(bodies, c.taskManagerBody(t, now))
	}
	if len(q.parts) == 2 {
		return internal("org.apache.flink.runtime.resourcemanager.exceptions.UnknownTaskExecutorException", "No TaskExecutor registered under "+q.parts[1]+"."), true
	}
	return ok(map[string][]taskManagerBody{"taskmanagers": bodies}), true
}

// processMetric of a TaskManager: low for every other one, high for the rest.
type processMetric struct {
	id        string
	low, high float64
}

// processMetrics of TaskManagers.
func (c *Cluster) processMetrics() []processMetric {
	out := append([]processMetric{
		{"Status.JVM.CPU.Time", 0, 0}, // moves: see value
		{"Status.JVM.CPU.Load", 0.125, 0.25},
		{"Status.JVM.GarbageCollector.All.TimeMsPerSecond", 0.5, 0.75},
		{"Status.Flink.Memory.Managed.Used", 0, 0},
		{"Status.Flink.Memory.Managed.Total", 3.3554432e7, 3.3554432e7},
		{"Status.Shuffle.Netty.UsedMemory", 1.2e6, 2.4e6},
		{"Status.Shuffle.Netty.AvailableMemory", 3.2e7, 3.1e7},
		{"Status.Shuffle.Netty.TotalMemory", 3.3554432e7, 3.3554432e7},
		{"Status.Shuffle.Netty.UsedMemorySegments", 37, 74},
		{"Status.Shuffle.Netty.AvailableMemorySegments", 987, 950},
		{"Status.Shuffle.Netty.TotalMemorySegments", 1024, 1024},
		{"Status.Shuffle.Netty.RequestedMemoryUsage", 3, 7},
	}, c.jvmProcess()...)
	if !c.opt.is23() {
		out = append(out, processMetric{"Status.Network.AvailableMemorySegments", 987, 950}, processMetric{"Status.Network.TotalMemorySegments", 1024, 1024})
	}
	return out
}

// value is what the last rounds brought of the i-th TaskManager.
func (m processMetric) value(i int, have managerMetrics) float64 {
	if m.id == "Status.JVM.CPU.Time" {
		return float64(have.cpuTime)
	}
	return m.low + (m.high-m.low)*float64(i%2)
}

func (c *Cluster) taskManagerMetrics(q *request) reply {
	modes, bad, okay := aggModes(q)
	if !okay {
		return bad
	}
	now := c.enter()
	defer c.mu.Unlock()
	defer c.touch(now)
	out := []aggregate{}
	if len(c.fetched()) == 0 {
		return ok(out)
	}
	get := q.query.Get("get")
	if get == "" {
		for _, m := range c.processMetrics() {
			out = append(out, aggregate{ID: m.id})
		}
		return ok(out)
	}
	all := c.processMetrics()
	for _, id := range strings.Split(get, ",") {
		at := slices.IndexFunc(all, func(m processMetric) bool { return m.id == id })
		if at < 0 {
			return ok([]aggregate{})
		}
		var values []float64
		for i, have := range c.fetched() {
			values = append(values, all[at].value(i, have))
		}
		out = append(out, aggregateOf(id, values, modes))
	}
	return ok(out)
}

// fetched are the metrics of the TaskManagers that the last rounds brought.
func (c *Cluster) fetched() []managerMetrics {
	var out []managerMetrics
	for _, t := range c.tms {
		if have, known := c.fetch.tms[t.id]; known {
			out = append(out, have)
		}
	}
	return out
}

// oneTaskManager answers the plain metrics of one; one that is not in the
// store has none.
func (c *Cluster) oneTaskManager(q *request) []plainMetric {
	now := c.enter()
	defer c.mu.Unlock()
	defer c.touch(now)
	have, known := c.fetch.tms[q.parts[1]]
	if !known {
		return []plainMetric{}
	}
	var all []plainMetric
	for _, m := range c.processMetrics() {
		v := m.value(0, have)
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if v != math.Trunc(v) {
			text = javaDouble(v)
		}
		all = append(all, plainMetric{m.id, text})
	}
	return plain(q, all)
}

// aggModes reads which aggregations are asked for.
func aggModes(q *request) ([]string, reply, bool) {
	agg := q.query.Get("agg")
	if agg == "" {
		return nil, reply{}, true
	}
	modes := strings.Split(agg, ",")
	for _, m := range modes {
		if !slices.Contains(aggregations(), strings.ToLower(m)) {
			return nil, badParameter("query", "agg", m), false
		}
	}
	return modes, reply{}, true
}
