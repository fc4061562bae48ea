package stabilize

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// fall is a job of a source at 2 and a map that went from 8 to 4, twenty minutes
// ago, and that falls behind since.
type fall struct {
	memory   core.Memory
	topology core.Topology
	result   evaluate.Result
	samples  []core.Sample
	now      time.Time
	policy   policy.Policy
}

func falling() *fall {
	f := &fall{now: noon(), policy: policy.Default()}
	f.policy.ObjectiveLag = time.Minute
	f.topology.Vertices = []core.Vertex{
		{ID: "map", Parallelism: 4, Inputs: []core.Edge{{From: "src"}}},
		{ID: "src", Parallelism: 2},
	}
	f.memory.Trial = &core.Trial{
		JobID: "j", DecisionID: "7-1", Back: sizesOf("map", 8, "src", 2), Since: f.now.Add(-20 * time.Minute),
		Before: &core.Before{
			DecisionID: "7-1", Late: 2 * time.Second, Down: 30 * time.Second, Got: sizesOf("map", 4, "src", 2),
			Rates: []core.VertexRate{{ID: "map", Rate: 100}, {ID: "src", Rate: 100}},
		},
	}
	for i := range 16 {
		f.samples = append(f.samples, core.Sample{At: f.now.Add(time.Duration(i-15) * time.Minute), Vertices: []core.VertexSample{
			{ID: "map", Parallelism: 4, BackPressure: core.Read(0)},
			{ID: "src", Parallelism: 2, BackPressure: core.Read(600), Lag: core.Read(5000 + 1000*float64(i))},
		}})
	}
	f.result.Vertices = []evaluate.Vertex{
		{ID: "map", TargetRate: core.Read(100), Lag: core.Absent(core.NotApplicable)},
		{ID: "src", TargetRate: core.Read(100), Lag: core.Read(20000)},
	}
	return f
}

func (f *fall) back() ([]core.VertexSize, string) {
	return FellBehind(f.memory, f.topology, f.result, f.samples, f.now, f.policy)
}

func (f *fall) src() *evaluate.Vertex { return &f.result.Vertices[1] }
func (f *fall) mapper() *evaluate.Vertex {
	return &f.result.Vertices[0]
}

func (f *fall) lags(at func(i int) float64) {
	for i := range f.samples {
		f.samples[i].Vertices[1].Lag = core.Read(at(i))
	}
	f.src().Lag = f.samples[len(f.samples)-1].Vertices[1].Lag
}

func TestFellBehind(t *testing.T) {
	t.Parallel()
	whole := sizesOf("map", 8, "src", 2)
	for name, tt := range map[string]struct {
		reason string
		change func(*fall)
		want   []core.VertexSize
	}{
		"falls behind":         {"on time with 8, not with 4", func(*fall) {}, whole},
		"no trial":             {"nothing changed lately", func(f *fall) { f.memory.Trial = nil }, nil},
		"late before":          {"8 did not do the work either", func(f *fall) { f.memory.Trial.Before = nil }, nil},
		"too long ago":         {"an hour is enough to see it", func(f *fall) { f.memory.Trial.Since = f.now.Add(-time.Hour - time.Second) }, nil},
		"just in time":         {"the last look of the trial", func(f *fall) { f.memory.Trial.Since = f.now.Add(-time.Hour) }, whole},
		"switched off":         {"0 s: never", func(f *fall) { f.policy.UndoLagWithin = 0 }, nil},
		"no objective at all":  {"nothing says what late is", func(f *fall) { f.policy.ObjectiveLag, f.policy.BacklogLagThreshold = 0, 0 }, nil},
		"no objective":         {"200 s are no backlog of 5 min", func(f *fall) { f.policy.ObjectiveLag = 0 }, nil},
		"no objective, 3 min":  {"but one of 3 min, less 30 s for the restart", func(f *fall) { f.policy.ObjectiveLag, f.policy.BacklogLagThreshold = 0, 169*time.Second }, whole},
		"the restart's lag":    {"200 s of which 30 s are the restart's", func(f *fall) { f.policy.ObjectiveLag = 170 * time.Second }, nil},
		"had its time":         {"catch-up is over, the restart excuses nothing", func(f *fall) { f.policy.ObjectiveLag, f.policy.CatchUp = 170*time.Second, 20*time.Minute }, whole},
		"just on time":         {"exactly the objective is kept", func(f *fall) { f.policy.ObjectiveLag, f.policy.CatchUp = 200*time.Second, 0 }, nil},
		"catches up":           {"late, and less so with each look", func(f *fall) { f.lags(func(i int) float64 { return 40000 - 1000*float64(i) }) }, nil},
		"stands still":         {"it falls behind no further", func(f *fall) { f.lags(func(int) float64 { return 20000 }) }, nil},
		"up and down":          {"a source that reads in bursts", func(f *fall) { f.lags(func(i int) float64 { return 5000 + 15000*float64(i%2) }) }, nil},
		"a peak at the end":    {"one look proves nothing", func(f *fall) { f.lags(func(i int) float64 { return 1000 + float64(i/15)*50000 }) }, nil},
		"noisy":                {"on and on all the same", func(f *fall) { f.lags(func(i int) float64 { return 5000 + 1000*float64(i) - 900*float64(i%2) }) }, whole},
		"more load":            {"it is not the size", func(f *fall) { f.src().TargetRate = core.Read(111) }, nil},
		"a little more load":   {"a right size carries that", func(f *fall) { f.src().TargetRate = core.Read(110) }, whole},
		"less load":            {"and less all the more", func(f *fall) { f.src().TargetRate = core.Read(80) }, whole},
		"more per record":      {"each record makes more work for map", func(f *fall) { f.mapper().TargetRate = core.Read(130) }, nil},
		"load not known":       {"not known is no proof", func(f *fall) { f.mapper().TargetRate = core.Reading{} }, nil},
		"a gap":                {"never on incomplete evidence", func(f *fall) { f.mapper().Gap = core.ReasonIncomplete }, nil},
		"not judged":           {"nor without a number", func(f *fall) { f.src().Unjudged = core.ReasonMetricsMissing }, nil},
		"a vertex is gone":     {"the evidence is of another graph", func(f *fall) { f.result.Vertices = f.result.Vertices[1:] }, nil},
		"a contradiction":      {"busy and holding back what is before it: all the more", func(f *fall) { f.mapper().Gap = core.ReasonContradiction }, whole},
		"excluded":             {"the policy leaves it alone, its evidence is there", func(f *fall) { f.src().Unjudged = core.ReasonExcluded }, whole},
		"failed":               {"one bad number", func(f *fall) { f.result.Failed = true }, nil},
		"lag missing once":     {"never on incomplete evidence", func(f *fall) { f.samples[3].Vertices[1].Lag = core.Reading{} }, nil},
		"lag incomplete":       {"never on incomplete evidence", func(f *fall) { f.samples[3].Vertices[1].Lag = core.Absent(core.Incomplete) }, nil},
		"three looks":          {"too few", func(f *fall) { f.samples = f.samples[13:] }, nil},
		"four looks":           {"two of each half", func(f *fall) { f.samples = f.samples[12:] }, whole},
		"no lag metric":        {"the lag is not known", func(f *fall) { f.src().Lag = core.Reading{} }, nil},
		"stuck partition":      {"what more subtasks cannot help is left out of the lag", func(f *fall) { f.src().Lag = core.Read(10) }, nil},
		"somebody wrote":       {"I8", func(f *fall) { f.memory.Foreign = &core.Foreign{} }, nil},
		"another size":         {"it is not the size of the change", func(f *fall) { f.topology.Vertices[0].Parallelism = 5 }, nil},
		"lost slots":           {"nor is this", func(f *fall) { f.topology.Vertices[0].Parallelism = 3 }, nil},
		"waits for a sink":     {"what got smaller is held back by what did not", func(f *fall) { f.back8(300) }, nil},
		"waits a little":       {"that is no wait", func(f *fall) { f.back8(99) }, whole},
		"pressure not known":   {"nothing excuses it", func(f *fall) { f.back8(-1) }, whole},
		"another source reads": {"one on time, one not", func(f *fall) { f.second() }, sizesOf("map", 8, "other", 3, "src", 2)},
		"one larger, one smaller": {"what grew stays as it is", func(f *fall) {
			f.memory.Trial.Back = sizesOf("map", 8, "src", 1)
		}, whole},
		"only larger": {"after an up, lag is what it is to cure", func(f *fall) { f.memory.Trial.Back = sizesOf("map", 3, "src", 1) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := falling()
			tt.change(f)
			got, why := f.back()
			if diff := cmp.Diff(tt.want, got); diff != "" || (why == "") != (tt.want == nil) {
				t.Errorf("%s: %q (-want +got):\n%s", tt.reason, why, diff)
			}
		})
	}
}

// back8 has the map be held back so many ms per second; below 0 that is not
// known.
func (f *fall) back8(ms float64) {
	for i := range f.samples {
		f.samples[i].Vertices[0].BackPressure = core.Reading{}
		if ms >= 0 {
			f.samples[i].Vertices[0].BackPressure = core.Read(ms)
		}
	}
}

// second adds a source that is on time.
func (f *fall) second() {
	f.topology.Vertices = slices.Insert(f.topology.Vertices, 1, core.Vertex{ID: "other", Parallelism: 3})
	f.result.Vertices = append(f.result.Vertices, evaluate.Vertex{ID: "other", TargetRate: core.Read(5), Lag: core.Read(0)})
	f.memory.Trial.Back, f.memory.Trial.Before.Got = sizesOf("map", 8, "other", 3, "src", 2), sizesOf("map", 4, "other", 3, "src", 2)
}

func TestFellBehindTellsItsNumbers(t *testing.T) {
	t.Parallel()
	_, why := falling().back()
	want := "since decision 7-1 src is 200 s behind at 100/s, more than 1 min and 30 s for the restart, and falls behind further (5000 records, then 20000 in 15 min); before it was 2 s behind at 100/s"
	if why != want {
		t.Errorf("got\n%s\nwant\n%s", why, want)
	}
}

// TestGoingBackIsNeverSmallerNorOnDoubt: whatever befalls the job, what comes is
// the larger of both sizes for each vertex, of a job that is really late at a
// load that it carried before.
func TestGoingBackIsNeverSmallerNorOnDoubt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := falling()
		size := rapid.IntRange(1, 9)
		f.memory.Trial.Back = sizesOf("map", size.Draw(t, "map before"), "src", size.Draw(t, "src before"))
		f.src().TargetRate = core.Read(float64(rapid.IntRange(1, 200).Draw(t, "load")))
		f.policy.ObjectiveLag = time.Duration(rapid.IntRange(1, 400).Draw(t, "objective")) * time.Second
		slope := float64(rapid.IntRange(-3000, 3000).Draw(t, "slope"))
		start := float64(rapid.IntRange(0, 50000).Draw(t, "lag"))
		f.lags(func(i int) float64 { return max(0, start+slope*float64(i)) })
		f.memory.Trial.Since = f.now.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
		if rapid.Bool().Draw(t, "gap") {
			f.mapper().Gap = rapid.SampledFrom([]core.Reason{core.ReasonIncomplete, core.ReasonMetricsMissing, core.ReasonWindowNotFull}).Draw(t, "kind of gap")
		}
		before := f.memory
		back, why := f.back()
		if diff := cmp.Diff(before, f.memory); diff != "" {
			t.Fatalf("what was given is changed: %s", diff)
		}
		if why == "" {
			return
		}
		lag, _ := f.src().Lag.Value()
		load, _ := f.src().TargetRate.Value()
		if f.mapper().Gap != "" || slope <= 0 || load > 110 || lag/load <= f.policy.ObjectiveLag.Seconds() {
			t.Fatalf("gap %q, slope %v, load %v, lag %v: %s", f.mapper().Gap, slope, load, lag, why)
		}
		larger := false
		for _, v := range f.memory.Trial.Before.Got {
			p, ok := core.FindSize(back, v.ID)
			larger = larger || p > v.Parallelism
			if !ok || p < v.Parallelism {
				t.Fatalf("%s from %d to %d", v.ID, v.Parallelism, p)
			}
		}
		if !larger {
			t.Fatalf("back to %v, which is nothing", back)
		}
	})
}

func TestBeforeOf(t *testing.T) {
	t.Parallel()
	decision := func() core.Decision {
		return core.Decision{ID: "7-1", Verdict: core.Change, Reason: core.ReasonScaleDown, Vertices: []core.VertexDecision{{ID: "map", From: 8, To: 4}, {ID: "src", From: 2, To: 2}}}
	}
	for name, tt := range map[string]struct {
		reason string
		change func(*fall, *core.Decision)
		want   *core.Before
	}{
		"down": {"what it has to do is remembered", func(*fall, *core.Decision) {},
			&core.Before{DecisionID: "7-1", Late: 50 * time.Second, Rates: []core.VertexRate{{ID: "map", Rate: 100}, {ID: "src", Rate: 100}}}},
		"down and up": {"something got smaller", func(_ *fall, d *core.Decision) { d.Reason, d.Vertices[1].To = core.ReasonScaleUp, 3 },
			&core.Before{DecisionID: "7-1", Late: 50 * time.Second, Rates: []core.VertexRate{{ID: "map", Rate: 100}, {ID: "src", Rate: 100}}}},
		"the source":   {"what stays as it is counts only as a source", func(_ *fall, d *core.Decision) { d.Vertices[0].To, d.Vertices[1].To = 8, 1 }, &core.Before{DecisionID: "7-1", Late: 50 * time.Second, Rates: []core.VertexRate{{ID: "src", Rate: 100}}}},
		"up":           {"after an up lag is what it is to cure", func(_ *fall, d *core.Decision) { d.Vertices[0].To = 9 }, nil},
		"a hold":       {"nothing changes", func(_ *fall, d *core.Decision) { d.Verdict = core.Hold }, nil},
		"an override":  {"a person's size is not ours to take back", func(_ *fall, d *core.Decision) { d.Reason = core.ReasonOverride }, nil},
		"an undo":      {"one undo per change", func(_ *fall, d *core.Decision) { d.Reason = core.ReasonUndo }, nil},
		"late":         {"the size before does not do the work", func(f *fall, _ *core.Decision) { f.src().Lag = core.Read(6001) }, nil},
		"a gap":        {"not known is not on time", func(f *fall, _ *core.Decision) { f.mapper().Gap = core.ReasonIncomplete }, nil},
		"no objective": {"nothing says what late is", func(f *fall, _ *core.Decision) { f.policy.ObjectiveLag, f.policy.BacklogLagThreshold = 0, 0 }, nil},
		"switched off": {"nothing will be held against it", func(f *fall, _ *core.Decision) { f.policy.UndoLagWithin = 0 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, d := falling(), decision()
			f.src().Lag = core.Read(5000)
			tt.change(f, &d)
			if diff := cmp.Diff(tt.want, BeforeOf(d, f.result, f.topology, f.policy)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestATrialForLag: it begins with the outcome of the change it belongs to, and
// ends with its time, with the next change, with another writer, with the job.
func TestATrialForLag(t *testing.T) {
	t.Parallel()
	began := noon()
	o := core.Outcome{
		Kind: core.Applied, DecisionID: "7-1", Attempt: 3, JobID: "j", Cause: core.ReasonScaleDown, From: sizesOf("a", 8), Wanted: sizesOf("a", 4), Got: sizesOf("a", 4),
		WrittenAt: began.Add(-40 * time.Second), RunningAt: began, Wish: core.Requirements{{ID: "a", Lower: 1, Upper: 4}},
	}
	before := &core.Before{DecisionID: "7-1", Rates: []core.VertexRate{{ID: "a", Rate: 1}}}
	m := Learn(core.Memory{Before: before}, &o, began, policy.Default())
	if m.Before != nil || m.Trial == nil || m.Trial.Before == nil || m.Trial.Before.Down != 40*time.Second || !cmp.Equal(m.Trial.Before.Got, o.Got) {
		t.Fatalf("memory %+v, trial %+v", m, m.Trial)
	}
	if before.Got != nil {
		t.Error("what was given is changed")
	}
	look := func(after time.Duration) core.Sample {
		return core.Sample{At: began.Add(after), RunningSince: began, Vertices: []core.VertexSample{{ID: "a", Parallelism: 4}}}
	}
	lasts := func(m core.Memory, id string, after time.Duration) bool {
		m = Watch(m, id, look(after), time.Hour)
		return m.Trial != nil && m.Trial.Before != nil
	}
	for after, want := range map[time.Duration]bool{time.Minute: true, 11 * time.Minute: true, 59 * time.Minute: true, time.Hour: true, time.Hour + time.Second: false, -time.Hour: false} {
		if got := lasts(m, "j", after); got != want {
			t.Errorf("%s after the change on trial %v, want %v", after, got, want)
		}
	}
	if lasts(m, "k", time.Minute) {
		t.Error("another job is on trial")
	}
	if Compare(m, Look{JobID: "j", Wanted: core.Requirements{{ID: "a", Lower: 1, Upper: 5}}}).Trial != nil {
		t.Error("what somebody else changed is on trial")
	}
	next := o
	next.Attempt, next.DecisionID, next.Cause = 4, "9-1", core.ReasonUndo
	if m := Learn(m, &next, began, policy.Default()); m.Trial != nil {
		t.Errorf("after the undo: %+v", m.Trial)
	}
	next.Cause = core.ReasonScaleUp
	if m := Learn(m, &next, began, policy.Default()); m.Trial == nil || m.Trial.Before != nil {
		t.Errorf("after the next change: %+v", m.Trial)
	}
	next.Cause, next.Kind, next.WrittenAt = core.ReasonUndo, core.Rejected, time.Time{}
	if m := Learn(m, &next, began, policy.Default()); m.Trial == nil || m.Trial.Before == nil {
		t.Errorf("after an undo that was not attempted: %+v", m.Trial)
	}
	// Restarts of its first minutes are no loop when they are seen later.
	loop := m
	for i := range trialStarts {
		s := look(time.Duration(i+1) * time.Minute)
		s.RunningSince = s.At
		loop = Watch(loop, "j", s, time.Hour)
	}
	topology := core.Topology{Vertices: []core.Vertex{{ID: "a", Parallelism: 4}}}
	if _, why := GoBack(loop, topology); why == "" {
		t.Fatal("three restarts are no loop")
	}
	loop = Watch(loop, "j", look(30*time.Minute), time.Hour)
	if _, why := GoBack(loop, topology); why != "" || loop.Trial == nil || loop.Trial.Before == nil {
		t.Errorf("half an hour later: %q, trial %+v", why, loop.Trial)
	}
}

// TestAMarkIsConfirmedThoughADownWaits: a scale-down waits an hour by default, so
// a quarter of an hour never forbids any; the second failure must count as one.
func TestAMarkIsConfirmedThoughADownWaits(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{{ID: "a"}}}
	now, bad := noon(), []core.BadSize(nil)
	for i, want := range []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour} {
		o := core.Outcome{Kind: core.Applied, Cause: core.ReasonUndo, WrittenAt: now, From: sizesOf("a", 4), Wanted: sizesOf("a", 8)}
		bad = MarkBad(TrimBad(bad, topology, now), o, now)
		if len(bad) != 1 || bad[0].For != want {
			t.Fatalf("failure %d: %+v, want %s", i+1, bad, want)
		}
		if to, note := Avoid(bad, "a", 8, 3, now); to != 5 || !strings.Contains(note, "was not well at 4") {
			t.Fatalf("8 -> 3 became %d (%s)", to, note)
		}
		now = now.Add(want + 100*time.Minute)
	}
}
