package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func given(name string, pairs ...string) Layer {
	l := Layer{Name: name, Values: map[string]string{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		l.Values[pairs[i]] = pairs[i+1]
	}
	return l
}

func TestDefaultsAreThoseOfTheJavaAutoscaler(t *testing.T) {
	t.Parallel()
	want := Policy{
		Strategy: "flink", Interval: time.Minute, ScalingEnabled: true,
		MetricsWindow: 15 * time.Minute, StabilizationInterval: 5 * time.Minute,
		UtilizationTarget: 0.7, UtilizationBoundary: 0.3, UtilizationMax: 1, UtilizationMin: 0.39999999999999997, // 0.7 - 0.3 in float64, as in Java
		ScaleDownInterval: time.Hour, MinParallelism: 1, MaxParallelism: 200,
		ScaleDownMaxFactor: 0.6, ScaleUpMaxFactor: 100000,
		CatchUp: 30 * time.Minute, RestartTime: 5 * time.Minute, BacklogLagThreshold: 5 * time.Minute,
		ObservedLagThreshold: 30 * time.Second, ObservedSwitchThreshold: 0.15, ObservedMinObservations: 2,
		BusyTimeAggregator: AggregateMax, Alignment: AlignBalanced, AlignOvershoot: 100000,
		RestartTrackingLimit: 15 * time.Minute, EffectivenessThreshold: 0.1, EffectivenessProofs: 2, EffectivenessExpiry: time.Hour,
		ObservedScalabilityMin: 3, ObservedScalabilityFloor: 0.5, GCPressureThreshold: 1, HeapUsageThreshold: 1,
		TuningCompensation: true, TuningOverhead: 0.2, HistoryMaxCount: 3, HistoryMaxAge: 24 * time.Hour, EventInterval: 30 * time.Minute,
		Zone: time.UTC, FloorLead: 15 * time.Minute,
		ApprovalFor: ApproveNone, ApprovalDeadline: time.Hour, ApprovalDefault: RejectUnanswered, ApprovalQuiet: time.Hour,
		BreakerFailures: 5, BreakerReset: time.Hour,
		ForeignAcceptAfter: time.Hour, Backoff: 5 * time.Minute, Undo: true, UndoLagWithin: time.Hour,
	}
	if diff := cmp.Diff(want, Default()); diff != "" {
		t.Errorf("default policy (-want +got):\n%s", diff)
	}
}

func TestResolveTakesTheHighestLayerAndSaysSo(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		layers []Layer
		want   Origin
	}{
		"nothing": {
			reason: "a key that nobody gives comes from the table",
			want:   Origin{Key: "job.autoscaler.metrics.window", Value: "15 min", From: BuiltIn},
		},
		"higher wins": {
			reason: "set-policy is above the job's own configuration",
			layers: []Layer{given("set-policy", "job.autoscaler.metrics.window", "2 min"), given("job", "job.autoscaler.metrics.window", "9 min")},
			want:   Origin{Key: "job.autoscaler.metrics.window", Value: "2 min", From: "set-policy"},
		},
		"lower fills": {
			reason: "layers are merged key by key",
			layers: []Layer{given("input", "job.autoscaler.restart.time", "2 min"), given("cluster", "job.autoscaler.metrics.window", "9 min")},
			want:   Origin{Key: "job.autoscaler.metrics.window", Value: "9 min", From: "cluster"},
		},
		"canonical wins inside a layer": {
			reason: "both prefixes are accepted, the canonical one first",
			layers: []Layer{given("job", "kubernetes.operator.job.autoscaler.metrics.window", "3 min", "job.autoscaler.metrics.window", "4 min")},
			want:   Origin{Key: "job.autoscaler.metrics.window", Value: "4 min", From: "job"},
		},
		"old prefix above canonical below": {
			reason: "the layer counts before the spelling",
			layers: []Layer{given("input", "kubernetes.operator.job.autoscaler.metrics.window", "3 min"), given("job", "job.autoscaler.metrics.window", "4 min")},
			want:   Origin{Key: "job.autoscaler.metrics.window", Value: "3 min", From: "input", As: "kubernetes.operator.job.autoscaler.metrics.window"},
		},
		"deprecated alias": {
			reason: "scale-up.grace-period is what scale-down.interval was called",
			layers: []Layer{given("job", "job.autoscaler.scale-up.grace-period", "7 min")},
			want:   Origin{Key: "job.autoscaler.scale-down.interval", Value: "7 min", From: "job", As: "job.autoscaler.scale-up.grace-period", Note: "older name of scale-down.interval"},
		},
		"deprecated alias, old prefix": {
			reason: "the alias has both prefixes too",
			layers: []Layer{given("job", "kubernetes.operator.job.autoscaler.target.utilization", "0.6")},
			want:   Origin{Key: "job.autoscaler.utilization.target", Value: "0.6", From: "job", As: "kubernetes.operator.job.autoscaler.target.utilization", Note: "older name of utilization.target"},
		},
		"enabled": {
			reason: "a running workflow is on, whatever the key says",
			layers: []Layer{given("input", "job.autoscaler.enabled", "false")},
			want:   Origin{Key: "job.autoscaler.enabled", Value: "false", From: "input", Note: "ignored: a running workflow is on"},
		},
		"not ours to say": {
			reason: "a key of the Java autoscaler without effect is never silent",
			layers: []Layer{given("job", "job.autoscaler.flink.rest-client.timeout", "7 s")},
			want:   Origin{Key: "job.autoscaler.flink.rest-client.timeout", Value: "7 s", From: "job", Note: "ignored: the cluster's entry in the worker's configuration says it"},
		},
		"plugin parameter": {
			reason: "families of keys are recognised by their beginning",
			layers: []Layer{given("job", "job.autoscaler.scaling.custom-executor.mine.class", "x.Y")},
			want:   Origin{Key: "job.autoscaler.scaling.custom-executor.mine.class", Value: "x.Y", From: "job", Note: "no effect: no plugin of this name is in use"},
		},
		"tuning": {
			reason: "what we treat otherwise than Java is said where it matters",
			layers: []Layer{given("job", "job.autoscaler.memory.tuning.enabled", "true")},
			want:   Origin{Key: "job.autoscaler.memory.tuning.enabled", Value: "true", From: "job", Note: "without effect: what TaskManagers need at a new size is told with every change, and never applied"},
		},
		"no tuning": {
			reason: "off is off in both",
			layers: []Layer{given("job", "job.autoscaler.memory.tuning.enabled", "false")},
			want:   Origin{Key: "job.autoscaler.memory.tuning.enabled", Value: "false", From: "job"},
		},
		"zone of the JVM": {
			reason: "who copies periods over must know whose clock they are about",
			layers: []Layer{given("job", "job.autoscaler.excluded.periods", "9:00-10:00")},
			want:   Origin{Key: "job.autoscaler.excluded.periods", Value: "9:00-10:00", From: "job", Note: "by the wall clock in UTC, see time-zone; Java takes the zone of its JVM"},
		},
		"zone given": {
			reason: "then there is nothing to wonder about",
			layers: []Layer{given("job", "job.autoscaler.excluded.periods", "9:00-10:00", "job.autoscaler.time-zone", "Europe/Berlin")},
			want:   Origin{Key: "job.autoscaler.excluded.periods", Value: "9:00-10:00", From: "job"},
		},
		"a second each day": {
			reason: "a cron expression is read as what it holds, not as a start",
			layers: []Layer{given("job", "job.autoscaler.scale-down.excluded.periods", "0 0 8 * * ?")},
			want:   Origin{Key: "job.autoscaler.scale-down.excluded.periods", Value: "0 0 8 * * ?", From: "job", Note: `"0 0 8 * * ?" holds for single seconds: * for seconds and minutes makes it whole hours`},
		},
		"bound derived": {
			reason: "what follows from other keys is shown as computed",
			layers: []Layer{given("job", "job.autoscaler.target.utilization.boundary", "0.1")},
			want:   Origin{Key: "job.autoscaler.utilization.max", Value: "0.8", From: BuiltIn, Note: "target + boundary"},
		},
		"never down": {
			reason: "BC-35 (a): a boundary as large as the target means no scale-down ever",
			layers: []Layer{given("job", "job.autoscaler.utilization.target", "0.5", "job.autoscaler.target.utilization.boundary", "0.5")},
			want:   Origin{Key: "job.autoscaler.utilization.min", Value: "0", From: BuiltIn, Note: "target - boundary; 0 or below: never scales down"},
		},
		"above one": {
			reason: "Java counts an upper bound above 1 as 1",
			layers: []Layer{given("job", "job.autoscaler.target.utilization.boundary", "0.5")},
			want:   Origin{Key: "job.autoscaler.utilization.max", Value: "1.2", From: BuiltIn, Note: "target + boundary; above 1 counts as 1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, origins, problems := Resolve(c.layers)
			if len(problems) > 0 {
				t.Fatalf("problems: %v; want none, because %s", problems, c.reason)
			}
			i := slices.IndexFunc(origins, func(o Origin) bool { return o.Key == c.want.Key })
			if i < 0 {
				t.Fatalf("no origin of %s, because %s", c.want.Key, c.reason)
			}
			if diff := cmp.Diff(c.want, origins[i]); diff != "" {
				t.Errorf("because %s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestResolveFindsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	_, _, problems := Resolve([]Layer{
		given("input",
			"job.autoscaler.metrics.window", "fifteen",
			"job.autoscaler.utilization.target", "1.0001",
			"job.autoscaler.metrics.windw", "5 min",
			"kubernetes.operator.job.autoscaler.interval", "2 h",
			"parallelism.default", "4"),
		given("job", "job.autoscaler.scaling.parallelism-alignment.mode", "mine"),
	})
	want := []core.Problem{
		{Path: `policy["job.autoscaler.metrics.window"]`, Message: `not a duration such as 60 s, 5 min or PT5M, got "fifteen" (from input)`},
		{Path: `policy["job.autoscaler.metrics.windw"]`, Message: `unknown key; did you mean job.autoscaler.metrics.window? (from input)`},
		{Path: `policy["job.autoscaler.scaling.parallelism-alignment.mode"]`, Message: `must be one of BALANCED, EVENLY_SPREAD, OFF, got "mine" (from job)`},
		{Path: `policy["job.autoscaler.utilization.target"]`, Message: `must be above 0 and at most 1, got "1.0001" (from input)`},
		{Path: `policy["kubernetes.operator.job.autoscaler.interval"]`, Message: `must be between 1 s and 1 h, got "2 h" (from input)`},
		{Path: `policy["parallelism.default"]`, Message: `not a key of the autoscaler: they begin with job.autoscaler. (from input)`},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestValidation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		values []string
		bad    string // key whose value is refused, "" for none
	}{
		"defaults":             {"the built-in values are valid", nil, ""},
		"up factor":            {"Java refuses a negative factor", []string{"scale-up.max-factor", "-0.1"}, "scale-up.max-factor"},
		"down factor":          {"Java refuses a negative factor", []string{"scale-down.max-factor", "-0.1"}, "scale-down.max-factor"},
		"factor zero":          {"bounds are inclusive", []string{"scale-down.max-factor", "0"}, ""},
		"target negative":      {"Java's range is 0 to 1", []string{"utilization.target", "-0.6"}, "utilization.target"},
		"target zero":          {"a target of 0 would ask for infinitely many subtasks", []string{"utilization.target", "0"}, "utilization.target"},
		"target one":           {"bounds are inclusive", []string{"utilization.target", "1", "utilization.max", "1"}, ""},
		"max negative":         {"the range is target to 1", []string{"utilization.max", "-0.6"}, "utilization.max"},
		"max above one":        {"the range is target to 1", []string{"utilization.max", "1.2"}, "utilization.max"},
		"max below target":     {"min .3, target .5, max .4", []string{"utilization.min", "0.3", "utilization.target", "0.5", "utilization.max", "0.4"}, "utilization.max"},
		"min above target":     {"min .8 with target .7", []string{"utilization.min", "0.8"}, "utilization.min"},
		"min negative":         {"the range is 0 to target", []string{"utilization.min", "-0.6"}, "utilization.min"},
		"NaN":                  {"a number one cannot compute with", []string{"utilization.target", "NaN"}, "utilization.target"},
		"window short":         {"window 30 s under a cycle of 60 s", []string{"metrics.window", "30 s"}, "metrics.window"},
		"window as the cycle":  {"at least the interval", []string{"metrics.window", "30 s", "interval", "30 s"}, ""},
		"min above max":        {"no size would satisfy both", []string{"vertex.min-parallelism", "12", "vertex.max-parallelism", "8"}, "vertex.min-parallelism"},
		"no double complaint":  {"a contradiction with a value that could not be read is not told", []string{"interval", "x", "metrics.window", "1 s"}, "interval"},
		"bad list of switches": {"bools are true or false", []string{"scaling.enabled", "yes"}, "scaling.enabled"},
		"threshold, off":       {"Java checks it only with the detection on", []string{"scaling.effectiveness.threshold", "1.0001"}, ""},
		"threshold, on":        {"0 to 1", []string{"scaling.effectiveness.threshold", "1.0001", "scaling.effectiveness.detection.enabled", "true"}, "scaling.effectiveness.threshold"},
		"threshold negative":   {"0 to 1", []string{"scaling.effectiveness.threshold", "-0.0001", "scaling.effectiveness.detection.enabled", "true"}, "scaling.effectiveness.threshold"},
		"threshold one":        {"bounds are inclusive", []string{"scaling.effectiveness.threshold", "1", "scaling.effectiveness.detection.enabled", "true"}, ""},
		"threshold, no number": {"text is a problem even when it is off", []string{"scaling.effectiveness.threshold", "low"}, "scaling.effectiveness.threshold"},
		"overhead, off":        {"Java checks it only with tuning on", []string{"memory.tuning.overhead", "-0.0001"}, ""},
		"overhead, on":         {"0 to 1", []string{"memory.tuning.overhead", "-0.0001", "memory.tuning.enabled", "true"}, "memory.tuning.overhead"},
		"overhead zero":        {"bounds are inclusive", []string{"memory.tuning.overhead", "0", "memory.tuning.enabled", "true"}, ""},
		"coefficient, off":     {"Java checks it only with the correction on", []string{"observed-scalability.coefficient-min", "0"}, ""},
		"coefficient, on":      {"0.01 to 1", []string{"observed-scalability.coefficient-min", "0.0099", "observed-scalability.enabled", "true"}, "observed-scalability.coefficient-min"},
		"coefficient least":    {"bounds are inclusive", []string{"observed-scalability.coefficient-min", "0.01", "observed-scalability.enabled", "true"}, ""},
		"history short":        {"the correction would never have enough", []string{"observed-scalability.min-observations", "4", "observed-scalability.enabled", "true"}, "history.max.count"},
		"history short, off":   {"nobody needs it", []string{"observed-scalability.min-observations", "4"}, ""},
		"gc":                   {"checked always", []string{"memory.gc-pressure.threshold", "1.0001"}, "memory.gc-pressure.threshold"},
		"gc bounds":            {"bounds are inclusive", []string{"memory.gc-pressure.threshold", "0", "memory.heap-usage.threshold", "1"}, ""},
		"heap":                 {"checked always", []string{"memory.heap-usage.threshold", "-0.0001"}, "memory.heap-usage.threshold"},
		"proofs zero":          {"nothing would be a proof", []string{"scaling.effectiveness.proofs", "0"}, "scaling.effectiveness.proofs"},
		"history zero":         {"at least the last decision is kept", []string{"history.max.count", "0"}, "history.max.count"},
		"quota":                {"memory has units", []string{"quota.memory", "10 apples"}, "quota.memory"},
		"quota cpu":            {"no negative cores", []string{"quota.cpu", "-1"}, "quota.cpu"},
		"hard bounds":          {"no size lies inside", []string{"vertex.hard-min-parallelism", "9", "vertex.hard-max-parallelism", "8"}, "vertex.hard-min-parallelism"},
		"hard bounds same":     {"bounds are inclusive", []string{"vertex.hard-min-parallelism", "8", "vertex.hard-max-parallelism", "8"}, ""},
		"min above hard max":   {"no size would satisfy both", []string{"vertex.min-parallelism", "9", "vertex.hard-max-parallelism", "8"}, "vertex.min-parallelism"},
		"hard min above max":   {"no size would satisfy both", []string{"vertex.hard-min-parallelism", "201"}, "vertex.hard-min-parallelism"},
		"floor above max":      {"no size would satisfy both", []string{"vertex.min-parallelism.schedule", "8:00-9:00 = 201"}, "vertex.min-parallelism.schedule"},
		"floor above hard max": {"no size would satisfy both", []string{"vertex.min-parallelism.schedule", "8:00-9:00 = a:6", "vertex.hard-max-parallelism", "5"}, "vertex.min-parallelism.schedule"},
		"lead":                 {"a day is long enough", []string{"vertex.min-parallelism.schedule.lead-time", "25 h"}, "vertex.min-parallelism.schedule.lead-time"},
		"partitions":           {"a source has at least one", []string{"vertex.partitions", "a:0"}, "vertex.partitions"},
		"recover without lag":  {"back to what?", []string{"objective.recover-within", "5 min"}, "objective.recover-within"},
		"recover with lag":     {"both are given", []string{"objective.recover-within", "5 min", "objective.lag", "30 s"}, ""},
		"zone":                 {"names of the IANA list", []string{"time-zone", "Berlin"}, "time-zone"},
		"zone of the machine":  {"a decision must be the same on any worker", []string{"time-zone", "Local"}, "time-zone"},
		"no zone":              {"empty is not UTC", []string{"time-zone", ""}, "time-zone"},
		"parallelism zero":     {"Flink runs nothing at 0", []string{"vertex.min-parallelism", "0"}, "vertex.min-parallelism"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := Layer{Name: "input", Values: map[string]string{}}
			for i := 0; i+1 < len(c.values); i += 2 {
				l.Values[Prefix+c.values[i]] = c.values[i+1]
			}
			var want []string
			if c.bad != "" {
				want = []string{fmt.Sprintf("policy[%q]", Prefix+c.bad)}
			}
			var got []string
			for _, p := range Check(l) {
				got = append(got, p.Path)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems, because %s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestAGoodValueAboveMendsABadOneBelow(t *testing.T) {
	t.Parallel()
	p, _, problems := Resolve([]Layer{given("set-policy", "job.autoscaler.restart.time", "1 min"), given("job", "job.autoscaler.restart.time", "soon")})
	if len(problems) > 0 || p.RestartTime != time.Minute {
		t.Errorf("restart time %v, problems %v; want 1 min and none: only the value that wins is judged", p.RestartTime, problems)
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	good := map[string]time.Duration{
		"60 s": time.Minute, "5min": 5 * time.Minute, "1 d": 24 * time.Hour, "500": 500 * time.Millisecond, "0": 0,
		" 2 hours ": 2 * time.Hour, "3 MIN": 3 * time.Minute, "7µs": 7 * time.Microsecond, "9 nanos": 9,
		"PT5M": 5 * time.Minute, "P1DT2H3.5S": 26*time.Hour + 3500*time.Millisecond, "pt30s": 30 * time.Second,
	}
	for text, want := range good {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "s", "5 weeks", "-5 s", "1.5 s", "P", "PT", "P5M", "PT5", "PT1S2M", "P1.5D", "PT-5M", "99999999999999999999 s", "200000 d", "P999999999D", "PT.S"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v; want an error", text, got)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 s", 90 * time.Second: "90 s", 24 * time.Hour: "1 d", 1500 * time.Microsecond: "1500000 ns"} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q; want %q", d, got, want)
		}
	}
}

func TestParseList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":              nil,
		"b;a;b; ":       {"a", "b"},
		"'a;1';\"b\"":   {"a;1", "b"},
		"[b, a]":        {"a", "b"},
		"one":           {"one"},
		" ['x', \"y\"]": {"x", "y"},
	} {
		got, err := parseSet(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("parseSet(%q): %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestEnumsInAnyCase(t *testing.T) {
	t.Parallel()
	p, _, problems := Resolve([]Layer{given("job", Prefix+"metrics.busy-time.aggregator", "avg", Prefix+"scaling.key-group.partitions.adjust.mode", "evenly_spread")})
	if len(problems) > 0 || p.BusyTimeAggregator != AggregateAvg || p.Alignment != AlignLegacyEvenlySpread {
		t.Errorf("aggregator %s, alignment %s, problems %v", p.BusyTimeAggregator, p.Alignment, problems)
	}
}

func TestKeysAreAReference(t *testing.T) {
	t.Parallel()
	keys := Keys()
	if len(keys) < 50 {
		t.Fatalf("%d keys; the Java autoscaler alone has more than 40", len(keys))
	}
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k.Key] {
			t.Errorf("%s is there twice", k.Key)
		}
		seen[k.Key] = true
		if k.Type == "" || k.Meaning == "" || !strings.HasPrefix(k.Key, Prefix) {
			t.Errorf("row without type, meaning or prefix: %+v", k)
		}
		if k.Ignored == "" && k.Range == "" {
			t.Errorf("%s has no range", k.Key)
		}
	}
	if !slices.IsSortedFunc(keys, func(a, b KeyInfo) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("keys are not sorted")
	}
}

func TestOwnPicksOurKeys(t *testing.T) {
	t.Parallel()
	got := Own(map[string]string{"job.autoscaler.enabled": "true", OldPrefix + "x": "1", "parallelism.default": "4", "job.autoscalerx": "2"})
	if diff := cmp.Diff(map[string]string{"job.autoscaler.enabled": "true", OldPrefix + "x": "1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
