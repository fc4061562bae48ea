package strategy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// asks has the newest look show what is wanted of Flink for the vertex of
// saturated, which runs at 4.
func asks(c *core.JobContext, upper int) {
	c.JobID = "j"
	s := &c.Window[len(c.Window)-1]
	s.Asked, s.Wanted = true, nil
	if upper != 4 {
		s.Wanted = core.Requirements{{ID: "a", Lower: 1, Upper: upper}}
	}
}

func wrote(c *core.JobContext, upper int) {
	c.Memory.Ours = &core.Ours{JobID: "j", Wish: core.Requirements{{ID: "a", Lower: 1, Upper: upper}}}
}

func frees(c *core.JobContext, then, now float64) {
	c.Memory.Settled = 3
	c.Memory.Free = &core.FreeThen{Attempt: 3, At: c.Now.Add(-time.Minute), Slots: core.Read(then)}
	c.Window[len(c.Window)-1].Global.SlotsFree = core.Read(now)
}

// TestWhatFlinkIsAskedFor: saturated wants to go from 4 to 7.
func TestWhatFlinkIsAskedFor(t *testing.T) {
	t.Parallel()
	ended := func(k core.OutcomeKind, r core.Reason, note string) *core.Outcome {
		return &core.Outcome{Kind: k, Reason: r, Note: note, Attempt: 3}
	}
	for name, tt := range map[string]struct {
		reason string
		change func(*core.JobContext, *policy.Policy)
		want   core.Reason // of a hold; empty for a change
		note   string
	}{
		"as we wrote":     {"nobody is in the way", func(c *core.JobContext, _ *policy.Policy) { asks(c, 4); wrote(c, 4) }, "", "source 4 -> 7"},
		"not read":        {"not known is no alarm", func(c *core.JobContext, _ *policy.Policy) { wrote(c, 9) }, "", "source 4 -> 7"},
		"foreign":         {"I8: told with both numbers", func(c *core.JobContext, _ *policy.Policy) { asks(c, 4); wrote(c, 6) }, core.ReasonForeignWriter, "source 6 -> 4; seen since 2026-07-20 12:20:00 UTC; evaluate-now, resume or an override takes it as given, and so does time at 2026-07-20 13:20 UTC; would do: source 4 -> 7"},
		"foreign, paused": {"a pause comes first", func(c *core.JobContext, _ *policy.Policy) { asks(c, 4); wrote(c, 6); c.Pause = &core.Pause{} }, core.ReasonPaused, ""},
		"foreign, old override": {"it knew nothing of it", func(c *core.JobContext, _ *policy.Policy) {
			asks(c, 4)
			wrote(c, 6)
			c.Override = &core.Override{Parallelism: 9}
		}, core.ReasonForeignWriter, "would do: override: source 4 -> 9"},
		"foreign, asked since": {"somebody looked at it", func(c *core.JobContext, _ *policy.Policy) {
			asks(c, 4)
			wrote(c, 6)
			c.Memory.Foreign = &core.Foreign{Wanted: core.Requirements{{ID: "a", Lower: 1, Upper: 4}}, Since: c.Now.Add(-time.Minute)}
			c.AskedAt = c.Now
		}, "", "source 4 -> 7"},
		"foreign without a wish": {"it is told all the same", func(c *core.JobContext, p *policy.Policy) {
			asks(c, 4)
			wrote(c, 6)
			p.MaxParallelism = 4
		}, core.ReasonForeignWriter, "source 6 -> 4"},
		"degraded":           {"BC-40: no size is taken from it, not even a larger one", func(c *core.JobContext, _ *policy.Policy) { asks(c, 10) }, core.ReasonDegraded, "source runs at 4 of 10"},
		"degraded, override": {"an order needs no evidence", func(c *core.JobContext, _ *policy.Policy) { asks(c, 10); c.Override = &core.Override{Parallelism: 3} }, "", "4 -> 3"},
		"partial": {"BC-16: 4 of 6 is what there was, and 7 are wanted", func(c *core.JobContext, _ *policy.Policy) {
			asks(c, 6)
			wrote(c, 6)
			c.Memory.Ours.Less = []core.VertexSize{{ID: "a", Parallelism: 4}}
		}, "", "source 4 -> 7"},
		"asked for already": {"BC-16: Flink goes there when slots come", func(c *core.JobContext, _ *policy.Policy) {
			asks(c, 7)
			wrote(c, 7)
			c.Memory.Ours.Less = []core.VertexSize{{ID: "a", Parallelism: 4}}
		}, core.ReasonNoSlots, "it is asked of Flink already"},
		"asked for already, down": {"Flink waits for a checkpoint, not for slots", func(c *core.JobContext, _ *policy.Policy) {
			asks(c, 2)
			wrote(c, 2)
			c.Override = &core.Override{Parallelism: 2}
		}, core.ReasonNotReached, "which has not gone there yet: override: source 4 -> 2"},
		"waits after partial": {"not every cycle", func(c *core.JobContext, _ *policy.Policy) {
			c.LastOutcome, c.RetryAfter = ended(core.Partial, core.ReasonNoSlots, ""), c.Now.Add(time.Minute)
			frees(c, 1, 1)
		}, core.ReasonBackoff, "partial (no-slots)"},
		"more slots after partial": {"new capacity re-arms", func(c *core.JobContext, _ *policy.Policy) {
			c.LastOutcome, c.RetryAfter = ended(core.Partial, core.ReasonNoSlots, ""), c.Now.Add(time.Minute)
			frees(c, 1, 2)
		}, "", "source 4 -> 7"},
		"more slots after a failure": {"slots were not what was wrong", func(c *core.JobContext, _ *policy.Policy) {
			c.LastOutcome, c.RetryAfter = ended(core.Failed, core.ReasonJobFailing, ""), c.Now.Add(time.Minute)
			frees(c, 1, 2)
		}, core.ReasonBackoff, ""},
		"no slot, not attempted": {"the reason is told, and no child is started each cycle", func(c *core.JobContext, _ *policy.Policy) {
			c.LastOutcome = ended(core.Rejected, core.ReasonNoSlots, "not attempted: needs 3 more slots")
			frees(c, 0, 0)
		}, core.ReasonNoSlots, "not attempted: needs 3 more slots; looked at again when more slots are free, or at 12:24:00 UTC"},
		"a slot since": {"tried at once", func(c *core.JobContext, _ *policy.Policy) {
			c.LastOutcome = ended(core.Rejected, core.ReasonNoSlots, "")
			frees(c, 0, 1)
		}, "", "source 4 -> 7"},
		"not attempted": {"a failed preflight is a hold with its reason", func(c *core.JobContext, _ *policy.Policy) {
			c.LastOutcome, c.RetryAfter = ended(core.Rejected, core.ReasonStorage, "not attempted: disk"), c.Now.Add(time.Minute)
		}, core.ReasonStorage, "not attempted: disk; tried again at 12:21:00 UTC; would do: source 4 -> 7"},
		"refused by Flink": {"that was an attempt", func(c *core.JobContext, _ *policy.Policy) {
			c.LastOutcome, c.RetryAfter = ended(core.Rejected, core.ReasonRefused, "no"), c.Now.Add(time.Minute)
		}, core.ReasonBackoff, "rejected (refused)"},
		"failed at 6": {"the size next to it", func(c *core.JobContext, _ *policy.Policy) {
			c.Memory.Bad = []core.BadSize{{DecisionID: "5-1", Above: []core.VertexSize{{ID: "a", Parallelism: 6}}, Until: c.Now.Add(time.Minute), For: time.Minute}}
			steady(c)
		}, "", "source 4 -> 5"},
		"failed at 5": {"there is none in between", func(c *core.JobContext, _ *policy.Policy) {
			c.Memory.Bad = []core.BadSize{{DecisionID: "5-1", Above: []core.VertexSize{{ID: "a", Parallelism: 5}}, Until: c.Now.Add(time.Minute), For: time.Minute}}
			steady(c)
		}, core.ReasonFailedBefore, "the job was not well at 5 after decision 5-1; tried again at 2026-07-20 12:21 UTC"},
		"failed at 5, drowning": {"a mark never pins a job that falls behind", func(c *core.JobContext, p *policy.Policy) {
			c.Memory.Bad = []core.BadSize{{DecisionID: "5-1", Above: []core.VertexSize{{ID: "a", Parallelism: 5}}, Until: c.Now.Add(time.Minute), For: time.Minute}}
			p.BacklogLagThreshold = 100 * time.Second
			drown(c)
		}, "", "source 4 -> "},
		"failed at 5, long ago": {"tried again", func(c *core.JobContext, _ *policy.Policy) {
			c.Memory.Bad = []core.BadSize{{DecisionID: "5-1", Above: []core.VertexSize{{ID: "a", Parallelism: 5}}, Until: c.Now, For: time.Minute}}
			steady(c)
		}, "", "source 4 -> 7"},
		"restarts and restarts": {"BC-17", func(c *core.JobContext, _ *policy.Policy) { onTrial(c) }, "", "the job restarted 3 times in 5m0s after decision 6-1: source 4 -> 2"},
		"restarts, window not full": {"it needs no evidence", func(c *core.JobContext, _ *policy.Policy) {
			onTrial(c)
			c.Window = c.Window[len(c.Window)-1:]
		}, "", "source 4 -> 2"},
		"restarts, budget spent": {"the way back is no habit", func(c *core.JobContext, p *policy.Policy) {
			onTrial(c)
			p.BudgetCount, c.Memory.Spent = 1, spent(c.Now, false)
		}, "", "source 4 -> 2"},
		"restarts, foreign": {"somebody sees to it", func(c *core.JobContext, _ *policy.Policy) { onTrial(c); asks(c, 4); wrote(c, 6) }, core.ReasonForeignWriter, ""},
		"restarts, dry run": {"I6", func(c *core.JobContext, p *policy.Policy) { onTrial(c); p.ScalingEnabled = false }, core.ReasonScalingDisabled, "source 4 -> 2"},
		"restarts, nothing is undone": {"it is told, since nothing else can be judged", func(c *core.JobContext, p *policy.Policy) {
			onTrial(c)
			p.Undo = false
			c.Window = c.Window[len(c.Window)-1:]
		}, core.ReasonRestartLoop, "after decision 6-1; not undone: switched off by job.autoscaler.rescale.undo.enabled; besides, window-not-full"},
		"restarts, nothing is undone, down": {"nor judged at all", func(c *core.JobContext, p *policy.Policy) {
			onTrial(c)
			p.Undo = false
			s := &c.Window[len(c.Window)-1]
			s.Fault, s.Note = core.ReasonJobNotRunning, "RESTARTING"
		}, core.ReasonRestartLoop, "not undone: switched off"},
		"restarts, nothing is undone, but it wants more": {"the rule goes on", func(c *core.JobContext, p *policy.Policy) { onTrial(c); p.Undo = false }, "", "source 4 -> 7"},
		"restarts, override":                             {"an operator's size counts", func(c *core.JobContext, _ *policy.Policy) { onTrial(c); c.Override = &core.Override{Parallelism: 9} }, "", "4 -> 9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, p := saturated()
			tt.change(&ctx, &p)
			d, _, _ := Decide(ctx, p, nil)
			if (d.Verdict == core.Change) != (tt.want == "") || (tt.want != "" && d.Reason != tt.want) || !strings.Contains(d.Note, tt.note) {
				t.Errorf("%s: %s %s: %s, want %s: %s", tt.reason, d.Verdict, d.Reason, d.Note, tt.want, tt.note)
			}
		})
	}
}

// TestARedeployIsAnnounced: people should know of a full stop before it, and not
// be told of one where the change is made in place.
func TestARedeployIsAnnounced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*core.JobContext, *policy.Policy)
		want   bool
	}{
		"allowed":     {"what is wanted of Flink cannot be read: it is not adaptive", func(_ *core.JobContext, p *policy.Policy) { p.Redeploy = true }, true},
		"not allowed": {"it will be refused", func(*core.JobContext, *policy.Policy) {}, false},
		"in place":    {"it can be read: it is adaptive", func(c *core.JobContext, p *policy.Policy) { asks(c, 4); p.Redeploy = true }, false},
		"paused":      {"what would be done is told as a whole", func(c *core.JobContext, p *policy.Policy) { p.Redeploy, p.ScalingEnabled = true, false }, true},
		"by order, too": {"an override stops the job as well", func(c *core.JobContext, p *policy.Policy) {
			p.Redeploy, c.Override = true, &core.Override{Parallelism: 9}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, p := saturated()
			tt.change(&ctx, &p)
			d, _, _ := Decide(ctx, p, nil)
			if told := strings.Contains(d.Note, "by a redeploy: the job is stopped with a savepoint"); told != tt.want || !strings.Contains(d.Note, "source 4 -> ") {
				t.Errorf("%s: %s", tt.reason, d.Note)
			}
		})
	}
}

// onTrial is a job that went from 2 to 4 and restarts since.
func onTrial(c *core.JobContext) {
	c.JobID = "j"
	at := c.Now.Add(-7 * time.Minute)
	c.Memory.Trial = &core.Trial{
		JobID: "j", DecisionID: "6-1", Back: []core.VertexSize{{ID: "a", Parallelism: 2}}, Since: at, Most: 4,
		Starts: []time.Time{at.Add(time.Minute), at.Add(3 * time.Minute), at.Add(5 * time.Minute)},
	}
}

// steady has the lag stand still, drown has it grow.
func steady(c *core.JobContext) { lags(c, 0) }
func drown(c *core.JobContext)  { lags(c, 100) }

func lags(c *core.JobContext, each float64) {
	c.Window = slices.Clone(c.Window)
	for i := range c.Window {
		s := &c.Window[i]
		s.Vertices = slices.Clone(s.Vertices)
		s.Vertices[0].Lag = core.Read(250000 + each*float64(i))
	}
}

// TestMemoryOfWhatIsAskedFor: what is seen is remembered, what is over is not.
func TestMemoryOfWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	asks(&ctx, 4)
	wrote(&ctx, 6)
	_, m, _ := Decide(ctx, p, nil)
	if m.Foreign == nil || !m.Foreign.Since.Equal(ctx.Now) {
		t.Fatalf("foreign: %+v", m.Foreign)
	}
	ctx.Memory, ctx.RescaleOpen = m, true
	ctx.Memory.Foreign = nil
	if _, m, _ = Decide(ctx, p, nil); m.Foreign != nil {
		t.Errorf("while a rescale is under way its own write was taken for another's: %+v", m.Foreign)
	}
	ctx.RescaleOpen = false
	ctx.LastOutcome = &core.Outcome{Kind: core.Undone, Attempt: 9, DecisionID: "8-1", JobID: "j", Wish: core.Requirements{{ID: "a", Lower: 1, Upper: 4}},
		From: []core.VertexSize{{ID: "a", Parallelism: 4}}, Wanted: []core.VertexSize{{ID: "a", Parallelism: 9}}, WrittenAt: ctx.Now, EndedAt: ctx.Now}
	ctx.Window[len(ctx.Window)-1].Global.SlotsFree = core.Read(3)
	_, m, _ = Decide(ctx, p, nil)
	if m.Foreign != nil || m.Ours == nil || m.Ours.Wish[0].Upper != 4 || len(m.Bad) != 1 || m.Bad[0].Above[0].Parallelism != 9 || m.Free == nil || m.Free.Slots.Or(0) != 3 {
		t.Errorf("after an undo: ours %+v, foreign %+v, bad %+v, free %+v", m.Ours, m.Foreign, m.Bad, m.Free)
	}
}

// TestNoDelayGoesOnWhileDegraded: what was wanted of a job that lacks slots is
// no wish that waits (BC-40).
func TestNoDelayGoesOnWhileDegraded(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	p.ScaleDownInterval = 2 * time.Hour
	ctx.Window = ctx.Window[len(ctx.Window)-1:]
	asks(&ctx, 10)
	ctx.Memory.Delayed = []core.DelayedDown{{ID: "a", First: ctx.Now.Add(-time.Hour), Entries: []core.DelayedEntry{{At: ctx.Now.Add(-time.Minute), Parallelism: 2}}}}
	if _, m, _ := Decide(ctx, p, nil); len(m.Delayed) != 0 {
		t.Errorf("a scale-down still waits: %+v", m.Delayed)
	}
	asks(&ctx, 4)
	if _, m, _ := Decide(ctx, p, nil); len(m.Delayed) != 1 {
		t.Errorf("with all its slots it no longer waits: %+v", m.Delayed)
	}
}
