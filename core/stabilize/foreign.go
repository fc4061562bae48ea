package stabilize

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
)

// Claim takes in what the last rescale left in force. One that was not written
// leaves what was; one of which it is not known what is in force leaves nothing
// to compare with.
func Claim(m core.Memory, o core.Outcome) core.Memory {
	switch {
	case forgotten(o):
		m.Ours, m.Foreign = nil, nil
	case len(o.Wish) > 0:
		ours := core.Ours{JobID: o.JobID, Wish: o.Wish, Less: less(o.Wish, o.Got)}
		m.Ours, m.Foreign = &ours, nil
	case o.Kind != core.Rejected || !o.WrittenAt.IsZero():
		m.Ours, m.Foreign = nil, nil
	}
	return m
}

// forgotten is true for a change of which Flink knows nothing any longer.
func forgotten(o core.Outcome) bool {
	return o.Kind == core.Failed && (o.Reason == core.ReasonJobRestarted || o.Undo != nil && o.Undo.Reason == core.ReasonJobRestarted)
}

// Renew notes that another JobManager took the job over: what it wants of the
// job is then ours or, without HA, what the job was submitted with (I4).
func Renew(m core.Memory, s core.Sample) core.Memory {
	if !s.Started.After(m.Started) {
		return m
	}
	if m.Ours != nil && !m.Started.IsZero() {
		o := *m.Ours
		o.Anew = true
		m.Ours = &o
	}
	m.Started = s.Started
	return m
}

// known takes back that another JobManager might not know of our write.
func known(m core.Memory) core.Memory {
	if m.Ours.Anew {
		o := *m.Ours
		o.Anew = false
		m.Ours = &o
	}
	return m
}

// less are the vertices that run at less than is wanted of them.
func less(wish core.Requirements, sizes []core.VertexSize) []core.VertexSize {
	var out []core.VertexSize
	for _, b := range wish {
		if p, ok := core.FindSize(sizes, b.ID); ok && p < b.Upper {
			out = append(out, core.VertexSize{ID: b.ID, Parallelism: p})
		}
	}
	return out
}

// Look is what one look shows of what is wanted of Flink.
type Look struct {
	JobID string
	// Wanted is the complete list in force, Sizes what runs.
	Wanted core.Requirements
	Sizes  []core.VertexSize
	// Asked is when an operator last asked for a look or a size.
	Asked, Now time.Time
	// AcceptAfter is how long somebody else's wish is left alone, 0 for ever.
	AcceptAfter time.Duration
}

// Compare holds what is wanted of Flink against what our last write left (I8).
// What somebody else wrote is foreign until an operator asks for something
// after it was first seen, or until it has stood for long enough: then it is
// taken for given. A job that was submitted anew has nothing of ours, and nor has
// one of which a JobManager without HA forgot what was asked: nobody else wrote
// then, and it is decided anew. What another changed after us is not ours to take
// back: the trial ends.
func Compare(m core.Memory, l Look) core.Memory {
	switch {
	case m.Ours == nil:
		m.Foreign = nil
		return m
	case m.Ours.JobID != l.JobID:
		m.Ours, m.Foreign = nil, nil
		return m
	case slices.Equal(m.Ours.Wish, l.Wanted):
		m.Foreign = nil
		return known(m)
	case m.Ours.Anew && (m.Foreign == nil || !slices.Equal(m.Foreign.Wanted, l.Wanted)):
		m.Ours, m.Foreign, m.Trial = nil, nil, nil
		return m
	}
	m = known(m)
	if f := m.Foreign; f == nil || !slices.Equal(f.Wanted, l.Wanted) {
		m.Foreign, m.Trial = &core.Foreign{Wanted: l.Wanted, Since: l.Now, Asked: l.Asked}, nil
		return m
	}
	stood := l.AcceptAfter > 0 && l.Now.Sub(m.Foreign.Since) >= l.AcceptAfter
	if stood || l.Asked.After(m.Foreign.Asked) {
		m.Ours = &core.Ours{JobID: l.JobID, Wish: l.Wanted, Less: less(l.Wanted, l.Sizes)}
		m.Foreign = nil
	}
	return m
}

// ForeignNote says what somebody else wants, empty for nothing.
func ForeignNote(m core.Memory, acceptAfter time.Duration, title func(string) string) string {
	if m.Foreign == nil || m.Ours == nil {
		return ""
	}
	until := "evaluate-now, resume or an override takes it as given"
	if acceptAfter > 0 {
		until += fmt.Sprintf(", and so does time at %s", m.Foreign.Since.Add(acceptAfter).UTC().Format("2006-01-02 15:04 UTC"))
	}
	return fmt.Sprintf("somebody else changed what is wanted of Flink since our last write: %s; seen since %s; %s",
		m.Ours.Wish.Difference(m.Foreign.Wanted, title), m.Foreign.Since.UTC().Format("2006-01-02 15:04:05 UTC"), until)
}

// Degraded says which vertex runs at less than is wanted of Flink and than it
// came to when that was written; empty for none. Flink gives the rest as soon as
// there are slots, so it is no new size of the job (BC-40).
func Degraded(m core.Memory, l Look, title func(string) string) string {
	var worst core.Bounds
	runs, n := 0, 0
	for _, b := range l.Wanted {
		p, ok := core.FindSize(l.Sizes, b.ID)
		good := b.Upper
		if m.Ours != nil && m.Ours.JobID == l.JobID {
			if was, ok := core.FindSize(m.Ours.Less, b.ID); ok {
				good = min(good, was)
			}
		}
		if !ok || p >= good {
			continue
		}
		n++
		if worst.ID == "" || good-p > worst.Upper-runs {
			worst, runs = core.Bounds{ID: b.ID, Upper: good}, p
		}
	}
	if n == 0 {
		return ""
	}
	note := fmt.Sprintf("%s runs at %d of %d that are wanted of Flink", title(worst.ID), runs, worst.Upper)
	if n > 1 {
		note += fmt.Sprintf(", %d more vertices at less too", n-1)
	}
	return note + "; slots are missing"
}

// Standing is true when all that is wanted is asked of Flink already: writing it
// again would change nothing.
func Standing(wanted core.Requirements, sizes []core.VertexSize) bool {
	if len(wanted) == 0 || len(wanted) != len(sizes) {
		return false
	}
	return !slices.ContainsFunc(wanted, func(b core.Bounds) bool {
		p, ok := core.FindSize(sizes, b.ID)
		return !ok || p != b.Upper
	})
}
