package activities

import (
	"context"
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// AcceptInput is the raw input of a new workflow.
type AcceptInput struct {
	WorkflowID string `json:"workflowId"`
	// Raw is the JSON that the operator typed.
	Raw string `json:"raw"`
}

// Accepted is the checked input. With Problems, nothing else in it counts.
type Accepted struct {
	Spec     spec.Spec      `json:"spec"`
	Problems []core.Problem `json:"problems,omitempty"`
	// SearchAttributes is true when the worker may set them.
	SearchAttributes bool `json:"searchAttributes,omitempty"`
	// CyclesPerRun is when to continue as new, 0 for the workflow's choice.
	CyclesPerRun int `json:"cyclesPerRun,omitempty"`
}

// Accept checks the input of a new workflow strictly: every problem at once,
// each with its path. It runs as a recorded local activity, so that a later
// change of the rules never fails a running workflow.
func (a *Activities) Accept(_ context.Context, in AcceptInput) (Accepted, error) {
	out, problems := spec.Decode([]byte(in.Raw))
	if out.Key.Cluster != "" {
		if _, ok := a.s.Clusters[out.Key.Cluster]; !ok {
			problems = append(problems, core.Problem{Path: "cluster", Message: fmt.Sprintf("unknown cluster %q; this worker's configuration knows %s", out.Key.Cluster, known(a.clusterNames()))})
		}
		if out.Key.Job != "" && in.WorkflowID != spec.ID(out.Key) {
			problems = append(problems, core.Problem{Path: "workflow id", Message: fmt.Sprintf("is %q, but for this job it must be %q", in.WorkflowID, spec.ID(out.Key))})
		}
	}
	return Accepted{Spec: out, Problems: problems, SearchAttributes: a.s.SearchAttributes, CyclesPerRun: a.s.CyclesPerRun}, nil
}
