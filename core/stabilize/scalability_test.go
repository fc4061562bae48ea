package stabilize

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func learning(floor float64, least int) policy.Policy {
	p := policy.Default()
	p.ObservedScalability, p.ObservedScalabilityFloor, p.ObservedScalabilityMin = true, floor, least
	return p
}

// seen makes changes of a vertex: pairs of a size and the true rate at it.
func seen(pairs ...float64) core.VertexHistory {
	var h core.VertexHistory
	for i := 0; i < len(pairs); i += 2 {
		h.Changes = append(h.Changes, scaled(i, "d", int(pairs[i]), int(pairs[i])+1, 0, pairs[i+1]))
	}
	return h
}

func TestCoefficient(t *testing.T) {
	t.Parallel()
	idle := seen(10, 100, 20, 150, 40, 200)
	idle.Changes[1].TrueRate = core.Absent(core.NotApplicable)
	off := learning(0.5, 3)
	off.ObservedScalability = false
	cases := map[string]struct {
		reason string
		h      core.VertexHistory
		p      policy.Policy
		want   float64
	}{
		"off":                    {"not asked for", seen(10, 100, 20, 120, 40, 130), off, 1},
		"too few":                {"two of three", seen(10, 100, 20, 150), learning(0.5, 3), 1},
		"linear":                 {"10/s per subtask at each size", seen(10, 100, 20, 200, 40, 400), learning(0.5, 3), 1},
		"sublinear":              {"(1000+3000+8000)/((100+400+1600)x10) = 0.5714, rounded up", seen(10, 100, 20, 150, 40, 200), learning(0.5, 3), 0.58},
		"the floor":              {"(1000+2400+4800)/21000 = 0.39", seen(10, 100, 20, 120, 40, 120), learning(0.5, 3), 0.5},
		"a low floor":            {"0.3904, rounded up", seen(10, 100, 20, 120, 40, 120), learning(0.01, 3), 0.4},
		"better than linear":     {"never above 1", seen(10, 100, 20, 300, 40, 900), learning(0.5, 3), 1},
		"two decimals stay":      {"(1000+4600)/(500x20) = 0.56 exactly", seen(10, 200, 20, 180), learning(0.5, 2), 0.56},
		"newest of equal":        {"base 100/10, not 200/10: (2000+1000+4000)/(600x10) > 1", seen(10, 200, 10, 100, 20, 200), learning(0.5, 3), 1},
		"newest of equal, other": {"base 200/10: (1000+2000+4000)/(600x20) = 0.583", seen(10, 100, 10, 200, 20, 200), learning(0.5, 3), 0.59},
		"newest of size 1":       {"base 20, not 10: (10+20+20)/((1+1+4)x20) = 0.4167", seen(1, 10, 1, 20, 2, 10), learning(0.01, 3), 0.42},
		"BC-04":                  {"an idle vertex: 0/0", seen(8, 0, 4, 0, 2, 0), learning(0.5, 3), 1},
		"one without a rate":     {"idle at one size", idle, learning(0.5, 3), 1},
		"one of 0":               {"nothing to learn from", seen(10, 100, 20, 0, 40, 200), learning(0.01, 3), 1},
		"base of 0":              {"x/0", seen(10, 0, 20, 150, 40, 200), learning(0.5, 3), 1},
		"infinite sum":           {"larger than any number", seen(10, 1.7e308, 20, 1.7e308, 40, 1.7e308), learning(0.5, 3), 1},
		"infinite squares":       {"a/inf is 0", seen(1, 1.7e308, 4000, 1, 4000, 1), learning(0.5, 3), 1},
		"no history":             {"0/0 even where none is needed", seen(), learning(0.5, 0), 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, note := Coefficient(c.h, c.p)
			if got != c.want {
				t.Errorf("%g; want %g: %s", got, c.want, c.reason)
			}
			if got < 1 && note == "" {
				t.Error("no note says where it comes from")
			}
		})
	}
}

func TestCeil2(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]float64{
		0.57: 0.57, 0.58: 0.58, 0.571: 0.58, 0.5700000000000001: 0.58, 0.5: 0.5, 1: 1, 0.999: 1, 0.991: 1, 0.99: 0.99, 0.29: 0.29, 1e-9: 0.01, 0.011: 0.02,
	} {
		if got := ceil2(x); got != want {
			t.Errorf("%v: %v; want %v", x, got, want)
		}
	}
}

// TestCoefficientIsAShare: above 0, at most 1, whatever was seen; and linear
// vertices are linear.
func TestCoefficientIsAShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := learning(rapid.Float64Range(0, 1).Draw(t, "floor"), rapid.IntRange(0, 5).Draw(t, "least"))
		for _, h := range drawHistory(t, 2) {
			if c, _ := Coefficient(h, p); !(c > 0 && c <= 1) || math.IsNaN(c) {
				t.Fatalf("%g of %+v", c, h)
			}
		}
		var linear core.VertexHistory
		per := float64(rapid.IntRange(1, 1000).Draw(t, "per subtask"))
		for i := range rapid.IntRange(1, 9).Draw(t, "changes") {
			size := rapid.IntRange(1, 500).Draw(t, "size")
			linear.Changes = append(linear.Changes, scaled(i, "d", size, size+1, 0, per*float64(size)))
		}
		if c, _ := Coefficient(linear, p); c != 1 {
			t.Fatalf("%g for a linear vertex: %+v", c, linear)
		}
	})
}
