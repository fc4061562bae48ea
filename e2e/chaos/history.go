package chaos

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/workflows"
)

// rescales reads every run of RescaleFlinkJob: its decisions on their way to
// Flink, and its outcome.
func rescales(ctx context.Context, c client.Client) (asks []Ask, runs []Rescale, err error) {
	var page []byte
	for {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowType = '%s'", workflows.RescaleName), NextPageToken: page, PageSize: 500,
		})
		if err != nil {
			return nil, nil, fmt.Errorf("list the rescales: %w", err)
		}
		for _, e := range list.GetExecutions() {
			a, r, err := rescale(ctx, c, e.GetExecution())
			if err != nil {
				return nil, nil, fmt.Errorf("read %s %s: %w", e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), err)
			}
			asks, runs = append(asks, a...), append(runs, r)
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return asks, runs, nil
		}
	}
}

// rescale reads one run.
func rescale(ctx context.Context, c client.Client, e *commonpb.WorkflowExecution) ([]Ask, Rescale, error) {
	var (
		in   activities.RescaleInput
		asks []Ask
		open = map[int64]int{} // asks by the event that scheduled them
		run  = Rescale{Status: "Running"}
	)
	events := c.GetWorkflowHistory(ctx, e.GetWorkflowId(), e.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		ev, err := events.Next()
		if err != nil {
			return nil, run, err
		}
		at := ev.GetEventTime().AsTime()
		closed := int64(0)
		switch ev.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			if err := decode(ev.GetWorkflowExecutionStartedEventAttributes().GetInput(), &in); err != nil {
				return nil, run, err
			}
			run.Job, run.Decision = in.Key.Job, in.DecisionID
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			a := ev.GetActivityTaskScheduledEventAttributes()
			if a.GetActivityType().GetName() != activities.NameApply {
				continue
			}
			var apply activities.ApplyInput
			if err := decode(a.GetInput(), &apply); err != nil {
				return nil, run, err
			}
			open[ev.GetEventId()] = len(asks)
			asks = append(asks, Ask{
				Job: in.Key.Job, JobID: apply.Job.ID, Decision: apply.DecisionID, Cause: in.Cause,
				Undo: apply.DecisionID != in.DecisionID, Wish: apply.Wish, From: at, Until: at,
			})
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			closed = ev.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
			closed = ev.GetActivityTaskFailedEventAttributes().GetScheduledEventId()
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
			closed = ev.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId()
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
			run.Status = "Completed"
			var o core.Outcome
			if err := decode(ev.GetWorkflowExecutionCompletedEventAttributes().GetResult(), &o); err != nil {
				return nil, run, err
			}
			run.Outcome = &o
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
			enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
			run.Status = ev.GetEventType().String()
		}
		if i, ok := open[closed]; ok {
			asks[i].Until = at
		}
	}
	return asks, run, nil
}

func decode(p *commonpb.Payloads, to any) error {
	return converter.GetDefaultDataConverter().FromPayloads(p, to)
}
