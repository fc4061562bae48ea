package activities

import (
	"context"

	"flinkscaler/core"
)

// Trim gives TaskManagers back that no job needs, where Flink does not do so by
// itself. It is tried again while tasks still run on them: Flink takes a while to
// move them.
func (a *Activities) Trim(ctx context.Context, in TrimInput) (Trimmed, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	trimmer := a.s.Clusters[in.Key.Cluster].Trimmer
	if trimmer == nil {
		return Trimmed{}, toTemporal(&core.OpError{Op: "give TaskManagers back", Subject: in.Key.String(), Err: core.ErrRefused, Hint: "this worker does not know how"})
	}
	note, err := trimmer.Trim(ctx, in.Job, in.DecisionID)
	return Trimmed{Note: note}, toTemporal(err)
}
