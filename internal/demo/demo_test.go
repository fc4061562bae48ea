package demo

import (
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

// TestTheTideTurns follows the job, not the clock.
func TestTheTideTurns(t *testing.T) {
	t.Parallel()
	sized := func(p int) workflows.Status { return workflows.Status{Parallelism: p} }
	busy := sized(4)
	busy.Rescale = &workflows.OpenRescale{}
	var rate float64
	tide := tide{set: func(perSecond float64) error { rate = perSecond; return nil }}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := tide.begin(start, quiet); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		at     time.Duration
		status workflows.Status
		reason string
		rate   float64
		says   string
	}{
		{0, sized(0), "nothing is known", quiet, "800 records/s, quiet until the job has shrunk"},
		{10 * time.Second, sized(2), "it begins with the size for the quiet time", quiet, "800 records/s, quiet for 8 s more"},
		{18 * time.Second, sized(2), "quiet was seen", rush, "2600 records/s, a rush until the job has grown"},
		{35 * time.Second, busy, "it is growing", rush, "2600 records/s, a rush until the job has grown"},
		{45 * time.Second, sized(3), "it has grown", rush, "2600 records/s, a rush for 8 s more"},
		{50 * time.Second, sized(4), "the backlog shrinks", rush, "2600 records/s, a rush for 3 s more"},
		{53 * time.Second, sized(4), "the rush was seen", quiet, "800 records/s, quiet until the job has shrunk"},
		{112 * time.Second, sized(4), "it is pinned by hand", quiet, "800 records/s, quiet until the job has shrunk"},
		{113 * time.Second, sized(4), "that was long enough", rush, "2600 records/s, a rush until the job has grown"},
	} {
		now := start.Add(step.at)
		if err := tide.look(now, step.status); err != nil {
			t.Fatal(err)
		}
		if rate != step.rate || tide.say(now) != step.says {
			t.Errorf("after %s, %s: %g, %q; want %g, %q", step.at, step.reason, rate, tide.say(now), step.rate, step.says)
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
