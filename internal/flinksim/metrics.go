package flinksim

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fetcher is the JobManager's metric fetcher: it asks all processes for their
// metrics, when somebody asks it, at most once per interval, and never while
// an answer is missing.
type fetcher struct {
	started      time.Time // the last round
	under        bool      // a round is under way
	stuck        bool      // and waits for a TaskManager that hangs
	round        int
	blockedUntil time.Time

	// What the last rounds brought of the JobManager itself.
	known       bool
	at          time.Time
	cpuTime     int64 // ns
	slotsTotal  int
	slotsFree   int
	tmCount     int
	jobsRunning int
	// tms is what they brought of each TaskManager.
	tms map[string]managerMetrics
}

// managerMetrics are those of one TaskManager that move.
type managerMetrics struct {
	at      time.Time
	cpuTime int64 // ns
}

// cpuStep is the step in which a JVM counts its CPU time.
const cpuStep = int64(10 * time.Millisecond)

// cpuAfter is a JVM's CPU time at a moment: more than before by a step at
// least, however short ago that was.
func cpuAfter(before int64, last, now time.Time) int64 {
	if last.IsZero() {
		return int64(5 * time.Second)
	}
	return before + max(1, int64(now.Sub(last))/30/cpuStep)*cpuStep
}

// touch is what each read of metrics does: it may start a round, and answers
// from what the rounds before brought.
func (c *Cluster) touch(now time.Time) {
	f := &c.fetch
	if f.under || now.Sub(f.started) <= c.opt.FetchInterval {
		return
	}
	f.started, f.under = now, true
	f.round++
	round := f.round
	at := latest(now.Add(c.opt.FetchTime), f.blockedUntil)
	c.when(at, func(at time.Time) {
		if f.round == round && f.under && !f.stuck {
			c.answered(at)
		}
	})
}

// answered is when those answer who do. The JobManager's own metrics always
// come. Those of the TaskManagers come all or not at all: before it asks them
// the JobManager gathers their addresses, and one that hangs keeps it waiting.
func (c *Cluster) answered(at time.Time) {
	c.fileJobManager(at)
	f := &c.fetch
	if !slices.ContainsFunc(c.tms, func(t *taskManager) bool { return !t.hung.IsZero() }) {
		c.fileTaskManagers(at)
		f.under = false
		return
	}
	f.stuck = true
	round := f.round
	c.when(f.started.Add(c.opt.WebTimeout), func(time.Time) {
		if f.round == round {
			f.under, f.stuck = false, false
		}
	})
}

// unstick ends a round that waited for a TaskManager that answers again.
func (c *Cluster) unstick(at time.Time) {
	if c.fetch.stuck {
		c.fetch.under, c.fetch.stuck = false, false
		c.fileTaskManagers(at)
	}
}

func (c *Cluster) fileJobManager(at time.Time) {
	f := &c.fetch
	f.cpuTime = cpuAfter(f.cpuTime, f.at, at)
	f.known, f.at = true, at
	f.slotsTotal, f.slotsFree = c.slots()
	f.tmCount, f.jobsRunning = len(c.tms), 0
	for _, j := range c.order {
		if j.state == running {
			f.jobsRunning++
		}
		j.own = ownMetrics{restarts: j.restarts, rescaled: j.rescaled, failed: j.checkpoints.count.failed, upSince: j.upAt, known: true}
		if c := j.checkpoints.completed; c != nil {
			j.own.lastTook = c.end.Sub(c.trigger)
		}
	}
}

func (c *Cluster) fileTaskManagers(at time.Time) {
	f := &c.fetch
	old := f.tms
	f.tms = make(map[string]managerMetrics, len(c.tms))
	for _, t := range c.tms {
		f.tms[t.id] = managerMetrics{at, cpuAfter(old[t.id].cpuTime, old[t.id].at, at)}
	}
	for _, j := range c.order {
		if j.up {
			j.advance(at)
			j.snap = j.takeSnapshot()
		}
	}
}

// ownMetrics are a job's metrics that the JobManager holds itself.
type ownMetrics struct {
	known    bool
	restarts int
	rescaled int
	upSince  time.Time
	lastTook time.Duration
	failed   int64
}

// snapshot is what the fetcher knows of a job.
type snapshot struct {
	attempt  int
	young    bool // the tasks had only just begun
	vertices []vertexSnap
}

// youngFor is how long after its start a task of 2.3 has no gauges of busy,
// idle and backpressured time yet, and NaN for its busy time in all.
const youngFor = time.Second

// timeGauge is true for what a young task does not have.
func timeGauge(id string) bool {
	return id == "busyTimeMsPerSecond" || id == "idleTimeMsPerSecond" || id == "backPressuredTimeMsPerSecond"
}

// withoutTimeGauges is the catalogue as long as tasks are young.
func (k *catalog) withoutTimeGauges() *catalog {
	out := &catalog{ids: slices.DeleteFunc(slices.Clone(k.ids), timeGauge), kind: maps.Clone(k.kind)}
	maps.DeleteFunc(out.kind, func(id string, _ kind) bool { return timeGauge(id) })
	return out
}

type vertexSnap struct {
	groups  []group
	total   tally
	window  tally   // over the last gauge intervals
	seconds float64 // that the window covers
	span    float64 // that a meter divides by
	lag     float64
	arrival float64
}

func (j *job) takeSnapshot() *snapshot {
	s := &snapshot{attempt: j.attempt, vertices: make([]vertexSnap, len(j.vertices))}
	// A job that was added counts as one that has run for a while.
	s.young = j.c.opt.is23() && j.attempt > 1 && j.at.Sub(j.upAt) < youngFor
	load, _ := j.loadAt(j.at)
	for i := range j.vertices {
		v := &j.vertices[i]
		w, secs := v.window(j.span)
		s.vertices[i] = vertexSnap{
			groups: v.groups, total: v.now, window: w, seconds: secs,
			span: (time.Duration(j.span) * j.every).Seconds(), lag: v.lag(), arrival: load * v.spec.Share,
		}
	}
	return s
}

// kind is what a metric id means to the model.
type kind int

const (
	kZero kind = iota
	kBusy
	kHeld
	kIdle
	kBusyTotal
	kHeldTotal
	kIdleTotal
	kIn
	kOut
	kInRate
	kOutRate
	kPending
	kWatermark
	kEmitLag
	kBytesIn
	kBytesOut
	kText // not a number
	kNaN
)

// bytesPerRecord makes the byte counters move.
const bytesPerRecord = 21

// value is a metric of one subtask that gets this share of the records.
func (v *vertexSnap) value(k kind, share float64) float64 {
	switch k {
	case kBusy:
		return perSecond(v.window.busy*share, v.seconds)
	case kHeld:
		return perSecond(v.heldOf(v.window, share), v.seconds)
	case kIdle:
		if v.seconds == 0 {
			return 0
		}
		return math.Max(0, 1000-v.value(kBusy, share)-v.value(kHeld, share))
	case kBusyTotal:
		return math.Floor(v.total.busy * share * 1000)
	case kHeldTotal:
		return math.Floor(v.heldOf(v.total, share) * 1000)
	case kIdleTotal:
		return math.Max(0, math.Floor(v.total.up*1000)-v.value(kBusyTotal, share)-v.value(kHeldTotal, share))
	case kIn:
		return math.Floor(v.total.in * share)
	case kOut:
		return math.Floor(v.total.out * share)
	case kInRate:
		return v.window.in * share / v.span
	case kOutRate:
		return v.window.out * share / v.span
	case kPending:
		return math.Floor(v.lag * share)
	case kWatermark:
		return math.MinInt64
	case kEmitLag:
		return v.emitLag()
	case kBytesIn:
		return math.Floor(v.total.in*share) * bytesPerRecord
	case kBytesOut:
		return math.Floor(v.total.out*share) * bytesPerRecord
	case kNaN:
		return math.NaN()
	}
	return 0
}

// heldOf is for how long a subtask was backpressured: one that gets nothing
// never is.
func (v *vertexSnap) heldOf(t tally, share float64) float64 {
	if share == 0 {
		return 0
	}
	return math.Max(0, t.held-t.heldFor*share)
}

func (v *vertexSnap) emitLag() float64 {
	if v.arrival <= 0 {
		return 0
	}
	return math.Floor(v.lag / v.arrival * 1000)
}

// perSecond is a gauge of Flink's: whole ms in a second, at most 1000.
func perSecond(secs, over float64) float64 {
	if over == 0 {
		return 0
	}
	return math.Floor(math.Min(1000, secs/over*1000+1e-6))
}

// sum adds a metric up over all subtasks.
func (v *vertexSnap) sum(k kind) float64 {
	var out float64
	for _, g := range v.groups {
		out += float64(g.n) * v.value(k, g.share)
	}
	return out
}

// each gives a metric of the subtasks in only, or of all for nil.
func (v *vertexSnap) each(k kind, only func(int) bool) []float64 {
	var out []float64
	i := 0
	for _, g := range v.groups {
		x := v.value(k, g.share)
		for range g.n {
			if only == nil || only(i) {
				out = append(out, x)
			}
			i++
		}
	}
	return out
}

// aggregate is one metric over subtasks or processes.
type aggregate struct {
	ID   string  `json:"id"`
	Min  *double `json:"min,omitempty"`
	Max  *double `json:"max,omitempty"`
	Avg  *double `json:"avg,omitempty"`
	Sum  *double `json:"sum,omitempty"`
	Skew *double `json:"skew,omitempty"`
}

// aggregations are Flink's, in its order.
func aggregations() []string { return []string{"min", "max", "avg", "sum", "skew"} }

func aggregateOf(id string, values []float64, modes []string) aggregate {
	a := aggregate{ID: id}
	if len(modes) == 0 {
		modes = aggregations()
	}
	total := 0.0
	for _, x := range values {
		total += x
	}
	avg := total / float64(len(values))
	for _, m := range modes {
		switch strings.ToLower(m) {
		case "min":
			a.Min = ptr(slices.Min(values))
		case "max":
			a.Max = ptr(slices.Max(values))
		case "avg":
			a.Avg = ptr(avg)
		case "sum":
			a.Sum = ptr(total)
		case "skew":
			a.Skew = ptr(skewOf(values, avg))
		}
	}
	return a
}

func ptr(f float64) *double { d := double(f); return &d }

// skewOf is the mean distance from the mean, in percent of it.
func skewOf(values []float64, avg float64) float64 {
	if avg == 0 {
		return 0
	}
	var d float64
	for _, x := range values {
		d += math.Abs(x - avg)
	}
	return d / float64(len(values)) / avg * 100
}

// catalog is which metrics a vertex has.
type catalog struct {
	ids  []string
	kind map[string]kind
}

func (k *catalog) add(id string, what kind) {
	if _, have := k.kind[id]; !have {
		k.ids = append(k.ids, id)
	}
	k.kind[id] = what
}

// catalogOf gives the metrics of a vertex; vertices that are alike share one.
func (c *Cluster) catalogOf(v *vertex, last bool) *catalog {
	s := v.spec
	key := strings.Join([]string{
		s.Name, strconv.Itoa(s.Partitions), s.Topic, strings.Join(s.Omit, ","), strings.Join(s.NaN, ","),
		strconv.FormatBool(v.source()), strconv.FormatBool(last),
	}, "\x00")
	if k := c.catalogs[key]; k != nil {
		return k
	}
	k := &catalog{kind: map[string]kind{}}
	for _, m := range taskMetrics() {
		k.add(m.id, m.kind)
	}
	if !c.opt.is23() {
		for _, b := range []string{"inPoolUsage", "inputExclusiveBuffersUsage", "inputFloatingBuffersUsage", "inputQueueLength", "inputQueueSize", "outPoolUsage", "outputQueueLength", "outputQueueSize"} {
			k.add("buffers."+b, kZero)
		}
	}
	if !v.source() {
		k.add("currentInputWatermark", kWatermark)
		k.add("checkpointAlignmentTime", kZero)
	}
	ops := strings.Split(s.Name, " -> ")
	for i, op := range ops {
		k.operator(sanitize(op), v.source() && i == 0, last && i == len(ops)-1)
	}
	k.splits(s, c.opt.is23() && v.source(), sanitize(ops[0]))
	if last {
		k.kind["numRecordsOut"], k.kind["numRecordsOutPerSecond"], k.kind["numBytesOut"] = kZero, kZero, kZero
	}
	k.except(s)
	c.catalogs[key] = k
	return k
}

func (k *catalog) operator(op string, source, sink bool) {
	k.add(op+".numRecordsIn", kIn)
	k.add(op+".numRecordsInPerSecond", kInRate)
	k.add(op+".currentOutputWatermark", kWatermark)
	k.add(op+".numBytesIn", kBytesIn)
	k.add(op+".numBytesInPerSecond", kZero)
	if sink {
		k.add(op+".numRecordsSend", kIn)
		k.add(op+".numBytesSend", kBytesIn)
		k.add(op+".numRecordsSendErrors", kZero)
		k.add(op+".numRecordsOutPerSecond", kZero)
		k.add(op+".numBytesOutPerSecond", kZero)
	} else {
		k.add(op+".numRecordsOut", kOut)
		k.add(op+".numRecordsOutPerSecond", kOutRate)
		k.add(op+".numBytesOut", kBytesOut)
		k.add(op+".numBytesOutPerSecond", kZero)
	}
	if !source {
		k.add(op+".currentInputWatermark", kWatermark)
		return
	}
	k.add(op+".pendingRecords", kPending)
	k.add(op+".currentEmitEventTimeLag", kEmitLag)
	k.add(op+".sourceIdleTime", kZero)
	k.add(op+".numRecordsInErrors", kZero)
}

// splits adds the ids that grow with the partitions of a source: seven for
// each on 2.3, one for each of the Kafka connector.
func (k *catalog) splits(s VertexSpec, perSplit bool, op string) {
	for p := range s.Partitions {
		n := strconv.Itoa(p)
		if s.Topic != "" {
			k.add(op+".KafkaSourceReader.topic."+sanitize(s.Topic)+".partition."+n+".currentOffset", kIn)
			k.add(op+".KafkaSourceReader.topic."+sanitize(s.Topic)+".partition."+n+".committedOffset", kIn)
		}
		if !perSplit {
			continue
		}
		for _, m := range []string{"accumulatedActiveTimeMs", "accumulatedIdleTimeMs", "accumulatedPausedTimeMs", "activeTimeMsPerSecond", "idleTimeMsPerSecond", "pausedTimeMsPerSecond"} {
			k.add(op+".split.s"+n+".watermark."+m, kZero)
		}
		k.add(op+".split.s"+n+".watermark.currentWatermark", kWatermark)
	}
}

// except takes away what the spec says is missing, or is not a number.
func (k *catalog) except(s VertexSpec) {
	ends := func(id string, list []string) bool {
		return slices.ContainsFunc(list, func(end string) bool { return id == end || strings.HasSuffix(id, "."+end) })
	}
	k.ids = slices.DeleteFunc(k.ids, func(id string) bool {
		if ends(id, s.Omit) {
			delete(k.kind, id)
			return true
		}
		if ends(id, s.NaN) {
			k.kind[id] = kNaN
		}
		return false
	})
}

// sanitize is what Flink makes of an operator's name in a metric id.
func sanitize(op string) string {
	if len(op) > 80 {
		op = op[:80]
	}
	return strings.NewReplacer(" ", "_", ":", "_", ".", "_", ",", "_").Replace(op)
}

type metric struct {
	id   string
	kind kind
}

// taskMetrics are what every task has, on both versions.
func taskMetrics() []metric {
	out := []metric{
		{"busyTimeMsPerSecond", kBusy}, {"backPressuredTimeMsPerSecond", kHeld}, {"softBackPressuredTimeMsPerSecond", kHeld},
		{"idleTimeMsPerSecond", kIdle}, {"accumulateBusyTimeMs", kBusyTotal}, {"accumulateBackPressuredTimeMs", kHeldTotal},
		{"accumulateIdleTimeMs", kIdleTotal}, {"numRecordsIn", kIn}, {"numRecordsInPerSecond", kInRate},
		{"numRecordsOut", kOut}, {"numRecordsOutPerSecond", kOutRate}, {"numBytesIn", kBytesIn}, {"numBytesOut", kBytesOut},
		{"numBytesInLocal", kBytesIn}, {"isBackPressured", kText},
	}
	for _, id := range strings.Fields(`hardBackPressuredTimeMsPerSecond numBytesInPerSecond numBytesOutPerSecond numBytesInRemote
		numBytesInRemotePerSecond numBytesInLocalPerSecond numBuffersOut numBuffersOutPerSecond numBuffersInLocal numBuffersInLocalPerSecond
		numBuffersInRemote numBuffersInRemotePerSecond numFiredTimers numFiredTimersPerSecond checkpointStartDelayNanos initializationTime
		changelogBusyTimeMsPerSecond maxSoftBackPressureTimeMs maxHardBackPressureTimeMs mailboxMailsPerSecond mailboxQueueSize
		mailboxLatencyMs_min mailboxLatencyMs_max mailboxLatencyMs_mean mailboxLatencyMs_median mailboxLatencyMs_stddev mailboxLatencyMs_p75
		mailboxLatencyMs_p90 mailboxLatencyMs_p95 mailboxLatencyMs_p98 mailboxLatencyMs_p99 mailboxLatencyMs_p999
		Shuffle.Netty.Input.Buffers.inPoolUsage Shuffle.Netty.Input.Buffers.inputExclusiveBuffersUsage Shuffle.Netty.Input.Buffers.inputFloatingBuffersUsage
		Shuffle.Netty.Input.Buffers.inputQueueLength Shuffle.Netty.Input.Buffers.inputQueueSize Shuffle.Netty.Input.numBuffersInLocal
		Shuffle.Netty.Input.numBuffersInLocalPerSecond Shuffle.Netty.Input.numBuffersInRemote Shuffle.Netty.Input.numBuffersInRemotePerSecond
		Shuffle.Netty.Input.numBytesInLocal Shuffle.Netty.Input.numBytesInLocalPerSecond Shuffle.Netty.Input.numBytesInRemote
		Shuffle.Netty.Input.numBytesInRemotePerSecond Shuffle.Netty.Output.Buffers.outPoolUsage Shuffle.Netty.Output.Buffers.outputQueueLength
		Shuffle.Netty.Output.Buffers.outputQueueSize`) {
		out = append(out, metric{id, kZero})
	}
	return out
}
