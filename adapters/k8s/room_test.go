package k8s

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"flinkscaler/core"
)

// parseAs makes an object of one of the Kubernetes API's own types of a manifest.
func parseAs[T any](t *testing.T, manifest string) T {
	t.Helper()
	x, err := as[T](parse(t, manifest).Unstructured)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// quantities gives quantities as texts.
func quantities(l corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, q := range l {
		out[string(name)] = q.String()
	}
	return out
}

func TestPodSize(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		spec   string
		want   map[string]string
	}{
		"containers":        {"the sum, sidecars written as containers too", "{containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Gi}}}, {name: b, resources: {requests: {cpu: '1'}}}]}", map[string]string{"cpu": "1500m", "memory": "1Gi"}},
		"init, smaller":     {"it is over before", "{initContainers: [{name: i, resources: {requests: {cpu: 100m}}}], containers: [{name: a, resources: {requests: {cpu: 500m}}}]}", map[string]string{"cpu": "500m"}},
		"init, larger":      {"the most that it needs at a time", "{initContainers: [{name: i, resources: {requests: {cpu: '2', memory: 1Gi}}}], containers: [{name: a, resources: {requests: {cpu: 500m, memory: 2Gi}}}]}", map[string]string{"cpu": "2", "memory": "2Gi"}},
		"sidecar":           {"it stays", "{initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 250m}}}], containers: [{name: a, resources: {requests: {cpu: 500m}}}]}", map[string]string{"cpu": "750m"}},
		"init with sidecar": {"the sidecar runs beside it", "{initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 250m}}}, {name: i, resources: {requests: {cpu: '1'}}}], containers: [{name: a, resources: {requests: {cpu: 500m}}}]}", map[string]string{"cpu": "1250m"}},
		"overhead":          {"of the runtime", "{overhead: {cpu: 50m}, containers: [{name: a, resources: {requests: {cpu: 500m}}}]}", map[string]string{"cpu": "550m"}},
		"of the pod":        {"it stands for all", "{resources: {requests: {cpu: '3'}}, containers: [{name: a, resources: {requests: {cpu: 500m}}}]}", map[string]string{"cpu": "3"}},
		"nothing":           {"best effort", "{containers: [{name: a}]}", map[string]string{}},
		"limits only":       {"the API server has copied them by now", "{containers: [{name: a, resources: {limits: {cpu: 500m}}}]}", map[string]string{}},
	} {
		if diff := cmp.Diff(tt.want, quantities(requests(parseAs[corev1.Pod](t, "{kind: Pod, spec: "+tt.spec+"}")))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tt.reason, diff)
		}
	}
}

func TestCharge(t *testing.T) {
	t.Parallel()
	p := parseAs[corev1.Pod](t, "{kind: Pod, spec: {containers: [{name: a, resources: {requests: {cpu: '1', memory: 1Gi, nvidia.com/gpu: '2'}, limits: {cpu: '2', nvidia.com/gpu: '2'}}}]}}")
	want := map[string]string{
		"cpu": "1", "requests.cpu": "1", "memory": "1Gi", "requests.memory": "1Gi", "limits.cpu": "2", "requests.nvidia.com/gpu": "2", "limits.nvidia.com/gpu": "2", "pods": "1", "count/pods": "1",
	}
	if diff := cmp.Diff(want, quantities(charge(p))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		free, one string
		want      int
	}{
		{"4", "1", 4}, {"3999m", "1", 3}, {"0", "1", 0}, {"-1", "1", 0}, {"1", "0", maxPods}, {"300m", "100m", 3}, {"700m", "100m", 7}, {"4Gi", "1500Mi", 2}, {"1E", "1m", maxPods},
	} {
		if got := times(resource.MustParse(tt.free), resource.MustParse(tt.one)); got != tt.want {
			t.Errorf("%s into %s: %d, want %d", tt.one, tt.free, got, tt.want)
		}
	}
}

// taskManager is a pod of 1 CPU and 2 GiB, with more of its spec.
func taskManager(t *testing.T, more string) corev1.Pod {
	t.Helper()
	return parseAs[corev1.Pod](t, "{kind: Pod, metadata: {name: tm}, spec: {"+more+" containers: [{name: main, resources: {requests: {cpu: '1', memory: 2Gi}, limits: {cpu: '2', memory: 2Gi}}}]}}")
}

func TestQuota(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		spec   string
		status string
		pod    string
		// waiting of the three that are needed are asked for already.
		waiting int
		fits    int
		says    string
	}{
		"enough":            {"four are left, three needed", "", "{hard: {requests.cpu: '10'}, used: {requests.cpu: '6'}}", "", 0, 3, ""},
		"exactly enough":    {"three are left", "", "{hard: {requests.cpu: '9'}, used: {requests.cpu: '6'}}", "", 0, 3, ""},
		"too little":        {"two are left", "", "{hard: {requests.cpu: '8500m'}, used: {requests.cpu: '6'}}", "", 0, 2, "ResourceQuota q leaves 2500m of requests.cpu, and a TaskManager takes 1"},
		"nothing":           {"used up", "", "{hard: {limits.memory: 8Gi}, used: {limits.memory: 8Gi}}", "", 0, 0, "limits.memory"},
		"used beyond":       {"it was made smaller since", "", "{hard: {memory: 8Gi}, used: {memory: 9Gi}}", "", 0, 0, "memory"},
		"waiting":           {"one of three is in the count already", "", "{hard: {cpu: '8'}, used: {cpu: '6'}}", "", 1, 3, ""},
		"all waiting":       {"the count has them all", "", "{hard: {cpu: '8'}, used: {cpu: '8'}}", "", 3, 3, ""},
		"pods":              {"a number of pods", "", "{hard: {pods: '7'}, used: {pods: '6'}}", "", 0, 1, "of pods"},
		"count of pods":     {"the other name", "", "{hard: {count/pods: '7'}, used: {count/pods: '6'}}", "", 0, 1, "count/pods"},
		"the least":         {"of several", "", "{hard: {cpu: '8', pods: '7'}, used: {cpu: '6', pods: '6'}}", "", 0, 1, "pods"},
		"other things":      {"no pods", "", "{hard: {services: '1', requests.storage: 1Gi}, used: {services: '1', requests.storage: 1Gi}}", "", 0, 3, ""},
		"not counted yet":   {"made a moment ago", "", "{}", "", 0, 3, ""},
		"no limit":          {"pods that say nothing are refused", "", "{hard: {limits.cpu: '99'}, used: {}}", "limitless", 0, 0, "say nothing of that"},
		"ends":              {"TaskManagers never end", "scopes: [Terminating]", "{hard: {pods: '0'}, used: {}}", "", 0, 3, ""},
		"never ends":        {"that is them", "scopes: [NotTerminating]", "{hard: {pods: '0'}, used: {}}", "", 0, 0, "pods"},
		"best effort":       {"they ask for something", "scopes: [BestEffort]", "{hard: {pods: '0'}, used: {}}", "", 0, 3, ""},
		"no best effort":    {"that is them", "scopes: [NotBestEffort]", "{hard: {pods: '0'}, used: {}}", "", 0, 0, "pods"},
		"all scopes":        {"every one must fit", "scopes: [NotBestEffort, Terminating]", "{hard: {pods: '0'}, used: {}}", "", 0, 3, ""},
		"a class":           {"theirs", "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low, high]}]}", "{hard: {pods: '0'}, used: {}}", "priorityClassName: high,", 0, 0, "pods"},
		"another class":     {"not theirs", "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low]}]}", "{hard: {pods: '0'}, used: {}}", "priorityClassName: high,", 0, 3, ""},
		"not a class":       {"theirs is another", "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [low]}]}", "{hard: {pods: '0'}, used: {}}", "priorityClassName: high,", 0, 0, "pods"},
		"any class":         {"they have none", "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}", "{hard: {pods: '0'}, used: {}}", "", 0, 3, ""},
		"no class":          {"they have none", "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}", "{hard: {pods: '0'}, used: {}}", "", 0, 0, "pods"},
		"near others":       {"they are not", "scopes: [CrossNamespacePodAffinity]", "{hard: {pods: '0'}, used: {}}", "", 0, 3, ""},
		"near others' pods": {"they wish to be", "scopes: [CrossNamespacePodAffinity]", "{hard: {pods: '0'}, used: {}}", "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: z, namespaces: [x]}}]}},", 0, 0, "pods"},
		"unheard of":        {"nobody can tell", "scopes: [Weekend]", "{hard: {pods: '0'}, used: {}}", "", 0, 3, "cannot be judged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := taskManager(t, strings.TrimPrefix(tt.pod, "limitless"))
			if tt.pod == "limitless" {
				pod.Spec.Containers[0].Resources.Limits = nil
			}
			j := judgement{need: 3, fits: 3, waiting: tt.waiting, pod: pod}
			j.quota(parseAs[corev1.ResourceQuota](t, "{kind: ResourceQuota, metadata: {name: q}, spec: {"+tt.spec+"}, status: "+tt.status+"}"))
			j.grows = true
			got := j.room()
			if got.Short != (tt.fits < 3) || got.Short && (got.Fits != tt.fits || got.MayGrow) {
				t.Errorf("%s: got %+v, want %d to fit, and nodes to be no help", tt.reason, got, tt.fits)
			}
			if !strings.Contains(got.Note, tt.says) || (tt.says == "") != (got.Note == "") {
				t.Errorf("%s: it says %q, want %q", tt.reason, got.Note, tt.says)
			}
		})
	}
}

func TestLimitRange(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		item   string
		bare   bool
		want   string
	}{
		"within":        {"nothing is refused", "type: Container, max: {cpu: '2'}, min: {cpu: 500m}", false, ""},
		"container":     {"its limit is above", "type: Container, max: {memory: 1Gi}", false, "container main 1Gi of memory at most"},
		"pod":           {"so is the sum", "type: Pod, max: {cpu: '1'}", false, "a TaskManager's pod 1 of cpu at most"},
		"least":         {"its request is below", "type: Container, min: {cpu: 1500m}", false, "1500m of cpu at least"},
		"no limit":      {"a bound needs one", "type: Container, max: {cpu: '9'}", true, "9 of cpu at most"},
		"default":       {"it is given one", "type: Container, max: {cpu: '9'}, default: {cpu: '2'}", true, ""},
		"large default": {"above the bound", "type: Container, max: {cpu: '1'}, default: {cpu: '2'}", true, "1 of cpu at most"},
		"default least": {"it is given one", "type: Container, min: {cpu: 100m}, defaultRequest: {cpu: 100m}", true, ""},
		"claims":        {"not of pods", "type: PersistentVolumeClaim, max: {storage: 1}", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgement{need: 2, fits: 2, pod: taskManager(t, "")}
			if tt.bare {
				j.pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
			}
			j.limit("l", parseAs[corev1.LimitRange](t, "{kind: LimitRange, spec: {limits: [{"+tt.item+"}]}}").Spec.Limits[0])
			got := j.room()
			if got.Short != (tt.want != "") || !strings.Contains(got.Note, tt.want) || got.Fits != 0 {
				t.Errorf("%s: got %+v, want %q", tt.reason, got, tt.want)
			}
		})
	}
}

func TestAdmits(t *testing.T) {
	t.Parallel()
	const zone = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
	for name, tt := range map[string]struct {
		reason    string
		node, pod string
		want      bool
	}{
		"any":                 {"no rules", "{metadata: {name: one}}", "", true},
		"cordoned":            {"nothing new comes there", "{metadata: {name: one}, spec: {unschedulable: true}}", "", false},
		"cordoned, daemon":    {"it tolerates that", "{metadata: {name: one}, spec: {unschedulable: true}}", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}],", true},
		"tainted":             {"it does not tolerate that", "{metadata: {name: one}, spec: {taints: [{key: gpu, value: x, effect: NoSchedule}]}}", "", false},
		"evicting":            {"it would be thrown out", "{metadata: {name: one}, spec: {taints: [{key: gpu, value: x, effect: NoExecute}]}}", "", false},
		"preferred":           {"no must", "{metadata: {name: one}, spec: {taints: [{key: gpu, value: x, effect: PreferNoSchedule}]}}", "", true},
		"tolerated":           {"by value", "{metadata: {name: one}, spec: {taints: [{key: gpu, value: x, effect: NoSchedule}]}}", "tolerations: [{key: gpu, value: x, effect: NoSchedule}],", true},
		"another value":       {"not tolerated", "{metadata: {name: one}, spec: {taints: [{key: gpu, value: x, effect: NoSchedule}]}}", "tolerations: [{key: gpu, value: z}],", false},
		"another effect":      {"not tolerated", "{metadata: {name: one}, spec: {taints: [{key: gpu, value: x, effect: NoExecute}]}}", "tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}],", false},
		"all tolerated":       {"by no key", "{metadata: {name: one}, spec: {taints: [{key: gpu, value: x, effect: NoExecute}]}}", "tolerations: [{operator: Exists}],", true},
		"selected":            {"its labels fit", "{metadata: {name: one, labels: {disk: ssd}}}", "nodeSelector: {disk: ssd},", true},
		"not selected":        {"its labels do not fit", "{metadata: {name: one, labels: {disk: hdd}}}", "nodeSelector: {disk: ssd},", false},
		"in a zone":           {"one of them", "{metadata: {name: one, labels: {zone: b}}}", zone + "{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}]}}},", true},
		"not in a zone":       {"none of them", "{metadata: {name: one, labels: {zone: c}}}", zone + "{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}]}}},", false},
		"one of two terms":    {"terms are alternatives", "{metadata: {name: one, labels: {zone: c}}}", zone + "{matchExpressions: [{key: zone, operator: In, values: [a]}]}, {matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}]}}},", true},
		"both of a term":      {"expressions are not", "{metadata: {name: one, labels: {zone: a}}}", zone + "{matchExpressions: [{key: zone, operator: Exists}, {key: old, operator: Exists}]}]}}},", false},
		"does not exist":      {"a label that is there", "{metadata: {name: one, labels: {old: x}}}", zone + "{matchExpressions: [{key: old, operator: DoesNotExist}]}]}}},", false},
		"greater":             {"a number", "{metadata: {name: one, labels: {gen: '7'}}}", zone + "{matchExpressions: [{key: gen, operator: Gt, values: ['6']}]}]}}},", true},
		"less":                {"a number", "{metadata: {name: one, labels: {gen: '7'}}}", zone + "{matchExpressions: [{key: gen, operator: Lt, values: ['6']}]}]}}},", false},
		"by name":             {"a field", "{metadata: {name: one}}", zone + "{matchFields: [{key: metadata.name, operator: In, values: [one]}]}]}}},", true},
		"by another name":     {"a field", "{metadata: {name: one}}", zone + "{matchFields: [{key: metadata.name, operator: In, values: [two]}]}]}}},", false},
		"an empty term":       {"it fits nothing", "{metadata: {name: one}}", zone + "{}]}}},", false},
		"a bad expression":    {"it fits nothing", "{metadata: {name: one}}", zone + "{matchExpressions: [{key: gen, operator: Gt, values: [x]}]}]}}},", false},
		"only a preference":   {"no must", "{metadata: {name: one}}", "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}]}},", true},
		"an empty toleration": {"it tolerates an empty value of that key", "{metadata: {name: one}, spec: {taints: [{key: gpu, effect: NoSchedule}]}}", "tolerations: [{key: gpu}],", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := parseAs[corev1.Node](t, "{kind: Node, "+strings.TrimPrefix(tt.node, "{"))
			if got := admits(node, taskManager(t, tt.pod)); got != tt.want {
				t.Errorf("%s: got %v", tt.reason, got)
			}
		})
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	node := func(cpu, memory, pods string) freeNode {
		return freeNode{free: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory), "pods": resource.MustParse(pods)}}
	}
	for name, tt := range map[string]struct {
		reason string
		nodes  []freeNode
		fits   int
	}{
		"enough":        {"on one", []freeNode{node("4", "8Gi", "10")}, 3},
		"spread":        {"half a pod here and half there are none", []freeNode{node("1500m", "8Gi", "10"), node("1500m", "8Gi", "10")}, 2},
		"memory":        {"the scarcest counts", []freeNode{node("9", "3Gi", "10")}, 1},
		"pods":          {"so does their number", []freeNode{node("9", "99Gi", "2")}, 2},
		"over-promised": {"less than nothing is free", []freeNode{node("-1", "99Gi", "2")}, 0},
		"no nodes":      {"none", nil, 0},
	} {
		j := judgement{need: 3, fits: 3, pod: taskManager(t, "")}
		j.nodes(tt.nodes)
		if got := j.room(); got.Short != (tt.fits < 3) || got.Short && got.Fits != tt.fits {
			t.Errorf("%s: %s: got %+v, want %d to fit", name, tt.reason, got, tt.fits)
		}
	}
	j := judgement{need: 3, fits: 3, pod: taskManager(t, "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}],")}
	j.nodes([]freeNode{node("9", "99Gi", "9")})
	if got := j.room(); got.Short || !strings.Contains(got.Note, "not looked at") {
		t.Errorf("rules that are not looked at: %+v", got)
	}
}

// TestJudgement: the least of all bounds counts, and nodes help only where nothing
// else forbids.
func TestJudgement(t *testing.T) {
	t.Parallel()
	nodes := func(j *judgement) { j.grows = true; j.atMost(1, "nodes") }
	quota := func(j *judgement) { j.final = true; j.atMost(2, "quota") }
	blind := func(j *judgement) { j.cannotTell("blind") }
	for name, tt := range map[string]struct {
		looks []func(*judgement)
		want  core.Room
	}{
		"nothing": {nil, core.Room{}},
		"unknown": {[]func(*judgement){blind}, core.Room{Note: "blind"}},
		"nodes":   {[]func(*judgement){nodes, blind}, core.Room{Short: true, Fits: 1, MayGrow: true, Note: "3 more TaskManagers are needed and 1 fit: nodes; blind"}},
		"both":    {[]func(*judgement){quota, nodes}, core.Room{Short: true, Fits: 1, Note: "3 more TaskManagers are needed and 1 fit: quota; nodes"}},
	} {
		j := judgement{need: 3, fits: 3}
		for _, look := range tt.looks {
			look(&j)
		}
		if diff := cmp.Diff(tt.want, j.room()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestModel: the size is taken from what runs, not from what waits.
func TestModel(t *testing.T) {
	t.Parallel()
	pod := func(name, phase, at string) corev1.Pod {
		return parseAs[corev1.Pod](t, "{kind: Pod, metadata: {name: "+name+", creationTimestamp: '"+at+"'}, status: {phase: "+phase+"}}")
	}
	got := model([]corev1.Pod{pod("old", "Running", "2026-01-01T00:00:00Z"), pod("new", "Running", "2026-01-02T00:00:00Z"), pod("waits", "Pending", "2026-01-03T00:00:00Z")})
	if got.Name != "new" {
		t.Errorf("got %s", got.Name)
	}
}
