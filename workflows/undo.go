package workflows

import (
	"fmt"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// undoPeriod is how long an undo is in force where nobody says it.
const undoPeriod = time.Hour

// change is a change of ours that had an effect: what was before, what came of
// it.
type change struct {
	attempt   int
	from, got []core.VertexSize
}

// lastChange is the rescale under way, else the last one that changed a size.
// What was rejected, undone or failed left nothing to go back from.
func (s *State) lastChange() (change, bool) {
	if o := s.Open; o != nil {
		return change{o.Attempt, o.From, o.Wanted}, true
	}
	for i := len(s.Rescales) - 1; i >= 0; i-- {
		o := s.Rescales[i]
		c := change{o.Attempt, o.From, o.Got}
		if (o.Kind == core.Applied || o.Kind == core.Partial) && len(c.changed()) > 0 {
			return c, true
		}
	}
	return change{}, false
}

// changed are the sizes before, of the vertices that the change touched.
func (c change) changed() []core.VertexSize {
	var out []core.VertexSize
	for _, f := range c.from {
		if got, ok := core.FindSize(c.got, f.ID); ok && got != f.Parallelism {
			out = append(out, f)
		}
	}
	return out
}

// undo says which sizes an undo would set, or why it cannot be. Vertices that
// the change did not touch stay as they are.
func (s *State) undo() judgement {
	no := func(format string, args ...any) judgement {
		return judgement{Problems: problemOf(MsgUndo, format, args...)}
	}
	c, ok := s.lastChange()
	switch {
	case !ok:
		return no("there is nothing to undo: no change of ours that had an effect is known")
	case s.Open != nil && len(c.from) == 0:
		return no("rescale %d is under way, and the sizes before it are known when it has ended; try again then", c.attempt)
	}
	j := judgement{Attempt: c.attempt}
	differs := false
	for _, f := range c.changed() {
		v, ok := s.Topology.Find(f.ID)
		got, _ := core.FindSize(c.got, f.ID)
		switch {
		case !ok:
			j.Told = append(j.Told, fmt.Sprintf("vertex %s is no longer there", f.ID))
			continue
		case v.Finished:
			j.Told = append(j.Told, fmt.Sprintf("%s has finished", s.Topology.Title(f.ID, maxTitle)))
			continue
		case s.Open == nil && v.Parallelism != got:
			j.Told = append(j.Told, fmt.Sprintf("%s was changed since, from %d to %d", s.Topology.Title(f.ID, maxTitle), got, v.Parallelism))
		}
		differs = differs || v.Parallelism != f.Parallelism
		j.Sizes = append(j.Sizes, f)
	}
	if len(j.Sizes) == 0 {
		return no("nothing of rescale %d can be undone: %s", c.attempt, told(j.Told))
	}
	if !differs && s.Open == nil && s.Override == nil {
		return no("there is nothing to undo: everything runs at the sizes before rescale %d", c.attempt)
	}
	if _, problems := (core.Override{Vertices: j.Sizes}).Resolve(s.Topology); len(problems) > 0 {
		for i := range problems {
			problems[i].Path = MsgUndo + strings.TrimPrefix(problems[i].Path, MsgOverride)
		}
		return judgement{Problems: spec.Few(problems)}
	}
	return j
}

// maxTitle bounds the name of a vertex in a sentence.
const maxTitle = 40

// told joins a list, which can be long.
func told(list []string) string {
	if n := len(list); n > maxTold {
		list = append(list[:maxTold:maxTold], fmt.Sprintf("%d more", n-maxTold))
	}
	return strings.Join(list, ", ")
}

// goBack has the sizes before the last change in force for a while, as an
// override: the strategy, which made that change, would make it again.
func (s *State) goBack(m message, j judgement, now time.Time) (message, Answer) {
	s.end(endedBy("replaced", m.By), now, MsgOverride, MsgUndo)
	if m.Until.IsZero() {
		m.Until = now.Add(undoPeriod)
	}
	reason := fmt.Sprintf("undo of rescale %d", j.Attempt)
	if m.Reason != "" {
		reason += ": " + m.Reason
	}
	s.Override = &core.Override{Vertices: j.Sizes, By: m.By, Reason: reason, Since: now, Until: m.Until}
	changes, text := s.willSet(*s.Override)
	if s.Open != nil {
		text += fmt.Sprintf("; rescale %d first runs to its end", s.Open.Attempt)
	}
	if len(j.Told) > 0 {
		text += "; " + told(j.Told)
	}
	return m, Answer{Message: reason + untilText(m.Until) + text + s.waits(), Sizes: changes}
}
