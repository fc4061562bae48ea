package scale

import (
	"cmp"
	"fmt"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// WholeTaskManagers uses the slots up that would be left over: where something
// changes and the job's slots do not fill whole TaskManagers, the largest
// vertices of its slot sharing groups become larger, the largest group first,
// as far as limits allow. What gets smaller and frees no TaskManager stays as it is.
// Nothing becomes smaller by it, what gets smaller does
// not become larger than it is, and a job in which nothing grows only gives up
// a part of its shrinkage. Vertices that a FORWARD edge joins grow together.
func WholeTaskManagers(decisions []core.VertexDecision, j Job) {
	per := j.Facts.SlotsPerTM
	if !j.Policy.AlignSlots || per < 2 || !slices.ContainsFunc(decisions, changes) {
		return
	}
	used := slotsOf(j.Topology, decided(decisions))
	whole := managers(used, per) * per
	r := rounding{Job: j, decisions: decisions, at: positions(decisions), left: whole - used}
	r.grows = slices.ContainsFunc(decisions, func(d core.VertexDecision) bool { return d.To > d.From })
	r.note = fmt.Sprintf("%d slots need %d TaskManagers of %d", used, managers(used, per), per)
	if before := slotsOf(j.Topology, func(v core.Vertex) int { return v.Parallelism }); !r.grows && managers(before, per) <= managers(used, per) && r.stay() {
		return
	}
	for _, g := range r.groups() {
		r.fill(g)
	}
}

// stay gives up a shrinkage that frees no TaskManager: it would cost a restart
// for nothing. Not where a limit asks for it.
func (r *rounding) stay() bool {
	for _, d := range r.decisions {
		v, ok := r.Topology.Find(d.ID)
		if _, upper := soft(v, r.Policy); ok && changes(d) && (r.held(d.ID) || d.From > min(upper, r.most(d.ID))) {
			return false
		}
	}
	for i := range r.decisions {
		if d := &r.decisions[i]; changes(*d) {
			set(d, d.From, policy.Prefix+"scaling.align-to-slots", r.note+", as now")
		}
	}
	return true
}

func changes(d core.VertexDecision) bool { return d.To != d.From }

// rounding is a job on its way to whole TaskManagers.
type rounding struct {
	Job

	decisions []core.VertexDecision
	at        map[string]int
	// left counts the slots that nobody uses yet.
	left  int
	grows bool
	note  string
}

// slotGroup is a slot sharing group with its largest vertices.
type slotGroup struct {
	name    string
	largest int
	ids     []string
}

// groups lists the slot sharing groups, the largest first, ties by name.
func (r *rounding) groups() []slotGroup {
	size := decided(r.decisions)
	at := map[string]int{}
	var out []slotGroup
	for _, v := range r.Topology.Vertices {
		i, ok := at[v.SlotGroup]
		if !ok {
			i = len(out)
			at[v.SlotGroup] = i
			out = append(out, slotGroup{name: v.SlotGroup})
		}
		switch n := size(v); {
		case n > out[i].largest:
			out[i].largest, out[i].ids = n, []string{v.ID}
		case n == out[i].largest:
			out[i].ids = append(out[i].ids, v.ID)
		}
	}
	slices.SortFunc(out, func(a, b slotGroup) int {
		return cmp.Or(cmp.Compare(b.largest, a.largest), cmp.Compare(a.name, b.name))
	})
	return out
}

// fill lets the largest vertices of a group grow by the slots that are left.
func (r *rounding) fill(g slotGroup) {
	joined := Groups(r.Topology)
	gained := 0
	done := map[string]bool{}
	for _, id := range g.ids {
		unit := []string{id}
		if i := slices.IndexFunc(joined, func(ids []string) bool { return slices.Contains(ids, id) }); i >= 0 {
			unit = joined[i]
		}
		if done[unit[0]] {
			continue
		}
		done[unit[0]] = true
		by := r.left
		for _, m := range unit {
			by = min(by, r.room(m, g))
		}
		for _, m := range unit {
			if by > 0 {
				d := &r.decisions[r.at[m]]
				set(d, d.To+by, policy.Prefix+"scaling.align-to-slots", r.note)
			}
		}
		gained = max(gained, by)
	}
	r.left -= gained
}

// room is by how much a vertex may grow.
func (r *rounding) room(id string, g slotGroup) int {
	v, _ := r.Topology.Find(id)
	i, ok := r.at[id]
	if !ok || r.held(id) || v.SlotGroup != g.name {
		return 0
	}
	d := r.decisions[i]
	_, upper := soft(v, r.Policy)
	upper = min(upper, r.most(id))
	if d.To < d.From || !r.grows {
		upper = min(upper, d.From)
	}
	return max(0, upper-d.To)
}
