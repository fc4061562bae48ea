package strategy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/stabilize"
)

// saturated is a job that wants to go from 4 to 7.
func saturated() (core.JobContext, policy.Policy) {
	p := policy.Default()
	w := world{
		topology: core.Topology{Vertices: []core.Vertex{{ID: "a", Name: "source", Parallelism: 4, MaxParallelism: 128}}},
		in:       []float64{1000}, out: []float64{1000}, permille: []float64{1000}, lag: []float64{250000},
	}
	return w.context(p), p
}

func TestSaturatedGoesUp(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	d, m, keep := Decide(ctx, p, nil)
	if d.Verdict != core.Change || d.Reason != core.ReasonScaleUp || d.Vertices[0].To != 7 || d.ID != "7-1784550000" {
		t.Errorf("%s %s, id %s: %s", d.Verdict, d.Reason, d.ID, d.Note)
	}
	if want := (core.Memory{LagSeen: []string{"a"}}); !cmp.Equal(want, m) {
		t.Errorf("memory %+v; want %+v", m, want)
	}
	if !keep.Equal(ctx.Window[0].At) {
		t.Errorf("keep from %s; want the first sample of the window", keep)
	}
}

func TestVetoes(t *testing.T) {
	t.Parallel()
	pause := &core.Pause{By: "ann", Reason: "release"}
	override := &core.Override{Parallelism: 9}
	cases := map[string]struct {
		reason string
		change func(*core.JobContext, *policy.Policy)
		want   core.Reason // of a hold; empty for a change
		note   string
	}{
		"paused":              {"an operator's order", func(c *core.JobContext, _ *policy.Policy) { c.Pause = pause }, core.ReasonPaused, "paused by ann (release); would do: source 4 -> 7"},
		"pause over":          {"until is past", func(c *core.JobContext, _ *policy.Policy) { c.Pause = &core.Pause{Until: c.Now} }, "", "source 4 -> 7"},
		"pause until":         {"until is to come", func(c *core.JobContext, _ *policy.Policy) { c.Pause = &core.Pause{Until: c.Now.Add(time.Second)} }, core.ReasonPaused, "until 2026-07-20 12:20 UTC"},
		"pause over override": {"pause wins", func(c *core.JobContext, _ *policy.Policy) { c.Pause, c.Override = pause, override }, core.ReasonPaused, "4 -> 9"},
		"managed over paused": {"somebody else's job comes first", func(c *core.JobContext, _ *policy.Policy) { c.Pause, c.ManagedBy = pause, "flink/x/y" }, core.ReasonManagedElsewhere, "flink/x/y"},
		"rescale over paused": {"an open rescale is the nearer fact", func(c *core.JobContext, _ *policy.Policy) { c.Pause, c.RescaleOpen = pause, true }, core.ReasonRescaleOpen, ""},
		"dry run":             {"what would be done is shown", func(_ *core.JobContext, p *policy.Policy) { p.ScalingEnabled = false }, core.ReasonScalingDisabled, "would do: source 4 -> 7"},
		"dry run of override": {"I6: a dry run writes nothing at all", func(c *core.JobContext, p *policy.Policy) { c.Override, p.ScalingEnabled = override, false }, core.ReasonScalingDisabled, "4 -> 9"},
		"dry run, window":     {"with nothing to do the nearer reason is told", func(c *core.JobContext, p *policy.Policy) { c.Window, p.ScalingEnabled = c.Window[:5], false }, core.ReasonWindowNotFull, "5 sample(s) over 4m0s of 15 min; full at 12:20:00 UTC"},
		"backoff":             {"after a rescale that did not succeed", func(c *core.JobContext, _ *policy.Policy) { c.RetryAfter = c.Now.Add(time.Minute) }, core.ReasonBackoff, "12:21:00 UTC; would do"},
		"backoff over":        {"the wait is past", func(c *core.JobContext, _ *policy.Policy) { c.RetryAfter = c.Now }, "", ""},
		"backoff with override": {"an older order waits too", func(c *core.JobContext, _ *policy.Policy) {
			c.Override, c.RetryAfter = override, c.Now.Add(time.Minute)
		}, core.ReasonBackoff, ""},
		"new order in backoff": {"an order set after the failure does not wait", func(c *core.JobContext, _ *policy.Policy) {
			c.Override, c.RetryAfter = &core.Override{Parallelism: 9, Since: c.Now}, c.Now.Add(time.Minute)
			c.LastOutcome = &core.Outcome{EndedAt: c.Now.Add(-time.Minute)}
		}, "", "override: source 4 -> 9"},
		"override over": {"until is past", func(c *core.JobContext, _ *policy.Policy) { c.Override = &core.Override{Parallelism: 9, Until: c.Now} }, "", "source 4 -> 7"},
		"other vertices": {"the graph that is known is not that of the sample", func(c *core.JobContext, _ *policy.Policy) {
			c.Topology = core.Topology{Vertices: []core.Vertex{{ID: "b", Parallelism: 4}}}
		}, core.ReasonVertexChanged, ""},
		"other size": {"likewise", func(c *core.JobContext, _ *policy.Policy) {
			c.Topology = core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 5}}}
		}, core.ReasonVertexChanged, ""},
		"no graph":         {"nothing is known", func(c *core.JobContext, _ *policy.Policy) { c.Topology = core.Topology{} }, core.ReasonVertexChanged, ""},
		"no sample":        {"nothing was seen", func(c *core.JobContext, _ *policy.Policy) { c.Window = nil }, core.ReasonWindowNotFull, "nothing was seen"},
		"unknown strategy": {"never guessed", func(_ *core.JobContext, p *policy.Policy) { p.Strategy = "magic" }, core.ReasonPolicyInvalid, "magic"},
		"excluded":         {"the only vertex is excluded", func(_ *core.JobContext, p *policy.Policy) { p.Exclude = []string{"a"} }, core.ReasonExcluded, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, p := saturated()
			c.change(&ctx, &p)
			d, _, _ := Decide(ctx, p, nil)
			if hold := d.Verdict == core.Hold; hold != (c.want != "") || (hold && d.Reason != c.want) || !strings.Contains(d.Note, c.note) {
				t.Errorf("%s %s: %q; want %q with %q: %s", d.Verdict, d.Reason, d.Note, c.want, c.note, c.reason)
			}
			for _, v := range d.Vertices {
				if d.Verdict == core.Hold && v.To != v.From {
					t.Errorf("a hold that wants %s at %d instead of %d", v.ID, v.To, v.From)
				}
			}
		})
	}
}

func TestDelayIsRememberedAndNotClearedByAVeto(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	for i := range ctx.Window {
		ctx.Window[i].Vertices[0].BusyMax = core.Read(100)
		ctx.Window[i].Vertices[0].Lag = core.Read(0)
	}
	d, m, _ := Decide(ctx, p, nil)
	if d.Reason != core.ReasonDownDelayed || len(m.Delayed) != 1 || d.Vertices[0].Wanted != 2 {
		t.Fatalf("%s: %s, memory %+v", d.Reason, d.Note, m)
	}
	p.ScaleDownInterval, p.ScalingEnabled = 0, false
	ctx.Memory = m
	d, again, _ := Decide(ctx, p, nil)
	if d.Reason != core.ReasonScalingDisabled || len(again.Delayed) != 1 {
		t.Errorf("%s, memory %+v; a change that is not made clears no delay", d.Reason, again)
	}
	p.ScalingEnabled = true
	if d, done, _ := Decide(ctx, p, nil); d.Verdict != core.Change || done.Delayed != nil {
		t.Errorf("%s, memory %+v; a change clears all delays", d.Reason, done)
	}
	ctx.Window[len(ctx.Window)-1].Fault = core.ReasonUnreachable
	if d, kept, _ := Decide(ctx, p, nil); d.Reason != core.ReasonUnreachable || !cmp.Equal(m, kept) {
		t.Errorf("%s, memory %+v; without evidence the memory stays as it is", d.Reason, kept)
	}
}

func TestAFaultOfOursIsAHold(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	ctx.Memory = core.Memory{LagSeen: []string{"z"}}
	broken := func(string) (Rule, bool) {
		return func(evaluate.Input, *stabilize.Delays, time.Time) []core.VertexDecision { panic("index out of range") }, true
	}
	d, m, keep := decide(ctx, p, nil, broken)
	if d.Verdict != core.Hold || d.Reason != core.ReasonInternal || !strings.Contains(d.Note, "index out of range") || len(d.Vertices) > 0 {
		t.Errorf("%s %s: %s", d.Verdict, d.Reason, d.Note)
	}
	if !cmp.Equal(ctx.Memory, m) || !keep.IsZero() {
		t.Errorf("memory %+v, keep %s; want the memory as it was and nothing dropped", m, keep)
	}
}

func TestPolicyProblemsHold(t *testing.T) {
	t.Parallel()
	ctx, _ := saturated()
	d, _, _ := DecideLayers(ctx, []policy.Layer{{Name: "job", Values: map[string]string{policy.Prefix + "utilization.target": "2", policy.Prefix + "restart.time": "x"}}})
	if d.Reason != core.ReasonPolicyInvalid || len(d.Problems) != 2 {
		t.Errorf("%s, %v; want both problems", d.Reason, d.Problems)
	}
}

// FuzzDecide: any context that can be read ends as a decision that can be
// written, and never as a fault of ours.
func FuzzDecide(f *testing.F) {
	ctx, _ := saturated()
	add := func(c core.JobContext, key, value string) {
		b, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, key, value)
	}
	add(ctx, "job.autoscaler.scale-down.interval", "0 s")
	ctx.Override = &core.Override{Parallelism: 3}
	add(ctx, "job.autoscaler.metrics.busy-time.aggregator", "AVG")
	ctx.Override, ctx.Window[3].Fault = nil, core.ReasonMetricsFrozen
	add(ctx, "job.autoscaler.scaling.parallelism-alignment.mode", "EVENLY_SPREAD")
	ctx.Topology.Vertices = append(ctx.Topology.Vertices, core.Vertex{ID: "b", Parallelism: 0, Inputs: []core.Edge{{From: "b"}, {From: "c"}}})
	ctx.Memory.Delayed = []core.DelayedDown{{ID: "a"}}
	add(ctx, "", "")
	files, err := filepath.Glob("../testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no cases")
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(b, "job.autoscaler.metrics.window", "1 min")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		var c core.JobContext
		if json.Unmarshal(data, &c) != nil {
			t.Skip("no context")
		}
		begun := time.Now()
		d, _, _ := DecideLayers(c, []policy.Layer{{Name: "input", Values: map[string]string{key: value}}})
		if took := time.Since(begun); took > 5*time.Second {
			t.Fatalf("took %s", took)
		}
		if d.Reason == core.ReasonInternal {
			t.Fatalf("a fault: %s", d.Note)
		}
		if _, err := json.Marshal(d); err != nil && c.Now.Year() < 9999 && c.Now.Year() > 0 {
			t.Fatal(err)
		}
		_ = d.Text(c.Topology)
	})
}
