package workflows

import (
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
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
		if strings.Contains(strings.ReplaceAll(details, `\\`, ""), bad) && !strings.Contains(bad, "](") {
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
