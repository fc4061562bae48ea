//go:build integration && record

package e2e

import (
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// TestRecordHistoriesOfRedeploys makes golden histories of jobs that are stopped
// and started again: a part of `make record`.
func TestRecordHistoriesOfRedeploys(t *testing.T) {
	w := newRecorder(t)
	w.redeployed()
	w.notStopped()
	w.writeManifest(t)
}

// redeployed is a redeploy that does, one that goes back, and one that finds the
// program gone for a while.
func (w *recorder) redeployed() {
	s, c := simSession(w.t, flinksim.Options{}, 500, "")
	w.r = s.rig
	w.r.start(job, redeployPolicy(map[string]string{"job.autoscaler.utilization.min": "0", "job.autoscaler.rescale.backoff": "0 s"}))
	w.r.await(job, "a quiet start", rests)
	s.override(w.t, "3")
	s.reaches(w.t, 3, 1)
	w.save(rescaleID, "redeploy-applied", "a redeploy that was applied")
	s.override(w.t, "7") // more than the program takes
	w.r.await(job, "the size before", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Undone })
	w.save(rescaleID, "redeploy-undone", "a redeploy whose program refused the new size")
	w.r.starter("clear-override", "dev/"+job)
	reached := make(chan struct{})
	w.r.proxy.On(steps()["the stop's answer lost"].matches, nil, func() { c.RemoveJars(); close(reached) })
	s.override(w.t, "2")
	<-reached
	w.r.await(job, "attempts in vain", func(workflows.Status) bool {
		v, err := w.r.Client.QueryWorkflow(w.t.Context(), rescaleID, "", workflows.QueryProgress)
		var p workflows.RescaleProgress
		return err == nil && v.Get(&p) == nil && strings.Contains(p.Phase, "THE JOB IS DOWN")
	})
	c.AddJar("orders.jar", simMain)
	w.r.await(job, "the job again", func(s workflows.Status) bool {
		return s.LastRescale != nil && s.LastRescale.Attempt > 2 && s.Rescale == nil && s.LastRescale.Kind == core.Undone
	})
	w.save(rescaleID, "redeploy-down-for-a-while", "a redeploy that could not start the job for a while")
	w.save(scaleID, "redeployed", "a job that was stopped and started again, under new ids")
}

// notStopped is a redeploy whose savepoint could not be written.
func (w *recorder) notStopped() {
	s, _ := simSession(w.t, flinksim.Options{}, 500, "file:///proc")
	w.r = s.rig
	w.r.start(job, redeployPolicy(map[string]string{"job.autoscaler.utilization.min": "0"}))
	w.r.await(job, "a quiet start", rests)
	s.override(w.t, "3")
	w.r.await(job, "the outcome", func(s workflows.Status) bool {
		return s.LastRescale != nil && s.LastRescale.Reason == core.ReasonSavepoint && size(s) == 2
	})
	w.save(rescaleID, "redeploy-not-stopped", "a redeploy whose job was not stopped and runs on")
}
