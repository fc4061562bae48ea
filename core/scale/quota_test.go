package scale

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func quotas(cpu float64, memory int64) policy.Policy {
	return bounded(0, 0, func(p *policy.Policy) { p.QuotaCPU, p.QuotaMemory = cpu, memory })
}

// TestQuotaOfTheJavaAutoscaler: TaskManagers of 2 cores, 2 gb and 2 slots, two
// vertices that go from 1 to 4 and to 3.
func TestQuotaOfTheJavaAutoscaler(t *testing.T) {
	t.Parallel()
	facts := Facts{SlotsPerTM: 2, TMCPU: 2, TMMemory: 2 * gib}
	same, different := []string{"a g 1->4", "b g 1->3"}, []string{"a g 1->4", "b h 1->3"}
	cases := map[string]struct {
		vertices []string
		cpu      float64
		memory   int64
		ours     Quota
		java     Quota
	}{
		"same, 30 cores":      {same, 30, 0, Quota{false, "", 1, 4, 1, 2}, Quota{false, "", 1, 4, 0, 2}},
		"different, 50 cores": {different, 50, 0, Quota{false, "", 2, 7, 1, 4}, Quota{false, "", 2, 7, 1, 3}},
		"different, 50 gb":    {different, 0, 50 * gib, Quota{false, "", 2, 7, 1, 4}, Quota{false, "", 2, 7, 1, 3}},
		"same, 3 cores":       {same, 3, 0, Quota{true, "cpu 4 of quota 3: 2 TaskManagers, now 1", 1, 4, 1, 2}, Quota{true, "cpu 4 of quota 3: 2 TaskManagers, now 0", 1, 4, 0, 2}},
		"same, 3 gb":          {same, 0, 3 * gib, Quota{true, "memory 4 gb of quota 3 gb: 2 TaskManagers, now 1", 1, 4, 1, 2}, Quota{true, "memory 4 gb of quota 3 gb: 2 TaskManagers, now 0", 1, 4, 0, 2}},
		"different, 5 gb":     {different, 0, 5 * gib, Quota{true, "memory 8 gb of quota 5 gb: 4 TaskManagers, now 1", 2, 7, 1, 4}, Quota{true, "memory 6 gb of quota 5 gb: 3 TaskManagers, now 1", 2, 7, 1, 3}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, d := jobOf(quotas(c.cpu, c.memory), facts, c.vertices...)
			if diff := cmp.Diff(c.ours, CheckQuota(d, j)); diff != "" {
				t.Errorf("ours (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.java, JavaQuota(d, j)); diff != "" {
				t.Errorf("as Java (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	known := Facts{SlotsPerTM: 4, TMCPU: 2, TMMemory: 4 * gib}
	cases := map[string]struct {
		reason   string
		vertices []string
		cpu      float64
		memory   int64
		facts    Facts
		ours     bool
		java     bool
		note     string
	}{
		"no quota":                {"", []string{"a g 4->400"}, 0, 0, Facts{}, false, false, ""},
		"what does not change":    {"Java forgets b, which needs 40 slots", []string{"a g 4->8", "b h 40->40"}, 22, 0, known, true, false, "cpu 24 of quota 22: 12 TaskManagers, now 11"},
		"shared with one larger":  {"a grows in slots that b has anyway", []string{"a g 4->8", "b g 40->40"}, 2, 0, known, false, true, ""},
		"a part of a TaskManager": {"5 slots need two; Java says one", []string{"a g 4->5"}, 3, 0, known, true, false, "cpu 4 of quota 3: 2 TaskManagers, now 1"},
		"as many as now":          {"above the quota already, but needs no more", []string{"a g 5->8"}, 1, 0, known, false, true, ""},
		"fewer":                   {"above the quota, but on its way down", []string{"a g 80->40"}, 1, 1, known, false, false, ""},
		"exactly":                 {"the quota may be used up", []string{"a g 4->8"}, 4, 8 * gib, known, false, false, ""},
		"cores not known":         {"a doubt is a hold", []string{"a g 4->8"}, 100, 0, Facts{SlotsPerTM: 4}, true, false, "job.autoscaler.quota.cpu is set, but the cores of a TaskManager are not known (kubernetes.taskmanager.cpu.amount)"},
		"memory not known":        {"a doubt is a hold", []string{"a g 4->8"}, 0, 100, Facts{SlotsPerTM: 4}, true, false, "job.autoscaler.quota.memory is set, but the memory of a TaskManager is not known (taskmanager.memory.process.size)"},
		"not needed":              {"the fact of a quota that is not set", []string{"a g 4->8"}, 100, 0, Facts{SlotsPerTM: 4, TMCPU: 1}, false, false, ""},
		"slots not known":         {"a doubt is a hold", []string{"a g 4->8"}, 100, 0, Facts{TMCPU: 1}, true, false, "a quota is set, but the slots of a TaskManager are not known (taskmanager.numberOfTaskSlots)"},
		"no more slots":           {"nothing to be known", []string{"a g 8->4"}, 100, 0, Facts{}, false, false, ""},
		"nothing new":             {"in slots that are there", []string{"a g 5->8"}, 100, 0, Facts{SlotsPerTM: 4}, false, false, ""},
		"up and down":             {"as many slots as before", []string{"a g 4->8", "b h 8->4"}, 1, 0, known, false, false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, d := jobOf(quotas(c.cpu, c.memory), c.facts, c.vertices...)
			if got := CheckQuota(d, j); got.Blocked != c.ours || got.Note != c.note {
				t.Errorf("%s: %+v; want %v, %q", c.reason, got, c.ours, c.note)
			}
			if got := JavaQuota(d, j); got.Blocked != c.java {
				t.Errorf("%s: as Java %+v; want %v", c.reason, got, c.java)
			}
		})
	}
	j, d := jobOf(quotas(1, 0), known, "a g 4->8")
	j.change("a", func(v *core.Vertex) { v.SlotGroup = "" })
	if q := JavaQuota(d, j); q.Blocked {
		t.Errorf("%+v: Java does not check where it knows no groups", q)
	}
	if q := CheckQuota(d, j); !q.Blocked {
		t.Errorf("%+v: vertices without a group share slots, as they do by default", q)
	}
}
