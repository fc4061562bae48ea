package strategy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// mostBytes is what a decision of 300 vertices may have: it goes into history
// as one payload, of which Temporal takes 2 MiB.
const mostBytes = 512 << 10

// chain is a job of n vertices in a row, with names as long as Flink makes
// them of chained operators.
func chain(n int) (world, policy.Policy) {
	var w world
	for i := range n {
		v := core.Vertex{ID: fmt.Sprintf("%032d", i), Name: fmt.Sprintf("%d: %s", i, strings.Repeat("map -> ", 40)), Parallelism: 4, MaxParallelism: 128}
		if i > 0 {
			v.Inputs = []core.Edge{{From: fmt.Sprintf("%032d", i-1), Ship: core.ShipHash}}
		}
		w.topology.Vertices = append(w.topology.Vertices, v)
		w.in, w.out, w.permille, w.lag = append(w.in, 1000), append(w.out, 1000), append(w.permille, 1000), append(w.lag, 0)
	}
	w.lag[0] = 250000
	return w, policy.Default()
}

func TestALargeDecisionStaysSmall(t *testing.T) {
	t.Parallel()
	many := make([]core.Problem, 5000)
	for i := range many {
		many[i] = core.Problem{Path: strings.Repeat("p", 500), Message: strings.Repeat("m", 500)}
	}
	for name, tt := range map[string]struct {
		reason   string
		change   func(*core.JobContext)
		problems []core.Problem
		want     core.Reason
	}{
		"change":   {"the arithmetic of every vertex", func(*core.JobContext) {}, nil, core.ReasonScaleUp},
		"no proof": {"what is missing upstream is told of each vertex downstream", func(c *core.JobContext) { blind(c) }, nil, core.ReasonIncomplete},
		"override": {"each wrong name would list all names of the job", func(c *core.JobContext) {
			o := core.Override{}
			for i := range 200 {
				o.Vertices = append(o.Vertices, core.VertexSize{ID: fmt.Sprintf("wrong %d", i), Parallelism: 2})
			}
			c.Override = &o
		}, nil, core.ReasonOverrideInvalid},
		"policy": {"anybody can write a job's configuration", func(*core.JobContext) {}, many, core.ReasonPolicyInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := chain(300)
			ctx := w.context(p)
			tt.change(&ctx)
			d, _, _ := Decide(ctx, p, tt.problems)
			b, err := json.Marshal(d)
			if err != nil || len(b) > mostBytes || d.Reason != tt.want {
				t.Errorf("%s: %d bytes, reason %s, %v", tt.reason, len(b), d.Reason, err)
			}
		})
	}
}

// blind takes the source's numbers out of every sample.
func blind(c *core.JobContext) {
	for i := range c.Window {
		v := &c.Window[i].Vertices[0]
		v.RecordsIn, v.RecordsOut, v.InPerSecond = core.Absent(core.Incomplete), core.Absent(core.Incomplete), core.Absent(core.Incomplete)
	}
}
