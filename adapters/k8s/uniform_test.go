package k8s

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// graphOf makes vertices a, b, ... of these sizes, with a max parallelism each.
func graphOf(sizes, most []int, group ...string) core.Topology {
	var t core.Topology
	for i := range sizes {
		v := core.Vertex{ID: string(rune('a' + i)), Parallelism: sizes[i], MaxParallelism: most[i]}
		if len(group) > i {
			v.SlotGroup = group[i]
		}
		t.Vertices = append(t.Vertices, v)
	}
	return t
}

func bounds(upper ...int) core.Requirements {
	var r core.Requirements
	for i, n := range upper {
		r = append(r, core.Bounds{ID: string(rune('a' + i)), Lower: 1, Upper: n})
	}
	return r
}

func TestUniform(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		most   []int
		size   int
		want   core.Requirements
	}{
		"all":        {"one size for all", []int{128, 128}, 4, bounds(4, 4)},
		"capped":     {"Flink gives no vertex more than its max parallelism", []int{128, 3}, 4, bounds(4, 3)},
		"not known":  {"0 is no limit", []int{0, 3}, 7, bounds(7, 3)},
		"no smaller": {"a vertex has one task at least", []int{128, 128}, 0, bounds(1, 1)},
	} {
		if diff := cmp.Diff(c.want, uniform(graphOf(c.most, c.most), c.size)); diff != "" {
			t.Errorf("%s (%s) (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

func TestRefuseList(t *testing.T) {
	t.Parallel()
	graph, held := graphOf([]int{2, 2}, []int{8, 3}), bounds(2, 2)
	for name, c := range map[string]struct {
		reason string
		list   core.Requirements
		refuse bool
	}{
		"as it is":       {"the same list again", bounds(2, 2), false},
		"other sizes":    {"each by itself; how they are met is another matter", bounds(8, 1), false},
		"none":           {"no vertex is listed", nil, true},
		"one missing":    {"a vertex without a number", bounds(2), true},
		"one too many":   {"a vertex that the job does not have", bounds(2, 2, 2), true},
		"twice":          {"which of the two?", append(bounds(2, 2), held[0]), true},
		"above the most": {"Flink refuses it, and after TaskManagers were started for it", bounds(2, 4), true},
		"zero":           {"no task at all", core.Requirements{held[0], {ID: "b", Lower: 0, Upper: 0}}, true},
		"upside down":    {"lower above upper", core.Requirements{held[0], {ID: "b", Lower: 2, Upper: 1}}, true},
		"raised lower":   {"it can end a job for good (I7)", core.Requirements{held[0], {ID: "b", Lower: 2, Upper: 2}}, true},
	} {
		err := refuseList(graph, held, c.list)
		if got := errors.Is(err, core.ErrRefused); got != c.refuse || got != (err != nil) {
			t.Errorf("%s (%s): %v", name, c.reason, err)
		}
	}
}

func TestOddVertex(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason      string
		sizes, most []int
		want        string
	}{
		"even":     {"all at one size", []int{4, 4}, []int{128, 128}, ""},
		"capped":   {"no more is possible there", []int{4, 3}, []int{128, 3}, ""},
		"set":      {"the program sets it", []int{4, 1}, []int{128, 128}, "b"},
		"no graph": {"the job waits", nil, nil, ""},
	} {
		v, _, is := odd(graphOf(c.sizes, c.most))
		if v.ID != c.want || is != (c.want != "") {
			t.Errorf("%s (%s): %q %v", name, c.reason, v.ID, is)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for want, g := range map[int]core.Topology{
		0: {}, 1: graphOf([]int{1, 1}, []int{2, 2}), 2: graphOf([]int{1, 1, 1}, []int{2, 2, 2}, "x", "y", "x"),
	} {
		if got := groups(g); got != want {
			t.Errorf("%d groups, want %d", got, want)
		}
	}
}

func TestSlotsPerTaskManager(t *testing.T) {
	t.Parallel()
	set := map[string]string{keySlots: " 4 "}
	for name, c := range map[string]struct {
		reason   string
		managers []int
		options  []map[string]string
		want     int
	}{
		"registered":     {"what runs says more than what is written", []int{2, 2}, []map[string]string{set}, 2},
		"of Flink":       {"no TaskManager yet, the option of the JobManager", nil, []map[string]string{set, {keySlots: "8"}}, 4},
		"of the object":  {"Flink shows no default", nil, []map[string]string{{}, {keySlots: "8"}}, 8},
		"not the same":   {"a roll-out of another number is under way", []int{2, 4}, []map[string]string{set}, 0},
		"unknown":        {"never guessed: 1 would be Flink's default", nil, []map[string]string{{}, nil}, 0},
		"no number":      {"written wrong", nil, []map[string]string{{keySlots: "many"}}, 0},
		"less than none": {"written wrong", nil, []map[string]string{{keySlots: "-1"}}, 0},
	} {
		var managers []flink.TaskManager
		for _, n := range c.managers {
			managers = append(managers, flink.TaskManager{Slots: n})
		}
		got, err := slotsPer(managers, c.options...)
		if got != c.want || errors.Is(err, core.ErrNotReady) != (c.want == 0) {
			t.Errorf("%s (%s): %d %v, want %d", name, c.reason, got, err, c.want)
		}
	}
}
