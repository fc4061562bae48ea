package managed_test

import (
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/e2e/managed"
	"flinkscaler/workflows"
)

// TestQuick: every key is one, and what is given counts, also beside what is there.
func TestQuick(t *testing.T) {
	t.Parallel()
	p := managed.Quick(map[string]string{"job.autoscaler.vertex.max-parallelism": "3", "job.autoscaler.redeploy.enabled": "true"})
	if p["job.autoscaler.vertex.max-parallelism"] != "3" || p["job.autoscaler.redeploy.enabled"] != "true" || p["job.autoscaler.interval"] != "2 s" {
		t.Errorf("the policy is %v", p)
	}
	if problems := policy.Check(policy.Layer{Values: p}); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
	if again := managed.Quick(nil); again["job.autoscaler.vertex.max-parallelism"] != "8" {
		t.Errorf("one policy changes another: %v", again)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	s := workflows.Status{}
	s.Vertices = append(s.Vertices, workflows.VertexStatus{Name: "Source: gen", Parallelism: 1}, workflows.VertexStatus{Name: "slow -> sink: Writer", Parallelism: 3})
	for name, want := range map[string]int{"slow": 3, "Source": 1, "sink": 0} {
		if got := managed.Size(s, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	for reason, want := range map[core.Reason]bool{
		core.ReasonWithinTarget: true, core.ReasonAtLimit: true, core.ReasonDownDelayed: true,
		core.ReasonUnreachable: false, core.ReasonOverride: false, "": false,
	} {
		if got := managed.Settled(workflows.Status{Reason: reason}); got != want {
			t.Errorf("%q: %v, want %v", reason, got, want)
		}
	}
}
