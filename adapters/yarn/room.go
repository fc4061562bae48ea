package yarn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"flinkscaler/core"
)

// Fits says whether the TaskManagers that the requirements need can be had: what
// the application's queue, and the queues above it, may still have, what its user
// may, how large a container may be, and what is free on single nodes. For a change
// that starts the job anew, as an application of its own, YARN must let a new
// ApplicationMaster in besides; what the application has now is taken to be given back
// first. A session stays, with what it has.
//
// It is advice: others take room too. What cannot be read, or what this version of
// YARN does not tell, is said in the note and is no bound.
func (c *Cluster) Fits(ctx context.Context, job core.JobRef, r core.Requirements) (core.Room, error) {
	p, err := c.open(ctx, job)
	if err != nil {
		return core.Room{}, err
	}
	u, err := c.usage(ctx, p.app.ID)
	if errors.Is(err, core.ErrNotFound) {
		return unknown(p.app.ID), nil
	}
	if err != nil {
		return core.Room{}, err
	}
	n, err := p.needs(ctx, job, u, r)
	if err != nil {
		return core.Room{Note: "how many TaskManagers it needs is not known: " + err.Error()}, nil
	}
	restarts := job.Means != nil && job.Means.Restarts
	anew := restarts && p.target.JobName == ""
	if n.more == 0 && !anew {
		return core.Room{}, nil
	}
	j := judgement{need: n.more, fits: n.more, size: n.size, partition: u.partition, anew: anew, user: p.app.User, added: c.cfg.AutoscaledNodes && !restarts}
	switch {
	case n.more > 0 && n.size.memory <= 0:
		return core.Room{Note: fmt.Sprintf("%d more TaskManagers are needed; whether there is room is not known: neither YARN nor Flink tells how large one is", n.more)}, nil
	case u.mixed:
		return core.Room{Note: "whether there is room is not known: the containers are in several partitions of the nodes"}, nil
	}
	c.judge(ctx, &j, p.app.Queue)
	return j.room(), nil
}

// judge holds the need against all that YARN tells.
func (c *Cluster) judge(ctx context.Context, j *judgement, queue string) {
	s, err := c.scheduler(ctx)
	if err != nil {
		j.cannotTell("the queues could not be read: %v", err)
	} else {
		j.countsCores = s.kind == fairScheduler || j.size.cores > 1 // else YARN may count memory alone
		j.queues(s, queue)
	}
	if j.need == 0 {
		return
	}
	nodes, err := c.nodes(ctx)
	if err == nil && len(nodes) > 0 {
		j.nodes(nodes)
		return
	}
	if err == nil {
		err = fmt.Errorf("none is listed")
	}
	j.cannotTell("the nodes could not be read: %v", err)
	if free, err := c.available(ctx); err == nil && j.partition == "" {
		j.atMost(j.within("the cluster", free), "%s are free in the cluster", free)
	}
}

// judgement is how many containers of a size can be had, and why not more.
type judgement struct {
	size resource
	// partition of the nodes, and user, of the application.
	partition, user string
	// anew is true where it needs a new ApplicationMaster.
	anew bool
	// added is true where nodes are added while containers wait. A job that is to be
	// stopped does not count on them.
	added bool
	// countsCores is true where YARN is known to share out virtual cores, and not
	// memory alone.
	countsCores bool
	// need is how many are missing, fits how many can be had.
	need, fits     int
	short, unknown []string
	// final is true where no free room changes anything; grows where YARN takes room
	// back from others for this queue.
	final, grows bool
}

// within says how many fit into what is free somewhere. Where only virtual cores
// forbid it, and it is not known that they count, that is merely told.
func (j *judgement) within(where string, free resource) int {
	byMemory, byCores := free.holds(j.size)
	switch {
	case byCores >= byMemory, j.countsCores:
		return min(byMemory, byCores)
	case byCores < j.need && byMemory >= j.need:
		j.cannotTell("by virtual cores %s has room for %d, but whether YARN counts those is not known", where, byCores)
	}
	return byMemory
}

// atMost takes in a bound, with its words.
func (j *judgement) atMost(n int, format string, args ...any) {
	if n < j.need {
		j.fits = min(j.fits, max(0, n))
		j.short = append(j.short, fmt.Sprintf(format, args...))
	}
}

// limit takes in a bound that stands however much is free: a share of the nodes that
// there are.
func (j *judgement) limit(n int, format string, args ...any) {
	j.final = j.final || n < j.need && !j.added
	j.atMost(n, format, args...)
}

// refused: no further container, whatever becomes free.
func (j *judgement) refused(format string, args ...any) {
	j.final, j.fits = true, 0
	j.short = append(j.short, fmt.Sprintf(format, args...))
}

func (j *judgement) cannotTell(format string, args ...any) {
	j.unknown = append(j.unknown, fmt.Sprintf(format, args...))
}

func (j *judgement) room() core.Room {
	r := core.Room{Short: len(j.short) > 0, Note: strings.Join(slices.Concat(j.short, j.unknown), "; ")}
	if !r.Short {
		return r
	}
	r.Fits, r.MayGrow = j.fits, (j.grows || j.added) && !j.final
	if j.need == 0 {
		r.Note = "YARN would not let it start again: " + r.Note
		return r
	}
	r.Note = fmt.Sprintf("%d more TaskManagers of %s are needed and %d fit: %s", j.need, j.size, j.fits, r.Note)
	if r.MayGrow && j.added {
		r.Note += "; nodes are added where containers wait (autoscaledNodes)"
	}
	return r
}

// String writes it for people.
func (r resource) String() string {
	cores := "cores"
	if r.cores == 1 {
		cores = "core"
	}
	return fmt.Sprintf("%d MB and %d %s", r.memory, r.cores, cores)
}
