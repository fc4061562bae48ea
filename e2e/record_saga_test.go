//go:build integration && record

package e2e

import (
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// TestRecordHistoriesOfSagas makes golden histories of rescales that do not go
// well: a part of `make record`.
func TestRecordHistoriesOfSagas(t *testing.T) {
	w := newRecorder(t)
	for _, x := range []struct {
		name   string
		record func()
	}{
		{"undone", w.undone}, {"went back", w.wentBack}, {"foreign", w.foreign}, {"fell behind", w.fellBehind},
		{"not undone", w.notUndone}, {"lost", w.lost},
	} {
		t.Run(x.name, func(t *testing.T) {
			w.t = t
			x.record()
		})
	}
	w.writeManifest(t)
}

// undone is a rescale that is taken back, and the job that has it.
func (w *recorder) undone() {
	c := simWith(w.t, 8, 1200, func(v *flinksim.VertexSpec) {
		v.FailAt, v.FailAfter, v.FailText = 4, 400*time.Millisecond, "Insufficient number of network buffers"
	})
	w.r = newRig(w.t, c.URL(), rigOptions{})
	w.r.start(job, brisk(map[string]string{"job.autoscaler.rescale.backoff": "0 s"}))
	w.r.await(job, "a quiet start", rests)
	w.r.starter("override", "dev/"+job, "--vertex", "enrich=4", "--for", "6s")
	w.r.await(job, "the undo", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Undone })
	w.save(rescaleID, "rescale-undone", "a rescale after which the job fails again and again, and that is undone")
	w.r.await(job, "the job at rest", func(s workflows.Status) bool { return s.Override == nil && rests(s) })
	w.save(scaleID, "undone", "a job whose rescale was undone")
}

// wentBack is an undo that is decided after the change had ended well.
func (w *recorder) wentBack() {
	c := simWith(w.t, 8, 1200, func(v *flinksim.VertexSpec) { v.FailAt, v.FailAfter = 3, 5*time.Second })
	w.r = newRig(w.t, c.URL(), rigOptions{})
	w.r.start(job, brisk(nil))
	w.r.await(job, "a quiet start", rests)
	w.r.starter("override", "dev/"+job, "--vertex", "enrich=4", "--for", "4s")
	w.r.await(job, "the way back", func(s workflows.Status) bool {
		return s.LastRescale != nil && s.LastRescale.Cause == core.ReasonUndo && s.Rescale == nil && size(s) == 2
	})
	w.save(scaleID, "went-back", "a job that restarts again and again after a change, and goes back by a decision of its own")
}

// fellBehind is a smaller size that breaks the lag objective.
func (w *recorder) fellBehind() {
	c := simWith(w.t, 8, 1100, func(v *flinksim.VertexSpec) { v.Parallelism, v.WaitBelow, v.WaitCapacity = 4, 3, 200 })
	w.r = newRig(w.t, c.URL(), rigOptions{})
	w.r.start(job, brisk(map[string]string{"job.autoscaler.objective.lag": "2 s"}))
	w.r.await(job, "the way back", func(s workflows.Status) bool {
		return s.LastRescale != nil && s.LastRescale.Cause == core.ReasonUndo && s.Rescale == nil
	})
	w.save(rescaleID, "rescale-for-lag", "the undo of a smaller size at which a job fell behind, and its alarm")
	w.save(scaleID, "fell-behind", "a job that fell behind at a smaller size and goes back")
}

// notUndone is a rescale that would be taken back.
func (w *recorder) notUndone() {
	c := simWith(w.t, 8, 1200, func(v *flinksim.VertexSpec) {
		v.FailAt, v.FailAfter, v.FailText = 4, 400*time.Millisecond, "Insufficient number of network buffers"
	})
	w.r = newRig(w.t, c.URL(), rigOptions{})
	w.r.start(job, brisk(map[string]string{"job.autoscaler.rescale.undo.enabled": "false"}))
	w.r.await(job, "a quiet start", rests)
	w.r.starter("override", "dev/"+job, "--vertex", "enrich=4", "--for", "6s")
	w.r.await(job, "the alarm", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Failed })
	w.save(rescaleID, "rescale-not-undone", "a rescale after which the job fails again and again, with undo switched off")
}

// lost is a rescale that somebody terminates.
func (w *recorder) lost() {
	c := simWith(w.t, 2, 1200, nil)
	w.r = newRig(w.t, c.URL(), rigOptions{})
	w.r.start(job, brisk(nil))
	w.r.await(job, "a quiet start", rests)
	w.r.starter("override", "dev/"+job, "--vertex", "enrich=4", "--for", "4s")
	w.r.await(job, "the wait for slots", func(s workflows.Status) bool { return s.Rescale != nil && c.Writes() != nil })
	w.r.tctl("workflow", "terminate", "--wid", "flink-rescale/dev/flink/"+job, "--reason", "test")
	w.r.await(job, "the alarm", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Failed })
	w.save(scaleID, "rescale-lost", "a job whose rescale was terminated")
}

// foreign is somebody else's write, and the order that takes it as given.
func (w *recorder) foreign() {
	c := simWith(w.t, 8, 1200, nil)
	w.r = newRig(w.t, c.URL(), rigOptions{})
	w.r.start(job, brisk(nil))
	w.r.await(job, "a quiet start", rests)
	must(w.t, c.SetLoad(job, flinksim.Constant(3000)))
	w.r.await(job, "growth", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
	foreignPut(w.t, c, "2")
	w.r.await(job, "the hold", func(s workflows.Status) bool { return s.Reason == core.ReasonForeignWriter })
	w.r.starter("evaluate-now", "dev/"+job)
	w.r.await(job, "growth again", func(s workflows.Status) bool { return size(s) >= 4 && rests(s) })
	w.save(scaleID, "foreign-writer", "requirements that somebody else wrote, and an order after which they count as given")
}
