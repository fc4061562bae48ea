package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// everything gives a good value for every key that has an effect, and not the
// default, so that a key that is not decoded shows.
func everything() map[string]string {
	short := map[string]string{
		"strategy": "flink", "interval": "10 s", "scaling.enabled": "false",
		"metrics.window": "2 min", "stabilization.interval": "1 min", "metrics.busy-time.aggregator": "AVG",
		"observed-true-processing-rate.lag-threshold": "7 s", "observed-true-processing-rate.switch-threshold": "0.2", "observed-true-processing-rate.min-observations": "3",
		"observed-scalability.enabled": "true", "observed-scalability.min-observations": "4", "observed-scalability.coefficient-min": "0.6",
		"utilization.target": "0.6", "utilization.max": "0.9", "utilization.min": "0.2", "target.utilization.boundary": "0.1", "scale-down.interval": "2 h",
		"objective.lag": "30 s", "objective.recover-within": "9 min",
		"vertex.partitions": "b:3,a:2", "vertex.min-parallelism": "2", "vertex.max-parallelism": "40", "vertex.hard-min-parallelism": "1", "vertex.hard-max-parallelism": "50",
		"vertex.exclude.ids": "y;x", "scale-down.max-factor": "0.5", "scale-up.max-factor": "2",
		"scaling.parallelism-alignment.mode": "mine", "scaling.parallelism-alignment.mode.mine.class": "C", "approval.for": "down", "approval.min-step": "0.5", "approval.min-state-size": "5 gb", "approval.periods": "9:00-17:00", "approval.deadline": "20 min",
		"approval.default": "APPLY", "approval.quiet": "2 h", "rescale.budget.count": "9", "rescale.budget.downtime": "11 min", "rescale.breaker.failures": "2", "rescale.breaker.reset": "13 min", "share.priority": "-3",
		"scaling.align-to-slots": "true", "scaling.parallelism-alignment.max-overshoot": "0.5",
		"catch-up.duration": "20 min", "backlog-processing.lag-threshold": "4 min", "restart.time": "1 min", "restart.time-tracking.enabled": "true", "restart.time-tracking.limit": "3 min",
		"scaling.effectiveness.detection.enabled": "true", "scaling.effectiveness.threshold": "0.2", "scaling.effectiveness.proofs": "3", "scaling.effectiveness.expiry": "2 h",
		"time-zone": "Europe/Berlin", "excluded.periods": "9:00-10:00", "scale-down.excluded.periods": "11:00-12:00;* * 3 * * ?",
		"vertex.min-parallelism.schedule": "8:00-9:00 = 4", "vertex.min-parallelism.schedule.lead-time": "5 min",
		"memory.gc-pressure.threshold": "0.3", "memory.heap-usage.threshold": "0.8", "quota.cpu": "12.5", "quota.memory": "64 gb",
		"memory.tuning.enabled": "true", "memory.tuning.scale-down-compensation.enabled": "false", "memory.tuning.overhead": "0.3", "memory.tuning.maximize-managed-memory": "true",
		"rescale.verify-timeout": "6 min", "rescale.backoff": "7 min", "rescale.without-checkpoints": "true", "rescale.without-free-slots": "true", "redeploy.enabled": "true", "rescale.foreign-writer.accept-after": "17 min",
		"rescale.undo.enabled": "false", "rescale.undo.lag-within": "19 min",
		"history.max.count": "5", "history.max.age": "12 h", "scaling.event.interval": "1 h",
		"metrics.custom-evaluators": "e", "metrics.custom-evaluator.e.class": "E", "scaling.custom-executors": "x;y",
		"scaling.custom-executor.x.class": "X", "scaling.custom-executor.y.class": "Y", "scaling.custom-executor.y.p": "1",
	}
	out := map[string]string{}
	for k, v := range short {
		out[Prefix+k] = v
	}
	return out
}

func TestEveryKeyIsDecoded(t *testing.T) {
	t.Parallel()
	p, origins, problems := Resolve([]Layer{{Name: "job", Values: everything()}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := Policy{
		Strategy: "flink", Interval: 10 * time.Second,
		MetricsWindow: 2 * time.Minute, StabilizationInterval: time.Minute,
		UtilizationTarget: 0.6, UtilizationBoundary: 0.1, UtilizationMax: 0.9, UtilizationMin: 0.2,
		ScaleDownInterval: 2 * time.Hour, MinParallelism: 2, MaxParallelism: 40, ScaleDownMaxFactor: 0.5, ScaleUpMaxFactor: 2,
		HardMin: 1, HardMax: 50, AlignSlots: true, Partitions: []VertexCount{{"a", 2}, {"b", 3}},
		CatchUp: 20 * time.Minute, RestartTime: time.Minute, RestartTracking: true, RestartTrackingLimit: 3 * time.Minute, BacklogLagThreshold: 4 * time.Minute,
		ObservedLagThreshold: 7 * time.Second, ObservedSwitchThreshold: 0.2, ObservedMinObservations: 3,
		BusyTimeAggregator: AggregateAvg, Exclude: []string{"x", "y"}, Alignment: AlignCustom, AlignOvershoot: 0.5, AlignmentPlugin: &Plugin{Name: "mine", Class: "C", Params: []Param{{"class", "C"}}},
		EffectivenessDetection: true, EffectivenessThreshold: 0.2, EffectivenessProofs: 3, EffectivenessExpiry: 2 * time.Hour,
		ObservedScalability: true, ObservedScalabilityMin: 4, ObservedScalabilityFloor: 0.6,
		GCPressureThreshold: 0.3, HeapUsageThreshold: 0.8,
		MemoryTuning: true, TuningOverhead: 0.3, TuningMaximizeManaged: true,
		HistoryMaxCount: 5, HistoryMaxAge: 12 * time.Hour, EventInterval: time.Hour,
		QuotaCPU: 12.5, QuotaMemory: 64 << 30, ObjectiveLag: 30 * time.Second, ObjectiveRecoverWithin: 9 * time.Minute,
		Zone: zone(t, "Europe/Berlin"), ExcludedPeriods: []Period{period(t, "9:00-10:00")}, NoDownPeriods: []Period{period(t, "11:00-12:00"), period(t, "* * 3 * * ?")},
		Floors: []Floor{{Period: period(t, "8:00-9:00"), All: 4}}, FloorLead: 5 * time.Minute,
		ApprovalFor: ApproveDown, ApprovalMinStep: 0.5, ApprovalMinState: 5 << 30, ApprovalPeriods: []Period{period(t, "9:00-17:00")}, ApprovalDeadline: 20 * time.Minute, ApprovalDefault: ApplyUnanswered, ApprovalQuiet: 2 * time.Hour,
		Evaluator: &Plugin{Name: "e", Class: "E", Params: []Param{{"class", "E"}}},
		Executors: []Plugin{{Name: "x", Class: "X", Params: []Param{{"class", "X"}}}, {Name: "y", Class: "Y", Params: []Param{{"class", "Y"}, {"p", "1"}}}},

		BudgetCount: 9, BudgetDowntime: 11 * time.Minute, BreakerFailures: 2, BreakerReset: 13 * time.Minute,
		VerifyTimeout: 6 * time.Minute, Backoff: 7 * time.Minute, WithoutCheckpoints: true, WithoutFreeSlots: true, Redeploy: true, ForeignAcceptAfter: 17 * time.Minute, UndoLagWithin: 19 * time.Minute, SharePriority: -3,
	}
	if !p.Equal(want) {
		want.Zone, p.Zone = nil, nil
		got, wanted := fmt.Sprintf("%+v", p), fmt.Sprintf("%+v", want)
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
	for _, k := range Keys() {
		if k.Ignored == "" && !slices.ContainsFunc(origins, func(o Origin) bool {
			return o.Key == k.Key || strings.HasPrefix(o.Key, strings.TrimSuffix(k.Key, "<name>..."))
		}) {
			t.Errorf("%s is not shown", k.Key)
		}
	}
}

// TestEveryFieldHasAKey: with every key given, no field of the policy is what
// it is by default, but for those that no key says.
func TestEveryFieldHasAKey(t *testing.T) {
	t.Parallel()
	p, _, _ := Resolve([]Layer{{Name: "job", Values: everything()}})
	got, initial := reflect.ValueOf(p), reflect.ValueOf(Default())
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		if name == "Strategy" || name == "Quirks" {
			continue
		}
		if reflect.DeepEqual(got.Field(i).Interface(), initial.Field(i).Interface()) {
			t.Errorf("%s is as by default", name)
		}
	}
}

func TestDefaultsAreGood(t *testing.T) {
	t.Parallel()
	for _, x := range table() {
		if x.def == "" || x.ignored != "" {
			continue
		}
		if problems := Check(given("table", x.key(), x.def)); len(problems) > 0 {
			t.Errorf("built-in default: %v", problems)
		}
		if !slices.Contains(Groups(), x.group) {
			t.Errorf("%s is in no group that is listed", x.name)
		}
	}
}

func TestUnknownKeysNameTheNearest(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ key, want string }{
		"letter":             {Prefix + "metrics.windw", "unknown key; did you mean job.autoscaler.metrics.window?"},
		"old prefix":         {OldPrefix + "metrics.windw", "unknown key; did you mean job.autoscaler.metrics.window?"},
		"list of plugins":    {Prefix + "metrics.custom-evaluator", "unknown key; did you mean job.autoscaler.metrics.custom-evaluators?"},
		"plugin, old prefix": {OldPrefix + "scaling.custom-executer.mine.class", "unknown key; did you mean job.autoscaler.scaling.custom-executor.<name>.<parameter>?"},
		"plural plugin":      {Prefix + "metrics.custom-evaluators.mine.class", "unknown key; did you mean job.autoscaler.metrics.custom-evaluator.<name>.<parameter>?"},
		"older name":         {Prefix + "scale-up.grace-perod", "unknown key; did you mean job.autoscaler.scale-down.interval?"},
		"nothing near":       {Prefix + "make.it.cheap", "unknown key"},
		"prefix mistyped":    {"job.autoscaller.metrics.window", "not a key of the autoscaler: they begin with job.autoscaler. did you mean job.autoscaler.metrics.window?"},
		"prefix forgotten":   {"metrics.window", "not a key of the autoscaler: they begin with job.autoscaler. did you mean job.autoscaler.metrics.window?"},
		"of Flink":           {"taskmanager.numberOfTaskSlots", "not a key of the autoscaler: they begin with job.autoscaler."},
		"empty":              {"", "not a key of the autoscaler: they begin with job.autoscaler."},
		"prefix alone":       {Prefix, "unknown key"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := Check(given("input", c.key, "1"))
			if len(problems) != 1 || problems[0].Message != c.want+" (from input)" || problems[0].Path != fmt.Sprintf("policy[%q]", c.key) {
				t.Errorf("%q: %v; want %s", c.key, problems, c.want)
			}
		})
	}
}

func TestProblemsNameSpellingAndLayer(t *testing.T) {
	t.Parallel()
	_, _, problems := Resolve([]Layer{
		given("set-policy", OldPrefix+"vertex.hard-min-parallelism", "9"),
		given("job", Prefix+"vertex.hard-max-parallelism", "8", Prefix+"scale-up.grace-period", "soon"),
	})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		`policy["job.autoscaler.scale-up.grace-period"]: not a duration such as 60 s, 5 min or PT5M, got "soon" (from job)`,
		`policy["kubernetes.operator.job.autoscaler.vertex.hard-min-parallelism"]: must be at most vertex.hard-max-parallelism (8), got 9 (from set-policy)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOrderOfKeysIsIrrelevant: values are maps; whatever order they are walked
// in, all that comes out is the same.
func TestOrderOfKeysIsIrrelevant(t *testing.T) {
	t.Parallel()
	names := []string{"interval", "utilization.target", "target.utilization", "scaling.custom-executors", "scaling.custom-executor.a.class", "scaling.custom-executor.a.p",
		"scaling.parallelism-alignment.mode", "scaling.key-group.partitions.adjust.mode", "wrong", "wrung", "vertex.min-parallelism", "excluded.periods"}
	rapid.Check(t, func(r *rapid.T) {
		var layers []Layer
		for i := range rapid.IntRange(1, 3).Draw(r, "layers") {
			l := Layer{Name: fmt.Sprint("layer ", i), Values: map[string]string{}}
			for range rapid.IntRange(0, 12).Draw(r, "keys") {
				key := rapid.SampledFrom([]string{Prefix, OldPrefix}).Draw(r, "prefix") + rapid.SampledFrom(names).Draw(r, "name")
				l.Values[key] = rapid.SampledFrom([]string{"a", "0.5", "10 s", "EVENLY_SPREAD", "9:00-10:00", "300", ""}).Draw(r, "value")
			}
			layers = append(layers, l)
		}
		p, origins, problems := Resolve(layers)
		for range 3 {
			again := slices.Clone(layers)
			for i := range again {
				again[i].Values = reordered(again[i].Values)
			}
			q, o, ps := Resolve(again)
			if !p.Equal(q) || cmp.Diff(origins, o) != "" || cmp.Diff(problems, ps) != "" {
				r.Fatalf("resolving again gives something else:\n%s%s", cmp.Diff(origins, o), cmp.Diff(problems, ps))
			}
		}
	})
}

func reordered(m map[string]string) map[string]string {
	keys := slices.Sorted(maps.Keys(m))
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	out := map[string]string{}
	for _, k := range keys {
		out[k] = m[k]
	}
	return out
}

func TestEqual(t *testing.T) {
	t.Parallel()
	resolve := func(pairs ...string) Policy {
		p, _, problems := Resolve([]Layer{given("x", pairs...)})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return p
	}
	berlin := resolve(Prefix+"time-zone", "Europe/Berlin", Prefix+"excluded.periods", "* * 3 * * ?")
	for name, q := range map[string]Policy{
		"zone":    resolve(Prefix+"time-zone", "UTC", Prefix+"excluded.periods", "* * 3 * * ?"),
		"periods": resolve(Prefix+"time-zone", "Europe/Berlin", Prefix+"excluded.periods", "* * 4 * * ?"),
		"number":  resolve(Prefix+"time-zone", "Europe/Berlin", Prefix+"excluded.periods", "* * 3 * * ?", Prefix+"quota.cpu", "1"),
	} {
		if berlin.Equal(q) || cmp.Equal(berlin, q) {
			t.Errorf("%s: the same", name)
		}
	}
	again := resolve(Prefix+"time-zone", "Europe/Berlin", Prefix+"excluded.periods", "* * 3 * * ?")
	if diff := cmp.Diff(berlin, again); diff != "" || !reflect.DeepEqual(berlin, again) {
		t.Errorf("resolved twice (-first +second):\n%s", diff)
	}
}

func TestRelevantIsOwnAndRelated(t *testing.T) {
	t.Parallel()
	got := Relevant(map[string]string{
		"job.autoscaler.interval": "10 s", OldPrefix + "x": "1", "taskmanager.numberOfTaskSlots": "2", "pipeline.max-parallelism": "128",
		"parallelism.default": "4", "taskmanager.memory.process.size": "2g", "s3.secret-key": "x",
	})
	want := map[string]string{
		"job.autoscaler.interval": "10 s", OldPrefix + "x": "1", "taskmanager.numberOfTaskSlots": "2", "pipeline.max-parallelism": "128",
		"taskmanager.memory.process.size": "2g",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if related := Related(); !slices.IsSorted(related) || slices.ContainsFunc(related, hasPrefix) {
		t.Errorf("%v; want them sorted and none of ours", related)
	}
}

// FuzzPolicy: whatever the text, it is decoded without panic, a problem names a
// key, and a policy without problems is inside its ranges. What is shown of it,
// given again, is the same policy.
func FuzzPolicy(f *testing.F) {
	for _, k := range Keys() {
		f.Add(k.Key, k.Default, "")
	}
	for k, v := range everything() {
		f.Add(k, v, "mine")
	}
	f.Add("job.autoscaler.metrics.window", "PT5M", "")
	f.Add("job.autoscaler.vertex.exclude.ids", "'a;b';c", "")
	f.Add("kubernetes.operator.job.autoscaler.utilization.max", "1e309", "")
	f.Add("job.autoscaler.", "", "")
	f.Add("job.autoscaler.vertex.partitions", "{'a:b': 1, c: \"2\"}", "")
	f.Add("job.autoscaler.vertex.min-parallelism.schedule", "* * 8 ? * MON#1 && 8:15-8:30 = a:2,b:3", "")
	f.Add("job.autoscaler.scaling.custom-executors", "mine;'x y'", "Class")
	f.Fuzz(func(t *testing.T, key, value, class string) {
		values := map[string]string{Prefix + "scaling.custom-executor.mine.class": class, key: value}
		p, origins, problems := Resolve([]Layer{{Name: "input", Values: values}})
		for _, problem := range problems {
			if !strings.HasPrefix(problem.Path, `policy["`) || problem.Message == "" {
				t.Errorf("problem without key or message: %v", problem)
			}
		}
		if len(problems) > 0 {
			return
		}
		inside := p.Interval >= time.Second && p.Interval <= time.Hour && p.MetricsWindow >= p.Interval &&
			p.UtilizationTarget > 0 && p.UtilizationTarget <= 1 && p.MinParallelism >= 1 && p.MaxParallelism >= p.MinParallelism &&
			p.ScaleDownMaxFactor >= 0 && p.CatchUp >= 0 && p.HistoryMaxCount >= 1 && p.EffectivenessProofs >= 1 &&
			p.GCPressureThreshold >= 0 && p.GCPressureThreshold <= 1 && p.QuotaMemory >= 0 && p.QuotaCPU >= 0 && p.Zone != nil
		if !inside {
			t.Errorf("%q = %q passed but gives %+v", key, value, p)
		}
		shown := map[string]string{}
		for _, o := range origins {
			if o.From != BuiltIn {
				shown[o.Key] = o.Value
			}
		}
		if q, _, problems := Resolve([]Layer{{Name: "again", Values: shown}}); len(problems) > 0 || !p.Equal(q) {
			t.Errorf("%v gives %v, %+v; want what %q = %q gives", shown, problems, q, key, value)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	layers := []Layer{
		given("input", Prefix+"interval", "5 s", Prefix+"vertex.max-parallelism", "30"),
		{Name: "job", Values: everything()},
		given("cluster", Prefix+"restart.time", "3 min"),
	}
	if n := len(layers[1].Values); n < 60 {
		b.Fatalf("only %d keys", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, problems := Resolve(layers); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkFloorFor(b *testing.B) {
	p, _, problems := Resolve([]Layer{given("input", Prefix+"time-zone", "Europe/Berlin",
		Prefix+"vertex.min-parallelism.schedule", "8:00-18:00 = 12; * * 9 ? * MON-FRI = a:30,b:4; * 30 * * * ? && 12:00-13:00 = 5")})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	now := at(b, "2024-05-06T10:20:30")
	for b.Loop() {
		p.FloorFor("a", now)
	}
}
