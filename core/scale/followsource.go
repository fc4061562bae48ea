package scale

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// ClassFollowSource is an executor that lets a job grow only with its sources:
// every other vertex that grows gets the size of the largest growing source, and
// where no source grows nothing changes. Parameter: priority.
const ClassFollowSource = "align-to-source"

type followSource struct{ at int }

func newFollowSource(given []policy.Param) (Executor, error) {
	p := open(given)
	f := followSource{at: p.priority()}
	return f, p.done()
}

func (f followSource) Priority() int { return f.at }

func (f followSource) Apply(c ExecutorContext, decisions []core.VertexDecision) ([]core.VertexDecision, string) {
	to := 0
	for _, d := range decisions {
		if v, _ := c.Topology.Find(d.ID); v.IsSource() && d.To > d.From {
			to = max(to, d.To)
		}
	}
	if to == 0 {
		return nil, "no source grows"
	}
	for i := range decisions {
		d := &decisions[i]
		if v, _ := c.Topology.Find(d.ID); v.IsSource() || d.To <= d.From {
			continue
		}
		d.Steps = append(d.Steps, core.Step{By: ByExecutor, To: to, Note: fmt.Sprintf("as many as the source's %d", to)})
		d.To = to
	}
	return decisions, ""
}
