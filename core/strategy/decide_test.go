package strategy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
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
	// It has a lag, so what it does is what it can do.
	observed := core.ObservedRate{ID: "a", RunningSince: t0(), Until: ctx.Now, Samples: len(ctx.Window), Entries: []core.ObservedEntry{{At: ctx.Window[0].At, Rate: core.Read(1000)}}}
	want := core.Memory{LagSeen: []string{"a"}, Observed: []core.ObservedRate{observed}, Changes: []core.VertexHistory{
		{ID: "a", Changes: []core.Scaled{{At: ctx.Now, DecisionID: d.ID, From: 4, To: 7, TrueRate: core.Read(1000)}}},
	}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
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
		"no source": {"nothing would tell what there is to do", func(c *core.JobContext, _ *policy.Policy) {
			c.Topology = core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 4, Inputs: []core.Edge{{From: "a"}}}}}
		}, core.ReasonVertexChanged, "has no source"},
		"no graph":  {"nothing is known", func(c *core.JobContext, _ *policy.Policy) { c.Topology = core.Topology{} }, core.ReasonVertexChanged, ""},
		"no sample": {"nothing was seen", func(c *core.JobContext, _ *policy.Policy) { c.Window = nil }, core.ReasonWindowNotFull, "nothing was seen"},
		"excluded period": {"what would be done is shown, and for how long", func(_ *core.JobContext, p *policy.Policy) {
			p.ExcludedPeriods = periods("12:00-13:30")
		}, core.ReasonExcludedPeriod, "now is in 12:00-13:30 (UTC), at least until 13:30:00 UTC; would do: source 4 -> 7"},
		"override in an excluded period": {"I6: nothing is written then, whoever asks", func(c *core.JobContext, p *policy.Policy) {
			c.Override, p.ExcludedPeriods = override, periods("12:00-13:30")
		}, core.ReasonExcludedPeriod, "4 -> 9"},
		"outside of it":         {"a second later", func(_ *core.JobContext, p *policy.Policy) { p.ExcludedPeriods = periods("12:00-12:19:59") }, "", "source 4 -> 7"},
		"no-down period and up": {"only getting smaller is forbidden", func(_ *core.JobContext, p *policy.Policy) { p.NoDownPeriods = periods("00:00-23:59:59") }, "", "source 4 -> 7"},
		"memory pressure": {"more subtasks on the same memory make it worse", func(c *core.JobContext, p *policy.Policy) {
			c.Window[len(c.Window)-1].Global.GCPressure, p.GCPressureThreshold = core.Read(0.51), 0.5
		}, core.ReasonMemoryPressure, "garbage collection takes 0.51 of the time, more than 0.5"},
		"quota": {"4 slots are there, 7 are too many", func(c *core.JobContext, p *policy.Policy) {
			c.Config, p.QuotaCPU = map[string]string{"taskmanager.numberOfTaskSlots": "2", "kubernetes.taskmanager.cpu": "2"}, 7
		}, core.ReasonQuota, "cpu 8 of quota 7: 4 TaskManagers, now 2; would do: source 4 -> 7"},
		"quota not known": {"a doubt is a hold", func(_ *core.JobContext, p *policy.Policy) { p.QuotaCPU = 100 }, core.ReasonQuota, "cores of a TaskManager are not known"},
		"veto": {"an executor refuses", func(_ *core.JobContext, p *policy.Policy) {
			p.Executors = []policy.Plugin{{Name: "ours", Class: scale.ClassMaxTotal, Params: []policy.Param{{Key: "limit", Value: "6"}}}}
		}, core.ReasonVetoed, "ours: "},
		"unknown plugin": {"never guessed, and all at once", func(_ *core.JobContext, p *policy.Policy) {
			p.Executors = []policy.Plugin{{Name: "x", Class: "com.example.Executor"}}
			p.Evaluator = &policy.Plugin{Name: "y", Class: evaluate.LeastRateClass}
		}, core.ReasonPolicyInvalid, "2 problem(s)"},
		"evaluator": {"plans for a load that is known to come", func(_ *core.JobContext, p *policy.Policy) {
			p.Evaluator = &policy.Plugin{Name: "y", Class: evaluate.LeastRateClass, Params: []policy.Param{{Key: "rate", Value: "5000"}}}
		}, "", "source 4 -> 33: has to do 5000/s"},
		"floor": {"a peak that is known to come does not wait for a window", func(c *core.JobContext, p *policy.Policy) {
			c.Window, p.Floors, p.FloorLead = c.Window[:3], floors("12:30-13:00 = 20"), 15*time.Minute
		}, "", "source 4 -> 20"},
		"floor of an excluded vertex": {"it is left as it is", func(c *core.JobContext, p *policy.Policy) {
			c.Window, p.Floors, p.Exclude = c.Window[:3], floors("12:00-13:00 = 20"), []string{"a"}
		}, core.ReasonWindowNotFull, ""},
		"hard limit": {"an order of the policy, not a wish of the load", func(_ *core.JobContext, p *policy.Policy) { p.HardMax = 3 }, "", "source 4 -> 3"},
		"hard limit without evidence": {"I1: not even that makes smaller what cannot be seen", func(c *core.JobContext, p *policy.Policy) {
			p.HardMax = 3
			blind(c)
		}, core.ReasonIncomplete, "records in"},
		"floor without evidence": {"what is known to come needs none", func(c *core.JobContext, p *policy.Policy) {
			p.HardMin = 9
			blind(c)
		}, "", "source 4 -> 9"},
		"hard limit in a no-down period": {"it waits for the next allowed window", func(_ *core.JobContext, p *policy.Policy) {
			p.HardMax, p.NoDownPeriods = 3, periods("00:00-23:59:59")
		}, core.ReasonNoDownPeriod, "nothing gets smaller in 00:00-23:59:59"},
		"budget spent": {"two rescales of a day are the budget", func(c *core.JobContext, p *policy.Policy) {
			p.BudgetCount, c.Memory.Spent = 2, spent(c.Now, false, false)
		}, core.ReasonBudget, "2 rescales in 24 hours are the budget, and 2 were made"},
		"budget spent, late": {"250 s of lag are more than the objective allows", func(c *core.JobContext, p *policy.Policy) {
			p.BudgetCount, c.Memory.Spent, p.ObjectiveLag = 2, spent(c.Now, false, false), 249*time.Second
		}, "", "source 4 -> 7"},
		"budget spent, not late": {"that is what the objective allows", func(c *core.JobContext, p *policy.Policy) {
			p.BudgetCount, c.Memory.Spent, p.ObjectiveLag = 2, spent(c.Now, false, false), 250*time.Second
		}, core.ReasonBudget, ""},
		"budget spent, override": {"an order is no habit", func(c *core.JobContext, p *policy.Policy) {
			p.BudgetCount, c.Memory.Spent, c.Override = 2, spent(c.Now, false, false), override
		}, "", "4 -> 9"},
		"rescales keep failing": {"five in a row", func(c *core.JobContext, _ *policy.Policy) {
			c.Memory.Spent = spent(c.Now, true, true, true, true, true)
		}, core.ReasonBreaker, "5 rescales in a row did not succeed"},
		"rescales keep failing, older override": {"it was among those that failed", func(c *core.JobContext, _ *policy.Policy) {
			c.Memory.Spent, c.Override = spent(c.Now, true, true, true, true, true), override
		}, core.ReasonBreaker, ""},
		"rescales keep failing, new override": {"somebody looked at it", func(c *core.JobContext, _ *policy.Policy) {
			c.Memory.Spent, c.Override = spent(c.Now, true, true, true, true, true), &core.Override{Parallelism: 9, Since: c.Now}
		}, "", "4 -> 9"},
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

// spent are rescales, one a minute, the last a minute ago.
func spent(now time.Time, failed ...bool) []core.Spent {
	var out []core.Spent
	for i, f := range failed {
		out = append(out, core.Spent{At: now.Add(time.Duration(i-len(failed)) * time.Minute), Failed: f})
	}
	return out
}

// periods and floors are those of a policy that has them in a key.
func periods(text string) []policy.Period {
	p, _, _ := policy.Resolve([]policy.Layer{{Values: map[string]string{policy.Prefix + "excluded.periods": text}}})
	return p.ExcludedPeriods
}

func floors(text string) []policy.Floor {
	p, _, _ := policy.Resolve([]policy.Layer{{Values: map[string]string{policy.Prefix + "vertex.min-parallelism.schedule": text}}})
	return p.Floors
}

// TestIneffective is a scale-up that brought nothing: it is doubted at once,
// blocked after two looks, and tried again when the verdict has expired.
func TestIneffective(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	p.EffectivenessDetection = true
	ctx.Memory.Changes = []core.VertexHistory{{ID: "a", Changes: []core.Scaled{
		{At: ctx.Now.Add(-time.Hour), DecisionID: "1-1", From: 2, To: 5, Got: 4, TrueRate: core.Read(950)},
	}}}
	for look, want := range []struct {
		reason core.Reason
		proofs int
	}{{core.ReasonIneffective, 1}, {core.ReasonIneffective, 2}, {core.ReasonIneffective, 3}} {
		d, m, _ := Decide(ctx, p, nil)
		v := d.Vertices[0]
		if d.Verdict != core.Hold || d.Reason != want.reason || v.Effect == nil || v.Effect.Proofs != want.proofs || v.Effect.ExpectedGain != 950 || v.Effect.Gain != 50 {
			t.Fatalf("look %d: %s %s, effect %+v: %s", look, d.Verdict, d.Reason, v.Effect, d.Note)
		}
		ctx.Memory = m
		later(&ctx, time.Minute)
	}
	later(&ctx, p.EffectivenessExpiry)
	if d, _, _ := Decide(ctx, p, nil); d.Verdict != core.Change || d.Vertices[0].To != 6 {
		// One step as large as the last, 2 -> 4, and not the 7 that it wants.
		t.Errorf("after the verdict: %s %s: %s", d.Verdict, d.Reason, d.Note)
	}
}

// later moves all times of a context but those that are remembered.
func later(c *core.JobContext, d time.Duration) {
	c.Now = c.Now.Add(d)
	c.Window = slices.Clone(c.Window)
	for i := range c.Window {
		c.Window[i].At, c.Window[i].RunningSince = c.Window[i].At.Add(d), c.Window[i].RunningSince.Add(d)
	}
}

// TestOutcomesAreTakenIn: what became of a rescale is remembered, with the time
// that it took, and decides how much is planned for the next one.
func TestOutcomesAreTakenIn(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	p.RestartTracking = true
	at := ctx.Now.Add(-30 * time.Minute)
	ctx.Memory.Changes = []core.VertexHistory{{ID: "a", Changes: []core.Scaled{{At: at, DecisionID: "3-9", From: 2, To: 5, TrueRate: core.Read(500)}}}}
	ctx.LastOutcome = &core.Outcome{Kind: core.Partial, Attempt: 1, DecisionID: "3-9", Got: []core.VertexSize{{ID: "a", Parallelism: 4}}, WrittenAt: at, RunningAt: at.Add(42 * time.Second), EndedAt: at.Add(time.Minute)}
	d, m, _ := Decide(ctx, p, nil)
	if got := m.Changes[0].Changes[0].Got; got != 4 || len(m.Restarts) != 1 || m.Restarts[0].Took != 42*time.Second || m.Settled != 1 {
		t.Errorf("memory %+v", m)
	}
	if want := "a restart is taken to last 42 s: the longest of 1 restart(s), 42 s"; d.Restart != want {
		t.Errorf("%q; want %q", d.Restart, want)
	}
	// 1000/s at 0.7, 250000 of lag in 1800 s, and 42 s of restart.
	if got := d.Vertices[0].Capacity.Or(0); got != 1591 {
		t.Errorf("capacity %g; want 1591", got)
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
		return func(scale.Job, *stabilize.Book, scale.Aligner) []core.VertexDecision { panic("index out of range") }, true
	}
	d, m, keep := decide(ctx, p, nil, BuiltIn(), broken)
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
	add := func(c core.JobContext, keys string) {
		b, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, keys)
	}
	add(ctx, "job.autoscaler.scale-down.interval=0 s")
	ctx.Override = &core.Override{Parallelism: 3}
	add(ctx, "job.autoscaler.metrics.busy-time.aggregator=AVG")
	ctx.Override, ctx.Window[3].Fault = nil, core.ReasonMetricsFrozen
	add(ctx, "job.autoscaler.scaling.parallelism-alignment.mode=EVENLY_SPREAD")
	ctx.Topology.Vertices = append(ctx.Topology.Vertices, core.Vertex{ID: "b", Parallelism: 0, Inputs: []core.Edge{{From: "b"}, {From: "c"}}})
	ctx.Memory.Delayed = []core.DelayedDown{{ID: "a"}}
	add(ctx, "")
	ctx.Memory = core.Memory{
		Changes:  []core.VertexHistory{{ID: "a", Changes: []core.Scaled{{At: ctx.Now, From: 1, To: 4, TrueRate: core.Read(1)}, {From: 0, To: 0}}}},
		Restarts: []core.Restart{{At: ctx.Now, Took: 1 << 62}}, Doubts: []core.Doubt{{ID: "a", Proofs: 1 << 40}}, Told: []core.Told{{Key: "x"}},
	}
	ctx.LastOutcome = &core.Outcome{Kind: core.Applied, Attempt: 1}
	ctx.Config = map[string]string{"taskmanager.memory.process.size": "1 gb", "taskmanager.numberOfTaskSlots": "3"}
	add(ctx, "job.autoscaler.restart.time-tracking.enabled=true\njob.autoscaler.observed-scalability.enabled=true\njob.autoscaler.observed-scalability.min-observations=1\njob.autoscaler.quota.cpu=4")
	add(ctx, "job.autoscaler.excluded.periods=* * * ? * 2-6 && 8:00-18:00\njob.autoscaler.vertex.min-parallelism.schedule=12:00-13:00 = a:9\njob.autoscaler.time-zone=Europe/Berlin")
	add(ctx, "job.autoscaler.scaling.custom-executors=m\njob.autoscaler.scaling.custom-executor.m.class=max-total\njob.autoscaler.scaling.custom-executor.m.limit=9\njob.autoscaler.scaling.align-to-slots=true")
	f.Fuzz(func(t *testing.T, data []byte, keys string) {
		var c core.JobContext
		if json.Unmarshal(data, &c) != nil {
			t.Skip("no context")
		}
		values := map[string]string{}
		for _, line := range strings.Split(keys, "\n") {
			if k, v, ok := strings.Cut(line, "="); ok {
				values[k] = v
			}
		}
		begun := time.Now()
		d, m, _ := DecideLayers(c, []policy.Layer{{Name: "input", Values: values}})
		if took := time.Since(begun); took > 5*time.Second {
			t.Fatalf("took %s", took)
		}
		if d.Reason == core.ReasonInternal {
			t.Fatalf("a fault: %s", d.Note)
		}
		if _, err := json.Marshal(d); err != nil && c.Now.Year() < 9999 && c.Now.Year() > 0 {
			t.Fatal(err)
		}
		if b, err := json.Marshal(m); err != nil && c.Now.Year() < 9999 && c.Now.Year() > 0 {
			t.Fatalf("memory %+v: %v, %d bytes", m, err, len(b))
		}
		_ = d.Text(c.Topology, core.Terms{})
	})
}
