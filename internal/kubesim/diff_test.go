package kubesim

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decode(t *testing.T, s string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestClassesOfChanges(t *testing.T) {
	t.Parallel()
	const base = `"job":{"parallelism":1,"upgradeMode":"savepoint"},"taskManager":{"replicas":1}`
	config := func(c string) string { return `{` + base + `,"flinkConfiguration":{` + c + `}}` }
	tests := map[string]struct {
		reason        string
		before, after string
		want          diffClass
	}{
		"nothing":             {"the spec is what it was", config(`"a":"1"`), config(`"a":"1"`), same},
		"spelling":            {"nested or flat is one configuration", config(`"a":{"b":1}`), config(`"a.b":"1"`), same},
		"overrides":           {"the one change that goes in place", config(``), config(`"pipeline.jobvertex-parallelism-overrides":"a:1"`), scaling},
		"overrides reordered": {"strings are compared, not maps", config(`"pipeline.jobvertex-parallelism-overrides":"a:1,b:2"`), config(`"pipeline.jobvertex-parallelism-overrides":"b:2,a:1"`), scaling},
		"overrides standalone": {
			"there they are part of the deployment", `{"mode":"standalone"}`,
			`{"mode":"standalone","flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"a:1"}}`, upgrading,
		},
		"autoscaler":          {"the operator reads it anew each time", config(``), config(`"job.autoscaler.enabled":"true"`), ignored},
		"autoscaler and more": {"the strongest class wins", config(``), config(`"job.autoscaler.enabled":"true","pipeline.jobvertex-parallelism-overrides":"a:1"`), scaling},
		"operator":            {"as for the autoscaler", config(``), config(`"kubernetes.operator.reconcile.interval":"1 s"`), ignored},
		"default parallelism": {"overwritten by the job's", config(``), config(`"parallelism.default":"9"`), ignored},
		"another key":         {"Flink reads it at its start only", config(``), config(`"web.refresh-interval":"1"`), upgrading},
		"job parallelism":     {"native jobs are redeployed for it", `{` + base + `}`, `{"job":{"parallelism":2,"upgradeMode":"savepoint"},"taskManager":{"replicas":1}}`, upgrading},
		"replicas":            {"as is what the scale subresource writes", `{` + base + `}`, `{"job":{"parallelism":1,"upgradeMode":"savepoint"},"taskManager":{"replicas":2}}`, upgrading},
		"replicas standalone": {"there it may be reactive", `{"mode":"standalone","taskManager":{"replicas":1}}`, `{"mode":"standalone","taskManager":{"replicas":2}}`, scaling},
		"upgrade mode":        {"it matters for the next upgrade only", `{` + base + `}`, `{"job":{"parallelism":1,"upgradeMode":"last-state"},"taskManager":{"replicas":1}}`, ignored},
		"image":               {"any other field", `{"image":"a"}`, `{"image":"b"}`, upgrading},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := compare("FlinkDeployment", decode(t, tt.before), decode(t, tt.after)); got.class != tt.want {
				t.Errorf("%s: %s, want %s (%s)", tt.reason, got.class, tt.want, got)
			}
		})
	}
}

func TestDiffReadsAsTheOperatorsEvents(t *testing.T) {
	t.Parallel()
	before := decode(t, `{"job":{"upgradeMode":"stateless"}}`)
	after := decode(t, `{"job":{"upgradeMode":"savepoint"},"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"w:3"}}`)
	const want = "Diff: FlinkDeploymentSpec[job.upgradeMode : stateless -> savepoint, flinkConfiguration.pipeline.jobvertex-parallelism-overrides : null -> w:3]"
	if diff := cmp.Diff(want, compare("FlinkDeployment", before, after).String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, text string
		want         map[string]int
		bad          bool
	}{
		"none":      {"an empty value is an empty map", "", map[string]int{}, false},
		"two":       {"order does not matter", "b:2,a:1", map[string]int{"a": 1, "b": 2}, false},
		"no number": {"one bad entry spoils the whole", "a:1,b:abc", nil, true},
		"no colon":  {"as does one without a number", "a", nil, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseOverrides(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.bad {
				t.Errorf("%s: %v (-want +got):\n%s", tt.reason, err, diff)
			}
		})
	}
	if got := formatOverrides(map[string]int{"b": 2, "a": 1}); got != "a:1,b:2" {
		t.Errorf("written as %q", got)
	}
}

func TestConfigReadsBack(t *testing.T) {
	t.Parallel()
	in := map[string]string{"rest.port": "1", "$internal.application.program-args": "--a;b: c"}
	if diff := cmp.Diff(in, readConfig(writeConfig(in))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	nested := decode(t, `{"a":{"b":{"c":1}},"d":["x","y"],"e":true}`)
	if diff := cmp.Diff(map[string]string{"a.b.c": "1", "d": "x;y", "e": "true"}, flatten(nested)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
