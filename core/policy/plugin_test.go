package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func TestPlugins(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		layers   []Layer
		plugins  []Plugin
		problems []core.Problem
		notes    map[string]string
	}{
		"none": {reason: "nobody asks for any"},
		"evaluator": {
			reason: "the first name is used; parameters are without prefix, sorted",
			layers: []Layer{given("job", Prefix+"metrics.custom-evaluators", "two;one", Prefix+"metrics.custom-evaluator.two.class", " x.Y ",
				Prefix+"metrics.custom-evaluator.two.b.c", "7", Prefix+"metrics.custom-evaluator.one.class", "x.Z")},
			plugins: []Plugin{{Name: "two", Class: "x.Y", Params: []Param{{"b.c", "7"}, {"class", " x.Y "}}}},
			notes: map[string]string{
				"metrics.custom-evaluators":          "classes are those that the worker is built with; only the first is used: two",
				"metrics.custom-evaluator.one.class": "no effect: no plugin of this name is in use",
			},
		},
		"executors": {
			reason: "in listed order, doubles once",
			layers: []Layer{given("job", Prefix+"scaling.custom-executors", "z;a;z", Prefix+"scaling.custom-executor.z.class", "Z", Prefix+"scaling.custom-executor.a.class", "A")},
			plugins: []Plugin{
				{Name: "z", Class: "Z", Params: []Param{{"class", "Z"}}},
				{Name: "a", Class: "A", Params: []Param{{"class", "A"}}},
			},
		},
		"spellings": {
			reason: "per parameter: the higher layer wins, and within a layer the canonical prefix",
			layers: []Layer{
				given("input", OldPrefix+"scaling.custom-executor.z.p", "input old"),
				given("job", Prefix+"scaling.custom-executors", "z", Prefix+"scaling.custom-executor.z.class", "Z", OldPrefix+"scaling.custom-executor.z.class", "old",
					Prefix+"scaling.custom-executor.z.p", "job", OldPrefix+"scaling.custom-executor.z.q", "job old"),
			},
			plugins: []Plugin{{Name: "z", Class: "Z", Params: []Param{{"class", "Z"}, {"p", "input old"}, {"q", "job old"}}}},
			notes:   map[string]string{"scaling.custom-executor.z.p": ""},
		},
		"no class": {
			reason: "a name alone does nothing; every one is told",
			layers: []Layer{given("job", OldPrefix+"scaling.custom-executors", "z;y", Prefix+"metrics.custom-evaluators", "e", Prefix+"metrics.custom-evaluator.e.class", "")},
			problems: []core.Problem{
				{Path: `policy["job.autoscaler.metrics.custom-evaluators"]`, Message: `"e" has no class: give job.autoscaler.metrics.custom-evaluator.e.class (from job)`},
				{Path: `policy["kubernetes.operator.job.autoscaler.scaling.custom-executors"]`, Message: `"z" has no class: give job.autoscaler.scaling.custom-executor.z.class (from job)`},
				{Path: `policy["kubernetes.operator.job.autoscaler.scaling.custom-executors"]`, Message: `"y" has no class: give job.autoscaler.scaling.custom-executor.y.class (from job)`},
			},
		},
		"alignment": {
			reason:  "a name with a class is a mode of its own",
			layers:  []Layer{given("job", Prefix+"scaling.parallelism-alignment.mode", "mine", Prefix+"scaling.parallelism-alignment.mode.mine.class", "x.Y")},
			plugins: []Plugin{{Name: "mine", Class: "x.Y", Params: []Param{{"class", "x.Y"}}}},
		},
		"built-in alignment": {
			reason: "a built-in name is never a plugin",
			layers: []Layer{given("job", Prefix+"scaling.parallelism-alignment.mode", "OFF", Prefix+"scaling.parallelism-alignment.mode.OFF.class", "x.Y")},
			notes:  map[string]string{"scaling.parallelism-alignment.mode.OFF.class": "no effect: no plugin of this name is in use"},
		},
		"unknown alignment": {
			reason: "Java would take BALANCED; here it is visible, with all that could be meant",
			layers: []Layer{given("job", Prefix+"scaling.parallelism-alignment.mode", "balanced", Prefix+"scaling.parallelism-alignment.mode.mine.class", "x.Y")},
			problems: []core.Problem{
				{Path: `policy["job.autoscaler.scaling.parallelism-alignment.mode"]`, Message: `must be one of BALANCED, EVENLY_SPREAD, OFF, mine, got "balanced" (from job)`},
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, origins, problems := Resolve(c.layers)
			if diff := cmp.Diff(c.problems, problems); diff != "" {
				t.Errorf("problems, because %s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.plugins, p.Plugins()); diff != "" {
				t.Errorf("plugins, because %s (-want +got):\n%s", c.reason, diff)
			}
			seen := map[string]string{}
			for _, o := range origins {
				seen[o.Key] = o.Note
			}
			for key, want := range c.notes {
				if got, ok := seen[Prefix+key]; !ok || got != want {
					t.Errorf("note of %s: %q, shown %v; want %q, because %s", key, got, ok, want, c.reason)
				}
			}
		})
	}
}

func TestAlignment(t *testing.T) {
	t.Parallel()
	const key, older = Prefix + "scaling.parallelism-alignment.mode", Prefix + "scaling.key-group.partitions.adjust.mode"
	cases := map[string]struct {
		reason   string
		layers   []Layer
		want     Alignment
		note     string // of the newer key
		oldNote  string // of the older one
		problems int
	}{
		"neither":          {"the built-in mode", nil, AlignBalanced, "", "", 0},
		"newer":            {"by its name", []Layer{given("job", key, "EVENLY_SPREAD")}, AlignEvenlySpread, "", "", 0},
		"older, even":      {"honoured where the newer is not given", []Layer{given("job", older, "EVENLY_SPREAD")}, AlignLegacyEvenlySpread, "not in force: scaling.key-group.partitions.adjust.mode is given", "", 0},
		"older, maximize":  {"in any case", []Layer{given("job", older, "maximize_utilisation")}, AlignLegacyMaximize, "not in force: scaling.key-group.partitions.adjust.mode is given", "", 0},
		"both":             {"the newer decides", []Layer{given("job", older, "EVENLY_SPREAD", key, "OFF")}, AlignOff, "", "no effect: scaling.parallelism-alignment.mode is given", 0},
		"older above":      {"the newer decides from any layer", []Layer{given("input", older, "EVENLY_SPREAD"), given("job", key, "OFF")}, AlignOff, "", "no effect: scaling.parallelism-alignment.mode is given", 0},
		"older, not known": {"a bad value is a problem", []Layer{given("job", older, "HALF")}, AlignBalanced, "", "", 1},
		"custom":           {"the plugin decides", []Layer{given("job", key, "m", key+".m.class", "x")}, AlignCustom, "", "", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, origins, problems := Resolve(c.layers)
			if p.Alignment != c.want || (p.AlignmentPlugin != nil) != (c.want == AlignCustom) || len(problems) != c.problems {
				t.Errorf("%s, plugin %v, problems %v; want %s and %d, because %s", p.Alignment, p.AlignmentPlugin, problems, c.want, c.problems, c.reason)
			}
			for _, o := range origins {
				if want, ok := map[string]string{key: c.note, older: c.oldNote}[o.Key]; ok && o.Note != want {
					t.Errorf("note of %s: %q; want %q", o.Key, o.Note, want)
				}
			}
		})
	}
}
