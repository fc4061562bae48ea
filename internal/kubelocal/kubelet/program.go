package kubelet

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"

	"flinkscaler/internal/flinklocal"
)

// Values of the label component.
const (
	jobManager  = "jobmanager"
	taskManager = "taskmanager"
)

// loopback is everybody's address.
const loopback = "127.0.0.1"

// program is what a pod runs, as its container's arguments say it.
type program struct {
	// class is Flink's main class.
	class string
	// native says that this JobManager would make its TaskManagers itself.
	native bool
	// args are those of the main class.
	args []string
	// config are the -D arguments.
	config map[string]string
}

// readProgram understands the entry points of the Flink image (jobmanager, standalone-job, taskmanager) and what Flink's
// Kubernetes client starts (kubernetes-jobmanager.sh in a shell).
func readProgram(pod core.Pod) (program, error) {
	if len(pod.Spec.Containers) == 0 {
		return program{}, fmt.Errorf("pod %s has no container", pod.Name)
	}
	container := pod.Spec.Containers[0]
	words := expand(slices.Concat(container.Command, container.Args), variables(pod, container))
	text := strings.Join(words, " ")
	if strings.Contains(text, "kubernetes-jobmanager.sh") {
		p := program{native: true, class: flinklocal.SessionClass}
		if strings.Contains(text, "kubernetes-application") {
			p.class = flinklocal.ApplicationClass
		}
		return p, nil
	}
	classes := map[string]string{
		"jobmanager": flinklocal.SessionClass, "standalone-job": flinklocal.ApplicationClass, "taskmanager": flinklocal.TaskManagerClass,
	}
	for i, word := range words {
		if class, known := classes[word]; known {
			config, args := splitConfig(words[i+1:])
			return program{class: class, args: args, config: config}, nil
		}
	}
	return program{}, fmt.Errorf("pod %s starts %q; known are kubernetes-jobmanager.sh, %s",
		pod.Name, text, strings.Join(slices.Sorted(maps.Keys(classes)), ", "))
}

// splitConfig takes -Dkey=value and -D key=value out of arguments.
func splitConfig(words []string) (config map[string]string, rest []string) {
	config = map[string]string{}
	for i := 0; i < len(words); i++ {
		pair, is := strings.CutPrefix(words[i], "-D")
		if is && pair == "" && i+1 < len(words) {
			i++
			pair = words[i]
		}
		key, value, ok := strings.Cut(pair, "=")
		if !is || !ok {
			rest = append(rest, words[i])
			continue
		}
		config[key] = value
	}
	return config, rest
}

// variables are the environment of a container, as far as arguments may refer to it.
func variables(pod core.Pod, container core.Container) map[string]string {
	values := map[string]string{}
	for _, e := range container.Env {
		values[e.Name] = e.Value
		if e.ValueFrom == nil || e.ValueFrom.FieldRef == nil {
			continue
		}
		switch e.ValueFrom.FieldRef.FieldPath {
		case "status.podIP":
			values[e.Name] = loopback
		case "metadata.name":
			values[e.Name] = pod.Name
		case "metadata.namespace":
			values[e.Name] = pod.Namespace
		}
	}
	return values
}

// expand puts the values of variables in place of $(NAME), as Kubernetes does; unknown ones stay.
func expand(words []string, values map[string]string) []string {
	reference := regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = reference.ReplaceAllStringFunc(word, func(found string) string {
			if value, known := values[found[2:len(found)-1]]; known {
				return value
			}
			return found
		})
	}
	return out
}
