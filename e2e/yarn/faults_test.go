//go:build e2e

package yarn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// TestStorageGone: while HDFS is gone nothing is written to Flink, neither what the
// load asks for nor what an operator orders, since a restart would end the job for
// good. The order is carried out once HDFS is back. So it is without the NameNode, and
// without the DataNode that has the checkpoint.
func TestStorageGone(t *testing.T) {
	c := onHadoop(t)
	f, err := c.Flink(t.Context(), hadoop.FlinkOptions{Version: toolcache.Flink2})
	must(t, err)
	app, err := f.Submit(t.Context(), hadoop.Application{Name: "stored", Args: hadoop.JobArgs(load(t, much)), Options: map[string]string{
		"execution.checkpointing.tolerable-failed-checkpoints": "1000", // it lives without HDFS
	}})
	must(t, err)
	t.Cleanup(func() { must(t, app.Kill(context.Background())) })
	at := yarnCluster(c)
	at["hdfs"] = map[string]any{"configDirectory": c.ConfDir(), "user": c.User(), "timeout": "5 s"}
	s := &stored{rig: newRig(t, map[string]any{"hadoop": at}), key: core.JobKey{Cluster: "hadoop", Job: "stored"}, app: app}
	s.completed(t)

	s.manage(s.key, core.YarnTarget{ApplicationName: "stored"}, quick("2"))
	s.gone(t, c.NameNode().Daemon, func() {
		// Windows are longer than a kill takes: nothing was decided before.
		s.held(t, "what the load asks for", func(o core.Outcome) bool { return o.Cause != core.ReasonOverride })
		s.order(2)
		s.held(t, "an order for more", func(o core.Outcome) bool { return o.Cause == core.ReasonOverride })
	})
	s.becomes(t, 2)

	s.completed(t) // from there a restart would begin
	s.gone(t, c.DataNode(), func() {
		s.order(1)
		s.held(t, "an order for less", func(o core.Outcome) bool { return o.Cause == core.ReasonOverride })
	})
	s.becomes(t, 1)
	for _, o := range s.history(s.key).Rescales {
		t.Logf("%s attempt %d %s: %s %s: %s", o.DecisionID, o.Attempt, o.Cause, o.Kind, o.Reason, o.Note)
	}
}

// stored is a job with its checkpoints on HDFS, and an installation that manages it.
type stored struct {
	*rig
	key core.JobKey
	app *hadoop.App
	// seen is how many outcomes were looked at, id the job's before a server was killed.
	seen int
	id   string
}

func (s *stored) order(n int) {
	s.signal(s.key, workflows.MsgOverride, map[string]any{"parallelism": n, "by": "ann", "reason": "a test", "for": "10 min"})
}

// checkpoints is how many were completed in this run of the job.
func (s *stored) checkpoints(ctx context.Context) (n int, err error) {
	id, err := s.app.JobID(ctx)
	if err != nil {
		return 0, err
	}
	var all struct{ Counts struct{ Completed int } }
	err = s.app.Get(ctx, "/jobs/"+id+"/checkpoints", &all)
	return all.Counts.Completed, err
}

// completed waits for another checkpoint of the job.
func (s *stored) completed(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	before := -1
	must(t, child.WaitFor(ctx, "a checkpoint", func(ctx context.Context) (string, bool, error) {
		n, err := s.checkpoints(ctx)
		if err != nil {
			return err.Error(), false, nil
		}
		if before < 0 {
			before = n
		}
		return fmt.Sprintf("%d are complete", n), n > before, nil
	}))
}

// asked is what runs of a job and what is asked of Flink for it.
type asked struct {
	ID           string
	Sizes        map[string]int
	Requirements json.RawMessage
	// Failures are all that the job ever had.
	Failures []string
}

// look reads it. The job must run, with all its tasks.
func (s *stored) look(t *testing.T) asked {
	t.Helper()
	id, err := s.app.JobID(t.Context())
	must(t, err)
	var job flinklocal.Job
	must(t, s.app.Get(t.Context(), "/jobs/"+id, &job))
	if !job.AllRunning() {
		t.Errorf("the job does not run: %+v", job)
	}
	out := asked{ID: id, Sizes: map[string]int{}}
	for _, v := range job.Vertices {
		out.Sizes[v.Name] = v.Parallelism
	}
	must(t, s.app.Get(t.Context(), "/jobs/"+id+"/resource-requirements", &out.Requirements))
	var failures struct {
		History struct {
			Entries []struct {
				Name string `json:"exceptionName"`
			}
		} `json:"exceptionHistory"`
	}
	must(t, s.app.Get(t.Context(), "/jobs/"+id+"/exceptions", &failures))
	for _, e := range failures.History.Entries {
		out.Failures = append(out.Failures, e.Name)
	}
	return out
}

// gone kills a server of HDFS, has something tried without it that must change
// nothing, and starts it again.
func (s *stored) gone(t *testing.T, server *hadoop.Daemon, try func()) {
	t.Helper()
	began := time.Now()
	before := s.look(t)
	s.id = before.ID
	must(t, server.Kill())
	t.Cleanup(func() { // others want it, too
		if !server.Alive() {
			must(t, server.Restart(context.WithoutCancel(t.Context())))
		}
	})
	try()
	if diff := cmp.Diff(before, s.look(t)); diff != "" {
		t.Errorf("without the %s something changed (-before +after):\n%s", server.Name(), diff)
	}
	must(t, server.Restart(t.Context()))
	t.Logf("without the %s for %s", server.Name(), time.Since(began).Round(time.Second))
}

// held waits for a change that was not begun for the storage's sake, and for the
// status to say so.
func (s *stored) held(t *testing.T, what string, fits func(core.Outcome) bool) {
	t.Helper()
	o := s.next(t, what, fits)
	if o.Kind != core.Rejected || o.Reason != core.ReasonStorage || !o.WrittenAt.IsZero() || len(o.Wish) > 0 || !saysWhat(o.Note) {
		t.Errorf("%s: outcome %+v", what, o)
	}
	st := s.await(s.key, what+" to be held", func(st workflows.Status) bool { return st.Rescale == nil && st.Reason == core.ReasonStorage })
	if !saysWhat(st.Note) || !strings.Contains(st.Note, "tried again at") {
		t.Errorf("%s: the hold says %q", what, st.Note)
	}
}

// saysWhat is true for a text that says that HDFS did not answer, or that the newest
// checkpoint cannot be read or failed.
func saysWhat(note string) bool {
	return strings.Contains(note, "the storage of its checkpoints: ") || strings.Contains(note, "the newest checkpoint")
}

// becomes waits until an order is carried out, and looks at the job: it is the same
// one and never failed, so it counted each record once.
func (s *stored) becomes(t *testing.T, n int) {
	t.Helper()
	began := time.Now()
	o := s.next(t, fmt.Sprintf("the order for %d to be carried out", n), func(o core.Outcome) bool { return o.Kind != core.Rejected })
	s.figures(fmt.Sprintf("to %d, %s after HDFS was back", n, time.Since(began).Round(time.Second)), o)
	now := s.look(t)
	if o.Kind != core.Applied || o.Cause != core.ReasonOverride || o.JobID != s.id || now.ID != s.id || len(now.Failures) > 0 {
		t.Errorf("outcome %+v; job %+v", o, now)
	}
	for name, size := range now.Sizes {
		if strings.HasPrefix(name, testjob.SlowName) && size != n {
			t.Errorf("%s runs at %d, want %d", name, size, n)
		}
	}
}

// next waits for an outcome that fits, among those not looked at yet. Those before it
// must have written nothing.
func (s *stored) next(t *testing.T, what string, fits func(core.Outcome) bool) core.Outcome {
	t.Helper()
	for {
		o := s.outcome(s.key, s.seen+1)
		s.seen++
		if fits(o) {
			return o
		}
		if o.Kind != core.Rejected || o.Reason != core.ReasonStorage {
			t.Fatalf("before %s: %s %s: %s", what, o.Kind, o.Reason, o.Note)
		}
	}
}
