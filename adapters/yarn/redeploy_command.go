package yarn

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// Options of Flink that each submission gets.
const (
	optionJobID      = "$internal.pipeline.job-id"
	optionTags       = "yarn.tags"
	optionName       = "yarn.application.name"
	optionQueue      = "yarn.application.queue"
	optionType       = "yarn.application.type"
	optionStaging    = "yarn.staging-directory"
	optionProperties = "yarn.properties-file.location"
)

// release is a version of Flink, as far as the command line depends on it.
type release struct{ major, minor int }

func (r release) String() string { return fmt.Sprintf("%d.%d", r.major, r.minor) }

var distribution = regexp.MustCompile(`^flink-dist(?:_[0-9.]+)?-([0-9]+)\.([0-9]+)[.-].*\.jar$`) //nolint:gochecknoglobals // a constant

// releaseOf is the version of a Flink home, by the name of its jar.
func releaseOf(home string) (release, error) {
	entries, err := os.ReadDir(filepath.Join(home, "lib"))
	if err != nil {
		return release{}, fmt.Errorf("flinkHome: its lib cannot be read: %w", err)
	}
	for _, e := range entries {
		if m := distribution.FindStringSubmatch(e.Name()); m != nil {
			major, _ := strconv.Atoi(m[1])
			minor, _ := strconv.Atoi(m[2])
			return release{major, minor}, nil
		}
	}
	return release{}, fmt.Errorf("flinkHome: %s has no flink-dist jar in its lib", home)
}

// versionOf reads a version as Flink tells it.
func versionOf(s string) (release, bool) {
	first, rest, _ := strings.Cut(s, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	minor, err2 := strconv.Atoi(second)
	return release{major, minor}, err == nil && err2 == nil
}

// command is what submits a job, with all that must not show in an error.
func (c *Cluster) command(s core.Submission, m memo) (command, []string, error) {
	program, err := c.cfg.Redeploy.program(s.Name)
	if err != nil {
		return command{}, nil, err
	}
	home, err := releaseOf(program.FlinkHome)
	if err != nil {
		return command{}, nil, err
	}
	args, err := flink.Expand(program.Args, s.Vertices)
	secrets := flink.Unspeakable(append(slices.Clone(program.Args), args...), s.Name)
	if err != nil {
		return command{}, secrets, err
	}
	options, err := expandAll(program.Options, s.Vertices)
	secrets = append(secrets, hidden(options, c.cfg.Redeploy.Environment)...)
	if err != nil {
		return command{}, secrets, err
	}
	maps.Copy(options, c.given(s, m, program, home))
	verb := "run"
	if home.major < 2 {
		verb = "run-application"
	}
	line := []string{verb, "-t", "yarn-application", "-d"}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		line = append(line, "-D"+key+"="+options[key])
	}
	if program.EntryClass != "" {
		line = append(line, "-c", program.EntryClass)
	}
	line = append(append(line, program.Jar), args...)
	return command{path: filepath.Join(program.FlinkHome, "bin", "flink"), args: line, env: c.childEnvironment(), jobID: s.JobID}, secrets, nil
}

// given are the options that make the application the one that it has to be.
func (c *Cluster) given(s core.Submission, m memo, p Program, home release) map[string]string {
	sizes := make([]core.VertexSize, 0, len(s.Vertices))
	for _, v := range s.Vertices {
		sizes = append(sizes, core.VertexSize{ID: v.ID, Parallelism: v.Parallelism})
	}
	out := map[string]string{
		optionJobID: s.JobID, optionName: m.name, optionTags: tagsFor(m.tags, s.JobID), optionStaging: c.cfg.Redeploy.stagingFor(s.JobID),
		"execution.attached": "false", redeploy.OverridesKey: redeploy.Overrides(sizes),
	}
	if m.queue != "" {
		out[optionQueue] = m.queue
	}
	if m.kind != "" && m.kind != defaultType {
		out[optionType] = m.kind
	}
	if p.Parallelism > 0 {
		out["parallelism.default"] = strconv.Itoa(p.Parallelism)
	}
	// The savepoint is left alone: until the job has checkpoints of its own, it is the
	// only way back.
	const noClaim = "NO_CLAIM"
	if home.major < 2 {
		out["execution.savepoint.path"], out["execution.savepoint-restore-mode"] = s.Savepoint, noClaim
	} else {
		out["execution.state-recovery.path"], out["execution.state-recovery.claim-mode"] = s.Savepoint, noClaim
	}
	return out
}

// mostTags is how many tags YARN takes.
const mostTags = 10

// tagsFor are the tags of a new application: those of the one before, and ours. The
// plain one is left out where there is no room for it.
func tagsFor(before, jobID string) string {
	tags := foreignTags(before)
	if len(tags)+2 <= mostTags {
		tags = append(tags, tagOurs)
	}
	return strings.Join(append(tags, tagJob+jobID), ",")
}

// expandAll puts the sizes into the values of options.
func expandAll(options map[string]string, vertices []core.SubmittedVertex) (map[string]string, error) {
	out := make(map[string]string, len(options))
	for _, key := range slices.Sorted(maps.Keys(options)) {
		v, err := flink.Expand([]string{options[key]}, vertices)
		if err != nil {
			return out, fmt.Errorf("options.%s: %w", key, err)
		}
		out[key] = v[0]
	}
	return out, nil
}

// hidden are the values whose names say that they are secrets, as Flink itself tells
// them.
func hidden(maps ...map[string]string) []string {
	var out []string
	for _, m := range maps {
		for key, value := range m {
			key = strings.ToLower(key)
			for _, word := range []string{"password", "secret", "token", "key", "credential", "jaas", "auth"} {
				if strings.Contains(key, word) && len(value) > 3 {
					out = append(out, value)
					break
				}
			}
		}
	}
	return out
}

// childEnvironment is that of the command. A signal to end does not run the hooks of
// its JVM (-Xrs): they would kill the application. With Kerberos it reads the krb5.conf
// that the worker reads.
func (c *Cluster) childEnvironment() []string {
	given := maps.Clone(c.cfg.Redeploy.Environment)
	if given == nil {
		given = map[string]string{}
	}
	if dir := c.cfg.Redeploy.HadoopConfig; dir != "" {
		given["HADOOP_CONF_DIR"], given["YARN_CONF_DIR"] = dir, dir
	}
	if _, set := given["HADOOP_USER_NAME"]; !set && c.cfg.User != "" && c.cfg.Login == nil {
		given["HADOOP_USER_NAME"] = c.cfg.User
	}
	given["JVM_ARGS"] = strings.TrimSpace("-Xrs " + c.krb5Flag(given["JVM_ARGS"]))
	return environment(os.Environ(), given)
}

// scratch makes a folder for what the command writes, and tells it to write there.
func scratch(c *command) (string, error) {
	dir, err := os.MkdirTemp("", "flinkscaler-submit-")
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "-D") })
	c.args = slices.Insert(c.args, at, "-D"+optionProperties+"="+dir)
	if !slices.ContainsFunc(c.env, func(v string) bool { return strings.HasPrefix(v, "FLINK_LOG_DIR=") }) {
		c.env = append(c.env, "FLINK_LOG_DIR="+dir)
	}
	return dir, nil
}
