package strategy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/stabilize"
)

func TestNeedsApproval(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // a Monday
	up, down, both := []int{4, 6}, []int{6, 4}, []int{4, 6, 4, 3}
	for name, tt := range map[string]struct {
		reason string
		keys   map[string]string
		sizes  []int
		want   bool
	}{
		"none":                  {"the default", nil, up, false},
		"all, up":               {"every change", map[string]string{"for": "ALL"}, up, true},
		"all, down":             {"every change", map[string]string{"for": "ALL"}, down, true},
		"up, up":                {"the direction", map[string]string{"for": "UP"}, up, true},
		"up, down":              {"the other direction", map[string]string{"for": "UP"}, down, false},
		"down, up":              {"the other direction", map[string]string{"for": "DOWN"}, up, false},
		"down, down":            {"the direction", map[string]string{"for": "DOWN"}, down, true},
		"down, both":            {"one vertex is enough", map[string]string{"for": "DOWN"}, both, true},
		"a small step":          {"4 to 6 is half", map[string]string{"for": "ALL", "min-step": "0.6"}, up, false},
		"a step just as large":  {"at least", map[string]string{"for": "ALL", "min-step": "0.5"}, up, true},
		"a small step down":     {"6 to 4 is a third", map[string]string{"for": "ALL", "min-step": "0.34"}, down, false},
		"the large step is up":  {"down asks about steps down alone: 4 to 3 is a quarter", map[string]string{"for": "DOWN", "min-step": "0.5"}, both, false},
		"in the period":         {"asked", map[string]string{"for": "ALL", "periods": "9:00-17:00"}, up, true},
		"outside of the period": {"not asked", map[string]string{"for": "ALL", "periods": "13:00-17:00"}, up, false},
		"in one of the periods": {"either", map[string]string{"for": "ALL", "periods": "13:00-17:00; 11:00-12:30"}, up, true},
		"less state":            {"smaller than that", map[string]string{"for": "ALL", "min-state-size": "1025 bytes"}, up, false},
		"just as much state":    {"at least", map[string]string{"for": "ALL", "min-state-size": "1 kb"}, up, true},
		"state and step":        {"both count", map[string]string{"for": "ALL", "min-state-size": "1 kb", "min-step": "0.6"}, up, false},
		"another time zone":     {"noon in UTC is 21:00 in Tokyo", map[string]string{"for": "ALL", "periods": "9:00-17:00", "zone": "Asia/Tokyo"}, up, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]string{}
			for k, v := range tt.keys {
				if k == "zone" {
					values[policy.Prefix+"time-zone"] = v
					continue
				}
				values[policy.Prefix+"approval."+k] = v
			}
			p, _, problems := policy.Resolve([]policy.Layer{{Name: "input", Values: values}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			var vertices []core.VertexDecision
			for i := 0; i+1 < len(tt.sizes); i += 2 {
				vertices = append(vertices, core.VertexDecision{From: tt.sizes[i], To: tt.sizes[i+1]})
			}
			if got := needsApproval(p, vertices, core.Read(1024), noon); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
			}
		})
	}
}

// TestApproval goes through what can be known of a change from 4 to 6.
func TestApproval(t *testing.T) {
	t.Parallel()
	change := func() core.Decision {
		return core.Decision{ID: "9-9", Verdict: core.Change, Reason: core.ReasonScaleUp, Note: "a 4 -> 6", Vertices: []core.VertexDecision{{ID: "a", From: 4, To: 6, Outside: true}}}
	}
	made := func(id string, to int) core.Proposal {
		return core.NewProposal(core.Decision{ID: id, Vertices: []core.VertexDecision{{ID: "a", From: 4, To: to}}})
	}
	open, far, near := made("1-1", 6), made("1-1", 8), made("1-1", 5)
	ask, never := map[string]string{"for": "ALL"}, map[string]string{"for": "ALL", "min-step": "9"}
	for name, tt := range map[string]struct {
		reason    string
		keys      map[string]string
		consent   core.Consent
		cause     core.Reason
		want      core.Reason // "" when it is carried out
		proposed  bool
		says, not string
		// to is what is carried out where that is not all; failed is a size that has
		// failed not long ago.
		to, failed int
	}{
		"asked":                    {reason: "a new proposal", keys: ask, want: core.ReasonApproval, proposed: true, says: "proposal 9-9 waits for an answer for 1 h; would do: a 4 -> 6", not: "replaces"},
		"not asked":                {reason: "the policy does not say so", keys: nil, says: "a 4 -> 6"},
		"waits":                    {reason: "it was put to people already", keys: ask, consent: core.Consent{Open: &open}, want: core.ReasonApproval, says: "proposal 1-1 waits"},
		"waits, less far":          {reason: "numbers that move a little make no new question", keys: ask, consent: core.Consent{Open: &far}, want: core.ReasonApproval, says: "proposal 1-1 waits"},
		"grown":                    {reason: "that is another question", keys: ask, consent: core.Consent{Open: &near}, want: core.ReasonApproval, proposed: true, says: "it replaces 1-1"},
		"approved":                 {reason: "carried out, and said by whose word", keys: ask, consent: core.Consent{Given: &core.Answered{Proposal: open, By: "ann", Reason: "sale"}}, says: "a 4 -> 6; 1-1 was approved by ann (sale)"},
		"approved more":            {reason: "less far in the same direction", keys: ask, consent: core.Consent{Given: &core.Answered{Proposal: far}}, says: "1-1 was approved"},
		"approved by default":      {reason: "nobody answered", keys: ask, consent: core.Consent{Given: &core.Answered{Proposal: open, Default: true}}, says: "by default, since nobody answered"},
		"approved less":            {reason: "as far as was approved: the rest is asked for after it", keys: ask, consent: core.Consent{Given: &core.Answered{Proposal: near, By: "ann"}}, to: 5, says: "a 4 -> 5; more is wanted meanwhile: a 4 -> 6; 1-1 was approved by ann"},
		"approved the other way":   {reason: "a new proposal, and said so", keys: ask, consent: core.Consent{Given: &core.Answered{Proposal: made("1-1", 3), By: "ann"}}, want: core.ReasonApproval, proposed: true, says: "1-1 was approved by ann, but this is something else"},
		"approved what failed":     {reason: "the size on the way is a bad one: nobody has seen that", keys: ask, consent: core.Consent{Given: &core.Answered{Proposal: near, By: "ann"}}, failed: 5, want: core.ReasonApproval, proposed: true, says: "but this is something else"},
		"rejected":                 {reason: "not again for a while", keys: ask, consent: core.Consent{Refused: []core.Answered{{Proposal: open, By: "bob"}}}, want: core.ReasonDeclined, says: "1-1 was rejected by bob"},
		"rejected more":            {reason: "less is no growth", keys: ask, consent: core.Consent{Refused: []core.Answered{{Proposal: far}}}, want: core.ReasonDeclined},
		"rejected less":            {reason: "it has grown", keys: ask, consent: core.Consent{Refused: []core.Answered{{Proposal: near}}}, want: core.ReasonApproval, proposed: true},
		"rejected, then approved":  {reason: "the last word counts", keys: ask, consent: core.Consent{Given: &core.Answered{Proposal: open}, Refused: []core.Answered{{Proposal: far}}}, says: "approved"},
		"rejected, outside":        {reason: "a person's no holds also when no yes is needed", keys: never, consent: core.Consent{Refused: []core.Answered{{Proposal: open, By: "bob"}}}, want: core.ReasonDeclined},
		"unanswered, outside":      {reason: "that was only the policy's no", keys: never, consent: core.Consent{Refused: []core.Answered{{Proposal: open, Default: true}}}, says: "a 4 -> 6"},
		"rejected, not asked more": {reason: "the policy asks nobody any more", keys: nil, consent: core.Consent{Refused: []core.Answered{{Proposal: open, By: "bob"}}}, says: "a 4 -> 6"},
		"override":                 {reason: "a person's order needs no other's yes", keys: ask, cause: core.ReasonOverride, says: "a 4 -> 6"},
		"undo":                     {reason: "nor does going back after a failure", keys: ask, cause: core.ReasonUndo, says: "a 4 -> 6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]string{}
			for k, v := range tt.keys {
				values[policy.Prefix+"approval."+k] = v
			}
			p, _, _ := policy.Resolve([]policy.Layer{{Name: "input", Values: values}})
			c := &cycle{ctx: core.JobContext{Now: t0(), Consent: tt.consent}, p: p, d: change()}
			var memory core.Memory
			if tt.failed > 0 {
				memory.Bad = []core.BadSize{{Above: []core.VertexSize{{ID: "a", Parallelism: tt.failed}}, For: time.Hour, Until: t0().Add(time.Hour)}}
			}
			c.book = stabilize.Open(memory, nil, core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 4}}}, t0(), p)
			if tt.cause != "" {
				c.d.Reason = tt.cause
			}
			held := c.approval()
			if held != (tt.want != "") || (held && (c.d.Reason != tt.want || c.d.Verdict != core.Hold || c.d.Vertices[0].To != 4)) {
				t.Errorf("%s: held %v, %s %s, to %d", tt.reason, held, c.d.Verdict, c.d.Reason, c.d.Vertices[0].To)
			}
			if to := c.d.Vertices[0].To; tt.to != 0 && (c.d.Reason != core.ReasonScaleUp || to != tt.to || c.d.Verdict != core.Change || len(c.d.Vertices[0].Steps) == 0) {
				t.Errorf("%s: carried out as %d, want %d", tt.reason, to, tt.to)
			}
			if (c.d.Proposal != nil) != tt.proposed || (tt.proposed && c.d.Proposal.To[0].Parallelism != 6) {
				t.Errorf("%s: proposal %+v", tt.reason, c.d.Proposal)
			}
			if !strings.Contains(c.d.Note, tt.says) || (tt.not != "" && strings.Contains(c.d.Note, tt.not)) {
				t.Errorf("%s: note %q, want %q", tt.reason, c.d.Note, tt.says)
			}
		})
	}
}

// TestCarryNeedsACause: a yes makes no restart where what it allows is not what
// is wanted for, and breaks no edge.
func TestCarryNeedsACause(t *testing.T) {
	t.Parallel()
	vd := func(id string, from, to int, outside bool) core.VertexDecision {
		return core.VertexDecision{ID: id, From: from, To: to, Wanted: to, Outside: outside}
	}
	graph := core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 4}, {ID: "b", Parallelism: 4, Inputs: []core.Edge{{From: "a", Ship: core.ShipForward}}}}}
	for name, tt := range map[string]struct {
		reason          string
		proposed, fresh []core.VertexDecision
		topology        core.Topology
		want            string // sizes, empty for another proposal
	}{
		"the cause is left out": {"b would only have gone along", []core.VertexDecision{vd("b", 2, 3, false)}, []core.VertexDecision{vd("a", 4, 6, true), vd("b", 2, 3, false)}, core.Topology{}, ""},
		"the cause is in it":    {"c waits", []core.VertexDecision{vd("a", 4, 6, true)}, []core.VertexDecision{vd("a", 4, 8, true), vd("c", 2, 3, false)}, core.Topology{}, "a 6"},
		"joined":                {"they were agreed to together", []core.VertexDecision{vd("a", 4, 6, true), vd("b", 4, 6, false)}, []core.VertexDecision{vd("a", 4, 8, true), vd("b", 4, 8, false)}, graph, "a 6, b 6"},
		"joined by now":         {"one size for both, or none", []core.VertexDecision{vd("a", 4, 6, true)}, []core.VertexDecision{vd("a", 4, 8, true), vd("b", 4, 8, false)}, graph, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, _ := policy.Resolve(nil)
			c := &cycle{ctx: core.JobContext{Now: t0(), Topology: tt.topology}, p: p, d: core.Decision{Verdict: core.Change, Vertices: tt.fresh}}
			c.book = stabilize.Open(core.Memory{}, nil, tt.topology, t0(), p)
			ok := c.carry(core.Answered{Proposal: core.NewProposal(core.Decision{ID: "1-1", Vertices: tt.proposed})})
			var sizes []string
			for _, v := range c.d.Vertices {
				if ok && v.To != v.From {
					sizes = append(sizes, fmt.Sprintf("%s %d", v.ID, v.To))
				}
			}
			if got := strings.Join(sizes, ", "); ok != (tt.want != "") || got != tt.want {
				t.Errorf("%s: %v, %q; want %q", tt.reason, ok, got, tt.want)
			}
		})
	}
}
