//go:build integration && record

package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// replayDir is where golden histories live.
const replayDir = "../workflows/testdata/replay"

// recorder keeps golden histories with a manifest. Histories that are there
// are never touched: new ones are named after the commit.
type recorder struct {
	t      *testing.T
	r      *rig
	commit string
	list   []map[string]string
}

// TestRecordHistories makes golden histories of the present workflows: `make
// record`.
func TestRecordHistories(t *testing.T) {
	w, c := newRecorder(t), sim(t, 1200)
	w.r = newRig(t, c.URL(), rigOptions{attributes: true})
	w.upAndDown(c)
	w.told(c)
	w.orders()
	w.answers(c)
	w.refused(c)
	w.gone(c)
	w.cancelled()
	w.adopted()
	w.continued()
	w.proposed()
	w.writeManifest(t)
}

// manifest lists all golden histories.
func manifest() string { return filepath.Join(replayDir, "manifest.json") }

// newRecorder adds to what the manifest lists already.
func newRecorder(t *testing.T) *recorder {
	t.Helper()
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	must(t, err)
	w := &recorder{t: t, commit: strings.TrimSpace(string(commit))}
	b, err := os.ReadFile(manifest())
	must(t, err)
	must(t, json.Unmarshal(b, &w.list))
	return w
}

func (w *recorder) writeManifest(t *testing.T) {
	t.Helper()
	b, err := json.MarshalIndent(w.list, "", "  ")
	must(t, err)
	must(t, os.WriteFile(manifest(), append(b, '\n'), 0o644))
}

// save keeps the history of a workflow's present run.
func (w *recorder) save(id, name, shows string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(replayDir, 0o755))
	file := w.commit + "-" + name + ".json"
	out := w.r.temporal("workflow", "show", "--workflow-id", id, "--output", "json")
	var compact json.RawMessage
	must(w.t, json.Unmarshal([]byte(out), &compact))
	b, err := json.Marshal(compact)
	must(w.t, err)
	must(w.t, os.WriteFile(filepath.Join(replayDir, file), append(b, '\n'), 0o644))
	w.list = append(w.list, map[string]string{"file": file, "commit": w.commit, "shows": shows})
}

const (
	scaleID   = "flink/dev/" + job
	rescaleID = "flink-rescale/dev/flink/" + job
)

func (w *recorder) upAndDown(c *flinksim.Cluster) {
	w.r.start(job, brisk(nil))
	w.r.await(job, "a quiet start", rests)
	must(w.t, c.SetLoad(job, flinksim.Constant(3000)))
	w.r.await(job, "growth", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
	w.save(rescaleID, "rescale-applied", "a rescale that was applied")
	must(w.t, c.SetLoad(job, flinksim.Constant(1000)))
	w.r.await(job, "shrinking", func(s workflows.Status) bool { return size(s) <= 2 && rests(s) })
	w.save(scaleID, "scale-up-down", "a job that is scaled up and down, with the reports of both")
}

// told is a recommendation while paused, and an error.
func (w *recorder) told(c *flinksim.Cluster) {
	w.r.starter("pause", "dev/"+job)
	must(w.t, c.SetLoad(job, flinksim.Constant(3000)))
	w.wrote("kept back by paused")
	c.SetUnavailable(flinksim.NoLeader)
	w.wrote("event=AutoscalerError")
	c.SetUnavailable(flinksim.Available)
	must(w.t, c.SetLoad(job, flinksim.Constant(1000)))
	w.r.starter("resume", "dev/"+job)
	w.r.await(job, "the job at rest", rests)
	w.save(scaleID, "told", "a recommendation while paused, and an error")
}

// wrote waits until the worker's log shows a text.
func (w *recorder) wrote(text string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	must(w.t, child.WaitFor(ctx, "the log to say "+text, func(context.Context) (string, bool, error) {
		return "not yet", w.r.Worker.Wrote(text), nil
	}))
}

func (w *recorder) orders() {
	signal := func(name, input string) {
		w.r.temporal("workflow", "signal", "--workflow-id", scaleID, "--name", name, "--input", input)
	}
	signal(workflows.MsgPause, `{"by": "ann", "for": "3 s"}`)
	w.r.await(job, "the pause", func(s workflows.Status) bool { return s.Pause != nil })
	w.r.await(job, "its end", func(s workflows.Status) bool { return s.Pause == nil })
	signal(workflows.MsgPause, `[]`)
	w.r.starter("override", "dev/"+job, "--parallelism", "3", "--for", "6s")
	w.r.await(job, "size 3", func(s workflows.Status) bool { return size(s) == 3 && s.Rescale == nil })
	w.r.await(job, "the end of the override", func(s workflows.Status) bool { return s.Override == nil && rests(s) })
	w.save(scaleID, "orders", "pause and override with an end, a rejected signal, an update")
}

func (w *recorder) refused(c *flinksim.Cluster) {
	must(w.t, c.SetCheckpoints(job, flinksim.CheckpointsFail))
	w.failedCheckpoint(c)
	w.r.starter("override", "dev/"+job, "--parallelism", "4")
	w.r.await(job, "a rescale that is not attempted", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Rejected })
	w.save(rescaleID, "rescale-rejected", "a rescale that preflight holds back")
	w.r.starter("clear-override", "dev/"+job)
	must(w.t, c.SetCheckpoints(job, flinksim.CheckpointsOK))
}

// failedCheckpoint waits until the newest checkpoint has failed.
func (w *recorder) failedCheckpoint(c *flinksim.Cluster) {
	var s workflows.Status
	must(w.t, w.r.query(w.t.Context(), job, workflows.QueryStatus, &s))
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	must(w.t, child.WaitFor(ctx, "a failed checkpoint", func(context.Context) (string, bool, error) {
		var answer struct {
			Latest struct {
				Completed, Failed *struct{ ID int }
			}
		}
		if err := getJSON(c.URL()+"/jobs/"+s.FlinkJobID+"/checkpoints", &answer); err != nil {
			return "", false, err
		}
		failed, completed := answer.Latest.Failed, answer.Latest.Completed
		return "none failed", failed != nil && (completed == nil || failed.ID > completed.ID), nil
	}))
}

func getJSON(url string, to any) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return json.NewDecoder(resp.Body).Decode(to)
}

func (w *recorder) gone(c *flinksim.Cluster) {
	must(w.t, c.CancelJob(job))
	w.r.await(job, "job-gone", func(s workflows.Status) bool { return s.State == workflows.JobGone })
	_, err := c.Resubmit(job)
	must(w.t, err)
	w.r.starter("evaluate-now", "dev/"+job)
	w.r.await(job, "the job again", rests)
	w.save(scaleID, "job-gone-and-back", "a job that is gone and comes back under a new id, after a rejected rescale")
}

func (w *recorder) cancelled() {
	w.r.starter("stop", "dev/"+job, "--yes")
	must(w.t, w.r.ended(scaleID))
	w.save(scaleID, "cancelled", "a workflow that was cancelled")
}

// adopted is a workflow that is started while a rescale of its predecessor is
// open.
func (w *recorder) adopted() {
	w.r.start(job, brisk(nil))
	w.r.await(job, "a quiet start", rests)
	reached, release := make(chan struct{}), make(chan struct{})
	w.r.proxy.OnWrite(func() { close(reached); <-release }, nil)
	w.r.starter("override", "dev/"+job, "--parallelism", "3")
	<-reached
	w.r.tctl("workflow", "terminate", "--wid", scaleID, "--reason", "test")
	w.r.start(job, brisk(nil))
	w.r.await(job, "the open rescale to be adopted", func(s workflows.Status) bool { return s.Rescale != nil })
	close(release)
	w.r.await(job, "its outcome", func(s workflows.Status) bool { return s.LastRescale != nil && s.Rescale == nil && rests(s) })
	w.save(scaleID, "adopted", "a workflow that adopts the open rescale of the one before")
}

// continued is a run that began by continue-as-new.
func (w *recorder) continued() {
	c := sim(w.t, 1200)
	w.r = newRig(w.t, c.URL(), rigOptions{attributes: true, cyclesPerRun: 12})
	w.r.start(job, brisk(nil))
	w.r.starter("override", "dev/"+job, "--parallelism", "3")
	w.r.await(job, "a second run", func(s workflows.Status) bool { return s.Runs == 2 && s.Override != nil })
	w.r.starter("clear-override", "dev/"+job)
	w.r.await(job, "a smaller size", func(s workflows.Status) bool { return size(s) <= 2 && rests(s) })
	w.save(scaleID, "continued", "a run that goes on from the state of the run before, with an override in it")
}
