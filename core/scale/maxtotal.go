package scale

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// ClassMaxTotal is an executor that vetoes a growth after which the job would
// have more subtasks in all than a limit. Parameters: limit, at least 1;
// priority.
const ClassMaxTotal = "max-total"

type maxTotal struct{ limit, at int }

func newMaxTotal(given []policy.Param) (Executor, error) {
	p := open(given)
	m := maxTotal{limit: p.whole("limit", 1, -1), at: p.priority()}
	return m, p.done()
}

func (m maxTotal) Priority() int { return m.at }

func (m maxTotal) Apply(_ ExecutorContext, decisions []core.VertexDecision) ([]core.VertexDecision, string) {
	before, after := 0, 0
	for _, d := range decisions {
		before, after = before+d.From, after+d.To
	}
	if after > m.limit && after > before {
		return nil, fmt.Sprintf("%d subtasks in all would be more than %d, now %d", after, m.limit, before)
	}
	return decisions, ""
}
