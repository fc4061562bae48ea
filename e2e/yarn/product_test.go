//go:build e2e

package yarn_test

import (
	"context"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// The load: what the job is to do in records per second. A subtask of its slow vertex
// does 1,000.
const (
	little = 250
	much   = 1250
)

// TestTheWholeProductOnYarn: a workflow that was started with tctl sees the load of a
// real application rise, and Flink gets the containers from YARN for the size that it
// sets in place. The ApplicationMaster is killed, comes back at another address and
// without what was asked of it, and the same workflow asks again, once. An order for
// more than the queue has room for ends in part, and no request is left standing. With
// the load the job and its containers become fewer.
func TestTheWholeProductOnYarn(t *testing.T) {
	c := onHadoop(t)
	f, err := c.Flink(t.Context(), hadoop.FlinkOptions{Version: toolcache.Flink2})
	must(t, err)
	rates := load(t, little)
	// The small queue has 3,276 MB: the ApplicationMaster's 1,024 and two TaskManagers.
	app, err := f.Submit(t.Context(), hadoop.Application{Name: "orders", Queue: "root.small", Args: hadoop.JobArgs(rates), Options: map[string]string{
		"yarn.application-attempts": "3",
	}})
	must(t, err)
	t.Cleanup(func() { must(t, app.Kill(context.Background())) })
	containers(t, app, 2)

	r, key := newRig(t, map[string]any{"hadoop": yarnCluster(c)}), core.JobKey{Cluster: "hadoop", Job: "orders"}
	r.manage(key, core.YarnTarget{ApplicationName: "orders"}, quick("2"))
	r.await(key, "a quiet start", managed.Settled)

	must(t, rates.Set(much))
	grown := func(s workflows.Status) bool { return managed.Size(s, testjob.SlowName) == 2 && s.Rescale == nil }
	r.await(key, "two subtasks for 1,250 records/s", grown)
	up := r.outcome(key, 1)
	r.figures("in place, up", up)
	if up.Kind != core.Applied || !strings.Contains(up.Note, "containers held for TaskManagers: 1 before, 2 now") {
		t.Errorf("outcome %+v", up)
	}
	containers(t, app, 3)

	before, err := app.URL(t.Context())
	must(t, err)
	must(t, c.KillAM(app.ID))
	again := r.outcome(key, 2)
	r.figures("asked again after the ApplicationMaster was killed", again)
	after, err := app.URL(t.Context())
	must(t, err)
	t.Logf("Flink moved from %s to %s", before, after)
	if before == after || again.Kind != core.Applied {
		t.Errorf("from %s to %s: %+v", before, after, again)
	}
	r.await(key, "the size of before", grown)
	containers(t, app, 3)

	r.signal(key, workflows.MsgSetPolicy, map[string]any{"policy": map[string]string{"job.autoscaler.vertex.max-parallelism": "8"}, "by": "ann"})
	r.signal(key, workflows.MsgOverride, map[string]any{"vertices": map[string]int{"slow -> sink: Writer": 4}, "by": "ann", "reason": "a test", "for": "10 min"})
	full := r.outcome(key, 3)
	r.figures("more than the queue has room for", full)
	if full.Kind != core.Partial || full.Reason != core.ReasonNoRoom || !strings.Contains(full.Note, "was withdrawn") || full.Withdrawn == nil || full.Withdrawn.DecisionID != full.DecisionID+"-withdraw" {
		t.Errorf("outcome %+v", full)
	}
	nothingWaits(t, c)
	r.signal(key, workflows.MsgClearOverride, map[string]any{"by": "ann"})

	must(t, rates.Set(little))
	r.await(key, "one subtask for 250 records/s", func(s workflows.Status) bool { return managed.Size(s, testjob.SlowName) == 1 && s.Rescale == nil })
	h := r.history(key)
	down := h.Rescales[len(h.Rescales)-1]
	r.figures("in place, down", down)
	if down.Kind != core.Applied || !strings.Contains(down.Note, "2 before, 1 now") {
		t.Errorf("outcome %+v", down)
	}
	containers(t, app, 2)
	for _, o := range h.Rescales {
		t.Logf("%s attempt %d %s: %s %s: %s", o.DecisionID, o.Attempt, o.Cause, o.Kind, o.Reason, o.Note)
	}
	t.Log("\n" + r.run(bin.starter, "status", key.String()))
	t.Log("\n" + r.run(bin.starter, "explain", key.String()))
}
