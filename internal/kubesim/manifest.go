package kubesim

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// createCluster makes the objects of a FlinkDeployment as the operator does:
// the JobManager's Deployment, and its Services and ConfigMap, which go with it.
func (o *Operator) createCluster(ctx context.Context, s *subject, from string) error {
	made, err := o.api.create(ctx, deployments, o.managerDeployment(s))
	if err != nil {
		return err
	}
	conf := o.deployed(s, from)
	n := s.o.GetName()
	for _, x := range []struct {
		resource resource
		content  map[string]any
	}{
		{configMaps, o.owned(s, made, "flink-config-"+n, map[string]any{
			"kind": "ConfigMap", "data": map[string]any{"flink-conf.yaml": writeConfig(conf)},
		})},
		{services, o.owned(s, made, n, o.service(s, "jobmanager-rpc", 6123))},
		{services, o.owned(s, made, n+"-rest", o.service(s, "rest", number(conf, keyRestPort, 8081)))},
	} {
		if _, err := o.api.create(ctx, x.resource, x.content); err != nil {
			return err
		}
	}
	if isStandalone(s.spec) {
		if _, err := o.api.create(ctx, deployments, o.workersDeployment(s, made)); err != nil {
			return err
		}
	}
	return o.autoscalerMap(ctx, s)
}

// deployed is the configuration that Flink gets: without the operator's keys,
// with what follows from the typed fields.
func (o *Operator) deployed(s *subject, from string) map[string]string {
	conf := o.effective(s.spec)
	for key := range conf {
		if ofOperator(key) {
			delete(conf, key)
		}
	}
	conf["kubernetes.cluster-id"], conf["kubernetes.namespace"] = s.o.GetName(), s.o.GetNamespace()
	conf[keyRestPort] = strconv.Itoa(number(conf, keyRestPort, 8081))
	j := s.job()
	if j == nil {
		return conf
	}
	conf[keyParallelism] = strconv.Itoa(o.parallelism(s.spec))
	conf[keyJobID] = s.status.Job.ID
	conf[keyMainClass] = "main"
	if main, _ := j["entryClass"].(string); main != "" {
		conf[keyMainClass] = main
	}
	var args []string
	list, _ := j["args"].([]any)
	for _, a := range list {
		args = append(args, text(a))
	}
	conf[keyArguments] = strings.Join(args, ";")
	conf["execution.shutdown-on-application-finish"] = "false"
	if from != "" {
		conf[keySavepoint] = from
	}
	return conf
}

func (o *Operator) labels(s *subject, component string) map[string]any {
	kind := nativeType
	if isStandalone(s.spec) {
		kind = standaloneType
	}
	return map[string]any{"app": s.o.GetName(), "component": component, "type": kind}
}

func (o *Operator) managerDeployment(s *subject) map[string]any {
	return o.workload(s, s.o.GetName(), "jobmanager", 1, owner(s.o))
}

func (o *Operator) workersDeployment(s *subject, by *object) map[string]any {
	return o.workload(s, s.o.GetName()+"-taskmanager", "taskmanager", o.managers(s), owner(by))
}

// workload is a Deployment of Flink pods.
func (o *Operator) workload(s *subject, called, component string, replicas int, by map[string]any) map[string]any {
	labels := o.labels(s, component)
	image, _ := s.spec["image"].(string)
	if image == "" {
		image = "flink"
	}
	part := map[string]string{"jobmanager": "jobManager", "taskmanager": "taskManager"}[component]
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"name": called, "namespace": s.o.GetNamespace(), "labels": labels, "ownerReferences": []any{by},
			"annotations": map[string]any{"flinkdeployment.flink.apache.org/generation": strconv.FormatInt(s.o.GetGeneration(), 10)},
		},
		"spec": map[string]any{
			"replicas": int64(replicas), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{
					"containers": []any{map[string]any{
						"name": "flink-main-container", "image": image, "resources": podResources(asMap(asMap(s.spec[part])["resource"])),
					}},
					"volumes": []any{map[string]any{
						"name": "flink-config-volume", "configMap": map[string]any{"name": "flink-config-" + s.o.GetName()},
					}},
				},
			},
		},
	}
}

// owned gives a part of a cluster name, labels and owner.
func (o *Operator) owned(s *subject, by *object, called string, content map[string]any) map[string]any {
	content["apiVersion"] = "v1"
	content["metadata"] = map[string]any{
		"name": called, "namespace": s.o.GetNamespace(), "ownerReferences": []any{owner(by)},
		"labels": map[string]any{"app": s.o.GetName(), "type": o.labels(s, "")["type"]},
	}
	return content
}

func (o *Operator) service(s *subject, port string, number int) map[string]any {
	return map[string]any{"kind": "Service", "spec": map[string]any{
		"selector": o.labels(s, "jobmanager"),
		"ports":    []any{map[string]any{"name": port, "port": int64(number), "targetPort": int64(number), "protocol": "TCP"}},
	}}
}

var flinkMemory = regexp.MustCompile(`^(\d+) ?([kmgKMG])(?:[bB])?$`) //nolint:gochecknoglobals // a constant

// podResources are requests and limits of a pod, from cpu and memory as Flink
// writes them: its 1024m are mebibytes.
func podResources(r map[string]any) map[string]any {
	amounts := map[string]any{}
	if r["cpu"] != nil {
		amounts["cpu"] = fmt.Sprint(r["cpu"])
	}
	if r["memory"] != nil {
		memory := fmt.Sprint(r["memory"])
		if m := flinkMemory.FindStringSubmatch(memory); m != nil {
			memory = m[1] + map[string]string{"k": "Ki", "m": "Mi", "g": "Gi"}[strings.ToLower(m[2])]
		}
		amounts["memory"] = memory
	}
	return map[string]any{"requests": amounts, "limits": amounts}
}
