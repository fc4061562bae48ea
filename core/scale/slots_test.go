package scale

import (
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func TestWholeTaskManagers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		per      int
		vertices []string
		change   func(*Job)
		want     string
	}{
		"off":                     {"the policy does not ask for it", 4, []string{"a g 4->5"}, func(j *Job) { j.Policy.AlignSlots = false }, "a 5"},
		"nothing changes":         {"it is no reason to change", 4, []string{"a g 5->5"}, nil, "a 5"},
		"whole already":           {"", 4, []string{"a g 4->8"}, nil, "a 8"},
		"one slot each":           {"any number is whole", 1, []string{"a g 4->5"}, nil, "a 5"},
		"slots not known":         {"", 0, []string{"a g 4->5"}, nil, "a 5"},
		"rounded up":              {"5 of 8 slots", 4, []string{"a g 4->5"}, nil, "a 8"},
		"the largest":             {"smaller vertices share its slots", 4, []string{"a g 4->5", "b g 2->3"}, nil, "a 8, b 3"},
		"two as large":            {"both, else one would be the bottleneck", 4, []string{"a g 4->5", "b g 2->5"}, nil, "a 8, b 8"},
		"groups are summed":       {"5 and 2 are 7 of 8 slots", 4, []string{"a g 4->5", "b h 2->2"}, nil, "a 6, b 2"},
		"the largest group":       {"6 and 5 are 11 of 12", 4, []string{"a g 4->5", "b h 4->6"}, nil, "a 5, b 7"},
		"next group":              {"the largest has one more key group, the next takes the rest", 4, []string{"a g 4->5", "b h 4->4"}, func(j *Job) { j.change("a", func(v *core.Vertex) { v.MaxParallelism = 6 }) }, "a 6, b 6"},
		"as far as limits go":     {"the policy's largest", 4, []string{"a g 4->5"}, func(j *Job) { j.Policy.MaxParallelism = 7 }, "a 7"},
		"hard limit":              {"", 4, []string{"a g 4->5"}, func(j *Job) { j.Policy.HardMax = 6 }, "a 6"},
		"partitions":              {"I3", 4, []string{"a g 4->5"}, func(j *Job) { j.change("a", func(v *core.Vertex) { v.Partitions = 5 }) }, "a 5"},
		"shrinks":                 {"5 slots need as many TaskManagers as 6", 4, []string{"a g 6->5"}, nil, "a 6"},
		"shrinks by a manager":    {"3 slots of 4: one may be kept", 4, []string{"a g 6->3"}, nil, "a 4"},
		"frees nothing":           {"a beside it needs the same slots: no restart for nothing", 4, []string{"a g 4->4", "b g 4->3"}, nil, "a 4, b 4"},
		"frees nothing, but must": {"a limit is not given up", 4, []string{"a g 4->4", "b g 4->3"}, func(j *Job) { j.change("b", func(v *core.Vertex) { v.MaxParallelism = 3 }) }, "a 4, b 3"},
		"frees nothing, held":     {"nothing is known of b that would let it go back", 4, []string{"a g 4->4", "b g 4->3 held"}, nil, "a 4, b 3"},
		"nothing grows":           {"a is not made larger because b shrinks; b keeps the slot that is left", 4, []string{"a g 5->5", "b h 4->2"}, nil, "a 5, b 3"},
		"up and down":             {"the largest grows, the other not above what it was", 4, []string{"a g 2->5", "b h 4->1"}, nil, "a 7, b 1"},
		"down, and others up":     {"what gets smaller is not made larger than it is", 16, []string{"a g 6->5", "b h 1->2"}, nil, "a 6, b 10"},
		"must not change":         {"the largest is excluded; a smaller one does not need its slots", 4, []string{"a g 5->5 held", "b g 2->3"}, nil, "a 5, b 3"},
		"joined":                  {"FORWARD keeps them equal", 4, []string{"a g 4->5", "b g 4->5"}, func(j *Job) { j.edge("a", "b", core.ShipForward) }, "a 8, b 8"},
		"joined, one at limit": {"b has 6 key groups", 4, []string{"a g 4->5", "b g 4->5"}, func(j *Job) {
			j.edge("a", "b", core.ShipForward)
			j.change("b", func(v *core.Vertex) { v.MaxParallelism = 6 })
		}, "a 6, b 6"},
		"joined over groups":    {"one would take two slots", 4, []string{"a g 4->5", "b h 4->5"}, func(j *Job) { j.edge("a", "b", core.ShipForward) }, "a 5, b 5"},
		"a limit of the policy": {"the policy's floor is no limit upwards", 4, []string{"a g 4->5"}, func(j *Job) { j.Policy.HardMin = 5 }, "a 8"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := bounded(0, 0, func(p *policy.Policy) { p.AlignSlots = true })
			j, d := jobOf(p, Facts{SlotsPerTM: c.per}, c.vertices...)
			if c.change != nil {
				c.change(&j)
			}
			WholeTaskManagers(d, j)
			if got := sizes(d); got != c.want {
				t.Errorf("%s: %s; want %s", c.reason, got, c.want)
			}
		})
	}
}

func TestWholeTaskManagersSaysSo(t *testing.T) {
	t.Parallel()
	j, d := jobOf(bounded(0, 0, func(p *policy.Policy) { p.AlignSlots = true }), Facts{SlotsPerTM: 4}, "a g 4->5")
	WholeTaskManagers(d, j)
	want := core.Step{By: "job.autoscaler.scaling.align-to-slots", To: 8, Note: "5 slots need 2 TaskManagers of 4"}
	if len(d[0].Steps) != 1 || d[0].Steps[0] != want || d[0].Why != core.ReasonScaleUp {
		t.Errorf("%+v; want the step %+v", d[0], want)
	}
}
