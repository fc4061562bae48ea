package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Spec is what an operator asks for, after it was checked: the job, where it
// runs, and the policy keys as they were given.
type Spec struct {
	Key    core.JobKey       `json:"key"`
	Target core.Target       `json:"target"`
	Policy map[string]string `json:"policy,omitempty"`
}

// ID is the id of the workflow that scales a job, the only one it may have.
func ID(key core.JobKey) string { return "flink/" + key.Cluster + "/" + key.Job }

// RescaleID is the id of every rescale of a target: the server allows one open
// run of it.
func RescaleID(cluster string, t core.Target) string {
	return "flink-rescale/" + cluster + "/" + t.Canonical()
}

// Cut shortens a text to at most n bytes, at a whole character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "..."
}

// maxProblems and maxProblem bound what is kept and shown of a bad input:
// nobody reads more, and it goes into history.
const (
	maxProblems = 20
	maxProblem  = 300
)

// Few bounds a list of problems and their texts.
func Few(problems []core.Problem) []core.Problem {
	var out []core.Problem
	for i, p := range problems {
		if i == maxProblems {
			return append(out, core.Problem{Path: "input", Message: fmt.Sprintf("has %d more problems", len(problems)-i)})
		}
		out = append(out, core.Problem{Path: Cut(p.Path, maxProblem), Message: Cut(p.Message, maxProblem)})
	}
	return out
}

// maxInput is more than any person types.
const maxInput = 64 << 10

// Decode decodes the operator's JSON strictly. The starter uses it too,
// so that a typo is found before anything is started.
func Decode(raw []byte) (Spec, []core.Problem) {
	if len(raw) > maxInput {
		return Spec{}, []core.Problem{{Path: "input", Message: fmt.Sprintf("is %d bytes long, at most %d are read", len(raw), maxInput)}}
	}
	spec, problems := decode(raw)
	return spec, Few(problems)
}

func decode(raw []byte) (Spec, []core.Problem) {
	fields, problem := Object("input", Unwrap(raw))
	if problem != nil {
		return Spec{}, []core.Problem{*problem}
	}
	var (
		spec     Spec
		problems []core.Problem
	)
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		switch k {
		case "cluster":
			spec.Key.Cluster, problems = name(k, fields[k], problems)
		case "job":
			spec.Key.Job, problems = name(k, fields[k], problems)
		case "target":
			spec.Target, problems = target(fields[k], problems)
		case "policy":
			spec.Policy, problems = policyMap(fields[k], problems)
		default:
			problems = append(problems, core.Problem{Path: k, Message: "unknown field; known are cluster, job, target, policy"})
		}
	}
	for _, k := range []string{"cluster", "job"} {
		if _, ok := fields[k]; !ok {
			problems = append(problems, core.Problem{Path: k, Message: "is missing"})
		}
	}
	if _, ok := fields["target"]; !ok && spec.Key.Job != "" {
		// The plain case: the job's name here is its name in Flink.
		spec.Target = core.Target{Flink: &core.FlinkTarget{JobName: spec.Key.Job}}
	}
	return spec, problems
}

// Unwrap accepts a JSON string that holds JSON: some tools encode twice.
func Unwrap(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}

// Object decodes one JSON object without losing duplicate keys silently.
func Object(path string, raw []byte) (map[string]json.RawMessage, *core.Problem) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, &core.Problem{Path: path, Message: `is empty; give one JSON object such as {"cluster": "dev", "job": "orders"}`}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	t, err := dec.Token()
	if err != nil || t != json.Delim('{') {
		return nil, &core.Problem{Path: path, Message: "must be one JSON object"}
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, &core.Problem{Path: path, Message: "is not JSON: " + err.Error()}
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, &core.Problem{Path: path, Message: "is not JSON: " + err.Error()}
		}
		key, _ := k.(string)
		if _, twice := out[key]; twice {
			return nil, &core.Problem{Path: path + "." + key, Message: "is given twice"}
		}
		out[key] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, &core.Problem{Path: path, Message: "is not JSON: it ends too early"}
	}
	if len(bytes.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil, &core.Problem{Path: path, Message: "has something behind the JSON object"}
	}
	return out, nil
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._ -]{0,127}$`) //nolint:gochecknoglobals // a constant

func name(path string, raw json.RawMessage, problems []core.Problem) (string, []core.Problem) {
	s, problems := text(path, raw, problems)
	if s != "" && !nameForm.MatchString(s) {
		problems = append(problems, core.Problem{Path: path, Message: fmt.Sprintf("must be 1 to 128 letters, digits, spaces or one of . _ - and begin with a letter or digit, got %q", Cut(s, 140))})
		return "", problems
	}
	return s, problems
}

// maxJobName keeps the id of a rescale within the 1,000 bytes that a workflow
// id may have.
const maxJobName = 700

// jobName takes any name that Flink may show: it is not ours to choose.
func jobName(path string, raw json.RawMessage, problems []core.Problem) (string, []core.Problem) {
	s, problems := text(path, raw, problems)
	switch {
	case len(s) > maxJobName:
		return "", append(problems, core.Problem{Path: path, Message: fmt.Sprintf("is %d bytes long, at most %d are allowed", len(s), maxJobName)})
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", append(problems, core.Problem{Path: path, Message: "must not hold control characters or line breaks"})
	}
	return s, problems
}

func text(path string, raw json.RawMessage, problems []core.Problem) (string, []core.Problem) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", append(problems, core.Problem{Path: path, Message: "must be a string, got " + Cut(string(raw), 60)})
	}
	if strings.TrimSpace(s) == "" {
		return "", append(problems, core.Problem{Path: path, Message: "must not be empty"})
	}
	return s, problems
}

func target(raw json.RawMessage, problems []core.Problem) (core.Target, []core.Problem) {
	fields, problem := Object("target", raw)
	if problem != nil {
		return core.Target{}, append(problems, *problem)
	}
	var out core.Target
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		switch k {
		case "flink":
			out.Flink, problems = flinkTarget(fields[k], problems)
		case "kubernetes":
			out.Kubernetes, problems = kubernetesTarget(fields[k], problems)
		case "yarn":
			out.Yarn, problems = yarnTarget(fields[k], problems)
		default:
			problems = append(problems, core.Problem{Path: "target." + k, Message: "unknown field; known are flink, kubernetes, yarn"})
		}
	}
	if len(fields) > 1 {
		problems = append(problems, core.Problem{Path: "target", Message: "names more than one platform, a job runs on one"})
	}
	if len(fields) == 0 {
		problems = append(problems, core.Problem{Path: "target", Message: `must name one platform, such as {"flink": {"jobName": "orders"}}`})
	}
	return out, problems
}

func flinkTarget(raw json.RawMessage, problems []core.Problem) (*core.FlinkTarget, []core.Problem) {
	fields, problem := Object("target.flink", raw)
	if problem != nil {
		return nil, append(problems, *problem)
	}
	out := &core.FlinkTarget{}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if k != "jobName" {
			problems = append(problems, core.Problem{Path: "target.flink." + k, Message: "unknown field; known is jobName"})
			continue
		}
		out.JobName, problems = jobName("target.flink.jobName", fields[k], problems)
	}
	if _, ok := fields["jobName"]; !ok {
		problems = append(problems, core.Problem{Path: "target.flink.jobName", Message: "is missing"})
	}
	return out, problems
}

// policyMap takes strings, numbers and booleans as values, as a person types
// them, and checks them all.
func policyMap(raw json.RawMessage, problems []core.Problem) (map[string]string, []core.Problem) {
	fields, problem := Object("policy", raw)
	if problem != nil {
		return nil, append(problems, *problem)
	}
	out := make(map[string]string, len(fields))
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		v, ok := Scalar(fields[k])
		if !ok {
			problems = append(problems, core.Problem{Path: fmt.Sprintf("policy[%q]", k), Message: "must be a string, a number or a boolean, got " + Cut(string(fields[k]), 60)})
			continue
		}
		out[k] = v
	}
	return out, append(problems, policy.Check(policy.Layer{Name: "input", Values: out})...)
}

// Scalar is the text of a JSON string, number or boolean, as a person types a
// value.
func Scalar(raw json.RawMessage) (string, bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return "", false
	}
	switch x := v.(type) {
	case string:
		return x, true
	case json.Number:
		return x.String(), true
	case bool:
		return fmt.Sprint(x), true
	}
	return "", false
}
