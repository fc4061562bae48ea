//go:build e2e

package chaos

import "testing"

// TestChaos injects ten faults on a real Flink; `make chaos` injects 200.
func TestChaos(t *testing.T) { chaos(t, 10, false) }
