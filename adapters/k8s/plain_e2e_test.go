//go:build e2e

package k8s_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/activities/porttest"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
)

// jobManager is one without an operator: an application cluster where KIND is
// standalone-job, a session cluster where it is jobmanager. OPTIONS are more lines
// of its configuration.
const jobManager = `
apiVersion: v1
kind: ConfigMap
metadata: {name: flink-config}
data:
  flink-conf.yaml: |
    rest.port: PORT
    taskmanager.numberOfTaskSlots: 2
    parallelism.default: 2
    OPTIONS
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: flink-jobmanager, labels: {app: flink, component: jobmanager}}
spec:
  selector: {matchLabels: {app: flink, component: jobmanager}}
  template:
    metadata: {labels: {app: flink, component: jobmanager}}
    spec:
      containers: [{name: jobmanager, image: "flink:1.20", args: [KIND]}]
      volumes: [{name: config, configMap: {name: flink-config}}]
---
apiVersion: v1
kind: Service
metadata: {name: flink}
spec: {selector: {app: flink, component: jobmanager}, ports: [{name: rest, port: 8081}]}
`

const (
	application = "standalone-job"
	session     = "jobmanager"
	inReactive  = "scheduler-mode: reactive"
	inAdaptive  = "jobmanager.scheduler: adaptive"
)

func jobManagerOf(kind, options string) string {
	return strings.NewReplacer("KIND", kind, "OPTIONS", options).Replace(jobManager)
}

// taskManagers is a workload of that kind.
func taskManagers(kind string, replicas int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: %s
metadata: {name: flink-taskmanager, labels: {app: flink, component: taskmanager}}
spec:
  replicas: %d
  selector: {matchLabels: {app: flink, component: taskmanager}}
  template:
    metadata: {labels: {app: flink, component: taskmanager}}
    spec: {containers: [{name: taskmanager, image: "flink:1.20", args: [taskmanager]}]}
`, kind, replicas)
}

const workersName = "flink-taskmanager"

// TestReactiveWorkloadKeepsTheContract: TaskManagers of a StatefulSet, and a job that
// takes all their slots.
func TestReactiveWorkloadKeepsTheContract(t *testing.T) {
	s := newSite(t, ordersJob)
	s.apply(jobManagerOf(application, inReactive), taskManagers(core.KindStatefulSet, 1))
	target := s.target(core.KindStatefulSet, workersName)
	s.found(target, 2)
	porttest.Run(t, s.harness("flink", target, core.Means{Uniform: true, Step: 2, Elastic: true}))
}

// TestAdaptiveWorkloadKeepsTheContract: TaskManagers of a Deployment, and a job whose
// vertices have sizes of their own.
func TestAdaptiveWorkloadKeepsTheContract(t *testing.T) {
	s := newSite(t, ordersJob)
	s.apply(jobManagerOf(application, inAdaptive), taskManagers(core.KindDeployment, 2))
	target := s.target(core.KindDeployment, workersName)
	s.found(target, 2)
	porttest.Run(t, s.harness("flink", target, core.Means{Elastic: true}))
}

// TestFollowingKeepsTheContract: something else scales the Deployment, and only
// requirements are ours.
func TestFollowingKeepsTheContract(t *testing.T) {
	s := newSite(t, ordersJob)
	s.apply(jobManagerOf(application, inAdaptive), taskManagers(core.KindDeployment, 2))
	target := s.target(core.KindDeployment, workersName, following)
	s.found(target, 2)
	h := s.harness("flink", target, core.Means{Uniform: true, Step: 1})
	porttest.Run(t, h)
}

// TestReactiveWorkloadScales: up and down by replicas alone, once for each change.
func TestReactiveWorkloadScales(t *testing.T) {
	for kind, resource := range map[string]struct{ resource string }{core.KindDeployment: {"deployments"}, core.KindStatefulSet: {"statefulsets"}} {
		t.Run(resource.resource, func(t *testing.T) {
			s := newSite(t, ordersJob)
			s.apply(jobManagerOf(application, inReactive), taskManagers(kind, 1))
			target := s.target(kind, workersName)
			gvr := deployments
			if kind == core.KindStatefulSet {
				gvr = statefulSets
			}
			for _, size := range []int{6, 6, 2} {
				ref := s.found(target, s.size(target))
				s.want(ref, size)
				s.found(target, size)
				s.carried(target, size)
				if got := text(s.get(gvr, workersName), "spec", "replicas"); got != fmt.Sprint(size/2) {
					t.Errorf("%s replicas for %d slots", got, size)
				}
			}
			if g := s.get(gvr, workersName).GetGeneration(); g != 3 {
				t.Errorf("%d generations: two changes are two writes", g-1)
			}
			s.managedBy(gvr, workersName, "scale")
		})
	}
}

// size is the parallelism that the job runs at now.
func (s *site) size(target core.Target) int {
	s.t.Helper()
	n := 0
	s.await("the job to run", func(ctx context.Context) (string, bool) {
		ref, err := s.Locate(ctx, target)
		if err != nil {
			return err.Error(), false
		}
		status, err := s.Status(ctx, ref)
		if err != nil || !status.AllTasksRunning() {
			return fmt.Sprint(status.State, err), false
		}
		n = status.Topology.Vertices[0].Parallelism
		return "", true
	})
	return n
}

// want asks for one size of all vertices.
func (s *site) want(ref core.JobRef, size int) {
	s.t.Helper()
	held, err := s.Wanted(s.t.Context(), ref)
	s.ok(err)
	for i := range held {
		held[i].Upper = size
	}
	s.await("the change to be taken", func(ctx context.Context) (string, bool) {
		err := s.Want(ctx, ref, "d7", held)
		if err != nil && !errors.Is(err, core.ErrBusy) {
			s.t.Fatal(err)
		}
		return fmt.Sprint(err), err == nil
	})
}

// carried waits until nothing is outstanding between us and Flink.
func (s *site) carried(target core.Target, size int) {
	s.t.Helper()
	s.await("the change to be carried out", func(ctx context.Context) (string, bool) {
		ref, err := s.Locate(ctx, target)
		if err != nil {
			return err.Error(), false
		}
		r, err := s.Wanted(ctx, ref)
		if err != nil {
			return err.Error(), false
		}
		for i := range r {
			r[i].Upper = size
		}
		got, err := s.Carried(ctx, ref, r)
		return fmt.Sprintf("%+v %v", got, err), err == nil && got.Done
	})
}

// managedBy checks that a write of ours can be told by its mark.
func (s *site) managedBy(gvr schema.GroupVersionResource, name, subresource string) {
	s.t.Helper()
	for _, m := range s.get(gvr, name).GetManagedFields() {
		if m.Manager == "flinkscaler" && m.Subresource == subresource {
			return
		}
	}
	s.t.Errorf("no field of %s is managed by flinkscaler through %q", name, subresource)
}

// TestAdaptiveWorkloadScales: on the way up TaskManagers come first, on the way down
// they go last, those that hold no task, and never one that does.
func TestAdaptiveWorkloadScales(t *testing.T) {
	for kind, gvr := range map[string]schema.GroupVersionResource{core.KindDeployment: deployments, core.KindStatefulSet: statefulSets} {
		t.Run(kind, func(t *testing.T) {
			s := newSite(t, ordersJob)
			s.apply(jobManagerOf(application, inAdaptive), taskManagers(kind, 1))
			target := s.target(kind, workersName)
			ref := s.found(target, 2)
			s.want(ref, 6)
			s.replicas(gvr, 3)
			s.found(target, 6)
			s.carried(target, 6)
			if text, err := s.Trim(t.Context(), ref, "d8"); err != nil || text != "" {
				t.Errorf("nothing to give back: %q %v", text, err)
			}
			s.want(ref, 2)
			s.replicas(gvr, 3)
			s.found(target, 2)
			before := s.since(ref)
			if text := s.trimmed(ref); !strings.Contains(text, "2 of 3") {
				t.Errorf("it says %q", text)
			}
			s.replicas(gvr, 1)
			s.await("one TaskManager", func(ctx context.Context) (string, bool) {
				slots, err := s.Slots(ctx, ref)
				return fmt.Sprint(slots, err), err == nil && slots.Total == 2
			})
			if after := s.since(ref); after != before {
				t.Errorf("running since %s, before TaskManagers went since %s: one with tasks was taken", after, before)
			}
		})
	}
}

// replicas checks how many TaskManagers are asked for.
func (s *site) replicas(gvr schema.GroupVersionResource, want int) {
	s.t.Helper()
	if got := text(s.get(gvr, workersName), "spec", "replicas"); got != fmt.Sprint(want) {
		s.t.Fatalf("%s replicas, want %d", got, want)
	}
}

// since is when the job began to run as it does.
func (s *site) since(ref core.JobRef) string {
	s.t.Helper()
	status, err := s.Status(s.t.Context(), ref)
	s.ok(err)
	return status.RunningSince.String()
}

// trimmed gives TaskManagers back as soon as that can be done.
func (s *site) trimmed(ref core.JobRef) string {
	s.t.Helper()
	said := ""
	s.await("TaskManagers to be given back", func(ctx context.Context) (string, bool) {
		text, err := s.Trim(s.t.Context(), ref, "d8")
		if err != nil && !errors.Is(err, core.ErrNotReady) && !errors.Is(err, core.ErrBusy) {
			s.t.Fatal(err)
		}
		said = text
		return fmt.Sprint(err), err == nil
	})
	return said
}

// TestQuotaDeniesTaskManagers: the reason is told, and what never came is given back.
func TestQuotaDeniesTaskManagers(t *testing.T) {
	for kind, gvr := range map[string]schema.GroupVersionResource{core.KindDeployment: deployments, core.KindStatefulSet: statefulSets} {
		t.Run(kind, func(t *testing.T) {
			s := newSite(t, ordersJob)
			s.apply(jobManagerOf(application, inAdaptive), taskManagers(kind, 1))
			target := s.target(kind, workersName)
			ref := s.found(target, 2)
			s.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: small}, spec: {hard: {pods: 3}}}")
			s.await("the quota to be counted", func(context.Context) (string, bool) {
				used := text(s.get(quotas, "small"), "status", "used", "pods")
				return used, used == "2"
			})
			held, err := s.Wanted(t.Context(), ref)
			s.ok(err)
			s.want(ref, 8)
			s.replicas(gvr, 4)
			s.found(target, 4)
			s.await("the quota to be told as the reason", func(ctx context.Context) (string, bool) {
				r, err := s.Wanted(ctx, ref)
				s.ok(err)
				got, err := s.Carried(ctx, ref, r)
				return fmt.Sprintf("%+v %v", got, err), err == nil && got.Reason == core.ReasonNoRoom && strings.Contains(got.Note, "exceeded quota")
			})
			s.ok(s.Want(t.Context(), ref, "d9", held))
			s.found(target, 2)
			s.trimmed(ref)
			s.replicas(gvr, 1)
		})
	}
}

// TestWorkloadsThatAreRefused: each says what to do.
func TestWorkloadsThatAreRefused(t *testing.T) {
	t.Run("scheduler", func(t *testing.T) {
		s := newSite(t, ordersJob)
		s.apply(jobManagerOf(application, "web.timeout: 10000"), taskManagers(core.KindDeployment, 1))
		s.refused(s.target(core.KindDeployment, workersName), "jobmanager.scheduler", "adaptive", "scheduler-mode")
	})
	t.Run("slot sharing groups", func(t *testing.T) {
		s := newSite(t, func() flinksim.JobSpec {
			j := ordersJob()
			j.Vertices[1].SlotGroup = "slow"
			return j
		})
		s.apply(jobManagerOf(application, inReactive), taskManagers(core.KindStatefulSet, 2))
		s.refused(s.target(core.KindStatefulSet, workersName), "2 slot sharing groups")
	})
	t.Run("reactive, followed", func(t *testing.T) {
		s := newSite(t, ordersJob)
		s.apply(jobManagerOf(application, inReactive), taskManagers(core.KindStatefulSet, 2))
		s.refused(s.target(core.KindStatefulSet, workersName, following), "Flink itself")
	})
	t.Run("owned", func(t *testing.T) {
		s := newSite(t, ordersJob)
		s.apply(jobManagerOf(application, inReactive), taskManagers(core.KindStatefulSet, 2))
		owner, err := kubetest.Plane(t).Clientset().CoreV1().Namespaces().Get(t.Context(), s.namespace, metav1.GetOptions{})
		s.ok(err) // one that is there: what has no owner any more is collected
		s.patch(statefulSets, workersName, fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":%q,"uid":%q,"controller":true}]}}`, owner.Name, owner.UID))
		s.refused(s.target(core.KindStatefulSet, workersName), "Namespace "+owner.Name)
	})
	t.Run("two jobs, followed", func(t *testing.T) {
		s := newSite(t, ordersJob)
		s.apply(jobManagerOf(session, inAdaptive), taskManagers(core.KindDeployment, 3))
		for _, name := range []string{"orders", "other"} {
			j := ordersJob()
			j.Name = name
			_, err := s.sim("flink").Submit(j)
			s.ok(err)
		}
		s.refused(s.target(core.KindDeployment, workersName, following, ofJob("orders")), `"other"`)
	})
}

// TestSessionOnWorkloads: what the other jobs have is left to them, on the way up and
// down.
func TestSessionOnWorkloads(t *testing.T) {
	s := newSite(t, ordersJob)
	s.apply(jobManagerOf(session, inAdaptive), taskManagers(core.KindStatefulSet, 3))
	s.await("three TaskManagers", func(context.Context) (string, bool) {
		ready := text(s.get(statefulSets, workersName), "status", "readyReplicas")
		return ready, ready == "3"
	})
	var target core.Target
	var ref core.JobRef
	for _, name := range []string{"other", "orders"} { // one after the other: the first one gets the first slots
		j := ordersJob()
		j.Name = name
		j.Vertices[0].Parallelism, j.Vertices[1].Parallelism = 3, 3
		_, err := s.sim("flink").Submit(j)
		s.ok(err)
		target = s.target(core.KindStatefulSet, workersName, ofJob(name))
		ref = s.found(target, 3)
	}
	s.want(ref, 5)
	s.replicas(statefulSets, 4)
	s.found(target, 5)
	s.want(ref, 1)
	s.found(target, 1)
	s.trimmed(ref)
	s.replicas(statefulSets, 2)
}

// nativeCluster is what kubernetes-application makes: TaskManagers are Flink's.
const nativeCluster = `
apiVersion: v1
kind: ConfigMap
metadata: {name: flink-config-orders}
data:
  flink-conf.yaml: |
    rest.port: PORT
    kubernetes.cluster-id: orders
    parallelism.default: 2
    $internal.application.main: x
    OPTIONS
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: orders, labels: {app: orders, component: jobmanager, type: flink-native-kubernetes}}
spec:
  selector: {matchLabels: {app: orders, component: jobmanager}}
  template:
    metadata: {labels: {app: orders, component: jobmanager, type: flink-native-kubernetes}}
    spec:
      containers: [{name: jobmanager, image: "flink:1.20"}]
      volumes: [{name: config, configMap: {name: flink-config-orders}}]
`

func nativeOf(options string) string {
	return strings.ReplaceAll(nativeCluster, "OPTIONS", options)
}

func (s *site) native(edit ...func(*core.KubernetesTarget)) core.Target {
	return s.target(core.KindDeployment, "orders", append([]func(*core.KubernetesTarget){func(k *core.KubernetesTarget) { k.Service = "" }}, edit...)...)
}

// TestNativeKeepsTheContract: requirements alone, and the object is not written.
func TestNativeKeepsTheContract(t *testing.T) {
	s := newSite(t, ordersJob)
	s.apply(nativeOf(inAdaptive))
	s.found(s.native(), 2)
	h := s.harness("orders", s.native(), core.Means{})
	h.Elastic = true
	porttest.Run(t, h)
	if g := s.get(deployments, "orders").GetGeneration(); g != 1 {
		t.Errorf("the Deployment was written %d times", g-1)
	}
}

func TestNativeThatIsRefused(t *testing.T) {
	t.Run("scheduler", func(t *testing.T) {
		s := newSite(t, ordersJob)
		s.apply(nativeOf("web.timeout: 10000"))
		s.refused(s.native(), "jobmanager.scheduler")
	})
	t.Run("followed", func(t *testing.T) {
		s := newSite(t, ordersJob)
		s.apply(nativeOf(inAdaptive))
		s.refused(s.native(following), "leave out target.kubernetes.mode")
	})
}
