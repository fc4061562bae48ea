package stabilize

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func bounds(pairs ...any) core.Requirements {
	var out core.Requirements
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, core.Bounds{ID: pairs[i].(string), Lower: 1, Upper: pairs[i+1].(int)})
	}
	return out
}

func TestClaim(t *testing.T) {
	t.Parallel()
	was := core.Memory{Ours: &core.Ours{JobID: "j", Wish: bounds("a", 2)}, Foreign: &core.Foreign{Wanted: bounds("a", 3)}}
	at := noon()
	for name, tt := range map[string]struct {
		reason string
		o      core.Outcome
		want   core.Memory
	}{
		"written":     {"that is what we want now", core.Outcome{Kind: core.Applied, JobID: "j", Wish: bounds("a", 4), Got: sizesOf("a", 4), WrittenAt: at}, core.Memory{Ours: &core.Ours{JobID: "j", Wish: bounds("a", 4)}}},
		"partial":     {"BC-16: 12 of 16 is what there is for now", core.Outcome{Kind: core.Partial, JobID: "j", Wish: bounds("a", 16), Got: sizesOf("a", 12), WrittenAt: at}, core.Memory{Ours: &core.Ours{JobID: "j", Wish: bounds("a", 16), Less: sizesOf("a", 12)}}},
		"not written": {"nothing changed", core.Outcome{Kind: core.Rejected}, was},
		"may be in":   {"nothing to compare with", core.Outcome{Kind: core.Failed, WrittenAt: at}, core.Memory{}},
		"forgotten":   {"I4: a JobManager without HA knows nothing of it", core.Outcome{Kind: core.Failed, Reason: core.ReasonJobRestarted, JobID: "j", Wish: bounds("a", 4), WrittenAt: at}, core.Memory{}},
		"undo forgotten": {"nor of an undo", core.Outcome{
			Kind: core.Failed, Reason: core.ReasonJobFailing, JobID: "j", Wish: bounds("a", 2), WrittenAt: at, Undo: &core.Undo{Kind: core.Failed, Reason: core.ReasonJobRestarted},
		}, core.Memory{}},
		"older version": {"it did not say what it wrote", core.Outcome{Kind: core.Applied, WrittenAt: at}, core.Memory{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Claim(was, tt.o)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	now := noon()
	ours := &core.Ours{JobID: "j", Wish: bounds("a", 4)}
	anew := &core.Ours{JobID: "j", Wish: bounds("a", 4), Anew: true}
	raised := core.Requirements{{ID: "a", Lower: 4, Upper: 4}}
	theirs := func(ago time.Duration, asked time.Time) *core.Foreign {
		return &core.Foreign{Wanted: bounds("a", 9), Since: now.Add(-ago), Asked: asked}
	}
	for name, tt := range map[string]struct {
		reason string
		m      core.Memory
		l      Look
		want   core.Memory
	}{
		"as we wrote":            {"nobody else did", core.Memory{Ours: ours}, Look{JobID: "j", Wanted: bounds("a", 4)}, core.Memory{Ours: ours}},
		"never written":          {"whatever is there was given to us", core.Memory{}, Look{JobID: "j", Wanted: bounds("a", 9)}, core.Memory{}},
		"another job":            {"a new submission has its own sizes (BC-24)", core.Memory{Ours: ours, Foreign: theirs(0, now)}, Look{JobID: "k", Wanted: bounds("a", 9)}, core.Memory{}},
		"changed":                {"I8", core.Memory{Ours: ours}, Look{JobID: "j", Wanted: bounds("a", 9), Asked: now.Add(-time.Hour)}, core.Memory{Ours: ours, Foreign: theirs(0, now.Add(-time.Hour))}},
		"lower bound":            {"that is a wish, too", core.Memory{Ours: ours}, Look{JobID: "j", Wanted: raised}, core.Memory{Ours: ours, Foreign: &core.Foreign{Wanted: raised, Since: now}}},
		"forgotten":              {"I4: another JobManager, and what is wanted is not what we wrote", core.Memory{Ours: anew}, Look{JobID: "j", Wanted: bounds("a", 1)}, core.Memory{}},
		"not forgotten":          {"with HA it knows what was asked", core.Memory{Ours: anew}, Look{JobID: "j", Wanted: bounds("a", 4)}, core.Memory{Ours: ours}},
		"foreign, not forgotten": {"with HA it knows what somebody else asked, too", core.Memory{Ours: anew, Foreign: theirs(time.Minute, time.Time{})}, Look{JobID: "j", Wanted: bounds("a", 9)}, core.Memory{Ours: ours, Foreign: theirs(time.Minute, time.Time{})}},
		"foreign, forgotten":     {"what somebody else asked went with it", core.Memory{Ours: anew, Foreign: theirs(time.Minute, time.Time{})}, Look{JobID: "j", Wanted: bounds("a", 1)}, core.Memory{}},
		"still there":            {"left alone", core.Memory{Ours: ours, Foreign: theirs(59*time.Minute, time.Time{})}, Look{JobID: "j", Wanted: bounds("a", 9)}, core.Memory{Ours: ours, Foreign: theirs(59*time.Minute, time.Time{})}},
		"stood an hour":          {"given", core.Memory{Ours: ours, Foreign: theirs(time.Hour, time.Time{})}, Look{JobID: "j", Wanted: bounds("a", 9), Sizes: sizesOf("a", 7)}, core.Memory{Ours: &core.Ours{JobID: "j", Wish: bounds("a", 9), Less: sizesOf("a", 7)}}},
		"changed again":          {"the hour begins anew", core.Memory{Ours: ours, Foreign: theirs(time.Hour, time.Time{})}, Look{JobID: "j", Wanted: bounds("a", 8)}, core.Memory{Ours: ours, Foreign: &core.Foreign{Wanted: bounds("a", 8), Since: now}}},
		"put back":               {"nothing is left of it", core.Memory{Ours: ours, Foreign: theirs(time.Minute, time.Time{})}, Look{JobID: "j", Wanted: bounds("a", 4)}, core.Memory{Ours: ours}},
		"somebody asked":         {"an operator knows of it", core.Memory{Ours: ours, Foreign: theirs(time.Minute, now.Add(-time.Hour))}, Look{JobID: "j", Wanted: bounds("a", 9), Sizes: sizesOf("a", 9), Asked: now}, core.Memory{Ours: &core.Ours{JobID: "j", Wish: bounds("a", 9)}}},
		"asked before it":        {"that was about something else", core.Memory{Ours: ours, Foreign: theirs(time.Minute, now.Add(-time.Hour))}, Look{JobID: "j", Wanted: bounds("a", 9), Asked: now.Add(-time.Hour)}, core.Memory{Ours: ours, Foreign: theirs(time.Minute, now.Add(-time.Hour))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.l.Now, tt.l.AcceptAfter = now, time.Hour
			if diff := cmp.Diff(tt.want, Compare(tt.m, tt.l)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
	m := Compare(core.Memory{Ours: ours, Foreign: theirs(1000*time.Hour, time.Time{})}, Look{JobID: "j", Wanted: bounds("a", 9), Now: now})
	if m.Foreign == nil {
		t.Error("with accept-after 0 it was taken for given by time")
	}
}

func TestDegraded(t *testing.T) {
	t.Parallel()
	same := func(id string) string { return id }
	partial := core.Memory{Ours: &core.Ours{JobID: "j", Wish: bounds("a", 16), Less: sizesOf("a", 12)}}
	for name, tt := range map[string]struct {
		reason string
		m      core.Memory
		l      Look
		want   string
	}{
		"as wanted":         {"nothing is missing", core.Memory{}, Look{JobID: "j", Wanted: bounds("a", 10), Sizes: sizesOf("a", 10)}, ""},
		"BC-40":             {"8 of 10 slots died", core.Memory{}, Look{JobID: "j", Wanted: bounds("a", 10), Sizes: sizesOf("a", 2)}, "a runs at 2 of 10 that are wanted of Flink; slots are missing"},
		"partial":           {"BC-16: that is what it came to", partial, Look{JobID: "j", Wanted: bounds("a", 16), Sizes: sizesOf("a", 12)}, ""},
		"partial, better":   {"Flink got some more slots", partial, Look{JobID: "j", Wanted: bounds("a", 16), Sizes: sizesOf("a", 14)}, ""},
		"partial, and less": {"less than it came to", partial, Look{JobID: "j", Wanted: bounds("a", 16), Sizes: sizesOf("a", 11)}, "a runs at 11 of 12 that are wanted of Flink; slots are missing"},
		"another job":       {"what another came to is nothing", partial, Look{JobID: "k", Wanted: bounds("a", 16), Sizes: sizesOf("a", 12)}, "a runs at 12 of 16 that are wanted of Flink; slots are missing"},
		"going down":        {"more than wanted is no lack", core.Memory{}, Look{JobID: "j", Wanted: bounds("a", 2), Sizes: sizesOf("a", 4)}, ""},
		"two":               {"the worst is named", core.Memory{}, Look{JobID: "j", Wanted: bounds("a", 4, "b", 9), Sizes: sizesOf("a", 3, "b", 3)}, "b runs at 3 of 9 that are wanted of Flink, 1 more vertices at less too; slots are missing"},
	} {
		if got := Degraded(tt.m, tt.l, same); got != tt.want {
			t.Errorf("%s: %q, want %q: %s", name, got, tt.want, tt.reason)
		}
	}
}

func TestTrial(t *testing.T) {
	t.Parallel()
	began := noon()
	topology := core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 2}}}
	applied := core.Outcome{Kind: core.Applied, DecisionID: "7-1", JobID: "j", From: sizesOf("a", 1), Wanted: sizesOf("a", 2), Got: sizesOf("a", 2), RunningAt: began, WrittenAt: began}
	type look struct {
		at, run time.Duration
		p       int
	}
	minute := time.Minute
	for name, tt := range map[string]struct {
		reason string
		o      core.Outcome
		jobID  string
		looks  []look
		back   bool
	}{
		"well":            {"it runs on", applied, "j", []look{{minute, 0, 2}, {2 * minute, 0, 2}, {9 * minute, 0, 2}}, false},
		"BC-17":           {"three restarts in six minutes", applied, "j", []look{{2 * minute, minute, 2}, {4 * minute, 3 * minute, 2}, {6 * minute, 5 * minute, 2}}, true},
		"seen twice":      {"one restart is one", applied, "j", []look{{2 * minute, minute, 2}, {3 * minute, minute, 2}, {4 * minute, minute, 2}}, false},
		"down in between": {"a look that shows no tasks counts, too", applied, "j", []look{{2 * minute, minute, 0}, {4 * minute, 3 * minute, 0}, {6 * minute, 5 * minute, 0}}, true},
		"late":            {"the third is too late to be its fault", applied, "j", []look{{2 * minute, minute, 2}, {4 * minute, 3 * minute, 2}, {11 * minute, 10*minute + time.Second, 2}}, false},
		"grows":           {"Flink gets nearer with each", applied, "j", []look{{2 * minute, minute, 3}, {4 * minute, 3 * minute, 4}, {6 * minute, 5 * minute, 5}}, false},
		"another job":     {"submitted anew", applied, "k", []look{{2 * minute, minute, 2}, {4 * minute, 3 * minute, 2}, {6 * minute, 5 * minute, 2}}, false},
		"after an undo":   {"there is nothing to go back to", func() core.Outcome { o := applied; o.Cause = core.ReasonUndo; return o }(), "j", []look{{2 * minute, minute, 2}, {4 * minute, 3 * minute, 2}, {6 * minute, 5 * minute, 2}}, false},
		"nothing changed": {"no change to blame", func() core.Outcome { o := applied; o.From = o.Got; return o }(), "j", []look{{2 * minute, minute, 2}, {4 * minute, 3 * minute, 2}, {6 * minute, 5 * minute, 2}}, false},
		"somebody else's": {"not ours to undo", func() core.Outcome { o := applied; o.Kind, o.Reason = core.Partial, core.ReasonForeignWriter; return o }(), "j", []look{{2 * minute, minute, 2}, {4 * minute, 3 * minute, 2}, {6 * minute, 5 * minute, 2}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Try(core.Memory{}, tt.o)
			for _, l := range tt.looks {
				s := core.Sample{At: began.Add(l.at), RunningSince: began.Add(l.run)}
				if l.p > 0 {
					s.Vertices = []core.VertexSample{{ID: "a", Parallelism: l.p}}
				}
				m = Watch(m, tt.jobID, s, time.Hour)
			}
			back, why := GoBack(m, topology)
			if (why != "") != tt.back || (tt.back && !cmp.Equal(back, sizesOf("a", 1))) {
				t.Errorf("%s: back to %v (%s)", tt.reason, back, why)
			}
			if m = Watch(m, "j", core.Sample{At: began.Add(time.Hour)}, 2*time.Hour); m.Trial != nil {
				t.Errorf("it is still on trial an hour later: %+v", m.Trial)
			}
		})
	}
}

func TestRenew(t *testing.T) {
	t.Parallel()
	first, later := noon(), noon().Add(time.Hour)
	ours := &core.Ours{JobID: "j", Wish: bounds("a", 4)}
	anew := &core.Ours{JobID: "j", Wish: bounds("a", 4), Anew: true}
	for name, tt := range map[string]struct {
		reason string
		m      core.Memory
		s      core.Sample
		want   core.Memory
	}{
		"no news":   {"nearly every look", core.Memory{Ours: ours, Started: first}, core.Sample{}, core.Memory{Ours: ours, Started: first}},
		"the same":  {"the job was down, its JobManager was not", core.Memory{Ours: ours, Started: first}, core.Sample{Started: first}, core.Memory{Ours: ours, Started: first}},
		"another":   {"it may know our write or not", core.Memory{Ours: ours, Started: first}, core.Sample{Started: later}, core.Memory{Ours: anew, Started: later}},
		"the first": {"nothing to compare with: a doubt, and no new write", core.Memory{Ours: ours}, core.Sample{Started: later}, core.Memory{Ours: ours, Started: later}},
		"none ours": {"nothing to forget", core.Memory{Started: first}, core.Sample{Started: later}, core.Memory{Started: later}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Renew(tt.m, tt.s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
