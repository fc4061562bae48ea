package activities

import (
	"context"
	"fmt"
	"time"

	"flinkscaler/core"
)

// What a wait for a new size is made of besides Flink's own waits. A restart of
// which nothing was measured is taken for a minute; each counts twice, since a
// larger job restores longer. margin covers what Flink caches of what it shows.
const (
	unknownRestart = time.Minute
	restartsFor    = 2
	margin         = 30 * time.Second
	longestVerify  = 24 * time.Hour
)

// verifyFor says how long the new size may take: what the policy says, or what
// Flink may take by its own options.
func (a *Activities) verifyFor(ctx context.Context, platform Platform, job core.JobRef, given time.Duration, restarts []core.Restart) (time.Duration, string, error) {
	w, err := platform.Waits(ctx, job)
	if err != nil {
		return 0, "", err
	}
	d, why := waitFor(w, restarts)
	if given <= 0 {
		return d, why, nil
	}
	if given < w.Total() {
		return given, fmt.Sprintf("as the policy says, although Flink by its options may need %s", w.Total().Round(time.Second)), nil
	}
	return given, "as the policy says", nil
}

func waitFor(w core.Waits, restarts []core.Restart) (time.Duration, string) {
	restart, measured := time.Duration(0), "not measured yet"
	for _, r := range restarts {
		restart = max(restart, r.Took)
	}
	if len(restarts) == 0 {
		restart = unknownRestart
	} else {
		measured = "measured"
	}
	d := min(w.Total()+restartsFor*restart+margin, longestVerify)
	return d, fmt.Sprintf("cool-down %s, more slots %s, a checkpoint %s, slots after the stop %s, twice a restart of %s (%s), and %s",
		round(w.Cooldown), round(w.Stabilization), round(w.MaxDelay), round(w.Settle), round(restart), measured, margin)
}

// withMore allows for the time that nodes may take.
func (p Preflight) withMore(longer time.Duration) Preflight {
	if longer > 0 {
		p.VerifyFor += longer
		p.VerifyWhy = also(p.VerifyWhy, fmt.Sprintf("%s for nodes to come", longer))
	}
	return p
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
