package workflows_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"flinkscaler/workflows"
)

// recorded is one golden history: made by a real server and worker, from the
// commit named, and never edited.
type recorded struct {
	File   string `json:"file"`
	Commit string `json:"commit"`
	Shows  string `json:"shows"`
}

// leastHistories keeps the test from passing on nothing.
const leastHistories = 57

// TestReplay replays every golden history with the present code: a running
// workflow must never meet code that would have commanded something else.
func TestReplay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "replay")
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest []recorded
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"manifest.json": true}
	for _, r := range manifest {
		listed[r.File] = true
		t.Run(r.File, func(t *testing.T) {
			t.Parallel()
			quiet := sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
			// Without a processor for a second, as on a busy machine, is no deadlock.
			replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
			if err != nil {
				t.Fatal(err)
			}
			workflows.Register(replayer)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet, filepath.Join(dir, r.File)); err != nil {
				t.Errorf("%s (recorded at %s): %v", r.Shows, r.Commit, err)
			}
		})
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !listed[f.Name()] {
			t.Errorf("%s is not in the manifest", f.Name())
		}
	}
	if len(manifest) < leastHistories {
		t.Errorf("%d histories, want at least %d", len(manifest), leastHistories)
	}
}
