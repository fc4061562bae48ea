package activities

import (
	"context"

	"flinkscaler/core"
)

// TidyInput says what a redeploy that is over may have left.
type TidyInput struct {
	Key core.JobKey `json:"key"`
	// Job is the one that lives, its ID empty where none is known to.
	Job core.JobRef `json:"job"`
	// Submitted are the ids of the change's jobs, the one that was stopped first.
	Submitted []string `json:"submitted"`
}

// Tidied says what was cleared up.
type Tidied struct {
	Note string `json:"note,omitempty"`
}

// Tidy clears up after a redeploy.
func (a *Activities) Tidy(ctx context.Context, in TidyInput) (Tidied, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	if _, err := a.platform(in.Key.Cluster); err != nil {
		return Tidied{}, toTemporal(err)
	}
	tidier := a.s.Clusters[in.Key.Cluster].Tidier
	if tidier == nil {
		return Tidied{}, nil
	}
	note, err := tidier.Tidy(ctx, in.Job, in.Submitted)
	return Tidied{Note: note}, toTemporal(err)
}
