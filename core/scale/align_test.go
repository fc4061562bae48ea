package scale

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// aligned is what each mode makes of one vertex: the new rules and OFF, then
// the two older ones with the size they expected where they gave less.
type aligned struct {
	Balanced, Evenly, Off         int
	LegacyEvenly, LegacyMaximize  int
	ExpectedEvenly, ExpectedBoost int
}

// limitedBy is a row of which both older rules give the same number, less than
// they expected.
func limitedBy(balanced, evenly, off, legacy, expected int) aligned {
	return aligned{balanced, evenly, off, legacy, legacy, expected, expected}
}

func all(to int) aligned { return aligned{to, to, to, to, to, 0, 0} }

type alignCase struct {
	reason                    string
	current, partitions, maxP int
	factor                    float64
	lower, upper              int
	hash                      bool
	want                      aligned
}

// alignCases are those of the Java autoscaler; where a source is never given
// more subtasks than partitions (I3) the reason says what Java does.
func alignCases() []alignCase {
	return []alignCase{
		// Not shared out by number: no alignment.
		{"never below 1", 1, 0, 720, 0.0001, 1, most, false, all(1)},
		{"never below 1", 2, 0, 720, 0.1, 1, most, false, all(1)},
		{"REBALANCE is not aligned", 16, 0, 128, 1.5, 1, most, false, all(24)},
		{"REBALANCE is not aligned", 200, 0, 720, 2, 1, most, false, all(400)},
		// Key groups.
		{"a divisor at the size now keeps it", 6, 0, 36, 0.8, 1, most, true, aligned{6, 6, 5, 6, 6, 0, 0}},
		{"26 lowers the largest share, 32 divides", 16, 0, 128, 1.5, 1, most, true, aligned{26, 32, 24, 32, 26, 0, 0}},
		{"not above the key groups", 200, 0, 720, most, 1, most, true, all(720)},
		{"", 10, 0, 128, 2.5, 1, most, true, aligned{26, 32, 25, 32, 26, 0, 0}},
		{"nothing better below the policy's limit; the older rules go down", 200, 0, 720, 2, 1, 300, true, limitedBy(300, 300, 300, 240, 300)},
		{"", 200, 0, 720, 1.3, 1, most, true, aligned{360, 360, 260, 360, 360, 0, 0}},
		{"", 10, 0, 128, 0.3, 1, 200, true, aligned{4, 4, 3, 4, 4, 0, 0}},
		{"", 100, 0, 720, 0.37, 1, 200, true, aligned{38, 40, 37, 40, 38, 0, 0}},
		{"the least by the policy divides", 8, 0, 720, 0.8, 8, 700, true, all(8)},
		{"the least by the policy does not force a growth", 16, 0, 128, 1.5, 60, most, true, aligned{26, 32, 24, 32, 26, 0, 0}},
		{"the policy's largest does not divide: the older rules go down to 360", 200, 0, 720, most, 1, 600, true, limitedBy(600, 600, 600, 360, 600)},
		// Partitions of a source.
		{"9 to 14 share as badly as 9", 7, 15, 128, 1.2, 1, most, false, aligned{15, 15, 9, 15, 15, 0, 0}},
		{"", 6, 15, 128, 0.4, 1, most, false, all(3)},
		{"nothing better up to the size now; the older rules end there too", 20, 35, 30, 0.9, 1, most, false, aligned{18, 18, 18, 18, 18, 0, 0}},
		{"18 shares as badly as 25, but would turn the direction: blocked", 22, 35, 30, 1.1, 20, most, false, limitedBy(25, 25, 25, 22, 25)},
		{"nothing better up to max parallelism", 80, 200, 128, 1.4, 1, most, false, limitedBy(112, 112, 112, 100, 112)},
		{"a prime: evenly is all of them", 24, 199, most, 4, 1, most, false, aligned{100, 199, 96, 199, 100, 0, 0}},
		{"", 8, 12, 128, 1.5, 1, 200, false, all(12)},
		{"nothing better up to the policy's limit", 22, 35, 128, 1.13, 20, 30, false, limitedBy(25, 25, 25, 22, 25)},
		{"8 does not divide 12 and shares as badly", 5, 12, 8, 1.4, 1, 200, false, limitedBy(7, 7, 7, 6, 7)},
		// I3.
		{"I3: Java gives 11 subtasks to 10 partitions by the new rules", 12, 10, 128, 0.9, 1, 200, false, limitedBy(10, 10, 10, 10, 11)},
		{"I3: Java gives 20 subtasks to 15 partitions by the new rules", 10, 15, 128, 2, 1, 200, false, limitedBy(15, 15, 15, 15, 20)},
		{"BC-05: wants 180 for 15 partitions; the older rules of Java stay at 100", 100, 15, 720, 1.8, 1, 200, false, limitedBy(15, 15, 15, 15, 180)},
		{"BC-05: wants 50 for 15 partitions", 100, 15, 720, 0.5, 1, 200, false, limitedBy(15, 15, 15, 15, 50)},
		{"BC-05: 10 share as badly as any below 15", 100, 15, 720, 0.1, 1, 200, false, aligned{15, 15, 10, 15, 15, 0, 0}},
		{"BC-35 (c): the policy's least is above the partitions; the older rules stay at 4 before they are capped", 4, 3, 128, 5, 8, 200, false, limitedBy(3, 3, 3, 3, 20)},
		// BC-06: prime counts.
		{"BC-06", 2, 7, 128, 1.5, 1, 200, false, aligned{4, 7, 3, 7, 4, 0, 0}},
		{"BC-06: 3 to 6 of 7 share as badly as each other only from 4 on", 3, 7, 128, 1.2, 1, 200, false, aligned{7, 7, 4, 7, 7, 0, 0}},
		{"BC-06: nothing smaller than now is better than 4", 5, 7, 128, 0.8, 1, 200, false, aligned{4, 4, 4, 4, 4, 0, 0}},
		{"BC-06", 4, 13, 128, 1.25, 1, 200, false, aligned{7, 13, 5, 13, 7, 0, 0}},
		{"BC-06", 8, 12, 128, 0.6, 1, 200, false, aligned{6, 6, 5, 6, 6, 0, 0}},
		{"BC-06", 7, 60, 128, 1.1, 1, 200, false, aligned{9, 10, 8, 10, 9, 0, 0}},
	}
}

func TestSizeInEveryAlignment(t *testing.T) {
	t.Parallel()
	for _, c := range alignCases() {
		t.Run(fmt.Sprintf("%d x %.4g of %d,%d", c.current, c.factor, c.partitions, c.maxP), func(t *testing.T) {
			t.Parallel()
			v := vertexOf(c.current, c.partitions, c.maxP, c.hash)
			to := func(mode policy.Alignment) (int, int) {
				d := Size(v, evidenceOf(c.factor), upTo(c.lower, c.upper, mode))
				l, _ := LimitedOf(d)
				return d.To, l.Expected
			}
			var got aligned
			got.Balanced, _ = to(policy.AlignBalanced)
			got.Evenly, _ = to(policy.AlignEvenlySpread)
			got.Off, _ = to(policy.AlignOff)
			got.LegacyEvenly, got.ExpectedEvenly = to(policy.AlignLegacyEvenlySpread)
			got.LegacyMaximize, got.ExpectedBoost = to(policy.AlignLegacyMaximize)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestScalingLimitedIsToldWithItsNumbers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		v      core.Vertex
		factor float64
		p      policy.Policy
		want   Limited
		steps  int
	}{
		"capped by partitions": {"20 of 15 partitions", vertexOf(10, 15, 720, false), 2, upTo(1, 200, policy.AlignLegacyEvenlySpread), Limited{20, 15, 15, 200, 1}, 2},
		"goes down":            {"nothing divides 720 between 300 and 300", vertexOf(200, 0, 720, true), 2, upTo(1, 300, policy.AlignLegacyMaximize), Limited{300, 240, 720, 300, 1}, 3},
		"blocked":              {"the direction would turn", vertexOf(22, 35, 128, false), 1.13, upTo(20, 30, policy.AlignLegacyEvenlySpread), Limited{25, 22, 35, 30, 20}, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Size(c.v, evidenceOf(c.factor), c.p)
			got, ok := LimitedOf(d)
			if diff := cmp.Diff(c.want, got); !ok || diff != "" || len(d.Steps) != c.steps {
				t.Errorf("%s, steps %v (-want +got):\n%s", c.reason, d.Steps, diff)
			}
		})
	}
	if _, ok := LimitedOf(Size(vertexOf(10, 0, 128, true), evaluate.Vertex{Capacity: core.Read(2.5), TrueRate: core.Read(1)}, upTo(1, 200, policy.AlignLegacyMaximize))); ok {
		t.Error("a growth that an alignment rounded up is not limited")
	}
}

// TestAlignmentSaysThatNothingSmallerFits: BC-06 never returns the size now
// silently when a move was needed.
func TestAlignmentSaysThatNothingSmallerFits(t *testing.T) {
	t.Parallel()
	for _, mode := range []policy.Alignment{policy.AlignBalanced, policy.AlignLegacyEvenlySpread} {
		to, steps := sized(vertexOf(6, 0, 36, true), 0.8, upTo(1, most, mode))
		last := steps[len(steps)-1]
		if to != 6 || last.To != 6 || !strings.HasSuffix(last.Note, "largest share 6 of 36; nothing smaller than the size now fits") {
			t.Errorf("%s: %d by %+v", mode, to, steps)
		}
	}
}

// gives is an Aligner that always gives the same and keeps what it was asked.
type gives struct {
	to   int
	seen *[]AlignContext
}

func (g gives) Align(c AlignContext) int {
	*g.seen = append(*g.seen, c)
	return g.to
}

// everywhere is for vertices of any kind.
type everywhere struct{ gives }

func (everywhere) Applicable(AlignContext) bool { return true }

func TestAlignerIsNotTrusted(t *testing.T) {
	t.Parallel()
	key := "job.autoscaler.scaling.parallelism-alignment.mode"
	params := []policy.Param{{Key: "class", Value: "x"}}
	cases := map[string]struct {
		reason  string
		v       core.Vertex
		factor  float64
		hardMax int
		gave    int
		want    int
		seen    AlignContext
		note    string
	}{
		"taken":                   {"within all limits", vertexOf(10, 0, 128, true), 1.5, 0, 20, 20, AlignContext{From: 10, To: 15, N: 128, Lower: 10, Upper: 100}, "mine: largest share 7 of 128"},
		"down":                    {"within all limits", vertexOf(20, 0, 128, true), 0.5, 0, 12, 12, AlignContext{From: 20, To: 10, N: 128, Lower: 4, Upper: 20}, "mine: largest share 11 of 128"},
		"too many for key groups": {"Flink has 128 key groups", vertexOf(60, 0, 70, true), 1.1, 0, 1 << 30, 70, AlignContext{From: 60, To: 66, N: 70, Lower: 60, Upper: 70}, "mine: largest share 1 of 70; it gave 1073741824, the limits are 60 and 70"},
		"too many partitions":     {"I3", vertexOf(10, 30, 128, false), 1.5, 0, 31, 30, AlignContext{From: 10, To: 15, N: 30, Lower: 10, Upper: 30}, "mine: largest share 1 of 30; it gave 31, the limits are 10 and 30"},
		"above a hard limit":      {"the policy's order", vertexOf(10, 0, 128, true), 1.5, 16, 40, 16, AlignContext{From: 10, To: 15, N: 128, Lower: 10, Upper: 16}, "mine: largest share 8 of 128; it gave 40, the limits are 10 and 16"},
		"turns a growth":          {"never inverts", vertexOf(10, 0, 128, true), 1.5, 0, 3, 10, AlignContext{From: 10, To: 15, N: 128, Lower: 10, Upper: 100}, "mine: largest share 13 of 128; it gave 3, the limits are 10 and 100"},
		"turns a shrinkage":       {"never inverts", vertexOf(20, 0, 128, true), 0.5, 0, 99, 20, AlignContext{From: 20, To: 10, N: 128, Lower: 4, Upper: 20}, "mine: largest share 7 of 128; it gave 99, the limits are 4 and 20"},
		"nonsense":                {"a number below all", vertexOf(20, 0, 128, true), 0.5, 0, -7, 4, AlignContext{From: 20, To: 10, N: 128, Lower: 4, Upper: 20}, "mine: largest share 32 of 128; it gave -7, the limits are 4 and 20"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := upTo(4, 100, policy.AlignCustom)
			p.AlignmentPlugin, p.HardMax = &policy.Plugin{Name: "mine", Class: "x", Params: params}, c.hardMax
			var seen []AlignContext
			d := SizeOf(Input{Vertex: c.v, Policy: p, Aligner: gives{c.gave, &seen}, Evidence: evidenceOf(c.factor)})
			c.seen.Vertex, c.seen.Params = c.v, params
			if diff := cmp.Diff([]AlignContext{c.seen}, seen); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			last := d.Steps[len(d.Steps)-1]
			if diff := cmp.Diff(core.Step{By: key, To: c.want, Note: c.note}, last); diff != "" || d.To != c.want {
				t.Errorf("%s: %d (-want +got):\n%s", c.reason, d.To, diff)
			}
		})
	}
}

func TestAlignerIsAskedForWhatItIsFor(t *testing.T) {
	t.Parallel()
	p := upTo(1, 100, policy.AlignCustom)
	p.AlignmentPlugin = &policy.Plugin{Name: "mine"}
	e := evaluate.Vertex{Capacity: core.Read(1.5), TrueRate: core.Read(1)}
	plain := vertexOf(10, 0, 128, false)
	cases := map[string]struct {
		reason  string
		aligner func(*[]AlignContext) Aligner
		v       core.Vertex
		e       evaluate.Vertex
		asked   int
		want    int
	}{
		"by default not": {"REBALANCE alone is not shared out by number", func(s *[]AlignContext) Aligner { return gives{20, s} }, plain, e, 0, 15},
		"it says so":     {"any vertex, if it says so", func(s *[]AlignContext) Aligner { return everywhere{gives{20, s}} }, plain, e, 1, 20},
		"no change":      {"what stays is not aligned", func(s *[]AlignContext) Aligner { return everywhere{gives{20, s}} }, plain, evaluate.Vertex{Capacity: core.Read(1), TrueRate: core.Read(1)}, 0, 10},
		"nobody made it": {"without one there is no alignment", func(*[]AlignContext) Aligner { return nil }, vertexOf(10, 0, 128, true), e, 0, 15},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []AlignContext
			d := SizeOf(Input{Vertex: c.v, Policy: p, Aligner: c.aligner(&seen), Evidence: c.e})
			if d.To != c.want || len(seen) != c.asked {
				t.Errorf("%s: %d, asked %d times; want %d, %d", c.reason, d.To, len(seen), c.want, c.asked)
			}
		})
	}
}

// TestOvershoot is BC-06: how far above the computed size an alignment may go
// is the policy's business, and a step tells what was not taken.
func TestOvershoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason   string
		most     float64
		mode     policy.Alignment
		to, step int
	}{
		{"without a limit as Java: 75 % more than was computed", 100000, policy.AlignBalanced, 7, 7},
		{"4 of 7 have 2 at most, as 5 and 6 do", 0.5, policy.AlignBalanced, 4, 4},
		{"exactly the limit is within", 0.75, policy.AlignEvenlySpread, 7, 7},
		{"no more than computed", 0, policy.AlignEvenlySpread, 4, 4},
	} {
		p := upTo(1, 200, c.mode)
		p.AlignOvershoot = c.most
		d := Size(vertexOf(3, 7, 128, false), evidenceOf(1.2), p)
		if last := d.Steps[len(d.Steps)-1]; d.To != c.to || last.To != c.step || !strings.Contains(last.Note, "of 7") {
			t.Errorf("%s: %d, steps %+v", c.reason, d.To, d.Steps)
		}
	}
}
