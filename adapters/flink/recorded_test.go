package flink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

// recordedVersions have a folder in testdata each; TestRecord makes them.
var recordedVersions = []string{"1.18.1", "1.20.5", "2.3.0"}

// recorded reads an answer that a real Flink gave.
func recorded(t testing.TB, version, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", version, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decoders says what decodes a recorded file, by the beginning of its name.
// Each gives some account of what it found.
func decoders() map[string]func([]byte) (string, error) {
	return map[string]func([]byte) (string, error){
		"jobs":               account(decodeJobs),
		"job":                account(decodeJob),
		"requirements":       account(decodeRequirements),
		"put-same":           account(decodeTaken),
		"config":             account(decodeVersion),
		"cluster-config":     account(decodeConfig),
		"job-config":         account(decodeConfig),
		"gone-jobmanager":    account(decodeConfig),
		"jobmanager-metrics": account(decodePlain),
		"taskmanagers":       account(decodeManagers),
		"taskmanagers-names": account(decodeNames),
		"source-names":       account(decodeNames), "slow-names": account(decodeNames),
		"taskmanagers-values": account(decodeAggregates),
		"source":              account(decodeAggregates), "slow": account(decodeAggregates),
		"checkpoints":        account(healthOf(decodeCheckpoints)),
		"no-checkpoints":     account(healthOf(decodeCheckpoints)),
		"checkpoints-config": account(healthOf(decodeCheckpointing)), "no-checkpoints-config": account(healthOf(decodeCheckpointing)),
		"exceptions":       account(healthOf(decodeExceptions)),
		"rescales-history": account(decodeRescales),
		"rescales-config":  account(decodeTimings),
	}
}

func account[T any](decode func([]byte) (T, error)) func([]byte) (string, error) {
	return func(b []byte) (string, error) {
		v, err := decode(b)
		return fmt.Sprintf("%+v", v), err
	}
}

func healthOf(decode func([]byte, *core.JobHealth) error) func([]byte) (core.JobHealth, error) {
	return func(b []byte) (core.JobHealth, error) {
		var h core.JobHealth
		err := decode(b, &h)
		return h, err
	}
}

// decoderFor picks the decoder with the longest fitting beginning.
func decoderFor(file string) (func([]byte) (string, error), bool) {
	best := ""
	for name := range decoders() {
		if (file == name || strings.HasPrefix(file, name+"-") || strings.HasPrefix(file, name+".")) && len(name) > len(best) {
			best = name
		}
	}
	return decoders()[best], best != ""
}

func TestRecordedAnswersDecode(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		files, err := filepath.Glob(filepath.Join("testdata", version, "*.200.json"))
		if err != nil {
			t.Fatal(err)
		}
		decoded := 0
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := translate(answer{status: 200, body: b}); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			decode, known := decoderFor(filepath.Base(file))
			if !known {
				if !strings.Contains(file, "rescales-overview") { // recorded, not used
					t.Errorf("%s: nothing decodes it", file)
				}
				continue
			}
			if text, err := decode(b); err != nil || text == "" {
				t.Errorf("%s: %v", file, err)
			}
			decoded++
		}
		if decoded < 25 {
			t.Errorf("%s: only %d recorded answers", version, decoded)
		}
	}
}

func TestRecordedRefusals(t *testing.T) {
	t.Parallel()
	const same, differs = "", "-"
	cases := map[string]struct {
		reason string
		file   string
		want   error
		text   string // that a person needs; with "-" only the meaning is checked
	}{
		"missing vertex": {"the complete list is needed", "put-missing.400.json", core.ErrRefused, "The request is incomplete, missing job vertex"},
		"unknown vertex": {"", "put-unknown.400.json", core.ErrRefused, "was not found in the JobGraph."},
		"above the maximum": {"all lines of Flink's answer count, the trace does not", "put-above-max.400.json", core.ErrRefused,
			"exceeds its maximum parallelism 24.; The newly requested parallelism 25"},
		"lower above upper":   {"", "put-lower-above-upper.400.json", core.ErrRefused, "The requested lower bound [3]"},
		"zero":                {"", "put-zero.400.json", core.ErrRefused, "must be greater than zero."},
		"empty":               {"", "put-empty.400.json", core.ErrRefused, "Request body does not specify resource requirements."},
		"broken":              {"", "put-broken.400.json", core.ErrRefused, "Request did not match expected format"},
		"default scheduler":   {"a 500 that will never pass", "default-scheduler-requirements.500.json", core.ErrNotAdaptive, "The DefaultScheduler does not support"},
		"unknown job":         {"", "gone.404.json", core.ErrNotFound, "not found"},
		"its requirements":    {"500, not 404", "gone-resource-requirements.500.json", core.ErrNotFound, "Could not find Flink job"},
		"its checkpoints":     {"", "gone-checkpoints-config.404.json", core.ErrNotFound, differs},
		"its failures":        {"", "gone-exceptions.404.json", core.ErrNotFound, differs},
		"ended job":           {"/jobs/:id still answers 200", "requirements-ended.500.json", core.ErrNotFound, "Could not find Flink job"},
		"over-long request":   {"a fault of ours, not an unknown job", "too-long.404.json", ErrURLTooLong, same},
		"unknown path":        {"another version, not an unknown job", "no-such-path.404.json", errNoSuchPath, "Unable to load requested file"},
		"rescales by default": {"", "default-scheduler-rescales.404.json", errNoSuchPath, differs},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range recordedVersions {
				var status int
				if _, err := fmt.Sscanf(c.file[strings.Index(c.file, ".")+1:], "%d", &status); err != nil {
					t.Fatal(err)
				}
				err := translate(answer{status: status, contentType: "application/json; charset=UTF-8", body: recorded(t, version, c.file)})
				if !errors.Is(err, c.want) {
					t.Errorf("%s: %v, want %v (%s)", version, err, c.want, c.reason)
					continue
				}
				if c.text != differs && !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %q does not say %q", version, err, c.text)
				}
				if strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), ".java:") || strings.Contains(err.Error(), "org.apache") {
					t.Errorf("%s: a stack trace or class name is left in %q", version, err)
				}
			}
		})
	}
}

func TestErrorsHaveOneMeaning(t *testing.T) {
	t.Parallel()
	missing := fmt.Errorf("%w", errNoSuchPath)
	if errors.Is(missing, core.ErrNotFound) {
		t.Error("a path that does not exist means a job that is gone")
	}
	for _, version := range recordedVersions {
		err := translate(answer{status: 404, body: recorded(t, version, "too-long.404.json")})
		if !errors.Is(err, core.ErrRefused) || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrNotFlink) {
			t.Errorf("%s: an over-long request line means %v", version, err)
		}
	}
}

func TestRecordedJobs(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		s, err := decodeJob(recorded(t, version, "job.200.json"))
		if err != nil {
			t.Fatal(err)
		}
		if !s.AllTasksRunning() || s.RunningSince.IsZero() || s.StartedAt.After(s.RunningSince) || s.Now.Before(s.RunningSince) {
			t.Errorf("%s: %+v", version, s)
		}
		slow, source := s.Topology.Vertices[0], s.Topology.Vertices[1]
		if !source.IsSource() || source.Name != "Source: gen" || source.MaxParallelism != 24 || (source.SlotGroup == "") != (version == "1.18.1") {
			t.Errorf("%s: %+v", version, source)
		}
		if diff := cmp.Diff([]core.Edge{{From: source.ID, Ship: core.ShipHash}}, slow.Inputs); diff != "" {
			t.Errorf("%s: inputs of the slow vertex (-want +got):\n%s", version, diff)
		}
		if r := s.Vertices[0]; r.RecordsRead.Or(0) <= 0 || r.BusyMs.Or(0) <= 0 || r.RecordsWritten.Or(-1) != 0 {
			t.Errorf("%s: %+v", version, r)
		}
	}
}

func TestWaitingJobHasNoVertices(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		s, err := decodeJob(recorded(t, version, "job-waiting.200.json"))
		if err != nil {
			t.Fatal(err)
		}
		if s.State != core.JobCreated || s.AllTasksRunning() || len(s.Vertices) > 0 || len(s.Topology.Vertices) > 0 || !s.RunningSince.IsZero() {
			t.Errorf("%s: a graph without edges makes every vertex a source: %+v", version, s)
		}
	}
}

func TestRecordedEndedJob(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		s, err := decodeJob(recorded(t, version, "job-ended.200.json"))
		if err != nil || s.State != core.JobCanceled || s.AllTasksRunning() || !s.RunningSince.IsZero() {
			t.Errorf("%s: %v, %+v", version, err, s)
		}
	}
}

func TestRecordedMetrics(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		names, err := decodeNames(recorded(t, version, "source-names.200.json"))
		if err != nil || !slices.Contains(names, "Source__gen.pendingRecords") || !slices.IsSorted(names) {
			t.Errorf("%s: %v, %v", version, err, names)
		}
		values, err := decodeAggregates(recorded(t, version, "source-values.200.json"))
		if err != nil || len(values) != 3 {
			t.Errorf("%s: %v, %v", version, err, values)
		}
		nothing, err := decodeAggregates(recorded(t, version, "source-one-unknown.200.json"))
		if err != nil || len(nothing) != 0 {
			t.Errorf("%s: one unknown id does not empty the answer: %v, %v", version, err, nothing)
		}
		all, err := decodeNames(recorded(t, version, "taskmanagers-names.200.json"))
		gc := slices.Contains(all, "Status.JVM.GarbageCollector.All.TimeMsPerSecond")
		if err != nil || gc != (version != "1.18.1") {
			t.Errorf("%s: share of time in garbage collection: %v, %v", version, gc, err)
		}
		clock, err := decodePlain(recorded(t, version, "jobmanager-metrics.200.json"))
		if err != nil || clock[clockMetric].Or(0) < float64(time.Second) || clock["taskSlotsTotal"].Or(0) != 4 {
			t.Errorf("%s: %v, %v", version, err, clock)
		}
	}
}

func TestRecordedHeartbeatsAreMoments(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		all, err := decodeManagers(recorded(t, version, "taskmanagers.200.json"))
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %v, %+v", version, err, all)
		}
		for _, tm := range all {
			if tm.host != "127.0.0.1" || tm.slots != 2 || tm.free < 1 || tm.free > 2 {
				t.Errorf("%s: %+v", version, tm)
			}
		}
		job, err := decodeJob(recorded(t, version, "job.200.json"))
		if err != nil {
			t.Fatal(err)
		}
		if got := silent(all, job.Now, 2500*time.Millisecond); len(got) > 0 {
			t.Errorf("%s: silent on a healthy cluster: %v", version, got)
		}
		if got := silent(all, job.Now.Add(time.Hour), 2500*time.Millisecond); len(got) != 2 {
			t.Errorf("%s: silent an hour later: %v", version, got)
		}
	}
}

func TestRecordedSettings(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		config, err := decodeConfig(recorded(t, version, "cluster-config.200.json"))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := settingsOf(config), (settings{fetch: time.Second, heartbeat: time.Second}); got != want {
			t.Errorf("%s: %+v, want %+v", version, got, want)
		}
		v, err := decodeVersion(recorded(t, version, "config.200.json"))
		if err != nil || v.Flink != version || v.Refresh != time.Second || !v.WebRescale {
			t.Errorf("%s: %v, %+v", version, err, v)
		}
	}
	if got, want := settingsOf(nil), (settings{fetch: 10 * time.Second, heartbeat: 10 * time.Second}); got != want {
		t.Errorf("defaults: %+v, want %+v", got, want)
	}
}

func TestRecordedHealth(t *testing.T) {
	t.Parallel()
	for _, version := range recordedVersions {
		var h core.JobHealth
		for file, decode := range map[string]func([]byte, *core.JobHealth) error{
			"checkpoints-config.200.json": decodeCheckpointing,
			"checkpoints.200.json":        decodeCheckpoints,
			"exceptions.200.json":         decodeExceptions,
		} {
			if err := decode(recorded(t, version, file), &h); err != nil {
				t.Fatalf("%s %s: %v", version, file, err)
			}
		}
		if !h.Checkpointing || h.Interval != 5*time.Second || h.LastError.IsZero() || h.LastErrorNote == "" || len(h.Errors) == 0 || !h.Errors[0].Equal(h.LastError) {
			t.Errorf("%s: %+v", version, h)
		}
		var never core.JobHealth
		err := errors.Join(decodeExceptions(recorded(t, version, "exceptions-none.200.json"), &never),
			decodeCheckpointing(recorded(t, version, "no-checkpoints-config.200.json"), &never))
		if err != nil || !reflect.DeepEqual(never, core.JobHealth{}) {
			t.Errorf("%s: without checkpoints and failures: %v, %+v", version, err, never)
		}
	}
}
