//go:build e2e

package yarn_test

import (
	"context"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// TestASessionInPlace: a job of a session is changed by order, up and down, and
// containers come and go with it; up while the ResourceManager is killed and comes
// back. Two live applications of one name are not told apart: the job is held, and
// both are named.
func TestASessionInPlace(t *testing.T) {
	c := onHadoop(t)
	f, err := c.Flink(t.Context(), hadoop.FlinkOptions{Version: toolcache.Flink2})
	must(t, err)
	session, err := f.Session(t.Context(), hadoop.Application{Name: "session"})
	must(t, err)
	t.Cleanup(func() { must(t, session.Kill(context.Background())) })
	_, err = f.Run(t.Context(), session, hadoop.Application{Name: "adhoc", Args: hadoop.JobArgs(load(t, 100))})
	must(t, err)

	r, key := newRig(t, map[string]any{"hadoop": yarnCluster(c)}), core.JobKey{Cluster: "hadoop", Job: "adhoc"}
	r.manage(key, core.YarnTarget{ApplicationName: "session"}, quick("8"))
	r.await(key, "a first look", func(s workflows.Status) bool { return s.Parallelism > 0 })
	order := func(n int) {
		r.signal(key, workflows.MsgOverride, map[string]any{"parallelism": n, "by": "ann", "reason": "a test", "for": "10 min"})
	}

	order(2)
	r.await(key, "a rescale to begin", func(s workflows.Status) bool { return s.Rescale != nil || s.LastRescale != nil })
	must(t, c.ResourceManager().Kill())
	must(t, c.ResourceManager().Restart(t.Context()))
	up := r.outcome(key, 1)
	r.figures("in a session, up, while the ResourceManager was gone", up)
	if up.Kind != core.Applied {
		t.Errorf("outcome %+v", up)
	}
	containers(t, session, 3)

	order(1)
	down := r.outcome(key, 2)
	r.figures("in a session, down", down)
	if down.Kind != core.Applied || !strings.Contains(down.Note, "now") {
		t.Errorf("outcome %+v", down)
	}
	containers(t, session, 2)

	twin, err := f.Begin(t.Context(), hadoop.Application{Name: "session", Args: hadoop.JobArgs(load(t, 100))})
	must(t, err)
	held := r.await(key, "a hold", func(s workflows.Status) bool { return s.Reason == core.ReasonJobAmbiguous })
	if !strings.Contains(held.Note, session.ID) || !strings.Contains(held.Note, twin.ID) {
		t.Errorf("the hold says %q, want both of %s and %s named", held.Note, session.ID, twin.ID)
	}
	must(t, twin.Kill(t.Context()))
	r.await(key, "one of that name again", func(s workflows.Status) bool { return s.Reason != core.ReasonJobAmbiguous })
	for _, o := range r.history(key).Rescales {
		t.Logf("%s attempt %d %s: %s %s: %s", o.DecisionID, o.Attempt, o.Cause, o.Kind, o.Reason, o.Note)
	}
}
