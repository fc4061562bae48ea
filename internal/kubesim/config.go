package kubesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Keys of a Flink configuration that decide how an operator acts.
const (
	keyOverrides   = "pipeline.jobvertex-parallelism-overrides"
	keyScheduler   = "jobmanager.scheduler"
	keyMode        = "scheduler-mode"
	keySlots       = "taskmanager.numberOfTaskSlots"
	keyRestPort    = "rest.port"
	keyParallelism = "parallelism.default"
	keySavepoint   = "execution.savepoint.path"
	keyInPlace     = "kubernetes.operator.job.upgrade.inplace-scaling.enabled"
	keyMainClass   = "$internal.application.main"
	keyArguments   = "$internal.application.program-args"
	keyJobID       = "$internal.pipeline.job-id"
)

// flatten makes dotted keys of a configuration that may be nested, and text of
// its values. Lists are joined by ";".
func flatten(in map[string]any) map[string]string {
	out := map[string]string{}
	flattenInto(out, "", in)
	return out
}

func flattenInto(out map[string]string, prefix string, in map[string]any) {
	for k, v := range in {
		key := prefix + k
		switch v := v.(type) {
		case map[string]any:
			flattenInto(out, key+".", v)
		case []any:
			parts := make([]string, 0, len(v))
			for _, e := range v {
				parts = append(parts, fmt.Sprint(e))
			}
			out[key] = strings.Join(parts, ";")
		case nil:
		default:
			out[key] = fmt.Sprint(v)
		}
	}
}

// ofOperator is true for keys that an operator reads and Flink never sees.
func ofOperator(key string) bool {
	return strings.HasPrefix(key, "kubernetes.operator.") || strings.HasPrefix(key, "job.autoscaler.")
}

// writeConfig makes a configuration file of one "key: value" per line.
func writeConfig(conf map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		fmt.Fprintf(&b, "%s: %s\n", k, conf[k])
	}
	return b.String()
}

// readConfig reads what writeConfig or the real operator wrote.
func readConfig(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		k, v, found := strings.Cut(strings.TrimSpace(line), ": ")
		if found && !strings.HasPrefix(k, "#") {
			out[k] = strings.Trim(strings.TrimSpace(v), `'"`)
		}
	}
	return out
}

// number is a positive number of a configuration, or the default.
func number(conf map[string]string, key string, byDefault int) int {
	n := 0
	if _, err := fmt.Sscan(conf[key], &n); err != nil || n <= 0 {
		return byDefault
	}
	return n
}

// span is a duration of a configuration, in Flink's or in Go's words, or the
// default.
func span(conf map[string]string, key string, byDefault time.Duration) time.Duration {
	text := strings.ReplaceAll(conf[key], " ", "")
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	if ms := number(conf, key, 0); ms > 0 && !strings.ContainsAny(text, "smhd") {
		return time.Duration(ms) * time.Millisecond
	}
	return byDefault
}

// isAdaptive is true when Flink runs jobs under the adaptive scheduler.
func isAdaptive(conf map[string]string) bool {
	return strings.EqualFold(conf[keyScheduler], "adaptive") || isReactive(conf)
}

func isReactive(conf map[string]string) bool { return strings.EqualFold(conf[keyMode], "reactive") }
