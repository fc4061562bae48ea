package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

// sent are the messages that the commands make, as updates and as signals.
func sent(t *testing.T) (input string, updates, signals []order) {
	t.Helper()
	s := newStage()
	ids := 0
	s.app.newID = func() string { ids++; return "id-" + string(rune('a'+ids)) }
	commands := [][]string{
		{"pause", "dev/fresh"},
		{"pause", "dev/fresh", "--for", "1h30m", "--reason", "release"},
		{"resume", "dev/fresh"},
		{"override", "dev/fresh", "--parallelism", "3", "--for", "30 min"},
		{"override", "dev/fresh", "--vertex", "Map = x=2", "--vertex", sourceID + "=1"},
		{"clear-override", "dev/fresh"},
		{"undo", "dev/fresh", "--for", "30 min"},
		{"clear-override", "dev/fresh"},
		{"set-policy", "dev/fresh", "--policy", "vertex.max-parallelism=40", "--policy", "interval = 30 s", "--for", "2 h"},
		{"set-policy", "dev/fresh", "--remove", "vertex.max-parallelism", "--remove", "interval"},
		{"evaluate-now", "dev/fresh"},
	}
	if got := s.run(t.Context(), []string{"start", "--cluster", "dev", "--job", "fresh", "--policy", "metrics.window=5 min"}); len(s.server.jobs) != 4 {
		t.Fatal(got)
	}
	j := s.server.jobs["flink/dev/fresh"]
	for _, c := range commands {
		for _, more := range [][]string{nil, {"--signal"}} {
			if got := s.run(t.Context(), append(c, more...)); s.err.Len() > 0 {
				t.Fatalf("%v: %s", c, got)
			}
		}
	}
	if len(j.orders) != len(commands) || len(j.signals) != len(commands) {
		t.Fatalf("%d updates and %d signals of %d commands", len(j.orders), len(j.signals), len(commands))
	}
	return j.input, j.orders, j.signals
}

// TestTheWorkflowTakesWhatWeSend plays what the commands send to the real
// ScaleFlinkJob: its input is accepted, every update and every signal is
// carried out, and its answers can be shown.
func TestTheWorkflowTakesWhatWeSend(t *testing.T) {
	t.Parallel()
	input, updates, signals := sent(t)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(10 * time.Minute) // a busy machine is no failure
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	register(env)
	var answers []workflows.Answer
	at := time.Minute
	for _, o := range updates {
		at += time.Second
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(o.Name, o.ID, &testsuite.TestUpdateCallback{
				OnReject: func(err error) { t.Errorf("update %s %v was rejected: %v", o.Name, o.Payload, err) },
				OnAccept: func() {},
				OnComplete: func(answer any, err error) {
					if err != nil {
						t.Errorf("update %s: %v", o.Name, err)
						return
					}
					answers = append(answers, through[workflows.Answer](t, answer))
				},
			}, raw(t, o.Payload))
		}, at)
	}
	for _, o := range signals {
		at += time.Second
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(o.Name, signalPayload(o)) }, at)
	}
	var last workflows.Status
	env.RegisterDelayedCallback(func() {
		value, err := env.QueryWorkflow(workflows.QueryStatus)
		if err != nil {
			t.Errorf("status: %v", err)
		} else if err := value.Get(&last); err != nil {
			t.Errorf("status: %v", err)
		}
		env.CancelWorkflow()
	}, at+time.Second)
	env.ExecuteWorkflow(workflows.ScaleFlinkJob, raw(t, json.RawMessage(input)))

	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow did not end")
	}
	if len(answers) != len(updates) {
		t.Errorf("%d answers to %d updates", len(answers), len(updates))
	}
	if len(last.Rejected) > 0 {
		t.Errorf("signals were rejected: %+v", last.Rejected)
	}
	if last.Pause != nil || last.Override != nil || len(last.Set) != 0 || last.Cycle < 2 {
		t.Errorf("the orders did not have their effect: %+v", last)
	}
	for _, a := range answers {
		var b bytes.Buffer
		if err := view.Render(&b, a.Status, 80); err != nil || a.Message == "" {
			t.Errorf("answer %q cannot be shown: %v", a.Message, err)
		}
	}
}

// raw is a value as the SDK's client sends it.
func raw(t *testing.T, v any) converter.RawValue {
	t.Helper()
	payload, err := converter.GetDefaultDataConverter().ToPayload(v)
	if err != nil {
		t.Fatal(err)
	}
	return converter.NewRawValue(payload)
}

// through takes a value the way it comes to a client.
func through[T any](t *testing.T, v any) T {
	t.Helper()
	var out T
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Error(err)
	}
	return out
}

// register gives the workflow activities that see a job with which all is well.
func register(env *testsuite.TestWorkflowEnvironment) {
	named := func(name string, f any) {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	named(activities.NameAccept, func(_ context.Context, in activities.AcceptInput) (activities.Accepted, error) {
		s, problems := spec.Decode([]byte(in.Raw))
		return activities.Accepted{Spec: s, Problems: problems}, nil
	})
	named(activities.NameFindRescale, func(context.Context, activities.FindRescaleInput) (activities.FoundRescale, error) {
		before, after := []core.VertexSize{{ID: mapID, Parallelism: 3}}, []core.VertexSize{{ID: mapID, Parallelism: 2}}
		return activities.FoundRescale{Exists: true, Attempt: 7, Outcome: &core.Outcome{Kind: core.Applied, Attempt: 7, From: before, Got: after}}, nil
	})
	topology := core.Topology{Vertices: []core.Vertex{{ID: mapID, Name: "Map = x", Parallelism: 2, Inputs: []core.Edge{{From: sourceID}}}, {ID: sourceID, Name: "Source", Parallelism: 1}}}
	named(activities.NameObserve, func(_ context.Context, in activities.ObserveInput) (core.Observation, error) {
		return core.Observation{Job: core.JobRef{Key: in.Key, ID: "a4b35ddbb34187f76d11b0d3aff7e61e"}, Topology: &topology, Digest: topology.Digest(), Sample: core.Sample{At: fakeNow()}}, nil
	})
	named(activities.NameDecide, func(_ context.Context, in activities.DecideInput) (activities.Decided, error) {
		d := core.Decision{ID: "1", At: in.Context.Now, Verdict: core.Hold, Reason: core.ReasonWithinTarget}
		for _, v := range in.Context.Topology.Vertices {
			d.Vertices = append(d.Vertices, core.VertexDecision{ID: v.ID, From: v.Parallelism, To: v.Parallelism, Wanted: v.Parallelism, Load: core.Read(0.5), Why: core.ReasonWithinTarget})
		}
		return activities.Decided{Decision: d, Interval: 10 * time.Minute, VerifyTimeout: time.Minute, Backoff: time.Minute}, nil
	})
}
