package kubesim

import (
	"context"
	"maps"
	"strconv"
)

func (c *cluster) labels(component string, r revision) map[string]any {
	return map[string]any{
		"app": "flink", "cluster": c.name(), "component": component, "flinkoperator.k8s.io/hash": r.hash(),
	}
}

// selector of pods: without the hash, which changes.
func (c *cluster) selector(component string) map[string]any {
	return map[string]any{"app": "flink", "cluster": c.name(), "component": component}
}

// managerResource is what runs the JobManager.
func (c *cluster) managerResource() resource {
	if c.isApplication() {
		return batchJobs
	}
	return statefulSets
}

func (c *cluster) workersResource() resource {
	if asMap(c.spec["taskManager"])["deploymentType"] == "Deployment" {
		return deployments
	}
	return statefulSets
}

// create makes every component that is not there.
func (o *ClusterOperator) create(ctx context.Context, c *cluster, r revision) error {
	for _, x := range []struct {
		resource resource
		content  map[string]any
	}{
		{configMaps, c.configMap(r)},
		{services, c.service(r)},
		{c.managerResource(), c.manager(r)},
		{c.workersResource(), c.workers(r)},
	} {
		if _, err := o.api.create(ctx, x.resource, x.content); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) meta(suffix, component string, r revision) map[string]any {
	return map[string]any{
		"name": c.name() + suffix, "namespace": c.o.GetNamespace(),
		"labels": c.labels(component, r), "ownerReferences": []any{owner(c.o)},
	}
}

func (c *cluster) configMap(r revision) map[string]any {
	conf := maps.Clone(c.properties())
	conf["jobmanager.rpc.address"] = c.name() + "-jobmanager"
	conf[keyRestPort] = strconv.Itoa(c.restPort())
	conf[keySlots] = strconv.Itoa(c.slots())
	if c.isApplication() {
		conf[keyMainClass] = "main"
		conf[keyParallelism] = strconv.Itoa(c.parallelism())
		conf[keyJobID] = c.status.Components.Job.ID
		conf[keySavepoint] = c.status.Components.Job.FromSavepoint
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": c.meta("-configmap", "configmap", r),
		"data": map[string]any{"flink-conf.yaml": writeConfig(conf)},
	}
}

func (c *cluster) service(r revision) map[string]any {
	port := int64(c.restPort())
	return map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": c.meta("-jobmanager", "jobmanager", r),
		"spec": map[string]any{
			"selector": c.selector("jobmanager"),
			"ports":    []any{map[string]any{"name": "ui", "port": port, "targetPort": port, "protocol": "TCP"}},
		},
	}
}

func (c *cluster) manager(r revision) map[string]any {
	w := c.pods("-jobmanager", "jobmanager", 1, r)
	if !c.isApplication() {
		return w
	}
	w["apiVersion"], w["kind"] = "batch/v1", "Job"
	template := asMap(asMap(w["spec"])["template"])
	asMap(template["spec"])["restartPolicy"] = "Never"
	w["spec"] = map[string]any{"template": template}
	return w
}

func (c *cluster) workers(r revision) map[string]any {
	w := c.pods("-taskmanager", "taskmanager", c.replicas(), r)
	if c.workersResource() == deployments {
		w["kind"] = "Deployment"
		delete(asMap(w["spec"]), "serviceName")
		delete(asMap(w["spec"]), "podManagementPolicy")
	}
	return w
}

// pods is a StatefulSet.
func (c *cluster) pods(suffix, component string, replicas int, r revision) map[string]any {
	part := map[string]string{"jobmanager": "jobManager", "taskmanager": "taskManager"}[component]
	image, _ := asMap(c.spec["image"])["name"].(string)
	if image == "" {
		image = "flink"
	}
	resources := asMap(asMap(c.spec[part])["resources"])
	if resources == nil {
		resources = map[string]any{}
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": c.meta(suffix, component, r),
		"spec": map[string]any{
			"replicas": int64(replicas), "serviceName": c.name() + suffix, "podManagementPolicy": "Parallel",
			"selector": map[string]any{"matchLabels": c.selector(component)},
			"template": map[string]any{
				"metadata": map[string]any{"labels": c.selector(component)},
				"spec": map[string]any{
					"containers": []any{map[string]any{"name": component, "image": image, "resources": resources}},
					"volumes":    []any{map[string]any{"name": "flink-config-volume", "configMap": map[string]any{"name": c.name() + "-configmap"}}},
				},
			},
		},
	}
}
