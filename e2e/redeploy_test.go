//go:build integration || e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
	"flinkscaler/e2e/proxy"
	"flinkscaler/workflows"
)

// session is a session cluster whose job cannot be changed in place, real or
// simulated.
type session struct {
	*rig
	// vertex is the name of the one that is resized, size its size in a status.
	vertex string
	size   func(workflows.Status) int
	// jobs gives all jobs of the name, with their states.
	jobs func(t *testing.T) map[string]string
	// restored is what a job was restored from.
	restored func(t *testing.T, id string) string
}

// override orders a size and waits until it runs, not before the attempt.
func (s *session) override(t *testing.T, size string) {
	t.Helper()
	s.starter("override", "dev/"+job, "--vertex", s.vertex+"="+size)
}

func (s *session) reaches(t *testing.T, size, attempt int) workflows.Status {
	t.Helper()
	st := s.await(job, "the new size", func(st workflows.Status) bool {
		return st.Rescale == nil && st.LastRescale != nil && st.LastRescale.Attempt >= attempt && s.size(st) == size && st.FlinkJobID == st.LastRescale.JobID
	})
	s.check(t, st, core.Applied)
	return st
}

// check: exactly one job lives, it is the one of the outcome, and it runs from
// the savepoint of that change.
func (s *session) check(t *testing.T, st workflows.Status, kind core.OutcomeKind) {
	t.Helper()
	o := st.LastRescale
	if o.Kind != kind || o.Redeploy == nil || o.Redeploy.To != o.JobID || o.Redeploy.From == o.JobID || o.Redeploy.Savepoint == "" {
		t.Fatalf("outcome %+v, %+v", o, o.Redeploy)
	}
	var live []string
	jobs := s.jobs(t)
	for id, state := range jobs {
		if !core.JobState(state).Ended() {
			live = append(live, id)
		}
	}
	if len(live) != 1 || live[0] != o.JobID {
		t.Errorf("live jobs %v, the outcome says %s", live, o.JobID)
	}
	if got := s.restored(t, o.JobID); !redeploy.SamePath(got, o.Redeploy.Savepoint) {
		t.Errorf("it was restored from %s, the savepoint is %s", got, o.Redeploy.Savepoint)
	}
	if want := s.attempts(t) + 1; len(jobs) != want {
		t.Errorf("%d jobs of that name in all, want %d: one for each change: %v", len(jobs), want, jobs)
	}
}

// attempts counts the changes that stopped the job.
func (s *session) attempts(t *testing.T) int {
	t.Helper()
	n := 0
	for _, o := range s.history(job).Rescales {
		if o.Redeploy != nil && o.Redeploy.Savepoint != "" {
			n++
		}
	}
	return n
}

// steps are the moments at which a worker is killed.
func steps() map[string]struct {
	matches func(proxy.Call) bool
	after   bool
} {
	post := func(end string) func(proxy.Call) bool {
		return func(r proxy.Call) bool { return r.Method == http.MethodPost && strings.HasSuffix(r.Path, end) }
	}
	get := func(re string) func(proxy.Call) bool {
		path := regexp.MustCompile(re)
		return func(r proxy.Call) bool { return r.Method == http.MethodGet && path.MatchString(r.Path) }
	}
	type at = struct {
		matches func(proxy.Call) bool
		after   bool
	}
	return map[string]at{
		"before the stop":             {post("/stop"), false},
		"the stop's answer lost":      {post("/stop"), true},
		"the result told to nobody":   {get("/savepoints/[0-9a-f]{32}$"), true},
		"before the submission":       {post("/run"), false},
		"the submission's answer":     {post("/run"), true},
		"while it is watched":         {get("/jobs/[0-9a-f]{32}$"), true},
		"before the jar is looked up": {get("/jars$"), false},
	}
}

// killAt runs a change from one size to another, with the worker killed at a
// step of it.
func (s *session) killAt(t *testing.T, name string, from, to int) {
	t.Helper()
	step := steps()[name]
	old := ""
	for id, state := range s.jobs(t) {
		if !core.JobState(state).Ended() {
			old = id
		}
	}
	begun := false // what happens before the stop is no step of it
	matches := func(r proxy.Call) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/stop") {
			begun = true
		}
		return begun && step.matches(r) && !(name == "while it is watched" && strings.Contains(r.Path, old))
	}
	reached := make(chan struct{})
	kill := func() { must(t, s.Worker.Kill()); close(reached) }
	if step.after {
		s.proxy.On(matches, nil, kill)
	} else {
		s.proxy.On(matches, kill, nil)
	}
	before := s.await(job, "the last change to be over", func(st workflows.Status) bool { return st.Rescale == nil && s.size(st) == from })
	attempt := 1
	if before.LastRescale != nil {
		attempt = before.LastRescale.Attempt + 1
	}
	s.override(t, string(rune('0'+to)))
	await(t, reached, "the step to be reached")
	s.launchWorker()
	s.reaches(t, to, attempt)
}

// terminateAt ends the parent without a word at a step of a change, and starts it
// again: it adopts the outcome.
func (s *session) terminateAt(t *testing.T, name string, policy map[string]string, from, to int) {
	t.Helper()
	before := s.await(job, "the last change to be over", func(st workflows.Status) bool { return st.Rescale == nil && s.size(st) == from })
	reached := make(chan struct{})
	s.proxy.On(steps()[name].matches, nil, func() { close(reached) })
	s.override(t, string(rune('0'+to)))
	await(t, reached, "the step to be reached")
	s.tctl("workflow", "terminate", "--wid", "flink/dev/"+job, "--reason", "test")
	s.start(job, policy)
	st := s.await(job, "the outcome to be adopted", func(st workflows.Status) bool {
		return st.LastRescale != nil && st.LastRescale.Attempt > before.LastRescale.Attempt && st.Rescale == nil && s.size(st) == to
	})
	if st.Runs != 1 || st.LastRescale.Kind != core.Applied || st.LastRescale.Redeploy == nil {
		t.Errorf("run %d, outcome %+v", st.Runs, st.LastRescale)
	}
}

// flinkJobs asks Flink for all jobs of the name.
func flinkJobs(t *testing.T, url string) map[string]string {
	t.Helper()
	var body struct {
		Jobs []struct {
			ID    string `json:"jid"`
			Name  string `json:"name"`
			State string `json:"state"`
		} `json:"jobs"`
	}
	readJSON(t, url+"/jobs/overview", &body)
	out := map[string]string{}
	for _, j := range body.Jobs {
		if j.Name == job {
			out[j.ID] = j.State
		}
	}
	return out
}

func flinkRestored(t *testing.T, url, id string) string {
	t.Helper()
	var body struct {
		Latest struct {
			Restored struct {
				Path string `json:"external_path"`
			} `json:"restored"`
		} `json:"latest"`
	}
	readJSON(t, url+"/jobs/"+id+"/checkpoints", &body)
	return body.Latest.Restored.Path
}

func readJSON(t *testing.T, url string, to any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	must(t, json.NewDecoder(resp.Body).Decode(to))
}
