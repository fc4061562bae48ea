package activities

import (
	"context"
	"fmt"
	"path"
	"strings"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// NameTidySavepoints deletes savepoints after a redeploy, part of the compatibility
// promise.
const NameTidySavepoints = "TidySavepoints"

// PruneInput is a redeploy that ended well.
type PruneInput struct {
	Key core.JobKey `json:"key"`
	// Job is the one that runs now.
	Job core.JobRef `json:"job"`
	// Directory is the one of this stop; those of earlier ones are beside it.
	Directory string `json:"directory"`
	// Keep are paths that must stay whatever happens: the way back of this attempt.
	Keep []string `json:"keep,omitempty"`
}

// Pruned says what was deleted.
type Pruned struct {
	Deleted []string `json:"deleted,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// TidySavepoints deletes the savepoints of earlier stops of a job beyond the number
// that is kept. Only what lies in the folder of this job's stops is looked at, and
// nothing that the job was restored from, could restart from, or that this attempt
// recorded. Any doubt leaves all as it is.
func (a *Activities) TidySavepoints(ctx context.Context, in PruneInput) (Pruned, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	c := a.s.Clusters[in.Key.Cluster]
	folder, ok := folderOf(in)
	if c.Pruner == nil || c.Savepoints == nil || c.KeepSavepoints < 1 || !ok {
		return Pruned{}, nil
	}
	health, err := c.Platform.Inspect(ctx, in.Job)
	if err != nil {
		return Pruned{}, toTemporal(err)
	}
	all, err := stops(ctx, c, folder)
	if err != nil {
		return Pruned{}, toTemporal(err)
	}
	inUse := append([]string{in.Directory, health.RestoredPath, health.CompletedPath}, in.Keep...)
	var out Pruned
	for _, dir := range redeploy.Surplus(all, c.KeepSavepoints, inUse) {
		if err := c.Pruner.Remove(ctx, folder, dir); err != nil {
			if !isFinal(err) {
				return Pruned{}, toTemporal(err)
			}
			out.Note = also(out.Note, err.Error())
			continue
		}
		activity.GetLogger(ctx).Info("deleted an old savepoint", "job", in.Key.String(), "directory", dir)
		out.Deleted = append(out.Deleted, dir)
	}
	if n := len(out.Deleted); n > 0 {
		out.Note = also(fmt.Sprintf("deleted %d older savepoints of earlier redeploys, the newest %d are kept: %s", n, c.KeepSavepoints, names(out.Deleted)), out.Note)
	}
	return out, nil
}

// folderOf is the folder of all stops of a job. A stop that an earlier version
// planned has its directory beside those of other jobs: it has none.
func folderOf(in PruneInput) (string, bool) {
	folder, _, ok := cutLast(in.Directory)
	base, _, above := cutLast(folder)
	return folder, ok && above && folder == redeploy.Folder(base, in.Key)
}

// cutLast cuts the last element off a URL or a path.
func cutLast(p string) (dir, name string, ok bool) {
	i := strings.LastIndexByte(p, '/')
	if i <= 0 || i == len(p)-1 {
		return "", "", false
	}
	return p[:i], p[i+1:], true
}

// stops reads what the stops of a job have left.
func stops(ctx context.Context, c Cluster, folder string) ([]redeploy.Kept, error) {
	dirs, err := c.Pruner.Stops(ctx, folder)
	if err != nil {
		return nil, err
	}
	out := make([]redeploy.Kept, 0, len(dirs))
	for _, d := range dirs {
		found, err := c.Savepoints.List(ctx, d.Path)
		if err != nil && !isGone(err) {
			return nil, err
		}
		out = append(out, redeploy.Kept{StopDirectory: d, Complete: len(found) > 0})
	}
	return out, nil
}

// names tells directories by their last element.
func names(dirs []string) string {
	const most = 3
	short := make([]string, 0, len(dirs))
	for _, d := range dirs {
		short = append(short, path.Base(d))
	}
	if n := len(short) - most; n > 0 {
		short = append(short[:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(short, ", ")
}
