//go:build integration && record

package workflows_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
	"flinkscaler/internal/devserver"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// TestRecordHistoriesOfClearingUp makes golden histories of redeploys on a platform
// whose submissions leave something: a part of `make record`. The server is real, the
// steps are played: the simulated Flink is a session cluster, where nothing is left.
func TestRecordHistoriesOfClearingUp(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cache, err := toolcache.Open()
	must(err)
	cli, err := cache.FindTemporal(t.Context())
	must(err)
	commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--short", "HEAD").Output()
	must(err)
	dir := filepath.Join("testdata", "replay")
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	must(err)
	var manifest []map[string]string
	must(json.Unmarshal(b, &manifest))
	s, err := devserver.Start(t.Context(), devserver.Options{Temporal: cli, Dir: filepath.Join(t.TempDir(), "temporal")})
	must(err)
	t.Cleanup(func() { must(s.Close()) })
	quiet := sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	c, err := client.DialContext(t.Context(), client.Options{HostPort: s.Address(), Logger: quiet})
	must(err)
	t.Cleanup(c.Close)
	for _, tt := range []struct {
		name, shows string
		play        played
		kind        core.OutcomeKind
	}{
		{"redeploy-cleared-up", "a redeploy that clears up after its submission", played{}, core.Applied},
		{"redeploy-undone-cleared-up", "a redeploy that was undone, and clears up after both submissions", played{unwell: true}, core.Undone},
		{"redeploy-refused-not-cleared-up", "a redeploy that was refused at the new size, and could not clear up", played{refused: true, dirty: true}, core.Undone},
	} {
		name := tt.name
		k := worker.New(c, name, worker.Options{})
		workflows.Register(k)
		tt.play.register(k)
		must(k.Start())
		sizes := func(p int) []core.VertexSize { return []core.VertexSize{{ID: playedVertex, Parallelism: p}} }
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: name, TaskQueue: name}, workflows.RescaleName, activities.RescaleInput{
			Key: core.JobKey{Cluster: "hadoop", Job: "orders"}, Target: core.Target{Yarn: &core.YarnTarget{ApplicationName: "orders"}}, JobID: "job-1",
			DecisionID: "7-1", Attempt: 1, Cause: core.ReasonScaleUp, From: sizes(2), Wanted: sizes(4), Redeploy: true,
		})
		must(err)
		var o core.Outcome
		must(run.Get(t.Context(), &o))
		if o.Kind != tt.kind || tt.play.cleared != 1 {
			t.Fatalf("%s: %+v, cleared up %d times", name, o, tt.play.cleared)
		}
		k.Stop()
		out, err := exec.CommandContext(t.Context(), cli, "workflow", "show", "--address", s.Address(), "--workflow-id", name, "--output", "json").Output()
		must(err)
		var compact json.RawMessage
		must(json.Unmarshal(out, &compact))
		b, err := json.Marshal(compact)
		must(err)
		id := strings.TrimSpace(string(commit))
		file := id + "-" + name + ".json"
		must(os.WriteFile(filepath.Join(dir, file), append(b, '\n'), 0o644)) //nolint:gosec // it is checked in
		manifest = append(manifest, map[string]string{"file": file, "commit": id, "shows": tt.shows})
	}
	b, err = json.MarshalIndent(manifest, "", "  ")
	must(err)
	must(os.WriteFile(filepath.Join(dir, "manifest.json"), append(b, '\n'), 0o644)) //nolint:gosec // as above
}

const playedVertex = "cbc357ccb763df2852fee8c4fc7d55f2"

// played are the steps of a redeploy on YARN as they would come out.
type played struct {
	unwell, refused, dirty bool
	submitted, cleared     int
}

func (p *played) register(k worker.Worker) {
	for name, f := range map[string]any{
		activities.NamePreflight: p.preflight,
		activities.NameStopJob: func(context.Context, activities.StopInput) (activities.StopTaken, error) {
			return activities.StopTaken{At: time.Now().UTC()}, nil
		},
		activities.NameAwaitStop: func(context.Context, activities.StopInput) (activities.StopEnded, error) {
			return activities.StopEnded{Ending: redeploy.Stopped, Savepoint: "hdfs://ns/sp/orders/7-1/savepoint-1"}, nil
		},
		activities.NameCheckSavepoint: func(_ context.Context, in activities.CheckSavepointInput) (core.Savepoint, error) {
			return core.Savepoint{Path: in.Path, Size: 9}, nil
		},
		activities.NameSubmitJob: p.submit,
		activities.NameVerify:    p.verify,
		activities.NameMakeWay: func(_ context.Context, in activities.MakeWayInput) (activities.Way, error) {
			return activities.Way{Clear: true, Ended: true, From: in.Restored, Note: "it was ended"}, nil
		},
		activities.NameTidySavepoints: func(context.Context, activities.PruneInput) (activities.Pruned, error) {
			return activities.Pruned{}, nil
		},
		activities.NameTidy: p.tidy,
	} {
		k.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

func (p *played) preflight(_ context.Context, in activities.RescaleInput) (activities.Preflight, error) {
	return activities.Preflight{
		Job: core.JobRef{Key: in.Key, ID: "job-1", Name: "orders", FlinkVersion: "2.3.0"}, Before: in.From, At: time.Now().UTC(), VerifyFor: time.Minute, Checkpoint: "hdfs://ns/cp/job-1/chk-7",
		Redeploy: &activities.RedeployPlan{
			Stop:     core.StopRequest{Trigger: redeploy.Trigger(in.Key, in.DecisionID, in.Attempt), Directory: "hdfs://ns/sp/orders/7-1"},
			Vertices: []core.SubmittedVertex{{ID: playedVertex, Name: "slow", Parallelism: in.Wanted[0].Parallelism, Was: in.From[0].Parallelism}},
			Extras:   map[string]string{"name": "orders", "queue": "root.shop"},
			ByHand:   core.ByHand{Command: "flink run -t yarn-application -d", Options: "-Dyarn.application.name=orders"},
		},
	}, nil
}

func (p *played) submit(_ context.Context, in activities.SubmitInput) (activities.Submitted, error) {
	if p.submitted++; p.refused && p.submitted == 1 {
		return activities.Submitted{Refused: core.ReasonRefused, Note: "the queue is full"}, nil
	}
	id := redeploy.JobID(in.Trigger, in.Number)
	return activities.Submitted{JobID: id, Job: &core.JobRef{ID: id, Name: in.Name, Extras: map[string]string{"application": "application_2"}}}, nil
}

func (p *played) verify(_ context.Context, in activities.VerifyInput) (activities.Verified, error) {
	if p.unwell && p.submitted == 1 {
		return activities.Verified{Kind: core.Failed, Reason: core.ReasonJobFailing, Undo: core.ReasonJobFailing, Note: "it fails"}, nil
	}
	return activities.Verified{Kind: core.Applied, Note: "every vertex runs at the wanted size", Got: in.Wanted, RunningAt: time.Now().UTC(), WishHeld: true}, nil
}

func (p *played) tidy(context.Context, activities.TidyInput) (activities.Tidied, error) {
	p.cleared++
	if p.dirty {
		return activities.Tidied{}, temporal.NewNonRetryableApplicationError("not allowed", activities.ErrTypeRefused, nil)
	}
	return activities.Tidied{Note: "ended application_1"}, nil
}
