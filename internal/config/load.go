package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"

	"flinkscaler/core"
)

// delimiter separates the parts of a path inside koanf. A dot would cut the
// policy keys to pieces.
const delimiter = "/"

// EnvFile names the variable that holds the file's path when no flag does.
const EnvFile = "FLINKSCALER_CONFIG"

const envPrefix = "FLINKSCALER_"

// Source is where a configuration comes from.
type Source struct {
	// File is the YAML file; empty: what EnvFile says.
	File string
	// Environ is the environment, as os.Environ gives it.
	Environ []string
	// Flags holds the flags that were given, by name without dashes.
	Flags map[string]string
}

// Error lists what is wrong with a configuration.
type Error struct {
	File     string
	Problems []core.Problem
}

// Error gives one line per problem.
func (e *Error) Error() string {
	var b strings.Builder
	n := "1 problem"
	if len(e.Problems) != 1 {
		n = fmt.Sprintf("%d problems", len(e.Problems))
	}
	fmt.Fprintf(&b, "%s: %s", e.File, n)
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

type kind int

const (
	text kind = iota
	boolean
	integer
)

// setting is one value that the environment or a flag can give.
type setting struct {
	path string
	env  []string // the first that is set wins
	flag string
	kind kind
}

// settings lists them all. What is not here can be said in the file alone.
func settings() []setting {
	return []setting{
		{path: "taskQueue", env: []string{"FLINKSCALER_TASK_QUEUE"}, flag: "task-queue"},
		{path: "temporal.address", env: []string{"FLINKSCALER_TEMPORAL_ADDRESS", "TEMPORAL_ADDRESS"}},
		{path: "temporal.namespace", env: []string{"FLINKSCALER_TEMPORAL_NAMESPACE", "TEMPORAL_NAMESPACE"}},
		{path: "temporal.profile", env: []string{"FLINKSCALER_TEMPORAL_PROFILE", "TEMPORAL_PROFILE"}},
		{path: "log.level", env: []string{"FLINKSCALER_LOG_LEVEL"}, flag: "log-level"},
		{path: "log.format", env: []string{"FLINKSCALER_LOG_FORMAT"}, flag: "log-format"},
		{path: "http.listen", env: []string{"FLINKSCALER_HTTP_LISTEN"}, flag: "http"},
		{path: "searchAttributes", env: []string{"FLINKSCALER_SEARCH_ATTRIBUTES"}, kind: boolean},
		{path: "limits.workflowTasks", env: []string{"FLINKSCALER_LIMITS_WORKFLOW_TASKS"}, kind: integer},
		{path: "limits.activities", env: []string{"FLINKSCALER_LIMITS_ACTIVITIES"}, kind: integer},
		{path: "limits.localActivities", env: []string{"FLINKSCALER_LIMITS_LOCAL_ACTIVITIES"}, kind: integer},
		{path: "limits.cachedWorkflows", env: []string{"FLINKSCALER_LIMITS_CACHED_WORKFLOWS"}, kind: integer},
		{path: "limits.cyclesPerRun", env: []string{"FLINKSCALER_LIMITS_CYCLES_PER_RUN"}, kind: integer},
		{path: "limits.stopTimeout", env: []string{"FLINKSCALER_LIMITS_STOP_TIMEOUT"}},
	}
}

// Load reads file, environment and flags, and checks the result. The error is
// an *Error with every problem. The notes are remarks that stop nothing.
func Load(s Source) (cfg Config, notes []string, err error) {
	env := environment(s.Environ)
	path := s.File
	if path == "" {
		path = env[EnvFile]
	}
	if path == "" {
		return Config{}, nil, &Error{File: "no configuration", Problems: []core.Problem{{
			Path: "--config", Message: "name the configuration file, here or in " + EnvFile + "; examples/worker.yaml is one to begin with",
		}}}
	}
	d := decoder{dir: filepath.Dir(path), from: map[string]string{}}
	k := koanf.New(delimiter)
	if err := k.Load(file.Provider(path), strictYAML{}); err != nil {
		return Config{}, nil, &Error{File: path, Problems: fileProblems(err)}
	}
	d.above(k, env, s.Flags)
	cfg = d.config(k.Raw())
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b core.Problem) int { return strings.Compare(a.Path, b.Path) })
		return Config{}, nil, &Error{File: path, Problems: d.problems}
	}
	return cfg, misspelt(env), nil
}

// above lays the environment and the flags over the file.
func (d *decoder) above(k *koanf.Koanf, env, flags map[string]string) {
	for _, s := range settings() {
		for _, name := range s.env {
			if v, ok := env[name]; ok && v != "" {
				d.set(k, s, v, name)
				break
			}
		}
		if v, ok := flags[s.flag]; ok && s.flag != "" {
			d.set(k, s, v, "--"+s.flag)
		}
	}
}

// set sets one value in the type that the file would have it in.
func (d *decoder) set(k *koanf.Koanf, s setting, value, from string) {
	d.from[s.path] = from
	var v any = value
	switch s.kind {
	case boolean:
		if b, err := strconv.ParseBool(value); err == nil {
			v = b
		}
	case integer:
		if n, err := strconv.Atoi(value); err == nil {
			v = n
		}
	case text:
	}
	parts := strings.Split(s.path, ".")
	if len(parts) == 2 {
		// What the file has here may be no section; that is said below, and
		// must not be covered up.
		if section := k.Get(parts[0]); section != nil {
			if _, ok := section.(map[string]any); !ok {
				return
			}
		}
	}
	if err := k.Set(strings.Join(parts, delimiter), v); err != nil {
		d.problem(s.path, "cannot be set: %v", err)
	}
}

// environment is the environment as a map.
func environment(environ []string) map[string]string {
	out := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok {
			out[name] = value
		}
	}
	return out
}

// misspelt finds variables that look like ours but are not. They are no
// problem: Kubernetes itself makes such names for a service called
// flinkscaler.
func misspelt(env map[string]string) []string {
	known := []string{EnvFile}
	for _, s := range settings() {
		known = append(known, s.env[0])
	}
	var notes []string
	for name := range env {
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(known, name) {
			continue
		}
		if near := nearest(name[len(envPrefix):], trimmed(known)); near != "" {
			notes = append(notes, fmt.Sprintf("the variable %s has no effect; did you mean %s?", name, envPrefix+near))
		}
	}
	slices.Sort(notes)
	return notes
}

func trimmed(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, strings.TrimPrefix(n, envPrefix))
	}
	return out
}
