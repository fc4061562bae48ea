package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"flinkscaler/workflows"
)

// What can go wrong with a call, translated once from the server's words.
var (
	// errNotFound: there is no workflow with that id.
	errNotFound = errors.New("no such workflow")
	// errEnded: there is one, but it does not run.
	errEnded = errors.New("the workflow does not run")
	// errNoWorker: the server is there, but no worker answered in time.
	errNoWorker = errors.New("no worker answered")
	// errUnreachable: the server did not answer.
	errUnreachable = errors.New("the server does not answer")
	// errDenied: the server does not let us.
	errDenied = errors.New("the server refuses the credentials")
	// errNamespace: the namespace does not exist.
	errNamespace = errors.New("no such namespace")
	// errRejected: the workflow refused the order; the text says why.
	errRejected = errors.New("rejected")
)

// server is what the commands need of Temporal. Every error matches one of the
// above, or is unexpected.
type server interface {
	// Start starts a workflow unless one with that id runs: then it is left
	// alone, and started.Already is true.
	Start(ctx context.Context, r startRequest) (started, error)
	// List gives a page of the workflows that a visibility query finds, and where
	// the next one begins: nil for the first page, empty after the last.
	List(ctx context.Context, query string, page []byte) (found []execution, next []byte, err error)
	// Describe works without a worker.
	Describe(ctx context.Context, id string) (execution, error)
	// Outcome gives the failure with which an ended workflow ended, as text;
	// empty when there was none.
	Outcome(ctx context.Context, id, runID string) (string, error)
	// Query asks a workflow's worker and decodes the answer.
	Query(ctx context.Context, id, name string, answer any) error
	// Heartbeat decodes what the activity that a workflow waits for said last;
	// found is false where there is none, or it has said nothing yet.
	Heartbeat(ctx context.Context, id string, details any) (found bool, err error)
	// Update gives an order and waits for its answer. The same order id has one
	// effect.
	Update(ctx context.Context, o order) (workflows.Answer, error)
	// Signal leaves an order with the server: no answer.
	Signal(ctx context.Context, o order) error
	Cancel(ctx context.Context, id string) error
	Close()
}

// startRequest is a ScaleFlinkJob to start.
type startRequest struct {
	ID, TaskQueue, Summary string
	Input                  json.RawMessage
}

// started is what came of it.
type started struct {
	RunID   string
	Already bool
}

// execution is a workflow as the server knows it.
type execution struct {
	ID        string
	RunID     string
	TaskQueue string
	// Status is the server's word: Running, Completed, Failed, Canceled, ...
	Status    string
	StartedAt time.Time
	ClosedAt  time.Time
}

// The server's words that we act on.
const (
	statusRunning = "Running"
	statusFailed  = "Failed"
)

func (e execution) running() bool { return e.Status == statusRunning }

// order is a message of an operator to a workflow.
type order struct {
	WorkflowID string
	Name       string
	// ID makes that a repeated order has one effect.
	ID      string
	Payload map[string]any
}
