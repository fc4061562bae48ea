package scale

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Options of Flink that say how many buffers of the network there are.
const (
	optBuffers  = "taskmanager.network.memory.buffers-per-channel"
	optFloating = "taskmanager.network.memory.floating-buffers-per-gate"
	optSegment  = "taskmanager.memory.segment-size"
)

// Tuning is what a recommendation of memory is made of.
type Tuning struct {
	Job

	// Decisions are the sizes that the memory is for.
	Decisions []core.VertexDecision
	// Config holds the options of Flink as the user gave them.
	Config map[string]string
}

// Tune recommends how much memory a TaskManager needs after a change: as much
// as was used, with headroom, and never more than it has. It is nil where the
// memory now, or what of it is used, is not known.
func Tune(in Tuning) *core.MemoryAdvice {
	used := in.Evidence.Global
	heap, ok1 := used.HeapUsed.Value()
	managed, ok2 := used.ManagedUsed.Value()
	metaspace, ok3 := used.MetaspaceUsed.Value()
	have, err := deriveMemory(in.Config)
	buffers, ok4 := in.networkBytes()
	if !ok1 || !ok2 || !ok3 || !ok4 || err != nil || have.process() <= 0 {
		return nil
	}
	// What is given first is served first where the budget does not suffice.
	b := budget{left: have.process()}
	b.take(have.frameworkOffHeap)
	b.take(have.taskOffHeap)
	b.take(have.overhead)
	want := have
	want.network = b.take(buffers)
	want.metaspace = b.take(in.withHeadroom(metaspace))
	want.frameworkHeap, want.taskHeap = 0, b.take(in.withHeadroom(heap))
	want.managed = in.managed(&b, managed, have.managed)
	want.taskHeap += b.take(in.compensation(want.taskHeap))
	total := have.process() - b.left
	if total <= 0 {
		return nil
	}
	return advice(want, total)
}

// budget is the memory that is not given away yet, in bytes.
type budget struct{ left int64 }

// take gives as much of n as is left.
func (b *budget) take(n int64) int64 {
	got := min(n, b.left)
	b.left -= got
	return got
}

// withHeadroom is whole bytes of what was used and the policy's headroom.
func (in Tuning) withHeadroom(used float64) int64 {
	return bytes(float64(bytes(used)) * (1 + in.Policy.TuningOverhead))
}

// bytes converts as Java does.
func bytes(x float64) int64 {
	switch {
	case math.IsNaN(x) || x < 0:
		return 0
	case x >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(x)
}

// managed keeps managed memory as it is where it is in use: how much of it
// cannot be measured.
func (in Tuning) managed(b *budget, used float64, has int64) int64 {
	switch {
	case bytes(used) <= 0:
		return 0
	case in.Policy.TuningMaximizeManaged:
		return b.take(unlimited)
	}
	return b.take(has)
}

// compensation is what the heap needs more where fewer TaskManagers share the
// state out.
func (in Tuning) compensation(heap int64) int64 {
	if !in.Policy.TuningCompensation {
		return 0
	}
	per := in.Facts.SlotsPerTM
	before, after := in.slots()
	if per < 1 || before < 1 || after < 1 {
		return 0
	}
	factor := max(1, float64(managers(before, per))/float64(managers(after, per)))
	return max(0, bytes(float64(heap)*factor)-heap)
}

// slots counts the slots before and after the change. The slots in use tell
// whether the job shares slots: then its largest vertex needs them all, else
// the sum of all.
func (in Tuning) slots() (before, after int) {
	size := decided(in.Decisions)
	used, ok := in.Evidence.Global.SlotsUsed.Value()
	if !ok {
		return slotsOf(in.Topology, sizeNow), slotsOf(in.Topology, size)
	}
	largestNow, largest, sum := 0, 0, 0
	for _, v := range in.Topology.Vertices {
		n := size(v)
		largestNow, largest, sum = max(largestNow, v.Parallelism), max(largest, n), sum+n
	}
	if largestNow == int(used) {
		return int(used), largest
	}
	return int(used), sum
}

// networkBytes is what the buffers of all vertices need if one subtask of each
// is in every slot. It is not known where an option cannot be read.
func (in Tuning) networkBytes() (int64, bool) {
	o := &options{config: in.Config}
	perChannel, floating := o.count(2, optBuffers), o.count(8, optFloating)
	segment, slots := o.size(32<<10, optSegment), int64(in.Facts.SlotsPerTM)
	if o.err != nil || slots < 1 || segment > 1<<30 || perChannel > 1<<16 || floating > 1<<16 {
		return 0, false
	}
	size := decided(in.Decisions)
	segments := int64(0)
	for _, v := range in.Topology.Vertices {
		for i, e := range v.Inputs {
			from, ok := in.Topology.Find(e.From)
			if !ok || (i+1 < len(v.Inputs) && v.Inputs[i+1].From == e.From) {
				// Of several edges between the same two the last counts.
				continue
			}
			a, b := size(from), size(v)
			segments += networkSegments(b, a, e.Ship, perChannel, floating) + networkSegments(a, b, e.Ship, perChannel, floating)
		}
	}
	if segments > mostMemory/segment/slots {
		return mostMemory, true
	}
	return segments * segment * slots, true
}

// networkSegments counts the buffers of one gate of a subtask: own is the
// parallelism of its vertex, peer that of the other end.
func networkSegments(own, peer int, ship core.ShipStrategy, perChannel, floating int64) int64 {
	channels := int64(peer)
	switch strings.ToUpper(string(ship)) {
	case string(core.ShipForward), "RESCALE":
		channels = int64((peer + own - 1) / max(1, own))
	}
	return channels*perChannel + floating
}

// advice says a division of memory in Flink's options.
func advice(m tmMemory, total int64) *core.MemoryAdvice {
	set := []core.Option{
		{Key: optFrameworkHeap, Value: policy.FormatMemory(0)},
		{Key: optMetaspace, Value: policy.FormatMemory(m.metaspace)},
		{Key: optOverheadFraction, Value: fraction(m.overhead, total)},
		{Key: optManagedFraction, Value: fraction(m.managed, m.flink())},
		{Key: optNetworkMax, Value: policy.FormatMemory(m.network)},
		{Key: optNetworkMin, Value: policy.FormatMemory(m.network)},
		{Key: optProcess, Value: policy.FormatMemory(total)},
	}
	slices.SortFunc(set, func(a, b core.Option) int { return strings.Compare(a.Key, b.Key) })
	return &core.MemoryAdvice{Set: set, Remove: []string{optFlink, optManaged, optManagedOld, optTaskHeap}}
}

// fraction is part / whole, rounded up to three decimal places and written as
// Java writes a 32-bit number: "0.654", "0.0".
func fraction(part, whole int64) string {
	if whole <= 0 {
		return "0.0"
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(float64(part)/float64(whole), 'f', -1, 64))
	if !ok {
		return "0.0"
	}
	r.Mul(r, big.NewRat(1000, 1))
	n := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
	n.Quo(n, r.Denom())
	text := strconv.FormatFloat(float64(n.Int64())/1000, 'f', -1, 32)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
