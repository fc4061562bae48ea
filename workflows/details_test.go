package workflows

import (
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// TestDetailsAreNoMarkup: names, orders and Flink's words are shown to people
// in a browser; none may become a link, an image or a row of its own.
func TestDetailsAreNoMarkup(t *testing.T) {
	t.Parallel()
	const hostile = "x](http://evil) ![i](http://evil/i) <img src=x> &lt; `a` \\| b | c **bold**\r\n\n# heading"
	s := State{
		Topology:  core.Topology{Vertices: []core.Vertex{{ID: "a", Name: hostile, Parallelism: 2}, {ID: "b", Name: strings.Repeat("long ", 5000), Parallelism: 2}}},
		Last:      core.Decision{ID: "1-1", Reason: core.ReasonPaused, Note: "paused by " + hostile},
		Pause:     &core.Pause{By: hostile, Reason: hostile},
		Override:  &core.Override{By: hostile, Reason: hostile},
		Rejected:  []Rejected{{At: time.Unix(0, 0), Message: MsgPause, Problems: []core.Problem{{Path: "pause." + hostile, Message: hostile}}}},
		Rescales:  []core.Outcome{{Kind: core.Rejected, Note: hostile}},
		Decisions: []Record{{ID: "1-1"}},
		Set:       []SetKey{{Key: hostile, Value: hostile, By: hostile, Reason: hostile}},
		Consent: core.Consent{
			Open:    &core.Proposal{ID: "1-1", To: []core.VertexSize{{ID: "a", Parallelism: 3}}},
			Given:   &core.Answered{Proposal: core.Proposal{ID: "1-1", To: []core.VertexSize{{ID: "a", Parallelism: 3}}}, By: hostile, Reason: hostile},
			Refused: []core.Answered{{Proposal: core.Proposal{ID: "1-1", To: []core.VertexSize{{ID: "a", Parallelism: 3}}}, By: hostile, Reason: hostile}},
		},
	}
	details := s.details()
	for _, bad := range []string{"](http", "<img", " `a`", "\n#", "**bold**", "\r"} {
		// An escaped bracket or backtick is text.
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(details, `\\`, ""), `\<`, ""), bad) && !strings.Contains(bad, "](") {
			t.Errorf("%q is in\n%s", bad, details)
		}
	}
	if n := strings.Count(details, "]("); n != strings.Count(details, `\](`) {
		t.Errorf("%d links in\n%s", n, details)
	}
	for line := range strings.Lines(details) {
		if bars := strings.Count(strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, ""), "|"); bars != 0 && bars != 7 {
			t.Errorf("%d bars in %q", bars, line)
		}
	}
	if len(details) > 10000 {
		t.Errorf("%d bytes", len(details))
	}
}

// TestDetailsOfARescale: what is under way is shown as such, and where to look.
func TestDetailsOfARescale(t *testing.T) {
	t.Parallel()
	s := State{
		Spec:     spec.Spec{Key: core.JobKey{Cluster: "dev", Job: "orders"}, Target: core.Target{Flink: &core.FlinkTarget{JobName: "orders"}}},
		Topology: core.Topology{Vertices: []core.Vertex{{ID: "a", Name: "Source: orders", Parallelism: 2}, {ID: "b", Name: "enrich", Parallelism: 4}}},
		Last:     core.Decision{ID: "1-1", Reason: core.ReasonRescaleOpen, Note: "a rescale of this job is under way", Vertices: []core.VertexDecision{{ID: "b", From: 4, To: 4, Wanted: 9}}},
		Open:     &OpenRescale{Attempt: 3, Since: time.Unix(0, 0), Wanted: []core.VertexSize{{ID: "a", Parallelism: 2}, {ID: "b", Parallelism: 6}}},
		Refused:  12, Rejected: []Rejected{{At: time.Unix(0, 0), Message: "puase", Problems: []core.Problem{{Path: "signal", Message: "no such message"}}}},
	}
	details := s.details()
	for _, want := range []string{
		"**rescaling**, attempt 3 since 1970-01-01 00:00:00Z: see flink-rescale/dev/flink/orders\n", "| Source: orders | 2 |", "| enrich | 4 → 6 |",
		"- refused signals: 12, the last puase at 1970-01-01 00:00:00Z: signal: no such message\n",
	} {
		if !strings.Contains(details, want) {
			t.Errorf("no %q in\n%s", want, details)
		}
	}
	if got := s.changesText([]core.VertexSize{{ID: "a", Parallelism: 2}, {ID: "b", Parallelism: 4}}, s.Open.Wanted); got != "enrich 4 -> 6" {
		t.Errorf("changes %q", got)
	}
}

// TestHeadline: the first line says the state and why, once.
func TestHeadline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		health core.Health
		last   core.Decision
		pause  *core.Pause
		want   string
	}{
		"nothing decided":  {"there is no reason yet", "", core.Decision{}, nil, "**starting**"},
		"watching":         {"state, reason and numbers", core.Watching, core.Decision{ID: "1", Reason: core.ReasonWithinTarget, Note: "all is well"}, nil, "**watching**, within-target: all is well"},
		"paused":           {"the note goes on from the state", core.Paused, core.Decision{ID: "1", Reason: core.ReasonPaused, Note: "paused by ann (release) until 2026-11-30 19:17 UTC; would hold: within-target"}, &core.Pause{}, "**paused** by ann (release) until 2026-11-30 19:17 UTC; would hold: within-target"},
		"just paused":      {"the decision is from before", core.Watching, core.Decision{ID: "1", Reason: core.ReasonWithinTarget, Note: "all is well"}, &core.Pause{}, "**paused**, within-target: all is well"},
		"the job is gone":  {"state and reason are one word", core.JobGone, core.Decision{ID: "1", Reason: core.ReasonJobGone, Note: "no job of that name"}, nil, "**job-gone**: no job of that name"},
		"words of others":  {"are no markup", core.Blocked, core.Decision{ID: "1", Reason: core.ReasonRefused, Note: "Flink says <b>no</b> & *why*"}, nil, `**blocked**, refused: Flink says \<b>no\</b> &amp; \*why\*`},
		"waits for a yes":  {"what is to be done comes first", core.Awaiting, core.Decision{ID: "1", Reason: core.ReasonApproval, Note: "proposal 1 waits"}, nil, "**awaiting-approval**, approval-needed: proposal 1 waits"},
		"a word like that": {"pausedness is not the state", core.Paused, core.Decision{ID: "1", Reason: core.ReasonPaused, Note: "pausedly"}, &core.Pause{}, "**paused**: pausedly"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := State{Health: tt.health, Last: tt.last, Pause: tt.pause, Consent: core.Consent{Open: &core.Proposal{}}}
			if got := s.headline(s.health()); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}
