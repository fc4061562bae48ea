package yarn

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"flinkscaler/adapters/flink"
)

// stagingName is the folder beside the savepoints that submissions are staged in.
const stagingName = "flinkscaler-staging"

// LongestSubmitTimeout leaves room for all that one submission waits for.
const LongestSubmitTimeout = 15 * time.Minute

// reserved are the options of Flink that are given to each submission by us.
func reserved() []string {
	return []string{
		optionJobID, optionTags, optionName, optionQueue, optionType, optionStaging, optionProperties, "execution.target", "execution.attached",
		"execution.savepoint.path", "execution.savepoint-restore-mode", "execution.savepoint.ignore-unclaimed-state",
		"execution.state-recovery.path", "execution.state-recovery.claim-mode", "execution.state-recovery.ignore-unclaimed-state",
		"pipeline.jobvertex-parallelism-overrides",
	}
}

// On is true where it is said how jobs are submitted.
func (r Redeploy) On() bool { return len(r.Jobs) > 0 }

// Problems lists what is wrong, each with the path of its setting from the section
// on. It repeats no argument, and no value of an option.
func (r Redeploy) Problems() []error {
	var out []error
	add := func(format string, args ...any) { out = append(out, fmt.Errorf(format, args...)) }
	for _, d := range []struct{ key, value string }{{"savepoints", r.Savepoints}, {"stagingDirectory", r.StagingDirectory}} {
		if d.value != "" && !isPlace(d.value) {
			add("%s: must be a URL such as hdfs://nameservice/flink/savepoints, or an absolute path", d.key)
		}
	}
	if r.Savepoints == "" {
		add("savepoints: is missing; give the directory for savepoints, such as hdfs://nameservice/flink/savepoints")
	}
	if r.Timeout < 0 || r.Timeout > LongestSubmitTimeout {
		add("timeout: must be between 0 and %s, got %s", LongestSubmitTimeout, r.Timeout)
	}
	if len(r.Jobs) == 0 {
		add("jobs: names no job; give its jar as {<job name>: {jar: ...}}")
	}
	out = append(out, optionProblems("options", r.Options)...)
	for _, name := range slices.Sorted(maps.Keys(r.Jobs)) {
		p, at := r.Jobs[name], "jobs."+name
		if name == "" {
			add("jobs: a job must have a name")
		}
		if p.Jar == "" {
			add("%s.jar: is missing; give its URL, such as hdfs://nameservice/jobs/orders.jar, or its path on the worker", at)
		}
		if p.Parallelism < 0 {
			add("%s.parallelism: must not be negative, got %d", at, p.Parallelism)
		}
		for i, a := range p.Args {
			if err := flink.CheckPlaceholders(a); err != nil {
				add("%s.args[%d]: %w", at, i, err)
			}
		}
		out = append(out, optionProblems(at+".options", p.Options)...)
	}
	return out
}

func optionProblems(at string, options map[string]string) []error {
	var out []error
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if slices.Contains(reserved(), key) {
			out = append(out, fmt.Errorf("%s.%s: is set for each submission, and must be left out", at, key))
		}
		if err := flink.CheckPlaceholders(options[key]); err != nil {
			out = append(out, fmt.Errorf("%s.%s: %w", at, key, err))
		}
	}
	return out
}

// isPlace is true for a URL or an absolute path.
func isPlace(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	return path.IsAbs(s) || ok && scheme != "" && !strings.Contains(scheme, "/") && strings.HasPrefix(rest, "/")
}

// remote is true for a place that is not in the file system of this machine.
func isRemote(place string) bool {
	scheme, _, ok := strings.Cut(place, ":")
	return ok && !strings.Contains(scheme, "/") && scheme != "file"
}

// staging is where submissions are staged, without a slash at its end.
func (r Redeploy) staging() string {
	if r.StagingDirectory != "" {
		return strings.TrimRight(r.StagingDirectory, "/")
	}
	base := strings.TrimRight(r.Savepoints, "/")
	scheme, rest, isURL := strings.Cut(base, "://")
	if !isURL {
		return path.Join(path.Dir(base), stagingName)
	}
	host, dir, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + path.Join("/", path.Dir("/"+dir), stagingName)
}

// session is how jobs of a session are submitted: as to any Flink cluster.
func (r Redeploy) session() flink.Redeploy {
	out := flink.Redeploy{Savepoints: r.Savepoints, Jobs: map[string]flink.Program{}, Section: "yarn.redeploy"}
	for name, p := range r.Jobs {
		if !strings.Contains(p.Jar, "/") {
			out.Jobs[name] = flink.Program{Jar: p.Jar, EntryClass: p.EntryClass, Args: p.Args, Parallelism: p.Parallelism}
		}
	}
	if len(out.Jobs) == 0 {
		out.Savepoints = "" // not at all
	}
	return out
}

// program is how a job is submitted.
func (r Redeploy) program(name string) (Program, error) {
	p, ok := r.Jobs[name]
	if !ok {
		return Program{}, errors.New("the worker's file does not say how the job is submitted; give yarn.redeploy.jobs." + name + " of its cluster")
	}
	if p.FlinkHome == "" {
		p.FlinkHome = r.FlinkHome
	}
	options := maps.Clone(r.Options)
	if options == nil {
		options = map[string]string{}
	}
	maps.Copy(options, p.Options)
	p.Options = options
	return p, nil
}

func (r Redeploy) timeout() time.Duration {
	if r.Timeout == 0 {
		return DefaultSubmitTimeout
	}
	return r.Timeout
}
