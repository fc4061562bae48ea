package oracle

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// step moves the world on by a cycle and shows it.
func (w *world) step() Look {
	gap := w.interval.Milliseconds()
	if w.has(TraitGaps) && chance(w.r, 0.07) {
		gap *= int64(between(w.r, 2, 12))
	}
	if w.has(TraitJitter) {
		gap += int64((w.r.Float64() - 0.4) * 0.3 * float64(w.interval.Milliseconds()))
	}
	w.now += gap
	w.k++
	w.applied = false
	w.carryOut(gap)
	w.troubles(gap)
	w.flow(float64(w.now-max(w.now-gap, w.running)) / 1000)
	w.arrive(float64(gap) / 1000)
	w.blindness()
	if w.frozen > 0 {
		w.frozen--
		frozen := w.last
		frozen.Now, frozen.Fresh = w.now, false
		return frozen
	}
	w.clock += float64(gap) * 1e5
	w.last = w.look()
	return w.last
}

// decide takes in what the Java autoscaler decided.
func (w *world) decide(sizes map[string]int) {
	same := true
	for _, v := range w.vertices {
		p, ok := sizes[v.id]
		same = same && (!ok || p == v.parallelism)
	}
	if same {
		w.open = nil
		return
	}
	if w.open == nil {
		w.left = 1
		if w.has(TraitUnapplied) {
			w.left = pick(w.r, []int{1, 2, 3, 5, -1})
		}
	}
	w.open = sizes
}

// carryOut brings an open decision nearer, or about.
func (w *world) carryOut(gap int64) {
	if w.open == nil || w.left < 0 {
		return
	}
	if w.left--; w.left > 0 {
		return
	}
	for _, v := range w.vertices {
		p, ok := w.open[v.id]
		if ok && w.has(TraitPartial) && p > v.parallelism && chance(w.r, 0.5) {
			p = between(w.r, v.parallelism, p)
		}
		if ok && p > 0 && !v.finished {
			v.parallelism = min(p, v.max)
		}
	}
	w.open, w.applied = nil, true
	w.restart(gap)
}

// restart begins a new attempt somewhere in the last gap.
func (w *world) restart(gap int64) {
	w.running = w.now - w.r.Int64N(max(1, gap-1))
	w.readyAt = w.running
	if w.has(TraitSlowTasks) {
		w.readyAt = w.running + int64(w.r.IntN(4))*w.interval.Milliseconds()
	}
	for _, v := range w.vertices {
		v.in, v.out, v.busyMs = 0, 0, 0
	}
	w.frozen = 0
	if w.has(TraitRegraph) && len(w.vertices) > 1 && chance(w.r, 0.4) {
		w.dropSink()
	}
}

// dropSink takes the last vertex out of the graph: nothing reads from it.
func (w *world) dropSink() {
	last := len(w.vertices) - 1
	gone := w.vertices[last]
	w.vertices = w.vertices[:last]
	for _, v := range w.vertices {
		v.outputs = slices.DeleteFunc(v.outputs, func(e *edge) bool { return e.to == gone })
	}
}

// troubles lets happen what is among the traits.
func (w *world) troubles(gap int64) {
	r := w.r
	if w.has(TraitRestarts) && chance(r, 0.05) {
		w.open = nil
		w.restart(gap)
	}
	if w.has(TraitFrozen) && w.frozen == 0 && chance(r, 0.06) && w.last.Now > 0 && w.last.Running == w.running && !w.waiting() {
		w.frozen = between(r, 1, 4)
	}
	if w.has(TraitReset) && chance(r, 0.05) {
		v := pick(r, w.vertices)
		v.in, v.out, v.busyMs = 0, 0, 0
	}
	for _, v := range w.vertices {
		if !v.finished && w.k >= v.finishAt && !w.waiting() {
			v.finished = true
		}
	}
}

func (w *world) waiting() bool { return w.now < w.readyAt }

// flow lets records run for some seconds. Where a vertex cannot keep up, all are slowed down.
func (w *world) flow(seconds float64) {
	if w.waiting() {
		for _, v := range w.vertices {
			v.rate, v.sent, v.busy, v.back = 0, 0, 0, 0
		}
		return
	}
	worst := 1.0
	for _, v := range w.vertices {
		v.rate = 0
		if v.source() && !v.finished {
			v.rate = v.demand.at(w.r, w.k) + v.lag/math.Max(seconds, 600)
		}
		for _, e := range v.inputs {
			v.rate += e.rate
		}
		for _, e := range v.outputs {
			e.rate = v.rate * e.ratio
		}
		if can := 1000 * float64(v.parallelism) / v.costNow(); v.rate > can {
			worst = math.Min(worst, can/v.rate)
		}
	}
	for _, v := range w.vertices {
		v.rate *= worst
		v.sent = 0
		for _, e := range v.outputs {
			e.rate *= worst
			v.sent += e.rate
		}
		v.busy = math.Min(1000, v.rate*v.costNow()/float64(v.parallelism)*(0.98+0.04*w.r.Float64()))
		v.back = 0
		if v.source() && worst < 1 {
			v.back = math.Min(1000-v.busy, (1-worst)*1000)
		}
		v.in += math.Round(v.rate * seconds)
		v.out += math.Round(v.sent * seconds)
		v.busyMs += math.Round(v.busy * float64(v.parallelism) * seconds)
	}
}

// arrive adds to the backlog what came and was not read.
func (w *world) arrive(seconds float64) {
	for _, v := range w.vertices {
		if !v.source() || v.finished {
			continue
		}
		came := v.demand.base
		if v.demand.zero {
			came = v.demand.at(w.r, w.k)
		}
		v.lag = math.Max(0, math.Floor(v.lag+(math.Max(came, v.demand.at(w.r, w.k))-v.rate)*seconds))
	}
}

// blindness lets readings be missing for a while.
func (w *world) blindness() {
	r := w.r
	for _, v := range w.vertices {
		if v.blind > 0 {
			v.blind--
			continue
		}
		v.blindTo = ""
		for _, t := range []Trait{TraitIncomplete, TraitMissing, TraitNoBusy, TraitLagNaN} {
			if w.has(t) && chance(r, 0.03) {
				v.blind, v.blindTo = between(r, 0, 3), t
				if t == TraitLagNaN {
					v.blind = between(r, 0, 9)
				}
			}
		}
	}
}

func (w *world) look() Look {
	l := Look{Now: w.now, Running: w.running, State: "RUNNING", Clock: w.clock, Fresh: true, JobManager: map[string]string{}}
	slots := 0
	for _, v := range w.vertices {
		x := w.vertex(v)
		l.Vertices = append(l.Vertices, x)
		if x.Waiting > 0 {
			l.State = "CREATED"
		}
		slots = max(slots, v.parallelism)
	}
	l.JobManager["taskSlotsTotal"] = strconv.Itoa(slots + 4)
	l.JobManager["taskSlotsAvailable"] = "4"
	gc, heap := 100*w.r.Float64(), 0.2+0.6*w.r.Float64()
	if w.has(TraitMemory) {
		gc, heap = 1300*w.r.Float64(), 0.4+0.5*w.r.Float64()
	}
	for _, m := range []struct {
		id   string
		most float64
	}{
		{"Status.JVM.Memory.Heap.Max", 1 << 30}, {"Status.JVM.Memory.Heap.Used", math.Round(float64(1<<30) * heap)},
		{"Status.Flink.Memory.Managed.Used", 0}, {"Status.JVM.Memory.Metaspace.Used", 1 << 27},
		{"Status.JVM.GarbageCollector.All.TimeMsPerSecond", math.Round(gc)},
	} {
		l.TaskManagers = append(l.TaskManagers, metric(m.id, m.most/2, m.most, m.most*0.7, m.most*2))
	}
	return l
}

func (w *world) vertex(v *node) Vertex {
	out := Vertex{
		ID: v.id, Name: v.name, Parallelism: v.parallelism, Max: v.max, Group: v.group, Finished: v.finished, Complete: true,
		Read: int64(v.in), Written: int64(v.out), Busy: Number(v.busyMs), Inputs: []Input{},
	}
	for _, e := range v.inputs {
		out.Inputs = append(out.Inputs, Input{ID: e.from.id, Ship: e.ship})
	}
	slices.SortFunc(out.Inputs, func(a, b Input) int { return strings.Compare(a.ID, b.ID) })
	if w.waiting() && !v.finished {
		out.Waiting = 1 + w.r.IntN(v.parallelism)
	}
	if v.source() {
		out.Read = 0
		if v.countsBy == 0 {
			out.Read = int64(v.in)
		}
	}
	if v.blindTo == TraitIncomplete {
		out.Read, out.Written, out.Complete = 0, 0, false
	}
	if v.legacy {
		out.Busy = Number(math.NaN())
	}
	out.Metrics = w.metrics(v)
	return out
}

// metrics are those of a vertex' subtasks.
func (w *world) metrics(v *node) []Metric {
	p := float64(v.parallelism)
	lo, hi, mean := math.Round(v.busy*(1-v.skew)), math.Round(math.Min(1000, v.busy*(1+v.skew))), v.busy
	if w.has(TraitFractions) {
		lo, hi = v.busy*(1-v.skew), v.busy*(1+v.skew)
	} else {
		mean = math.Round(mean*p) / p
	}
	if v.legacy || v.blindTo == TraitNoBusy {
		lo, hi, mean = math.NaN(), math.NaN(), math.NaN()
	}
	rate := math.Round(v.rate*60) / 60 // what Flink's meters of one minute give
	if !w.has(TraitFractions) {
		rate = math.Round(v.rate*10) / 10
	}
	var out []Metric
	if v.blindTo != TraitMissing {
		out = append(out, metric("busyTimeMsPerSecond", lo, hi, mean, mean*p))
	}
	out = append(out, metric("idleTimeMsPerSecond", 0, 1000, 1000-mean, 0), metric("backPressuredTimeMsPerSecond", v.back, v.back, w.backMean(v), v.back*p))
	if !v.source() {
		if !w.has(TraitNoGauge) {
			out = append(out, metric("numRecordsInPerSecond", 0, rate, rate/p, rate))
		}
		return append(out, metric("0.Map.numRecordsIn", 0, v.in, v.in/p, v.in))
	}
	return append(out, w.sourceMetrics(v, rate)...)
}

func (w *world) backMean(v *node) float64 {
	if w.has(TraitFractions) {
		return v.back
	}
	return math.Round(v.back)
}

func (w *world) sourceMetrics(v *node, rate float64) []Metric {
	in, out := v.in, v.in
	if v.countsBy == 2 {
		in = 0 // a source that counts only what it emits
	}
	ms := []Metric{
		metric("numRecordsInPerSecond", 0, 0, 0, 0),
		metric(fmt.Sprintf("Source__%s.numRecordsInPerSecond", v.short()), 0, rate, rate, rate),
		metric(fmt.Sprintf("Source__%s.numRecordsIn", v.short()), 0, in, in, in),
		metric(fmt.Sprintf("Source__%s.numRecordsOut", v.short()), 0, out, out, out),
	}
	if w.k >= v.lagFrom && w.k < v.lagUntil {
		p := float64(v.parallelism)
		most := math.Min(v.lag, math.Ceil(v.lag/p*(1+v.skew)))
		if v.hot {
			most = v.lag // one partition makes no progress
		}
		all := v.lag
		if v.blindTo == TraitLagNaN {
			most, all = math.NaN(), math.NaN()
		}
		ms = append(ms, metric(fmt.Sprintf("Source__%s.pendingRecords", v.short()), 0, most, all/p, all))
		if v.twoLags {
			ms = append(ms, metric(fmt.Sprintf("Source__%s.other.pendingRecords", v.short()), 0, 7, 7/p, 7))
		}
	}
	for _, name := range v.partitions {
		ms = append(ms, Metric{ID: name})
	}
	return ms
}
