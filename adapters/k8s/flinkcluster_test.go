package k8s

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"flinkscaler/core"
)

// made reads an object from its manifest.
func made(t *testing.T, manifest string) *object {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return &object{o}
}

// madeCluster is a FlinkCluster with this spec and status.
func madeCluster(t *testing.T, spec, status string) *object {
	t.Helper()
	return made(t, "{apiVersion: flinkoperator.k8s.io/v1beta1, kind: FlinkCluster, metadata: {name: orders}, spec: "+spec+", status: "+status+"}")
}

func TestUpdateOfAFlinkClusterThatLosesState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, job, want string }{
		"safe":         {"a savepoint is taken by default", "{savepointsDir: s3://x}", ""},
		"said so":      {"or said so", "{savepointsDir: s3://x, takeSavepointOnUpdate: true}", ""},
		"no place":     {"the operator would refuse it", "{}", "savepointsDir"},
		"none taken":   {"state goes back to an old savepoint", "{savepointsDir: s3://x, takeSavepointOnUpdate: false}", "takeSavepointOnUpdate"},
		"from another": {"it begins there each time", "{savepointsDir: s3://x, fromSavepoint: s3://x/1}", "fromSavepoint"},
		"ending":       {"the user ends it", "{savepointsDir: s3://x, cancelRequested: true}", "cancelRequested"},
	} {
		m := clusterJob{view: &view{object: madeCluster(t, "{job: "+c.job+"}", "{}")}}
		got := m.lossy()
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s (%s): %q, want %q", name, c.reason, got, c.want)
		}
	}
}

func TestRevisionOfAFlinkCluster(t *testing.T) {
	t.Parallel()
	settled := "revision: {currentRevision: orders-a-1, nextRevision: orders-a-1}"
	ready := "components: {taskManager: {state: Ready, replicas: 3, readyReplicas: 3}}"
	for name, c := range map[string]struct {
		reason, status, before, busy, waits string
	}{
		"settled":     {"all done", "{" + settled + ", " + ready + "}", "", "", ""},
		"new":         {"the operator has not looked yet", "{}", "", "not shown", "not shown"},
		"under way":   {"not the current one yet", "{revision: {currentRevision: orders-a-1, nextRevision: orders-b-2}, " + ready + "}", "", "on its way", "on its way"},
		"unseen":      {"right after a patch both are the old one", "{" + settled + ", " + ready + "}", "orders-a-1", "not seen", "not seen"},
		"later":       {"what was before our change is not any more", "{" + settled + ", " + ready + "}", "orders-z-0", "", ""},
		"fewer":       {"the workload has not begun yet", "{" + settled + ", components: {taskManager: {state: Ready, replicas: 2, readyReplicas: 2}}}", "", "", "2 of 3"},
		"more":        {"some have yet to go", "{" + settled + ", components: {taskManager: {state: Ready, replicas: 4, readyReplicas: 4}}}", "", "", "4 of 3"},
		"not ready":   {"pods start", "{" + settled + ", components: {taskManager: {state: NotReady, replicas: 3, readyReplicas: 2}}}", "", "", "2 of 3"},
		"by the word": {"numbers are there, the operator is not content", "{" + settled + ", components: {taskManager: {state: Updating, replicas: 3, readyReplicas: 3}}}", "", "", "Updating"},
	} {
		o := madeCluster(t, "{taskManager: {replicas: 3}}", c.status)
		if c.before != "" {
			o.SetAnnotations(map[string]string{AnnotationRevision: c.before})
		}
		r := revised{o}
		got, err := r.come(t.Context(), pool{asked: 3})
		if busy := r.busy(); (busy == "") != (c.busy == "") || !strings.Contains(busy, c.busy) {
			t.Errorf("%s (%s): busy %q, want %q", name, c.reason, busy, c.busy)
		}
		if err != nil || got.Done != (c.waits == "") || !strings.Contains(got.Note, c.waits) {
			t.Errorf("%s (%s): %+v %v, want %q", name, c.reason, got, err, c.waits)
		}
	}
}

func TestPatchOfAFlinkClusterJob(t *testing.T) {
	t.Parallel()
	m := clusterJob{view: &view{}, sized: sized{slots: 2, topology: graphOf([]int{2, 2, 2}, []int{128, 128, 3}, "x", "y", "y")}}
	for name, c := range map[string]struct {
		reason      string
		parallelism int
		want        int
	}{
		"one":  {"two groups need two slots", 1, 1},
		"half": {"six slots", 3, 3},
		"odd":  {"five and five slots: five TaskManagers", 5, 5},
	} {
		got, err := m.patch(c.parallelism)
		managers, _ := got["taskManager"].(map[string]any)
		job, _ := got["job"].(map[string]any)
		if err != nil || managers["replicas"] != c.want || job["parallelism"] != c.parallelism {
			t.Errorf("%s (%s): %v %v, want %d replicas", name, c.reason, got, err, c.want)
		}
	}
	m.view, m.pool = &view{target: core.KubernetesTarget{Mode: core.ModeFollow}}, pool{asked: 9, there: 3}
	if got, err := m.patch(3); err != nil || got["taskManager"] != nil {
		t.Errorf("following: %v %v, want TaskManagers left alone", got, err)
	}
	if got, err := m.patch(4); err == nil {
		t.Errorf("following, more than the slots that are there: %v", got)
	}
}

func TestSessionFlinkCluster(t *testing.T) {
	t.Parallel()
	adaptiveHA := map[string]string{"jobmanager.scheduler": "adaptive", "high-availability.type": "kubernetes"}
	for name, c := range map[string]struct {
		reason  string
		allowed bool
		spec    string
		options map[string]string
		want    string
	}{
		"by default":    {"jobs could be lost", false, "{recreateOnUpdate: false}", adaptiveHA, "sessionTaskManagers"},
		"allowed":       {"the key, HA, and nothing made anew", true, "{recreateOnUpdate: false}", adaptiveHA, ""},
		"made anew":     {"the operator's default", true, "{}", adaptiveHA, "recreateOnUpdate"},
		"no HA":         {"a restarted JobManager knows of no jobs", true, "{recreateOnUpdate: false}", map[string]string{"jobmanager.scheduler": "adaptive"}, "HA"},
		"HA of no kind": {"off is off", true, "{recreateOnUpdate: false}", map[string]string{"jobmanager.scheduler": "adaptive", "high-availability": "NONE"}, "HA"},
		"not adaptive":  {"nothing can change a job there", true, "{recreateOnUpdate: false}", map[string]string{"high-availability": "zookeeper"}, "adaptive"},
	} {
		v := &view{object: madeCluster(t, c.spec, "{}"), cluster: &Cluster{cfg: Config{SessionTaskManagers: c.allowed}}}
		m, err := clusterSessionMethod(t.Context(), v, pool{}, c.options)
		if err != nil {
			t.Fatal(err)
		}
		got := m.means()
		if (got.Refused == "") != (c.want == "") || !strings.Contains(got.Refused, c.want) {
			t.Errorf("%s (%s): refused %q, want %q", name, c.reason, got.Refused, c.want)
		}
		if c.want == "" && (!got.Trims || !got.Elastic) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
