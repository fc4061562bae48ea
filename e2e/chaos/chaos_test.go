//go:build integration || e2e

package chaos

import (
	"os"
	"strconv"
	"testing"
)

// chaos runs faults, and fails on anything that must not be. CHAOS_SEED chooses
// another plan.
func chaos(t *testing.T, faults int, simulated bool) {
	t.Helper()
	s := Settings{Seed: 1, Faults: faults, Simulated: simulated, Dir: t.TempDir(), Out: t.Output()}
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("CHAOS_SEED: %v", err)
		}
		s.Seed = seed
	}
	var err error
	if s.Builds, err = Build(t.Context(), s.Dir); err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	report.Write(t.Output())
	if report.Failed() {
		t.Error("something is wrong, or not everything was injected")
	}
}
