package stabilize

import (
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Book is all that is remembered of a job, while one decision is made.
type Book struct {
	// Delays are the scale-downs that wait.
	Delays *Delays

	memory core.Memory
	now    time.Time
	p      policy.Policy
	judged map[string]*core.Effect
	// late is true while the job is behind and falls behind further.
	late bool
}

// Open copies what is remembered, takes in the outcome of the last rescale (nil
// for none), and drops what is too old or of a vertex that is gone.
func Open(m core.Memory, last *core.Outcome, t core.Topology, now time.Time, p policy.Policy) *Book {
	m = notAhead(m, now, p)
	b := &Book{Delays: Load(m), memory: Learn(m, last, now, p), now: now, p: p, judged: map[string]*core.Effect{}}
	b.Delays.Retain(t)
	b.memory.Bad = TrimBad(b.memory.Bad, t, now)
	b.memory.Spent = TrimSpent(b.memory.Spent, now)
	b.memory.Changes = Trim(Retain(b.memory.Changes, t), now, p)
	if !p.Quirks.Has(policy.QuirkRestarts) {
		b.memory.Restarts = TrimRestarts(b.memory.Restarts, now, p)
	}
	return b
}

// Restart is how long a restart is assumed to take, and why.
func (b *Book) Restart() (time.Duration, string) {
	if b.p.Quirks.Has(policy.QuirkRestarts) {
		return restartAsReleased(b.memory.Restarts, b.p), ""
	}
	return RestartTime(b.memory.Restarts, b.p)
}

// Coefficient is how well past sizes of a vertex scaled, and why.
func (b *Book) Coefficient(id string) (float64, string) {
	return Coefficient(Find(b.memory.Changes, id), b.p)
}

// Judge looks at what the last scale-up of a vertex brought. Asked again for
// the same vertex it gives the same answer: one decision is one look.
func (b *Book) Judge(v core.VertexDecision) *core.Effect {
	if e, ok := b.judged[v.ID]; ok {
		return e
	}
	if b.p.Quirks.Has(policy.QuirkEffect) {
		return judgeAsReleased(Find(b.memory.Changes, v.ID), v, b.p)
	}
	e, doubts := Judge(Find(b.memory.Changes, v.ID), v, b.memory.Doubts, b.now, b.p)
	b.memory.Doubts, b.judged[v.ID] = doubts, e
	return e
}

// Trial is the largest size that a vertex may try after a verdict has ended.
func (b *Book) Trial(id string, size int) (int, bool) {
	return Trial(Find(b.memory.Changes, id), size, b.memory.Doubts, b.now)
}

// Record takes in what was decided. A change ends all waiting of scale-downs.
func (b *Book) Record(d core.Decision) {
	if d.Verdict == core.Change {
		b.Delays.ClearAll()
		if b.p.Quirks.Has(policy.QuirkRestarts) {
			b.memory.Restarts = append(slices.Clone(b.memory.Restarts), core.Restart{At: b.now, Took: notYet})
		}
	}
	b.memory.Changes = Record(b.memory.Changes, d, b.now, b.p)
}

// Store gives what to remember. Fields that are not this package's business
// are as they were given.
func (b *Book) Store() core.Memory {
	m := b.memory
	m.Delayed = b.Delays.Store()
	m.Doubts = RetainDoubts(m.Doubts, m.Changes)
	return m
}
