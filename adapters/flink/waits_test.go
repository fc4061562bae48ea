package flink

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func TestWaitsOf(t *testing.T) {
	t.Parallel()
	const scheduler = "jobmanager.adaptive-scheduler."
	for name, tt := range map[string]struct {
		reason   string
		config   map[string]string
		interval time.Duration
		old      bool
		want     core.Waits
	}{
		"2.x, nothing said": {"Flink's defaults; three checkpoints", nil, 5 * time.Second, false,
			core.Waits{Cooldown: 30 * time.Second, Stabilization: time.Minute, MaxDelay: 15 * time.Second, Settle: 10 * time.Second, ResourceWait: 5 * time.Minute}},
		"2.x, no checkpoints": {"there is none to wait for", nil, 0, false,
			core.Waits{Cooldown: 30 * time.Second, Stabilization: time.Minute, Settle: 10 * time.Second, ResourceWait: 5 * time.Minute}},
		"2.x, checkpoints once a month": {"bounded, and no overflow", nil, 30 * 24 * time.Hour, false,
			core.Waits{Cooldown: 30 * time.Second, Stabilization: time.Minute, MaxDelay: 24 * time.Hour, Settle: 10 * time.Second, ResourceWait: 5 * time.Minute}},
		"2.x, failed checkpoints count": {"one more than are put up with", map[string]string{scheduler + "rescale-trigger.max-checkpoint-failures": "5"}, 10 * time.Second, false,
			core.Waits{Cooldown: 30 * time.Second, Stabilization: time.Minute, MaxDelay: time.Minute, Settle: 10 * time.Second, ResourceWait: 5 * time.Minute}},
		"2.x, all said": {"as said", map[string]string{
			scheduler + "executing.cooldown-after-rescaling": "1 s", scheduler + "executing.resource-stabilization-timeout": "2 s",
			scheduler + "rescale-trigger.max-delay": "3 s", scheduler + "submission.resource-stabilization-timeout": "4 s", scheduler + "submission.resource-wait-timeout": "20 s",
		}, time.Hour, false, core.Waits{Cooldown: time.Second, Stabilization: 2 * time.Second, MaxDelay: 3 * time.Second, Settle: 4 * time.Second, ResourceWait: 20 * time.Second}},
		"1.x, nothing said": {"it rescales at any moment after the cool-down", nil, time.Hour, true,
			core.Waits{Cooldown: 30 * time.Second, Settle: 10 * time.Second, ResourceWait: 5 * time.Minute}},
		"1.x, all said": {"by the older names", map[string]string{
			scheduler + "scaling-interval.min": "1 s", scheduler + "scaling-interval.max": "2 s", scheduler + "resource-stabilization-timeout": "3 s", scheduler + "resource-wait-timeout": "20 s",
		}, time.Hour, true, core.Waits{Cooldown: time.Second, Stabilization: 2 * time.Second, Settle: 3 * time.Second, ResourceWait: 20 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, waitsOf(tt.config, tt.interval, tt.old)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestRecordedTimingsAreAllRead(t *testing.T) {
	t.Parallel()
	got, err := decodeTimings(recorded(t, "2.3.0", "rescales-config.200.json"))
	want := RescaleTimings{Cooldown: time.Second, Stabilization: 2 * time.Second, MaxDelay: 3 * time.Second, Settle: time.Second, ResourceWait: 20 * time.Second}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestElastic(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		config map[string]string
		want   bool
	}{
		"nothing":               {"a standalone cluster", nil, false},
		"remote":                {"a standalone cluster, named", map[string]string{"execution.target": "remote"}, false},
		"native on Kubernetes":  {"Flink asks for pods", map[string]string{"execution.target": "kubernetes-application"}, true},
		"session on Kubernetes": {"the cluster has an id there", map[string]string{"kubernetes.cluster-id": "x"}, true},
		"YARN":                  {"Flink asks for containers", map[string]string{"execution.target": "yarn-application"}, true},
		"YARN session":          {"the application is known", map[string]string{"yarn.application.id": "application_1_1"}, true},
	} {
		if got := elastic(tt.config); got != tt.want {
			t.Errorf("%s: %v, want %v: %s", name, got, tt.want, tt.reason)
		}
	}
}

func TestDecodeSlots(t *testing.T) {
	t.Parallel()
	got, err := decodeSlots([]byte(`{"taskmanagers":2,"slots-total":8,"slots-available":3}`))
	if err != nil || got != (core.Slots{Total: 8, Free: 3}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := decodeSlots([]byte(`{"taskmanagers":2}`)); err == nil {
		t.Error("an answer without slots was taken")
	}
}
