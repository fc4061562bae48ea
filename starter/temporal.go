package main

import (
	"context"
	"errors"
	"fmt"
	"maps"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"flinkscaler/workflows"
)

// temporalServer is a server over the SDK's client.
type temporalServer struct {
	c client.Client
}

// Start refuses to meet a running workflow, instead of USE_EXISTING, because
// only so the SDK tells that it was running already; the effect is the same.
func (t temporalServer) Start(ctx context.Context, r startRequest) (started, error) {
	run, err := t.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: r.ID, TaskQueue: r.TaskQueue, StaticSummary: r.Summary,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, workflows.ScaleName, r.Input)
	if already, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); ok {
		return started{RunID: already.RunId, Already: true}, nil
	}
	if err != nil {
		return started{}, translate(ctx, err, false)
	}
	return started{RunID: run.GetRunID()}, nil
}

// pageSize is what a server gives at once; it may give less.
const pageSize = 1000

func (t temporalServer) List(ctx context.Context, query string, page []byte) ([]execution, []byte, error) {
	resp, err := t.c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: page, PageSize: pageSize})
	if err != nil {
		return nil, nil, translate(ctx, err, false)
	}
	out := make([]execution, 0, len(resp.GetExecutions()))
	for _, e := range resp.GetExecutions() {
		out = append(out, toExecution(e))
	}
	return out, resp.GetNextPageToken(), nil
}

func (t temporalServer) Describe(ctx context.Context, id string) (execution, error) {
	d, err := t.c.DescribeWorkflow(ctx, id, "")
	if err != nil {
		return execution{}, translate(ctx, err, false)
	}
	resp := d.RawResponse
	e := toExecution(resp.GetWorkflowExecutionInfo())
	if e.TaskQueue == "" {
		e.TaskQueue = resp.GetExecutionConfig().GetTaskQueue().GetName()
	}
	return e, nil
}

func toExecution(e *workflowpb.WorkflowExecutionInfo) execution {
	out := execution{
		ID: e.GetExecution().GetWorkflowId(), RunID: e.GetExecution().GetRunId(),
		TaskQueue: e.GetTaskQueue(), Status: e.GetStatus().String(),
	}
	if e.GetStartTime() != nil {
		out.StartedAt = e.GetStartTime().AsTime()
	}
	if e.GetCloseTime() != nil {
		out.ClosedAt = e.GetCloseTime().AsTime()
	}
	return out
}

func (t temporalServer) Outcome(ctx context.Context, id, runID string) (string, error) {
	err := t.c.GetWorkflow(ctx, id, runID).Get(ctx, nil)
	if _, ok := errors.AsType[*temporal.WorkflowExecutionError](err); !ok {
		return "", translate(ctx, err, false)
	}
	return rootMessage(err), nil
}

// rootMessage is the innermost message of a workflow's failure.
func rootMessage(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Message()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

func (t temporalServer) Query(ctx context.Context, id, name string, answer any) error {
	value, err := t.c.QueryWorkflow(ctx, id, "", name)
	if err != nil {
		return translate(ctx, err, true)
	}
	if err := value.Get(answer); err != nil {
		return fmt.Errorf("the answer of query %s cannot be read: %w", name, err)
	}
	return nil
}

func (t temporalServer) Heartbeat(ctx context.Context, id string, details any) (bool, error) {
	d, err := t.c.DescribeWorkflow(ctx, id, "")
	if err != nil {
		return false, translate(ctx, err, false)
	}
	for _, a := range d.RawResponse.GetPendingActivities() {
		if said := a.GetHeartbeatDetails(); len(said.GetPayloads()) > 0 {
			return true, converter.GetDefaultDataConverter().FromPayloads(said, details)
		}
	}
	return false, nil
}

func (t temporalServer) Update(ctx context.Context, o order) (workflows.Answer, error) {
	handle, err := t.c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: o.WorkflowID, UpdateName: o.Name, UpdateID: o.ID, Args: []any{o.Payload},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return workflows.Answer{}, translate(ctx, err, true)
	}
	var answer workflows.Answer
	if err := handle.Get(ctx, &answer); err != nil {
		return workflows.Answer{}, translate(ctx, err, true)
	}
	return answer, nil
}

func (t temporalServer) Signal(ctx context.Context, o order) error {
	return translate(ctx, t.c.SignalWorkflow(ctx, o.WorkflowID, "", o.Name, signalPayload(o)), false)
}

// signalPayload carries the order's id in the message; an update has its own
// place for it.
func signalPayload(o order) map[string]any {
	payload := map[string]any{"id": o.ID}
	maps.Copy(payload, o.Payload)
	return payload
}

func (t temporalServer) Cancel(ctx context.Context, id string) error {
	return translate(ctx, t.c.CancelWorkflow(ctx, id, ""), false)
}

func (t temporalServer) Close() { t.c.Close() }

// translate gives an error of the SDK one of our meanings. A call that needs a
// worker and runs out of time lacks the worker; any other lacks the server.
func translate(ctx context.Context, err error, needsWorker bool) error {
	if err == nil {
		return nil
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return fmt.Errorf("%w: %s", errRejected, app.Message())
	}
	if m := meaning(err); m != nil {
		return fmt.Errorf("%w: %s", m, err.Error())
	}
	if _, ok := errors.AsType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err); ok || outOfTime(ctx, err) {
		if needsWorker {
			return fmt.Errorf("%w: %s", errNoWorker, err.Error())
		}
		return fmt.Errorf("%w: %s", errUnreachable, err.Error())
	}
	return err
}

func outOfTime(ctx context.Context, err error) bool {
	_, deadline := errors.AsType[*serviceerror.DeadlineExceeded](err)
	_, canceled := errors.AsType[*serviceerror.Canceled](err)
	return deadline || canceled || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)
}

// ended is how the server says that a workflow is there but does not run: it
// has no type of its own for it.
const ended = "workflow execution already completed"

func meaning(err error) error {
	if e, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		if e.Message == ended {
			return errEnded
		}
		return errNotFound
	}
	if _, ok := errors.AsType[*serviceerror.WorkflowNotReady](err); ok {
		return errNoWorker
	}
	if _, ok := errors.AsType[*serviceerror.FailedPrecondition](err); ok {
		return errNoWorker // "no poller seen for task queue recently, worker may be down"
	}
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok {
		return errNamespace
	}
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); ok {
		return errDenied
	}
	if _, ok := errors.AsType[*serviceerror.Unavailable](err); ok {
		return errUnreachable
	}
	return nil
}
