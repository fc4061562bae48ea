package stabilize

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
)

// A change has to prove itself for a while after its outcome, too: a job that
// restarts so often within trialTime of it goes back to the size before.
const (
	trialTime   = 10 * time.Minute
	trialStarts = 3
)

// Try begins the trial of a change that was carried out. An undo is not tried:
// there is nothing to go back to.
func Try(m core.Memory, o core.Outcome) core.Memory {
	if o.Kind == core.Rejected && o.WrittenAt.IsZero() {
		return m
	}
	before := m.Before
	m.Trial, m.Before = nil, nil
	done := o.Kind == core.Applied || o.Kind == core.Partial && o.Reason != core.ReasonForeignWriter
	if done && o.Cause != core.ReasonUndo && o.JobID != "" && !o.RunningAt.IsZero() && !slices.Equal(o.From, o.Got) {
		m.Trial = &core.Trial{JobID: o.JobID, DecisionID: o.DecisionID, Back: o.From, Since: o.RunningAt, Most: subtasks(o.Got)}
		if before != nil && before.DecisionID == o.DecisionID {
			b := *before
			r, _ := restartOf(o)
			b.Got, b.Down = o.Got, r.Took
			m.Trial.Before = &b
		}
	}
	return m
}

// Watch notes that the job began to run anew, and ends the trial after its time
// or with the job. It is to be called with every look, also with those that are
// no evidence. lagWithin is how long a change is on trial for the lag after it.
func Watch(m core.Memory, jobID string, s core.Sample, lagWithin time.Duration) core.Memory {
	if m.Trial == nil {
		return m
	}
	t := *m.Trial
	age := s.At.Sub(t.Since)
	over := age > trialTime && len(t.Starts) < trialStarts || age > 2*trialTime
	switch lagOver := t.Before == nil || age > lagWithin; {
	case t.JobID != jobID, over && lagOver, age < -trialTime: // or a clock that went back
		m.Trial = nil
		return m
	case over && len(t.Starts) > 0:
		t.Starts = nil
		m.Trial = &t
		return m
	case over:
		return m
	case lagOver && t.Before != nil:
		t.Before = nil
		m.Trial = &t
	}
	last := t.Since
	if n := len(t.Starts); n > 0 {
		last = t.Starts[n-1]
	}
	switch n := subtasksOf(s); {
	case n > t.Most:
		// It grows, as when TaskManagers come one after another: no loop.
		t.Most, t.Starts = n, nil
		m.Trial = &t
	case s.RunningSince.After(last) && len(t.Starts) < trialStarts:
		t.Starts = append(slices.Clone(t.Starts), s.RunningSince)
		m.Trial = &t
	}
	return m
}

// WantedNow is the size that is asked of Flink as far as is known: what our last
// write left, else what runs. A job that is down shows none.
func WantedNow(m core.Memory, t core.Topology) []core.VertexSize {
	out := t.Sizes()
	if m.Ours == nil || m.Trial == nil || m.Ours.JobID != m.Trial.JobID {
		return out
	}
	for i := range out {
		if b, ok := m.Ours.Wish.Of(out[i].ID); ok {
			out[i].Parallelism = b.Upper
		}
	}
	return out
}

func subtasks(sizes []core.VertexSize) int {
	n := 0
	for _, v := range sizes {
		n += v.Parallelism
	}
	return n
}

// subtasksOf is 0 for a look that does not show them.
func subtasksOf(s core.Sample) int {
	n := 0
	for _, v := range s.Vertices {
		n += v.Parallelism
	}
	return n
}

// GoBack says why the size before the last change should run again, empty when
// it should not. The sizes must fit the job.
func GoBack(m core.Memory, t core.Topology) (back []core.VertexSize, why string) {
	if m.Trial == nil || len(m.Trial.Starts) < trialStarts || len(m.Trial.Back) != len(t.Vertices) {
		return nil, ""
	}
	starts := m.Trial.Starts[:trialStarts]
	if starts[trialStarts-1].Sub(m.Trial.Since) > trialTime {
		return nil, ""
	}
	for _, v := range t.Vertices {
		if _, ok := core.FindSize(m.Trial.Back, v.ID); !ok {
			return nil, ""
		}
	}
	if slices.Equal(m.Trial.Back, WantedNow(m, t)) {
		return nil, ""
	}
	return m.Trial.Back, fmt.Sprintf("the job restarted %d times in %s after decision %s", trialStarts, starts[trialStarts-1].Sub(m.Trial.Since).Round(time.Second), m.Trial.DecisionID)
}
