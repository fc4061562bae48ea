package core

import (
	"strings"
	"testing"
)

// vd makes the vertex decision "a from -> to".
func vd(id string, from, to int) VertexDecision { return VertexDecision{ID: id, From: from, To: to} }

func proposal(id string, vs ...VertexDecision) *Proposal {
	p := NewProposal(Decision{ID: id, Reason: ReasonScaleUp, Vertices: vs})
	return &p
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason   string
		proposed []VertexDecision
		fresh    []VertexDecision
		want     bool
	}{
		"the same":                  {"what was asked", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 6)}, true},
		"less far up":               {"who agreed to more agreed to less", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 4, 6)}, true},
		"less far down":             {"likewise", []VertexDecision{vd("a", 8, 2)}, []VertexDecision{vd("a", 8, 5)}, true},
		"farther up":                {"nobody saw that", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 7)}, false},
		"farther down":              {"nobody saw that", []VertexDecision{vd("a", 8, 4)}, []VertexDecision{vd("a", 8, 3)}, false},
		"the other direction":       {"something else", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 3)}, false},
		"down after up":             {"9 is less than 8 is not, but it goes down", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 10, 9)}, false},
		"down to what was up":       {"the size is between, the direction is not", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 7, 6)}, false},
		"up to what was down":       {"likewise", []VertexDecision{vd("a", 8, 4)}, []VertexDecision{vd("a", 5, 6)}, false},
		"another vertex":            {"not asked for", []VertexDecision{vd("a", 4, 6), vd("b", 2, 2)}, []VertexDecision{vd("a", 4, 4), vd("b", 2, 3)}, false},
		"one more vertex":           {"not asked for", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 6), vd("b", 2, 3)}, false},
		"one vertex less":           {"less far", []VertexDecision{vd("a", 4, 6), vd("b", 2, 3)}, []VertexDecision{vd("a", 4, 6), vd("b", 2, 2)}, true},
		"begun meanwhile":           {"the rest of the way", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 6, 8)}, true},
		"from farther away":         {"a TaskManager was lost, the end is the same", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 3, 8)}, true},
		"back to the size of then":  {"that is no part of it", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 3, 4)}, false},
		"back down to that of then": {"likewise", []VertexDecision{vd("a", 8, 4)}, []VertexDecision{vd("a", 9, 8)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := proposal("1", tt.proposed...).Covers(tt.fresh); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
			}
		})
	}
}

func TestConsentAfterADecision(t *testing.T) {
	t.Parallel()
	open := Consent{Open: proposal("1", vd("a", 4, 6))}
	given := Consent{Given: &Answered{Proposal: *proposal("1", vd("a", 4, 6))}}
	fresh := proposal("2", vd("a", 4, 9))
	hold := func(r Reason) Decision { return Decision{Verdict: Hold, Reason: r, Note: "so"} }
	for name, tt := range map[string]struct {
		reason             string
		before             Consent
		decision           Decision
		open, given, quiet bool
		said               string
	}{
		"the first":           {"nothing was before", Consent{}, Decision{Verdict: Hold, Reason: ReasonApproval, Proposal: fresh}, true, false, true, ""},
		"another":             {"the old one is told", open, Decision{Verdict: Hold, Reason: ReasonApproval, Proposal: fresh}, true, false, false, "replaced by 2"},
		"not as approved":     {"a yes is for what was seen", given, Decision{Verdict: Hold, Reason: ReasonApproval, Proposal: fresh}, true, false, false, "replaced by 2"},
		"waits":               {"the same as before", open, hold(ReasonApproval), true, false, true, ""},
		"the load went away":  {"withdrawn and said", open, hold(ReasonWithinTarget), false, false, false, "withdrawn: within-target: so"},
		"went away after yes": {"withdrawn and said", given, hold(ReasonWithinTarget), false, false, false, "withdrawn: within-target: so"},
		"an override":         {"people decide", open, hold(ReasonOverride), false, false, false, "by order"},
		"an override, change": {"people decide", given, Decision{Verdict: Change, Reason: ReasonOverride}, false, false, false, "by order"},
		"approved":            {"a yes stays until it is carried out", given, Decision{Verdict: Change, Reason: ReasonScaleUp}, false, true, true, ""},
		"needs none any more": {"the period is over", open, Decision{Verdict: Change, Reason: ReasonScaleUp}, false, false, false, "needs no approval"},
		"rejected sizes":      {"what waits is no longer wanted", open, hold(ReasonDeclined), false, false, false, "was rejected"},
		"no evidence":         {"says nothing about the load", open, hold(ReasonUnreachable), true, false, true, ""},
		"paused":              {"pause wins, the question stays", open, hold(ReasonPaused), true, false, true, ""},
		"paused after yes":    {"carried out when it is resumed, if it still is wanted", given, hold(ReasonPaused), false, true, true, ""},
		"backoff":             {"something else keeps it back", open, hold(ReasonBackoff), true, false, true, ""},
		"quota":               {"likewise", given, hold(ReasonQuota), false, true, true, ""},
		"restarted":           {"not yet judged again", open, hold(ReasonStabilizing), true, false, true, ""},
		"nothing before":      {"nothing is said of nothing", Consent{}, hold(ReasonWithinTarget), false, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, said := tt.before.After(tt.decision)
			if (got.Open != nil) != tt.open || (got.Given != nil) != tt.given {
				t.Errorf("%s: open %v, given %v", tt.reason, got.Open, got.Given)
			}
			if (said == "") != tt.quiet || !strings.Contains(said, tt.said) {
				t.Errorf("%s: said %q, want %q", tt.reason, said, tt.said)
			}
		})
	}
}

func TestTheNewestRefusalIsFound(t *testing.T) {
	t.Parallel()
	c := Consent{Refused: []Answered{{Proposal: *proposal("1", vd("a", 4, 6))}, {Proposal: *proposal("2", vd("a", 4, 8))}}}
	for to, want := range map[int]string{6: "2", 7: "2", 9: ""} {
		if got, ok := c.FindRefused([]VertexDecision{vd("a", 4, to)}); got.Proposal.ID != want || ok != (want != "") {
			t.Errorf("4 to %d: %q", to, got.Proposal.ID)
		}
	}
}
