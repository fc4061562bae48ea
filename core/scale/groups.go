package scale

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// Job is what limits that concern more than one vertex know of a job.
type Job struct {
	Topology core.Topology
	// Evidence is the evaluation that the decisions were made of. A vertex that
	// it does not judge must not change.
	Evidence evaluate.Result
	Policy   policy.Policy
	Facts    Facts
	// Means is how the job's size is changed, nil where Flink alone does it.
	Means *core.Means
	Now   time.Time
}

// held is true for a vertex that must be left as it is.
func (j Job) held(id string) bool {
	e, ok := j.Evidence.Find(id)
	return !ok || e.Unjudged != ""
}

// Groups lists the sets of vertices that are joined by FORWARD edges and run at
// the same parallelism, each sorted by id, the sets by their first id. A vertex
// that is joined to none is in no set.
func Groups(t core.Topology) [][]string {
	root := map[string]string{}
	find := func(id string) string {
		for root[id] != "" && root[id] != id {
			id = root[id]
		}
		return id
	}
	for _, v := range t.Vertices {
		for _, e := range v.Inputs {
			from, ok := t.Find(e.From)
			if !ok || e.Ship != core.ShipForward || from.Parallelism != v.Parallelism {
				continue
			}
			// The smaller id is the root, whatever the order of edges.
			a, b := find(from.ID), find(v.ID)
			root[max(a, b)], root[min(a, b)] = min(a, b), min(a, b)
		}
	}
	var out [][]string
	at := map[string]int{}
	for _, v := range t.Vertices {
		if root[v.ID] == "" {
			continue
		}
		r := find(v.ID)
		i, ok := at[r]
		if !ok {
			i = len(out)
			at[r] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], v.ID)
	}
	for _, g := range out {
		slices.Sort(g)
	}
	return out
}

// Equalise keeps vertices equal that a FORWARD edge joins: Flink keeps such an
// edge only between equal sizes, else it goes over the network or the change is
// refused. All get the largest size that any of them is to have, so that none
// gets smaller than its own evidence allows. Where a member must be left as it
// is (excluded, finished, not judged), or the largest size is more than a
// member can run at and less than another needs, all stay as they are: a change
// of one alone would break the edge. That holds for a size which the policy
// forces, too.
//
// The Java autoscaler does not do this.
func Equalise(decisions []core.VertexDecision, j Job) {
	at := positions(decisions)
	for _, ids := range Groups(j.Topology) {
		var members []*core.VertexDecision
		for _, id := range ids {
			if i, ok := at[id]; ok {
				members = append(members, &decisions[i])
			}
		}
		if len(members) == len(ids) {
			j.equalise(members)
		}
	}
}

func positions(decisions []core.VertexDecision) map[string]int {
	at := make(map[string]int, len(decisions))
	for i, d := range decisions {
		at[d.ID] = i
	}
	return at
}

func (j Job) equalise(members []*core.VertexDecision) {
	largest, fits := members[0], j.most(members[0].ID)
	equal := true
	for _, d := range members[1:] {
		equal = equal && d.To == largest.To
		if d.To > largest.To {
			largest = d
		}
		fits = min(fits, j.most(d.ID))
	}
	if equal {
		return
	}
	from, to := largest.From, min(largest.To, fits)
	note := fmt.Sprintf("as large as %s, which feeds it or is fed by it without a shuffle", j.Topology.Title(largest.ID, 40))
	if i := slices.IndexFunc(members, func(d *core.VertexDecision) bool { return j.held(d.ID) }); i >= 0 {
		to, note = from, fmt.Sprintf("joined to %s, which must not change", j.Topology.Title(members[i].ID, 40))
	} else if to < min(from, largest.To) {
		to, note = from, fmt.Sprintf("joined to %s, which cannot run at %d", j.Topology.Title(j.tightest(members).ID, 40), largest.To)
	}
	for _, d := range members {
		set(d, to, ByForward, note)
	}
}

func (j Job) most(id string) int {
	v, _ := j.Topology.Find(id)
	return mostOf(Known(v, j.Policy), j.Policy)
}

func (j Job) tightest(members []*core.VertexDecision) *core.VertexDecision {
	return slices.MinFunc(members, func(a, b *core.VertexDecision) int { return j.most(a.ID) - j.most(b.ID) })
}

// set moves a decision to a size that concerns more than its own vertex.
func set(d *core.VertexDecision, to int, by, note string) {
	if d.To == to {
		return
	}
	d.To = to
	d.Steps = append(d.Steps, core.Step{By: by, To: to, Note: note})
	switch {
	case to != d.From:
		d.Why = direction(d.From, to)
	case d.Outside:
		d.Why = core.ReasonAtLimit
	default:
		d.Why = core.ReasonWithinTarget
	}
}
