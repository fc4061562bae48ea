package oracle

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core/policy"
)

// through lets a case live for a while under decisions of ours.
func through(c Case, quirks policy.Quirk) recorded {
	r := recorded{Case: c}
	o := NewOurs(c.Options, quirks)
	for range c.Cycles {
		pending := c.world.open != nil
		k := Cycle{Measurement: Measure(c.world.step()), Pending: pending && c.world.open != nil, Applied: c.world.applied}
		v := o.Cycle(k)
		r.looks, r.java = append(r.looks, k), append(r.java, v)
		if v.Decided {
			sizes := map[string]int{}
			for _, x := range v.Vertices {
				sizes[x.ID] = x.To
			}
			c.world.decide(sizes)
		}
	}
	return r
}

func TestACaseIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		a, b := through(Generate(3, n), policy.AllQuirks), through(Generate(3, n), policy.AllQuirks)
		if diff := cmp.Diff(a.Options, b.Options); diff != "" {
			t.Fatalf("options of %s (-one +other):\n%s", a.Case, diff)
		}
		if diff := cmp.Diff(a.looks, b.looks, cmp.Comparer(same)); diff != "" {
			t.Fatalf("looks of %s (-one +other):\n%s", a.Case, diff)
		}
	}
	if cmp.Equal(Generate(3, 1).Options, Generate(4, 1).Options) {
		t.Error("another seed makes the same case")
	}
}

// TestCasesAreOfAllKinds: a generator that makes only dull jobs proves nothing.
func TestCasesAreOfAllKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 400 {
		c := through(Generate(5, n), policy.AllQuirks)
		for _, trait := range c.Traits {
			seen["trait "+string(trait)]++
		}
		if len(c.Traits) == 0 {
			seen["without traits"]++
		}
		for _, v := range c.java {
			if v.Broken != "" {
				t.Fatalf("%s: %s", c.Case, v.Broken)
			}
			for _, x := range v.Vertices {
				for what, is := range map[string]bool{
					"up": v.Decided && x.To > x.From, "down": v.Decided && x.To < x.From, "idle": math.IsInf(x.TrueRate, 1), "no rate": math.IsNaN(x.TrueRate),
					"lag": x.Lag > 0, "never down": math.IsInf(x.Down, 1), "saturated": x.Load >= 0.99,
				} {
					if is {
						seen[what]++
					}
				}
			}
		}
	}
	for _, trait := range traits() {
		if seen["trait "+string(trait)] < 3 {
			t.Errorf("trait %s in %d of 400 cases", trait, seen["trait "+string(trait)])
		}
	}
	for _, what := range []string{"without traits", "up", "down", "idle", "no rate", "lag", "never down", "saturated"} {
		if seen[what] < 10 {
			t.Errorf("%s: %d times", what, seen[what])
		}
	}
}

// TestAPlantedDifferenceIsSeen: whatever is compared, and by however little it is off, the comparison says so.
func TestAPlantedDifferenceIsSeen(t *testing.T) {
	t.Parallel()
	verdict := func() Verdict {
		return Verdict{Full: true, Decided: true, Vertices: []VertexVerdict{
			{ID: "aaaaaaaa", Target: 1, CatchUp: 2, TrueRate: 3, Up: 4, Down: 5, Load: 6, Lag: 7, From: 8, To: 9},
			{ID: "bbbbbbbb", Target: math.NaN(), TrueRate: math.Inf(1), From: 1, To: 1},
		}}
	}
	if got := Differ(verdict(), verdict()); len(got) > 0 {
		t.Errorf("two that are equal differ: %v", got)
	}
	little := func(f *float64) { *f = math.Nextafter(*f, 100) }
	for what, plant := range map[string]func(*Verdict){
		"window full": func(v *Verdict) { v.Full = false }, "decided": func(v *Verdict) { v.Decided = false },
		"evaluated vertices": func(v *Verdict) { v.Vertices = v.Vertices[:1] }, "vertex": func(v *Verdict) { v.Vertices[1].ID = "cccccccc" },
		"target rate": func(v *Verdict) { little(&v.Vertices[0].Target) }, "catch-up rate": func(v *Verdict) { little(&v.Vertices[0].CatchUp) },
		"true rate": func(v *Verdict) { little(&v.Vertices[0].TrueRate) }, "up below": func(v *Verdict) { little(&v.Vertices[0].Up) },
		"down above": func(v *Verdict) { little(&v.Vertices[0].Down) }, "load": func(v *Verdict) { little(&v.Vertices[0].Load) },
		"lag": func(v *Verdict) { little(&v.Vertices[0].Lag) }, "size": func(v *Verdict) { v.Vertices[0].From++ }, "new size": func(v *Verdict) { v.Vertices[0].To-- },
		"bbbbbb target rate": func(v *Verdict) { v.Vertices[1].Target = 0 }, "bbbbbb true rate": func(v *Verdict) { v.Vertices[1].TrueRate = math.NaN() },
		"broken": func(v *Verdict) { v.Broken = "a fault" },
	} {
		ours := verdict()
		plant(&ours)
		if got := Differ(verdict(), ours); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, what) }) {
			t.Errorf("%s planted, seen: %v", what, got)
		}
	}
}

// TestTheRunCanFail: with our own side, all switches on, in Java's place a case is named; with one number of one cycle
// off, it is a difference; and a run of too few cases fails.
func TestTheRunCanFail(t *testing.T) {
	t.Parallel()
	r := Report{ByName: map[policy.Quirk]int{}}
	planted := 0
	for n := range 30 {
		c := through(Generate(9, n), policy.AllQuirks)
		one := judge(c)
		r.add(c, one)
		if one.differs != "" {
			t.Fatalf("the same side differs from itself: %s", one.differs)
		}
		if one.named != 0 {
			if k, _, _ := c.firstDifference(one.named); k >= 0 {
				t.Errorf("%s: the names found are not enough", c.Case)
			}
			if k, _, _ := c.firstDifference(0); k < 0 {
				t.Errorf("%s: named, but equal as is", c.Case)
			}
		}
		last := &c.java[len(c.java)-1]
		if len(last.Vertices) == 0 {
			continue
		}
		planted++
		last.Vertices[0].Up++
		if judge(c).differs == "" {
			t.Errorf("%s: a planted threshold is not seen", c.Case)
		}
	}
	if r.Named == 0 || planted < 10 || r.Differences != 0 {
		t.Errorf("%d named, %d planted, %d differences", r.Named, planted, r.Differences)
	}
	if !r.Failed() {
		t.Error("30 cases are enough for it")
	}
	enough := Report{Cases: LeastCases}
	if enough.Failed() {
		t.Error("a run without a difference fails")
	}
	if enough.Differences = 1; !enough.Failed() {
		t.Error("a run with a difference does not fail")
	}
	var text strings.Builder
	enough.Write(&text, Settings{})
	if want := "oracle: cases=5000 differences=1 named=0\n"; !strings.HasSuffix(text.String(), want) {
		t.Errorf("report ends with %q; want %q", text.String(), want)
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{0, -1.5, 1e-300, 123456.789, math.NaN(), math.Inf(1), math.Inf(-1)} {
		b, err := json.Marshal(Number(f))
		if err != nil {
			t.Fatal(err)
		}
		var back Number
		if err := json.Unmarshal(b, &back); err != nil || !same(float64(back), f) {
			t.Errorf("%v became %v by %s, %v", f, back, b, err)
		}
	}
	if err := json.Unmarshal([]byte(`"much"`), new(Number)); err == nil {
		t.Error("a word is taken for a number")
	}
}
