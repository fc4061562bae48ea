package stabilize

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// detecting is the default policy with the detection on: threshold 0.1, two
// proofs, a verdict of an hour.
func detecting() policy.Policy {
	p := policy.Default()
	p.EffectivenessDetection = true
	return p
}

func noDetection() policy.Policy {
	p := detecting()
	p.EffectivenessDetection = false
	return p
}

// TestJudgeOneLook is section 5 of the Java cases, and what we do otherwise.
func TestJudgeOneLook(t *testing.T) {
	t.Parallel()
	ours := history("v", scaled(0, "1", 5, 10, 10, 50), scaled(1, "2", 10, 20, 20, 90))
	unread := scaled(1, "2", 10, 20, 20, 0)
	unread.TrueRate = core.Absent(core.NotApplicable)
	busy := func(v core.VertexDecision, load float64) core.VertexDecision {
		v.Load = core.Read(load)
		return v
	}
	in := func(expected, gain float64, blocks bool) *core.Effect {
		return &core.Effect{ExpectedGain: expected, Gain: gain, Proofs: 1, Blocks: blocks}
	}
	cases := map[string]struct {
		reason string
		h      core.VertexHistory
		v      core.VertexDecision
		p      policy.Policy
		want   *core.Effect
	}{
		"no history":             {"nothing to judge", history("v"), resize("v", 5, 10, 50), detecting(), nil},
		"80 % of the gain":       {"effective", history("v", scaled(0, "1", 5, 10, 10, 50)), resize("v", 10, 20, 90), detecting(), nil},
		"8 of 90":                {"held", ours, resize("v", 20, 40, 98), detecting(), in(90, 8, true)},
		"9 of 90":                {"exactly the threshold is enough", ours, resize("v", 20, 40, 99), detecting(), nil},
		"a loss":                 {"less than before", ours, resize("v", 20, 40, 80), detecting(), in(90, -10, true)},
		"other size":             {"somebody else changed it since", ours, resize("v", 15, 20, 90), detecting(), nil},
		"detection off":          {"told, not held", ours, resize("v", 20, 40, 90), noDetection(), in(90, 0, false)},
		"smaller":                {"a scale-down is never held", ours, resize("v", 20, 10, 90), detecting(), nil},
		"stays":                  {"no wish, no question", ours, resize("v", 20, 20, 90), detecting(), nil},
		"after a scale-down":     {"not a scale-up", history("v", scaled(0, "1", 20, 10, 10, 90)), resize("v", 10, 20, 90), detecting(), nil},
		"BC-20a":                 {"4 %", history("v", scaled(0, "1", 10, 20, 20, 1000)), resize("v", 20, 30, 1040), detecting(), in(1000, 40, true)},
		"BC-20b":                 {"95 % of what 12 could bring, though 19 % of what 20 could", history("v", scaled(0, "1", 10, 20, 12, 1000)), resize("v", 12, 20, 1190), detecting(), nil},
		"cut, and nothing":       {"2.5 % of what 12 could bring", history("v", scaled(0, "1", 10, 20, 12, 1000)), resize("v", 12, 20, 1005), detecting(), in(200, 5, true)},
		"BC-20c":                 {"busy 39 %, below utilization.min: noise", ours, busy(resize("v", 20, 40, 98), 0.39), detecting(), nil},
		"loaded enough":          {"busy 40 %", ours, busy(resize("v", 20, 40, 98), 0.4), detecting(), in(90, 8, true)},
		"rate unknown":           {"not measurable is no verdict", ours, core.VertexDecision{ID: "v", From: 20, To: 40, Wanted: 40}, detecting(), nil},
		"rate unknown before":    {"an idle vertex had no rate", history("v", unread), resize("v", 20, 40, 98), detecting(), nil},
		"rate 0 before":          {"0 at any size", history("v", scaled(1, "2", 10, 20, 20, 0)), resize("v", 20, 40, 0), detecting(), nil},
		"no outcome yet":         {"the size that was decided is the one that runs", history("v", scaled(1, "2", 10, 20, 0, 90)), resize("v", 20, 40, 98), detecting(), in(90, 8, true)},
		"the last never ran":     {"the one before is in question", history("v", scaled(0, "1", 5, 10, 10, 50), scaled(1, "2", 10, 20, 0, 52)), resize("v", 10, 20, 52), detecting(), in(50, 2, true)},
		"largest of all numbers": {"no infinity comes of it", history("v", scaled(1, "2", 1, 20, 20, 1.7e308)), resize("v", 20, 40, 98), detecting(), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, doubts := Judge(c.h, c.v, nil, at(9), c.p)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if (got == nil) != (doubts == nil) {
				t.Errorf("effect %v, doubts %v", got, doubts)
			}
		})
	}
}

// TestJudgeLooks follows one vertex from look to look.
func TestJudgeLooks(t *testing.T) {
	t.Parallel()
	type look struct {
		minute int
		rate   float64 // 98 is 8 of 90, too little; 150 is effective
		wants  int
		proofs int
		held   bool
	}
	once, off := detecting(), noDetection()
	once.EffectivenessProofs = 1
	cases := map[string]struct {
		reason string
		p      policy.Policy
		looks  []look
	}{
		"a verdict, and its end": {"two proofs; an hour later the vertex gets its try, once and for all", detecting(), []look{
			{0, 98, 40, 1, true}, {1, 98, 40, 2, true}, {2, 98, 40, 3, true}, {60, 98, 40, 4, true}, {61, 98, 40, 4, false}, {62, 98, 40, 4, false}, {500, 98, 40, 4, false},
		}},
		"refuted":     {"the second look shows that it helped: the row begins anew", detecting(), []look{{0, 98, 40, 1, true}, {1, 150, 40, 0, false}, {2, 98, 40, 1, true}, {3, 98, 40, 2, true}, {4, 150, 40, 0, false}}},
		"no wish":     {"a look without a wish is no proof and refutes nothing", detecting(), []look{{0, 98, 40, 1, true}, {1, 98, 20, 0, false}, {2, 150, 20, 0, false}, {3, 98, 40, 2, true}}},
		"not known":   {"a look without a rate neither", detecting(), []look{{0, 98, 40, 1, true}, {1, math.NaN(), 40, 0, false}, {2, 98, 40, 2, true}}},
		"one is fine": {"the verdict comes at once, and ends after an hour", once, []look{{0, 98, 40, 1, true}, {59, 98, 40, 2, true}, {60, 98, 40, 2, false}}},
		"off":         {"counted, never held, and never over", off, []look{{0, 98, 40, 1, false}, {1, 98, 40, 2, false}, {90, 98, 40, 3, false}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := history("v", scaled(0, "1", 10, 20, 20, 90))
			var doubts []core.Doubt
			for _, l := range c.looks {
				now := at(0).Add(time.Duration(l.minute) * time.Minute)
				var e *core.Effect
				e, doubts = Judge(h, resize("v", 20, l.wants, l.rate), doubts, now, c.p)
				var got look
				if e != nil {
					got.proofs, got.held = e.Proofs, e.Blocks
				}
				if got.proofs != l.proofs || got.held != l.held {
					t.Errorf("minute %d: proofs %d, held %v; want %d, %v: %s", l.minute, got.proofs, got.held, l.proofs, l.held, c.reason)
				}
			}
		})
	}
}

func TestDoubtIsInOneChange(t *testing.T) {
	t.Parallel()
	old := core.Doubt{ID: "v", Change: at(0), Proofs: 5, Until: at(0).Add(time.Hour)}
	others := []core.Doubt{{ID: "a", Change: at(0), Proofs: 1}, old, {ID: "z", Change: at(0), Proofs: 1}}
	h := history("v", scaled(0, "1", 10, 20, 20, 90), scaled(7, "2", 20, 30, 30, 95))
	e, doubts := Judge(h, resize("v", 30, 40, 95), others, at(9), detecting())
	want := []core.Doubt{others[0], {ID: "v", Change: at(7), Proofs: 1, Trials: 1}, others[2]}
	if diff := cmp.Diff(want, doubts); diff != "" || e.Proofs != 1 {
		t.Errorf("a new change is a new doubt, after a try in vain (-want +got):\n%s", diff)
	}
	if others[1] != old {
		t.Errorf("the doubts given were changed: %+v", others[1])
	}
	// Effective: only its own doubt goes.
	_, doubts = Judge(h, resize("v", 30, 40, 140), others, at(9), detecting())
	if diff := cmp.Diff([]core.Doubt{others[0], others[2]}, doubts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	down := history("v", scaled(0, "1", 10, 20, 20, 90), scaled(7, "2", 20, 15, 15, 95))
	if _, doubts = Judge(down, resize("v", 15, 40, 95), others, at(9), detecting()); len(doubts) != 2 {
		t.Errorf("after a scale-down there is no scale-up to doubt: %+v", doubts)
	}
	kept := RetainDoubts(others, []core.VertexHistory{history("a", scaled(0, "1", 1, 2, 2, 1)), h})
	if diff := cmp.Diff(others[:2], kept); diff != "" {
		t.Errorf("v is being tried after its verdict, z is forgotten (-want +got):\n%s", diff)
	}
}

// TestTrials: each verdict that a try proves again lasts twice as long, up to a
// day, and the try is one step as large as the one before; one that helps begins
// anew.
func TestTrials(t *testing.T) {
	t.Parallel()
	p := detecting()
	for trials, want := range map[int]time.Duration{0: time.Hour, 1: 2 * time.Hour, 3: 8 * time.Hour, 5: 32 * time.Hour, 1 << 30: 32 * time.Hour} {
		d := core.Doubt{ID: "v", Change: at(0), Proofs: p.EffectivenessProofs - 1, Trials: trials}
		if got := prove(d, at(9), p).Until.Sub(at(9)); got != want {
			t.Errorf("after %d trials a verdict lasts %s, want %s", trials, got, want)
		}
	}
	h := history("v", scaled(0, "1", 2, 7, 7, 90))
	verdict := []core.Doubt{{ID: "v", Change: at(0), Proofs: 2, Until: at(60)}}
	if most, ok := Trial(h, 7, verdict, at(60)); !ok || most != 12 {
		t.Errorf("%d, %v; want a try of up to 12: 2 -> 7 was a step of 5", most, ok)
	}
	for reason, ok := range map[string]bool{
		"the verdict holds":            second(Trial(h, 7, verdict, at(59))),
		"it was changed since":         second(Trial(h, 9, verdict, at(60))),
		"there was no verdict":         second(Trial(h, 7, nil, at(60))),
		"it was about a change before": second(Trial(history("v", scaled(0, "1", 2, 7, 7, 90), scaled(5, "2", 7, 9, 9, 95)), 9, verdict, at(60))),
	} {
		if ok {
			t.Errorf("a try is limited, though %s", reason)
		}
	}
}

func second(_ int, ok bool) bool { return ok }

// TestNeverHoldsForLong: whatever is seen, a vertex that wants more is held at
// most until the row of proofs is full and the verdict has ended.
func TestNeverHoldsForLong(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := detecting()
		p.EffectivenessProofs = rapid.IntRange(1, 4).Draw(t, "proofs")
		h := history("v", scaled(0, "1", 10, 20, 20, 90))
		var doubts []core.Doubt
		var e *core.Effect
		held := 0
		for minute := range 200 {
			rate := rapid.SampledFrom([]float64{80, 90, 98}).Draw(t, "rate")
			now := at(0).Add(time.Duration(minute) * time.Minute)
			if e, doubts = Judge(h, resize("v", 20, 40, rate), doubts, now, p); e.Blocks {
				held++
			}
		}
		if most := p.EffectivenessProofs - 1 + 60; held != most {
			t.Fatalf("held for %d looks; want %d: the row, then an hour", held, most)
		}
	})
}
