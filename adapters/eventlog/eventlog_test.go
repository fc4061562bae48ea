package eventlog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/eventlog"
	"flinkscaler/core"
	"flinkscaler/internal/logging"
)

// page is a log that can be read while it is written.
type page struct {
	mu sync.Mutex
	b  strings.Builder
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

func newSink(t *testing.T, format string) (*eventlog.Sink, *page) {
	t.Helper()
	p := &page{}
	log, err := logging.New(logging.Settings{Name: "worker", Level: "info", Format: format, Output: p})
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.New(log), p
}

func TestConformance(t *testing.T) {
	t.Parallel()
	sink, p := newSink(t, logging.JSON)
	porttest.RunSink(t, porttest.SinkHarness{
		Sink: sink, Repeats: true,
		Shown: func(t *testing.T, key core.JobKey) []porttest.Shown {
			t.Helper()
			var out []porttest.Shown
			for line := range strings.Lines(p.text()) {
				var x struct {
					Level                string `json:"@level"`
					Job, Event, Decision string
					Note                 string
				}
				if err := json.Unmarshal([]byte(line), &x); err != nil {
					t.Fatal(err)
				}
				if x.Job == key.String() {
					out = append(out, porttest.Shown{Reason: x.Event, Message: x.Note, DecisionID: x.Decision, Warning: x.Level == "warn"})
				}
			}
			return out
		},
		// Nothing outside is needed to write a log.
		NotOffered: []string{"Break"},
	})
}

// TestLine: this is what an operator sees and looks for.
func TestLine(t *testing.T) {
	t.Parallel()
	sink, p := newSink(t, logging.Human)
	err := sink.Send(t.Context(), core.JobKey{Cluster: "dev", Job: "orders"}, core.Target{}, []core.Event{
		{Reason: "ScalingReport", Message: "scale-up begins: { Vertex ID a | Parallelism 1 -> 2 }", DecisionID: "7-1"},
		{Reason: "AutoscalerError", Message: "unreachable", Warning: true, DecisionID: "8-1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(p.text()))
	want := []string{
		`[INFO]  worker.events: event of a job: job=dev/orders event=ScalingReport decision=7-1 note="scale-up begins: { Vertex ID a | Parallelism 1 -> 2 }"` + "\n",
		`[WARN]  worker.events: event of a job: job=dev/orders event=AutoscalerError decision=8-1 note=unreachable` + "\n",
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	for i := range want {
		if !strings.HasSuffix(lines[i], want[i]) {
			t.Errorf("line %d is %q, want it to end in %q", i, lines[i], want[i])
		}
	}
}
