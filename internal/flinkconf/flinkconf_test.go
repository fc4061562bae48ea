package flinkconf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func isPairs(key string) bool { return key == "p.airs" }

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason, text string
		want         []Entry
	}{
		"flat": {"flink-conf.yaml and most of config.yaml", "# x\njob.autoscaler.metrics.window: 5 min\ntaskmanager.numberOfTaskSlots: 4\n",
			[]Entry{{"job.autoscaler.metrics.window", "5 min", 2, ""}, {"taskmanager.numberOfTaskSlots", "4", 3, ""}}},
		"nested": {"config.yaml of Flink 2", "job:\n  autoscaler:\n    metrics.window: 5 min\n    utilization:\n      target: 0.70\n      max: 1e0\n",
			[]Entry{{"job.autoscaler.metrics.window", "5 min", 3, ""}, {"job.autoscaler.utilization.target", "0.70", 5, ""}, {"job.autoscaler.utilization.max", "1e0", 6, ""}}},
		"JSON, tabs": {"what a program writes", "{\n\t\"a.b\": true,\n\t\"c\": {\"d\": \"5 min\"}\n}", []Entry{{"a.b", "true", 2, ""}, {"c.d", "5 min", 3, ""}}},
		"list":       {"lists are written as in a flat file", "a: [x, 'y;z']\nb:\n- {c: d}\n", []Entry{{"a", "x;'y;z'", 1, ""}, {"b", "", 2, "must be one value or a list of them"}}},
		"no value":   {"a key without one is a mistake", "a:\nb: ''\n", []Entry{{"a", "", 1, "has no value"}, {"b", "", 2, ""}}},
		"twice":      {"dotted and nested are the same key", "a.b: 1\na:\n  b: 2\n", []Entry{{"a.b", "1", 1, ""}, {"a.b", "2", 3, "is given twice, on line 1 already"}}},
		"deployment": {"a custom resource as it is applied", "apiVersion: flink.apache.org/v1beta1\nkind: FlinkDeployment\nspec:\n  flinkVersion: v1_20\n  flinkConfiguration:\n    job.autoscaler.enabled: \"true\"\n---\nkind: Service\n",
			[]Entry{{"job.autoscaler.enabled", "true", 6, ""}}},
		"part of one":  {"the part alone", "flinkConfiguration:\n  a: 1\n", []Entry{{"a", "1", 2, ""}}},
		"old lines":    {"values of Flink 1 that are no YAML", "env.java.opts: -Dx: y\n\na: @b # why\n", []Entry{{"env.java.opts", "-Dx: y", 1, ""}, {"a", "@b", 3, ""}}},
		"alias":        {"a value said once", "a: &w 5 min\nb: *w\nc: &m {d: 1}\ne:\n  <<: *m\n", []Entry{{"a", "5 min", 1, ""}, {"b", "5 min", 2, ""}, {"c.d", "1", 3, ""}, {"e.d", "1", 3, ""}}},
		"byte order":   {"an editor of Windows", "\ufeffa: 1\r\nb: 2\r\n", []Entry{{"a", "1", 1, ""}, {"b", "2", 2, ""}}},
		"pairs":        {"without quotes they are a mapping", "p.airs: {ab: 12, \"c:d\": 'e''f'}\np:\n  other: {x: 1}\n", []Entry{{"p.airs", "{ab: 12, 'c:d': 'e''f'}", 1, ""}, {"p.other.x", "1", 3, ""}}},
		"nested pairs": {"a block says the same", "p:\n  airs:\n    ab: 12\n    cd: 3\n", []Entry{{"p.airs", "{ab: 12, cd: 3}", 2, ""}}},
		"bad pairs":    {"a value is missing", "p.airs: {ab: 12, cd: }\n", []Entry{{"p.airs", "", 1, "must be pairs of a name and one value"}}},
		"empty":        {"every key is as built in", "", nil},
		"only remarks": {"likewise", "# a: 1\n---\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts, err := Parse([]byte(tt.text), isPairs)
			if err != nil || len(parts) > 1 {
				t.Fatalf("%s: %v, %v", tt.reason, parts, err)
			}
			var got []Entry
			for _, p := range parts {
				got = p.Entries
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestParseFindsEveryPart: a file may hold several configurations, each with a
// name, and lines are those of the file.
func TestParseFindsEveryPart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason, text string
		want         []Part
	}{
		"list": {"as kubectl get gives it", `apiVersion: v1
kind: List
items:
- apiVersion: flink.apache.org/v1beta1
  kind: FlinkDeployment
  metadata: {name: orders, namespace: dev}
  spec:
    flinkConfiguration:
      a: "1"
- kind: FlinkSessionJob
  metadata: {name: bills}
  spec:
    flinkConfiguration: {b: "2"}
- kind: FlinkDeployment
  metadata: {name: plain}
`, []Part{{"FlinkDeployment dev/orders", []Entry{{"a", "1", 9, ""}}}, {"FlinkSessionJob bills", []Entry{{"b", "2", 13, ""}}}}},
		"documents": {"the same key in two of them is not given twice", "a: 1\n---\n# none\n---\na: 2\n", []Part{
			{"document 1", []Entry{{"a", "1", 1, ""}}}, {"document 2", []Entry{{"a", "2", 5, ""}}},
		}},
		"resources": {"what is applied together; a Service has none", "kind: FlinkDeployment\nmetadata: {name: x}\nspec: {flinkConfiguration: {a: 1}}\n---\nkind: Service\nspec: {a: 3}\n---\nkind: FlinkDeployment\nmetadata: {name: y}\nspec: {flinkConfiguration: {a: 2}}\n", []Part{
			{"FlinkDeployment x", []Entry{{"a", "1", 3, ""}}}, {"FlinkDeployment y", []Entry{{"a", "2", 10, ""}}},
		}},
		"blue and green": {"the template has it", "kind: FlinkBlueGreenDeployment\nmetadata: {name: x}\nspec:\n  template:\n    spec:\n      flinkConfiguration: {a: 1}\n",
			[]Part{{"FlinkBlueGreenDeployment x", []Entry{{"a", "1", 6, ""}}}}},
		"ConfigMap": {"both names of the file; another program's stays out", "kind: ConfigMap\nmetadata: {name: flink, namespace: dev}\ndata:\n  flink-conf.yaml: |\n    # x\n    a: @b\n  config.yaml: |+\n\n    c:\n      d: 1\n    c.d: 2\n---\nkind: ConfigMap\ndata:\n  config.yaml: '{{ x }} {'\n", []Part{
			{"ConfigMap dev/flink, flink-conf.yaml", []Entry{{"a", "@b", 6, ""}}},
			{"ConfigMap dev/flink, config.yaml", []Entry{{"c.d", "1", 10, ""}, {"c.d", "2", 11, "is given twice, on line 10 already"}}},
		}},
		"Helm values": {"the operator's chart, alone or below another", "operator:\n  defaultConfiguration:\n    create: true\n    flink-conf.yaml: |\n      a: 1\n", []Part{
			{"flink-conf.yaml", []Entry{{"a", "1", 5, ""}}},
		}},
		"one line": {"JSON has no lines inside of a text", `{"kind":"ConfigMap","metadata":{"name":"x"},"data":{"config.yaml":"a: 1\nb: 2\n"}}`, []Part{
			{"ConfigMap x, config.yaml", []Entry{{"a", "1", 1, ""}, {"b", "2", 1, ""}}},
		}},
		"none": {"a Service alone", "kind: Service\nspec: {a: 1}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(tt.text), nil)
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reason, text, want string }{
		"a text":    {"no keys", "secret", "line 1: must be keys with values"},
		"a list":    {"no keys", "- secret: 1\n", "line 1: must be keys with values"},
		"equals":    {"lines of Java properties", "job.autoscaler.interval=5 s\nsecret=1\n", "line 1: must be keys with values"},
		"no YAML":   {"a bracket is open", "a: [1\n  b: secret\n", "line "},
		"conf list": {"no keys", "spec: {flinkConfiguration: [secret]}\n", "line 1: flinkConfiguration must be keys with values"},
		"inside":    {"a bracket is open in the file of a ConfigMap", "kind: ConfigMap\ndata:\n  flink-conf.yaml: |\n    job:\n      autoscaler: [secret\n", "ConfigMap, flink-conf.yaml, which begins on line 3: line "},
		"bomb": {"nine levels of nine", "a: &a {x: 1}\nb: &b {a: *a, b: *a, c: *a, d: *a, e: *a, f: *a, g: *a, h: *a, i: *a}\nc: &c {a: *b, b: *b, c: *b, d: *b, e: *b, f: *b, g: *b}\n" +
			"d: &d {a: *c, b: *c, c: *c, d: *c, e: *c, f: *c, g: *c}\ne: &e {a: *d, b: *d, c: *d, d: *d, e: *d, f: *d, g: *d}\nf: &f {a: *e, b: *e, c: *e, d: *e, e: *e, f: *e, g: *e}\ng: {a: *f, b: *f, c: *f, d: *f, e: *f, f: *f, g: *f}\n", "more than 100000 keys"},
		"circle": {"an alias that holds itself", "a: &x\n  b: *x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(tt.text), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %d parts, %v; want %q", tt.reason, len(got), err, tt.want)
			}
		})
	}
}

// FuzzParse: whatever a file holds, it is read or refused.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1\n", "a: {b: [1, x]}\n", "{\"a\":\t1}", "a: &x\n  b: *x\n", "a: b: c\n", "kind: List\nitems: [{spec: {flinkConfiguration: {a: 1}}}]\n", "config.yaml: |\n  p.airs: {a: 1}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		parts, err := Parse(text, isPairs)
		for _, p := range parts {
			for _, e := range p.Entries {
				if e.Line < 1 || err != nil {
					t.Errorf("%+v, %v", e, err)
				}
			}
		}
	})
}
