package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// shown is what the search attributes say.
type shown struct {
	state       Health
	parallelism int
	rescaled    time.Time
}

// upsert sets the search attributes that changed. An upsert costs as much as a
// whole cycle, and fails the workflow task over and over where they are not
// registered: so only changes, once per cycle, and only when the worker says
// so. It is a command: the state comes from the recorded decision, so that the
// rule behind that word can change without breaking a replay.
func (l *loop) upsert(ctx workflow.Context) {
	if !l.s.SearchAttributes || l.s.Health == "" {
		return
	}
	now := shown{state: l.s.Health, parallelism: l.s.parallelism()}
	if n := len(l.s.Rescales); n > 0 {
		now.rescaled = l.s.Rescales[n-1].EndedAt
	}
	if now == l.shown {
		return
	}
	updates := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyKeyword(AttrCluster).ValueSet(l.s.Spec.Key.Cluster),
		temporal.NewSearchAttributeKeyKeyword(AttrState).ValueSet(string(now.state)),
		temporal.NewSearchAttributeKeyInt64(AttrParallelism).ValueSet(int64(now.parallelism)),
	}
	if !now.rescaled.IsZero() {
		updates = append(updates, temporal.NewSearchAttributeKeyTime(AttrLastRescale).ValueSet(now.rescaled))
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Warn("search attributes could not be set", "job", l.s.Spec.Key.String(), "error", err)
		return
	}
	l.shown = now
}
