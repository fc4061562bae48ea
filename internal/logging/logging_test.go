package logging

import (
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/log"
)

func newLogger(t *testing.T, level, format string) (Logger, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	l, err := New(Settings{Name: "x", Level: level, Format: format, Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	return l, &out
}

func TestFormats(t *testing.T) {
	t.Parallel()
	l, out := newLogger(t, "info", Human)
	l.Debug("not shown")
	l.Info("decided", KeyJob, "dev/orders", KeyReason, "within-target")
	if got := out.String(); !strings.HasSuffix(got, "[INFO]  x: decided: job=dev/orders reason=within-target\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("line is %q", got)
	}

	l, out = newLogger(t, "warn", JSON)
	l.Info("not shown")
	l.Warn("cannot reach", KeyAddress, "h:1")
	var got map[string]any
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "@timestamp")
	want := map[string]any{"@level": "warn", "@message": "cannot reach", "@module": "x", "address": "h:1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestEveryLevelAndFormat(t *testing.T) {
	t.Parallel()
	for _, level := range Levels() {
		for _, format := range Formats() {
			newLogger(t, level, format)
		}
	}
	for _, s := range []Settings{{Level: "loud", Format: Human}, {Level: "info", Format: "xml"}, {}} {
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), "must be one of") {
			t.Errorf("New(%+v): error is %v", s, err)
		}
	}
}

// sdk does what the SDK does with a logger: pairs are added on the way down,
// and each wrapper tells how many calls it puts in between.
type sdk struct{ log.Logger }

func (s sdk) Info(msg string, pairs ...any) { s.Logger.Info(msg, pairs...) }

func TestTemporalKeepsPairsAndPlace(t *testing.T) {
	t.Parallel()
	l, out := newLogger(t, "debug", JSON)
	inner := log.With(l.Temporal(), "TaskQueue", "q")
	inner = log.With(inner, "WorkflowType", "ScaleFlinkJob")
	wrapped := sdk{log.Skip(inner, 1)}
	_, _, line, _ := runtime.Caller(0)
	wrapped.Info("rescale ended", KeyOutcome, "applied")
	inner.Info("decided")

	var lines []map[string]any
	for text := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if caller, _ := m["@caller"].(string); !strings.HasSuffix(caller, place(line+len(lines)+1)) {
			t.Errorf("place is %q, want line %d of this file", caller, line+len(lines)+1)
		}
		delete(m, "@caller")
		delete(m, "@timestamp")
		lines = append(lines, m)
	}
	want := []map[string]any{
		{"@level": "info", "@message": "rescale ended", "@module": "x.temporal", "TaskQueue": "q", "WorkflowType": "ScaleFlinkJob", "outcome": "applied"},
		{"@level": "info", "@message": "decided", "@module": "x.temporal", "TaskQueue": "q", "WorkflowType": "ScaleFlinkJob"},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func place(line int) string {
	_, file, _, _ := runtime.Caller(0)
	return file[strings.LastIndex(file, "/")+1:] + ":" + strconv.Itoa(line)
}

// TestKeysAreUnique: one thing has one key.
func TestKeysAreUnique(t *testing.T) {
	t.Parallel()
	keys := []string{
		KeyAddress, KeyAttempt, KeyCluster, KeyClusters, KeyCycle, KeyDecision, KeyDo, KeyError, KeyEvent, KeyFrom, KeyIdentity, KeyJob, KeyNamespace,
		KeyNote, KeyOutcome, KeyPlatform, KeyReason, KeyRetryIn, KeySetting, KeySignal, KeyTaskQueue, KeyTimeout, KeyTo, KeyVerdict, KeyVersion, KeyVertex,
	}
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k] || k != strings.ToLower(k) || strings.ContainsAny(k, "- .") {
			t.Errorf("key %q is there twice or not in snake_case", k)
		}
		seen[k] = true
	}
}
