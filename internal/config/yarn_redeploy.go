package config

import (
	"maps"
	"path/filepath"
	"slices"

	"flinkscaler/adapters/yarn"
)

// yarnRedeploy decodes how jobs are stopped and submitted again. An argument and the
// value of an option are never repeated.
func (s section) yarnRedeploy(to *yarn.Redeploy) {
	raw, given := s.values["redeploy"]
	if !given {
		return
	}
	r := s.d.section(s.at("redeploy"), raw, "savepoints", "keepSavepoints", "stagingDirectory", "flinkHome", "hadoopConfig", "environment", "timeout", "options", "jobs")
	if !r.valid {
		return
	}
	r.text("savepoints", &to.Savepoints)
	r.text("stagingDirectory", &to.StagingDirectory)
	r.folder("flinkHome", &to.FlinkHome)
	r.folder("hadoopConfig", &to.HadoopConfig)
	r.textMap("environment", &to.Environment)
	r.textMap("options", &to.Options)
	r.duration("timeout", &to.Timeout, 1)
	values, ok := r.values["jobs"].(map[string]any)
	if _, given := r.values["jobs"]; given && !ok {
		s.d.problem(r.at("jobs"), "must be names of jobs with settings, got %s", typeName(r.values["jobs"]))
	}
	to.Jobs = make(map[string]yarn.Program, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		j := s.d.section(r.at("jobs")+"."+name, values[name], "jar", "entryClass", "args", "parallelism", "options", "flinkHome")
		var p yarn.Program
		j.text("jar", &p.Jar)
		j.text("entryClass", &p.EntryClass)
		j.integer("parallelism", &p.Parallelism, 1)
		j.texts("args", &p.Args)
		j.textMap("options", &p.Options)
		j.folder("flinkHome", &p.FlinkHome)
		to.Jobs[name] = p
	}
	for _, p := range to.Problems() {
		s.d.flinkProblem(s.at("redeploy"), p.Error(), false)
	}
}

// textMap reads texts by name; numbers and true or false count as written.
func (s section) textMap(key string, to *map[string]string) {
	v, given := s.values[key]
	if !given {
		return
	}
	values, ok := v.(map[string]any)
	if !ok {
		s.d.problem(s.at(key), "must be texts by name, got %s", typeName(v))
		return
	}
	*to = make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t, ok := scalar(values[name])
		if !ok {
			s.d.problem(s.at(key)+"."+name, "must be a text, got %s", typeName(values[name]))
			continue
		}
		(*to)[name] = t
	}
}

// folder reads the path of a folder, from that of the configuration on.
func (s section) folder(key string, to *string) {
	s.text(key, to)
	if *to != "" && !filepath.IsAbs(*to) {
		*to = filepath.Join(s.d.dir, *to)
	}
}
