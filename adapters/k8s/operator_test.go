package k8s

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// with sets a field, given as a path with dots, or takes it out for nil.
func (o *object) with(t *testing.T, path string, value any) *object {
	t.Helper()
	out := &object{o.DeepCopy()}
	fields := strings.Split(path, ".")
	if value == nil {
		unstructured.RemoveNestedField(out.Object, fields...)
		return out
	}
	if err := unstructured.SetNestedField(out.Object, value, fields...); err != nil {
		t.Fatal(err)
	}
	return out
}

// steady is a FlinkDeployment that the operator has nothing to do for. W is idA at
// 3, as operator 1.8 and later show it.
const steady = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: j1, namespace: flink, generation: 4, uid: u-1, resourceVersion: "17"}
spec:
  flinkVersion: v1_20
  flinkConfiguration:
    jobmanager.scheduler: adaptive
    state.savepoints.dir: file:///sp
    ` + overridesKey + `: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:3"
  job: {jarURI: "local:///x.jar", upgradeMode: savepoint, state: running}
status:
  observedGeneration: 4
  lifecycleState: STABLE
  jobManagerDeploymentStatus: READY
  jobStatus: {jobId: job1, state: RUNNING}
  reconciliationStatus:
    state: DEPLOYED
    lastReconciledSpec: '{"spec":{"job":{"state":"running"},"flinkConfiguration":{"` + overridesKey + `":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:3"}},"resource_metadata":{"apiVersion":"flink.apache.org/v1beta1","firstDeployment":false}}'
`

// before18 is the same as operator 1.7 shows it.
func before18(t *testing.T, o *object, generation int) *object {
	t.Helper()
	o = o.with(t, "status.observedGeneration", nil)
	return o.with(t, "status.reconciliationStatus.lastReconciledSpec", fmt.Sprintf(
		`{"spec":{"job":{"state":"running"},"flinkConfiguration":{"%s":"%s:3"}},"resource_metadata":{"apiVersion":"flink.apache.org/v1beta1","metadata":{"generation":%d},"firstDeployment":false}}`, overridesKey, idA, generation))
}

// runsWith is a Flink whose job runs with these options.
func runsWith(t *testing.T, options map[string]string) *flink.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/jobs/job1/jobmanager/config" {
			http.NotFound(w, r)
			return
		}
		var rows []string
		for k, v := range options {
			rows = append(rows, fmt.Sprintf(`{"key":%q,"value":%q}`, k, v))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(rows, ","))
	}))
	t.Cleanup(server.Close)
	f, err := flink.New(flink.Config{URLs: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOperatorMethods(t *testing.T) {
	t.Parallel()
	adaptive := map[string]string{"jobmanager.scheduler": "Adaptive"}
	for name, tc := range map[string]struct {
		reason  string
		edit    func(*object) *object
		running map[string]string
		method  string // empty: refused
		restart bool
		words   string // of the refusal
	}{
		"adaptive":          {"the operator changes it in place", nil, adaptive, "operator-in-place", false, ""},
		"last-state":        {"it keeps the state, too", func(o *object) *object { return o.with(t, "spec.job.upgradeMode", "last-state") }, adaptive, "operator-in-place", false, ""},
		"native":            {"the default mode by name", func(o *object) *object { return o.with(t, "spec.mode", "native") }, adaptive, "operator-in-place", false, ""},
		"default scheduler": {"what runs counts, not what the object says by now", nil, map[string]string{}, "operator-upgrade", true, ""},
		"Flink 1.17":        {"it cannot be told sizes", func(o *object) *object { return o.with(t, "spec.flinkVersion", "v1_17") }, adaptive, "operator-upgrade", true, ""},
		"Flink 2.1":         {"a later major version can", func(o *object) *object { return o.with(t, "spec.flinkVersion", "v2_1") }, adaptive, "operator-in-place", false, ""},
		"no place for savepoints": {
			"the operator would find out after the change", func(o *object) *object { return o.with(t, "spec.flinkConfiguration", map[string]any{}) },
			map[string]string{}, "", false, "state.savepoints.dir",
		},
		"a place that the operator gave": {
			"its own configuration shows in Flink", func(o *object) *object { return o.with(t, "spec.flinkConfiguration", map[string]any{}) },
			map[string]string{"execution.checkpointing.savepoint-dir": "s3://x"}, "operator-upgrade", true, "",
		},
		"last-state without savepoints": {
			"it needs none", func(o *object) *object {
				return o.with(t, "spec.flinkConfiguration", map[string]any{}).with(t, "spec.job.upgradeMode", "last-state")
			}, map[string]string{}, "operator-upgrade", true, "",
		},
		"stateless": {
			"a call to Flink that fails would cost the state", func(o *object) *object { return o.with(t, "spec.job.upgradeMode", "stateless") },
			adaptive, "", false, "without its state; set spec.job.upgradeMode",
		},
		"nothing said": {"which is stateless", func(o *object) *object { return o.with(t, "spec.job.upgradeMode", nil) }, adaptive, "", false, "upgradeMode is stateless"},
		"suspended":    {"no job runs, or not for long", func(o *object) *object { return o.with(t, "spec.job.state", "suspended") }, adaptive, "", false, "set spec.job.state to running"},
		"rolled back":  {"the object holds what does not run", func(o *object) *object { return o.with(t, "status.lifecycleState", "ROLLED_BACK") }, adaptive, "", false, "ROLLED_BACK"},
		"blue-green": {
			"the parent writes the child's spec", func(o *object) *object {
				return o.with(t, "metadata.ownerReferences", []any{map[string]any{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkBlueGreenDeployment", "name": "b", "uid": "u"}})
			}, adaptive, "", false, "FlinkBlueGreenDeployment",
		},
		"in place switched off": {
			"each change would restart the job", func(o *object) *object {
				return o.with(t, "spec.flinkConfiguration", map[string]any{"kubernetes": map[string]any{"operator.job.upgrade.inplace-scaling.enabled": false}})
			}, adaptive, "", false, "inplace-scaling.enabled is false",
		},
		"reactive": {"which native mode does not know", nil, map[string]string{"scheduler-mode": "reactive"}, "", false, "scheduler-mode is reactive"},
		"malformed": {
			"the next change would lose the job", func(o *object) *object {
				return o.with(t, "spec.flinkConfiguration", map[string]any{overridesKey: idA + ":x"})
			}, adaptive, "", false, "correct it",
		},
		"malformed before": {
			"the operator runs with it", func(o *object) *object {
				return o.with(t, "status.reconciliationStatus.lastReconciledSpec", `{"spec":{"flinkConfiguration":{"`+overridesKey+`":"x"}}}`)
			}, adaptive, "", false, "carried out last",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := parse(t, steady)
			if tc.edit != nil {
				o = tc.edit(o)
			}
			v := &view{kind: flinkDeployment{}, object: o, base: o, flink: runsWith(t, tc.running), job: core.JobRef{ID: "job1"}}
			m, err := v.method(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := m.means()
			if tc.method == "" {
				if got.Refused == "" || !strings.Contains(got.Refused, tc.words) {
					t.Fatalf("%s: %+v, want a refusal with %q", tc.reason, got, tc.words)
				}
				if err := m.want(t.Context(), "d1", nil); !errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), got.Refused) {
					t.Errorf("%s: a refused job is changed, or it is not said why: %v", tc.reason, err)
				}
				return
			}
			if diff := cmp.Diff(core.Means{Method: tc.method, Restarts: tc.restart}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFlinkThatDoesNotTell: what a change would be like is then not known.
func TestFlinkThatDoesNotTell(t *testing.T) {
	t.Parallel()
	o := parse(t, steady)
	v := &view{kind: flinkDeployment{}, object: o, base: o, flink: runsWith(t, nil), job: core.JobRef{ID: "other"}}
	if m, err := v.method(t.Context()); err == nil {
		t.Errorf("a method was chosen without Flink's options: %+v", m)
	}
}

func TestSessionJobs(t *testing.T) {
	t.Parallel()
	base := parse(t, steady).with(t, "spec.job", nil).with(t, "spec.flinkConfiguration", map[string]any{"taskmanager.numberOfTaskSlots": int64(2), "job": map[string]any{"autoscaler": map[string]any{"scaling.enabled": false, "metrics.window": "2 min"}}})
	job := parse(t, steady).with(t, "spec.flinkConfiguration", map[string]any{"kubernetes.operator.job.autoscaler.metrics.window": "9 min", "job.autoscaler.metrics.window": "5 min"})
	v := &view{kind: flinkSessionJob{}, object: job, base: base, flink: runsWith(t, map[string]string{"jobmanager.scheduler": "adaptive"}), job: core.JobRef{ID: "job1"}}
	want := map[string]string{"job.autoscaler.scaling.enabled": "false", "job.autoscaler.metrics.window": "5 min", "kubernetes.operator.job.autoscaler.metrics.window": "9 min"}
	if diff := cmp.Diff(want, v.policy()); diff != "" {
		t.Errorf("the policy of the job over that of its session cluster (-want +got):\n%s", diff)
	}
	m, err := v.method(t.Context())
	if err != nil || m.means().Method != "operator-in-place" {
		t.Errorf("method %+v, error %v", m, err)
	}
	v.base = base.with(t, "spec.mode", "standalone")
	if m, err := v.method(t.Context()); err != nil || !strings.Contains(m.means().Refused, "standalone") {
		t.Errorf("on a standalone session cluster: %+v, error %v", m, err)
	}
	v.base = base.with(t, "spec.flinkConfiguration", map[string]any{overridesKey: idB + ":2"})
	s, err := wishOf(operated{v})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(overrides{idB: 2}, s.asked); diff != "" || len(s.at) != 0 {
		t.Errorf("inherited sizes, written at %v (-want +got):\n%s", s.at, diff)
	}
}
