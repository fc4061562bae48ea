package activities

import (
	"context"
	"fmt"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// What others than Flink have to say about a job's size, on platforms where
// there are such others.

// rivals tells who else changes the job's size, empty for nobody, and of whom to
// beware all the same. A look that failed is a doubt, and a doubt keeps our hands
// off.
func (c Cluster) rivals(ctx context.Context, job core.JobRef) (rival, beware string) {
	if c.Rivals == nil {
		return "", ""
	}
	found, err := c.Rivals.Rivals(ctx, job)
	if err != nil {
		return spec.Cut("it is not known whether something else changes the job's size: "+err.Error(), maxNote), ""
	}
	var against, beside []string
	for _, r := range found {
		text := fmt.Sprintf("%s %s: %s", r.Kind, r.Name, r.What)
		if r.Warning {
			beside = append(beside, text)
		} else {
			against = append(against, text)
		}
	}
	return spec.Cut(strings.Join(against, "; "), maxNote), spec.Cut(strings.Join(beside, "; "), maxNote)
}

// mayChange says whether the job's set-up and everybody else allow a change, by
// what is not Flink's to say.
func (c Cluster) mayChange(ctx context.Context, job core.JobRef, in RescaleInput) (core.Reason, string) {
	means := job.Means
	switch {
	case means == nil:
	case means.Refused != "":
		return core.ReasonNoSafeWay, means.Refused
	case means.Restarts && !in.Redeploy:
		return core.ReasonNotAdaptive, "a change would stop the whole job with a savepoint and start it again (" + means.Method + "); job.autoscaler.redeploy.enabled: true allows that"
	}
	if rival, _ := c.rivals(ctx, job); rival != "" {
		return core.ReasonRival, rival
	}
	return "", ""
}

// growWait is how long nodes may take to come where pods do not fit yet.
const growWait = 10 * time.Minute

// roomFor says whether the TaskManagers of a size can be had, and how much longer
// they may take. A change that stops the whole job needs room for all of them: what
// is given up may not come back. One in place may begin with less, but not with
// nothing.
func (c Cluster) roomFor(ctx context.Context, job core.JobRef, wish core.Requirements, in RescaleInput) (r core.Reason, note string, longer time.Duration) {
	if c.Room == nil {
		return "", "", 0
	}
	room, err := c.Room.Fits(ctx, job, wish)
	if err != nil {
		return "", "whether there is room could not be seen: " + err.Error(), 0
	}
	whole := job.Means != nil && job.Means.Restarts
	switch {
	case !room.Short: // for sure or as far as it is known: whether pods come is seen afterwards
		return "", "", 0
	case whole && !room.MayGrow, room.Fits == 0 && !room.MayGrow && !ordered(in.Cause):
		return core.ReasonNoRoom, room.Note, 0
	case room.MayGrow:
		return "", room.Note, growWait
	}
	return "", room.Note, 0
}
