package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/activities/porttest"
	"flinkscaler/core"
)

// sink keeps events in memory, each once per decision and key.
type sink struct {
	mu   sync.Mutex
	sent []core.Event
	jobs []core.JobKey
	fail error
}

func (s *sink) Send(_ context.Context, key core.JobKey, _ core.Target, events []core.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	for _, e := range events {
		if !s.has(key, e) {
			s.sent, s.jobs = append(s.sent, e), append(s.jobs, key)
		}
	}
	return nil
}

func (s *sink) has(key core.JobKey, e core.Event) bool {
	for i, x := range s.sent {
		if s.jobs[i] == key && x.Key == e.Key && x.DecisionID == e.DecisionID {
			return true
		}
	}
	return false
}

// TestFakeSink holds the fake to the contract of the port.
func TestFakeSink(t *testing.T) {
	t.Parallel()
	s := &sink{}
	porttest.RunSink(t, porttest.SinkHarness{
		Sink: s,
		Shown: func(_ *testing.T, key core.JobKey) []porttest.Shown {
			s.mu.Lock()
			defer s.mu.Unlock()
			var out []porttest.Shown
			for i, e := range s.sent {
				if s.jobs[i] == key {
					out = append(out, porttest.Shown{Reason: e.Reason, Message: e.Message, DecisionID: e.DecisionID, Warning: e.Warning})
				}
			}
			return out
		},
		Break: func(*testing.T) func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.fail = &core.OpError{Op: "send", Err: core.ErrUnreachable}
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.fail = nil
			}
		},
	})
}

// listening makes activities that send to a sink, nil for none.
func listening(t *testing.T, to activities.EventSink) *activities.Activities {
	t.Helper()
	a, err := activities.New(activities.Settings{
		Clusters: map[string]activities.Cluster{"dev": {Platform: newPlatform()}}, Sink: to, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestReport(t *testing.T) {
	t.Parallel()
	in := activities.ReportInput{Key: key(), Events: []core.Event{{Reason: "ScalingReport", Key: "k", DecisionID: "1-1"}}}
	for name, tt := range map[string]struct {
		reason string
		fail   error
		final  bool
	}{
		"sent":         {"all is well", nil, false},
		"unreachable":  {"tried again", &core.OpError{Op: "send", Err: core.ErrUnreachable}, false},
		"busy":         {"tried again", core.ErrBusy, false},
		"unknown":      {"tried again", errors.New("disk full"), false},
		"refused":      {"useless to try again", core.ErrRefused, true},
		"unauthorized": {"useless to try again", core.ErrUnauthorized, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sink{fail: tt.fail}
			err := listening(t, s).Report(t.Context(), in)
			if (err != nil) != (tt.fail != nil) || activities.IsFinal(err) != tt.final {
				t.Errorf("%s: error %v, final %v", tt.reason, err, activities.IsFinal(err))
			}
			if tt.fail == nil && (len(s.sent) != 1 || s.jobs[0] != key()) {
				t.Errorf("%s: sent %v of %v", tt.reason, s.sent, s.jobs)
			}
		})
	}
	if err := listening(t, nil).Report(t.Context(), in); err != nil {
		t.Errorf("without a sink: %v", err)
	}
}

// seen is a running job with one good look at it, at a minute of the hour.
func seen(minute int) core.JobContext {
	p := newPlatform()
	now := start.Add(time.Duration(minute) * time.Minute)
	s := core.Sample{At: now, RunningSince: start.Add(-time.Hour)}
	for _, v := range p.status.Topology.Vertices {
		s.Vertices = append(s.Vertices, core.VertexSample{ID: v.ID, Parallelism: v.Parallelism})
	}
	return core.JobContext{Key: key(), JobID: "job-1", Cycle: minute, Now: now, Topology: p.status.Topology, Window: []core.Sample{s}}
}

// decide makes one decision and carries its memory on.
func decide(t *testing.T, a *activities.Activities, c core.JobContext, memory *core.Memory) activities.Decided {
	t.Helper()
	c.Memory = *memory
	out, err := a.Decide(t.Context(), activities.DecideInput{Context: c})
	if err != nil {
		t.Fatal(err)
	}
	if out.Memory != nil {
		*memory = *out.Memory
	}
	return out
}

func reasonsOf(events []core.Event) (out []string) {
	for _, e := range events {
		out = append(out, string(e.Kind)+" "+e.Reason)
	}
	return out
}

// TestDecideTellsOnce: what a decision gives rise to comes with it, once within
// the policy's interval, and what was told is remembered.
func TestDecideTellsOnce(t *testing.T) {
	t.Parallel()
	a, memory := listening(t, &sink{}), &core.Memory{}
	ordered := func(minute int) core.JobContext {
		c := seen(minute)
		c.Override = &core.Override{Parallelism: 4, By: "ann"}
		return c
	}
	paused := func(minute int) core.JobContext {
		c := ordered(minute)
		c.Pause = &core.Pause{By: "bob"}
		return c
	}
	broken := func(minute int) core.JobContext {
		c := seen(minute)
		c.Window[0].Fault, c.Window[0].Note = core.ReasonUnreachable, "no route"
		c.Window = append(c.Window, c.Window[0])
		return c
	}
	for _, step := range []struct {
		reason string
		c      core.JobContext
		want   []string
	}{
		{"nothing to tell", seen(1), nil},
		{"what an order would change is recommended while paused", paused(2), []string{"recommended ScalingReport"}},
		{"told already", paused(3), nil},
		{"a change is reported", ordered(4), []string{"report ScalingReport"}},
		{"each time", ordered(5), []string{"report ScalingReport"}},
		{"and after it a recommendation is news", paused(6), []string{"recommended ScalingReport"}},
		{"an error", broken(7), []string{"error AutoscalerError"}},
		{"told already", broken(8), nil},
		{"half an hour later once more", broken(37), []string{"error AutoscalerError"}},
	} {
		out := decide(t, a, step.c, memory)
		if diff := cmp.Diff(step.want, reasonsOf(out.Events)); diff != "" {
			t.Errorf("minute %d: %s (-want +got):\n%s", step.c.Cycle, step.reason, diff)
		}
		for _, e := range out.Events {
			if e.DecisionID != out.Decision.ID || !e.At.Equal(out.Decision.At) {
				t.Errorf("minute %d: the event is of %s, the decision is %s", step.c.Cycle, e.DecisionID, out.Decision.ID)
			}
		}
	}
}

// TestNothingToTellCostsNothing: an idle cycle has neither events nor a memory
// in its history, and neither has a worker without a sink.
func TestNothingToTellCostsNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		a *activities.Activities
		c core.JobContext
	}{
		"idle":    {listening(t, &sink{}), seen(1)},
		"no sink": {listening(t, nil), seen(1)},
	} {
		if name == "no sink" {
			tt.c.Override, tt.c.Pause = &core.Override{Parallelism: 4}, &core.Pause{}
		}
		out := decide(t, tt.a, tt.c, &core.Memory{})
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), `"events"`) || out.Memory != nil {
			t.Errorf("%s: %s", name, b)
		}
	}
}

// TestReportOfAnOutcome: the alarm is made where it is sent, so that its words may
// change; an outcome that is none is not told.
func TestReportOfAnOutcome(t *testing.T) {
	t.Parallel()
	s := &sink{}
	a, err := activities.New(activities.Settings{Sink: s, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	key := core.JobKey{Cluster: "dev", Job: "orders"}
	bad := core.Outcome{Kind: core.Undone, Reason: core.ReasonJobFailing, DecisionID: "7-1", Attempt: 3, Note: "3 failures"}
	for _, o := range []core.Outcome{bad, {Kind: core.Applied}, bad} {
		if err := a.Report(t.Context(), activities.ReportInput{Key: key, Outcome: &o}); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.sent) != 1 || s.sent[0].Reason != "RescaleUndone" || s.sent[0].Key != "RescaleUndone/7-1/3" {
		t.Errorf("sent %+v", s.sent)
	}
}
