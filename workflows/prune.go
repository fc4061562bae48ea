package workflows

import (
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// changePrune guards the activity that deletes old savepoints.
const changePrune = "tidy-savepoints"

// prune deletes savepoints of earlier redeploys after one that ended well: the job
// runs, restored from what is kept. That it could not be done is told, and changes
// nothing about the outcome.
func (r *rescale) prune(ctx workflow.Context) {
	d := r.out.Redeploy
	if d == nil || d.To == "" || d.Savepoint == "" || !endedWell(r.out.Kind) ||
		workflow.GetVersion(ctx, changePrune, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	r.show(ctx, "deleting savepoints that are not needed any more")
	got, err := callTidySavepoints(ctx, activities.PruneInput{
		Key: r.in.Key, Job: r.alive, Directory: d.Directory, Keep: []string{d.Savepoint},
	})
	note := got.Note
	if err != nil {
		note = "old savepoints could not be deleted: " + rootCause(err)
	}
	if note != "" {
		r.end(r.out.Kind, r.out.Reason, join(r.out.Note, note))
	}
}

func endedWell(k core.OutcomeKind) bool {
	return k == core.Applied || k == core.Partial || k == core.Undone
}
