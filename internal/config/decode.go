package config

import (
	"flinkscaler/adapters/kerberos"

	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/internal/logging"
)

// decoder turns the merged settings into a Config and collects the problems.
type decoder struct {
	// dir is the file's folder, which relative paths in it start from.
	dir string
	// from names the variable or flag that gave a path's value.
	from     map[string]string
	problems []core.Problem
}

func (d *decoder) problem(path, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if from := d.from[path]; from != "" {
		message += " (from " + from + ")"
	}
	d.problems = append(d.problems, core.Problem{Path: path, Message: message})
}

// config decodes everything.
func (d *decoder) config(raw map[string]any) Config {
	cfg := Default()
	root := d.section("", raw, "taskQueue", "temporal", "log", "http", "searchAttributes", "limits", "clusters")
	root.text("taskQueue", &cfg.TaskQueue)
	if !queueForm.MatchString(cfg.TaskQueue) {
		d.problem("taskQueue", "must be 1 to 200 letters, digits or one of . _ - /, got %q", cfg.TaskQueue)
	}
	root.boolean("searchAttributes", &cfg.SearchAttributes)
	d.temporal(root.sub("temporal", "address", "namespace", "profile"), &cfg.Temporal)
	l := root.sub("log", "level", "format")
	l.oneOf("level", &cfg.Log.Level, logging.Levels())
	l.oneOf("format", &cfg.Log.Format, logging.Formats())
	h := root.sub("http", "listen")
	h.text("listen", &cfg.HTTP.Listen)
	if cfg.HTTP.Listen != Off {
		d.address("http.listen", cfg.HTTP.Listen, "127.0.0.1:9099, or off")
	}
	d.limits(root.sub("limits", "workflowTasks", "activities", "localActivities", "cachedWorkflows", "cyclesPerRun", "stopTimeout"), &cfg.Limits)
	cfg.Clusters = d.clusters(root.values["clusters"])
	return cfg
}

func (d *decoder) temporal(s section, t *Temporal) {
	s.text("address", &t.Address)
	s.text("namespace", &t.Namespace)
	s.text("profile", &t.Profile)
	if t.Address != "" {
		d.address("temporal.address", t.Address, "temporal.example.com:7233")
	}
}

// address checks host:port. A value that is none is not repeated: it could be
// a URL with a password.
func (d *decoder) address(path, value, example string) {
	host, port, err := net.SplitHostPort(value)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || (n == 0 && path != "http.listen") || strings.ContainsAny(host, "/@ ") {
		d.problem(path, "must be host:port such as %s", example)
	}
}

func (d *decoder) limits(s section, l *Limits) {
	// The SDK needs two slots for workflow tasks: one is kept for those of the
	// cache.
	s.integer("workflowTasks", &l.WorkflowTasks, 2)
	s.integer("activities", &l.Activities, 1)
	s.integer("localActivities", &l.LocalActivities, 1)
	s.integer("cachedWorkflows", &l.CachedWorkflows, 0)
	s.integer("cyclesPerRun", &l.CyclesPerRun, 0)
	s.duration("stopTimeout", &l.StopTimeout, MinStopTimeout)
}

// Forms of names. A cluster's name is part of workflow ids, task queues and
// labels of metrics.
var ( //nolint:gochecknoglobals // constants
	queueForm   = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,200}$`)
	clusterForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
)

func (d *decoder) clusters(raw any) []Cluster {
	all, ok := raw.(map[string]any)
	if raw != nil && !ok {
		d.problem("clusters", "must be names with settings, got %s", typeName(raw))
		return nil
	}
	if len(all) == 0 {
		d.problem("clusters", "must name at least one cluster, such as {dev: {flink: {url: \"http://127.0.0.1:8081\"}}}")
	}
	out := make([]Cluster, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path := "clusters." + name
		if !clusterForm.MatchString(name) {
			path = fmt.Sprintf("clusters[%q]", name)
			d.problem(path, "a cluster's name must be 1 to 63 letters, digits or one of . _ - and begin with a letter or digit")
		}
		s := d.section(path, all[name], "flink", "kubernetes", "yarn", "hdfs", "kerberos", "policy", "share")
		c := Cluster{Name: name, Policy: d.policy(path+".policy", s.values["policy"])}
		if s.valid {
			d.platform(path, s, &c)
		}
		shared, given := s.values["share"]
		c.Share = d.share(path+".share", shared, given)
		out = append(out, c)
	}
	return out
}

// platform decodes where the jobs of a cluster run.
func (d *decoder) platform(path string, s section, c *Cluster) {
	var login *kerberos.Login
	if raw, given := s.values["kerberos"]; given {
		login = d.kerberos(path+".kerberos", raw)
	}
	if raw, given := s.values["hdfs"]; given {
		c.HDFS = d.hdfs(path+".hdfs", raw, login)
	}
	raw, isFlink := s.values["flink"]
	var given []string
	for _, k := range []string{"flink", "kubernetes", "yarn"} {
		if _, ok := s.values[k]; ok {
			given = append(given, k)
		}
	}
	switch {
	case len(given) > 1:
		d.problem(path+"."+given[1], "cannot be given beside %s: a cluster is one of flink, kubernetes and yarn", given[0])
	case len(given) == 0:
		d.problem(path+".flink", "is missing; give the address of the Flink REST API as flink: {url: ...}, or kubernetes: {} for a Kubernetes cluster, or yarn: {resourceManagers: [...]} for a YARN cluster")
	case given[0] == "kubernetes":
		c.Kubernetes = d.kubernetes(path+".kubernetes", s.values["kubernetes"])
	case given[0] == "yarn":
		c.Yarn = d.yarn(path+".yarn", s.values["yarn"], login)
		d.keepSavepoints(path+".yarn", s.values["yarn"], &c.KeepSavepoints)
		d.readable(path+".yarn.redeploy.savepoints", c.Yarn.Redeploy.Savepoints, c)
	case isFlink && raw == nil:
		d.problem(path+".flink", "is empty; give the address of the Flink REST API as url: ...")
	default:
		c.Flink = d.flink(path+".flink", raw)
		d.readable(path+".flink.redeploy.savepoints", c.Flink.Redeploy.Savepoints, c)
		d.keepSavepoints(path+".flink", raw, &c.KeepSavepoints)
	}
}

// policy reads job.autoscaler.* keys, dotted or nested, and checks them as
// they will be used.
func (d *decoder) policy(path string, raw any) map[string]string {
	if raw == nil {
		return nil
	}
	values, ok := raw.(map[string]any)
	if !ok {
		d.problem(path, "must be keys with values, got %s", typeName(raw))
		return nil
	}
	out := map[string]string{}
	d.flatten(path, "", values, out)
	for _, p := range policy.Check(policy.Layer{Name: "cluster default", Values: out}) {
		d.problem(strings.TrimSuffix(path, "policy")+p.Path, "%s", strings.TrimSuffix(p.Message, " (from cluster default)"))
	}
	return out
}

func (d *decoder) flatten(path, prefix string, values map[string]any, out map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(values)) {
		key := prefix + k
		at := fmt.Sprintf("%s[%q]", path, key)
		if inner, ok := values[k].(map[string]any); ok {
			d.flatten(path, key+".", inner, out)
			continue
		}
		s, ok := scalar(values[k])
		if list, isList := values[k].([]any); isList {
			s, ok = joined(list)
		}
		switch _, twice := out[key]; {
		case values[k] == nil:
			d.problem(at, "has no value")
		case !ok:
			d.problem(at, "must be one value or a list, got %s", typeName(values[k]))
		case twice:
			d.problem(at, "is given twice, dotted and nested")
		default:
			out[key] = s
		}
	}
}

func joined(list []any) (string, bool) {
	parts := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := scalar(v)
		if !ok {
			return "", false
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ";"), true
}

// scalar writes one YAML value as Flink's configuration would.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// section is one mapping of the file.
type section struct {
	d      *decoder
	path   string
	values map[string]any
	// valid is false when there was something else than a mapping.
	valid bool
}

// section takes a mapping and reports the keys that are not known.
func (d *decoder) section(path string, raw any, known ...string) section {
	values, ok := raw.(map[string]any)
	if raw != nil && !ok {
		d.problem(path, "must be keys with values, got %s", typeName(raw))
	}
	s := section{d: d, path: path, values: values, valid: ok || raw == nil}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, k) {
			d.problem(s.at(k), "%s", unknown(k, known))
		}
	}
	return s
}

func (s section) at(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

func (s section) sub(key string, known ...string) section {
	return s.d.section(s.at(key), s.values[key], known...)
}

func (s section) text(key string, to *string) {
	v, given := s.values[key]
	if !given {
		return
	}
	t, ok := v.(string)
	switch {
	case !ok:
		s.d.problem(s.at(key), "must be a text, got %s", typeName(v))
	case strings.TrimSpace(t) == "":
		s.d.problem(s.at(key), "must not be empty; leave it out for the default")
	default:
		*to = t
	}
}

func (s section) oneOf(key string, to *string, words []string) {
	var t string
	s.text(key, &t)
	switch {
	case t == "":
	case !slices.Contains(words, t):
		s.d.problem(s.at(key), "must be one of %s, got %q", strings.Join(words, ", "), t)
	default:
		*to = t
	}
}

func (s section) boolean(key string, to *bool) {
	v, given := s.values[key]
	if !given {
		return
	}
	b, ok := v.(bool)
	if !ok {
		s.d.problem(s.at(key), "must be true or false, got %s", typeName(v))
		return
	}
	*to = b
}

func (s section) integer(key string, to *int, least int) {
	v, given := s.values[key]
	if !given {
		return
	}
	n, ok := v.(int)
	switch {
	case !ok:
		s.d.problem(s.at(key), "must be a whole number, got %s", typeName(v))
	case n < least:
		s.d.problem(s.at(key), "must be at least %d, got %d", least, n)
	default:
		*to = n
	}
}

func (s section) duration(key string, to *time.Duration, least time.Duration) {
	v, given := s.values[key]
	if !given {
		return
	}
	t, ok := v.(string)
	if !ok {
		s.d.problem(s.at(key), "must be a duration with its unit, such as 10 s, got %s", typeName(v))
		return
	}
	n, err := policy.ParseDuration(t)
	switch {
	case err != nil:
		s.d.problem(s.at(key), "%v", err)
	case n < least:
		s.d.problem(s.at(key), "must be at least %s, got %s", policy.FormatDuration(least), policy.FormatDuration(n))
	default:
		*to = n
	}
}

// typeName says what was found, without its value.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int, int64, uint64, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "keys with values"
	}
	return "something else"
}
