package child

import "testing"

func TestFreePortsDiffer(t *testing.T) {
	t.Parallel()
	ports, err := FreePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	if len(ports) != 20 {
		t.Errorf("%d ports; want 20", len(ports))
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if seen[port] || port < firstPort || port >= lastPort {
			t.Errorf("ports %v: %d is there twice or out of range", ports, port)
		}
		seen[port] = true
	}
}
