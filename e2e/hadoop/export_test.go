package hadoop

import "testing"

// TakePorts makes the next start begin with a port that somebody has.
func TakePorts(t *testing.T, taken int) {
	t.Helper()
	found := freePorts
	t.Cleanup(func() { freePorts = found })
	freePorts = func(count int) ([]int, error) {
		freePorts = found
		ports, err := found(count)
		if err == nil {
			ports[0] = taken
		}
		return ports, err
	}
}
