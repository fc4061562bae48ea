package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

func flinkJob(name string) core.Target {
	return core.Target{Flink: &core.FlinkTarget{JobName: name}}
}

func TestGoodInputs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		raw    string
		want   spec.Spec
	}{
		"plain":         {"the job's name is its name in Flink", `{"cluster": "dev", "job": "orders"}`, spec.Spec{Key: core.JobKey{Cluster: "dev", Job: "orders"}, Target: flinkJob("orders")}},
		"named target":  {"a name in Flink is not ours to choose", `{"cluster": "dev", "job": "orders", "target": {"flink": {"jobName": "Orders / ünïcode → 漢字"}}}`, spec.Spec{Key: core.JobKey{Cluster: "dev", Job: "orders"}, Target: flinkJob("Orders / ünïcode → 漢字")}},
		"policy":        {"values as a person types them", `{"cluster": "dev", "job": "orders", "policy": {"job.autoscaler.vertex.max-parallelism": 40, "job.autoscaler.scaling.enabled": false, "job.autoscaler.metrics.window": "5 min"}}`, spec.Spec{Key: core.JobKey{Cluster: "dev", Job: "orders"}, Target: flinkJob("orders"), Policy: map[string]string{"job.autoscaler.vertex.max-parallelism": "40", "job.autoscaler.scaling.enabled": "false", "job.autoscaler.metrics.window": "5 min"}}},
		"encoded twice": {"some tools do", `"{\"cluster\": \"dev\", \"job\": \"orders\"}"`, spec.Spec{Key: core.JobKey{Cluster: "dev", Job: "orders"}, Target: flinkJob("orders")}},
		"white space":   {"as it comes out of a file", "\n\t {\"cluster\":\"dev\",\"job\":\"my job_1.x-y\"}\n", spec.Spec{Key: core.JobKey{Cluster: "dev", Job: "my job_1.x-y"}, Target: flinkJob("my job_1.x-y")}},
		"longest names": {"the id of a rescale still fits", `{"cluster": "` + strings.Repeat("c", 128) + `", "job": "` + strings.Repeat("j", 128) + `", "target": {"flink": {"jobName": "` + strings.Repeat("n", 700) + `"}}}`, spec.Spec{Key: core.JobKey{Cluster: strings.Repeat("c", 128), Job: strings.Repeat("j", 128)}, Target: flinkJob(strings.Repeat("n", 700))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := spec.Decode([]byte(tt.raw))
			if len(problems) > 0 {
				t.Fatalf("%s: %v", tt.reason, problems)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if id := spec.RescaleID(got.Key.Cluster, got.Target); len(id) > 1000 {
				t.Errorf("%s: the id %q has %d bytes, Temporal takes 1,000", tt.reason, id, len(id))
			}
		})
	}
}

func TestBadInputs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		raw    string
		// want are the paths of the problems, in order.
		want []string
	}{
		"nothing":          {"tctl without --input", "", []string{"input"}},
		"null":             {"no object", "null", []string{"input"}},
		"a list":           {"no object", "[]", []string{"input"}},
		"a text":           {"what it holds is no JSON", `"orders"`, []string{"input"}},
		"cut short":        {"a paste that lost its end", `{"cluster": "dev", "job": "orders"`, []string{"input"}},
		"two objects":      {"the second would be ignored", `{"cluster": "dev", "job": "orders"} {}`, []string{"input"}},
		"trailing comma":   {"not JSON", `{"cluster": "dev", "job": "orders",}`, []string{"input"}},
		"no colon":         {"not JSON", `{"cluster" "dev"}`, []string{"input"}},
		"given twice":      {"which one is meant?", `{"cluster": "dev", "cluster": "prod", "job": "orders"}`, []string{"input.cluster"}},
		"twice in policy":  {"which one is meant?", `{"cluster": "dev", "job": "orders", "policy": {"job.autoscaler.interval": "1 min", "job.autoscaler.interval": "2 min"}}`, []string{"policy.job.autoscaler.interval"}},
		"missing":          {"both are needed", `{}`, []string{"cluster", "job"}},
		"unknown fields":   {"a typo must not be a silent default; all at once", `{"Cluster": "dev", "jobs": "orders"}`, []string{"Cluster", "jobs", "cluster", "job"}},
		"numbers":          {"names are strings", `{"cluster": 1, "job": null}`, []string{"cluster", "job"}},
		"blank":            {"no name", `{"cluster": " ", "job": ""}`, []string{"cluster", "job"}},
		"slash":            {"a workflow id is flink/<cluster>/<job>", `{"cluster": "a/b", "job": "../x"}`, []string{"cluster", "job"}},
		"line break":       {"it would break logs and tables", `{"cluster": "dev", "job": "orders\n"}`, []string{"job"}},
		"unicode key":      {"a key is typed on any keyboard", `{"cluster": "dev", "job": "bestellungen-ü"}`, []string{"job"}},
		"long name":        {"128 are enough", `{"cluster": "dev", "job": "` + strings.Repeat("x", 129) + `"}`, []string{"job"}},
		"unknown platform": {"a typo is named", `{"cluster": "dev", "job": "orders", "target": {"yarn": {}, "mesos": {}}}`, []string{"target.mesos", "target.yarn", "target"}},
		"yarn fields": {
			"every field is checked", `{"cluster": "dev", "job": "orders", "target": {"yarn": {"applicationTag": "a,b", "queue": "root..", "user": "a b", "jobName": "", "name": "x"}}}`,
			[]string{"target.yarn.applicationTag", "target.yarn.jobName", "target.yarn.name", "target.yarn.user"},
		},
		"two platforms":    {"a job runs on one", `{"cluster": "dev", "job": "orders", "target": {"flink": {"jobName": "a"}, "kubernetes": {"namespace": "shop", "kind": "FlinkDeployment", "name": "orders"}}}`, []string{"target"}},
		"empty object":     {"all that is missing, at once", `{"cluster": "dev", "job": "orders", "target": {"kubernetes": {}}}`, []string{"target.kubernetes.namespace", "target.kubernetes.kind", "target.kubernetes.name"}},
		"unknown kind":     {"a closed set", `{"cluster": "dev", "job": "orders", "target": {"kubernetes": {"namespace": "shop", "kind": "FlinkApplication", "name": "orders"}}}`, []string{"target.kubernetes.kind"}},
		"bad object names": {"Kubernetes would refuse them with a 404 that looks like a gone job", `{"cluster": "dev", "job": "orders", "target": {"kubernetes": {"namespace": "Shop", "kind": "Deployment", "name": "a/b", "service": "x.y", "port": 0}}}`, []string{"target.kubernetes.name", "target.kubernetes.namespace", "target.kubernetes.port", "target.kubernetes.service"}},
		"service of a CR":  {"the operator names it", `{"cluster": "dev", "job": "orders", "target": {"kubernetes": {"namespace": "shop", "kind": "FlinkDeployment", "name": "orders", "service": "x", "port": 8082}}}`, []string{"target.kubernetes.port", "target.kubernetes.service"}},
		"session job name": {"it is one job", `{"cluster": "dev", "job": "orders", "target": {"kubernetes": {"namespace": "shop", "kind": "FlinkSessionJob", "name": "orders", "jobName": "x", "mode": "watch"}}}`, []string{"target.kubernetes.mode", "target.kubernetes.jobName"}},
		"empty target":     {"where?", `{"cluster": "dev", "job": "orders", "target": {}}`, []string{"target"}},
		"target no object": {"where?", `{"cluster": "dev", "job": "orders", "target": "orders"}`, []string{"target"}},
		"no job name":      {"which one?", `{"cluster": "dev", "job": "orders", "target": {"flink": {}}}`, []string{"target.flink.jobName"}},
		"target typo":      {"both problems", `{"cluster": "dev", "job": "orders", "target": {"flink": {"jobname": "orders"}}}`, []string{"target.flink.jobname", "target.flink.jobName"}},
		"endless job name": {"the id of a rescale would not be one, and no rescale could ever start", `{"cluster": "dev", "job": "orders", "target": {"flink": {"jobName": "` + strings.Repeat("x", 701) + `"}}}`, []string{"target.flink.jobName"}},
		"hostile job name": {"it goes into ids, logs and terminals", `{"cluster": "dev", "job": "orders", "target": {"flink": {"jobName": "a\u001b[2J"}}}`, []string{"target.flink.jobName"}},
		"policy values":    {"a list is no value", `{"cluster": "dev", "job": "orders", "policy": {"job.autoscaler.interval": ["1 min"], "job.autoscaler.metrics.window": null, "job.autoscaler.vertex.max-parallelism": {}}}`, []string{`policy["job.autoscaler.interval"]`, `policy["job.autoscaler.metrics.window"]`, `policy["job.autoscaler.vertex.max-parallelism"]`}},
		"policy keys":      {"a typo must not be a silent default", `{"cluster": "dev", "job": "orders", "policy": {"job.autoscaler.intervall": "1 min"}}`, []string{`policy["job.autoscaler.intervall"]`}},
		"policy no object": {"no keys", `{"cluster": "dev", "job": "orders", "policy": []}`, []string{"policy"}},
		"deep nesting":     {"a decoder that recurses", `{"cluster": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, []string{"input"}},
		"too long":         {"no person types that", `{"cluster": "` + strings.Repeat("x", 70000) + `"}`, []string{"input"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := spec.Decode([]byte(tt.raw))
			var got []string
			for _, p := range problems {
				got = append(got, p.Path)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%v", tt.reason, diff, problems)
			}
		})
	}
}

// TestManyProblemsStayReadable: the problems of an input go into history.
func TestManyProblemsStayReadable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(`{"cluster": "dev"`)
	for i := range 3000 {
		fmt.Fprintf(&b, `, "field%d": 1`, i)
	}
	b.WriteString("}")
	_, problems := spec.Decode(b.Bytes())
	if n := len(problems); n != 21 || !strings.Contains(problems[n-1].Message, "2981 more") {
		t.Errorf("%d problems, the last %v", n, problems[n-1])
	}
	_, problems = spec.Decode([]byte(`{"` + strings.Repeat("x", 60000) + `": 1}`))
	if n := len(problems[0].String()); n > 1000 {
		t.Errorf("a problem of %d bytes", n)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reason, text, want string }{
		"short":      {"nothing to cut", "abcdefgh", "abcdefgh"},
		"long":       {"the end is shown as cut", "abcdefghi", "abcde..."},
		"characters": {"never half a character", "abcdéfghi", "abcd..."},
	} {
		if got := spec.Cut(tt.text, 8); got != tt.want {
			t.Errorf("%s: %s: %q, want %q", name, tt.reason, got, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"cluster": "dev", "job": "orders"}`,
		`{"cluster": "dev", "job": "orders", "target": {"flink": {"jobName": "Orders / ü"}}, "policy": {"job.autoscaler.metrics.window": "5 min", "job.autoscaler.vertex.max-parallelism": 40}}`,
		`"{\"cluster\": \"dev\", \"job\": \"orders\"}"`,
		`{"cluster": 1, "job": [], "target": {"yarn": {}}, "policy": {"x": null}}`,
		`{"a": 1, "a": 2}`, `{"a" 1}`, `{"a": 1,}`, `[`, `"`, ``, "\x00", "{\"cluster\": \"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, problems := spec.Decode(raw)
		for _, p := range problems {
			if p.Path == "" && p.Message == "" || !utf8.ValidString(p.Message) && utf8.Valid(raw) {
				t.Errorf("problem %q: %q", p.Path, p.Message)
			}
		}
		if len(problems) > 0 {
			return
		}
		if id := spec.ID(got.Key); strings.Count(id, "/") != 2 || len(spec.RescaleID(got.Key.Cluster, got.Target)) > 1000 {
			t.Errorf("ids of %+v", got)
		}
		// What was accepted can be typed again, and means the same.
		typed := map[string]any{"cluster": got.Key.Cluster, "job": got.Key.Job, "target": got.Target}
		if got.Policy != nil {
			typed["policy"] = got.Policy
		}
		b, err := json.Marshal(typed)
		if err != nil {
			t.Fatal(err)
		}
		again, problems := spec.Decode(b)
		if diff := cmp.Diff(got, again); diff != "" || len(problems) > 0 {
			t.Errorf("%s: %v (-first +again):\n%s", b, problems, diff)
		}
	})
}

// TestYarnTargets: what is given is kept, and how it is spelt once.
func TestYarnTargets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reason, input, canonical string }{
		"name":     {"the plain case", `{"applicationName": "orders"}`, "yarn/name/orders"},
		"tag":      {"tags have no case", `{"applicationTag": "Team-A"}`, "yarn/tag/team-a"},
		"both":     {"the name is enough", `{"applicationName": "orders", "applicationTag": "t"}`, "yarn/name/orders"},
		"narrowed": {"two queues may have one each", `{"applicationName": "orders", "queue": "root.a", "user": "flink"}`, "yarn/name/orders/queue/root.a/user/flink"},
		"session":  {"one job of several", `{"applicationName": "my session", "jobName": "a/b"}`, "yarn/name/my%20session/job/a%2Fb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := spec.Decode([]byte(`{"cluster": "dev", "job": "orders", "target": {"yarn": ` + tt.input + `}}`))
			if len(problems) > 0 || got.Target.Canonical() != tt.canonical {
				t.Errorf("%s: %q, %v, want %q", tt.reason, got.Target.Canonical(), problems, tt.canonical)
			}
		})
	}
}
