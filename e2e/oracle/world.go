package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// world is a job that lives in virtual time: what arrives, what each vertex can do, what goes wrong. It is driven by
// step, and by decide with what the Java autoscaler decided.
type world struct {
	r        *rand.Rand
	traits   []Trait
	interval time.Duration
	vertices []*node // each after its inputs

	now, running int64 // ms
	// readyAt is when all tasks run, from running on.
	readyAt int64
	clock   float64
	// open is a decision that is not carried out yet, in left cycles; -1 for never.
	open map[string]int
	left int
	// frozen counts cycles for which nothing moves, last is what is shown then.
	frozen int
	last   Look
	// applied is true when a decision came about in this step.
	applied bool
	k       int
}

// node is one vertex.
type node struct {
	id, name    string
	parallelism int
	max         int
	group       string
	inputs      []*edge
	outputs     []*edge
	// cost is busy ms per record and subtask; skew how much busier the busiest subtask is than the mean.
	cost, skew float64
	// contention is how much of another subtask is lost to the others, 0 to 1; first the size where cost holds.
	contention float64
	first      int

	in, out  float64 // records since the start of the attempt
	busyMs   float64
	rate     float64 // records per second now
	sent     float64
	busy     float64 // mean ms per second
	back     float64
	demand   load
	lag      float64
	countsBy int // which counter of a source tells what it read

	partitions []string
	finishAt   int
	finished   bool
	legacy     bool
	hot        bool
	twoLags    bool // two operators in the vertex tell a backlog
	lagFrom    int  // cycle from which the backlog metric is there
	lagUntil   int
	blind      int // cycles for which a reading is missing, see blindTo
	blindTo    Trait
}

type edge struct {
	from, to *node
	ship     string
	ratio    float64 // records on it per record that from takes in
	rate     float64
}

// load is what arrives at a source.
type load struct {
	base, swing float64
	period      float64 // cycles
	stepAt      int
	stepTo      float64
	zero        bool
}

func (l load) at(r *rand.Rand, k int) float64 {
	x := l.base * (1 + l.swing*math.Sin(2*math.Pi*float64(k)/l.period))
	if k >= l.stepAt {
		x *= l.stepTo
	}
	if l.zero && (k/7)%3 == 1 {
		return 0
	}
	return math.Max(0, x*(0.97+0.06*r.Float64()))
}

func (w *world) has(t Trait) bool { return slices.Contains(w.traits, t) }

// epoch is when worlds begin.
const epoch = int64(1784548800000)

func newWorld(r *rand.Rand, interval time.Duration, traits []Trait) *world {
	w := &world{r: r, traits: traits, interval: interval, now: epoch + int64(r.IntN(1000)), clock: 1e9}
	n := pick(r, []int{1, 2, 2, 3, 3, 4, 5, 6, 7})
	if w.has(TraitManyVertices) {
		n = between(r, 8, 20)
	}
	shape := pick(r, []string{"chain", "chain", "fan-in", "fan-out", "diamond", "any", "any"})
	for i := range n {
		w.add(i, inputsOf(r, shape, i, n))
	}
	w.running = w.now - int64(r.IntN(3))*interval.Milliseconds()
	w.readyAt = w.running
	w.traitsOfNodes()
	return w
}

// inputsOf chooses from which vertices before it the i-th of n reads; none makes a source.
func inputsOf(r *rand.Rand, shape string, i, n int) []int {
	switch {
	case i == 0:
		return nil
	case shape == "chain":
		return []int{i - 1}
	case shape == "fan-in" && i < n-1:
		return nil
	case shape == "fan-in":
		return upTo(i)
	case shape == "fan-out":
		return []int{0}
	case shape == "diamond" && i < n-1:
		return []int{0}
	case shape == "diamond":
		return upTo(i)[min(1, i-1):]
	}
	var out []int
	for j := range i {
		if chance(r, 0.4) {
			out = append(out, j)
		}
	}
	return out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (w *world) add(i int, inputs []int) {
	r := w.r
	v := &node{
		id: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()), name: fmt.Sprintf("v%d", i),
		parallelism: pick(r, []int{1, 1, 2, 2, 3, 4, 6, 8, 12, 20, 45}), skew: r.Float64() * 0.4, lagUntil: math.MaxInt, finishAt: math.MaxInt,
	}
	v.max = max(v.parallelism, pick(r, []int{16, 60, 100, 128, 128, 720, 4000}))
	if chance(r, 0.8) {
		v.group = fmt.Sprint(1 + r.IntN(2))
	}
	for _, j := range inputs {
		e := &edge{from: w.vertices[j], to: v, ship: pick(r, []string{"HASH", "HASH", "REBALANCE", "REBALANCE", "FORWARD", "RESCALE", "BROADCAST"}), ratio: pick(r, []float64{1, 1, 0.5, 0.1, 2, 3.7, 0})}
		if e.ratio == 0 && chance(r, 0.7) {
			e.ratio = 1
		}
		v.inputs = append(v.inputs, e)
		e.from.outputs = append(e.from.outputs, e)
	}
	w.vertices = append(w.vertices, v)
	if v.source() {
		v.name = "Source: " + v.name
		v.demand = load{
			base: math.Pow(10, 0.5+4*r.Float64()), swing: r.Float64() * 0.8, period: 10 + 40*r.Float64(),
			stepAt: between(r, 5, 50), stepTo: pick(r, []float64{1, 1, 0.2, 0.5, 2, 4}), zero: w.has(TraitZero),
		}
		v.countsBy = between(r, 0, 2)
		if chance(r, 0.3) {
			v.lag = math.Floor(v.demand.base * 600 * r.Float64())
		}
		w.partitionsOf(v)
	}
	w.costOf(v)
	v.first = v.parallelism
	if w.has(TraitContention) {
		v.contention = pick(r, []float64{0, 0.5, 0.9, 1})
	}
}

func (v *node) source() bool { return len(v.inputs) == 0 }

// costOf chooses what a record costs such that the vertex is at first busy by some share between nearly idle and twice
// what it can do.
func (w *world) costOf(v *node) {
	flow := v.demand.base
	for _, e := range v.inputs {
		flow += e.from.flowOf() * e.ratio
	}
	share := pick(w.r, []float64{0.02, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2})
	v.cost = share * 1000 * float64(v.parallelism) / math.Max(1, flow)
	v.rate = flow // until the first step
}

// costNow is what a record costs at the size now.
func (v *node) costNow() float64 {
	if v.parallelism <= v.first {
		return v.cost
	}
	return v.cost * (1 + v.contention*(float64(v.parallelism)/float64(v.first)-1))
}

func (v *node) flowOf() float64 { return v.rate }

func (w *world) partitionsOf(v *node) {
	r := w.r
	kind, n := pick(r, []string{"", "", "kafka", "kafka", "pulsar"}), between(r, 1, 60)
	if w.has(TraitClusters) {
		kind = "clusters"
	}
	if w.has(TraitSplits) {
		kind = "splits"
	}
	for i := range n {
		switch kind {
		case "kafka":
			v.partitions = append(v.partitions, fmt.Sprintf("Source__%s.KafkaSourceReader.topic.orders.v1.partition.%d.currentOffset", v.short(), i))
		case "clusters":
			v.partitions = append(v.partitions, fmt.Sprintf("Source__%s.kafkaCluster.c%d.KafkaSourceReader.topic.orders.partition.%d.currentOffset", v.short(), i%2, i/2))
		case "pulsar":
			v.partitions = append(v.partitions, fmt.Sprintf("Source__%s.PulsarConsumer.persistent://public/default/clicks-partition-%d.r%d.numMsgsReceived", v.short(), i, i%3))
		case "splits":
			v.partitions = append(v.partitions, fmt.Sprintf("Source__%s.split.s-%d.watermark.activeTimeMsPerSecond", v.short(), i))
		}
	}
}

func (v *node) short() string { return v.id[:6] }

// traitsOfNodes gives traits to some vertices.
func (w *world) traitsOfNodes() {
	r := w.r
	for _, v := range w.vertices {
		if !v.source() {
			continue
		}
		v.twoLags = chance(r, 0.1)
		v.hot = w.has(TraitHot) && chance(r, 0.7)
		if w.has(TraitLegacy) && chance(r, 0.6) {
			v.legacy = true
		}
		if w.has(TraitFinished) && chance(r, 0.5) {
			v.finishAt = between(r, 3, 30)
		}
		if w.has(TraitLazyLag) {
			switch r.IntN(3) {
			case 0:
				v.lagFrom = between(r, 2, 20)
			case 1:
				v.lagUntil = between(r, 10, 40)
			default:
				v.lagFrom = math.MaxInt
			}
		}
	}
}
