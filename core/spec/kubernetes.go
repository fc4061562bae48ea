package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"flinkscaler/core"
)

// kinds are the objects that may be named.
var kinds = []string{ //nolint:gochecknoglobals // a constant
	core.KindFlinkDeployment, core.KindFlinkSessionJob, core.KindFlinkCluster, core.KindDeployment, core.KindStatefulSet,
}

var (
	// labelForm and objectForm are what Kubernetes allows as names.
	labelForm  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)                              //nolint:gochecknoglobals // a constant
	objectForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`) //nolint:gochecknoglobals // a constant
)

const maxObject = 253

// IsNamespace is true for what Kubernetes allows as the name of a namespace.
func IsNamespace(s string) bool { return labelForm.MatchString(s) }

func kubernetesTarget(raw json.RawMessage, problems []core.Problem) (*core.KubernetesTarget, []core.Problem) {
	const at = "target.kubernetes"
	fields, problem := Object(at, raw)
	if problem != nil {
		return nil, append(problems, *problem)
	}
	out := &core.KubernetesTarget{}
	add := func(k, format string, args ...any) {
		problems = append(problems, core.Problem{Path: at + "." + k, Message: fmt.Sprintf(format, args...)})
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		path := at + "." + k
		switch k {
		case "namespace":
			out.Namespace, problems = matching(path, fields[k], labelForm, problems)
		case "name":
			out.Name, problems = matching(path, fields[k], objectForm, problems)
		case "service":
			out.Service, problems = matching(path, fields[k], labelForm, problems)
		case "kind":
			out.Kind, problems = oneOf(path, fields[k], kinds, problems)
		case "mode":
			out.Mode, problems = oneOf(path, fields[k], []string{core.ModeManage, core.ModeFollow}, problems)
		case "jobName":
			out.JobName, problems = jobName(path, fields[k], problems)
		case "port":
			if json.Unmarshal(fields[k], &out.Port) != nil || out.Port < 1 || out.Port > 65535 {
				add(k, "must be a port from 1 to 65535, got %s", Cut(string(fields[k]), 60))
			}
		default:
			add(k, "unknown field; known are namespace, kind, name, jobName, mode, service, port")
		}
	}
	for _, k := range []string{"namespace", "kind", "name"} {
		if _, ok := fields[k]; !ok {
			add(k, "is missing")
		}
	}
	plain := out.Kind == core.KindDeployment || out.Kind == core.KindStatefulSet
	for _, k := range []string{"port", "service"} {
		if _, given := fields[k]; given && out.Kind != "" && !plain {
			add(k, "must be left out: a %s tells it itself", out.Kind)
		}
	}
	if out.Kind == core.KindFlinkSessionJob && out.JobName != "" {
		add("jobName", "must be left out: a FlinkSessionJob is one job")
	}
	return out, problems
}

// matching takes a name as Kubernetes allows it.
func matching(path string, raw json.RawMessage, form *regexp.Regexp, problems []core.Problem) (string, []core.Problem) {
	s, problems := text(path, raw, problems)
	if s != "" && (len(s) > maxObject || !form.MatchString(s)) {
		problems = append(problems, core.Problem{Path: path, Message: fmt.Sprintf("is no name that Kubernetes allows (small letters, digits and - inside), got %q", Cut(s, 80))})
		return "", problems
	}
	return s, problems
}

// oneOf takes one of a few words.
func oneOf(path string, raw json.RawMessage, words []string, problems []core.Problem) (string, []core.Problem) {
	s, problems := text(path, raw, problems)
	if s != "" && !slices.Contains(words, s) {
		problems = append(problems, core.Problem{Path: path, Message: fmt.Sprintf("must be one of %s, got %q", strings.Join(words, ", "), Cut(s, 80))})
		return "", problems
	}
	return s, problems
}
