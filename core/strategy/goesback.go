package strategy

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/stabilize"
)

// notUndone is said of a job that is not well since a change where nothing may
// be taken back.
const notUndone = "not undone: switched off by " + policy.Prefix + "rescale.undo.enabled"

// goesBack asks for the size before the last change where the job restarts again
// and again since (BC-17). That needs no evidence: it is no strategy decision.
func (c *cycle) goesBack() bool {
	back, why := c.book.GoBack(c.ctx.Topology)
	if why == "" || c.p.Quirks.Has(policy.QuirkUndo) {
		return false
	}
	if !c.p.Undo {
		c.unwell(core.ReasonRestartLoop, why)
		if c.newest().Fault == "" {
			return false
		}
		c.hold(c.alarm.reason, c.alarm.note)
		return true
	}
	c.d.Vertices = c.unseen(core.ReasonUndo)
	c.undo(core.ReasonRestartLoop, back, why)
	return true
}

// fellBehind asks for the size before the last change where that made something
// smaller and the job falls behind since. It comes before what the rule would
// do: that is the formula which just proved wrong, while the size before is
// known to do the work, and this one must be known to do too little.
func (c *cycle) fellBehind(result evaluate.Result) bool {
	back, why := c.book.FellBehind(c.ctx.Topology, result, c.window.Samples)
	if why == "" || c.p.Quirks.Has(policy.QuirkUndo) {
		return false
	}
	if !c.p.Undo {
		c.unwell(core.ReasonLagObjective, why)
		return false
	}
	c.show(result, core.ReasonUndo)
	c.undo(core.ReasonLagObjective, back, string(core.ReasonLagObjective)+": "+why)
	return true
}

// undo decides on the size before, from what is asked of Flink.
func (c *cycle) undo(cause core.Reason, back []core.VertexSize, why string) {
	asked := c.book.WantedNow(c.ctx.Topology)
	for i := range c.d.Vertices {
		v := &c.d.Vertices[i]
		v.From, _ = core.FindSize(asked, v.ID)
		v.To, v.Wanted, v.Outside = v.From, v.From, false
		if p, _ := core.FindSize(back, v.ID); p != v.From {
			v.To, v.Wanted, v.Outside = p, p, true
			v.Steps = []core.Step{{By: string(core.ReasonUndo), To: p, Note: "the size before"}}
		}
	}
	c.d.Verdict, c.d.Reason, c.d.Undoes = core.Change, core.ReasonUndo, cause
	c.d.Note = fmt.Sprintf("%s: %s", why, c.changes())
}

// alarm is why a hold is none that may pass unseen.
type alarm struct {
	reason core.Reason
	note   string
}

// unwell notes that the job is not well since the last change, which is not to
// be taken back.
func (c *cycle) unwell(r core.Reason, why string) { c.alarm = alarm{r, why + "; " + notUndone} }

// tellUnwell has a hold of the rule say that instead. A change goes on.
func (c *cycle) tellUnwell() {
	if c.alarm.reason == "" || c.d.Verdict == core.Change || c.given() || c.d.Reason == c.alarm.reason {
		return
	}
	c.hold(c.alarm.reason, fmt.Sprintf("%s; besides, %s: %s", c.alarm.note, c.d.Reason, c.d.Note))
}

// before has a change that makes something smaller held against what is known
// of the job now.
func (c *cycle) before() {
	if c.d.Verdict == core.Change {
		c.book.Against(stabilize.BeforeOf(c.d, c.result, c.ctx.Topology, c.p))
	}
}

// loops is true where the job restarts again and again since the last change,
// and that is why nothing of it can be judged.
func (c *cycle) loops(fault core.Reason) bool {
	switch fault {
	case core.ReasonJobNotRunning, core.ReasonTasksNotRunning, core.ReasonJobRestarted, core.ReasonIncomplete, core.ReasonMetricsFrozen, core.ReasonMetricsMissing:
	default:
		return false
	}
	_, why := stabilize.GoBack(c.memory, c.ctx.Topology)
	return why != "" && !c.ctx.Override.Active(c.ctx.Now)
}
