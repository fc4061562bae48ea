package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/workflows"
)

// answers collects what became of an update.
type answers struct{ accepted, refused error }

func (a *answers) Accept()                   {}
func (a *answers) Reject(err error)          { a.accepted, a.refused = nil, err }
func (a *answers) Complete(_ any, err error) { a.accepted = err }

// TestExamplesAreAccepted sends every example of the page to the workflow, as
// an update: those are checked. A field that the page makes up is caught.
func TestExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	sent := 0
	for _, m := range append(Messages(), Message{Name: workflows.MsgPause, Examples: []string{`{"bye": "ann"}`}}) {
		for _, example := range m.Examples {
			t.Run(m.Name+" "+example, func(t *testing.T) {
				err := send(t, m.Name, example)
				switch wrong := strings.Contains(example, "bye"); {
				case wrong && (err == nil || !strings.Contains(err.Error(), "unknown field")):
					t.Errorf("a made-up field is not caught: %v", err)
				case strings.Contains(example, `"decision"`) && err != nil && strings.Contains(err.Error(), "no proposal"):
					// It is well formed; there is none in this job.
				case !wrong && err != nil:
					t.Error(err)
				}
			})
			sent++
		}
	}
	if sent < 9 {
		t.Errorf("only %d examples were sent", sent)
	}
}

// send runs a workflow whose cluster does not answer, and gives it one order.
func send(t *testing.T, name, payload string) error {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(10 * time.Minute) // a busy machine is no failure
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	workflows.Register(env)
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "flink/dev/orders", TaskQueue: workflows.TaskQueue})
	register := func(name string, f any) {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	register(activities.NameAccept, func(_ context.Context, in activities.AcceptInput) (activities.Accepted, error) {
		s, problems := spec.Decode([]byte(in.Raw))
		return activities.Accepted{Spec: s, Problems: problems}, nil
	})
	register(activities.NameObserve, func(context.Context, activities.ObserveInput) (core.Observation, error) {
		return core.Observation{Sample: core.Sample{Fault: core.ReasonUnreachable}, Topology: &core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 4}}}}, nil
	})
	register(activities.NameDecide, func(context.Context, activities.DecideInput) (activities.Decided, error) {
		return activities.Decided{Decision: core.Decision{ID: "1", Verdict: core.Hold, Reason: core.ReasonUnreachable}, Interval: time.Minute}, nil
	})
	register(activities.NameFindRescale, func(context.Context, activities.FindRescaleInput) (activities.FoundRescale, error) {
		// A change that can be undone.
		return activities.FoundRescale{Exists: true, Attempt: 1, Outcome: &core.Outcome{
			Kind: core.Applied, From: []core.VertexSize{{ID: "a", Parallelism: 2}}, Got: []core.VertexSize{{ID: "a", Parallelism: 4}},
		}}, nil
	})
	a := answers{accepted: errors.New("no answer came")}
	env.RegisterDelayedCallback(func() {
		if payload == "" {
			env.UpdateWorkflow(name, "1", &a)
			return
		}
		env.UpdateWorkflow(name, "1", &a, json.RawMessage(payload))
	}, 90*time.Second)
	env.RegisterDelayedCallback(env.CancelWorkflow, 5*time.Minute)
	env.ExecuteWorkflow(workflows.ScaleName, json.RawMessage(`{"cluster": "dev", "job": "orders"}`))
	if !env.IsWorkflowCompleted() {
		return fmt.Errorf("the workflow did not end")
	}
	return errors.Join(a.accepted, a.refused)
}
