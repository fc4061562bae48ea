package stabilize

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// The keys under which memory pressure is told.
const (
	GCPressure = "gcPressure"
	HeapUsage  = "heapUsage"
)

// Pressure is true when the TaskManagers are short of memory: then rates tell
// more about garbage collection than about subtasks, and more subtasks on the
// same memory make it worse. gc is the latest share of time in garbage
// collection of the worst TaskManager, heap the mean used share of the heap
// over the window. A reading that is not there passes, and so does everything
// at a threshold of 1.
func Pressure(gc, heap core.Reading, p policy.Policy) (blocked bool, key, note string) {
	if v, over := above(gc, p.GCPressureThreshold, p); over {
		return true, GCPressure, fmt.Sprintf("garbage collection takes %.3g of the time, more than %g", v, p.GCPressureThreshold)
	}
	if v, over := above(heap, p.HeapUsageThreshold, p); over {
		return true, HeapUsage, fmt.Sprintf("the heap is used to %.3g, more than %g", v, p.HeapUsageThreshold)
	}
	return false, "", ""
}

func above(r core.Reading, threshold float64, p policy.Policy) (float64, bool) {
	v, ok := r.Value()
	return v, ok && (threshold < 1 || p.Quirks.Has(policy.QuirkPressure)) && v > threshold
}
