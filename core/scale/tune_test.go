package scale

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

func TestNetworkSegments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own, peer int
		ship      core.ShipStrategy
		want      int64
	}{
		{10, 10, "FORWARD", 10}, {10, 15, "FORWARD", 12}, {10, 15, "RESCALE", 12}, {10, 15, "REBALANCE", 38}, {10, 15, "UNKNOWN", 38}, {15, 10, "rescale", 10},
	} {
		if got := networkSegments(c.own, c.peer, c.ship, 2, 8); got != c.want {
			t.Errorf("%d to %d by %s: %d; want %d", c.own, c.peer, c.ship, got, c.want)
		}
	}
}

// tuning is a job of two vertices with a shuffle between them, in TaskManagers
// of 30 gb and 5 slots.
func tuning(used evaluate.Global, vertices ...string) Tuning {
	p := policy.Default()
	p.TuningCompensation = false
	in := Tuning{Config: map[string]string{optProcess: "30 gb", optSlots: "5"}}
	in.Job, in.Decisions = jobOf(p, Facts{SlotsPerTM: 5}, vertices...)
	in.edge("a", "b", "REBALANCE")
	in.Evidence.Global = used
	return in
}

func usage(heap, managed, metaspace, slots float64) evaluate.Global {
	return evaluate.Global{HeapUsed: core.Read(heap), ManagedUsed: core.Read(managed), MetaspaceUsed: core.Read(metaspace), SlotsUsed: core.Read(slots)}
}

func advised(managed, network, metaspace, overhead, process string) *core.MemoryAdvice {
	return &core.MemoryAdvice{
		Set: []core.Option{
			{Key: "taskmanager.memory.framework.heap.size", Value: "0 bytes"},
			{Key: "taskmanager.memory.jvm-metaspace.size", Value: metaspace},
			{Key: "taskmanager.memory.jvm-overhead.fraction", Value: overhead},
			{Key: "taskmanager.memory.managed.fraction", Value: managed},
			{Key: "taskmanager.memory.network.max", Value: network},
			{Key: "taskmanager.memory.network.min", Value: network},
			{Key: "taskmanager.memory.process.size", Value: process},
		},
		Remove: []string{"taskmanager.memory.flink.size", "taskmanager.memory.managed.size", "taskmanager.memory.size", "taskmanager.memory.task.heap.size"},
	}
}

// TestTuneAsJava: the numbers of the Java autoscaler's tests, byte by byte.
func TestTuneAsJava(t *testing.T) {
	t.Parallel()
	const m = float64(1 << 20)
	down := []string{"a g 50->25", "b g 50->10"}
	cases := map[string]struct {
		reason   string
		vertices []string
		used     evaluate.Global
		change   func(*Tuning)
		want     *core.MemoryAdvice
	}{
		"as used": {"no compensation", down, usage(5096*m, 10000*m, 100*m, 50), nil, advised("0.654", "13760 kb", "120 mb", "0.054", "20108162027 bytes")},
		"maximize managed": {"all that is left", down, usage(5096*m, 10000*m, 100*m, 50), func(in *Tuning) { in.Policy.TuningMaximizeManaged = true },
			advised("0.789", "13760 kb", "120 mb", "0.034", "30 gb")},
		"compensation": {"10 TaskManagers become 5: twice the heap; managed memory is not in use", down, usage(5096*m, 0, 100*m, 50), func(in *Tuning) { in.Policy.TuningCompensation = true },
			advised("0.0", "13760 kb", "120 mb", "0.076", "14172382822 bytes")},
		"more than there is": {"the heap takes what is left", down, usage(30812254720, 0, 268435456, 50), func(in *Tuning) { in.Policy.TuningCompensation = true },
			advised("0.0", "13760 kb", "322122547 bytes", "0.034", "30 gb")},
		"two edges": {"between the same two vertices count once, as the last of them", down, usage(5096*m, 10000*m, 100*m, 50), func(in *Tuning) {
			in.edge("a", "b", "REBALANCE")
			in.Topology.Vertices[1].Inputs[0].Ship = core.ShipForward
		}, advised("0.654", "13760 kb", "120 mb", "0.054", "20108162027 bytes")},
		"heap eats managed": {"managed comes after the heap", down, usage(30812254720, 1, 268435456, 50), nil, advised("0.0", "13760 kb", "322122547 bytes", "0.034", "30 gb")},
		"two that grow": {"the case of a whole decision", []string{"a g 10->32", "b g 10->32"}, usage(5120*m, 2048*m, 300*m, 9), func(in *Tuning) { in.Policy.TuningCompensation = true },
			advised("0.652", "23040 kb", "360 mb", "0.053", "20399521976 bytes")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tuning(c.used, c.vertices...)
			if c.change != nil {
				c.change(&in)
			}
			if diff := cmp.Diff(c.want, Tune(in)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestCompensation: a heap of 10 gb, one slot per TaskManager.
func TestCompensation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		from    string
		on      bool
		slots   core.Reading
		want    int64
		perTM   int
		heapGiB int64
	}{
		"half as many":       {"twice the heap", "a g 20->10", true, core.Read(20), 10 * gib, 1, 10},
		"twice as many":      {"never less", "a g 10->20", true, core.Read(10), 0, 1, 10},
		"off":                {"", "a g 20->10", false, core.Read(20), 0, 1, 10},
		"in use not known":   {"by the slots that the vertices need", "a g 20->10", true, core.Reading{}, 10 * gib, 1, 10},
		"none in use":        {"not known what it was before", "a g 20->10", true, core.Read(0), 0, 1, 10},
		"slots not known":    {"", "a g 20->10", true, core.Read(20), 0, 0, 10},
		"whole TaskManagers": {"3 become 2", "a g 11->6", true, core.Read(11), 5 * gib, 4, 10},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Tuning{}
			in.Job, in.Decisions = jobOf(bounded(0, 0, func(p *policy.Policy) { p.TuningCompensation = c.on }), Facts{SlotsPerTM: c.perTM}, c.from)
			in.Evidence.Global.SlotsUsed = c.slots
			if got := in.compensation(c.heapGiB * gib); got != c.want {
				t.Errorf("%s: %d; want %d", c.reason, got, c.want)
			}
		})
	}
}

// TestSlotsAfter: a source that goes from 2 to 7 beside a vertex of 3.
func TestSlotsAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason      string
		used        float64
		want, wants int
	}{{"as many as the largest: shared", 3, 7, 3}, {"as many as all: not shared", 5, 10, 5}, {"neither: taken for not shared", 4, 10, 4}} {
		in := Tuning{}
		in.Job, in.Decisions = jobOf(bounded(0, 0, nil), Facts{}, "a g 2->7", "b g 3->3")
		in.Evidence.Global.SlotsUsed = core.Read(c.used)
		if before, after := in.slots(); before != c.wants || after != c.want {
			t.Errorf("%s: %d and %d; want %d and %d", c.reason, before, after, c.wants, c.want)
		}
	}
}

func TestTuneNothingWithoutKnowledge(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*Tuning){
		"no size of the process":   func(in *Tuning) { in.Config = map[string]string{optSlots: "5"} },
		"sizes do not add up":      func(in *Tuning) { in.Config[optFlink] = "1 gb" },
		"heap not known":           func(in *Tuning) { in.Evidence.Global.HeapUsed = core.Absent(core.Missing) },
		"managed not known":        func(in *Tuning) { in.Evidence.Global.ManagedUsed = core.Absent(core.Stale) },
		"metaspace not known":      func(in *Tuning) { in.Evidence.Global.MetaspaceUsed = core.Reading{} },
		"slots not known":          func(in *Tuning) { in.Facts.SlotsPerTM = 0 },
		"buffers not a number":     func(in *Tuning) { in.Config[optBuffers] = "some" },
		"floating below 0":         func(in *Tuning) { in.Config[optFloating] = "-1" },
		"segments larger than RAM": func(in *Tuning) { in.Config[optSegment] = "2 gb" },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tuning(usage(1<<30, 1<<30, 1<<27, 50), "a g 50->25", "b g 50->10")
			if Tune(in) == nil {
				t.Fatal("nothing even with all known")
			}
			change(&in)
			if got := Tune(in); got != nil {
				t.Errorf("%+v; want nothing", got)
			}
		})
	}
}

func TestTuneHostileNumbers(t *testing.T) {
	t.Parallel()
	in := tuning(usage(1e300, 1e300, 1e300, 1e300), "a g 30000->32768", "b g 30000->32768")
	in.Policy.TuningCompensation, in.Policy.TuningMaximizeManaged = true, true
	in.Config[optBuffers], in.Config[optSegment] = "65536", "1 gb"
	in.Facts.SlotsPerTM = 1 << 30
	got := Tune(in)
	if got == nil || got.Set[6].Value != "30 gb" || got.Set[4].Value == "0 bytes" {
		t.Errorf("%+v; want never more than there is", got)
	}
	for _, c := range []struct {
		part, whole int64
		want        string
	}{{0, 10, "0.0"}, {1, 1, "1.0"}, {1, 3, "0.334"}, {654, 1000, "0.654"}, {1, 1 << 60, "0.001"}, {5, 0, "0.0"}} {
		if got := fraction(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d: %s; want %s", c.part, c.whole, got, c.want)
		}
	}
}
