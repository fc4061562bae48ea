package yarn

import (
	"context"
	"fmt"
	"strings"

	"flinkscaler/core"
)

// Carried says why TaskManagers that were asked for do not come. Requirements go to
// Flink directly, so nothing is ever outstanding before it: Flink asks YARN for
// containers, and YARN gives them or lets the requests wait.
//
// A container counts as given seconds before its TaskManager registers at Flink, and
// Flink may hold more of them for a while than it needs. Requests that wait are
// therefore no fault by themselves; they are the reason when a size was not reached.
// What YARN does not tell is no error: Flink itself shows what came of a change.
func (c *Cluster) Carried(ctx context.Context, job core.JobRef, r core.Requirements) (core.Carried, error) {
	out := core.Carried{Done: true}
	p, err := c.open(ctx, job)
	if err != nil {
		return out, nil
	}
	u, err := c.usage(ctx, p.app.ID)
	if err != nil {
		out.Note = "what YARN has given could not be read: " + err.Error()
		return out, nil
	}
	managers, err := p.flink.TaskManagers(ctx)
	if err != nil {
		return out, nil
	}
	switch {
	case u.waits():
		out.Reason = core.ReasonNoRoom
		out.Note = fmt.Sprintf("YARN holds %s for it and lets requests wait%s", containers(u.managers), u.waiting())
		if room, err := c.Fits(ctx, job, r); err == nil && room.Short {
			_, why, _ := strings.Cut(room.Note, ": ")
			why, _, _ = strings.Cut(why, "; ")
			out.Note += ": " + why
		}
	case u.managers > len(managers):
		out.Note = fmt.Sprintf("YARN has given %s, of which %d have registered at Flink", containers(u.managers), len(managers))
	}
	return out, nil
}

// Holds counts the TaskManagers of the job's application.
func (c *Cluster) Holds(ctx context.Context, job core.JobRef) (core.Held, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return core.Held{}, err
	}
	u, err := c.usage(ctx, p.app.ID)
	if err != nil {
		return core.Held{}, err
	}
	out := core.Held{What: "containers", Held: max(0, u.managers), Waits: u.waits()}
	if u.managers >= 0 {
		out.Needed = p.needed(ctx, job)
	}
	return out, nil
}

// mostJobs bounds the jobs of a session that are read to know what it needs.
const mostJobs = 20

// needed counts the TaskManagers that all jobs of the place need at the sizes at which
// they run; 0 where that cannot be known.
func (p *place) needed(ctx context.Context, job core.JobRef) int {
	jobs, err := p.flink.Jobs(ctx)
	if err != nil || len(jobs) > mostJobs {
		return 0
	}
	slots := 0
	for _, j := range jobs {
		if j.State.Ended() {
			continue
		}
		one := job
		one.ID, one.Name = j.ID, j.Name
		status, err := p.flink.Status(ctx, one)
		if err != nil || !status.AllTasksRunning() {
			return 0
		}
		slots += status.Topology.Slots(status.Topology.Sizes())
	}
	managers, err := p.flink.TaskManagers(ctx)
	if err != nil {
		return 0
	}
	options, err := p.flink.ClusterOptions(ctx)
	if err != nil {
		return 0
	}
	per, err := slotsPer(managers, options)
	if err != nil {
		return 0
	}
	return ceil(slots, per)
}

func containers(n int) string {
	switch {
	case n < 0:
		return "an unknown number of containers"
	case n == 1:
		return "1 container"
	}
	return fmt.Sprintf("%d containers", n)
}

// waiting says what waits, as far as YARN tells it.
func (u usage) waiting() string {
	switch {
	case u.asked > 0 && u.pending.memory > 0:
		return fmt.Sprintf(" for %d more (%s)", u.asked, u.pending)
	case u.asked > 0:
		return fmt.Sprintf(" for %d more", u.asked)
	}
	return fmt.Sprintf(" for %s", u.pending)
}
