package flink

import (
	"fmt"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
	"flinkscaler/core/stabilize"
)

// Propose decides for every vertex, sorted by id. Delays are recorded but not
// cleared by the proposal as a whole: whoever carries it out does that.
func Propose(in evaluate.Input, delays *stabilize.Delays, now time.Time) []core.VertexDecision {
	p := in.Policy
	delays.Freeze(now, p.Interval, 3*p.Interval)
	result := evaluate.Evaluate(in)
	out := make([]core.VertexDecision, 0, len(in.Topology.Vertices))
	for i, v := range in.Topology.Vertices {
		e := result.Vertices[i]
		d := scale.Size(v, e, p)
		if e.Unjudged == "" {
			settle(&d, e, delays, now, p)
		}
		out = append(out, d)
	}
	scale.Gate(out)
	return out
}

// settle lets a wish to be larger through, and holds one to be smaller until
// its evidence is complete and its delay over.
func settle(d *core.VertexDecision, e evaluate.Vertex, delays *stabilize.Delays, now time.Time, p policy.Policy) {
	switch {
	case d.Wanted > d.From:
		delays.Clear(d.ID)
		d.Why = core.ReasonScaleUp
	case d.Wanted == d.From:
		delays.Clear(d.ID)
		// Without a step no smaller size does the work: one subtask that is
		// nearly idle is well, not limited.
		if d.Outside && len(d.Steps) > 0 {
			d.Why = core.ReasonAtLimit
		}
	case e.Gap != "":
		// I1: what is not known must not make anything smaller. The delay
		// neither begins nor goes on.
		stay(d, "complete evidence", e.Note)
		if d.Outside {
			d.Why = e.Gap
		}
	default:
		down(d, delays, now, p)
	}
}

func stay(d *core.VertexDecision, by, note string) {
	d.To = d.From
	d.Steps = append(d.Steps, core.Step{By: by, To: d.From, Note: note})
}

func down(d *core.VertexDecision, delays *stabilize.Delays, now time.Time, p policy.Policy) {
	wish := core.DelayedEntry{At: now, Parallelism: d.Wanted, Outside: d.Outside}
	r := delays.Down(d.ID, d.From, wish, p.ScaleDownInterval)
	d.To, d.Why = r.To, core.ReasonScaleDown
	by := policy.Prefix + "scale-down.interval"
	switch {
	case r.To == d.From:
		d.Why = core.ReasonWithinTarget
		if d.Outside {
			d.Why = core.ReasonDownDelayed
		}
		note := "as large a size was wanted within the delay"
		if !r.Ready.IsZero() {
			note = fmt.Sprintf("not before %s", r.Ready.UTC().Format("15:04:05"))
		}
		d.Steps = append(d.Steps, core.Step{By: by, To: r.To, Note: note})
	case r.To != d.Wanted:
		d.Outside = r.Outside
		d.Steps = append(d.Steps, core.Step{By: by, To: r.To, Note: "the largest size wanted within the delay"})
	default:
		d.Outside = r.Outside
	}
}
