package porttest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// SinkHarness is a sink of events and a way to see what it made of them.
type SinkHarness struct {
	Sink activities.EventSink
	// Target is where the jobs run, for a sink that needs to know.
	Target core.Target
	// Shown reads what is there for a job now, oldest first. Where events of
	// one key share a place, it is the newest of them.
	Shown func(t *testing.T, key core.JobKey) []Shown
	// Repeats is true where the place of the events cannot tell that one was
	// sent before.
	Repeats bool
	// Break makes the place not answer and returns what mends it. Where it is
	// nil, NotOffered must list it.
	Break      func(t *testing.T) (mend func())
	NotOffered []string
}

// Shown is an event as it can be read back.
type Shown struct {
	Reason, Message, DecisionID string
	Warning                     bool
}

// RunSink tests a sink.
func RunSink(t *testing.T, h SinkHarness) {
	t.Helper()
	if h.Sink == nil || h.Shown == nil {
		t.Fatal("harness: Sink and Shown are needed")
	}
	if declared := slices.Contains(h.NotOffered, "Break"); declared == (h.Break != nil) || len(h.NotOffered) > 1 {
		t.Fatalf("harness: Break is set: %v, NotOffered lists %q", h.Break != nil, h.NotOffered)
	}
	t.Run("all is shown in order", func(t *testing.T) { h.ordered(t) })
	t.Run("sent again", func(t *testing.T) { h.again(t) })
	t.Run("jobs side by side", func(t *testing.T) { h.together(t) })
	t.Run("cancelled", func(t *testing.T) { h.cancelled(t) })
	if h.Break != nil {
		t.Run("no answer", func(t *testing.T) { h.broken(t) })
	}
}

// sinkJob is a job of its own per case: a sink may never forget.
func sinkJob(name string) core.JobKey { return core.JobKey{Cluster: "port-test", Job: name} }

// sent makes events of every kind, with texts that are hard to keep.
func sent() []core.Event {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	texts := []string{
		"scale-up begins: { Vertex ID 1b51e99e55e89e404d9a0443fd98d9e2 | Parallelism 1 -> 2 | Processing capacity 100.00 -> 200.00 | Target data rate 110.00}",
		`quotes " and ' and \ and % and <b> and |`, "Grüße, 世界, 😀", "x", "a: b; c=d", "long " + fmt.Sprint(make([]int, 400)), "last",
	}
	kinds := []core.EventKind{core.EventReport, core.EventRecommended, core.EventIneffective, core.EventError, core.EventOutcome}
	var out []core.Event
	for i, text := range texts {
		k := kinds[i%len(kinds)]
		out = append(out, core.Event{
			Kind: k, Warning: i%2 == 1, Reason: "Reason" + string(k), Key: fmt.Sprintf("Reason%s/%d", k, i), Message: text,
			DecisionID: "7-1", At: at,
		})
	}
	return out
}

func shown(events []core.Event) []Shown {
	var out []Shown
	for _, e := range events {
		out = append(out, Shown{e.Reason, e.Message, e.DecisionID, e.Warning})
	}
	return out
}

func (h SinkHarness) send(t *testing.T, key core.JobKey, events []core.Event) {
	t.Helper()
	before := slices.Clone(events)
	if err := h.Sink.Send(t.Context(), key, h.Target, events); err != nil {
		t.Fatalf("send: %v", err)
	}
	if diff := cmp.Diff(before, events); diff != "" {
		t.Errorf("the events were changed (-want +got):\n%s", diff)
	}
}

func (h SinkHarness) ordered(t *testing.T) {
	key := sinkJob("ordered")
	h.send(t, key, sent())
	if diff := cmp.Diff(shown(sent()), h.Shown(t, key)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := h.Shown(t, sinkJob("another")); len(got) > 0 {
		t.Errorf("another job shows %v", got)
	}
}

// again: a retry shows nothing twice; what another decision says shows.
func (h SinkHarness) again(t *testing.T) {
	key := sinkJob("again")
	h.send(t, key, sent()[:1])
	h.send(t, key, sent()[:2])
	got := h.Shown(t, key)
	if !h.Repeats && len(got) != 2 {
		t.Errorf("two events, one of them sent twice, show as %v", got)
	}
	if h.Repeats && len(got) < 2 {
		t.Errorf("two events show as %v", got)
	}
	later := sent()[1]
	later.DecisionID, later.Message = "9-1", "later"
	h.send(t, key, []core.Event{later})
	if got = h.Shown(t, key); !slices.Contains(got, shown([]core.Event{later})[0]) {
		t.Errorf("what a later decision says does not show: %v", got)
	}
}

func (h SinkHarness) together(t *testing.T) {
	const jobs = 8
	var all sync.WaitGroup
	for i := range jobs {
		all.Go(func() {
			if err := h.Sink.Send(t.Context(), sinkJob(fmt.Sprint("together-", i)), h.Target, sent()); err != nil {
				t.Errorf("send: %v", err)
			}
		})
	}
	all.Wait()
	for i := range jobs {
		if diff := cmp.Diff(shown(sent()), h.Shown(t, sinkJob(fmt.Sprint("together-", i)))); diff != "" {
			t.Errorf("job %d (-want +got):\n%s", i, diff)
		}
	}
}

// cancelled: a call whose caller has gone ends soon, and the sink works on.
func (h SinkHarness) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() { ended <- h.Sink.Send(ctx, sinkJob("cancelled"), h.Target, sent()) }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("a cancelled call does not end")
	}
	h.send(t, sinkJob("after"), sent())
}

// broken: an error has one of the meanings that the contract lists.
func (h SinkHarness) broken(t *testing.T) {
	mend := h.Break(t)
	err := h.Sink.Send(t.Context(), sinkJob("broken"), h.Target, sent())
	wantError(t, "send while nothing answers", err, core.ErrUnreachable)
	mend()
	h.send(t, sinkJob("broken"), sent())
	if got := h.Shown(t, sinkJob("broken")); len(got) < len(sent()) {
		t.Errorf("after it was mended %d events show, want %d", len(got), len(sent()))
	}
}
