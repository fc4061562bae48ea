package activities_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// holder is a platform that holds TaskManagers, on which requests stand.
type holder struct {
	*others
	held core.Held
}

func (h *holder) Holds(context.Context, core.JobRef) (core.Held, error) { return h.held, h.broken }

// TestWithdraw: what was asked for and did not come is taken back, by a decision of
// its own, and nothing that runs gets smaller by it.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform, *activities.TrimInput)
		writes int
		note   string
		again  bool
	}{
		"asked for more than came": {"the bound goes down to what runs", func(*platform, *activities.TrimInput) {}, 1, "what did not come was withdrawn (1-1-withdraw): slow 4 -> 2", false},
		"all came":                 {"nothing to take back", func(p *platform, _ *activities.TrimInput) { p.status.Topology.Vertices[1].Parallelism = 4; p.run() }, 0, "", false},
		"before": {"a repeat after a lost answer says the same", func(p *platform, in *activities.TrimInput) { p.held = p.held.Want(sizes(1, 2)) }, 0,
			"what did not come was withdrawn (1-1-withdraw): slow 4 -> 2", false},
		"somebody else": {"I8", func(p *platform, in *activities.TrimInput) { p.held = p.held.Want(sizes(1, 3)) }, 0, "somebody else changed", false},
		"not known":     {"what is in force is not ours to guess", func(p *platform, in *activities.TrimInput) { in.Wish = nil }, 0, "", false},
		"not running":   {"a job that waits for slots shows no size", func(p *platform, in *activities.TrimInput) { p.status.State = core.JobRestarting }, 0, "", true},
		"ended":         {"its requests have ended with it", func(p *platform, in *activities.TrimInput) { p.status.State = core.JobFailed }, 0, "", false},
		"not there":     {"tried again", func(p *platform, in *activities.TrimInput) { p.fail["Status"] = core.ErrUnreachable }, 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			p.held = p.held.Want(sizes(1, 4))
			wish := slices.Clone(p.held)
			in := activities.TrimInput{Key: key(), Job: core.JobRef{ID: "job-1", Means: &core.Means{Withdraws: true}}, DecisionID: "1-1", Wish: wish}
			tt.change(p, &in)
			got, err := ask[activities.Trimmed](t, &others{platform: p}, activities.NameTrim, in)
			if tt.again != (err != nil) || err != nil && activities.IsFinal(err) {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if p.writes != tt.writes || !strings.Contains(got.Note, tt.note) || tt.note == "" && got.Note != "" {
				t.Errorf("%s: %d writes, %+v", tt.reason, p.writes, got)
			}
			if withdrawn := strings.Contains(tt.note, "1-1-withdraw"); (got.Withdrawn != nil) != withdrawn {
				t.Errorf("%s: %+v", tt.reason, got)
			} else if b, _ := got.Wish.Of(slow); withdrawn && (b.Upper != 2 || got.Withdrawn.DecisionID != "1-1-withdraw" || got.Withdrawn.At.IsZero() || !slices.Equal(p.held, got.Wish)) {
				t.Errorf("%s: %+v in force, said %+v", tt.reason, p.held, got)
			}
		})
	}
}

// TestHeld: savings are counted by what the platform holds, not by parallelism.
func TestHeld(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		before int
		held   core.Held
		note   string
		again  bool
	}{
		"grew":             {"that is all", 2, core.Held{What: "containers", Held: 4, Needed: 4}, "containers held for TaskManagers: 2 before, 4 now", false},
		"grew, overshot":   {"Flink may hold more for a while", 2, core.Held{What: "containers", Held: 5, Needed: 4}, "2 before, 5 now, 4 are needed", false},
		"fell":             {"they are given back", 4, core.Held{What: "containers", Held: 2, Needed: 2}, "4 before, 2 now", false},
		"not yet":          {"Flink waits for its time-outs", 4, core.Held{What: "containers", Held: 4, Needed: 2}, "", true},
		"need not known":   {"nothing is waited for", 4, core.Held{What: "containers", Held: 4}, "4 before, 4 now", false},
		"before not known": {"what is held is told", 0, core.Held{What: "containers", Held: 4, Needed: 2}, "TaskManagers: 4 now, 2 are needed", false},
		"others wait":      {"nothing of ours was taken back", 2, core.Held{What: "containers", Held: 2, Needed: 2, Waits: true}, "2 before, 2 now", false},
	} {
		o := &holder{others: &others{platform: newPlatform()}, held: tt.held}
		in := activities.TrimInput{Key: key(), Job: core.JobRef{ID: "job-1", Means: &core.Means{Withdraws: true}}, DecisionID: "1-1", Managers: tt.before}
		got, err := run[activities.Trimmed](t, activities.Cluster{Platform: o.platform, Holder: o}, activities.NameTrim, in)
		if tt.again != (err != nil) || err != nil && activities.IsFinal(err) || !strings.Contains(got.Note, tt.note) {
			t.Errorf("%s: %s: %+v, %v", name, tt.reason, got, err)
		}
	}
	o := &holder{others: &others{platform: newPlatform()}, held: core.Held{What: "containers", Held: 2, Needed: 2, Waits: true}}
	o.platform.held = o.platform.held.Want(sizes(1, 4))
	in := activities.TrimInput{Key: key(), Job: core.JobRef{ID: "job-1", Means: &core.Means{Withdraws: true}}, DecisionID: "1-1", Wish: slices.Clone(o.platform.held)}
	if _, err := run[activities.Trimmed](t, activities.Cluster{Platform: o.platform, Holder: o}, activities.NameTrim, in); err == nil || activities.IsFinal(err) {
		t.Errorf("requests wait although they were withdrawn: %v, want to look again", err)
	}
}
