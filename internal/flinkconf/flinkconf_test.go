package flinkconf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		"empty":        {"every key is as built in", "", nil},
		"only remarks": {"likewise", "# a: 1\n---\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(tt.text))
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
		"documents": {"which one", "a: 1\n---\nb: 1\n", "line 3: a second document begins"},
		"two":       {"which one", "flinkConfiguration: {a: 1}\n---\nspec: {flinkConfiguration: {a: 2}}\n", "holds 2 of flinkConfiguration"},
		"bomb": {"nine levels of nine", "a: &a {x: 1}\nb: &b {a: *a, b: *a, c: *a, d: *a, e: *a, f: *a, g: *a, h: *a, i: *a}\nc: &c {a: *b, b: *b, c: *b, d: *b, e: *b, f: *b, g: *b}\n" +
			"d: &d {a: *c, b: *c, c: *c, d: *c, e: *c, f: *c, g: *c}\ne: &e {a: *d, b: *d, c: *d, d: *d, e: *d, f: *d, g: *d}\nf: {a: *e, b: *e, c: *e, d: *e, e: *e, f: *e, g: *e}\n", "more than 10000 keys"},
		"circle": {"an alias that holds itself", "a: &x\n  b: *x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v, %v; want %q", tt.reason, got, err, tt.want)
			}
		})
	}
}

// FuzzParse: whatever a file holds, it is read or refused.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1\n", "a: {b: [1, x]}\n", "{\"a\":\t1}", "a: &x\n  b: *x\n", "a: b: c\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := Parse(text)
		for _, e := range entries {
			if e.Line < 1 || err != nil {
				t.Errorf("%+v, %v", e, err)
			}
		}
	})
}
