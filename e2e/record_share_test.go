//go:build integration && record

package e2e

import (
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/workflows"
)

// TestRecordHistoriesOfSharing makes golden histories of jobs that share slots: a
// part of `make record`.
func TestRecordHistoriesOfSharing(t *testing.T) {
	w := newRecorder(t)
	w.turns()
	w.writeManifest(t)
}

// turns are two jobs that take turns, with all that they say to each other.
func (w *recorder) turns() {
	c := sharedSim(w.t)
	w.r = sharedRig(w.t, c, rigOptions{})
	pin(w.r, job, "5")
	w.r.await(job, "the first to grow", runsAt(5))
	w.save(rescaleID, "share-rescale-larger", "a rescale that takes a lease of slots over, and gives it back")
	pin(w.r, second, "5")
	w.r.await(second, "the second to wait", queued)
	w.r.starter("pause", "dev/"+second)
	w.r.await(second, "the pause", func(s workflows.Status) bool { return s.Reason == core.ReasonPaused && s.Slots == nil })
	w.r.starter("resume", "dev/"+second)
	w.r.await(second, "it to wait again", queued)
	pin(w.r, job, "2")
	w.r.await(second, "it to grow", runsAt(5))
	w.save("flink/dev/"+second, "share-waits", "a job that waits for slots, gives its place up in a pause, and grows when it is its turn")
	w.r.await(job, "the first to have shrunk", runsAt(2))
	w.save(rescaleID, "share-rescale-smaller", "a rescale that makes the job smaller, and says what it holds then")
	pin(w.r, second, "2")
	w.r.await(second, "the second to have shrunk", runsAt(2))
	w.r.starter("stop", "dev/"+second, "--yes")
	must(w.t, w.r.ended("flink/dev/"+second))
	w.save(share.ID("dev"), "share-turns", "slots that two jobs share: one waits for the other")
}
