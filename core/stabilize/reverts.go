package stabilize

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
)

// A GitOps tool that replaces an object takes our change back and leaves no owner
// behind; the job then starts anew at the size in Git, as after any deployment. One
// such thing may be a deployment. mostReverts within revertsWithin are a fight.
const (
	mostReverts   = 2
	revertsWithin = 24 * time.Hour
)

// reverted notes that somebody took our change back.
func reverted(m core.Memory, at time.Time) core.Memory {
	kept := slices.DeleteFunc(slices.Clone(m.Reverts), func(t time.Time) bool { return at.Sub(t) >= revertsWithin })
	kept = append(kept, at)
	m.Reverts = kept[max(0, len(kept)-mostReverts):]
	return m
}

// Displaced takes in an outcome that somebody else's write ended.
func Displaced(m core.Memory, o core.Outcome) core.Memory {
	if o.Kind == core.Partial && o.Reason == core.ReasonForeignWriter && !o.WrittenAt.IsZero() {
		return reverted(m, o.EndedAt)
	}
	return m
}

// Wiped takes in whether the job's object still bears our mark, and that an
// operator asked for something since it did not.
func Wiped(m core.Memory, mark core.MarkState, asked, now time.Time) core.Memory {
	if n := len(m.Reverts); n > 0 && (asked.After(m.Reverts[n-1]) || now.Sub(m.Reverts[n-1]) >= revertsWithin) {
		m.Reverts = nil
	}
	switch {
	case m.Ours == nil:
	case mark == core.Marked && !m.Ours.Marked:
		ours := *m.Ours
		ours.Marked = true
		m.Ours = &ours
	case mark == core.Unmarked && m.Ours.Marked:
		m.Ours, m.Foreign, m.Trial = nil, nil, nil
		m = reverted(m, now)
	}
	return m
}

// RevertsNote says that our changes are taken back again and again, empty when
// they are not.
func RevertsNote(m core.Memory) string {
	if len(m.Reverts) < mostReverts {
		return ""
	}
	return fmt.Sprintf("somebody took our changes back %d times, last seen at %s: a GitOps tool that replaces the object, or another that writes it; take what we write out of its hands, then evaluate-now, resume or an override has the job managed again",
		len(m.Reverts), m.Reverts[len(m.Reverts)-1].UTC().Format("2006-01-02 15:04:05 UTC"))
}
