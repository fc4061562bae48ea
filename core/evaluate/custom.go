package evaluate

import (
	"time"

	"flinkscaler/core"
)

// Evaluator changes what was evaluated of a vertex (FLIP-514): it may know of
// a load that no metric shows, such as a campaign that begins in an hour. It is
// called once per vertex, in the order of the records' way, and must depend on
// nothing but its argument and its own parameters.
type Evaluator interface {
	Evaluate(c CustomContext) Custom
}

// CustomContext is what an Evaluator may know.
type CustomContext struct {
	Vertex core.Vertex
	// Evaluated is what the formulas say of the vertex, Done what was made of
	// those before it, changes by the Evaluator included.
	Evaluated Vertex
	Done      []Vertex
	// Samples are those that count, oldest first.
	Samples []core.Sample
	Backlog bool
	Now     time.Time
}

// Custom holds the numbers that an Evaluator replaces; one that is not Present
// leaves what was evaluated. Rates are records per second. What is downstream,
// the bounds and the size follow from the replaced numbers.
type Custom struct {
	TargetRate  core.Reading
	CatchUpRate core.Reading
	TrueRate    core.Reading
	// Note is one sentence for people, empty for none.
	Note string
}

// customise lets the policy's evaluator replace rates of a vertex.
func (s *state) customise(v core.Vertex, r *rates) {
	if s.in.Custom == nil || v.Finished {
		return
	}
	before := Vertex{ID: v.ID, TargetRate: core.Read(r.target), CatchUpRate: core.Read(r.catchUp), TrueRate: bounded(r.trueRate), Load: core.Read(core.Round3(r.busyMs / 1000)), Lag: r.lag}
	c := s.in.Custom.Evaluate(CustomContext{Vertex: v, Evaluated: before, Done: s.order, Samples: s.in.Samples, Backlog: s.backlog, Now: s.in.Now})
	for _, x := range []struct {
		by core.Reading
		to *float64
	}{{c.TargetRate, &r.target}, {c.CatchUpRate, &r.catchUp}, {c.TrueRate, &r.trueRate}} {
		if f, ok := x.by.Value(); ok {
			*x.to = core.Round3(max(0, f))
		}
	}
	s.target[v.ID], s.catchUp[v.ID] = r.target, r.catchUp
	if c.Note != "" {
		s.notes[v.ID] = c.Note
	}
}
