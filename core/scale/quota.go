package scale

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Quota is what a change needs of the cluster, against what the policy allows.
type Quota struct {
	// Blocked is true when the change must not be made.
	Blocked bool
	// Note says why, with the numbers or with the fact that is missing; empty
	// when nothing is to be said.
	Note string
	// Slots and TaskManagers before and after the change. TaskManagers are 0
	// where the slots of each are not known.
	SlotsBefore, SlotsAfter       int
	ManagersBefore, ManagersAfter int
}

// CheckQuota compares what all TaskManagers of the job need after the change
// with the policy. Every vertex counts, changed or not; a change that needs no
// more TaskManagers than before always passes. Where a quota is set that cannot
// be checked, a change that needs more is blocked: a doubt is a hold. The
// JobManager is not counted.
func CheckQuota(decisions []core.VertexDecision, j Job) Quota {
	q := Quota{SlotsBefore: slotsOf(j.Topology, sizeNow), SlotsAfter: slotsOf(j.Topology, decided(decisions))}
	per := j.Facts.SlotsPerTM
	if per > 0 {
		q.ManagersBefore, q.ManagersAfter = managers(q.SlotsBefore, per), managers(q.SlotsAfter, per)
	}
	p := j.Policy
	if p.QuotaCPU <= 0 && p.QuotaMemory <= 0 {
		return q
	}
	switch {
	case per <= 0 && q.SlotsAfter > q.SlotsBefore:
		q.block(fmt.Sprintf("a quota is set, but the slots of a TaskManager are not known (%s)", optSlots))
	case q.ManagersAfter > q.ManagersBefore:
		q.compare(p, j.Facts)
	}
	return q
}

func (q *Quota) block(note string) { q.Blocked, q.Note = true, note }

// compare blocks what exceeds the policy, and what cannot be compared.
func (q *Quota) compare(p policy.Policy, f Facts) {
	cpu, memory := float64(q.ManagersAfter)*f.TMCPU, float64(q.ManagersAfter)*float64(f.TMMemory)
	of := fmt.Sprintf("%d TaskManagers, now %d", q.ManagersAfter, q.ManagersBefore)
	switch {
	case p.QuotaCPU > 0 && f.TMCPU <= 0:
		q.block(fmt.Sprintf("%squota.cpu is set, but the cores of a TaskManager are not known (%s)", policy.Prefix, optCPU))
	case p.QuotaCPU > 0 && cpu > p.QuotaCPU:
		q.block(fmt.Sprintf("cpu %g of quota %g: %s", cpu, p.QuotaCPU, of))
	case p.QuotaMemory > 0 && f.TMMemory <= 0:
		q.block(fmt.Sprintf("%squota.memory is set, but the memory of a TaskManager is not known (%s)", policy.Prefix, optProcess))
	case p.QuotaMemory > 0 && memory > float64(p.QuotaMemory):
		q.block(fmt.Sprintf("memory %s of quota %s: %s", policy.FormatMemory(int64(memory)), policy.FormatMemory(p.QuotaMemory), of))
	}
}

// JavaQuota is the check of the Java autoscaler, to compare with: it counts
// only vertices that change, leaves a TaskManager out that is only partly used,
// and lets pass what it cannot compare.
func JavaQuota(decisions []core.VertexDecision, j Job) Quota {
	before, after := map[string]int{}, map[string]int{}
	var q Quota
	if j.Facts.SlotsPerTM < 1 {
		return q
	}
	for _, d := range decisions {
		v, ok := j.Topology.Find(d.ID)
		if !ok || v.SlotGroup == "" || d.To == d.From {
			continue
		}
		q.SlotsBefore += raise(before, v.SlotGroup, d.From)
		q.SlotsAfter += raise(after, v.SlotGroup, d.To)
	}
	q.ManagersBefore, q.ManagersAfter = q.SlotsBefore/j.Facts.SlotsPerTM, q.SlotsAfter/j.Facts.SlotsPerTM
	p, f := j.Policy, j.Facts
	if q.ManagersAfter <= q.ManagersBefore {
		return q
	}
	if f.TMCPU <= 0 {
		p.QuotaCPU = 0
	}
	if f.TMMemory <= 0 {
		p.QuotaMemory = 0
	}
	q.compare(p, f)
	return q
}

// raise lifts the largest number under a key to n, and says by how much.
func raise(largest map[string]int, key string, n int) int {
	had := largest[key]
	largest[key] = max(had, n)
	return largest[key] - had
}
