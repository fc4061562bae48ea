//go:build e2e

package kubelet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal/kubelet"
	"flinkscaler/internal/kubelocal/kubetest"
)

const patience = 3 * time.Minute

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, what string, look func(ctx context.Context) (string, bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, what, look))
}

func start(t *testing.T, namespace string) *kubelet.Kubelet {
	t.Helper()
	k, err := kubelet.Start(kubelet.Options{
		Plane: kubetest.Plane(t), Namespace: namespace, Dir: t.TempDir(), RestartDelay: time.Second, Log: t.Output(),
	})
	must(t, err)
	t.Cleanup(func() { must(t, k.Close()) })
	return k
}

// sessionCluster is a cluster as Flink's documentation deploys it, with TaskManagers of two kinds: those of a Deployment
// find the JobManager by its Service, those of a StatefulSet are told where it is.
const sessionCluster = `
apiVersion: v1
kind: ConfigMap
metadata: {name: flink-config}
data:
  flink-conf.yaml: |
    jobmanager.rpc.address: flink-jobmanager
    taskmanager.numberOfTaskSlots: 2
    rest.port: REST
    heartbeat.interval: 1000
    heartbeat.timeout: 6000
---
apiVersion: v1
kind: Service
metadata: {name: flink-jobmanager}
spec: {ports: [{name: rpc, port: 6123}], selector: {app: flink, component: jobmanager}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: flink-jobmanager}
spec:
  replicas: 1
  selector: {matchLabels: {app: flink, component: jobmanager}}
  template:
    metadata: {labels: {app: flink, component: jobmanager}}
    spec:
      containers: [{name: jobmanager, image: "flink:1.18", args: [jobmanager]}]
      volumes: [{name: config, configMap: {name: flink-config}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: flink-taskmanager}
spec:
  replicas: 1
  selector: {matchLabels: {app: flink, component: taskmanager}}
  template:
    metadata: {labels: {app: flink, component: taskmanager}}
    spec:
      containers: [{name: taskmanager, image: "flink:1.18", args: [taskmanager]}]
      volumes: [{name: config, configMap: {name: flink-config}}]
`

const statefulTaskManagers = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: more}
spec:
  replicas: 1
  serviceName: more
  selector: {matchLabels: {app: more, component: taskmanager}}
  template:
    metadata: {labels: {app: more, component: taskmanager}}
    spec:
      containers: [{name: taskmanager, image: "flink:1.18", args: [taskmanager, "-Djobmanager.rpc.address=127.0.0.1", "-Djobmanager.rpc.port=RPC", "-Dheartbeat.interval=1000", "-Dheartbeat.timeout=6000"]}]
`

func TestASessionCluster(t *testing.T) {
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	k := start(t, namespace)
	ports, err := child.FreePorts(1)
	must(t, err)
	must(t, plane.Apply(t.Context(), namespace, strings.ReplaceAll(sessionCluster, "REST", fmt.Sprint(ports[0]))))
	jobManager, err := k.JobManager(t.Context(), namespace, "flink")
	must(t, err)
	awaitSlots(t, jobManager.URL(), 2)

	t.Run("TaskManagers follow replicas", func(t *testing.T) {
		for _, replicas := range []int{3, 1} {
			scaleDeployment(t, namespace, "flink-taskmanager", replicas)
			awaitSlots(t, jobManager.URL(), 2*replicas)
		}
	})
	t.Run("an address that is given", func(t *testing.T) {
		must(t, plane.Apply(t.Context(), namespace, strings.ReplaceAll(statefulTaskManagers, "RPC", rpcPort(t, jobManager.URL()))))
		awaitSlots(t, jobManager.URL(), 3) // one slot each is Flink's default
	})
	t.Run("a JobManager that crashed", func(t *testing.T) {
		process := jobManager.Process()
		must(t, process.Kill())
		awaitPod(t, namespace, jobManager.Name(), "not ready", func(pod core.Pod) bool {
			waiting := pod.Status.ContainerStatuses[0].State.Waiting
			return !isReady(pod) && waiting != nil && waiting.Reason == "CrashLoopBackOff"
		})
		awaitPod(t, namespace, jobManager.Name(), "ready after one restart", func(pod core.Pod) bool {
			return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1
		})
		awaitSlots(t, jobManager.URL(), 3)
	})
	t.Run("deletion", func(t *testing.T) {
		process := jobManager.Process()
		pods := k.Pods(namespace, nil)
		if len(pods) != 3 {
			t.Errorf("%d pods are run; want 3", len(pods))
		}
		must(t, plane.Clientset().AppsV1().Deployments(namespace).Delete(t.Context(), "flink-jobmanager", meta.DeleteOptions{}))
		await(t, "the pod to go", func(ctx context.Context) (string, bool, error) {
			_, err := plane.Clientset().CoreV1().Pods(namespace).Get(ctx, jobManager.Name(), meta.GetOptions{})
			return fmt.Sprint("reading it: ", err), errors.IsNotFound(err), nil
		})
		if process.Alive() {
			t.Error("the JobManager of a pod that is gone runs")
		}
	})
	t.Run("the end of the kubelet", func(t *testing.T) {
		var processes []*child.Process
		for _, pod := range k.Pods(namespace, map[string]string{"component": "taskmanager"}) {
			processes = append(processes, pod.Process())
		}
		must(t, k.Close())
		if len(processes) != 2 {
			t.Errorf("%d TaskManagers ran; want 2", len(processes))
		}
		for _, process := range processes {
			if process.Alive() {
				t.Errorf("process %d runs", process.PID())
			}
		}
	})
	t.Run("what a kubelet left behind", func(t *testing.T) {
		left := plane.Clientset().CoreV1().Pods(namespace)
		must(t, plane.Clientset().AppsV1().StatefulSets(namespace).Delete(t.Context(), "more", meta.DeleteOptions{}))
		await(t, "the pod to be on its way out", func(ctx context.Context) (string, bool, error) {
			pod, err := left.Get(ctx, "more-0", meta.GetOptions{})
			return "nobody deletes it", err == nil && pod.DeletionTimestamp != nil, err
		})
		start(t, namespace)
		await(t, "the pod to go", func(ctx context.Context) (string, bool, error) {
			_, err := left.Get(ctx, "more-0", meta.GetOptions{})
			return fmt.Sprint("reading it: ", err), errors.IsNotFound(err), nil
		})
	})
}

// TestWhatCannotRun is said on the pod.
func TestWhatCannotRun(t *testing.T) {
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	start(t, namespace)
	must(t, plane.Apply(t.Context(), namespace, `
apiVersion: v1
kind: Pod
metadata: {name: odd, labels: {component: taskmanager}}
spec: {containers: [{name: c, image: "flink:0.1", args: [taskmanager]}]}
`))
	awaitPod(t, namespace, "odd", "why it waits", func(pod core.Pod) bool {
		statuses := pod.Status.ContainerStatuses
		return len(statuses) == 1 && statuses[0].State.Waiting != nil && strings.Contains(statuses[0].State.Waiting.Message, "no such Flink")
	})
	must(t, plane.Clientset().CoreV1().Pods(namespace).Delete(t.Context(), "odd", meta.DeleteOptions{}))
	await(t, "the pod to go", func(ctx context.Context) (string, bool, error) {
		_, err := plane.Clientset().CoreV1().Pods(namespace).Get(ctx, "odd", meta.GetOptions{})
		return fmt.Sprint("reading it: ", err), errors.IsNotFound(err), nil
	})
}

func scaleDeployment(t *testing.T, namespace, name string, replicas int) {
	t.Helper()
	deployments := kubetest.Plane(t).Clientset().AppsV1().Deployments(namespace)
	scale, err := deployments.GetScale(t.Context(), name, meta.GetOptions{})
	must(t, err)
	scale.Spec.Replicas = int32(replicas)
	_, err = deployments.UpdateScale(t.Context(), name, scale, meta.UpdateOptions{})
	must(t, err)
}

func isReady(pod core.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == core.PodReady {
			return c.Status == core.ConditionTrue
		}
	}
	return false
}

func awaitPod(t *testing.T, namespace, name, what string, wished func(core.Pod) bool) {
	t.Helper()
	await(t, name+" to say "+what, func(ctx context.Context) (string, bool, error) {
		pod, err := kubetest.Plane(t).Clientset().CoreV1().Pods(namespace).Get(ctx, name, meta.GetOptions{})
		if err != nil {
			return "", false, err
		}
		state, _ := json.Marshal(pod.Status)
		return string(state), wished(*pod), nil
	})
}

func awaitSlots(t *testing.T, url string, slots int) {
	t.Helper()
	await(t, fmt.Sprintf("%d slots", slots), func(ctx context.Context) (string, bool, error) {
		var overview struct {
			Slots int `json:"slots-total"`
		}
		if err := get(ctx, url+"/overview", &overview); err != nil {
			return err.Error(), false, nil
		}
		return fmt.Sprintf("%d slots", overview.Slots), overview.Slots == slots, nil
	})
}

// rpcPort is where the JobManager says that its RPC listens.
func rpcPort(t *testing.T, url string) string {
	t.Helper()
	var options []struct{ Key, Value string }
	must(t, get(t.Context(), url+"/jobmanager/config", &options))
	for _, o := range options {
		if o.Key == "jobmanager.rpc.port" {
			return o.Value
		}
	}
	t.Fatal("no jobmanager.rpc.port")
	return ""
}

func get(ctx context.Context, url string, to any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return json.NewDecoder(response.Body).Decode(to)
}
