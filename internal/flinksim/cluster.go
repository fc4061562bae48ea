package flinksim

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Cluster is a simulated Flink cluster. All methods may be called at once
// from several goroutines.
type Cluster struct {
	opt Options

	mu      sync.Mutex
	frozen  time.Time     // the moment, when time stands still
	shifted time.Duration // by Advance, on the real clock
	events  events
	seq     int
	done    time.Time // up to here all events happened

	jobs  map[string]*job
	order []*job // by submission
	tms   []*taskManager
	tmSeq int

	fetch    fetcher
	catalogs map[string]*catalog
	writes   []Write
	jars     []*jar
	stops    map[string]*stopping // by job and trigger
	posts    []string
	mode     Unavailability
	modeOver chan struct{} // closed when mode changes

	server *http.Server
	url    string
	closed bool
}

// New makes a cluster without jobs. It does not listen: see Start, Handler.
func New(o Options) *Cluster {
	c := &Cluster{
		opt:      o.withDefaults(),
		frozen:   o.Start,
		jobs:     map[string]*job{},
		catalogs: map[string]*catalog{},
		stops:    map[string]*stopping{},
		modeOver: make(chan struct{}),
	}
	c.resizeSlots(max(0, c.opt.Slots))
	return c
}

// Start listens on Options.Addr and gives the base URL.
func (c *Cluster) Start() (string, error) {
	l, err := net.Listen("tcp", c.opt.Addr)
	if err != nil {
		return "", fmt.Errorf("flinksim: listen: %w", err)
	}
	srv := &http.Server{Handler: c.Handler(), ReadHeaderTimeout: time.Minute}
	c.mu.Lock()
	c.server, c.url = srv, "http://"+l.Addr().String()
	c.mu.Unlock()
	go func() { _ = srv.Serve(l) }()
	return c.URL(), nil
}

// URL is the base URL once started.
func (c *Cluster) URL() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.url
}

// Close ends the server and whatever request still hangs.
func (c *Cluster) Close() {
	c.mu.Lock()
	srv := c.server
	if !c.closed {
		c.closed = true
		close(c.modeOver)
	}
	c.mu.Unlock()
	if srv == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		_ = srv.Close()
	}
}

// event is something that happens at a moment.
type event struct {
	at  time.Time
	seq int
	do  func(at time.Time)
}

// events is a heap, the earliest first.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	if e[i].at.Equal(e[k].at) {
		return e[i].seq < e[k].seq
	}
	return e[i].at.Before(e[k].at)
}
func (e events) Swap(i, k int) { e[i], e[k] = e[k], e[i] }

// Push and Pop are container/heap's.
func (e *events) Push(x any) { *e = append(*e, x.(event)) }

// Pop takes the last one.
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	old[len(old)-1] = event{}
	*e = old[:len(old)-1]
	return x
}

// when makes something happen at a moment; nothing can happen in the past.
func (c *Cluster) when(at time.Time, do func(time.Time)) {
	c.seq++
	heap.Push(&c.events, event{latest(at, c.done), c.seq, do})
}

// clock is the moment now. It may be called only with the lock held.
func (c *Cluster) clock() time.Time {
	if !c.opt.Start.IsZero() {
		return c.frozen
	}
	return time.Now().Add(c.shifted)
}

// enter takes the lock and lets happen what is due; it gives the moment. The
// caller unlocks.
func (c *Cluster) enter() time.Time {
	c.mu.Lock()
	whole := false
	defer func() {
		if !whole { // a panic on the way must not leave the lock taken
			c.mu.Unlock()
		}
	}()
	now := c.clock()
	c.run(now)
	whole = true
	return now
}

func (c *Cluster) run(now time.Time) {
	for len(c.events) > 0 && !c.events[0].at.After(now) {
		e := heap.Pop(&c.events).(event)
		c.done = e.at
		e.do(e.at)
	}
	c.done = latest(c.done, now)
}

// Now is the cluster's clock.
func (c *Cluster) Now() time.Time {
	defer c.mu.Unlock()
	return c.enter()
}

// Advance moves the clock. On the real clock it makes the cluster live in the
// future from then on.
func (c *Cluster) Advance(d time.Duration) {
	defer c.mu.Unlock()
	c.enter()
	c.frozen = c.frozen.Add(d)
	c.shifted += d
	c.run(c.clock())
}

// errNoJob is for a job that the caller named and that is not there.
var errNoJob = errors.New("flinksim: no such job")

func errBadGraph(left []VertexSpec) error {
	return fmt.Errorf("flinksim: vertex %q reads from a vertex that does not exist, or from itself", left[0].Name)
}

// find gives a job by id, or the newest by name, or the only one for "".
func (c *Cluster) find(name string) (*job, error) {
	if j := c.jobs[name]; j != nil {
		return j, nil
	}
	var found *job
	for _, j := range c.order {
		switch {
		case name == "" && found != nil && !j.state.ended() && !found.state.ended():
			return nil, fmt.Errorf("%w: %d jobs, say which", errNoJob, len(c.order))
		case name == "" && (found == nil || found.state.ended()), j.spec.Name == name:
			found = j
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %q", errNoJob, name)
	}
	return found, nil
}

// AddJob submits a job; it runs as soon as there are slots. An id that is
// taken, or a graph that is none, is an error of the test: it panics.
func (c *Cluster) AddJob(s JobSpec) string {
	id, err := c.Submit(s)
	if err != nil {
		panic(err)
	}
	return id
}

// Submit is AddJob for input that may be wrong.
func (c *Cluster) Submit(s JobSpec) (string, error) {
	now := c.enter()
	defer c.mu.Unlock()
	return c.submit(s, now, now)
}

func (c *Cluster) submit(s JobSpec, now, loadSince time.Time) (string, error) {
	if s.Name == "" {
		s.Name = "orders"
	}
	if s.ID == "" {
		s.ID = hexID("job", s.Name, strconv.Itoa(len(c.order)), now.String())
	}
	if c.jobs[s.ID] != nil {
		return "", fmt.Errorf("flinksim: job id %s is taken", s.ID)
	}
	if s.Load == nil {
		s.Load = Constant(1000)
	}
	j, err := c.newJob(s, now)
	if err != nil {
		return "", err
	}
	j.loadSince = loadSince
	c.jobs[s.ID] = j
	c.order = append(c.order, j)
	j.submitted(now)
	return s.ID, nil
}

// control is a call on one job.
func (c *Cluster) control(name string, do func(j *job, now time.Time) error) error {
	now := c.enter()
	defer c.mu.Unlock()
	j, err := c.find(name)
	if err != nil {
		return err
	}
	j.advance(now)
	if err := do(j, now); err != nil {
		return err
	}
	c.run(now)
	return nil
}

// CancelJob ends a job as CANCELED.
func (c *Cluster) CancelJob(name string) error {
	return c.control(name, func(j *job, now time.Time) error { return j.end(canceled, now) })
}

// FailJob ends a job as FAILED for good.
func (c *Cluster) FailJob(name, cause string) error {
	return c.control(name, func(j *job, now time.Time) error {
		j.exception(now, "java.lang.RuntimeException", cause)
		return j.end(failed, now)
	})
}

// RestartJob makes a task fail; the job recovers from its last checkpoint.
func (c *Cluster) RestartJob(name, cause string) error {
	return c.control(name, func(j *job, now time.Time) error {
		if j.state != running {
			return fmt.Errorf("flinksim: job %s is %s", j.spec.ID, j.state)
		}
		j.fail(now, "java.lang.RuntimeException", cause)
		return nil
	})
}

// Resubmit cancels a job and submits it anew: other id, same name and
// vertices, sizes as first submitted. Its backlog waits where it was, and its
// load goes on.
func (c *Cluster) Resubmit(name string) (string, error) {
	var id string
	err := c.control(name, func(j *job, now time.Time) error {
		if !j.state.ended() {
			if err := j.end(canceled, now); err != nil {
				return err
			}
		}
		s := j.spec
		s.ID = ""
		s.Load = j.load
		var err error
		if id, err = c.submit(s, now, j.loadSince); err != nil {
			return err
		}
		for i := range j.vertices {
			v, old := &c.jobs[id].vertices[i], &j.vertices[i]
			v.arrived, v.offset, v.saved = old.arrived, old.saved, old.saved
		}
		return nil
	})
	return id, err
}

// Recover is the death of a JobManager with HA: another one starts every job
// again from its last checkpoint, with the requirements that it had. What was
// known of its failures and rescales is gone, and its start is later.
func (c *Cluster) Recover() {
	now := c.enter()
	defer c.mu.Unlock()
	for _, j := range c.order {
		if j.state.ended() {
			continue
		}
		j.advance(now)
		j.failures, j.rescales, j.since = nil, nil, now
		if j.state == running {
			j.openRescale(now, "RECOVERABLE_FAILOVER")
			j.stop(now, false)
		}
	}
	c.run(now)
}

// Forget is the death of a JobManager without HA: every job is gone, with all
// that was known of it.
func (c *Cluster) Forget() {
	now := c.enter()
	defer c.mu.Unlock()
	for _, j := range c.order {
		if !j.state.ended() {
			_ = j.end(failed, now)
		}
	}
	c.run(now)
	c.jobs, c.order = map[string]*job{}, nil
}

// SetLoad changes what arrives, from now on: the load's time begins anew.
func (c *Cluster) SetLoad(name string, l Load) error {
	return c.control(name, func(j *job, now time.Time) error {
		j.load, j.loadSince = l, now
		return nil
	})
}

// SetCheckpoints says what becomes of the job's checkpoints from now on.
func (c *Cluster) SetCheckpoints(name string, m CheckpointMode) error {
	switch m {
	case CheckpointsOK, CheckpointsFail, CheckpointsExpire:
	default:
		return fmt.Errorf("flinksim: unknown checkpoint mode %q, known are ok, fail, expire", m)
	}
	return c.control(name, func(j *job, now time.Time) error {
		j.checkpoints.mode = m
		j.reconsider(now)
		return nil
	})
}
