package flinksim

import (
	"fmt"
	"math"
	"time"
)

// markEvery is how often Flink moves its gauges and meters.
const markEvery = 5 * time.Second

// tally are the running sums of a vertex since its tasks started.
type tally struct {
	in, out float64 // records
	busy    float64 // seconds of work, over all subtasks
	held    float64 // seconds during which the vertex was backpressured
	heldFor float64 // busy, while it was backpressured
	up      float64 // seconds since the tasks run
}

func (t tally) minus(o tally) tally {
	return tally{t.in - o.in, t.out - o.out, t.busy - o.busy, t.held - o.held, t.heldFor - o.heldFor, t.up - o.up}
}

// vertex is a vertex at work.
type vertex struct {
	spec   VertexSpec
	inputs []edge
	// selectivity is how many records it sends on for each that it takes in.
	selectivity float64
	par         int
	groups      []group
	cap         float64 // records/s at par

	now   tally
	marks []tally // of the last marks, newest last
	life  tally   // over all attempts

	// What flows now.
	rateIn, rateOut float64
	blocked         bool // by what comes after

	// Of a source: records that ever arrived, and how many of them were read.
	arrived, offset float64
	saved           float64 // offset in the last completed checkpoint
	replayed        float64 // records that were read again after a restart
}

type edge struct {
	from        int
	selectivity float64
}

func (v *vertex) source() bool { return len(v.inputs) == 0 }

// lag is what waits in front of a source. Below a thousandth of a record it
// is rounding.
func (v *vertex) lag() float64 {
	if l := v.arrived - v.offset; l > 1e-3 {
		return l
	}
	return 0
}

func (v *vertex) resize(p int) {
	v.par = p
	v.groups = v.spec.shares(p)
	v.cap = v.spec.capacityAt(p)
}

// restart forgets what the tasks have counted.
func (v *vertex) restart() {
	v.now, v.marks = tally{}, v.marks[:0]
	v.rateIn, v.rateOut, v.blocked = 0, 0, false
}

// advance integrates the job up to a moment. Only the cluster's events change
// anything else, so between two of them this is all that happens.
func (j *job) advance(to time.Time) {
	for j.at.Before(to) {
		load, until := j.loadAt(j.at)
		end := earlier(to, until)
		if j.flowing() {
			j.boundary()
			end = earlier(end, j.nextMark)
			end = earlier(end, j.checkpoints.next())
		}
		if !end.After(j.at) {
			panic(fmt.Sprintf("flinksim: job %s stands still at %s", j.spec.ID, j.at))
		}
		j.flow(load, &end)
		j.at = end
	}
	if j.flowing() {
		j.boundary()
	}
}

// earlier gives the earlier of two moments; the zero moment is never.
func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// flowing is true while tasks run and none of them hangs.
func (j *job) flowing() bool { return j.up && !j.hung }

func (j *job) loadAt(t time.Time) (float64, time.Time) {
	rate, until := j.load.Rate(t.Sub(j.loadSince))
	if until == 0 {
		return rate, time.Time{}
	}
	return rate, j.loadSince.Add(until)
}

// flow lets records flow from j.at to end at fixed rates. It shortens end to
// the moment at which a backlog is worked off, since rates change then.
func (j *job) flow(load float64, end *time.Time) {
	rates := j.demand(load)
	if j.flowing() {
		j.limit(rates)
	} else {
		clear(rates)
	}
	dt := end.Sub(j.at).Seconds()
	for i := range j.vertices {
		v := &j.vertices[i]
		if gain := rates[i] - load*v.spec.Share; v.source() && gain > 0 && v.lag() > 0 {
			dt = math.Min(dt, v.lag()/gain)
		}
	}
	*end = earlier(*end, j.at.Add(time.Duration(math.Ceil(dt*1e9))))
	dt = end.Sub(j.at).Seconds()
	for i := range j.vertices {
		v := &j.vertices[i]
		if v.source() {
			v.arrived += load * v.spec.Share * dt
			v.rateIn = rates[i]
			// What a whole nanosecond rounds up must not come from nowhere.
			v.rateIn = math.Min(v.rateIn, math.Max(0, v.arrived-v.offset)/dt)
			v.offset += v.rateIn * dt
		}
		v.push(j, dt)
	}
}

// demand is what each source would take in if nothing held it back.
func (j *job) demand(load float64) []float64 {
	if len(j.scratch) != len(j.vertices) {
		j.scratch = make([]float64, len(j.vertices))
	}
	clear(j.scratch)
	for i := range j.vertices {
		v := &j.vertices[i]
		if !v.source() {
			continue
		}
		j.scratch[i] = math.Min(v.cap, load*v.spec.Share)
		if v.lag() > 0 {
			j.scratch[i] = v.cap
		}
	}
	return j.scratch
}

// limit lowers the sources' rates to what the vertices behind them can take.
// Sources that meet in a bottleneck share it by their capacities, but none
// gets more than it wants: raise all in step until a vertex is full, leave
// those that reach it where they are, go on with the others. It marks the
// vertices that are held back.
func (j *job) limit(rates []float64) {
	for i := range j.vertices {
		j.vertices[i].blocked = false
	}
	var settled []bool
	for {
		full, level := -1, math.Inf(1)
		for i := range j.vertices {
			if j.vertices[i].source() || j.reaches(i, rates) <= j.vertices[i].cap*(1+1e-12) {
				continue
			}
			if settled == nil {
				settled = make([]bool, len(j.vertices))
			}
			if l := j.level(i, rates, settled); l < level {
				full, level = i, l
			}
		}
		if full < 0 {
			return
		}
		j.settle(full, level, rates, settled)
	}
}

// reaches is how many records/s come to vertex i at these source rates.
func (j *job) reaches(i int, rates []float64) float64 {
	var in float64
	for s := range j.vertices {
		in += rates[s] * j.paths[s][i]
	}
	return in
}

// level is the share of their capacity that the sources which are not settled
// may use so that vertex i is just full.
func (j *job) level(i int, rates []float64, settled []bool) float64 {
	level := 0.0
	for range j.vertices { // each round finds a source that wants less
		room, weight := j.vertices[i].cap, 0.0
		for s := range j.vertices {
			v := &j.vertices[s]
			if !v.source() || j.paths[s][i] == 0 {
				continue
			}
			if settled[s] || rates[s] <= level*v.cap {
				room -= rates[s] * j.paths[s][i]
			} else {
				weight += v.cap * j.paths[s][i]
			}
		}
		if weight == 0 && level == 0 {
			return math.Inf(1) // all are settled: what is over is rounding
		}
		if weight == 0 {
			return level
		}
		next := math.Max(0, room/weight)
		if next <= level*(1+1e-12) {
			return next
		}
		level = next
	}
	return level
}

// settle holds the sources that reach a full vertex at the level.
func (j *job) settle(full int, level float64, rates []float64, settled []bool) {
	for s := range j.vertices {
		v := &j.vertices[s]
		if !v.source() || settled[s] || j.paths[s][full] == 0 {
			continue
		}
		settled[s] = true
		if rates[s] <= level*v.cap {
			continue
		}
		rates[s] = level * v.cap
		for u := range j.vertices {
			if u != full && j.paths[s][u] > 0 && j.paths[u][full] > 0 {
				j.vertices[u].blocked = true
			}
		}
	}
}

// push books what flows through a vertex during dt seconds. Vertices are in
// topological order, so its inputs were booked before.
func (v *vertex) push(j *job, dt float64) {
	if !v.source() {
		v.rateIn = 0
		for _, e := range v.inputs {
			v.rateIn += j.vertices[e.from].rateIn * e.selectivity
		}
	}
	v.rateOut = v.rateIn * v.selectivity
	if !j.flowing() {
		return
	}
	d := tally{in: v.rateIn * dt, out: v.rateOut * dt, busy: v.rateIn * dt / v.spec.Capacity, up: dt}
	if v.blocked {
		d.held, d.heldFor = dt, d.busy
	}
	v.now.add(d)
	v.life.add(d)
}

func (t *tally) add(d tally) {
	t.in += d.in
	t.out += d.out
	t.busy += d.busy
	t.held += d.held
	t.heldFor += d.heldFor
	t.up += d.up
}

// boundary does what is due at j.at: move gauges, take checkpoints.
func (j *job) boundary() {
	if !j.at.Before(j.nextMark) {
		j.nextMark = j.at.Add(j.every)
		for i := range j.vertices {
			v := &j.vertices[i]
			if len(v.marks) == j.span+1 {
				copy(v.marks, v.marks[1:])
				v.marks = v.marks[:j.span]
			}
			v.marks = append(v.marks, v.now)
		}
	}
	j.checkpoints.step(j)
}

// window is what a vertex did during the last whole gauge intervals, and over
// how many seconds of them.
func (v *vertex) window(span int) (tally, float64) {
	n := len(v.marks)
	if n == 0 {
		return tally{}, 0
	}
	last := v.marks[n-1]
	if n <= span {
		return last, last.up
	}
	d := last.minus(v.marks[0])
	return d, d.up
}

// build makes the vertices of a job, in topological order.
func (j *job) build(specs []VertexSpec) error {
	index := map[string]int{}
	left := make([]VertexSpec, 0, len(specs))
	ids := map[string]bool{}
	for _, s := range specs {
		s = s.withDefaults()
		if ids[s.ID] {
			return fmt.Errorf("flinksim: two vertices %q with id %s", s.Name, s.ID)
		}
		ids[s.ID] = true
		left = append(left, s)
	}
	for len(left) > 0 {
		var later []VertexSpec
		for _, s := range left {
			v, ok := newVertex(s, index)
			if !ok {
				later = append(later, s)
				continue
			}
			index[s.Name] = len(j.vertices)
			j.vertices = append(j.vertices, v)
		}
		if len(later) == len(left) {
			return errBadGraph(later)
		}
		left = later
	}
	j.trace()
	return nil
}

// trace works out, for each pair of vertices, how many records arrive at the
// second for one that goes into the first.
func (j *job) trace() {
	n := len(j.vertices)
	j.paths = make([][]float64, n)
	for s := range n {
		j.paths[s] = make([]float64, n)
		j.paths[s][s] = 1
		for i := s + 1; i < n; i++ {
			for _, e := range j.vertices[i].inputs {
				j.paths[s][i] += j.paths[s][e.from] * e.selectivity
			}
		}
	}
	for i := range j.vertices {
		for _, e := range j.vertices[i].inputs {
			j.vertices[e.from].selectivity += e.selectivity
		}
	}
}
