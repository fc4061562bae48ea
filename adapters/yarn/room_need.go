package yarn

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// needs is what a size takes of YARN.
type needs struct {
	// more are the TaskManagers that are missing, held those that are there or on
	// their way.
	more, held int
	// size of the container of one, zero where it is not known.
	size resource
}

// needs counts the TaskManagers that the requirements need beyond those that YARN
// has given: slots that are free and slots that the job holds are there.
func (p *place) needs(ctx context.Context, job core.JobRef, u usage, r core.Requirements) (needs, error) {
	status, err := p.flink.Status(ctx, job)
	if err != nil {
		return needs{}, err
	}
	if len(status.Topology.Vertices) == 0 {
		return needs{}, fmt.Errorf("%w: the job is %s and shows no graph", core.ErrNotReady, status.State)
	}
	managers, err := p.flink.TaskManagers(ctx)
	if err != nil {
		return needs{}, err
	}
	options, err := p.flink.ClusterOptions(ctx)
	if err != nil {
		return needs{}, err
	}
	per, err := slotsPer(managers, options)
	if err != nil {
		return needs{}, err
	}
	free := 0
	for _, tm := range managers {
		free += tm.Free
	}
	t := status.Topology
	coming := max(0, u.managers-len(managers))
	n := needs{held: max(u.managers, len(managers)), size: containerSize(u, options, per)}
	n.more = max(0, ceil(t.Slots(uppers(r))-t.Slots(t.Sizes())-free, per)-coming)
	return n, nil
}

func uppers(r core.Requirements) []core.VertexSize {
	out := make([]core.VertexSize, 0, len(r))
	for _, b := range r {
		out = append(out, core.VertexSize{ID: b.ID, Parallelism: b.Upper})
	}
	return out
}

// ceil divides and rounds up; what is negative stays so or becomes 0.
func ceil(n, size int) int {
	if n <= 0 {
		return n / size
	}
	return (n-1)/size + 1
}

// Options of Flink by which its containers are made.
const (
	optSlots   = "taskmanager.numberOfTaskSlots"
	optProcess = "taskmanager.memory.process.size"
	optCores   = "yarn.containers.vcores"
	optCPU     = "taskmanager.cpu.cores"
)

// slotsPer gives the slots of one TaskManager: of those that are registered, else
// what Flink was told, else Flink's default of one.
func slotsPer(managers []flink.TaskManager, options map[string]string) (int, error) {
	n := 0
	for _, tm := range managers {
		if n > 0 && tm.Slots != n {
			return 0, fmt.Errorf("%w: some TaskManagers have %d slots and some %d", core.ErrNotReady, n, tm.Slots)
		}
		n = tm.Slots
	}
	if n > 0 {
		return n, nil
	}
	if set, err := strconv.Atoi(strings.TrimSpace(options[optSlots])); err == nil && set > 0 {
		return min(set, 1<<16), nil
	}
	return 1, nil
}

// containerSize is the size of the container of a TaskManager: of those that are
// there, else what Flink asks for, which YARN may round up. Zero where neither is
// known.
func containerSize(u usage, options map[string]string, slots int) resource {
	if u.taskManager != nil {
		return *u.taskManager
	}
	bytes, err := policy.ParseMemory(options[optProcess])
	if err != nil || bytes <= 0 {
		return resource{}
	}
	const mb = 1 << 20
	size := resource{memory: (bytes-1)/mb + 1, cores: int64(slots)} // Flink asks for a core per slot
	if n, err := strconv.Atoi(strings.TrimSpace(options[optCores])); err == nil && n > 0 {
		size.cores = int64(n)
	} else if f, err := strconv.ParseFloat(strings.TrimSpace(options[optCPU]), 64); err == nil && f > 0 && f < 1<<16 {
		size.cores = max(1, int64(f))
	}
	return size
}
