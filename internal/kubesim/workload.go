package kubesim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload is a Deployment, StatefulSet or Job of Flink pods.
type workload struct {
	resource resource
	o        *object
}

func (w workload) isJobManager() bool { return w.o.GetLabels()["component"] == "jobmanager" }

func (w workload) leaving() bool { return w.o.GetDeletionTimestamp() != nil }

// replicas are those wanted, 1 when it does not say.
func (w workload) replicas() int {
	if nested(w.o, "spec", "replicas") == nil {
		return 1
	}
	return nestedInt(w.o, "spec", "replicas")
}

// applies is true for a JobManager that is to run.
func (w workload) applies() bool { return !w.leaving() && w.replicas() > 0 }

// isNative is true when the JobManager brings its own TaskManagers.
func (w workload) isNative() bool { return w.o.GetLabels()["type"] == nativeType }

const (
	nativeType     = "flink-native-kubernetes"
	standaloneType = "flink-standalone-kubernetes"
)

// Pods of a cluster are told by the label app, those of a FlinkCluster by the
// label cluster. A key's name is the selector "app=NAME" or "cluster=NAME".
func clusterKeys(o *object) []name {
	l := o.GetLabels()
	if l["component"] != "jobmanager" && l["component"] != "taskmanager" {
		return nil
	}
	for _, label := range []string{"cluster", "app"} {
		if l[label] != "" {
			return []name{{Namespace: o.GetNamespace(), Name: label + "=" + l[label]}}
		}
	}
	return nil
}

func clusterName(key name) string {
	_, n, _ := strings.Cut(key.Name, "=")
	return n
}

const flinkPods = "component in (jobmanager,taskmanager)"

// workloads of a cluster.
func (k *Kubelet) workloads(ctx context.Context, key name) ([]workload, error) {
	var out []workload
	for _, r := range []resource{deployments, statefulSets, batchJobs} {
		all, err := k.api.list(ctx, r, key.Namespace, key.Name+","+flinkPods)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if slices.Contains(clusterKeys(&all[i]), key) {
				out = append(out, workload{r, &all[i]})
			}
		}
	}
	return out, nil
}

// config reads the ConfigMap that a pod template mounts; nil when it is not
// there yet.
func (k *Kubelet) config(ctx context.Context, w workload) (map[string]string, error) {
	volumes, _ := nested(w.o, "spec", "template", "spec", "volumes").([]any)
	out := map[string]string{}
	for _, v := range volumes {
		n, _ := asMap(asMap(v)["configMap"])["name"].(string)
		if n == "" {
			continue
		}
		m, err := k.api.get(ctx, configMaps, name{Namespace: w.o.GetNamespace(), Name: n})
		if err != nil || m == nil {
			return nil, err
		}
		for _, file := range []string{"flink-conf.yaml", "config.yaml"} {
			text, _ := nested(m, "data", file).(string)
			maps.Copy(out, readConfig(text))
		}
	}
	if runsApplication(w) && out[keyMainClass] == "" {
		out[keyMainClass] = "main"
	}
	return out, nil
}

// runsApplication is true when the container is told so, as a standalone
// application cluster is.
func runsApplication(w workload) bool {
	containers, _ := nested(w.o, "spec", "template", "spec", "containers").([]any)
	for _, c := range containers {
		if args, _ := asMap(c)["args"].([]any); slices.Contains(args, any("standalone-job")) {
			return true
		}
	}
	return false
}

// settle writes the status of a workload of which so many pods are ready, as
// its controller would.
func (k *Kubelet) settle(ctx context.Context, w workload, ready int) error {
	if w.resource == batchJobs {
		if nestedInt(w.o, "status", "ready") == ready {
			return nil
		}
		return k.api.patch(ctx, w.resource, nameOf(w.o), map[string]any{"status": map[string]any{
			"active": 1, "ready": ready, "startTime": metav1.Now().UTC().Format(time.RFC3339),
		}}, "status")
	}
	n := int64(w.replicas())
	status := map[string]any{
		"observedGeneration": w.o.GetGeneration(), "replicas": n, "updatedReplicas": n,
		"readyReplicas": int64(ready), "availableReplicas": int64(ready),
	}
	if w.resource == deployments {
		up := "False"
		if ready > 0 {
			up = "True"
		}
		now := metav1.Now().UTC().Format(time.RFC3339)
		status["conditions"] = []any{map[string]any{
			"type": "Available", "status": up, "reason": "MinimumReplicasAvailable",
			"lastTransitionTime": now, "lastUpdateTime": now,
		}}
	} else {
		status["currentReplicas"] = n
		status["currentRevision"], status["updateRevision"] = w.o.GetName()+"-1", w.o.GetName()+"-1"
	}
	for _, key := range []string{"observedGeneration", "replicas", "readyReplicas"} {
		if nested(w.o, "status", key) == nil || fmt.Sprint(nested(w.o, "status", key)) != fmt.Sprint(status[key]) {
			return k.api.patch(ctx, w.resource, nameOf(w.o), map[string]any{"status": status}, "status")
		}
	}
	return nil
}

// collect removes what a workload that leaves in the foreground owns, as the
// garbage collector does, and then lets it go.
func (k *Kubelet) collect(ctx context.Context, w workload) error {
	if !slices.Contains(w.o.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return nil
	}
	for _, r := range []resource{services, configMaps, pods} {
		all, err := k.api.list(ctx, r, w.o.GetNamespace(), "")
		if err != nil {
			return err
		}
		for i := range all {
			if isOwnedBy(&all[i], w.o) {
				if err := k.api.drop(ctx, r, nameOf(&all[i]), metav1.DeletePropagationBackground); err != nil {
					return err
				}
			}
		}
	}
	return k.api.patch(ctx, w.resource, nameOf(w.o), map[string]any{"metadata": map[string]any{"finalizers": nil}})
}

func isOwnedBy(o, by *object) bool {
	for _, r := range o.GetOwnerReferences() {
		if r.UID == by.GetUID() {
			return true
		}
	}
	return false
}
