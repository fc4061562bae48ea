//go:build e2e

package k8s

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
)

// floor is a bench with a simulated Flink behind every Service: one TaskManager of
// 4 slots, and a job that holds 2 of them.
type floor struct {
	bench
	sim *flinksim.Cluster
	cfg Config
}

func newFloor(t *testing.T, manifests ...string) floor {
	t.Helper()
	sim := flinksim.New(flinksim.Options{SlotsPerTaskManager: 4, Slots: 4})
	url, err := sim.Start()
	must(t, err)
	t.Cleanup(sim.Close)
	sim.AddJob(flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500)})
	f := floor{bench: newBench(t, manifests...), sim: sim}
	f.cfg = Config{REST: kubetest.Plane(t).Config(), Address: func(string, string, int) string { return strings.TrimPrefix(url, "http://") }}
	f.Cluster = clusterAs(t, f.cfg)
	return f
}

// at finds the job behind an object.
func (f floor) at(t *testing.T, kind, name string) core.JobRef {
	t.Helper()
	var job core.JobRef
	target := core.KubernetesTarget{Namespace: f.namespace, Kind: kind, Name: name}
	if kind == core.KindDeployment || kind == core.KindStatefulSet {
		target.Service = "jobmanager"
	}
	await(t, "the job", func(ctx context.Context) (string, bool, error) {
		var err error
		job, err = f.Locate(ctx, core.Target{Kubernetes: &target})
		if err != nil {
			return err.Error(), false, nil
		}
		status, err := f.Status(ctx, job)
		return fmt.Sprint(status.State, err), err == nil && status.AllTasksRunning(), nil
	})
	return job
}

// wish is every vertex at n: with 4 slots a TaskManager, 12 takes three.
func (f floor) wish(t *testing.T, job core.JobRef, n int) core.Requirements {
	t.Helper()
	status, err := f.Status(t.Context(), job)
	must(t, err)
	var r core.Requirements
	for _, v := range status.Topology.Vertices {
		r = append(r, core.Bounds{ID: v.ID, Lower: 1, Upper: n})
	}
	return r
}

func (f floor) room(t *testing.T, job core.JobRef, n int) core.Room {
	t.Helper()
	got, err := f.Fits(t.Context(), job, f.wish(t, job, n))
	must(t, err)
	return got
}

// wantRoom waits until the judgement is as wanted: quotas are counted with a delay.
func (f floor) wantRoom(t *testing.T, when string, job core.JobRef, n int, want func(core.Room) bool) {
	t.Helper()
	await(t, when, func(ctx context.Context) (string, bool, error) {
		got, err := f.Fits(ctx, job, f.wish(t, job, n))
		return fmt.Sprintf("%+v", got), want(got), err
	})
}

func (f floor) wantWhy(t *testing.T, when string, job core.JobRef, n int, reason core.Reason, words ...string) {
	t.Helper()
	await(t, when, func(ctx context.Context) (string, bool, error) {
		v, err := f.open(ctx, job)
		if err != nil {
			return "", false, err
		}
		got, note := v.whyNoPods(ctx, f.wish(t, job, n))
		for _, w := range words {
			if !strings.Contains(note, w) {
				return note, false, nil
			}
		}
		return note, got == reason && (note == "") == (reason == ""), nil
	})
}

const quota = `
apiVersion: v1
kind: ResourceQuota
metadata: {name: team}
spec: {hard: {requests.cpu: 2500m, pods: "10"}}
`

const template = `selector: {matchLabels: {app: workers}}, template: {metadata: {labels: {app: workers}}, spec: {containers: [{name: flink, image: flink, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {memory: 1Gi}}}]}}`

// TestRealQuota: what the API server's own count leaves is told before, and what
// it refused afterwards.
func TestRealQuota(t *testing.T) {
	for kind, manifest := range map[string]string{
		core.KindDeployment:  "{apiVersion: apps/v1, kind: Deployment, metadata: {name: workers}, spec: {replicas: 1, " + template + "}}",
		core.KindStatefulSet: "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: workers}, spec: {serviceName: x, podManagementPolicy: Parallel, replicas: 1, " + template + "}}",
	} {
		t.Run(kind, func(t *testing.T) {
			f := newFloor(t, quota, manifest)
			job := f.at(t, kind, "workers")
			f.wantRoom(t, "no room for two more", job, 12, func(r core.Room) bool {
				return r.Short && r.Fits == 1 && !r.MayGrow && strings.Contains(r.Note, "ResourceQuota team leaves 1500m of requests.cpu")
			})
			if got := f.room(t, job, 8); got.Short {
				t.Errorf("one more: %+v", got)
			}
			if got := f.room(t, job, 4); got != (core.Room{}) {
				t.Errorf("none more: %+v", got)
			}
			f.wantWhy(t, "nothing is missing", job, 4, "")
			f.write(t, "someone", types.MergePatchType, kinds[kind].resource(), "workers", `{"spec":{"replicas":3}}`, "scale")
			f.wantWhy(t, "the quota's words", job, 12, core.ReasonNoRoom, kind+" workers", "exceeded quota: team")
			carried, err := f.Carried(t.Context(), job, f.wish(t, job, 12))
			must(t, err)
			if carried.Done || carried.Reason != core.ReasonNoRoom || !strings.Contains(carried.Note, "exceeded quota") {
				t.Errorf("the rescale shows %+v", carried)
			}
			f.wantRoom(t, "one waits and is counted already", job, 12, func(r core.Room) bool { return r.Short && r.Fits == 1 })
			f.apply(t, strings.ReplaceAll(quota, "2500m", "9"))
			f.wantRoom(t, "room by a larger quota", job, 12, func(r core.Room) bool { return !r.Short })
		})
	}
}

// TestRealLimitRange: what was let in before would not be let in now.
func TestRealLimitRange(t *testing.T) {
	f := newFloor(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: workers}, spec: {replicas: 1, "+template+"}}")
	job := f.at(t, core.KindDeployment, "workers")
	f.wantRoom(t, "room", job, 12, func(r core.Room) bool { return r == core.Room{Note: "nodes are not looked at"} })
	f.apply(t, "{apiVersion: v1, kind: LimitRange, metadata: {name: small}, spec: {limits: [{type: Container, max: {memory: 512Mi}}]}}")
	if got := f.room(t, job, 12); !got.Short || got.Fits != 0 || !strings.Contains(got.Note, "LimitRange small allows container flink 512Mi of memory at most") {
		t.Errorf("got %+v", got)
	}
}

// pod is a TaskManager's pod of the FlinkDeployment orders.
func pod(name, more string) string {
	return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", labels: {app: orders, component: taskmanager}}, spec: {" + more +
		" containers: [{name: flink, image: flink, resources: {requests: {cpu: '1', memory: 1Gi}, limits: {memory: 1Gi}}}]}}"
}

// TestRealPodsOfFlink: where Flink starts its TaskManagers only the JobManager is
// told that the quota forbids it; the quota itself shows it, too.
func TestRealPodsOfFlink(t *testing.T) {
	f := newFloor(t, nativeJob, quota, pod("orders-taskmanager-1-1", ""), pod("orders-taskmanager-1-2", ""))
	job := f.at(t, core.KindFlinkDeployment, "orders")
	f.wantWhy(t, "the quota is used up", job, 12, core.ReasonNoRoom, "no further TaskManager is let in", "ResourceQuota team leaves 500m")
	status := func(body string) {
		f.write(t, "kubelet", types.MergePatchType, podResource(), "orders-taskmanager-1-2", `{"status":`+body+`}`, "status")
	}
	status(`{"containerStatuses":[{"name":"flink","image":"flink","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]}`)
	f.wantWhy(t, "an image that is not there", job, 12, core.ReasonNoSlots, "orders-taskmanager-1-2 does not start, container flink is in ImagePullBackOff: no such image")
	status(`{"containerStatuses":null,"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available: 3 Insufficient cpu."}]}`)
	f.wantWhy(t, "no node", job, 12, core.ReasonNoRoom, "orders-taskmanager-1-2 fits on no node: 0/3 nodes are available")
	uid := string(f.read(t, podResource(), "orders-taskmanager-1-2").GetUID())
	f.apply(t, "{apiVersion: v1, kind: Event, metadata: {name: grow}, type: Normal, reason: TriggeredScaleUp, message: 'pod triggered scale-up', source: {component: cluster-autoscaler}, "+
		"firstTimestamp: '2026-11-30T10:00:00Z', lastTimestamp: '2026-11-30T10:00:00Z', involvedObject: {apiVersion: v1, kind: Pod, name: orders-taskmanager-1-2, namespace: "+f.namespace+", uid: "+uid+"}}")
	f.wantWhy(t, "a node to come", job, 12, core.ReasonNoRoom, "a node is being added")
}

// node is a node with room for a pod or two besides what stands on it.
func node(t *testing.T, name, more, cpu string) {
	t.Helper()
	plane := kubetest.Plane(t)
	must(t, plane.Apply(t.Context(), "", "{apiVersion: v1, kind: Node, metadata: {name: "+name+"}, spec: {"+more+"}}"))
	t.Cleanup(func() {
		must(t, plane.Clientset().CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}))
	})
	patch := func(body string, subresource ...string) {
		_, err := plane.Clientset().CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{}, subresource...)
		must(t, err)
	}
	patch(`{"status":{"allocatable":{"cpu":"`+cpu+`","memory":"16Gi","pods":"20"}}}`, "status")
	patch(`{"spec":{"taints":null}}`) // a new node is not ready at first
}

// TestRealNodes: nodes are judged by what is requested of them; where some are
// added, too little room is only a wait.
func TestRealNodes(t *testing.T) {
	f := newFloor(t, nativeJob)
	node(t, "one", "", "2500m")
	node(t, "cordoned", "unschedulable: true", "9")
	f.apply(t, pod("orders-taskmanager-1-1", "nodeName: one,"))
	job := f.at(t, core.KindFlinkDeployment, "orders")
	f.cfg.Nodes = true
	f.Cluster = clusterAs(t, f.cfg)
	if got := f.room(t, job, 12); !got.Short || got.Fits != 1 || got.MayGrow || !strings.Contains(got.Note, "the nodes have room for 1") {
		t.Errorf("got %+v", got)
	}
	if got := f.room(t, job, 8); got != (core.Room{}) {
		t.Errorf("one more: %+v", got)
	}
	install(t, strings.ReplaceAll(extension("karpenter.sh", "v1", "NodePool", "nodepools"), "Namespaced", "Cluster"))
	must(t, kubetest.Plane(t).Apply(t.Context(), "", "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}}"))
	if got := f.room(t, job, 12); !got.Short || got.Fits != 1 || !got.MayGrow {
		t.Errorf("with Karpenter: %+v", got)
	}
}

// TestRoomThatMayNotBeSeen: what is not known is said, and is no lack of room.
func TestRoomThatMayNotBeSeen(t *testing.T) {
	f := newFloor(t, nativeJob, pod("orders-taskmanager-1-1", ""))
	job, wish := f.at(t, core.KindFlinkDeployment, "orders"), core.Requirements(nil)
	wish = f.wish(t, job, 12)
	const read = `{apiGroups: [flink.apache.org], resources: [flinkdeployments], verbs: [get]}`
	for rules, want := range map[string]string{
		read: "whether there is room is not known: the worker may not list pods",
		read + `, {apiGroups: [""], resources: [pods], verbs: [list]}`: "the worker may not list resourcequotas; the worker may not list limitranges; the worker may not list nodes, or the pods of all namespaces",
	} {
		worker := f.as(t, rules)
		cfg := f.cfg
		cfg.REST, cfg.Nodes = worker.rest, true
		cluster := clusterAs(t, cfg)
		await(t, want, func(ctx context.Context) (string, bool, error) {
			got, err := cluster.Fits(ctx, job, wish)
			if errors.Is(err, core.ErrUnauthorized) {
				return err.Error(), false, nil // the Role is not in force yet
			}
			return fmt.Sprintf("%+v", got), got == core.Room{Note: want}, err
		})
	}
}
