package demo

import (
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

func TestTheLoadRepeats(t *testing.T) {
	t.Parallel()
	w := wave(cycle())
	for _, tt := range []struct {
		at, until time.Duration
		rate      float64
	}{
		{0, 6 * time.Second, 800},
		{6 * time.Second, 24 * time.Second, 2600},
		{49 * time.Second, 50 * time.Second, 800},
		{57 * time.Second, 74 * time.Second, 2600},
	} {
		if rate, until := w.Rate(tt.at); rate != tt.rate || until != tt.until {
			t.Errorf("at %s: %g until %s, want %g until %s", tt.at, rate, until, tt.rate, tt.until)
		}
	}
}

func TestTheSummaryCountsWhatWasDone(t *testing.T) {
	t.Parallel()
	size := func(p int) []core.VertexSize { return []core.VertexSize{{ID: "a", Parallelism: p}} }
	ups, downs, holds := count(workflows.History{
		Rescales: []core.Outcome{
			{Kind: core.Applied, From: size(1), Got: size(4)},
			{Kind: core.Partial, From: size(4), Got: size(5)},
			{Kind: core.Rejected, From: size(5), Got: nil},
			{Kind: core.Applied, From: size(5), Got: size(2)},
		},
		Decisions: []workflows.Record{{Verdict: core.Hold, Count: 7}, {Verdict: core.Change, Count: 1}, {Verdict: core.Hold, Count: 2}},
	})
	if ups != 2 || downs != 1 || holds != 9 {
		t.Errorf("ups %d, downs %d, holds %d", ups, downs, holds)
	}
}
