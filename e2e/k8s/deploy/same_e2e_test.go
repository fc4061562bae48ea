//go:build e2e

package deploy

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/toolcache"
)

// everything are the values that make what the example of kustomize makes.
func everything() []string {
	return []string{"--values", filepath.Join(chart, "examples", "everything.yaml")}
}

// TestBothMakeTheSame: what the API server holds after either is one and the same.
func TestBothMakeTheSame(t *testing.T) {
	byKustomize, byHelm := kustomize(t, "example"), helm(t, everything()...)
	byKustomize = slices.DeleteFunc(byKustomize, func(o object) bool { return o.GetKind() == "Namespace" }) // Helm makes it by --create-namespace
	if len(byKustomize) < 30 {
		t.Fatalf("only %d objects", len(byKustomize))
	}
	installation.Lock()
	defer installation.Unlock()
	apply(t, byKustomize)
	first := substance(t, live(t, byKustomize))
	apply(t, byHelm)
	second := substance(t, live(t, byHelm))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("kustomize and Helm differ (-kustomize +Helm):\n%s", diff)
	}
}

// generated is what kustomize adds to the name of a ConfigMap.
var generated = regexp.MustCompile(`^flinkscaler-[0-9a-z]{10}$`)

// substance is what counts of objects, by kind and name: not who wrote them when,
// nor how the two ways see to new pods for a new configuration.
func substance(t *testing.T, objects []object) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, o := range objects {
		o = object{o.DeepCopy()}
		for _, path := range [][]string{
			{"status"}, {"metadata", "uid"}, {"metadata", "resourceVersion"}, {"metadata", "creationTimestamp"}, {"metadata", "generation"}, {"metadata", "managedFields"},
			{"metadata", "annotations"}, {"spec", "template", "metadata", "annotations"}, {"spec", "clusterIP"}, {"spec", "clusterIPs"},
			{"metadata", "labels", "app.kubernetes.io/managed-by"}, {"metadata", "labels", "helm.sh/chart"},
		} {
			unstructured.RemoveNestedField(o.Object, path...)
		}
		switch o.GetKind() {
		case "ConfigMap":
			o.SetName(generated.ReplaceAllString(o.GetName(), "flinkscaler"))
			o.SetLabels(nil)
			o.Object["data"] = settings(t, o)
		case "Deployment":
			volumes, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "volumes")
			must(t, err)
			source := volumes[0].(map[string]any)["configMap"].(map[string]any)
			source["name"] = generated.ReplaceAllString(source["name"].(string), "flinkscaler")
			must(t, unstructured.SetNestedSlice(o.Object, volumes, "spec", "template", "spec", "volumes"))
		}
		out[strings.Join([]string{o.GetKind(), o.GetNamespace(), o.GetName()}, " ")] = o.Object
	}
	return out
}

// settings are those of the worker's file in a ConfigMap, without the default of
// Temporal's namespace, which the chart writes down.
func settings(t *testing.T, configMap object) map[string]any {
	t.Helper()
	text, _, err := unstructured.NestedString(configMap.Object, "data", "worker.yaml")
	must(t, err)
	var out map[string]any
	must(t, yaml.UnmarshalStrict([]byte(text), &out))
	temporal := out["temporal"].(map[string]any)
	if temporal["namespace"] == "default" {
		delete(temporal, "namespace")
	}
	return out
}

// TestTheWorkerAlone: the base of kustomize is the chart without rights.
func TestTheWorkerAlone(t *testing.T) {
	kinds := func(objects []object) []string {
		var out []string
		for _, o := range objects {
			out = append(out, o.GetKind()+" "+o.GetName())
		}
		slices.Sort(out)
		return out
	}
	base := kinds(kustomize(t, "worker"))
	for i, k := range base {
		if name, ok := strings.CutPrefix(k, "ConfigMap "); ok {
			base[i] = "ConfigMap " + generated.ReplaceAllString(name, "flinkscaler")
		}
	}
	if diff := cmp.Diff(base, kinds(helm(t, "--set", "rights=null,disruptionBudget.enabled=false"))); diff != "" {
		t.Errorf("-kustomize +Helm:\n%s", diff)
	}
}

// TestEachValue: what a value is there for shows in what is rendered.
func TestEachValue(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
		not    []string
	}{
		"nothing given": {"the release's own namespace is looked at", nil, []string{"namespaces:\n          - flinkscaler\n", "name: flinkscaler-scale-apache\n  namespace: flinkscaler\n", "kind: PodDisruptionBudget"},
			[]string{"kind: ClusterRole", "kind: NetworkPolicy", "kind: ServiceMonitor", "AdmissionPolicy", "operator-store", "services/proxy"}},
		"other name":       {"for a second release", []string{"--set", "name=second,admissionPolicy.enabled=true,nodes=true"}, []string{"name: second-scale-apache", "system:serviceaccount:flinkscaler:second'", "name: second-nodes", "policyName: second-pods"}, []string{"name: flinkscaler\n"}},
		"proxy":            {"from outside", []string{"--set", "rights={proxy},kubernetes.access=proxy"}, []string{"services/proxy", "access: proxy"}, []string{"scale-apache"}},
		"rights of one":    {"a namespace may have its own", []string{"--set", "namespaces[0].name=a,namespaces[0].rights={events},namespaces[1].name=b"}, []string{"name: flinkscaler-events\n  namespace: a\n", "name: flinkscaler-scale-apache\n  namespace: b\n"}, []string{"name: flinkscaler-scale-apache\n  namespace: a\n"}},
		"no rights of one": {"an empty list is no default", []string{"--set-json", `namespaces=[{"name":"a","rights":[]}]`}, []string{"- a\n"}, []string{"kind: Role\n"}},
		"configuration":    {"other clusters, and what the chart sets itself", []string{"--set-json", `config={"log":{"level":"debug"},"clusters":{"there":{"flink":{"url":"http://f:8081"}}}}`}, []string{"level: debug", "format: json", "there:", "here:"}, nil},
		"image":            {"the tag is the chart's without one", []string{"--set", "image.repository=r.example.com/f,image.tag=1.2.3,image.pullSecrets={s}"}, []string{`image: "r.example.com/f:1.2.3"`, "- name: s"}, nil},
		"pods": {"what clusters ask of pods", []string{"--set-json", `nodeSelector={"disk":"ssd"},tolerations=[{"operator":"Exists"}],annotations={"a":"b"},env=[{"name":"X","value":"y"}],volumes=[{"name":"ca","secret":{"secretName":"ca"}}],volumeMounts=[{"name":"ca","mountPath":"/ca"}],affinity={"nodeAffinity":{}}`},
			[]string{"disk: ssd", "operator: Exists", "a: b", "name: X", "secretName: ca", "mountPath: /ca", "nodeAffinity: {}"}, nil},
		"network": {"ports differ between clusters", []string{"--set", "networkPolicy.enabled=true,networkPolicy.temporalPort=1,networkPolicy.apiServerPorts={2,3},networkPolicy.flinkPorts={4}"}, []string{"port: 1,", "port: 2,", "port: 3,", "port: 4,"}, []string{"7233, p", "8081, p"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := helmText(t, tc.args...)
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q is missing", tc.reason, want)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(text, not) {
					t.Errorf("%s: %q is there", tc.reason, not)
				}
			}
			decode(t, []byte(text))
		})
	}
}

// TestBadValues: what would be without effect, or worse, is refused.
func TestBadValues(t *testing.T) {
	for value, want := range map[string]string{
		"right=events":                     "right",
		"rights={everything}":              "rights",
		"namespaces={shop}":                "namespaces",
		"terminationGracePeriodSeconds=30": "terminationGracePeriodSeconds",
		"networkPolicy.flinkPorts={}":      "flinkPorts",
	} {
		args := []string{"template", account, chart, "--kube-version", toolcache.KubeVersion, "--set", value}
		out, err := exec.CommandContext(t.Context(), helmProgram(t), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s; want it refused with its name", value, err, out)
		}
	}
}

func TestTheChartHasNoFaults(t *testing.T) {
	for _, args := range [][]string{nil, everything()} {
		args = append([]string{"lint", "--strict", chart, "--kube-version", toolcache.KubeVersion}, args...)
		if out, err := exec.CommandContext(t.Context(), helmProgram(t), args...).CombinedOutput(); err != nil {
			t.Errorf("helm lint: %v\n%s", err, out)
		}
	}
}

func helmText(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), helmProgram(t), append([]string{"template", account, chart, "--namespace", home, "--kube-version", toolcache.KubeVersion}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// podOf is a pod as a Deployment would make it.
func podOf(t *testing.T, deployment object) *corev1.Pod {
	t.Helper()
	template, _, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	must(t, err)
	pod := &corev1.Pod{}
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod))
	pod.ObjectMeta = metav1.ObjectMeta{GenerateName: "worker-", Labels: pod.Labels}
	return pod
}

// TestPodsAreRestricted: a namespace that takes nothing but restricted pods takes
// the worker's, and would not take them with less.
func TestPodsAreRestricted(t *testing.T) {
	install(t)
	pods := kubetest.Plane(t).Clientset().CoreV1().Pods(home)
	for way, objects := range map[string][]object{"kustomize": kustomize(t, "example"), "helm": helm(t, everything()...)} {
		pod := podOf(t, one(t, objects, "Deployment"))
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Errorf("%s: %v", way, err)
		}
		pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err == nil {
			t.Errorf("%s: a pod that is less restricted is taken", way)
		}
	}
}

// one is the only object of a kind.
func one(t *testing.T, objects []object, kind string) object {
	t.Helper()
	var found []object
	for _, o := range objects {
		if o.GetKind() == kind {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s", len(found), kind)
	}
	return found[0]
}
