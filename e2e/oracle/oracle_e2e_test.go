//go:build e2e

package oracle

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestOracle is the whole comparison. ORACLE_SEED and ORACLE_CASES choose another one.
func TestOracle(t *testing.T) {
	s := Settings{Seed: DefaultSeed, Cases: LeastCases, Only: -1}
	if text := os.Getenv("ORACLE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("ORACLE_SEED: %v", err)
		}
		s.Seed = seed
	}
	if text := os.Getenv("ORACLE_CASES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("ORACLE_CASES: %v", err)
		}
		s.Cases = n
	}
	report, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	report.Write(&text, s)
	t.Log("\n" + text.String())
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	t.Attr("last_line", lines[len(lines)-1])
	if report.Failed() {
		t.Error("not the same, or too few cases")
	}
}

// TestJavaDoesWhatItIsKnownFor: the harness drives the real thing, in the time that it is told: one source that cannot
// keep up, decided on at the first cycle with a full window, and not before.
func TestJavaDoesWhatItIsKnownFor(t *testing.T) {
	java, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := java.Close(); err != nil {
			t.Error(err)
		}
	}()
	options := map[string]string{
		prefix + "metrics.window": "3 min", prefix + "stabilization.interval": "1 min", prefix + "catch-up.duration": "0",
		prefix + "target.utilization": "0.5", prefix + "target.utilization.boundary": "0.1",
	}
	if _, err := java.Do(OpenRequest("a", options)); err != nil {
		t.Fatal(err)
	}
	for minute := range int64(6) {
		in := float64(minute) * 60 * 1000
		id := "0123456789abcdef0123456789abcdef"
		l := Look{
			Now: epoch + minute*60_000, Running: epoch, State: "RUNNING", JobManager: map[string]string{}, TaskManagers: newWorldTaskManagers(),
			Vertices: []Vertex{{
				ID: id, Name: "Source: a", Parallelism: 3, Max: 128, Written: int64(in), Complete: true, Inputs: []Input{},
				Metrics: []Metric{
					metric("busyTimeMsPerSecond", 1000, 1000, 1000, 3000), metric("backPressuredTimeMsPerSecond", 0, 0, 0, 0),
					metric("Source__a.numRecordsInPerSecond", 0, 1000, 1000, 1000), metric("Source__a.numRecordsIn", 0, in, in, in),
				},
			}},
		}
		a, err := java.Do(CycleRequest("a", l))
		if err != nil {
			t.Fatal(err)
		}
		v := JavaVerdict(a)
		switch decided := minute >= 4; {
		case v.Decided != decided || v.Full != decided:
			t.Errorf("minute %d: decided %v, window full %v (%s)", minute, v.Decided, v.Full, v.Note)
		case decided && (a.Overrides[id] != 6 || v.Vertices[0].TrueRate != 1000):
			t.Errorf("minute %d: to %v at %v/s; want 6 at 1000/s", minute, a.Overrides, v.Vertices[0].TrueRate)
		}
	}
	if _, err := java.Do(CloseRequest("a")); err != nil {
		t.Error(err)
	}
	if _, err := java.Do(CycleRequest("a", Look{})); err == nil || !strings.Contains(err.Error(), "no session a") {
		t.Errorf("a cycle of a closed session: %v", err)
	}
}

func newWorldTaskManagers() []Metric {
	return Generate(1, 1).world.step().TaskManagers
}
