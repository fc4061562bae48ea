package core_test

import (
	"testing"

	"flinkscaler/core"
)

func TestHealthOf(t *testing.T) {
	t.Parallel()
	good, bad := core.Sample{}, core.Sample{Fault: core.ReasonNoLeader}
	for name, tt := range map[string]struct {
		reason string
		c      core.JobContext
		why    core.Reason
		want   core.Health
	}{
		"well":                   {"nothing to do", core.JobContext{Window: []core.Sample{good}}, core.ReasonWithinTarget, core.Watching},
		"first miss":             {"nothing was seen yet", core.JobContext{Window: []core.Sample{bad}}, core.ReasonNoLeader, core.Starting},
		"one miss":               {"a restart takes a look or two", core.JobContext{Window: []core.Sample{good, bad}}, core.ReasonNoLeader, core.Watching},
		"two misses":             {"now it needs a person", core.JobContext{Window: []core.Sample{good, bad, bad}}, core.ReasonNoLeader, core.Blocked},
		"one miss, other reason": {"a bad policy is no miss", core.JobContext{Window: []core.Sample{good, bad}}, core.ReasonPolicyInvalid, core.Blocked},
		"just restarted":         {"the end of every rescale, whatever was missed before", core.JobContext{Window: []core.Sample{bad, {Fault: core.ReasonJobRestarted}}}, core.ReasonJobRestarted, core.Watching},
		"gone":                   {"also when paused", core.JobContext{Window: []core.Sample{bad}, Pause: &core.Pause{}}, core.ReasonJobGone, core.JobGone},
		"paused":                 {"an order", core.JobContext{Window: []core.Sample{bad, bad}, Pause: &core.Pause{}}, core.ReasonNoLeader, core.Paused},
		"rescaling":              {"whatever else", core.JobContext{RescaleOpen: true, Pause: &core.Pause{}}, core.ReasonPaused, core.Rescaling},
		"bad policy":             {"at once", core.JobContext{Window: []core.Sample{good}}, core.ReasonPolicyInvalid, core.Blocked},
		"nothing at all":         {"no sample, no decision", core.JobContext{}, core.ReasonInternal, core.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := core.HealthOf(tt.c, core.Decision{Reason: tt.why}); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}
