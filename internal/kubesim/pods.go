package kubesim

import (
	"context"
	"time"
)

// readyPods makes the pods of a cluster run, and gives the names of those that are
// TaskManagers. A JobManager's is ready once its REST API answers.
func (k *Kubelet) readyPods(ctx context.Context, key name, managerUp bool) ([]string, error) {
	all, err := k.api.list(ctx, pods, key.Namespace, key.Name+","+flinkPods)
	if err != nil {
		return nil, err
	}
	var managers []string
	for i := range all {
		o := &all[i]
		if o.GetDeletionTimestamp() != nil {
			continue
		}
		isManager := o.GetLabels()["component"] == "jobmanager"
		if !isManager {
			managers = append(managers, o.GetName())
		}
		if err := k.run(ctx, o, !isManager || managerUp); err != nil {
			return nil, err
		}
	}
	return managers, nil
}

// run writes the status of a pod that runs, ready or not.
func (k *Kubelet) run(ctx context.Context, o *object, ready bool) error {
	if nested(o, "status", "phase") == "Running" && isReady(o) == ready {
		return nil
	}
	now := time.Now().UTC().Format(time.RFC3339)
	word := map[bool]string{true: "True", false: "False"}
	var conditions, containers []any
	for _, kind := range []string{"Initialized", "PodScheduled", "Ready", "ContainersReady"} {
		up := ready || kind == "Initialized" || kind == "PodScheduled"
		conditions = append(conditions, map[string]any{"type": kind, "status": word[up], "lastTransitionTime": now})
	}
	specs, _ := nested(o, "spec", "containers").([]any)
	for _, c := range specs {
		containers = append(containers, map[string]any{
			"name": asMap(c)["name"], "image": asMap(c)["image"], "imageID": "simulated", "ready": ready, "started": ready,
			"restartCount": int64(0), "state": map[string]any{"running": map[string]any{"startedAt": now}},
		})
	}
	return k.api.patch(ctx, pods, nameOf(o), map[string]any{"status": map[string]any{
		"phase": "Running", "podIP": "127.0.0.1", "podIPs": []any{map[string]any{"ip": "127.0.0.1"}}, "startTime": now,
		"conditions": conditions, "containerStatuses": containers,
	}}, "status")
}

func isReady(o *object) bool {
	conditions, _ := nested(o, "status", "conditions").([]any)
	for _, c := range conditions {
		if asMap(c)["type"] == "Ready" {
			return asMap(c)["status"] == "True"
		}
	}
	return false
}
