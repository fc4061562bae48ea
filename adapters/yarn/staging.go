package yarn

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"flinkscaler/core"
)

// Storage is the storage of jars and of what submissions stage.
type Storage interface {
	// Exists is core.ErrNotFound for what is not there, and core.ErrRefused for a place
	// that it cannot be asked about.
	Exists(ctx context.Context, place string) error
	// Unstage removes a folder with all that is in it. One that is not there is none
	// to it.
	Unstage(ctx context.Context, folder string) error
}

// stagingFor is the folder of one submission.
func (r Redeploy) stagingFor(jobID string) string { return r.staging() + "/" + jobID }

// Tidy ends what was submitted for a job before and runs beside it, and removes what
// submissions that are over have staged.
func (c *Cluster) Tidy(ctx context.Context, job core.JobRef, submitted []string) (string, error) {
	m, err := memoOf(job.Extras)
	if err != nil {
		return "", &core.OpError{Op: "clear up", Subject: job.ID, Err: err}
	}
	if m.session() {
		return "", nil
	}
	var said []string
	if job.ID != "" && m.application != "" {
		ended, err := c.endOthers(ctx, m, submitted)
		if err != nil {
			return "", err
		}
		if len(ended) > 0 {
			said = append(said, "ended what was left of earlier submissions: "+strings.Join(ended, ", "))
		}
	}
	left, err := c.unstage(ctx, job.ID, submitted)
	if err != nil {
		return strings.Join(said, "; "), err
	}
	if left != "" {
		said = append(said, left)
	}
	return strings.Join(said, "; "), nil
}

// endOthers kills the live applications that were submitted by us for the target, but
// for the one in which the job lives.
func (c *Cluster) endOthers(ctx context.Context, m memo, submitted []string) ([]string, error) {
	live, err := c.candidates(ctx, m.target, 0)
	if err != nil {
		return nil, err
	}
	apps := described(live.apps, m.target)
	for _, id := range submitted {
		more, err := c.submitted(ctx, id)
		if err != nil {
			return nil, err
		}
		apps = append(apps, more...)
	}
	var ended []string
	seen := map[string]bool{m.application: true}
	for _, a := range apps {
		if seen[a.ID] || a.State.ended() || a.jobOf() == "" {
			continue
		}
		seen[a.ID] = true
		if err := c.kill(ctx, a.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return ended, err
		}
		ended = append(ended, a.ID)
	}
	return ended, nil
}

// unstage removes what the submissions have staged whose applications have ended, or
// never were. That of the job that lives stays: its containers read it.
func (c *Cluster) unstage(ctx context.Context, alive string, submitted []string) (string, error) {
	if c.deploys.storage == nil || !isRemote(c.cfg.Redeploy.staging()) {
		return "", nil
	}
	for _, id := range submitted {
		if id == alive || !isJobID(id) {
			continue
		}
		apps, err := c.submitted(ctx, id)
		if err != nil {
			return "", err
		}
		for _, a := range apps {
			if !a.State.ended() {
				return fmt.Sprintf("what %s has staged is left, it is %s", a.ID, a.State), nil
			}
		}
		if len(marksOf(id)) > 0 {
			continue // a command that still runs
		}
		if err := c.deploys.storage.Unstage(ctx, c.cfg.Redeploy.stagingFor(id)); err != nil && !errors.Is(err, core.ErrNotFound) {
			return "", &core.OpError{Op: "clear up", Subject: path.Base(c.cfg.Redeploy.stagingFor(id)), Err: err}
		}
	}
	return "", nil
}

// isJobID is true for 32 hex digits: nothing else ever becomes a part of a path that
// is removed.
func isJobID(id string) bool {
	const digits = 32
	return len(id) == digits && strings.Trim(id, "0123456789abcdef") == ""
}
