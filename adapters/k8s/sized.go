package k8s

import (
	"context"
	"errors"

	"flinkscaler/core"
)

// sized is what the one size of a job is made of.
type sized struct {
	// slots are those of one TaskManager, or why they are not known.
	slots    int
	slotsErr error
	// topology is the job's graph, or why there is none.
	topology core.Topology
	graphErr error
}

// sizing reads it. What is not there yet is kept as such; any other failure is an
// error.
func (v *view) sizing(ctx context.Context) (sized, error) {
	var s sized
	s.slots, s.slotsErr = v.slotsPer(ctx)
	s.topology, s.graphErr = v.graph(ctx)
	for _, err := range []error{s.slotsErr, s.graphErr} {
		if err != nil && !errors.Is(err, core.ErrNotReady) {
			return s, err
		}
	}
	return s, nil
}
