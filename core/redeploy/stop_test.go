package redeploy_test

import (
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

func TestHowAStopEnded(t *testing.T) {
	t.Parallel()
	const at, found = "file:/sp/told", "file:/sp/found"
	long := time.Minute
	done, failed := core.StopResult{State: core.StopDone, Location: at}, core.StopResult{State: core.StopFailed, Why: "no space left"}
	busy, unknown := core.StopResult{State: core.StopInProgress}, core.StopResult{State: core.StopUnknown}
	one := []core.Savepoint{{Path: found}, {Path: "file:/sp/older"}}
	for name, tt := range map[string]struct {
		reason string
		facts  redeploy.Facts
		want   redeploy.Ending
		from   string
		note   string
	}{
		"done":                        {"Flink says so, and the job ended", redeploy.Facts{Stop: done, Asked: true, Job: core.JobFinished}, redeploy.Stopped, at, "written"},
		"done, job gone":              {"a cluster that forgot the job told the savepoint before", redeploy.Facts{Stop: done, Asked: true}, redeploy.Stopped, at, ""},
		"done, still there":           {"the job ends a moment later", redeploy.Facts{Stop: done, Asked: true, Job: core.JobRunning}, redeploy.Open, "", "about to end"},
		"done, runs on":               {"FLINK-22266: a savepoint, and the job restarted all the same", redeploy.Facts{Stop: done, Asked: true, Job: core.JobRunning, For: long}, redeploy.RunsOn, "", "did not stop"},
		"done, restarts":              {"where it ends up is not known yet", redeploy.Facts{Stop: done, Asked: true, Job: core.JobRestarting, For: long}, redeploy.Open, "", ""},
		"failed":                      {"a failed stop leaves the job as it was", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobRunning, Tasks: true}, redeploy.RunsOn, "", "no space left"},
		"failed, tasks restart":       {"RUNNING is shown before the tasks run", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobRunning, For: long}, redeploy.Open, "", "no space left"},
		"failed, tasks do not start":  {"it is not waited for for ever", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobRunning, For: 5 * time.Minute}, redeploy.RunsOn, "", "not all of its tasks run again yet"},
		"failed, restarts":            {"it really has to run", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobRestarting, For: long}, redeploy.Open, "", "RESTARTING"},
		"failed, down, found":         {"the savepoint is there though the stop failed", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobFailed, Listed: true, Found: one}, redeploy.Stopped, found, "found"},
		"failed, down, none":          {"nothing to start from", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobFailed, Listed: true, For: long}, redeploy.Lost, "", "FAILED and its stop left no savepoint: no space left"},
		"failed, down, none, so far":  {"storage may show it later", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobFailed, Listed: true}, redeploy.Open, "", "no savepoint yet"},
		"in progress":                 {"BC-27: twelve minutes are not too long", redeploy.Facts{Stop: busy, Asked: true, Job: core.JobRunning, For: 12 * time.Minute}, redeploy.Open, "", "writes the savepoint"},
		"in progress, ended":          {"the result follows", redeploy.Facts{Stop: busy, Asked: true, Job: core.JobFinished, Listed: true, Found: one}, redeploy.Open, "", "not told yet"},
		"no answer, ended, found":     {"a lost answer is found again by the directory", redeploy.Facts{Stop: busy, Asked: true, Job: core.JobFinished, Listed: true, Found: one, For: long}, redeploy.Stopped, found, "found"},
		"forgotten, runs":             {"the JobManager was replaced and recovered the job", redeploy.Facts{Stop: unknown, Asked: true, Job: core.JobRunning, For: long}, redeploy.RunsOn, "", "knows nothing"},
		"forgotten, runs, so far":     {"the request may still be on its way", redeploy.Facts{Stop: unknown, Asked: true, Job: core.JobRunning}, redeploy.Open, "", ""},
		"forgotten, ended, found":     {"the JobManager was replaced after the stop", redeploy.Facts{Stop: unknown, Asked: true, Listed: true, Found: one}, redeploy.Stopped, found, ""},
		"forgotten, gone, none":       {"the cluster lost the job before its savepoint", redeploy.Facts{Stop: unknown, Asked: true, Listed: true, For: long}, redeploy.Lost, "", "gone"},
		"forgotten, gone, no storage": {"what cannot be read is not empty", redeploy.Facts{Stop: unknown, Asked: true, For: time.Hour}, redeploy.Open, "", "cannot be read"},
		"cancelled by somebody":       {"it is not started against their will", redeploy.Facts{Stop: failed, Asked: true, Job: core.JobCanceled, Listed: true, Found: one, For: long}, redeploy.Lost, "", "cancelled"},
		"nobody answers":              {"only a cluster that answers can say that a job is down", redeploy.Facts{Stop: done, Job: core.JobFinished, For: time.Hour}, redeploy.Open, "", "does not tell"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ending, from, note := redeploy.Judge(tt.facts)
			if ending != tt.want || from != tt.from || !strings.Contains(note, tt.note) {
				t.Errorf("%s: %q from %q (%s), want %q from %q (%s)", tt.reason, ending, from, note, tt.want, tt.from, tt.note)
			}
		})
	}
}
