package scale

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

func noon() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

// bounded is a policy with what forces a size.
func bounded(hardMin, hardMax int, change func(*policy.Policy)) policy.Policy {
	p := upTo(1, 200, policy.AlignOff)
	p.HardMin, p.HardMax = hardMin, hardMax
	if change != nil {
		change(&p)
	}
	return p
}

func TestBoundsOfThePolicy(t *testing.T) {
	t.Parallel()
	const hardMin, hardMax = "job.autoscaler.vertex.hard-min-parallelism", "job.autoscaler.vertex.hard-max-parallelism"
	cases := map[string]struct {
		reason  string
		v       core.Vertex
		factor  float64
		p       policy.Policy
		want    int
		outside bool
		by      string
	}{
		"soft limit does not bring down": {"BC-35 (b), soft", vertexOf(20, 0, 128, false), 1, bounded(0, 0, func(p *policy.Policy) { p.MaxParallelism = 10 }), 20, false, ""},
		"hard limit brings down":         {"BC-35 (b), hard", vertexOf(20, 0, 128, false), 1, bounded(0, 10, nil), 10, true, hardMax},
		"even where more is wanted":      {"an order comes before load", vertexOf(20, 0, 128, false), 2, bounded(0, 10, nil), 10, true, hardMax},
		"and less is still possible":     {"the limit is not a size", vertexOf(20, 0, 128, false), 0.25, bounded(0, 10, nil), 5, true, ""},
		"hard limit stops a growth":      {"inside, so not outside", vertexOf(8, 0, 128, false), 2, bounded(0, 10, nil), 10, false, hardMax},
		"hard least brings up":           {"nothing else asks for it", vertexOf(4, 0, 128, false), 1, bounded(12, 0, nil), 12, true, hardMin},
		"hard least stops a shrinkage":   {"", vertexOf(20, 0, 128, false), 0.1, bounded(12, 0, nil), 12, false, hardMin},
		"hard least is aligned":          {"64 divides 128", vertexOf(16, 0, 128, true), 1.5, bounded(60, 0, func(p *policy.Policy) { p.Alignment = policy.AlignEvenlySpread }), 64, true, "job.autoscaler.scaling.parallelism-alignment.mode"},
		"hard least, older alignment":    {"64 divides 128", vertexOf(16, 0, 128, true), 1.5, bounded(60, 0, func(p *policy.Policy) { p.Alignment = policy.AlignLegacyEvenlySpread }), 64, true, "job.autoscaler.scaling.key-group.partitions.adjust.mode"},
		"aligned, not above the limit":   {"128 divides 128, but is above 100", vertexOf(60, 0, 128, true), 1.1, bounded(0, 100, func(p *policy.Policy) { p.Alignment = policy.AlignEvenlySpread }), 66, false, ""},
		"older, not above the limit":     {"the older rule takes 64 where 128 is too many", vertexOf(60, 0, 128, true), 1.1, bounded(0, 100, func(p *policy.Policy) { p.Alignment = policy.AlignLegacyEvenlySpread }), 64, false, "job.autoscaler.scaling.key-group.partitions.adjust.mode"},
		"older, not below the least":     {"the older rule would take 64", vertexOf(50, 0, 128, true), 1.32, bounded(65, 100, func(p *policy.Policy) { p.Alignment = policy.AlignLegacyEvenlySpread }), 65, true, "job.autoscaler.scaling.key-group.partitions.adjust.mode"},
		"least above the partitions":     {"I3: a subtask without a partition helps nobody", vertexOf(4, 8, 128, false), 1, bounded(12, 0, nil), 8, true, ByPartitions},
		"least above max parallelism":    {"Flink runs no more", vertexOf(4, 0, 10, false), 1, bounded(12, 0, nil), 10, true, ByMaxParallelism},
		"hard over soft":                 {"the hard least is above the soft largest", vertexOf(4, 0, 128, false), 1, bounded(12, 0, func(p *policy.Policy) { p.MaxParallelism = 6 }), 12, true, hardMin},
		"partitions of the policy":       {"the source tells none", vertexOf(4, 0, 128, false), 5, bounded(0, 0, func(p *policy.Policy) { p.Partitions = []policy.VertexCount{{ID: "u", N: 1}, {ID: "v", N: 6}} }), 6, false, "job.autoscaler.vertex.partitions"},
		"partitions corrected":           {"it tells those of topics that are gone", vertexOf(4, 15, 128, false), 5, bounded(0, 0, func(p *policy.Policy) { p.Partitions = []policy.VertexCount{{ID: "v", N: 6}} }), 6, false, "job.autoscaler.vertex.partitions"},
		"partitions raised":              {"it tells too few", vertexOf(4, 2, 128, false), 5, bounded(0, 0, func(p *policy.Policy) { p.Partitions = []policy.VertexCount{{ID: "v", N: 60}} }), 20, false, ""},
		"partitions aligned": {"those of the policy are shared out", vertexOf(4, 0, 128, false), 1.5, bounded(0, 0, func(p *policy.Policy) {
			p.Partitions, p.Alignment = []policy.VertexCount{{ID: "v", N: 16}}, policy.AlignEvenlySpread
		}), 8, false, "job.autoscaler.scaling.parallelism-alignment.mode"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := SizeOf(Input{Vertex: c.v, Policy: c.p, Now: noon(), Evidence: evidenceOf(c.factor)})
			by := ""
			if n := len(d.Steps); n > 0 {
				by = d.Steps[n-1].By
			}
			if d.To != c.want || d.Wanted != c.want || d.Outside != c.outside || by != c.by {
				t.Errorf("%s: %d (wanted %d), outside %v, last by %q; want %d, %v, %q; steps %v", c.reason, d.To, d.Wanted, d.Outside, by, c.want, c.outside, c.by, d.Steps)
			}
		})
	}
}

// TestRest: an order needs no evidence; what is excluded stays all the same.
func TestRest(t *testing.T) {
	t.Parallel()
	const hardMin, hardMax = "job.autoscaler.vertex.hard-min-parallelism", "job.autoscaler.vertex.hard-max-parallelism"
	cases := map[string]struct {
		reason string
		v      core.Vertex
		p      policy.Policy
		want   int
		steps  []core.Step
	}{
		"nothing forced": {"", vertexOf(20, 0, 128, false), bounded(0, 0, nil), 20, nil},
		"inside":         {"", vertexOf(20, 0, 128, false), bounded(20, 20, nil), 20, nil},
		"too large":      {"", vertexOf(20, 0, 128, false), bounded(0, 10, nil), 10, []core.Step{{By: hardMax, To: 10, Note: "never above 10"}}},
		"too small":      {"", vertexOf(4, 0, 128, false), bounded(12, 0, nil), 12, []core.Step{{By: hardMin, To: 12, Note: "never below 12"}}},
		"as far as partitions go": {"I3", vertexOf(4, 8, 128, false), bounded(12, 0, nil), 8, []core.Step{
			{By: hardMin, To: 12, Note: "never below 12"}, {By: ByPartitions, To: 8, Note: "capped by 8 partitions"},
		}},
		"not lifted, so not lowered": {"a source above its partitions is left, nothing asks it to get smaller", vertexOf(10, 8, 128, false), bounded(12, 0, nil), 10, nil},
		"lowered to its partitions": {"where it changes, it changes to what it can use", vertexOf(20, 8, 128, false), bounded(0, 12, nil), 8, []core.Step{
			{By: hardMax, To: 12, Note: "never above 12"}, {By: ByPartitions, To: 8, Note: "capped by 8 partitions"},
		}},
		"the largest wins": {"limits that contradict each other", vertexOf(20, 0, 128, false), bounded(15, 10, nil), 10, []core.Step{{By: hardMax, To: 10, Note: "never above 10"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, steps := Rest(c.v, c.p, noon())
			if diff := cmp.Diff(c.steps, steps); diff != "" || to != c.want {
				t.Errorf("%s: %d; want %d (-want +got):\n%s", c.reason, to, c.want, diff)
			}
			blind := SizeOf(Input{Vertex: c.v, Policy: c.p, Now: noon(), Evidence: evaluate.Vertex{Unjudged: core.ReasonMetricsMissing, Note: "why"}})
			if blind.To != c.want || blind.Wanted != c.want || blind.Outside != (c.want != c.v.Parallelism) || blind.Note != "why" {
				t.Errorf("without evidence: %+v; want %d", blind, c.want)
			}
			left := SizeOf(Input{Vertex: c.v, Policy: c.p, Now: noon(), Evidence: evaluate.Vertex{Unjudged: core.ReasonExcluded}})
			if left.To != left.From || left.Outside || left.Why != core.ReasonExcluded {
				t.Errorf("excluded: %+v; want no change", left)
			}
		})
	}
}

func TestRangeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		v      core.Vertex
		p      policy.Policy
		want   Range
	}{
		{"nothing is known", core.Vertex{ID: "v", Parallelism: 3}, bounded(0, 0, nil), Range{1, most}},
		{"Flink", vertexOf(4, 0, 128, false), bounded(0, 0, nil), Range{1, 128}},
		{"the source", vertexOf(4, 8, 128, false), bounded(2, 100, nil), Range{2, 8}},
		{"the policy", vertexOf(4, 0, 128, false), bounded(2, 100, nil), Range{2, 100}},
		{"the largest wins", vertexOf(4, 8, 128, false), bounded(12, 0, nil), Range{8, 8}},
		{"the policy knows the partitions", vertexOf(4, 8, 128, false), bounded(0, 0, func(p *policy.Policy) { p.Partitions = []policy.VertexCount{{ID: "v", N: 9}} }), Range{1, 9}},
	} {
		if got := RangeOf(c.v, c.p, noon()); got != c.want {
			t.Errorf("%s: %v; want %v", c.reason, got, c.want)
		}
	}
	if r := (Range{3, 5}); r.Clamp(1) != 3 || r.Clamp(4) != 4 || r.Clamp(9) != 5 {
		t.Error("Clamp does not bring inside")
	}
}

// scheduled is a policy with a floor on weekdays, asked for a quarter of an hour
// before.
func scheduled(t *testing.T, floors string, more map[string]string) policy.Policy {
	t.Helper()
	values := map[string]string{policy.Prefix + "vertex.min-parallelism.schedule": floors}
	for k, v := range more {
		values[policy.Prefix+k] = v
	}
	p, _, problems := policy.Resolve([]policy.Layer{{Name: "test", Values: values}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

func TestFloorOfTheSchedule(t *testing.T) {
	t.Parallel()
	const by = "job.autoscaler.vertex.min-parallelism.schedule"
	at := func(clock string) time.Time {
		day, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 3, 4, day.Hour(), day.Minute(), 0, 0, time.UTC)
	}
	cases := map[string]struct {
		reason  string
		v       core.Vertex
		factor  float64
		floors  string
		more    map[string]string
		now     string
		want    int
		outside bool
		by      string
	}{
		"in its time":          {"nothing else asks for it", vertexOf(4, 0, 128, false), 1, "9:00-17:00 = 12", nil, "12:00", 12, true, by},
		"before its time":      {"", vertexOf(4, 0, 128, false), 1, "9:00-17:00 = 12", nil, "08:00", 4, false, ""},
		"shortly before":       {"it is to be there in time", vertexOf(4, 0, 128, false), 1, "9:00-17:00 = 12", nil, "08:50", 12, true, by},
		"stops a shrinkage":    {"", vertexOf(20, 0, 128, false), 0.5, "9:00-17:00 = 12", nil, "12:00", 12, false, by},
		"more is wanted":       {"", vertexOf(20, 0, 128, false), 2, "9:00-17:00 = 12", nil, "12:00", 40, false, ""},
		"for another vertex":   {"", vertexOf(4, 0, 128, false), 1, "9:00-17:00 = u:12", nil, "12:00", 4, false, ""},
		"above the partitions": {"I3", vertexOf(4, 8, 128, false), 1, "9:00-17:00 = 12", nil, "12:00", 8, true, ByPartitions},
		"above key groups":     {"Flink runs no more", vertexOf(4, 0, 10, false), 1, "9:00-17:00 = 12", nil, "12:00", 10, true, ByMaxParallelism},
		"older alignment":      {"it goes down, but not below the floor: 64 would do", vertexOf(50, 0, 128, true), 1.32, "9:00-17:00 = 65", map[string]string{"scaling.key-group.partitions.adjust.mode": "EVENLY_SPREAD", "vertex.max-parallelism": "100"}, "12:00", 65, true, "job.autoscaler.scaling.key-group.partitions.adjust.mode"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := scheduled(t, c.floors, c.more)
			d := SizeOf(Input{Vertex: c.v, Policy: p, Now: at(c.now), Evidence: evidenceOf(c.factor)})
			last := ""
			if n := len(d.Steps); n > 0 {
				last = d.Steps[n-1].By
			}
			if d.To != c.want || d.Outside != c.outside || last != c.by {
				t.Errorf("%s: %d, outside %v, by %+v; want %d, %v, %q", c.reason, d.To, d.Outside, d.Steps, c.want, c.outside, c.by)
			}
			if r := RangeOf(c.v, p, at(c.now)); d.To != r.Clamp(d.To) {
				t.Errorf("%s: %d is outside of %+v", c.reason, d.To, r)
			}
		})
	}
	p := scheduled(t, "9:00-17:00 = 12", nil)
	to, steps := Rest(vertexOf(4, 0, 128, false), p, at("12:00"))
	if to != 12 || len(steps) != 1 || steps[0].By != by || !strings.HasPrefix(steps[0].Note, "at least 12: ") {
		t.Errorf("without evidence: %d by %+v", to, steps)
	}
}
