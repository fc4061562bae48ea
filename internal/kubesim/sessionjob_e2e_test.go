//go:build e2e

package kubesim

import (
	"fmt"
	"testing"

	"flinkscaler/internal/kubelocal/kubetest"
)

// sessionJob is a FlinkSessionJob on a session cluster.
type sessionJob struct {
	*fd
	job name
}

func startSessionJob(t *testing.T, version string) sessionJob {
	t.Helper()
	ns := kubetest.Namespace(t)
	d := newFD(t, kubetest.Plane(t).Config(), ns)
	d.kube = kubeletFor(t, ns, KubeletOptions{Flink: nimble()})
	d.op = operatorFor(t, ns, Options{Version: version})
	d.create(map[string]any{"job": nil})
	err := kubetest.Plane(t).Apply(t.Context(), ns, `
apiVersion: flink.apache.org/v1beta1
kind: FlinkSessionJob
metadata: {name: sj1}
spec:
  deploymentName: k1
  job: {jarURI: "file:///x.jar", entryClass: feas.SlowJob, parallelism: 1, upgradeMode: savepoint}
`)
	if err != nil {
		t.Fatal(err)
	}
	s := sessionJob{d, name{Namespace: ns, Name: "sj1"}}
	s.await("STABLE")
	return s
}

// await waits for a lifecycle state of the newest generation.
func (s sessionJob) await(life string) {
	s.t.Helper()
	shown := ""
	await(s.t, "session job "+life, func() bool {
		j, err := s.op.load(s.t.Context(), flinkSessionJobs, s.job)
		if err != nil || j == nil {
			return false
		}
		shown = fmt.Sprint(nested(j.o, "status"))
		return j.observed() == j.o.GetGeneration() && j.status.Lifecycle == life
	}, func() string { return shown })
}

func (s sessionJob) overrides(value string) {
	s.t.Helper()
	if err := s.api.patch(s.t.Context(), flinkSessionJobs, s.job, config(keyOverrides, vertexIDs(value))); err != nil {
		s.t.Fatal(err)
	}
	s.await("STABLE")
}

// TestSessionJob is rescaled in place as an application is, with the bounds of
// its operator's release.
func TestSessionJob(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason                string
		up, down, removed     string
		sameJobWithoutRemoved bool
	}{
		Operator115: {"an entry that is removed is a full upgrade", "S:1..1=1 W:1..4=4", "S:1..1=1 W:1..2=2", "S:1..1=1 W:1..1=1", false},
		Operator17:  {"it is overlooked: the vertex keeps its size", "S:1..1=1 W:4..4=4", "S:1..1=1 W:2..2=2", "S:1..1=1 W:2..2=2", true},
	}
	for version, tt := range tests {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := startSessionJob(t, version)
			first := s.awaitFlink("S:1..1=1 W:1..1=1")
			s.overrides("S:1,W:4")
			s.awaitFlink(tt.up)
			s.overrides("S:1,W:2")
			if next := s.awaitFlink(tt.down); next != first {
				t.Errorf("job %s became %s", first, next)
			}
			s.overrides("S:1")
			if next := s.awaitFlink(tt.removed); (next == first) != tt.sameJobWithoutRemoved {
				t.Errorf("%s: job %s after %s", tt.reason, next, first)
			}
			if err := s.api.drop(t.Context(), flinkSessionJobs, s.job, "Background"); err != nil {
				t.Fatal(err)
			}
			await(t, "the job canceled", func() bool {
				all, err := flinkAt(s.port).jobs(t.Context())
				return err == nil && len(all) > 0 && all[len(all)-1].State == "CANCELED"
			}, s.events)
		})
	}
}
