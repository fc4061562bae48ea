//go:build e2e

package kubesim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"flinkscaler/internal/kubelocal/kubetest"
)

// fd is a FlinkDeployment under test.
type fd struct {
	t    *testing.T
	api  *api
	key  name
	port int
	kube *Kubelet
	op   *Operator
}

// startFD makes a FlinkDeployment on the shared plane, its spec merged with what
// is given, and waits until it is stable.
func startFD(t *testing.T, o Options, spec map[string]any) *fd {
	t.Helper()
	ns := kubetest.Namespace(t)
	d := newFD(t, kubetest.Plane(t).Config(), ns)
	d.kube = kubeletFor(t, ns, KubeletOptions{Flink: nimble()})
	d.op = operatorFor(t, ns, o)
	d.create(spec)
	d.awaitLife("STABLE")
	return d
}

func newFD(t *testing.T, config *rest.Config, ns string) *fd {
	t.Helper()
	a, err := newAPI(config, "flinkscaler")
	if err != nil {
		t.Fatal(err)
	}
	return &fd{t: t, api: a, key: name{Namespace: ns, Name: "k1"}, port: port(t)}
}

func (d *fd) create(spec map[string]any) {
	d.t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(manifest(d.t, d.key.Name, d.port)), &o); err != nil {
		d.t.Fatal(err)
	}
	o = ints(o)
	asMap(o["metadata"])["namespace"] = d.key.Namespace
	mergeInto(asMap(o["spec"]), spec)
	if _, err := d.api.create(d.t.Context(), flinkDeployments, runtime.DeepCopyJSON(o)); err != nil {
		d.t.Fatal(err)
	}
}

// mergeInto is a merge patch: nil takes a key away.
func mergeInto(to, from map[string]any) {
	for k, v := range from {
		below, isMap := v.(map[string]any)
		switch {
		case v == nil:
			delete(to, k)
		case isMap && asMap(to[k]) != nil:
			mergeInto(asMap(to[k]), below)
		default:
			to[k] = v
		}
	}
}

func (d *fd) read() *object {
	d.t.Helper()
	o, err := d.api.get(d.t.Context(), flinkDeployments, d.key)
	if err != nil || o == nil {
		d.t.Fatal(o, err)
	}
	return o
}

func (d *fd) status(path ...string) string {
	d.t.Helper()
	return fmt.Sprint(nested(d.read(), append([]string{"status"}, path...)...))
}

func (d *fd) awaitStatus(want string, path ...string) {
	d.t.Helper()
	await(d.t, fmt.Sprint(path, " = ", want), func() bool { return d.status(path...) == want }, func() string {
		return fmt.Sprint(nested(d.read(), "status"))
	})
}

// awaitLife waits for a lifecycle state of the newest generation.
func (d *fd) awaitLife(want string) {
	d.t.Helper()
	await(d.t, "lifecycle "+want, func() bool {
		s, err := d.op.load(d.t.Context(), flinkDeployments, d.key)
		return err == nil && s.observed() == s.o.GetGeneration() && s.status.Lifecycle == want
	}, func() string { return fmt.Sprint(nested(d.read(), "status")) })
}

func (d *fd) patch(spec map[string]any) {
	d.t.Helper()
	if err := d.api.patch(d.t.Context(), flinkDeployments, d.key, map[string]any{"spec": spec}); err != nil {
		d.t.Fatal(err)
	}
}

// override writes the overrides key, with S and W for the ids.
func (d *fd) override(value string) {
	d.t.Helper()
	d.patch(map[string]any{"flinkConfiguration": map[string]any{keyOverrides: vertexIDs(value)}})
}

// awaitFlink waits for bounds and sizes, and gives the job's id.
func (d *fd) awaitFlink(want string) string {
	d.t.Helper()
	job, got := "", ""
	await(d.t, "Flink shows "+want, func() bool {
		job, got = flinkLine(d.t.Context(), flinkAt(d.port))
		return got == want
	}, func() string { return got })
	return job
}

func (d *fd) uid() string {
	d.t.Helper()
	o, err := d.api.get(d.t.Context(), deployments, d.key)
	if err != nil || o == nil {
		d.t.Fatal(o, err)
	}
	return string(o.GetUID())
}

// events are reason=count of all Events on the resource.
func (d *fd) events() string {
	d.t.Helper()
	all, err := d.api.list(d.t.Context(), coreEvents, d.key.Namespace, "")
	if err != nil {
		d.t.Fatal(err)
	}
	var out []string
	for i := range all {
		if line := eventLine(&all[i]); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, ", ")
}

func flinkConf(pairs ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"flinkConfiguration": m}
}

// TestFullUpgradeIsStaleAtFirst: the stop runs while the resource still says
// STABLE, of the generation before.
func TestFullUpgradeIsStaleAtFirst(t *testing.T) {
	t.Parallel()
	d := startFD(t, Options{StaleFor: 2 * time.Second}, flinkConf(keyOverrides, vertexIDs("S:1,W:2")))
	job, uid := d.awaitFlink("S:1..1=1 W:1..2=2"), d.uid()
	d.override("S:1")
	await(t, "the job stopped", func() bool {
		all, err := flinkAt(d.port).jobs(t.Context())
		return err == nil && len(all) == 1 && all[0].State == jobFinished
	}, d.events)
	if d.status("lifecycleState") != "STABLE" || d.status("jobStatus", "state") != jobRunning || d.status("observedGeneration") != "1" {
		t.Errorf("nothing may show yet: %v", nested(d.read(), "status"))
	}
	d.awaitLife("STABLE")
	if next := d.awaitFlink("S:1..1=1 W:1..1=1"); next == job || d.uid() == uid {
		t.Error("a full upgrade makes another job and another Deployment")
	}
	if d.status("jobStatus", "upgradeSavepointPath") == "" {
		t.Error("where the state was is not shown")
	}
}

// TestWaysToUpgrade changes a key that Flink reads at its start only.
func TestWaysToUpgrade(t *testing.T) {
	t.Parallel()
	upgradeMode := func(mode, ha string) map[string]any {
		spec := flinkConf("high-availability.type", ha, "execution.checkpointing.interval", "200ms")
		spec["job"] = map[string]any{"upgradeMode": mode}
		return spec
	}
	tests := map[string]struct {
		reason        string
		spec          map[string]any
		sameJob, kept bool
	}{
		"savepoint":  {"the state goes with it", upgradeMode(savepoint, "NONE"), false, true},
		"stateless":  {"the job begins with nothing", upgradeMode(stateless, "NONE"), false, false},
		"last-state": {"HA keeps job and state", upgradeMode(lastState, "kubernetes"), true, true},
	}
	for called, tt := range tests {
		t.Run(called, func(t *testing.T) {
			t.Parallel()
			d := startFD(t, Options{}, tt.spec)
			job := d.awaitFlink("S:1..1=1 W:1..1=1")
			d.patch(flinkConf("web.refresh-interval", "1234"))
			d.awaitLife("STABLE")
			next := d.awaitFlink("S:1..1=1 W:1..1=1")
			if (next == job) != tt.sameJob {
				t.Errorf("%s: job %s after %s", tt.reason, next, job)
			}
			var checkpoints struct {
				Counts struct {
					Restored int `json:"restored"`
				} `json:"counts"`
			}
			if err := flinkAt(d.port).ask(t.Context(), "GET", "/jobs/"+next+"/checkpoints", nil, &checkpoints); err != nil {
				t.Fatal(err)
			}
			if restored := checkpoints.Counts.Restored > 0; restored != tt.kept {
				t.Errorf("%s: restored %t", tt.reason, restored)
			}
		})
	}
}

// TestKilledJobManager: the resource stays STABLE and READY while the job is
// RECONCILING, and with HA the requirements come back.
func TestKilledJobManager(t *testing.T) {
	t.Parallel()
	d := startFD(t, Options{}, flinkConf("high-availability.type", "kubernetes", "execution.checkpointing.interval", "200ms", keyOverrides, vertexIDs("S:1,W:2")))
	d.override("S:1,W:3")
	job := d.awaitFlink("S:1..1=1 W:1..3=3")
	d.awaitLife("STABLE")
	d.kube.KillJobManager(d.key.Namespace, "k1", 3*time.Second)
	d.awaitStatus(jobReconciling, "jobStatus", "state")
	if d.status("lifecycleState") != "STABLE" || d.status("jobManagerDeploymentStatus") != managerReady {
		t.Errorf("while it is away: %v", nested(d.read(), "status"))
	}
	d.awaitStatus(jobRunning, "jobStatus", "state")
	if next := d.awaitFlink("S:1..1=1 W:1..3=3"); next != job {
		t.Errorf("job %s became %s", job, next)
	}
}

// TestFaults are the ways in which the operator does not do what it is asked.
func TestFaults(t *testing.T) {
	t.Parallel()
	d := startFD(t, Options{}, flinkConf(keyOverrides, vertexIDs("S:1,W:2")))
	ns := d.key.Namespace

	d.op.SetFault(ns, "k1", Fault{Error: "quota exceeded"})
	d.override("S:1,W:3")
	d.awaitStatus("quota exceeded", "error")
	await(t, "an Event of the error", func() bool { return strings.Contains(d.events(), "Error 1") }, d.events)
	if d.status("observedGeneration") != "1" {
		t.Errorf("an error is no observation: %v", nested(d.read(), "status"))
	}
	d.op.SetFault(ns, "k1", Fault{})
	d.awaitFlink("S:1..1=1 W:1..3=3")
	d.awaitLife("STABLE")

	d.op.SetFault(ns, "k1", Fault{RollBack: true})
	d.override("S:1,W:4")
	d.awaitLife(rolledBackState)
	d.awaitFlink("S:1..1=1 W:1..3=3")
	d.override("S:1,W:5")
	d.awaitLife("STABLE")
	d.awaitFlink("S:1..1=1 W:1..5=5")

	for reason, away := range map[string]func(bool){
		"ignored": func(on bool) { d.op.SetFault(ns, "k1", Fault{Ignore: on}) },
		"halted":  d.op.Halt,
	} {
		generation := d.read().GetGeneration()
		away(true)
		d.override(fmt.Sprintf("S:1,W:%d", 6-generation%2))
		before := d.op.passedBy(d.key)
		await(t, "it came by", func() bool { return d.op.passedBy(d.key) > before+5 }, d.events)
		if d.status("observedGeneration") != fmt.Sprint(generation) {
			t.Errorf("%s: the generation was observed", reason)
		}
		away(false)
		d.awaitLife("STABLE")
	}

	begin := time.Now()
	d.op.SetFault(ns, "k1", Fault{Delay: 2 * time.Second})
	d.override("S:1,W:2")
	d.awaitLife("STABLE")
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestSuspendedDeployment stops for good, and starts where it was.
func TestSuspendedDeployment(t *testing.T) {
	t.Parallel()
	d := startFD(t, Options{}, nil)
	d.patch(map[string]any{"job": map[string]any{"state": "suspended"}})
	d.awaitLife("SUSPENDED")
	if d.status("jobStatus", "state") != jobFinished || d.status("taskManager", "labelSelector") != "" {
		t.Errorf("suspended: %v", nested(d.read(), "status"))
	}
	d.patch(map[string]any{"job": map[string]any{"state": "running"}})
	d.awaitLife("STABLE")
	d.awaitFlink("S:1..1=1 W:1..1=1")
}

// TestNativeWithDefaultScheduler: what would be in place is a full upgrade.
func TestNativeWithDefaultScheduler(t *testing.T) {
	t.Parallel()
	d := startFD(t, Options{}, map[string]any{"flinkConfiguration": map[string]any{keyScheduler: nil}})
	uid := d.uid()
	d.override("S:1,W:3")
	d.awaitLife("STABLE")
	await(t, "3 subtasks", func() bool {
		v := d.kube.Cluster(d.key.Namespace, "k1").Views()
		return len(v) == 1 && v[0].Vertices[1].Parallelism == 3
	}, d.events)
	if d.uid() == uid || !strings.Contains(d.events(), "Suspended 1") {
		t.Errorf("no full upgrade: %s", d.events())
	}
}

// TestReplicasOfNativeDeployment: the scale subresource cannot be read while
// there is no number, yet a patch makes one, and that redeploys everything.
func TestReplicasOfNativeDeployment(t *testing.T) {
	t.Parallel()
	d := startFD(t, Options{}, flinkConf(keySlots, "2"))
	uid := d.uid()
	scales := d.api.Resource(flinkDeployments).Namespace(d.key.Namespace)
	if _, err := scales.Get(t.Context(), "k1", metav1.GetOptions{}, "scale"); err == nil {
		t.Error("scale was read without a number")
	}
	if err := d.api.patch(t.Context(), flinkDeployments, d.key, replicasTo(3), "scale"); err != nil {
		t.Fatal(err)
	}
	d.awaitLife("STABLE")
	d.awaitFlink("S:1..6=6 W:1..6=6")
	if d.uid() == uid || d.status("taskManager", "replicas") != "3" {
		t.Errorf("no full upgrade: %v", nested(d.read(), "status"))
	}
}

// TestStandaloneReactive: TaskManagers are a Deployment, and /scale is all that
// is needed.
func TestStandaloneReactive(t *testing.T) {
	t.Parallel()
	spec := flinkConf("scheduler-mode", "reactive", keySlots, "2")
	mergeInto(spec, map[string]any{"mode": "standalone", "taskManager": map[string]any{"replicas": int64(1)}})
	mergeInto(spec, map[string]any{"flinkConfiguration": map[string]any{keyScheduler: nil}})
	d := startFD(t, Options{}, spec)
	job, uid := d.awaitFlink("S:1..128=2 W:1..128=2"), d.uid()
	if err := d.api.patch(t.Context(), flinkDeployments, d.key, replicasTo(3), "scale"); err != nil {
		t.Fatal(err)
	}
	d.awaitLife("STABLE")
	if next := d.awaitFlink("S:1..128=6 W:1..128=6"); next != job || d.uid() != uid {
		t.Error("Flink reacts by itself, nothing is redeployed")
	}
	if d.status("taskManager", "replicas") != "3" {
		t.Errorf("status: %v", nested(d.read(), "status"))
	}
}

// TestInvalidSpec is not applied; what was before runs on.
func TestInvalidSpec(t *testing.T) {
	t.Parallel()
	d := startFD(t, Options{}, nil)
	d.patch(flinkConf("kubernetes.cluster-id", "mine"))
	d.awaitStatus("Forbidden Flink config key: kubernetes.cluster-id", "error")
	await(t, "an Event of the error", func() bool { return strings.Contains(d.events(), "ValidationError 1") }, d.events)
	if d.status("observedGeneration") != "1" {
		t.Errorf("observed: %v", nested(d.read(), "status"))
	}
}
