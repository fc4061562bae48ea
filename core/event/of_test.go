package event

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
)

func noon() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }

func graph() core.Topology {
	return core.Topology{Vertices: []core.Vertex{{ID: source, Name: "Source: orders", Parallelism: 1}, {ID: sink, Name: sink, Parallelism: 4}}}
}

// vertex is one that can do 100/s and has to do a little more.
func vertex(id string, from, to int) core.VertexDecision {
	return core.VertexDecision{ID: id, From: from, To: to, Wanted: to, TrueRate: read(100), TargetRate: read(110)}
}

// kept is a vertex whose change the reason has undone as its last step.
func kept(v core.VertexDecision, r core.Reason) core.VertexDecision {
	v.Steps = append(slices.Clone(v.Steps), core.Step{By: string(r), To: v.From})
	v.To, v.Why = v.From, r
	return v
}

func change(r core.Reason, v ...core.VertexDecision) core.Decision {
	return core.Decision{ID: "7-1", At: noon(), Verdict: core.Change, Reason: r, Note: "a note", Vertices: v}
}

func hold(r core.Reason, v ...core.VertexDecision) core.Decision {
	d := change(r, v...)
	d.Verdict = core.Hold
	return d
}

// held is a vertex that wants another size and stays.
func held(from, wanted int) core.VertexDecision {
	v := vertex(source, from, from)
	v.Wanted = wanted
	return v
}

// limitedTo is what the older alignment leaves behind.
func limitedTo(expected, actual int) core.Step {
	return core.Step{
		By: policy.Prefix + "scaling.key-group.partitions.adjust.mode", To: actual,
		Note: scale.Limited{Expected: expected, Actual: actual, N: 120, Upper: 6, Lower: 1}.String(),
	}
}

func stepped(v core.VertexDecision, steps ...core.Step) core.VertexDecision {
	v.Steps = steps
	return v
}

// brief is what matters of an event besides its key.
func brief(list []core.Event) []string {
	var out []string
	for _, e := range list {
		s := fmt.Sprintf("%s %s: %s", e.Kind, e.Reason, e.Message)
		if e.Warning {
			s = "warning " + s
		}
		out = append(out, s)
	}
	return out
}

func TestReports(t *testing.T) {
	t.Parallel()
	const entry = "{ Vertex ID " + source + " | Parallelism 1 -> 2 | Processing capacity 100.00 -> 200.00 | Target data rate 110.00}"
	one := vertex(source, 1, 2)
	delayed := stepped(vertex(source, 3, 2), core.Step{By: "formula", To: 1}, core.Step{By: "scale-down.interval", To: 2})
	delayed.Wanted = 1
	for name, tt := range map[string]struct {
		reason string
		d      core.Decision
		want   []string
	}{
		"change":           {"what is done is reported, and only what changes", change(core.ReasonScaleUp, one, vertex(sink, 4, 4)), []string{"report ScalingReport: scale-up begins: " + entry}},
		"dry run":          {"what is not done is recommended, at its size", hold(core.ReasonScalingDisabled, kept(one, core.ReasonScalingDisabled)), []string{"recommended ScalingReport: recommended, but kept back by scaling-disabled, job.autoscaler.scaling.enabled: " + entry}},
		"paused":           {"a pause has no option", hold(core.ReasonPaused, kept(one, core.ReasonPaused)), []string{"recommended ScalingReport: recommended, but kept back by paused: " + entry}},
		"paused, all well": {"nothing would be done", hold(core.ReasonPaused, vertex(source, 1, 1)), nil},
		"excluded period":  {"the option names it", hold(core.ReasonExcludedPeriod, kept(one, core.ReasonExcludedPeriod)), []string{"recommended ScalingReport: recommended, but kept back by excluded-period, job.autoscaler.excluded.periods: " + entry}},
		"no-down period": {"the step is named by the option", hold(core.ReasonNoDownPeriod, stepped(held(2, 1), core.Step{By: policy.Prefix + "scale-down.excluded.periods", To: 2}), stepped(held(4, 2), core.Step{By: policy.Prefix + "vertex.min-parallelism", To: 4})),
			[]string{"recommended ScalingReport: recommended, but kept back by no-down-period, job.autoscaler.scale-down.excluded.periods: { Vertex ID " + source + " | Parallelism 2 -> 1 | Processing capacity 100.00 -> 50.00 | Target data rate 110.00}"}},
		"after other steps":  {"the size before the last step, not the formula's", hold(core.ReasonPaused, kept(delayed, core.ReasonPaused)), []string{"recommended ScalingReport: recommended, but kept back by paused: { Vertex ID " + source + " | Parallelism 3 -> 2 | Processing capacity 100.00 -> 66.67 | Target data rate 110.00}"}},
		"kept by the delay":  {"what another rule held is not recommended", hold(core.ReasonPaused, stepped(vertex(source, 3, 3), core.Step{By: "scale-down.interval", To: 3})), nil},
		"rescale open":       {"the change under way was reported", hold(core.ReasonRescaleOpen, kept(one, core.ReasonRescaleOpen)), nil},
		"within target":      {"an idle job sends nothing", hold(core.ReasonWithinTarget, vertex(source, 1, 1)), nil},
		"delayed":            {"waiting is no news", hold(core.ReasonDownDelayed, vertex(source, 1, 1)), nil},
		"window not full":    {"no evidence yet is no news", hold(core.ReasonWindowNotFull), nil},
		"change of nothing":  {"nothing to report", change(core.ReasonOverride, vertex(source, 1, 1)), nil},
		"unsorted":           {"entries come by id", change(core.ReasonScaleUp, vertex(sink, 1, 2), one), []string{"report ScalingReport: scale-up begins: " + entry + " " + strings.Replace(entry, source, sink, 1)}},
		"quota, then paused": {"the pause kept nothing back", hold(core.ReasonPaused, kept(one, core.ReasonQuota)), []string{"warning error ResourceQuotaReached: quota-reached: vertex Source: orders (" + source + ")"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, brief(Of(tt.d, core.Watching, graph()))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
	e := Of(change(core.ReasonScaleUp, one), core.Watching, graph())[0]
	if e.ParallelismHash != "1286380436" || e.DecisionID != "7-1" || !e.At.Equal(noon()) {
		t.Errorf("the event is %+v", e)
	}
}

func TestWhatElseIsTold(t *testing.T) {
	t.Parallel()
	doubt := vertex(source, 4, 4)
	doubt.Effect = &core.Effect{ExpectedGain: 100, Gain: 4.125, Proofs: 1}
	blocked := doubt
	blocked.Effect = &core.Effect{ExpectedGain: 100, Gain: 4.125, Proofs: 2, Blocks: true}
	limited := stepped(vertex(sink, 4, 5), core.Step{By: "formula", To: 7}, limitedTo(7, 5))
	advice := change(core.ReasonScaleUp, vertex(source, 1, 2))
	advice.Memory = &core.MemoryAdvice{Set: []core.Option{{Key: "taskmanager.memory.process.size", Value: "13760 kb"}}, Remove: []string{"taskmanager.memory.flink.size"}}
	for name, tt := range map[string]struct {
		reason string
		d      core.Decision
		want   []string
	}{
		"ineffective":      {"told though it blocks nothing", hold(core.ReasonWithinTarget, doubt), []string{"ineffective IneffectiveScaling: vertex Source: orders (" + source + "): expected gain 100.00/s, actual gain 4.13/s, blocking disabled"}},
		"blocks":           {"told with what follows", hold(core.ReasonIneffective, blocked), []string{"ineffective IneffectiveScaling: vertex Source: orders (" + source + "): expected gain 100.00/s, actual gain 4.13/s, blocking enabled"}},
		"limited":          {"with all that Java tells", change(core.ReasonScaleUp, limited), []string{"warning error ScalingLimited: vertex " + sink + ": expected 7, actual 5; 120 to share out, upper bound 6, lower limit 1"}},
		"memory pressure":  {"a normal event, as in Java", hold(core.ReasonMemoryPressure, kept(vertex(source, 1, 2), core.ReasonMemoryPressure)), []string{"error MemoryPressure: memory-pressure: a note"}},
		"quota":            {"a warning, once and not per vertex", hold(core.ReasonQuota, kept(vertex(source, 1, 2), core.ReasonQuota), kept(vertex(sink, 1, 2), core.ReasonQuota)), []string{"warning error ResourceQuotaReached: quota-reached: a note"}},
		"quota as a limit": {"a step by the option counts too", change(core.ReasonScaleUp, stepped(vertex(sink, 4, 4), core.Step{By: policy.Prefix + "quota.cpu", To: 4, Note: "12 of 10 cores"})), []string{"warning error ResourceQuotaReached: quota-reached: vertex " + sink + ": 12 of 10 cores"}},
		"vetoed":           {"the executor's words are in the note", hold(core.ReasonVetoed, kept(vertex(source, 1, 2), core.ReasonVetoed)), []string{"warning error ScalingVetoed: vetoed: a note"}},
		"memory advice":    {"shown with the change", advice, []string{"recommended Configuration recommendation: for the new size, shown and never carried out: set taskmanager.memory.process.size: 13760 kb; take out taskmanager.memory.flink.size"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := slices.DeleteFunc(brief(Of(tt.d, core.Watching, graph())), func(s string) bool { return strings.HasPrefix(s, "report ") })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		r      core.Reason
		h      core.Health
		want   []string
	}{
		"unreachable":  {"with what to do", core.ReasonUnreachable, core.Blocked, []string{"warning error AutoscalerError: unreachable: a note; check address, network and JobManager"}},
		"one look":     {"one failed look is no error", core.ReasonUnreachable, core.Watching, nil},
		"first look":   {"nor is the first", core.ReasonUnreachable, core.Starting, nil},
		"rescaling":    {"the rescale has its own outcome", core.ReasonUnreachable, core.Rescaling, nil},
		"while paused": {"a pause does not hide it", core.ReasonUnreachable, core.Paused, []string{"warning error AutoscalerError: unreachable: a note; check address, network and JobManager"}},
		"gone":         {"a job that ended is no error", core.ReasonJobGone, core.JobGone, nil},
		"not running":  {"it passes by itself", core.ReasonJobNotRunning, core.Blocked, nil},
		"at limit":     {"a policy that does its work", core.ReasonAtLimit, core.Watching, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, brief(Of(hold(tt.r), tt.h, graph()))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
	d := hold(core.ReasonPolicyInvalid)
	d.Problems = []core.Problem{{Path: "a", Message: "is bad"}, {Path: "b", Message: "too"}}
	if diff := cmp.Diff([]string{"warning error AutoScaler Options Validation: a: is bad; b: too"}, brief(Of(d, core.Blocked, graph()))); diff != "" {
		t.Errorf("problems of the policy (-want +got):\n%s", diff)
	}
}

// TestFailuresNeedSomebody: what is no failure is watched, gone, or has an
// event of its own; nothing is forgotten when a reason is added.
func TestFailuresNeedSomebody(t *testing.T) {
	t.Parallel()
	// These mend themselves, belong to a rescale, or are told otherwise.
	other := []core.Reason{
		core.ReasonJobGone, core.ReasonJobNotRunning, core.ReasonTasksNotRunning, core.ReasonVertexChanged, core.ReasonBusy, core.ReasonContradiction,
		core.ReasonMemoryPressure, core.ReasonQuota, core.ReasonVetoed, core.ReasonIneffective, core.ReasonUndoOff,
	}
	for _, i := range core.Reasons() {
		is := slices.Contains(Failures(), i.Reason)
		well := core.HealthOf(core.JobContext{}, hold(i.Reason)) != core.Blocked || slices.Contains(other, i.Reason)
		if is == well {
			t.Errorf("%s: a failure: %v, watched or told otherwise: %v; one of them must be true", i.Reason, is, well)
		}
	}
}

// TestReferenceIsComplete: whatever is sent is in the reference, with its type.
func TestReferenceIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range everything() {
		found := false
		for _, i := range Reasons() {
			found = found || (i.Reason == e.Reason && i.Kind == e.Kind && i.Warning == e.Warning)
		}
		if !found {
			t.Errorf("not in the reference: %+v", e)
		}
		seen[e.Reason+string(e.Kind)] = true
		if strings.Contains(e.Message, "\n") {
			t.Errorf("a message has more than one line: %q", e.Message)
		}
	}
	for _, i := range Reasons() {
		if !seen[i.Reason+string(i.Kind)] {
			t.Errorf("%s (%s) is never sent", i.Reason, i.Kind)
		}
	}
}

// everything is at least one event of each kind.
func everything() []core.Event {
	v := stepped(vertex(source, 1, 2), limitedTo(3, 2))
	v.Effect = &core.Effect{ExpectedGain: 1}
	d := change(core.ReasonScaleUp, v)
	d.Memory = &core.MemoryAdvice{Remove: []string{"x"}}
	out := Of(d, core.Watching, graph())
	out = append(append(out, OfOutcome(undone())...), OfOutcome(core.Outcome{Kind: core.Failed})...)
	for _, r := range []core.Reason{core.ReasonPaused, core.ReasonMemoryPressure, core.ReasonQuota, core.ReasonVetoed, core.ReasonInternal, core.ReasonPolicyInvalid} {
		out = append(out, Of(hold(r, kept(vertex(source, 1, 2), r)), core.Blocked, graph())...)
	}
	return out
}

// TestLargeJob: one decision of a job of 300 vertices gives rise to fewer
// events than are remembered, and says what it leaves out (I10).
func TestLargeJob(t *testing.T) {
	t.Parallel()
	var all []core.VertexDecision
	for i := range 300 {
		v := stepped(vertex(fmt.Sprintf("%032x", i), 1, 2), limitedTo(3, 2))
		v.Effect = &core.Effect{ExpectedGain: 1}
		all = append(all, v)
	}
	events := Of(change(core.ReasonScaleUp, all...), core.Watching, core.Topology{})
	if len(events) != 1+2*maxPerVertex || len(events) >= maxTold {
		t.Errorf("%d events", len(events))
	}
	if last := events[len(events)-1].Message; !strings.HasSuffix(last, "280 more vertices alike") {
		t.Errorf("the last says %q", last)
	}
	if got, err := ParseReport(events[0].Message); err != nil || len(got) != 300 {
		t.Errorf("the report has %d entries (%v), want all 300", len(got), err)
	}
}

// TestJSONIsStable: events are in histories.
func TestJSONIsStable(t *testing.T) {
	t.Parallel()
	e := Of(change(core.ReasonScaleUp, vertex(source, 1, 2)), core.Watching, graph())[0]
	e.Message = "m"
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"report","reason":"ScalingReport","key":"ScalingReport/1286380436/` + graphHash([]core.VertexDecision{{ID: source, From: 1}}) +
		`","message":"m","parallelismHash":"1286380436","decision":"7-1","at":"2026-11-29T12:00:00Z"}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
