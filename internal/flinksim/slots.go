package flinksim

import (
	"fmt"
	"slices"
	"time"
)

// taskManager is a process with slots.
type taskManager struct {
	id    string
	host  string
	port  int
	slots int
	used  map[*job]int
	since time.Time
	hung  time.Time // when it stopped to answer, zero for never
}

func (t *taskManager) taken() int {
	n := 0
	for _, k := range t.used {
		n += k
	}
	return n
}

func (t *taskManager) free() int { return t.slots - t.taken() }

// slots counts the cluster's slots and those that nobody holds.
func (c *Cluster) slots() (total, free int) {
	for _, t := range c.tms {
		total += t.slots
		free += t.free()
	}
	return total, free
}

const loopback = "127.0.0.1"

func (c *Cluster) addTaskManager(slots int) { c.addTaskManagerAt(loopback, slots) }

func (c *Cluster) addTaskManagerAt(host string, slots int) {
	c.tmSeq++
	port := 40000 + c.tmSeq%20000
	c.tms = append(c.tms, &taskManager{
		id:    fmt.Sprintf("%s:%d-%s", host, port, hexID("tm", fmt.Sprint(c.tmSeq))[26:]),
		host:  host,
		port:  port,
		slots: slots,
		used:  map[*job]int{},
		since: c.clock(),
	})
}

// resizeSlots adds or takes away slots, free ones first. It gives the jobs
// that lost one they held.
func (c *Cluster) resizeSlots(want int) []*job {
	total, _ := c.slots()
	for total < want {
		n := min(c.opt.SlotsPerTaskManager, want-total)
		c.addTaskManager(n)
		total += n
	}
	var hit []*job
	for total > want {
		t := c.emptiest()
		if n := min(t.free(), total-want); n > 0 {
			t.slots -= n
			total -= n
		} else {
			j := anyJob(t.used)
			t.used[j]--
			if t.used[j] == 0 {
				delete(t.used, j)
			}
			j.held--
			t.slots--
			total--
			hit = append(hit, j)
		}
		c.dropEmpty()
	}
	return hit
}

// emptiest is the TaskManager with most free slots, the newest of them.
func (c *Cluster) emptiest() *taskManager {
	best := c.tms[0]
	for _, t := range c.tms {
		if t.free() >= best.free() {
			best = t
		}
	}
	return best
}

// anyJob picks the job that was submitted last, so that runs are alike.
func anyJob(used map[*job]int) *job {
	var out *job
	for j := range used {
		if out == nil || j.seq > out.seq {
			out = j
		}
	}
	return out
}

func (c *Cluster) dropEmpty() {
	kept := c.tms[:0]
	for _, t := range c.tms {
		if t.slots > 0 {
			kept = append(kept, t)
		}
	}
	c.tms = kept
}

// hold makes a job hold n slots, whatever it held before.
func (c *Cluster) hold(j *job, n int) {
	c.release(j)
	for _, t := range c.tms {
		if n == 0 {
			return
		}
		if k := min(n, t.free()); k > 0 && t.hung.IsZero() {
			t.used[j] += k
			j.held += k
			n -= k
		}
	}
}

func (c *Cluster) release(j *job) {
	if j.held == 0 {
		return
	}
	for _, t := range c.tms {
		delete(t.used, j)
	}
	j.held = 0
}

// offered is how many slots a job may count on: those it holds and the free
// ones, but none of a TaskManager that hangs.
func (c *Cluster) offered(j *job) int {
	n := 0
	for _, t := range c.tms {
		if t.hung.IsZero() {
			n += t.free() + t.used[j]
		}
	}
	return n
}

// slotsChanged lets every job look whether it can now run, or run better.
func (c *Cluster) slotsChanged(now time.Time) {
	for _, j := range c.order {
		if j.hungry() {
			j.reconsider(now)
		}
	}
}

// SetSlots changes the number of slots: more TaskManagers, or fewer, or
// smaller ones. Jobs that lose a slot they hold restart.
func (c *Cluster) SetSlots(n int) {
	now := c.enter()
	defer c.mu.Unlock()
	hit := c.resizeSlots(max(0, n))
	c.restartAll(hit, now, "The slot was freed: its TaskManager is shut down.")
	c.slotsChanged(now)
	c.run(now)
}

// SetTaskManagers changes the number of TaskManagers, of SlotsPerTaskManager
// slots each. The newest ones go first, with the tasks that run on them: jobs
// that lose a slot they hold restart.
func (c *Cluster) SetTaskManagers(n int) {
	now := c.enter()
	defer c.mu.Unlock()
	for len(c.tms) > max(0, n) {
		t := c.tms[len(c.tms)-1]
		c.lose(t, now, "TaskManager with id "+t.id+" is shut down.")
	}
	for len(c.tms) < n {
		c.addTaskManager(c.opt.SlotsPerTaskManager)
	}
	c.slotsChanged(now)
	c.run(now)
}

// SetTaskManagersAt has one TaskManager of SlotsPerTaskManager slots at each of these
// hosts, and none elsewhere. Those there stay as they are; jobs that lose a slot they
// hold restart.
func (c *Cluster) SetTaskManagersAt(hosts ...string) {
	now := c.enter()
	defer c.mu.Unlock()
	there := map[string]bool{}
	for _, t := range slices.Clone(c.tms) {
		if there[t.host] = slices.Contains(hosts, t.host); !there[t.host] {
			c.lose(t, now, "TaskManager with id "+t.id+" is shut down.")
		}
	}
	for _, h := range hosts {
		if !there[h] {
			there[h] = true
			c.addTaskManagerAt(h, c.opt.SlotsPerTaskManager)
		}
	}
	c.slotsChanged(now)
	c.run(now)
}

// restartAll makes jobs recover from the loss of slots.
func (c *Cluster) restartAll(jobs []*job, now time.Time, why string) {
	seen := map[*job]bool{}
	for _, j := range jobs {
		if !seen[j] && j.state == running {
			seen[j] = true
			j.advance(now)
			j.fail(now, "org.apache.flink.runtime.jobmaster.JobMasterException", why)
		}
	}
}

// busiest is the TaskManager on which most slots are taken, the last of them.
func (c *Cluster) busiest() *taskManager {
	var best *taskManager
	for _, t := range c.tms {
		if best == nil || t.taken() >= best.taken() {
			best = t
		}
	}
	return best
}

// HangTaskManager makes the TaskManager with most taken slots stop to answer,
// or go on. While it hangs: its jobs do no work, its heartbeats stop, and the
// JobManager's metric fetcher waits for it, so that no metric of any job and
// of any TaskManager moves. Nothing in the API says so. As in Flink each round
// begins with the JobManager's own metrics, its clock among them: they move
// once at the begin, then stand still too for WebTimeout, and so on. After
// HeartbeatTimeout it is given up as lost.
func (c *Cluster) HangTaskManager(on bool) {
	now := c.enter()
	defer c.mu.Unlock()
	if !on {
		c.wake(now)
		return
	}
	t := c.busiest()
	if t == nil || !t.hung.IsZero() {
		return
	}
	t.hung = now
	for j := range t.used {
		j.advance(now)
		j.hung = true
	}
	c.when(now.Add(c.opt.HeartbeatTimeout), func(at time.Time) {
		if t.hung.Equal(now) {
			c.lose(t, at, "The heartbeat of TaskManager with id "+t.id+" timed out.")
		}
	})
}

// wake lets every hung TaskManager go on.
func (c *Cluster) wake(now time.Time) {
	for _, t := range c.tms {
		if t.hung.IsZero() {
			continue
		}
		t.hung = time.Time{}
		for j := range t.used {
			j.advance(now)
			j.hung = false
			j.nextMark = now.Add(j.every)
			j.checkpoints.stop(j)
			j.checkpoints.start(now)
		}
	}
	c.unstick(now)
	c.slotsChanged(now)
	c.run(now)
}

// LoseTaskManager kills the TaskManager with most taken slots. Its jobs
// restart with what is left; for LossFreeze no metric is fetched, so that the
// new attempt shows zeros that are marked as not complete.
func (c *Cluster) LoseTaskManager() {
	now := c.enter()
	defer c.mu.Unlock()
	t := c.busiest()
	if t == nil {
		return
	}
	c.fetch.blockedUntil = now.Add(c.opt.LossFreeze)
	c.lose(t, now, "Connection unexpectedly closed by remote task manager '"+t.id+"'. This might indicate that the remote task manager was lost.")
	c.run(now)
}

func (c *Cluster) lose(t *taskManager, now time.Time, why string) {
	kept := c.tms[:0]
	for _, x := range c.tms {
		if x != t {
			kept = append(kept, x)
		}
	}
	c.tms = kept
	var hit []*job
	for _, j := range c.order {
		if n := t.used[j]; n > 0 {
			j.advance(now)
			j.hung = false
			j.held -= n
			hit = append(hit, j)
		}
	}
	c.restartAll(hit, now, why)
	c.slotsChanged(now)
}

// RestoreTaskManager adds one TaskManager.
func (c *Cluster) RestoreTaskManager() {
	now := c.enter()
	defer c.mu.Unlock()
	c.addTaskManager(c.opt.SlotsPerTaskManager)
	c.slotsChanged(now)
	c.run(now)
}
