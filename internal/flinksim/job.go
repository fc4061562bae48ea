package flinksim

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// state is a job's state in Flink's words.
type state string

const (
	created    state = "CREATED"
	running    state = "RUNNING"
	restarting state = "RESTARTING"
	canceled   state = "CANCELED"
	failed     state = "FAILED"
	finished   state = "FINISHED"
)

func (s state) ended() bool { return s == canceled || s == failed || s == finished }

// bounds are what a PUT of requirements says of one vertex.
type bounds struct{ lower, upper int }

// failure is one entry of the exception history.
type failure struct {
	at            time.Time
	class, text   string
	task, manager string
}

// job is a job in the cluster.
type job struct {
	c    *Cluster
	spec JobSpec
	seq  int

	vertices  []vertex    // in topological order
	paths     [][]float64 // see trace
	scratch   []float64
	load      Load
	loadSince time.Time
	at        time.Time // up to here it is worked out
	every     time.Duration
	span      int // gauge intervals that are averaged
	nextMark  time.Time

	state   state
	up      bool // all tasks run
	hung    bool // a TaskManager of it does not answer
	attempt int
	held    int // slots
	wanted  []bounds
	gen     int // of the one event that the job waits for

	planned   []int // sizes that a rescale is under way to
	changedAt time.Time
	waitSince time.Time
	stamps    map[state]time.Time
	since     time.Time // submission
	ended     time.Time
	upAt      time.Time

	checkpoints checkpointing
	restarts    int
	rescaled    int
	failures    []failure // newest first
	rescales    []*rescale
	putting     bool // a PUT is in flight

	snap  *snapshot
	own   ownMetrics
	cache *graph
}

func (c *Cluster) newJob(s JobSpec, now time.Time) (*job, error) {
	if len(s.Vertices) == 0 {
		s.Vertices = DefaultVertices()
	}
	s.NotAdaptive = s.NotAdaptive && !c.opt.Reactive
	j := &job{c: c, spec: s, seq: len(c.order), load: s.Load, at: now, since: now, stamps: map[state]time.Time{}}
	if err := j.build(s.Vertices); err != nil {
		return nil, err
	}
	j.every = min(markEvery, max(c.opt.GaugeSpan, 100*time.Millisecond))
	j.span = max(1, int(c.opt.GaugeSpan/j.every))
	for i := range j.vertices {
		v := &j.vertices[i]
		v.resize(v.spec.Parallelism)
		v.arrived = v.spec.Backlog
		least := 1
		if s.NotAdaptive {
			least = v.spec.Parallelism // all of it, or nothing runs
		}
		most := v.spec.Parallelism
		if c.opt.Reactive {
			most = v.spec.MaxParallelism
		}
		j.wanted = append(j.wanted, bounds{least, most})
	}
	interval := c.opt.CheckpointInterval
	if s.CheckpointInterval != 0 {
		interval = max(0, s.CheckpointInterval)
	}
	j.checkpoints = checkpointing{
		interval: interval, took: max(time.Microsecond, min(c.opt.CheckpointDuration, interval/2)),
		timeout: c.opt.CheckpointTimeout, mode: CheckpointsOK,
	}
	return j, nil
}

func newVertex(s VertexSpec, index map[string]int) (vertex, bool) {
	v := vertex{spec: s}
	for _, in := range s.Inputs {
		from, ok := index[in.From]
		if !ok {
			return v, false
		}
		v.inputs = append(v.inputs, edge{from, in.Selectivity})
	}
	return v, true
}

// tasks counts the subtasks of all vertices.
func (j *job) tasks() int {
	n := 0
	for i := range j.vertices {
		n += j.vertices[i].par
	}
	return n
}

func (j *job) downtime() time.Duration {
	if j.spec.Downtime > 0 {
		return j.spec.Downtime
	}
	return j.c.opt.Downtime
}

// wake makes the job's next step happen at a moment, instead of whatever it
// waited for.
func (j *job) wake(at time.Time, do func(time.Time)) {
	j.gen++
	gen := j.gen
	j.c.when(at, func(at time.Time) {
		if j.gen == gen {
			j.advance(at)
			do(at)
		}
	})
}

// fit works out the sizes that so many slots allow: all that is wanted, or
// what is left over the lower bounds handed out fairly to the slot groups.
func (j *job) fit(slots int) (sizes []int, enough, all bool) {
	var names []string
	need := map[string]*bounds{}
	for i, b := range j.wanted {
		g := j.vertices[i].spec.SlotGroup
		if need[g] == nil {
			need[g] = &bounds{}
			names = append(names, g)
		}
		need[g].lower = max(need[g].lower, b.lower)
		need[g].upper = max(need[g].upper, b.upper)
	}
	lower, upper := 0, 0
	for _, n := range names {
		lower += need[n].lower
		upper += need[n].upper
	}
	if lower > slots {
		return nil, false, false
	}
	spare := min(slots, upper) - lower
	grant := map[string]int{}
	for _, n := range names {
		room := need[n].upper - need[n].lower
		extra := 0
		if upper > lower {
			extra = room * spare / (upper - lower)
		}
		grant[n] = need[n].lower + extra
	}
	for left := min(slots, upper) - sum(grant); left > 0; {
		for _, n := range names {
			if left > 0 && grant[n] < need[n].upper {
				grant[n]++
				left--
			}
		}
	}
	for i, b := range j.wanted {
		sizes = append(sizes, min(b.upper, grant[j.vertices[i].spec.SlotGroup]))
	}
	return sizes, true, upper <= slots
}

func sum(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

// needs is how many slots the job's present sizes take.
func (j *job) needs() int {
	g := map[string]int{}
	for i := range j.vertices {
		v := &j.vertices[i]
		g[v.spec.SlotGroup] = max(g[v.spec.SlotGroup], v.par)
	}
	return sum(g)
}

func (j *job) sizes() []int {
	out := make([]int, len(j.vertices))
	for i := range j.vertices {
		out[i] = j.vertices[i].par
	}
	return out
}

// hungry is true when more slots could change something.
func (j *job) hungry() bool {
	if j.state == created {
		return true
	}
	if j.state != running {
		return false
	}
	for i, b := range j.wanted {
		if j.vertices[i].par < b.upper {
			return true
		}
	}
	return false
}

// submitted lets a new job begin: at once, tasks and all, if slots are there.
func (j *job) submitted(now time.Time) {
	j.state, j.waitSince = created, now
	j.openRescale(now, "INITIAL_SCHEDULE")
	j.tryStart(now, false)
	if j.state == running {
		j.deployed(now)
	}
}

// reconsider looks again after slots or requirements changed.
func (j *job) reconsider(now time.Time) {
	switch j.state {
	case created:
		j.tryStart(now, false)
	case running:
		j.plan(now)
	}
}

// tryStart starts a job that waits for slots: with all that is wanted at
// once, with fewer after waiting for more, or never.
func (j *job) tryStart(now time.Time, hurry bool) {
	sizes, enough, all := j.fit(j.c.offered(j))
	if all || (enough && (hurry || j.c.opt.Reactive)) {
		j.start(now, sizes)
		return
	}
	if enough {
		due := j.waitSince.Add(j.c.opt.Stabilization)
		if !due.After(now) {
			j.start(now, sizes)
			return
		}
		j.wake(due, func(at time.Time) { j.tryStart(at, true) })
		return
	}
	if j.c.opt.Reactive {
		return // for as long as it takes
	}
	due := j.waitSince.Add(j.c.opt.ResourceWait)
	if due.After(now) {
		j.wake(due, func(at time.Time) { j.tryStart(at, true) })
		return
	}
	j.exception(now, "org.apache.flink.runtime.jobmanager.scheduler.NoResourceAvailableException", "Not enough resources available for scheduling.")
	_ = j.end(failed, now)
}

// start makes a new execution graph. Its tasks run a little later.
func (j *job) start(now time.Time, sizes []int) {
	before := j.sizes()
	for i := range j.vertices {
		j.vertices[i].resize(sizes[i])
		j.vertices[i].restart()
	}
	held := j.held
	j.c.hold(j, j.needs())
	j.gen++
	j.attempt++
	j.state, j.planned = running, nil
	j.stamps = map[state]time.Time{created: now, running: now}
	j.checkpoints.start(now.Add(j.c.opt.Deploy))
	j.closeRescale(now, "COMPLETED", "SUCCEEDED", before)
	attempt := j.attempt
	j.c.when(now.Add(j.c.opt.Deploy), func(at time.Time) {
		if j.attempt == attempt && j.state == running {
			j.deployed(at)
		}
	})
	if held > j.held {
		j.c.when(now, j.c.slotsChanged)
	}
}

// deployed is when all tasks run.
func (j *job) deployed(at time.Time) {
	if j.up {
		return
	}
	j.advance(at)
	j.up, j.upAt = true, at
	j.nextMark = at.Add(j.every)
	j.checkpoints.start(at)
	j.doom(at)
	if j.hungry() {
		j.plan(at)
	}
}

// doom has a job fail that runs at a size at which it does.
func (j *job) doom(now time.Time) {
	for i := range j.vertices {
		v := &j.vertices[i]
		if v.spec.FailAt <= 0 || v.par < v.spec.FailAt {
			continue
		}
		attempt, text := j.attempt, v.spec.FailText
		j.c.when(now.Add(v.spec.FailAfter), func(at time.Time) {
			switch {
			case j.attempt != attempt || j.state != running:
			case text == "":
				j.advance(at)
				j.stop(at, false)
			default:
				j.advance(at)
				j.fail(at, "java.io.IOException", text)
			}
		})
		return
	}
}

// plan decides whether a running job rescales, and when: after the cooldown,
// after waiting for more slots if not all are there, and on 2.x with the next
// checkpoint, or without one if it takes too long.
func (j *job) plan(now time.Time) {
	sizes, enough, all := j.fit(j.c.offered(j))
	if j.spec.NotAdaptive || !enough || slices.Equal(sizes, j.sizes()) {
		if j.planned != nil {
			j.gen++
		}
		j.planned = nil
		j.closeRescale(now, "IGNORED", "NO_RESOURCES_OR_PARALLELISMS_CHANGE", j.sizes())
		return
	}
	if j.planned == nil {
		j.changedAt = now
	}
	j.planned = sizes
	o := j.c.opt
	j.openRescale(now, "NEW_RESOURCE_AVAILABLE")
	ready := latest(j.changedAt, j.stamps[running].Add(o.Cooldown))
	if !all && !o.Reactive {
		ready = latest(ready, j.changedAt.Add(o.Stabilization))
	}
	due := latest(now, ready)
	if o.is23() && j.checkpoints.on() {
		due = latest(now, ready.Add(o.MaxDelay))
		due = earlier(due, j.checkpoints.completesAfter(latest(now, ready)))
	}
	j.wake(due, j.rescale)
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// rescale stops the tasks, to go on with other sizes.
func (j *job) rescale(at time.Time) {
	sizes, enough, _ := j.fit(j.c.offered(j))
	if !enough || slices.Equal(sizes, j.sizes()) {
		j.plan(at)
		return
	}
	j.rescaled++
	j.stop(at, true)
}

// stop takes the tasks down and comes back after the downtime.
func (j *job) stop(at time.Time, hurry bool) {
	j.checkpoints.stop(j)
	j.checkpoints.restore(j)
	j.restarts++
	j.up, j.hung, j.planned = false, false, nil
	j.state = restarting
	j.stamps[restarting] = at
	if n := len(j.rescales); n > 0 && j.rescales[n-1].end.IsZero() {
		j.rescales[n-1].stopped = at
	}
	j.wake(at.Add(j.downtime()), func(at time.Time) {
		j.state, j.waitSince = created, at
		j.tryStart(at, hurry)
	})
}

// fail is a failure from which the job recovers.
func (j *job) fail(now time.Time, class, text string) {
	j.exception(now, class, text)
	j.closeRescale(now, "IGNORED", "JOB_FAILOVER_RESTARTING", j.sizes())
	j.openRescale(now, "RECOVERABLE_FAILOVER")
	j.stop(now, false)
}

// end is the end for good.
func (j *job) end(s state, now time.Time) error {
	if j.state.ended() {
		return fmt.Errorf("flinksim: job %s is %s already", j.spec.ID, j.state)
	}
	j.checkpoints.stop(j)
	j.gen++
	j.state, j.up, j.hung, j.ended = s, false, false, now
	j.stamps[s] = now
	j.c.release(j)
	j.closeRescale(now, "FAILED", "JOB_"+string(s), j.sizes())
	if j.snap != nil {
		j.snap = j.takeSnapshot()
	}
	j.c.when(now, j.c.slotsChanged)
	return nil
}

func (j *job) exception(now time.Time, class, text string) {
	f := failure{at: now, class: class, text: text}
	if len(j.vertices) > 0 && j.state == running {
		v := &j.vertices[0]
		f.task = v.spec.Name + " (1/" + strconv.Itoa(v.par) + ") - execution #" + strconv.Itoa(j.attempt-1)
		for _, t := range j.c.tms {
			if t.used[j] > 0 {
				f.manager = t.id
				break
			}
		}
	}
	j.failures = append([]failure{f}, j.failures...)
	if len(j.failures) > 16 { // web.exception-history-size
		j.failures = j.failures[:16]
	}
}

// want takes new requirements into force.
func (j *job) want(b []bounds, now time.Time) {
	same := slices.Equal(b, j.wanted)
	j.wanted = b
	if len(j.rescales) > 0 {
		j.closeRescale(now, "IGNORED", "RESOURCE_REQUIREMENTS_UPDATED", j.sizes())
	}
	j.openRescale(now, "UPDATE_REQUIREMENT")
	if !same {
		j.planned = nil
	}
	j.reconsider(now)
}
