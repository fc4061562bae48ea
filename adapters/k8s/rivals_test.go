package k8s

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"flinkscaler/core"
)

// parse makes an object of a manifest.
func parse(t *testing.T, manifest string) *object {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return &object{u}
}

// told gives rivals in short: kind and name, a warning in brackets.
func told(rivals []core.Rival) string {
	var out []string
	for _, r := range rivals {
		s := r.Kind + " " + r.Name
		if r.Warning {
			s = "(" + s + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestOperatorSigns(t *testing.T) {
	t.Parallel()
	on := map[string]string{"job.autoscaler.enabled": "true"}
	off := map[string]string{"job.autoscaler.enabled": "false"}
	two, three := map[string]string{"w": "2"}, map[string]string{"w": "3"}
	const rival, warning = "FlinkOperatorAutoscaler orders", "(FlinkOperatorAutoscaler orders)"
	for name, tt := range map[string]struct {
		reason string
		signs  operatorSigns
		want   string
		says   string
	}{
		"nothing":        {"the usual case", operatorSigns{}, "", ""},
		"off":            {"false is normal", operatorSigns{options: off}, "", ""},
		"empty store":    {"the operator makes one for every job", operatorSigns{stored: map[string]string{}}, "", ""},
		"on":             {"its sizes beat ours", operatorSigns{options: on}, rival, "in one patch"},
		"old spelling":   {"up to 1.7 it is the only one", operatorSigns{options: map[string]string{"kubernetes.operator.job.autoscaler.enabled": "TRUE"}}, rival, "in one patch"},
		"both spellings": {"the new one is read first", operatorSigns{options: map[string]string{"kubernetes.operator.job.autoscaler.enabled": "true", "job.autoscaler.enabled": "false"}}, "", ""},
		"reports only": {"it changes nothing", operatorSigns{options: map[string]string{"job.autoscaler.enabled": "true", "job.autoscaler.scaling.enabled": "false"},
			stored: map[string]string{"collectedMetrics": "x"}}, warning, "only reports"},
		"reports only, with sizes": {"they stay in force", operatorSigns{options: map[string]string{"job.autoscaler.enabled": "true", "job.autoscaler.scaling.enabled": "false"},
			stored: map[string]string{"parallelismOverrides": "w:3"}}, rival, "still in force"},
		"on for all":         {"the object does not say so, the store does", operatorSigns{stored: map[string]string{"collectedMetrics": "x"}}, rival, "by the operator's configuration"},
		"off, store is full": {"the operator has not caught up", operatorSigns{options: off, stored: map[string]string{"parallelismOverrides": "w:3"}}, rival, "see whether the operator runs"},
		"other sizes":        {"only its autoscaler does so", operatorSigns{deployed: three, wanted: two, known: true}, rival, "other sizes"},
		"other sizes, off":   {"just switched off: the old sizes are about to jump in", operatorSigns{options: off, deployed: three, wanted: two, known: true}, rival, "other sizes"},
		"other sizes on the way": {"the object was changed and not seen yet",
			operatorSigns{deployed: three, wanted: two}, "", ""},
		"same sizes":        {"ours came through", operatorSigns{deployed: two, wanted: two, known: true}, "", ""},
		"reported a change": {"it acts", operatorSigns{reports: []string{"Scaling execution enabled, begin scaling vertices:{"}}, rival, "reported"},
		"reported by 1.7":   {"it acts", operatorSigns{reports: []string{"Scaling vertices: Vertex ID a"}}, rival, "reported"},
		"advised":           {"it does not act", operatorSigns{reports: []string{"Scaling execution disabled by config job.autoscaler.scaling.enabled:false"}}, warning, "would change"},
		"advised by 1.7":    {"it does not act", operatorSigns{reports: []string{"Recommended parallelism change: Vertex ID a"}}, warning, "would change"},
		"reported, now off": {"news of yesterday", operatorSigns{options: off, reports: []string{"Scaling vertices: Vertex ID a"}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.signs.name = "orders"
			got := tt.signs.rivals()
			if told(got) != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, told(got), tt.want)
			}
			if len(got) == 1 && !strings.Contains(got[0].What, tt.says) {
				t.Errorf("%s: it says %q, want %q in it", tt.reason, got[0].What, tt.says)
			}
		})
	}
}

func TestDeployedOverrides(t *testing.T) {
	t.Parallel()
	spec := func(generation string) string {
		return `'{"spec":{"flinkConfiguration":{"pipeline.jobvertex-parallelism-overrides":"b:2, a:1"}},"resource_metadata":{"metadata":{"generation":` + generation + `}}}'`
	}
	for name, tt := range map[string]struct {
		reason string
		status string
		known  bool
	}{
		"observed":        {"since 1.8 the status says so", "{observedGeneration: 4, reconciliationStatus: {state: DEPLOYED, lastReconciledSpec: " + spec("1") + "}}", true},
		"not observed":    {"a change is on its way", "{observedGeneration: 3, reconciliationStatus: {state: DEPLOYED, lastReconciledSpec: " + spec("4") + "}}", false},
		"1.7":             {"the generation is inside", "{reconciliationStatus: {state: DEPLOYED, lastReconciledSpec: " + spec("4") + "}}", true},
		"1.7, not yet":    {"a change is on its way", "{reconciliationStatus: {state: DEPLOYED, lastReconciledSpec: " + spec("3") + "}}", false},
		"rolled back":     {"the object holds what failed", "{observedGeneration: 4, reconciliationStatus: {state: ROLLED_BACK, lastReconciledSpec: " + spec("4") + "}}", false},
		"upgrading":       {"nothing is deployed", "{observedGeneration: 4, reconciliationStatus: {state: UPGRADING, lastReconciledSpec: " + spec("4") + "}}", false},
		"nothing at all":  {"a new object", "{}", false},
		"not to be read":  {"no JSON", "{observedGeneration: 4, reconciliationStatus: {state: DEPLOYED, lastReconciledSpec: x}}", false},
		"an empty answer": {"no text", "{observedGeneration: 4, reconciliationStatus: {state: DEPLOYED}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, known := deployedOverrides(parse(t, "{kind: FlinkDeployment, metadata: {name: a, generation: 4}, status: "+tt.status+"}"))
			if known != tt.known {
				t.Errorf("%s: known is %v", tt.reason, known)
			}
			if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, got); known && diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestOverridesOf(t *testing.T) {
	t.Parallel()
	want := map[string]string{"a": "1", "b": "2"}
	for name, tt := range map[string]string{
		"one text":        "pipeline.jobvertex-parallelism-overrides: 'b:2, a:1'",
		"a nested text":   "pipeline: {jobvertex-parallelism-overrides: 'a:1,b:2'}",
		"a nested map":    "pipeline: {jobvertex-parallelism-overrides: {a: 1, b: '2'}}",
		"a map, flat key": "pipeline.jobvertex-parallelism-overrides: {a: '1', b: 2}",
	} {
		got := overridesOf(parse(t, "{kind: FlinkDeployment, spec: {flinkConfiguration: {"+tt+"}}}").options("spec", "flinkConfiguration"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// seen makes a view of an object, without a cluster behind it.
func seen(t *testing.T, mode, manifest string) *view {
	t.Helper()
	o := parse(t, manifest)
	return &view{object: o, base: o, target: core.KubernetesTarget{Kind: o.GetKind(), Name: o.GetName(), Mode: mode}}
}

func TestPodScalers(t *testing.T) {
	t.Parallel()
	const native, standalone = "{kind: FlinkDeployment, metadata: {name: orders}}", "{kind: FlinkDeployment, metadata: {name: orders}, spec: {mode: standalone}}"
	const workload, flinkCluster = "{kind: Deployment, metadata: {name: workers}}", "{kind: FlinkCluster, metadata: {name: orders}}"
	hpa := func(ref, more string) string {
		return "{kind: HorizontalPodAutoscaler, metadata: {name: h" + more + "}, spec: {maxReplicas: 6, scaleTargetRef: {" + ref + "}}}"
	}
	keda := func(ref, annotations string) string {
		return "{kind: ScaledObject, metadata: {name: k, annotations: {" + annotations + "}}, spec: {scaleTargetRef: {" + ref + "}}}"
	}
	const own = "apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: orders"
	for name, tt := range map[string]struct {
		reason       string
		of           string
		scaled, hpas []string
		want         string
		says         string
	}{
		"on the resource":   {"it redeploys a native job", native, nil, []string{hpa(own, "")}, "HorizontalPodAutoscaler h", "between 1 and 6, and each change of that restarts the whole job"},
		"another version":   {"versions are one object", native, nil, []string{hpa("apiVersion: flink.apache.org/v9, kind: FlinkDeployment, name: orders", "")}, "HorizontalPodAutoscaler h", ""},
		"another group":     {"a namesake of another group", native, nil, []string{hpa("apiVersion: example.com/v1beta1, kind: FlinkDeployment, name: orders", "")}, "", ""},
		"no group":          {"the core group has no FlinkDeployment", native, nil, []string{hpa("apiVersion: v1, kind: FlinkDeployment, name: orders", "")}, "", ""},
		"another name":      {"another job", native, nil, []string{hpa("apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: other", "")}, "", ""},
		"beneath":           {"the operator's own Deployment", standalone, nil, []string{hpa("apiVersion: apps/v1, kind: Deployment, name: orders-taskmanager", "")}, "HorizontalPodAutoscaler h", "Deployment orders-taskmanager between 1 and 6: delete it"},
		"beneath a cluster": {"a StatefulSet", flinkCluster, nil, []string{hpa("apiVersion: apps/v1, kind: StatefulSet, name: orders-taskmanager", "")}, "HorizontalPodAutoscaler h", ""},
		"made by the cluster": {"take it out where it was put in", flinkCluster, nil,
			[]string{hpa("apiVersion: flinkoperator.k8s.io/v1beta1, kind: FlinkCluster, name: orders", ", ownerReferences: [{kind: FlinkCluster, name: orders}]")}, "HorizontalPodAutoscaler h", "spec.taskManager.horizontalPodAutoscaler"},
		"on the workload":  {"no operator", workload, nil, []string{hpa("apiVersion: apps/v1, kind: Deployment, name: workers", "")}, "HorizontalPodAutoscaler h", "target.kubernetes.mode: follow"},
		"the JobManager's": {"no TaskManagers", native, nil, []string{hpa("apiVersion: apps/v1, kind: Deployment, name: orders", "")}, "", ""},
		"0 replicas": {"it is off", workload, nil, []string{"{kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {maxReplicas: 6, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: workers}}, " +
			"status: {conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'False', reason: ScalingDisabled}]}}"}, "(HorizontalPodAutoscaler h)", "0 replicas"},
		"KEDA by default":    {"it means a Deployment", workload, []string{keda("name: workers", "")}, nil, "ScaledObject k", "autoscaling.keda.sh/paused"},
		"KEDA on another":    {"another workload", workload, []string{keda("name: other", "")}, nil, "", ""},
		"KEDA on a resource": {"anything with /scale", native, []string{keda(own, "")}, nil, "ScaledObject k", ""},
		"paused":             {"it does nothing", workload, []string{keda("name: workers", "autoscaling.keda.sh/paused: 'true'")}, nil, "", ""},
		"not paused":         {"the annotation says no", workload, []string{keda("name: workers", "autoscaling.keda.sh/paused: 'false'")}, nil, "ScaledObject k", ""},
		"paused at a size":   {"0 is a size too", workload, []string{keda("name: workers", "autoscaling.keda.sh/paused-replicas: '0'")}, nil, "", ""},
		"paused one way":     {"half a rival is one", workload, []string{keda("name: workers", "autoscaling.keda.sh/paused-scale-in: 'true'")}, nil, "ScaledObject k", "only upwards"},
		"paused the other":   {"half a rival is one", workload, []string{keda("name: workers", "autoscaling.keda.sh/paused-scale-out: 'true'")}, nil, "ScaledObject k", "only downwards"},
		"paused both ways":   {"it does nothing", workload, []string{keda("name: workers", "autoscaling.keda.sh/paused-scale-in: 'true', autoscaling.keda.sh/paused-scale-out: 'true'")}, nil, "", ""},
		"KEDA's HPA": {"one rival, told once", workload, []string{keda("name: workers", "")},
			[]string{hpa("apiVersion: apps/v1, kind: Deployment, name: workers", ", labels: {scaledobject.keda.sh/name: k}")}, "ScaledObject k", ""},
		"KEDA's HPA alone": {"ScaledObjects may not be read", workload, nil,
			[]string{hpa("apiVersion: apps/v1, kind: Deployment, name: workers", ", labels: {scaledobject.keda.sh/name: k}")}, "HorizontalPodAutoscaler h", "pause ScaledObject k"},
		"KEDA's HPA of a paused one": {"while it is there it acts", workload, []string{keda("name: workers", "autoscaling.keda.sh/paused: 'true'")},
			[]string{hpa("apiVersion: apps/v1, kind: Deployment, name: workers", ", labels: {scaledobject.keda.sh/name: k}")}, "HorizontalPodAutoscaler h", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var scaled, hpas []*object
			for _, m := range tt.scaled {
				scaled = append(scaled, parse(t, m))
			}
			for _, m := range tt.hpas {
				hpas = append(hpas, parse(t, m))
			}
			got := seen(t, "", tt.of).judgePodScalers(scaled, hpas)
			if told(got) != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, told(got), tt.want)
			}
			if len(got) == 1 && !strings.Contains(got[0].What, tt.says) {
				t.Errorf("%s: it says %q, want %q in it", tt.reason, got[0].What, tt.says)
			}
		})
	}
}

func TestEvicts(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]bool{
		"{kind: V, spec: {}}": true, // Auto is what no mode means
		"{kind: V, spec: {updatePolicy: {updateMode: Recreate}}}":          true,
		"{kind: V, spec: {updatePolicy: {updateMode: InPlaceOrRecreate}}}": true,
		"{kind: V, spec: {updatePolicy: {updateMode: Initial}}}":           false,
		"{kind: V, spec: {updatePolicy: {updateMode: 'Off'}}}":             false,
	} {
		if got := evicts(updateMode(parse(t, manifest))); got != want {
			t.Errorf("%s: %v, want %v", manifest, got, want)
		}
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	fields := func(manager, operation, subresource, fields string) string {
		return "{manager: " + manager + ", operation: " + operation + ", subresource: '" + subresource + "', time: '2026-11-30T10:00:00Z', fieldsType: FieldsV1, fieldsV1: " + fields + "}"
	}
	const (
		key      = `{"f:spec": {"f:flinkConfiguration": {"f:pipeline.jobvertex-parallelism-overrides": {}}}}`
		nested   = `{"f:spec": {"f:flinkConfiguration": {"f:pipeline": {"f:jobvertex-parallelism-overrides": {}}}}}`
		other    = `{"f:spec": {"f:flinkConfiguration": {"f:taskmanager.numberOfTaskSlots": {}}, "f:image": {}}}`
		managers = `{"f:spec": {"f:taskManager": {"f:replicas": {}}}}`
		replicas = `{"f:spec": {"f:replicas": {}}}`
	)
	for name, tt := range map[string]struct {
		reason string
		kind   string
		spec   string
		mode   string
		meta   string
		fields string
		want   string
		says   string
	}{
		"ours":          {"we wrote it", "FlinkDeployment", "", "", "", fields("flinkscaler", "Apply", "", key), "", ""},
		"other fields":  {"GitOps owns all but ours", "FlinkDeployment", "", "", "", fields("argocd-controller", "Apply", "", other), "", ""},
		"Argo CD":       {"it names our field", "FlinkDeployment", "", "", "", fields("argocd-controller", "Update", "", key), "GitOps Argo CD", "spec.flinkConfiguration.pipeline.jobvertex-parallelism-overrides (as argocd-controller)"},
		"Flux":          {"it names our field", "FlinkSessionJob", "", "", "", fields("kustomize-controller", "Apply", "", key), "GitOps Flux", "ignore the field"},
		"nested":        {"the other spelling", "FlinkDeployment", "", "", "", fields("kustomize-controller", "Apply", "", nested), "GitOps Flux", ""},
		"a person":      {"what is owned is not forced", "FlinkDeployment", "", "", "", fields("kubectl-edit", "Update", "", key), "FieldOwner kubectl-edit", "at 2026-11-30T10:00:00Z and owns it"},
		"Argo by mark":  {"older ones apply as kubectl", "FlinkDeployment", "", "", ", annotations: {argocd.argoproj.io/tracking-id: x}", fields("kubectl-client-side-apply", "Update", "", key), "GitOps Argo CD", ""},
		"Flux by mark":  {"older ones apply as kubectl", "FlinkDeployment", "", "", ", labels: {helm.toolkit.fluxcd.io/name: x}", fields("before-first-apply", "Update", "", key), "GitOps Flux", ""},
		"both of ours":  {"two who agree: ours, and one that will not", "FlinkDeployment", "", "", "", fields("flinkscaler", "Apply", "", key) + "," + fields("helm", "Apply", "", key), "FieldOwner helm", ""},
		"no such field": {"the replicas of a native job are not ours", "FlinkDeployment", "", "", "", fields("argocd-controller", "Apply", "", managers), "", ""},
		"standalone":    {"here they are", "FlinkDeployment", "mode: standalone", "", "", fields("argocd-controller", "Apply", "", managers), "GitOps Argo CD", "spec.taskManager.replicas"},
		"a manifest":    {"it named a size to begin with; a write takes it over", "FlinkCluster", "", "", "", fields("kubectl-client-side-apply", "Update", "", managers), "(FieldOwner kubectl-client-side-apply)", "out of its manifest"},
		"scaled":        {"a person did it once", "Deployment", "", "", "", fields("kubectl", "Update", "scale", replicas), "(FieldOwner kubectl)", "through /scale at"},
		"an HPA":        {"the list of them tells, also when it is gone", "Deployment", "", "", "", fields("kube-controller-manager", "Update", "scale", replicas), "", ""},
		"KEDA":          {"as an HPA", "StatefulSet", "", "", "", fields("keda-operator", "Update", "scale", replicas), "", ""},
		"followed":      {"its size is an input", "StatefulSet", "", "follow", "", fields("argocd-controller", "Apply", "", replicas), "", ""},
		"GitOps":        {"it puts the replicas back", "StatefulSet", "", "", "", fields("kustomize-controller", "Apply", "", replicas), "GitOps Flux", ""},
		"not readable":  {"nothing is known", "Deployment", "", "", "", fields("x", "Apply", "", "null"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := seen(t, tt.mode, "{kind: "+tt.kind+", metadata: {name: orders"+tt.meta+", managedFields: ["+tt.fields+"]}, spec: {"+tt.spec+"}}")
			got := v.owners()
			if told(got) != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, told(got), tt.want)
			}
			if len(got) == 1 && !strings.Contains(got[0].What, tt.says) {
				t.Errorf("%s: it says %q, want %q in it", tt.reason, got[0].What, tt.says)
			}
		})
	}
}

func TestParents(t *testing.T) {
	t.Parallel()
	o := parse(t, "{kind: FlinkDeployment, metadata: {name: a-blue, ownerReferences: [{kind: X, name: x}, {kind: FlinkBlueGreenDeployment, name: a}]}}")
	if got := told(parents(o)); got != "FlinkBlueGreenDeployment a" {
		t.Errorf("got %q", got)
	}
}

func TestLastSeen(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, manifest := range map[string]string{
		"a series":      "{kind: Event, eventTime: '2026-11-30T11:00:00.5Z', series: {count: 2, lastObservedTime: '2026-11-30T12:00:00.000000Z'}}",
		"of the old":    "{kind: Event, deprecatedLastTimestamp: '2026-11-30T12:00:00Z', metadata: {creationTimestamp: '2026-11-30T13:00:00Z'}}",
		"once":          "{kind: Event, eventTime: '2026-11-30T12:00:00.000000Z'}",
		"says no time":  "{kind: Event, metadata: {creationTimestamp: '2026-11-30T12:00:00Z'}}",
		"another clock": "{kind: Event, eventTime: '2026-11-30T13:00:00+01:00'}",
	} {
		if got := lastSeen(parse(t, manifest)); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
