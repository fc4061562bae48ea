package whatif

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func header() Header {
	return Header{
		Format: Format, Version: Version, RecordedAt: start(), Key: core.JobKey{Cluster: "dev", Job: "orders"},
		Target: core.Target{Flink: &core.FlinkTarget{JobName: "orders"}}, Input: short(),
	}
}

// record writes looks as a file would have them.
func record(t *testing.T, looks ...core.Observation) string {
	t.Helper()
	b, err := HeaderLine(header())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range looks {
		l, err := LookLine(o)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, l...)
	}
	return string(b)
}

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	first, second := firstLook(0, 800, 200), look(1, 800, 200)
	first.Job.Extras = map[string]string{"token": "hidden"}
	text := record(t, first, second)
	if strings.Contains(text, "hidden") {
		t.Error("the platform's own facts are recorded")
	}
	got, problems := Parse([]byte("\ufeff# a comment\n\n" + text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	first.Job.Extras = nil
	if diff := cmp.Diff(Recording{Header: header(), Looks: []core.Observation{first, second}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestACutRecording: whoever recorded was killed while it wrote.
func TestACutRecording(t *testing.T) {
	t.Parallel()
	first, second := firstLook(0, 800, 200), look(1, 800, 200)
	text := record(t, first, second)
	for name, tt := range map[string]struct {
		reason, text string
		looks, cut   int
	}{
		"whole":      {"every line is there", text, 2, 0},
		"cut":        {"what is whole is used", text[:len(text)-20], 1, 3},
		"no newline": {"only the end of the line is missing", text[:len(text)-1], 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := Parse([]byte(tt.text))
			if len(problems) > 0 || len(got.Looks) != tt.looks || got.Cut != tt.cut {
				t.Errorf("%s: %d looks, cut on line %d, %v; want %d looks, line %d", tt.reason, len(got.Looks), got.Cut, problems, tt.looks, tt.cut)
			}
		})
	}
}

// fill gives every field a value, so that none can be forgotten.
func fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = start()
		return
	case *core.Reading:
		*x = core.Read(1.5)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), element)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.Set(reflect.ValueOf(2).Convert(v.Type()))
	}
}

// TestEveryFieldIsRead: what the types of core will have besides is recorded and
// read without a line here.
func TestEveryFieldIsRead(t *testing.T) {
	t.Parallel()
	var want, got core.Observation
	fill(reflect.ValueOf(&want).Elem())
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var r reader
	r.read("line 1", raw, &got)
	if len(r.problems) > 0 {
		t.Fatal(r.problems)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBadRecordings(t *testing.T) {
	t.Parallel()
	good := record(t, firstLook(0, 800, 200), look(1, 800, 200))
	edit := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the recording", old)
		}
		return strings.Replace(good, old, with, 1)
	}
	lines := strings.SplitAfter(good, "\n")
	for name, tt := range map[string]struct {
		reason, text string
		want         []string
	}{
		"empty":         {"nothing at all", "", []string{"line 1: has no header"}},
		"only comments": {"nothing either", "# x\n\n", []string{"line 1: has no header"}},
		"no JSON":       {"a wrong file", "clusters: {}\n", []string{"line 1: is not JSON"}},
		"no header":     {"the header is the only place that names the job", lines[1], []string{`line 1: format: must be "flinkscaler-samples"`}},
		"newer":         {"fields mean something else there", edit(`"version":1`, `"version":2`), []string{"line 1: version: must be 1, got 2"}},
		"no job":        {"whose is it", edit(`"job":"orders"`, `"job":""`), []string{"line 1: key.job: is missing"}},
		"no look":       {"nothing to judge", lines[0], []string{"line 1: has no look"}},
		"cut within":    {"only the end may be cut", lines[0] + lines[1][:40] + "\n" + lines[2], []string{"line 2: is not JSON"}},
		"cut first":     {"there is no other look", lines[0] + lines[1][:40], []string{"line 2: has no look"}},
		"cut header":    {"whose is it", lines[0][:40], []string{"line 1: is not JSON"}},
		"no object":     {"no look begins so", lines[0] + lines[1] + "x", []string{"line 3: must be one JSON object"}},
		"unknown field": {"a typo must not hide a number", edit(`"lag":0`, `"lagg":0`), []string{"line 2: sample.v[1].lagg: unknown field; known are id, p, in,"}},
		"several":       {"all at once", strings.Replace(edit(`"p":10`, `"p":"ten"`), `"clock":2000000000`, `"clock":"slow"`, 1), []string{`line 2: sample.v[0].p: must be a whole number, got "ten"`, `line 3: sample.clock: must be a number, or one of missing`}},
		"null":          {"null is no zero", edit(`"lag":0`, `"lag":null`), []string{"line 2: sample.v[1].lag: must be a number"}},
		"twice":         {"which one", edit(`"lag":0`, `"lag":0,"lag":1`), []string{"line 2: sample.v[1].lag: is given twice"}},
		"bad time":      {"an hour is missing", edit(`"at":"2026-07-20T12:00:00Z"`, `"at":"2026-07-20"`), []string{"line 2: sample.at: must be a time such as"}},
		"no time":       {"a sample without a time is none", edit(`"at":"2026-07-20T12:00:00Z",`, ""), []string{"line 2: sample.at: is missing"}},
		"backwards":     {"rates would be negative", lines[0] + lines[1] + lines[2] + lines[1], []string{"line 4: sample.at: is before that of the look before"}},
		"no graph":      {"rates cannot be followed", lines[0] + lines[2], []string{`line 2: sample.v[0].id: "map" is no vertex of the graph known so far`, "line 2: sample.v[1].id"}},
		"unsorted":      {"vertices are searched by id", edit(`"id":"map","name"`, `"id":"zap","name"`), []string{"line 2: topology.vertices[1].id: vertices must be sorted", "line 2: sample.v[0].id", "line 3: sample.v[0].id"}},
		"no size":       {"a vertex has at least one task", edit(`"p":10,"max":128`, `"p":0,"max":-1`), []string{"line 2: topology.vertices[0].p: must be at least 1", "line 2: topology.vertices[0].max"}},
		"edge":          {"an edge from nowhere", edit(`"from":"src"`, `"from":"nowhere"`), []string{`line 2: topology.vertices[0].in[0].from: "nowhere" is no vertex`}},
		"fault":         {"reasons are a closed set", edit(`"run":`, `"fault":"tired","run":`), []string{`line 2: sample.fault: unknown reason "tired"`}},
		"a list":        {"not an object", lines[0] + "[1]\n", []string{"line 2: must be one JSON object"}},
		"policy":        {"values are texts", edit(`"job.autoscaler.metrics.window":"5 min"`, `"job.autoscaler.metrics.window":5`), []string{`line 1: input["job.autoscaler.metrics.window"]: must be a string, got 5`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := Parse([]byte(tt.text))
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if len(got) != len(tt.want) || slices.ContainsFunc(tt.want, func(w string) bool {
				return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
			}) {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}

// FuzzParse: whatever a file holds, it is read or refused, and what is read can
// be judged.
func FuzzParse(f *testing.F) {
	b, err := HeaderLine(header())
	if err != nil {
		f.Fatal(err)
	}
	l, err := LookLine(firstLook(0, 800, 200))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Concat(b, l))
	f.Add(bytes.ReplaceAll(slices.Concat(b, l), []byte("128"), []byte("null")))
	f.Fuzz(func(t *testing.T, text []byte) {
		rec, problems := Parse(text)
		if len(problems) > 0 {
			return
		}
		r := NewReplay(rec.Header.Key, layers(rec.Header.Input))
		for _, o := range rec.Looks {
			if s := r.Look(o); s.Decision.Verdict == "" || s.Decision.Reason == core.ReasonInternal {
				t.Errorf("it comes to %q: %s", s.Decision.Verdict, s.Decision.Note)
			}
		}
	})
}
