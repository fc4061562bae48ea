package kubelet

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"flinkscaler/internal/flinklocal"
)

// Flink's file names: the old one holds a line "key: value" for each option, the new one is YAML.
const (
	oldConfig = "flink-conf.yaml"
	newConfig = "config.yaml"
)

// readConfig reads the Flink configuration that a pod mounts from a ConfigMap; it is empty without one.
func (k *Kubelet) readConfig(ctx context.Context, pod core.Pod) (map[string]string, error) {
	for _, volume := range pod.Spec.Volumes {
		if volume.ConfigMap == nil {
			continue
		}
		found, err := k.client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, volume.ConfigMap.Name, meta.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read configuration of pod %s: %w", pod.Name, err)
		}
		if text, there := found.Data[newConfig]; there {
			return readYAML(text)
		}
		if text, there := found.Data[oldConfig]; there {
			return readLines(text), nil
		}
	}
	return map[string]string{}, nil
}

// readLines reads the old form. Values may be quoted.
func readLines(text string) map[string]string {
	config := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ": ")
		if ok && !strings.HasPrefix(key, "#") {
			config[strings.TrimSpace(key)] = unquote(strings.TrimSpace(value))
		}
	}
	return config
}

func unquote(text string) string { return strings.Trim(text, `"'`) }

// readYAML reads the new form, whose keys may be nested.
func readYAML(text string) (map[string]string, error) {
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		return nil, fmt.Errorf("read %s: %w", newConfig, err)
	}
	config := map[string]string{}
	flatten("", content, config)
	return config, nil
}

func flatten(prefix string, content map[string]any, into map[string]string) {
	for key, value := range content {
		if nested, is := value.(map[string]any); is {
			flatten(prefix+key+".", nested, into)
			continue
		}
		into[prefix+key] = fmt.Sprint(value)
	}
}

// replaced are the options, by prefix, that would not work here: addresses, files in an image, and sizes of memory.
func replaced() []string {
	return []string{
		"jobmanager.bind", "jobmanager.memory.", "rest.address", "rest.bind", "blob.server", "query.server",
		"taskmanager.bind", "taskmanager.host", "taskmanager.rpc", "taskmanager.data.", "taskmanager.memory.",
		"io.tmp.dirs", "web.tmpdir", "web.upload.dir", "env.java", "pipeline.jars",
		"kubernetes.pod-template", "kubernetes.jobmanager", "kubernetes.taskmanager",
		"$internal.application.", "execution.savepoint.path", // given as arguments
	}
}

// localConfig is the configuration with which a JVM runs here.
func localConfig(given map[string]string, dir string, rpc endpoint) (map[string]string, error) {
	config := map[string]string{}
	for key, value := range given {
		if !slices.ContainsFunc(replaced(), func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			config[key] = value
		}
	}
	slots, err := slotsOf(given)
	if err != nil {
		return nil, err
	}
	maps.Copy(config, flinklocal.MemoryConfig(slots))
	maps.Copy(config, map[string]string{
		"jobmanager.rpc.address": rpc.host, "jobmanager.rpc.port": strconv.Itoa(rpc.port), "jobmanager.bind-host": loopback,
		"taskmanager.host": loopback, "taskmanager.bind-host": loopback,
		"rest.address": loopback, "rest.bind-address": loopback, "rest.bind-port": restPort(given),
		"io.tmp.dirs": filepath.Join(dir, "tmp"), "web.upload.dir": filepath.Join(dir, "upload"),
		// JobManager and TaskManagers start at the same time: a TaskManager that is first asks again soon.
		"cluster.registration.error-delay": "500", "cluster.registration.initial-timeout": "100",
	})
	return config, nil
}

// slotsOf is how many slots a TaskManager has: Flink's default is one.
func slotsOf(config map[string]string) (int, error) {
	const key = "taskmanager.numberOfTaskSlots"
	text, there := config[key]
	if !there {
		return 1, nil
	}
	slots, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return slots, nil
}

func restPort(config map[string]string) string {
	if port, there := config["rest.port"]; there {
		return port
	}
	return "8081"
}

// applicationArgs are those of the entry point that runs a job, from the options with which Flink's Kubernetes client
// passes them on.
func applicationArgs(config map[string]string) []string {
	args := []string{"--job-classname", config["$internal.application.main"]}
	if savepoint := config["execution.savepoint.path"]; savepoint != "" {
		args = append(args, "--fromSavepoint", savepoint)
	}
	for arg := range strings.SplitSeq(config["$internal.application.program-args"], ";") {
		if arg = unquote(strings.TrimSpace(arg)); arg != "" {
			args = append(args, arg)
		}
	}
	return args
}
