package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"flinkscaler/core"
)

// The forms of names on YARN: tags are small ASCII letters there, and queues are
// paths of names.
var (
	tagForm  = regexp.MustCompile(`^[\x21-\x2b\x2d-\x7e]{1,100}$`) //nolint:gochecknoglobals // a constant
	wordForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]*$`) //nolint:gochecknoglobals // a constant
)

func yarnTarget(raw json.RawMessage, problems []core.Problem) (*core.YarnTarget, []core.Problem) {
	const at = "target.yarn"
	fields, problem := Object(at, raw)
	if problem != nil {
		return nil, append(problems, *problem)
	}
	out := &core.YarnTarget{}
	add := func(k, format string, args ...any) {
		path := at
		if k != "" {
			path += "." + k
		}
		problems = append(problems, core.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		path := at + "." + k
		switch k {
		case "applicationName":
			out.ApplicationName, problems = jobName(path, fields[k], problems)
		case "applicationTag":
			out.ApplicationTag, problems = yarnWord(path, fields[k], tagForm, "is no tag of YARN (up to 100 printable ASCII characters without spaces and commas)", problems)
		case "applicationType":
			out.ApplicationType, problems = jobName(path, fields[k], problems)
		case "queue":
			out.Queue, problems = yarnWord(path, fields[k], wordForm, "is no name of a queue (letters, digits and . _ @ -)", problems)
		case "user":
			out.User, problems = yarnWord(path, fields[k], wordForm, "is no name of a user (letters, digits and . _ @ -)", problems)
		case "jobName":
			out.JobName, problems = jobName(path, fields[k], problems)
		default:
			add(k, "unknown field; known are applicationName, applicationTag, applicationType, queue, user, jobName")
		}
	}
	_, named := fields["applicationName"]
	_, tagged := fields["applicationTag"]
	if !named && !tagged {
		add("", `must name the application by applicationName or applicationTag`)
	}
	return out, problems
}

func yarnWord(path string, raw json.RawMessage, form *regexp.Regexp, wrong string, problems []core.Problem) (string, []core.Problem) {
	s, problems := text(path, raw, problems)
	if s != "" && (len(s) > maxObject || !form.MatchString(s)) {
		return "", append(problems, core.Problem{Path: path, Message: fmt.Sprintf("%s, got %q", wrong, Cut(s, 80))})
	}
	return s, problems
}
