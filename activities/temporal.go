package activities

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"flinkscaler/core"
	"flinkscaler/core/share"
)

// RescaleFinder looks at rescale workflows. With SlotAsker it is the only use
// that activities make of Temporal itself.
type RescaleFinder interface {
	// Find describes the newest run with that id; Exists is false when there
	// is none. It asks the server's own state, never visibility, which lags.
	Find(ctx context.Context, in FindRescaleInput) (FoundRescale, error)
	// Await waits until that run is closed and gives its outcome. A run that is
	// not there (deleted) is core.ErrNotFound.
	Await(ctx context.Context, in AwaitRescaleInput) (core.Outcome, error)
}

// SlotAsker reaches the workflow that shares the slots of a cluster.
type SlotAsker interface {
	// TellSlots leaves a signal with that workflow, and starts it on a task queue
	// when it does not run.
	TellSlots(ctx context.Context, taskQueue, signal string, m SlotsMessage) error
}

// Temporal is the RescaleFinder and the SlotAsker on a Temporal client.
type Temporal struct{ Client client.Client }

// Find describes the newest rescale of a target.
func (t Temporal) Find(ctx context.Context, in FindRescaleInput) (FoundRescale, error) {
	d, err := t.Client.DescribeWorkflow(ctx, in.RescaleID, "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return FoundRescale{}, nil
	}
	if err != nil {
		return FoundRescale{}, fmt.Errorf("describe %s: %w", in.RescaleID, err)
	}
	info := d.RawResponse.GetWorkflowExecutionInfo()
	out := FoundRescale{
		Exists: true, RunID: info.GetExecution().GetRunId(),
		Open: info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
	fields := info.GetMemo().GetFields()
	dc := converter.GetDefaultDataConverter()
	for key, to := range map[string]any{MemoOwner: &out.Owner, MemoAttempt: &out.Attempt, MemoDecision: &out.DecisionID} {
		if p, ok := fields[key]; ok {
			if err := dc.FromPayload(p, to); err != nil {
				return FoundRescale{}, fmt.Errorf("memo %s of %s: %w", key, in.RescaleID, err)
			}
		}
	}
	if out.Owner != "" && out.Owner != in.Owner {
		if out.OwnedElsewhere, err = t.running(ctx, out.Owner); err != nil {
			return FoundRescale{}, err
		}
	}
	if !out.Open {
		// A rescale that was terminated has no outcome; the job is simply
		// looked at again.
		var o core.Outcome
		if t.Client.GetWorkflow(ctx, in.RescaleID, out.RunID).Get(ctx, &o) == nil && o.Kind != "" {
			out.Outcome = &o
		}
	}
	return out, nil
}

func (t Temporal) running(ctx context.Context, id string) (bool, error) {
	d, err := t.Client.DescribeWorkflow(ctx, id, "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("describe %s: %w", id, err)
	}
	return d.RawResponse.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}

// Await waits for the outcome of a rescale.
func (t Temporal) Await(ctx context.Context, in AwaitRescaleInput) (core.Outcome, error) {
	var o core.Outcome
	err := t.Client.GetWorkflow(ctx, in.RescaleID, in.RunID).Get(ctx, &o)
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return o, fmt.Errorf("await %s: %w", in.RescaleID, core.ErrNotFound)
	}
	return o, err
}

// TellSlots signals the workflow of the cluster, with a start when it needs one.
func (t Temporal) TellSlots(ctx context.Context, taskQueue, signal string, m SlotsMessage) error {
	id := share.ID(m.Cluster)
	start := SlotsStart{Cluster: m.Cluster}
	if m.Limits != nil {
		start.Limits = *m.Limits
	}
	_, err := t.Client.SignalWithStartWorkflow(ctx, id, signal, m, client.StartWorkflowOptions{
		ID: id, TaskQueue: taskQueue, StaticSummary: "shares the slots of " + m.Cluster,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, NameShareSlots, start)
	if err != nil {
		return fmt.Errorf("tell %s: %w", id, err)
	}
	return nil
}
