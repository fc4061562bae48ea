package scale

import (
	"math"
	"strconv"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// The options of Flink that tell what a TaskManager is.
const (
	optSlots     = "taskmanager.numberOfTaskSlots"
	optCPU       = "kubernetes.taskmanager.cpu.amount"
	optCPUOld    = "kubernetes.taskmanager.cpu"
	optProcess   = "taskmanager.memory.process.size"
	defaultSlots = 1
)

// Facts is what is known of each TaskManager of a job. All zero is nothing
// known.
type Facts struct {
	// SlotsPerTM counts the slots, 0 when not known.
	SlotsPerTM int
	// TMCPU is in cores, 0 when not known.
	TMCPU float64
	// TMMemory is the memory of the whole process in bytes, 0 when not known.
	TMMemory int64
}

// FactsOf reads the facts out of Flink's options. An option that cannot be read
// makes its fact unknown, never a default; so does the absence of the cores,
// since that is right for any platform but Kubernetes.
func FactsOf(config map[string]string) Facts {
	f := Facts{SlotsPerTM: defaultSlots}
	if text, ok := config[optSlots]; ok {
		f.SlotsPerTM = positive(text)
	}
	for _, key := range []string{optCPU, optCPUOld} {
		text, ok := config[key]
		if !ok {
			continue
		}
		f.TMCPU = cores(text, f.SlotsPerTM)
		break
	}
	if m, err := deriveMemory(config); err == nil {
		f.TMMemory = m.process()
	} else if size, err := policy.ParseMemory(config[optProcess]); err == nil {
		f.TMMemory = size
	}
	return f
}

// cores reads a number of cores; one that is not positive stands for one per
// slot in Flink.
func cores(text string, slots int) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return 0
	case f <= 0:
		return float64(slots)
	}
	return f
}

// positive reads a whole number above 0; anything else is 0.
func positive(text string) int {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil || n < 1 {
		return 0
	}
	return int(n)
}

// slotsOf sums up the slots that a job needs: in each slot sharing group as
// many as its largest vertex has subtasks. size gives the parallelism of a
// vertex.
func slotsOf(t core.Topology, size func(core.Vertex) int) int {
	largest := map[string]int{}
	total := 0
	for _, v := range t.Vertices {
		n := size(v)
		if had := largest[v.SlotGroup]; n > had {
			total += n - had
			largest[v.SlotGroup] = n
		}
	}
	return total
}

// sizeNow is the size of a vertex now.
func sizeNow(v core.Vertex) int { return v.Parallelism }

// decided gives the sizes of decisions; a vertex without one stays.
func decided(decisions []core.VertexDecision) func(core.Vertex) int {
	at := positions(decisions)
	return func(v core.Vertex) int {
		if i, ok := at[v.ID]; ok {
			return decisions[i].To
		}
		return v.Parallelism
	}
}

// managers is how many TaskManagers so many slots need.
func managers(slots, perTM int) int { return (slots + perTM - 1) / perTM }
