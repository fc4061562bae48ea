package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/hdfs"
)

// redeploy decodes how jobs are stopped and submitted again. What is wrong with
// the values the adapter itself says; an argument is never repeated.
func (s section) redeploy(to *flink.Redeploy) {
	raw, given := s.values["redeploy"]
	if !given {
		return
	}
	r := s.d.section(s.at("redeploy"), raw, "savepoints", "keepSavepoints", "jobs")
	if !r.valid {
		return
	}
	r.text("savepoints", &to.Savepoints)
	jobs, ok := r.values["jobs"].(map[string]any)
	if _, given := r.values["jobs"]; given && !ok {
		s.d.problem(r.at("jobs"), "must be names of jobs with settings, got %s", typeName(r.values["jobs"]))
	}
	to.Jobs = make(map[string]flink.Program, len(jobs))
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		j := s.d.section(r.at("jobs")+"."+name, jobs[name], "jar", "entryClass", "args", "parallelism")
		var p flink.Program
		j.text("jar", &p.Jar)
		j.text("entryClass", &p.EntryClass)
		j.integer("parallelism", &p.Parallelism, 1)
		j.texts("args", &p.Args)
		to.Jobs[name] = p
	}
	if to.Savepoints == "" && len(to.Jobs) == 0 {
		s.d.problem(s.at("redeploy"), "says nothing; give savepoints and jobs, or leave it out")
	}
}

// keepSavepoints reads how many savepoints of a job are kept, of a cluster whose
// jobs are redeployed.
func (d *decoder) keepSavepoints(path string, platform any, to *int) {
	values, _ := platform.(map[string]any)
	raw, ok := values["redeploy"].(map[string]any)
	if !ok {
		return
	}
	*to = DefaultKeepSavepoints
	section{d: d, path: path + ".redeploy", values: raw}.integer("keepSavepoints", to, 0)
}

// readable reports a directory of savepoints that this worker cannot read.
func (d *decoder) readable(path, directory string, c *Cluster) {
	scheme, _, ok := strings.Cut(directory, ":")
	switch {
	case !ok || scheme == "file":
	case scheme != hdfs.Scheme:
		d.problem(path, "must be a directory that this worker can read, such as file:///savepoints or hdfs://nameservice/savepoints, got %s:", scheme)
	case c.HDFS == nil:
		d.problem(path, "is on HDFS; give hdfs to the cluster, which says how it is reached")
	default:
		if s, err := hdfs.New(*c.HDFS); err == nil && s.Knows(directory) != nil {
			d.problem(path, "%v", s.Knows(directory))
		}
	}
}

// texts reads a list of texts; numbers and true or false count as written.
func (s section) texts(key string, to *[]string) {
	v, given := s.values[key]
	if !given {
		return
	}
	list, ok := v.([]any)
	if !ok {
		s.d.problem(s.at(key), "must be a list of texts, got %s", typeName(v))
		return
	}
	for i, v := range list {
		t, ok := scalar(v)
		if !ok {
			s.d.problem(fmt.Sprintf("%s[%d]", s.at(key), i), "must be a text, got %s", typeName(v))
			return
		}
		*to = append(*to, t)
	}
}
