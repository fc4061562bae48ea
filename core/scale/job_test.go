package scale

import (
	"fmt"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// a vertex of a test job: "a g1 4->8" is vertex a in slot sharing group g1 that
// is to go from 4 to 8; "a g1 4->8 held" must not change.
func jobOf(p policy.Policy, f Facts, vertices ...string) (Job, []core.VertexDecision) {
	j := Job{Policy: p, Facts: f, Now: noon()}
	var out []core.VertexDecision
	for _, text := range vertices {
		var v core.Vertex
		var to int
		if _, err := fmt.Sscanf(text, "%s %s %d->%d", &v.ID, &v.SlotGroup, &v.Parallelism, &to); err != nil {
			panic(text + ": " + err.Error())
		}
		v.MaxParallelism = 128
		v.Inputs = []core.Edge{{From: "elsewhere", Ship: "REBALANCE"}}
		e := evaluate.Vertex{ID: v.ID}
		if strings.HasSuffix(text, "held") {
			e.Unjudged = core.ReasonExcluded
		}
		j.Topology.Vertices = append(j.Topology.Vertices, v)
		j.Evidence.Vertices = append(j.Evidence.Vertices, e)
		out = append(out, core.VertexDecision{ID: v.ID, From: v.Parallelism, To: to, Wanted: to})
	}
	return j, out
}

// edge joins two vertices of a job.
func (j *Job) edge(from, to string, ship core.ShipStrategy) {
	for i := range j.Topology.Vertices {
		if v := &j.Topology.Vertices[i]; v.ID == to {
			if v.Inputs[0].From == "elsewhere" {
				v.Inputs = nil
			}
			v.Inputs = append(v.Inputs, core.Edge{From: from, Ship: ship})
		}
	}
}

// change gives a vertex of a job to change.
func (j *Job) change(id string, f func(*core.Vertex)) {
	for i := range j.Topology.Vertices {
		if j.Topology.Vertices[i].ID == id {
			f(&j.Topology.Vertices[i])
		}
	}
}

// sizes writes decisions as "a 8, b 4".
func sizes(decisions []core.VertexDecision) string {
	var out []string
	for _, d := range decisions {
		out = append(out, fmt.Sprintf("%s %d", d.ID, d.To))
	}
	return strings.Join(out, ", ")
}

// evidenceOf is that of a vertex that needs factor times what it has.
func evidenceOf(factor float64) evaluate.Vertex {
	return evaluate.Vertex{Capacity: core.Read(factor), TrueRate: core.Read(1)}
}
