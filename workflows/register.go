package workflows

import (
	"go.temporal.io/sdk/workflow"
)

// Registry is the part of a worker that takes workflows.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers every workflow under its name. Functions, never methods
// of a shared value: state must not pass from one job to another.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(ScaleFlinkJob, workflow.RegisterOptions{Name: ScaleName})
	r.RegisterWorkflowWithOptions(RescaleFlinkJob, workflow.RegisterOptions{Name: RescaleName})
	r.RegisterWorkflowWithOptions(ShareSlots, workflow.RegisterOptions{Name: ShareName})
}
