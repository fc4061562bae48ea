package strategy

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// slower is a job as seen through a clock that runs k times as fast: the same
// records take k times as long.
func slower(ctx core.JobContext, k int) core.JobContext {
	f := float64(k)
	at := func(t time.Time) time.Time { return t0().Add(t.Sub(t0()) * time.Duration(k)) }
	over := func(r core.Reading) core.Reading { return r.Map(func(x float64) float64 { return x / f }) }
	ctx.Now = at(ctx.Now)
	ctx.Window = slices.Clone(ctx.Window)
	for i := range ctx.Window {
		s := &ctx.Window[i]
		s.At, s.RunningSince = at(s.At), at(s.RunningSince)
		s.Vertices = slices.Clone(s.Vertices)
		for j := range s.Vertices {
			v := &s.Vertices[j]
			// Counters stay: they count records. Busy time is a share of time, but
			// its total is time.
			v.InPerSecond = over(v.InPerSecond)
			v.BusyTotal = v.BusyTotal.Map(func(x float64) float64 { return x * f })
		}
	}
	return ctx
}

func slowerPolicy(p policy.Policy, k int) policy.Policy {
	for _, d := range []*time.Duration{
		&p.Interval, &p.MetricsWindow, &p.StabilizationInterval, &p.ScaleDownInterval, &p.CatchUp, &p.RestartTime, &p.BacklogLagThreshold, &p.ObservedLagThreshold,
		&p.RestartTrackingLimit, &p.HistoryMaxAge, &p.EffectivenessExpiry,
	} {
		*d *= time.Duration(k)
	}
	return p
}

// TestTimeScalesNothingButTime: all times k times as long give the same sizes,
// at rates that are a k-th.
func TestTimeScalesNothingButTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorld(t), drawPolicy(t)
		for i := range w.lag {
			w.lag[i] = float64(rapid.SampledFrom([]int{0, 100_000, 50_000_000}).Draw(t, "lag"))
			// So that a rate of a k-th is still far above its rounding.
			w.in[i] *= 1000
			w.out[i] *= 1000
		}
		k := rapid.IntRange(2, 60).Draw(t, "k")
		ctx := w.context(p)
		a, b := decided(ctx, p), decided(slower(ctx, k), slowerPolicy(p, k))
		if slices.ContainsFunc(append(slices.Clone(a.Vertices), b.Vertices...), func(v core.VertexDecision) bool { return nearEdge(v, p) }) {
			t.Skip("rounding may tip it")
		}
		if a.Verdict != b.Verdict || a.Reason != b.Reason || !slices.Equal(a.Sizes(), b.Sizes()) {
			t.Fatalf("%s %s %v, but %d times as slow %s %s %v\n%s\n%s", a.Verdict, a.Reason, a.Sizes(), k, b.Verdict, b.Reason, b.Sizes(), a.Text(w.topology, core.Terms{}), b.Text(w.topology, core.Terms{}))
		}
	})
}
