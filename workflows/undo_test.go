package workflows

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flinkscaler/core"
)

// sized makes sizes of "a 2 b 3".
func sized(t *testing.T, text string) []core.VertexSize {
	t.Helper()
	words := strings.Fields(text)
	var out []core.VertexSize
	for i := 0; i+1 < len(words); i += 2 {
		n := 0
		for _, r := range words[i+1] {
			n = n*10 + int(r-'0')
		}
		out = append(out, core.VertexSize{ID: words[i], Parallelism: n})
	}
	return out
}

func running(t *testing.T, text string) core.Topology {
	t.Helper()
	var out core.Topology
	for _, s := range sized(t, text) {
		out.Vertices = append(out.Vertices, core.Vertex{ID: s.ID, Name: "vertex " + s.ID, Parallelism: s.Parallelism, MaxParallelism: 24})
	}
	return out
}

func TestUndo(t *testing.T) {
	t.Parallel()
	type rescale struct {
		kind      core.OutcomeKind
		from, got string
	}
	for name, tt := range map[string]struct {
		reason   string
		rescales []rescale
		open     *OpenRescale
		runs     string
		override *core.Override
		edit     func(*core.Topology)
		want     string
		told     []string
		problem  string
	}{
		"applied": {reason: "back to before", rescales: []rescale{{core.Applied, "a 2 b 2", "a 4 b 2"}}, runs: "a 4 b 2", want: "a 2"},
		"partial": {reason: "it had an effect", rescales: []rescale{{core.Partial, "a 2", "a 3"}}, runs: "a 3", want: "a 2"},
		"the last that did": {
			reason: "what came to nothing is passed over", rescales: []rescale{
				{core.Applied, "a 2", "a 4"}, {core.Rejected, "a 4", ""}, {core.Partial, "a 4", "a 4"}, {core.Failed, "a 4", "a 5"}, {core.Undone, "a 4", "a 4"},
			}, runs: "a 4", want: "a 2",
		},
		"nothing":        {reason: "no change yet", runs: "a 4", problem: "nothing to undo"},
		"without effect": {reason: "all were rejected", rescales: []rescale{{core.Rejected, "a 2", ""}}, runs: "a 2", problem: "nothing to undo"},
		"back already":   {reason: "it runs as before", rescales: []rescale{{core.Applied, "a 2", "a 4"}}, runs: "a 2", problem: "everything runs at the sizes before rescale 1"},
		"back, but an override waits": {
			reason: "the undo takes its place", rescales: []rescale{{core.Applied, "a 2", "a 4"}}, runs: "a 2", override: &core.Override{Parallelism: 9}, want: "a 2",
			told: []string{"vertex a was changed since, from 4 to 2"},
		},
		"changed since": {
			reason: "said, and undone all the same", rescales: []rescale{{core.Applied, "a 2", "a 4"}}, runs: "a 6", want: "a 2",
			told: []string{"vertex a was changed since, from 4 to 6"},
		},
		"one is gone": {
			reason: "the others go back", rescales: []rescale{{core.Applied, "a 2 b 3", "a 4 b 6"}}, runs: "b 6 c 1", want: "b 3",
			told: []string{"vertex a is no longer there"},
		},
		"all are gone": {reason: "another job", rescales: []rescale{{core.Applied, "a 2", "a 4"}}, runs: "c 1", problem: "vertex a is no longer there"},
		"finished": {
			reason: "it has no size any more", rescales: []rescale{{core.Applied, "a 2", "a 4"}}, runs: "a 4", problem: "vertex a has finished",
			edit: func(t *core.Topology) { t.Vertices[0].Finished = true },
		},
		"cannot run": {
			reason: "the job came back with a smaller max parallelism", rescales: []rescale{{core.Applied, "a 20", "a 10"}}, runs: "a 10", problem: `undo.vertices["a"]: must be between 1 and 16`,
			edit: func(t *core.Topology) { t.Vertices[0].MaxParallelism = 16 },
		},
		"under way":      {reason: "that one is meant", rescales: []rescale{{core.Applied, "a 1", "a 2"}}, open: &OpenRescale{Attempt: 2, From: sized(t, "a 2"), Wanted: sized(t, "a 4")}, runs: "a 2", want: "a 2"},
		"adopted":        {reason: "what was before is not known yet", rescales: []rescale{{core.Applied, "a 1", "a 2"}}, open: &OpenRescale{Attempt: 2}, runs: "a 2", problem: "rescale 2 is under way"},
		"an undo undone": {reason: "the last change is the undo", rescales: []rescale{{core.Applied, "a 2", "a 4"}, {core.Applied, "a 4", "a 2"}}, runs: "a 2", want: "a 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := State{Topology: running(t, tt.runs), Open: tt.open, Override: tt.override}
			if tt.edit != nil {
				tt.edit(&s.Topology)
			}
			for i, r := range tt.rescales {
				s.Rescales = append(s.Rescales, core.Outcome{Kind: r.kind, Attempt: i + 1, From: sized(t, r.from), Got: sized(t, r.got)})
			}
			j := s.undo()
			if tt.problem != "" {
				if len(j.Problems) != 1 || !strings.Contains(j.Problems[0].String(), tt.problem) {
					t.Fatalf("%s: problems %v, want %q", tt.reason, j.Problems, tt.problem)
				}
				return
			}
			if diff := cmp.Diff(sized(t, tt.want), j.Sizes); diff != "" || len(j.Problems) > 0 {
				t.Errorf("%s: %v (-want +got):\n%s", tt.reason, j.Problems, diff)
			}
			if diff := cmp.Diff(tt.told, j.Told, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: told (-want +got):\n%s", tt.reason, diff)
			}
			now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
			a := s.apply(message{Name: MsgUndo, By: "ann"}, j, now)
			if o := s.Override; o == nil || o.By != "ann" || !o.Until.Equal(now.Add(time.Hour)) || !strings.Contains(a.Message, "until 2026-11-29T13:00:00Z") {
				t.Errorf("%s: override %+v, %q", tt.reason, o, a.Message)
			}
			if n := len(s.Given); n != 1 || !s.Given[0].Until.Equal(now.Add(time.Hour)) || s.Given[0].Ended != "" {
				t.Errorf("%s: orders %+v", tt.reason, s.Given)
			}
		})
	}
}
