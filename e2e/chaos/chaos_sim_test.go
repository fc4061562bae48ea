//go:build integration

package chaos

import "testing"

// TestSimulatedChaos injects each kind of fault once, on a simulated Flink.
func TestSimulatedChaos(t *testing.T) {
	t.Parallel()
	chaos(t, len(kinds()), true)
}
