package flinksim

import "time"

// CheckpointMode says what becomes of checkpoints.
type CheckpointMode string

// The modes.
const (
	CheckpointsOK CheckpointMode = "ok"
	// CheckpointsFail: the storage refuses them.
	CheckpointsFail CheckpointMode = "fail"
	// CheckpointsExpire: they never end and run into their time-out.
	CheckpointsExpire CheckpointMode = "expire"
)

// historySize is how many checkpoints Flink remembers.
const historySize = 10

// checkpoint is one of them.
type checkpoint struct {
	id       int64
	trigger  time.Time
	end      time.Time
	offsets  []float64
	done     bool
	failure  string
	subtasks int
	// savepoint is true for one that was asked for; path is where it is.
	savepoint bool
	path      string
}

// checkpointing takes them at fixed intervals while the tasks run.
type checkpointing struct {
	interval, took, timeout time.Duration
	mode                    CheckpointMode

	due     time.Time
	pending *checkpoint
	history []*checkpoint // newest last
	// The newest of each kind, and when a job was last restored from one.
	completed, failed, restored, savepoint *checkpoint
	restoredAt                             time.Time
	count                                  struct{ id, completed, failed, restored int64 }
}

func (c *checkpointing) on() bool { return c.interval > 0 }

// start sets the first one after tasks began to run.
func (c *checkpointing) start(at time.Time) {
	c.due = at.Add(c.interval)
}

// next is when something happens next, the zero moment for never.
func (c *checkpointing) next() time.Time {
	switch {
	case !c.on():
		return time.Time{}
	case c.pending != nil:
		return c.pending.end
	}
	return c.due
}

// completesAfter is when the first checkpoint completes that does so at t or
// later, the zero moment for never.
func (c *checkpointing) completesAfter(t time.Time) time.Time {
	if !c.on() || c.mode != CheckpointsOK {
		return time.Time{}
	}
	if c.pending != nil && !c.pending.end.Before(t) {
		return c.pending.end
	}
	first := c.due.Add(c.took)
	if !first.Before(t) {
		return first
	}
	k := (t.Sub(first) + c.interval - 1) / c.interval
	return first.Add(k * c.interval)
}

// step does what is due at the job's moment.
func (c *checkpointing) step(j *job) {
	if !c.on() {
		return
	}
	if p := c.pending; p != nil && !j.at.Before(p.end) {
		c.finish(j, "")
	}
	if c.pending == nil && !j.at.Before(c.due) {
		c.begin(j)
	}
}

func (c *checkpointing) begin(j *job) {
	c.count.id++
	p := &checkpoint{id: c.count.id, trigger: j.at, end: j.at.Add(c.took), subtasks: j.tasks()}
	if c.mode == CheckpointsExpire {
		p.end = j.at.Add(c.timeout)
	}
	for i := range j.vertices {
		p.offsets = append(p.offsets, j.vertices[i].offset)
	}
	c.pending = p
	c.due = j.at.Add(c.interval)
	c.history = append(c.history, p)
	if len(c.history) > historySize {
		c.history = c.history[1:]
	}
}

// finish ends the pending one: well, unless there is a reason why not.
func (c *checkpointing) finish(j *job, reason string) {
	p := c.pending
	c.pending = nil
	p.end = j.at
	switch {
	case reason != "":
		p.failure = reason
	case c.mode == CheckpointsFail:
		p.failure = "Asynchronous task checkpoint failed."
	case c.mode == CheckpointsExpire:
		p.failure = "Checkpoint expired before completing."
	}
	if p.failure != "" {
		c.failed = p
		c.count.failed++
		return
	}
	p.done = true
	c.completed = p
	c.count.completed++
	for i := range j.vertices {
		j.vertices[i].saved = p.offsets[i]
	}
}

// stop gives up the pending one: the tasks end.
func (c *checkpointing) stop(j *job) {
	if c.pending != nil {
		c.finish(j, "Checkpoint Coordinator is suspending.")
	}
}

// restore rewinds the sources to the last completed checkpoint.
func (c *checkpointing) restore(j *job) {
	if !c.on() {
		return // nothing says how far it was: go on from here
	}
	for i := range j.vertices {
		v := &j.vertices[i]
		v.replayed += v.offset - v.saved
		v.offset = v.saved
	}
	if c.completed != nil {
		c.restored, c.restoredAt = c.completed, j.at
		c.count.restored++
	}
}
