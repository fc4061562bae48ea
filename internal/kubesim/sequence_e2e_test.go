//go:build e2e

package kubesim

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/internal/kubelocal/kubetest"
)

// recordedStep is a step of a recording.
type recordedStep struct {
	write      string
	cr, events []string
	flink, job string
}

func readRecording(t *testing.T, path string) []recordedStep {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var steps []recordedStep
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" || word == "#" {
			continue
		}
		if word == "step" {
			steps = append(steps, recordedStep{write: rest})
			continue
		}
		s := &steps[len(steps)-1]
		switch word {
		case "cr":
			s.cr = append(s.cr, rest)
		case "event":
			s.events = append(s.events, rest)
		case "flink":
			s.flink = rest
		case "job":
			s.job = rest
		default:
			t.Fatalf("%s:%d: what is %q?", path, n, word)
		}
	}
	if len(steps) < 10 {
		t.Fatalf("%s: only %d steps", path, len(steps))
	}
	return steps
}

// stream is lines that come one after the other.
type stream struct {
	mu    sync.Mutex
	lines []string
	last  string
	taken int
}

// add takes a line, unless it says the same of the same thing as the one before.
func (s *stream) add(about, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == about+line {
		return
	}
	s.last = about + line
	s.lines = append(s.lines, line)
}

// next waits for a line that was not taken yet; "" when none came in time.
func (s *stream) next(ctx context.Context, within time.Duration) string {
	for end := time.Now().Add(within); ctx.Err() == nil; {
		s.mu.Lock()
		if s.taken < len(s.lines) {
			defer s.mu.Unlock()
			s.taken++
			return s.lines[s.taken-1]
		}
		s.mu.Unlock()
		if !time.Now().Before(end) {
			return ""
		}
		_ = pause(ctx, 10*time.Millisecond)
	}
	return ""
}

// vertexNames shows ids as the recording does.
func vertexNames(s string) string { return strings.NewReplacer(source6, "S", work5, "W").Replace(s) }

func vertexIDs(s string) string {
	return strings.NewReplacer("S:", source6+":", "W:", work5+":").Replace(s)
}

// crLine shows a CR as the recording does. It is empty while the job is seen on
// its way to running, which depends on when the operator looks.
func crLine(o *object) string {
	switch nested(o, "status", "jobStatus", "state") {
	case "CREATED", "INITIALIZING", "RESTARTING":
		return ""
	}
	last := "-"
	seen := nested(o, "status", "observedGeneration")
	if text, _ := nested(o, "status", "reconciliationStatus", "lastReconciledSpec").(string); text != "" {
		var r reconciled
		if json.Unmarshal([]byte(text), &r) == nil {
			last = flatten(asMap(r.Spec["flinkConfiguration"]))[keyOverrides]
			if m := r.Meta.Metadata; m != nil {
				seen = m.Generation
			}
		}
	}
	words := []string{fmt.Sprint(o.GetGeneration()), fmt.Sprint(seen)}
	for _, path := range [][]string{
		{"status", "reconciliationStatus", "state"}, {"status", "lifecycleState"},
		{"status", "jobManagerDeploymentStatus"}, {"status", "jobStatus", "state"},
	} {
		words = append(words, fmt.Sprint(nested(o, path...)))
	}
	for i, w := range append(words, vertexNames(last)) {
		if w == "" || w == "<nil>" {
			w = "-"
		}
		if i < len(words) {
			words[i] = w
		} else {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// watchLines shows every state of the objects of a kind in a namespace.
func watchLines(t *testing.T, a *api, r resource, namespace string, line func(*object) string) *stream {
	t.Helper()
	s := &stream{}
	w, err := a.Resource(r).Namespace(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	go func() {
		for e := range w.ResultChan() {
			if o, isObject := e.Object.(*object); isObject {
				if l := line(o); l != "" {
					s.add(o.GetName(), l)
				}
			}
		}
	}()
	return s
}

func eventLine(o *object) string {
	if kind := nested(o, "involvedObject", "kind"); kind != "FlinkDeployment" && kind != "FlinkSessionJob" {
		return ""
	}
	reason, _ := nested(o, "reason").(string)
	switch reason {
	case "JobStatusChanged":
		return ""
	case "Missing":
		return "Missing +"
	}
	return fmt.Sprintf("%s %v", reason, nested(o, "count"))
}

// flinkLine shows bounds and sizes as the recording does.
func flinkLine(ctx context.Context, f flinkREST) (string, string) {
	all, err := f.jobs(ctx)
	if err != nil {
		return "", err.Error()
	}
	for _, j := range all {
		if hasEnded(j.State) {
			continue
		}
		req, err := f.requirements(ctx, j.ID)
		if err != nil {
			return "", err.Error()
		}
		sizes, err := f.parallelisms(ctx, j.ID)
		if err != nil {
			return "", err.Error()
		}
		show := func(letter, id string) string {
			return fmt.Sprintf("%s:%d..%d=%d", letter, req[id].Parallelism.Lower, req[id].Parallelism.Upper, sizes[id])
		}
		return j.ID, show("S", source6) + " " + show("W", work5)
	}
	return "", "no job"
}

// TestOperatorDoesWhatWasRecorded plays the sequences that were recorded and
// compares every state of the resource, every Event and what Flink was told.
func TestOperatorDoesWhatWasRecorded(t *testing.T) {
	t.Parallel()
	for _, version := range []string{Operator115, Operator17} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			playRecorded(t, version)
		})
	}
}

func playRecorded(t *testing.T, version string) {
	plane := kubetest.Plane(t)
	ns := kubetest.Namespace(t)
	a, err := newAPI(plane.Config(), "flinkscaler")
	if err != nil {
		t.Fatal(err)
	}
	kubeletFor(t, ns, KubeletOptions{Flink: nimble()})
	op := operatorFor(t, ns, Options{Version: version})
	crs := watchLines(t, a, flinkDeployments, ns, crLine)
	events := watchLines(t, a, coreEvents, ns, eventLine)
	rest := port(t)
	jobBefore := ""
	for _, s := range readRecording(t, "testdata/recorded-"+version+".txt") {
		t.Logf("step %s", s.write)
		kind, what, _ := strings.Cut(s.write, " ")
		switch kind {
		case "deploy":
			err = plane.Apply(t.Context(), ns, manifest(t, "k1", rest))
		case "overrides":
			err = a.patch(t.Context(), flinkDeployments, name{Namespace: ns, Name: "k1"}, config(keyOverrides, vertexIDs(what)))
		case "config":
			key, value, _ := strings.Cut(what, "=")
			err = a.patch(t.Context(), flinkDeployments, name{Namespace: ns, Name: "k1"}, config(key, value))
		case "decide":
			var m map[string]int
			m, err = parseOverrides(vertexIDs(what))
			op.Decide(ns, "k1", m)
		default:
			t.Fatalf("what is step %q?", s.write)
		}
		if err != nil {
			t.Fatal(err)
		}
		compareLines(t, crs, s.cr)
		compareLines(t, events, s.events)
		if s.flink == "" {
			continue
		}
		var job, got string
		await(t, "Flink shows "+s.flink, func() bool {
			job, got = flinkLine(t.Context(), flinkAt(rest))
			return got == s.flink
		}, func() string { return got })
		if s.job != "" && (job == jobBefore) != (s.job == "same") {
			t.Errorf("step %s: job %s after %s, want %s", s.write, job, jobBefore, s.job)
		}
		jobBefore = job
	}
}

func config(key, value string) map[string]any {
	return map[string]any{"spec": map[string]any{"flinkConfiguration": map[string]any{key: value}}}
}

// compareLines takes lines of a stream as they are expected, and no other.
func compareLines(t *testing.T, s *stream, want []string) {
	t.Helper()
	for _, w := range want {
		if got := s.next(t.Context(), patience); got != w {
			t.Fatalf("got  %q\nwant %q\nall so far:\n%s", got, w, strings.Join(s.lines[:s.taken], "\n"))
		}
	}
}

// await waits for a condition, and says what there was instead.
func await(t *testing.T, what string, done func() bool, instead func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s; %s", what, instead())
		}
		if err := pause(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}
