package yarn

import (
	"encoding/json"
	"fmt"
	"strings"

	"flinkscaler/core"
)

// What Prepare keeps of an application that will be stopped, beside its target: the
// one in its place gets the same, so that the target finds it.
const (
	extraStopped = "stopped" // its id
	extraName    = "name"
	extraQueue   = "queue"
	extraTags    = "tags"
	extraType    = "type"
	extraUser    = "user"
)

// memo is that, read.
type memo struct {
	target core.YarnTarget
	// application is the one in which a job runs, stopped the one that made way; either
	// may be empty.
	application, stopped         string
	name, queue, tags, kind, who string
}

// memoOf reads the extras of a job or of a submission.
func memoOf(extras map[string]string) (memo, error) {
	m := memo{
		application: extras[extraApplication], stopped: extras[extraStopped], name: extras[extraName],
		queue: extras[extraQueue], tags: extras[extraTags], kind: extras[extraType], who: extras[extraUser],
	}
	if err := json.Unmarshal([]byte(extras[extraTarget]), &m.target); err != nil {
		return memo{}, fmt.Errorf("%w: the job was not found on this cluster", core.ErrRefused)
	}
	return m, nil
}

// remember gives what Prepare keeps.
func remember(p *place, target string) map[string]string {
	return map[string]string{
		extraTarget: target, extraStopped: p.app.ID, extraName: p.app.Name, extraQueue: p.app.Queue,
		extraTags: strings.Join(foreignTags(p.app.Tags), ","), extraType: p.app.Type, extraUser: p.app.User,
	}
}

// extras are those of a job in an application.
func (m memo) extras(application string) map[string]string {
	target, err := json.Marshal(m.target)
	if err != nil { // it was read from JSON
		return nil
	}
	return map[string]string{extraTarget: string(target), extraApplication: application}
}

// session is true for a target that names one job of several.
func (m memo) session() bool { return m.target.JobName != "" }

// Tags that we give an application: one that it is ours, one with the id of its job,
// by which a submission is found again.
const (
	tagOurs = "flinkscaler"
	tagJob  = "flinkscaler-"
)

// foreignTags are those of an application that are not ours.
func foreignTags(tags string) []string {
	var out []string
	for t := range strings.SplitSeq(tags, ",") {
		if t = strings.TrimSpace(t); t != "" && t != tagOurs && !strings.HasPrefix(t, tagJob) {
			out = append(out, t)
		}
	}
	return out
}

// jobOf is the id of the job that an application of ours was submitted for, empty for
// one that is not ours.
func (a application) jobOf() string {
	const digits = 32
	for t := range strings.SplitSeq(a.Tags, ",") {
		if id, ok := strings.CutPrefix(t, tagJob); ok && len(id) == digits && strings.Trim(id, "0123456789abcdef") == "" {
			return id
		}
	}
	return ""
}

// jobState is how the one job of an application that has ended did.
func (a application) jobState() core.JobState {
	switch {
	case a.State == stateFinished && a.FinalStatus == "SUCCEEDED":
		return core.JobFinished
	case a.State == stateKilled || a.FinalStatus == "KILLED":
		return core.JobCanceled
	}
	return core.JobFailed
}

// reason says why an application ended, or where that can be read.
func (a application) reason() string {
	why := strings.TrimSpace(a.Diagnostics)
	if why == "" && a.Logs != "" {
		why = "YARN says nothing more; see its logs at " + a.Logs
	}
	if why == "" {
		why = "YARN says nothing more; see the logs of " + a.ID
	}
	return fmt.Sprintf("%s is %s/%s: %s", a.ID, a.State, a.FinalStatus, cut(why))
}
