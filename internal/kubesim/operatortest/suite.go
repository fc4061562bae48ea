package operatortest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// Rig is an operator that runs, with all that it needs.
type Rig struct {
	// Config reaches the API server.
	Config *rest.Config
	// Namespace is one that the operator serves, and nobody else.
	Namespace string
	// Deployment applies a FlinkDeployment of that name: native, adaptive
	// scheduler, 8 slots, parallelism 1, upgradeMode savepoint with a folder for
	// savepoints. It gives the address of its REST API.
	Deployment func(t *testing.T, called string) (url string)
	// Source and Work are part of the names of two vertices of its job.
	Source, Work string
	// Patience is how long anything may take, 4 min by default.
	Patience time.Duration
}

// effect is what a write comes to.
type effect string

const (
	// inPlace: sizes change, the job and its JobManager stay.
	inPlace effect = "in place"
	// nothing: not even requirements move.
	nothing effect = "nothing"
	// upgrade: the job stops with a savepoint, another JobManager starts it.
	upgrade effect = "upgrade"
)

// step is one write and what comes of it. S and W stand for the ids of source
// and work.
type step struct {
	name, reason string
	// foreign is a size of work that somebody else asks Flink for before.
	foreign      int
	write        map[string]string
	want         effect
	source, work int // upper bounds and sizes
}

const overrides = "pipeline.jobvertex-parallelism-overrides"

func over(value string) map[string]string { return map[string]string{overrides: value} }

func steps() []step {
	return []step{
		{"first override", "in place, though the vertex had none before", 0, over("S:1,W:3"), inPlace, 1, 3},
		{"two vertices up", "one write, one rescale", 0, over("S:2,W:5"), inPlace, 2, 5},
		{"down", "as up", 0, over("S:1,W:2"), inPlace, 1, 2},
		{"another order", "seen as a change, yet Flink has it already", 0, over("W:2,S:1"), nothing, 1, 2},
		{"an unknown vertex", "without effect", 0, over("S:1,W:2,00000000000000000000000000000001:3"), nothing, 1, 2},
		{"with a key of the autoscaler", "such keys do not turn it into an upgrade", 0, map[string]string{overrides: "S:1,W:4", "job.autoscaler.metrics.window": "20s"}, inPlace, 1, 4},
		{"a key of the autoscaler alone", "observed and no more", 0, map[string]string{"job.autoscaler.restart.time": "5s"}, nothing, 1, 4},
		{"after a foreign request", "what another asked Flink for is neither noticed nor undone", 2, map[string]string{"job.autoscaler.restart.time": "6s"}, nothing, 1, 2},
		{"over a foreign request", "the next change of ours is carried out on top", 0, over("S:1,W:3"), inPlace, 1, 3},
		{"an entry removed", "a full upgrade: the vertex is back at the job's parallelism", 0, over("S:1"), upgrade, 1, 1},
		{"after an upgrade", "in place again", 0, over("S:1,W:2"), inPlace, 1, 2},
		{"another key", "Flink reads it at its start only", 0, map[string]string{"web.refresh-interval": "900"}, upgrade, 1, 2},
	}
}

// Run goes through the life of a FlinkDeployment, then through that of one that
// is given a number which is none.
func Run(t *testing.T, rig Rig) {
	t.Helper()
	if rig.Patience == 0 {
		rig.Patience = 4 * time.Minute
	}
	t.Run("steps", func(t *testing.T) {
		d := start(t, rig, "steps")
		for _, s := range steps() {
			d.play(s)
		}
		d.delete()
	})
	t.Run("no number", func(t *testing.T) { noNumber(t, rig) })
}

// play writes, waits until it is settled, and judges by what was before.
func (d *deployment) play(s step) {
	d.t.Helper()
	d.t.Logf("%s: %s", s.name, s.reason)
	if s.foreign > 0 {
		d.require(s.foreign)
	}
	before := d.look()
	d.write(s.write)
	d.settle()
	d.awaitSizes(s.source, s.work)
	after := d.look()
	want := before
	switch s.want {
	case inPlace:
		want.events["SpecChanged"]++
		want.events["Scaling"]++
	case upgrade:
		want.events["SpecChanged"]++
		want.events["Suspended"]++
		want.events["Submit"]++
		if after.managerUID == before.managerUID {
			d.t.Errorf("%s: the JobManager is the one from before", s.name)
		}
		want.managerUID, want.job = after.managerUID, after.job // whether the job has another id depends on the release
	case nothing:
		want.events["SpecChanged"] = after.events["SpecChanged"] // that it saw a change is no effect
	}
	if fmt.Sprint(want) != fmt.Sprint(after) {
		d.t.Errorf("%s (%s):\nwant %v\ngot  %v", s.name, s.want, want, after)
	}
}

// noNumber: the job is stopped for an upgrade that cannot start, and a good
// value does not bring it back.
func noNumber(t *testing.T, rig Rig) {
	d := start(t, rig, "lost")
	before := d.look()
	d.write(over("S:1,W:abc"))
	d.await("another JobManager", func() bool { uid := d.managerUID(); return uid != "" && uid != before.managerUID })
	d.await("the JobManager called ready", func() bool {
		s := d.read().status
		return s.JobManager == "READY" && s.Job.State == "RECONCILING" && s.Reconciliation.State == "DEPLOYED"
	})
	d.write(over("S:1,W:3"))
	d.await("the good value seen", func() bool { return strings.Contains(d.messages(), "abc -> ") })
	if s := d.read(); s.status.Job.State != "RECONCILING" || s.settled() {
		t.Errorf("the job is lost: %+v", s.status)
	}
	if jobs, err := d.jobs(); err == nil && len(jobs) > 0 {
		t.Errorf("Flink runs %v", jobs)
	}
	d.delete()
}
