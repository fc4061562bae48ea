package flink

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flinkscaler/core"
)

// seed adds recorded answers whose names begin like this, and some that are
// wrong in ways that matter.
func seed(f *testing.F, beginnings ...string) {
	f.Helper()
	found := 0
	for _, version := range recordedVersions {
		for _, b := range beginnings {
			files, err := filepath.Glob(filepath.Join("testdata", version, b+"*.json"))
			if err != nil {
				f.Fatal(err)
			}
			for _, file := range files {
				content, err := os.ReadFile(file)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(content)
				found++
			}
		}
	}
	if found < len(recordedVersions) {
		f.Fatalf("%d recorded seeds for %v", found, beginnings)
	}
	for _, s := range []string{
		"", "null", "[]", "{}", "[null]", `[{}]`, `{"jobs":null}`, `{"jobs":[null]}`, `[{"id":"a","min":"NaN","max":1e999,"sum":""}]`,
		`{"jid":"a","state":"RUNNING","vertices":[{"id":"v","parallelism":-1,"tasks":{"RUNNING":-9}}],"plan":{"nodes":[{"id":"v","inputs":[{"id":"v"}]}]}}`,
		`{"a":{"parallelism":{"lowerBound":9,"upperBound":-1}}}`, `{"a":null}`, `[{"key":"k","value":null}]`, "<html>", `{"errors":[null]}`,
		`{"flink-version":"2","refresh-interval":9223372036854775807}`, `{"interval":-1}`, `{"taskmanagers":[{"timeSinceLastHeartbeat":-9223372036854775808}]}`,
	} {
		f.Add([]byte(s))
	}
}

// noNaN fails on a reading that is not a number and yet present.
func noNaN(t *testing.T, readings ...core.Reading) {
	t.Helper()
	for _, r := range readings {
		if v, ok := r.Value(); ok && (math.IsNaN(v) || math.IsInf(v, 0)) {
			t.Errorf("a reading of %v", v)
		}
	}
}

func FuzzJobs(f *testing.F) {
	seed(f, "jobs")
	f.Fuzz(func(t *testing.T, b []byte) {
		jobs, err := decodeJobs(b)
		if err != nil {
			return
		}
		if _, err := OnlyLive(jobs, func(j Job) bool { return j.Name == "orders" }); err == nil && len(jobs) == 0 {
			t.Error("found in an empty list")
		}
	})
}

func FuzzJob(f *testing.F) {
	seed(f, "job.", "job-waiting", "job-ended")
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeJob(b)
		if err != nil {
			return
		}
		if len(s.Vertices) != len(s.Topology.Vertices) {
			t.Fatalf("%d vertices in the graph, %d beside it", len(s.Topology.Vertices), len(s.Vertices))
		}
		_ = s.AllTasksRunning() // must not panic
		for i, v := range s.Vertices {
			noNaN(t, v.RecordsRead, v.RecordsWritten, v.BusyMs)
			g := s.Topology.Vertices[i]
			if g.ID != v.ID || g.Parallelism < 0 || g.MaxParallelism < 0 || v.Tasks.Running+v.Tasks.Finished > v.Tasks.Total {
				t.Errorf("%+v %+v", g, v)
			}
			if i > 0 && s.Vertices[i-1].ID >= v.ID {
				t.Errorf("%q after %q", v.ID, s.Vertices[i-1].ID)
			}
		}
		if _, err := json.Marshal(s); err != nil && s.Now.Year() < 9999 && s.StartedAt.Year() < 9999 && s.RunningSince.Year() < 9999 {
			t.Error(err)
		}
	})
}

func FuzzMetrics(f *testing.F) {
	seed(f, "source", "slow", "taskmanagers-names", "taskmanagers-values", "jobmanager-metrics")
	f.Fuzz(func(t *testing.T, b []byte) {
		if names, err := decodeNames(b); err == nil {
			for _, part := range split("/v1/jobs/0/vertices/0/subtasks/metrics"+aggregations, names) {
				if n := len("/v1/jobs/0/vertices/0/subtasks/metrics" + aggregations + joinIDs(part)); n > maxRequestLine || len(part) == 0 {
					t.Errorf("a request line of %d bytes for %d ids", n, len(part))
				}
			}
		}
		if values, err := decodeAggregates(b); err == nil {
			for _, a := range values {
				noNaN(t, core.Read(a.Min), core.Read(a.Max), core.Read(a.Avg), core.Read(a.Sum))
				if math.IsInf(a.Min, 0) || math.IsInf(a.Max, 0) || math.IsInf(a.Avg, 0) || math.IsInf(a.Sum, 0) {
					t.Errorf("%+v: an infinity is no number", a)
				}
			}
		}
		if plain, err := decodePlain(b); err == nil {
			for _, r := range plain {
				noNaN(t, r)
			}
		}
	})
}

func FuzzRequirements(f *testing.F) {
	seed(f, "requirements", "put-")
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = decodeTaken(b)
		r, err := decodeRequirements(b)
		if err != nil {
			return
		}
		for i, bounds := range r {
			if bounds.ID == "" || bounds.Lower < 1 || bounds.Upper < bounds.Lower || (i > 0 && r[i-1].ID >= bounds.ID) {
				t.Errorf("%+v", r)
			}
		}
		sent, err := encodeRequirements(r)
		if err != nil {
			t.Fatal(err)
		}
		// A name with broken UTF-8 comes back mended; ids are hex digits.
		if again, err := decodeRequirements(sent); err != nil || len(again) != len(r) {
			t.Errorf("%v, %+v became %+v", err, r, again)
		}
		if neverRaised(r, r) != nil {
			t.Error("the same bounds are called raised")
		}
	})
}

func FuzzHealth(f *testing.F) {
	seed(f, "checkpoints", "no-checkpoints", "exceptions")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func([]byte, *core.JobHealth) error{decodeCheckpointing, decodeCheckpoints, decodeExceptions} {
			var h core.JobHealth
			if decode(b, &h) != nil {
				continue
			}
			if h.Interval < 0 || len(h.FailureNote) > maxNote || len(h.LastErrorNote) > maxNote || (h.Checkpointing && h.Interval == 0) {
				t.Errorf("%+v", h)
			}
		}
	})
}

func FuzzConfig(f *testing.F) {
	seed(f, "config", "cluster-config", "job-config", "taskmanagers.", "rescales")
	f.Fuzz(func(t *testing.T, b []byte) {
		if config, err := decodeConfig(b); err == nil {
			if s := settingsOf(config); config == nil || s.fetch < 0 || s.heartbeat <= 0 {
				t.Errorf("%+v of %v", s, config)
			}
		}
		if v, err := decodeVersion(b); err == nil && (v.Flink == "" || v.Refresh < 0) {
			t.Errorf("%+v", v)
		}
		if timings, err := decodeTimings(b); err == nil && (timings.Cooldown < 0 || timings.MaxDelay < 0 || timings.Stabilization < 0 || timings.ResourceWait < 0) {
			t.Errorf("%+v", timings)
		}
		_, _ = decodeRescales(b)
		if managers, err := decodeManagers(b); err == nil {
			_ = silent(managers, millis(1), 0)
		}
	})
}

func FuzzErrors(f *testing.F) {
	seed(f, "put-", "gone", "default-scheduler", "too-long", "no-such-path", "requirements-ended")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, status := range []int{200, 302, 400, 401, 404, 409, 414, 429, 500, 502, 503} {
			err := translate(answer{status: status, body: b, location: string(b)})
			if err == nil {
				if status != 200 {
					t.Errorf("HTTP %d is no error", status)
				}
				continue
			}
			if len(err.Error()) > maxErrorText+200 || strings.ContainsAny(err.Error(), "\n\t\x00\x1b") {
				t.Errorf("HTTP %d: %q", status, err)
			}
			if core.ReasonFor(err) == core.ReasonJobGone && status != 404 && status != 500 && status != 400 {
				t.Errorf("HTTP %d calls the job gone: %v", status, err)
			}
		}
	})
}
