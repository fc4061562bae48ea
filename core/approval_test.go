package core

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
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

// TestCarry: what a yes allows of a change that is no longer what was asked.
func TestCarry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason   string
		proposed []VertexDecision
		fresh    []VertexDecision
		want     []VertexSize // nil for another proposal
	}{
		"the same":                 {"what was asked", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 6)}, []VertexSize{{ID: "a", Parallelism: 6}}},
		"less":                     {"who agreed to more agreed to less", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 4, 6)}, []VertexSize{{ID: "a", Parallelism: 6}}},
		"more":                     {"as far as was agreed, the rest is another question", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 9)}, []VertexSize{{ID: "a", Parallelism: 6}}},
		"less than that, down":     {"likewise", []VertexDecision{vd("a", 8, 4)}, []VertexDecision{vd("a", 8, 2)}, []VertexSize{{ID: "a", Parallelism: 4}}},
		"not so far down":          {"what is needed stays", []VertexDecision{vd("a", 8, 4)}, []VertexDecision{vd("a", 8, 6)}, []VertexSize{{ID: "a", Parallelism: 6}}},
		"the other way":            {"nobody agreed to that", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 3)}, nil},
		"down became up":           {"likewise", []VertexDecision{vd("a", 8, 4)}, []VertexDecision{vd("a", 8, 9)}, nil},
		"there already":            {"what was agreed is done; more is another question", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 6, 8)}, nil},
		"beyond it":                {"a yes to get to 6 makes nothing smaller", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 7, 8)}, nil},
		"back to the size of then": {"that is no part of it", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 3, 4)}, nil},
		"from farther away":        {"a TaskManager was lost, the end is the same", []VertexDecision{vd("a", 4, 8)}, []VertexDecision{vd("a", 3, 10)}, []VertexSize{{ID: "a", Parallelism: 8}}},
		"one more, the same way":   {"it waits, which harms nobody", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 8), vd("b", 2, 3)}, []VertexSize{{ID: "a", Parallelism: 6}}},
		"one more, the other way":  {"nobody saw these together", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 8), vd("b", 3, 2)}, nil},
		"one more for both ways":   {"likewise", []VertexDecision{vd("a", 4, 6), vd("b", 4, 3)}, []VertexDecision{vd("a", 4, 6), vd("b", 4, 3), vd("c", 1, 2)}, nil},
		"both ways":                {"each as far as was agreed", []VertexDecision{vd("a", 4, 6), vd("b", 4, 3)}, []VertexDecision{vd("a", 4, 9), vd("b", 4, 1)}, []VertexSize{{ID: "a", Parallelism: 6}, {ID: "b", Parallelism: 3}}},
		"one less":                 {"what is not wanted is not done", []VertexDecision{vd("a", 4, 6), vd("b", 2, 3)}, []VertexDecision{vd("a", 4, 4), vd("b", 2, 5)}, []VertexSize{{ID: "b", Parallelism: 3}}},
		"only another":             {"nothing is left of it", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 4), vd("b", 2, 3)}, nil},
		"nothing":                  {"nothing is wanted", []VertexDecision{vd("a", 4, 6)}, []VertexDecision{vd("a", 4, 4)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := proposal("1", tt.proposed...).Carry(tt.fresh)
			if ok != (tt.want != nil) || (ok && !slices.Equal(got, tt.want)) {
				t.Errorf("%s: %v, %v; want %v", tt.reason, got, ok, tt.want)
			}
		})
	}
}

// TestCarryIsNoFartherThanEither: whatever was agreed and is wanted, what is
// carried out lies between the size now and both.
func TestCarryIsNoFartherThanEither(t *testing.T) {
	t.Parallel()
	size := rapid.IntRange(1, 9)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(from []int) []VertexDecision {
			var out []VertexDecision
			for i, id := range []string{"a", "b", "c"} {
				f := size.Draw(t, "from")
				if from != nil {
					f = from[i]
				}
				out = append(out, vd(id, f, size.Draw(t, "to")))
			}
			return out
		}
		p, fresh := proposal("1", draw(nil)...), draw([]int{size.Draw(t, "a"), size.Draw(t, "b"), size.Draw(t, "c")})
		sizes, ok := p.Carry(fresh)
		if ok != (len(sizes) > 0) && ok {
			t.Fatalf("%v, %v", sizes, ok)
		}
		for _, s := range sizes {
			v := fresh[int(s.ID[0]-'a')]
			agreed, known := FindSize(p.To, s.ID)
			between := func(to int) bool {
				return min(v.From, to) <= s.Parallelism && s.Parallelism <= max(v.From, to)
			}
			if !known || s.Parallelism == v.From || !between(v.To) || !between(agreed) {
				t.Fatalf("%s from %d: %d of agreed %d and wanted %d", s.ID, v.From, s.Parallelism, agreed, v.To)
			}
		}
	})
}

func TestWhatIsReplacedCanStillBeAgreedTo(t *testing.T) {
	t.Parallel()
	c := Consent{}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		c, _ = c.After(Decision{Verdict: Hold, Reason: ReasonApproval, Proposal: proposal(id, vd("a", 4, 6))})
	}
	if _, ok := c.FindReplaced("1"); ok || c.Open.ID != "5" || len(c.Replaced) != maxReplaced {
		t.Errorf("open %s, replaced %v", c.Open.ID, c.Replaced)
	}
	if p, ok := c.FindReplaced("4"); !ok || p.ID != "4" {
		t.Errorf("4 is not found in %v", c.Replaced)
	}
	agreed := c
	agreed.Given = &Answered{Proposal: c.Replaced[2]}
	next, said := agreed.After(Decision{Verdict: Change, Reason: ReasonScaleUp})
	if next.Open != nil || next.Given == nil || next.Replaced != nil || !strings.Contains(said, "4 was approved and is carried out") {
		t.Errorf("after the change: %+v, %q", next, said)
	}
	if next, _ := c.After(Decision{Verdict: Hold, Reason: ReasonWithinTarget}); next.Replaced != nil {
		t.Errorf("nothing is wanted any more, but %v can be agreed to", next.Replaced)
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
