package main

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/adapters/flink"
	"flinkscaler/internal/config"
	"flinkscaler/workflows"
)

// names collects what is registered.
type names struct{ workflows, activities []string }

func (n *names) RegisterWorkflowWithOptions(_ any, o workflow.RegisterOptions) {
	n.workflows = append(n.workflows, o.Name)
}

func (n *names) RegisterActivityWithOptions(_ any, o activity.RegisterOptions) {
	n.activities = append(n.activities, o.Name)
}

// TestNames: workflow types are the operators' API, and histories hold the
// names of activities; none may go or change.
func TestNames(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Clusters = []config.Cluster{{Name: "dev", Flink: flink.Config{URLs: []string{"http://127.0.0.1:1"}}}}
	open, err := openClusters(cfg)
	if err != nil {
		t.Fatal(err)
	}
	acts, err := newActivities(cfg, open, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got names
	workflows.Register(&got)
	acts.Register(&got)
	for _, w := range []string{"ScaleFlinkJob", "RescaleFlinkJob"} {
		if !slices.Contains(got.workflows, w) {
			t.Errorf("workflow %s is not registered: %q", w, got.workflows)
		}
	}
	for _, a := range []string{
		activities.NameAccept, activities.NameObserve, activities.NameDecide, activities.NamePreflight,
		activities.NameApply, activities.NameVerify, activities.NameFindRescale, activities.NameAwaitRescale,
		activities.NameReport,
	} {
		if !slices.Contains(got.activities, a) {
			t.Errorf("activity %s is not registered: %q", a, got.activities)
		}
	}
	if cfg.TaskQueue != workflows.TaskQueue {
		t.Errorf("the default task queue is %q, want that of the contract, %q", cfg.TaskQueue, workflows.TaskQueue)
	}
}

func TestWorkerOptions(t *testing.T) {
	t.Parallel()
	o := workerOptions(config.Default().Limits, nil)
	type picked struct {
		Workflow, Activity, Local int
		Stop                      time.Duration
		Explicit                  bool
	}
	got := picked{
		o.MaxConcurrentWorkflowTaskExecutionSize, o.MaxConcurrentActivityExecutionSize, o.MaxConcurrentLocalActivityExecutionSize,
		o.WorkerStopTimeout, o.DisableRegistrationAliasing,
	}
	if diff := cmp.Diff(picked{200, 1000, 200, 30 * time.Second, true}, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if o.WorkflowTaskPollerBehavior == nil || o.ActivityTaskPollerBehavior == nil {
		t.Error("pollers do not scale by themselves")
	}
}
