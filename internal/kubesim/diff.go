package kubesim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// diffClass says what a change of a spec asks for; a later one beats an
// earlier one.
type diffClass int

const (
	same diffClass = iota
	ignored
	scaling
	upgrading
)

// String is the class as the operator's events name it.
func (c diffClass) String() string {
	switch c {
	case ignored:
		return "IGNORE"
	case scaling:
		return "SCALE"
	case upgrading:
		return "UPGRADE"
	default:
		return "NONE"
	}
}

// change is one field that differs.
type change struct {
	path     string
	from, to string // "null" for nothing
	class    diffClass
}

// specDiff is how a spec differs from the one reconciled last.
type specDiff struct {
	kind    string
	class   diffClass
	changes []change
}

// String shows it as the operator's events do.
func (d specDiff) String() string {
	parts := make([]string, 0, len(d.changes))
	for _, c := range d.changes {
		parts = append(parts, c.path+" : "+c.from+" -> "+c.to)
	}
	return "Diff: " + d.kind + "Spec[" + strings.Join(parts, ", ") + "]"
}

// compare finds the differences of two specs, sorted: the job's fields first,
// the configuration last, as the operator's text has them.
func compare(kind string, before, after map[string]any) specDiff {
	native := !isStandalone(after)
	a, b := fields(before), fields(after)
	d := specDiff{kind: kind}
	for _, path := range slices.SortedFunc(maps.Keys(union(a, b)), byPart) {
		from, to := a[path], b[path]
		if from == to {
			continue
		}
		c := change{path, orNull(from), orNull(to), classify(path, native)}
		d.changes = append(d.changes, c)
		d.class = max(d.class, c.class)
	}
	return d
}

func union(a, b map[string]string) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}

func byPart(a, b string) int {
	if pa, pb := part(a), part(b); pa != pb {
		return pa - pb
	}
	return strings.Compare(a, b)
}

func part(path string) int {
	switch {
	case strings.HasPrefix(path, "job."):
		return 0
	case strings.HasPrefix(path, "flinkConfiguration."):
		return 2
	}
	return 1
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return s
}

// fields makes one entry of each field of a spec. The configuration and the
// job are looked into, everything else is compared as a whole.
func fields(spec map[string]any) map[string]string {
	out := map[string]string{}
	for k, v := range spec {
		switch k {
		case "flinkConfiguration":
			for key, value := range flatten(asMap(v)) {
				out[k+"."+key] = value
			}
		case "job", "taskManager", "jobManager":
			for key, value := range asMap(v) {
				out[k+"."+key] = text(value)
			}
		default:
			out[k] = text(v)
		}
	}
	return out
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any, []any:
		b, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(b)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

func isStandalone(spec map[string]any) bool { return spec["mode"] == "standalone" }

// classify says what a change of one field asks for.
func classify(path string, native bool) diffClass {
	key, isConfig := strings.CutPrefix(path, "flinkConfiguration.")
	if isConfig {
		switch {
		case strings.HasPrefix(key, "job.autoscaler"), strings.HasPrefix(key, keyParallelism), strings.HasPrefix(key, "kubernetes.operator"):
			return ignored
		case native && strings.HasPrefix(key, keyOverrides):
			return scaling
		}
		return upgrading
	}
	switch path {
	case "job.upgradeMode", "job.initialSavepointPath", "job.allowNonRestoredState", "job.savepointTriggerNonce",
		"job.checkpointTriggerNonce", "job.autoscalerResetNonce":
		return ignored
	case "job.parallelism", "taskManager.replicas":
		if !native {
			return scaling
		}
	}
	return upgrading
}
