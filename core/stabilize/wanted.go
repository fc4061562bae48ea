package stabilize

import (
	"time"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
)

// Compare holds what one look shows against what our last write left.
func (b *Book) Compare(l Look) { b.memory = Compare(b.memory, l) }

// Wiped takes in whether the job's object still bears our mark.
func (b *Book) Wiped(mark core.MarkState, asked time.Time) {
	b.memory = Wiped(b.memory, mark, asked, b.now)
}

// Reverts says that our changes are taken back again and again.
func (b *Book) Reverts() string { return RevertsNote(b.memory) }

// Foreign says what somebody else wants of Flink, empty for nothing.
func (b *Book) Foreign(title func(string) string) string {
	return ForeignNote(b.memory, b.p.ForeignAcceptAfter, title)
}

// Degraded says which vertex runs at less than it should, empty for none.
func (b *Book) Degraded(l Look, title func(string) string) string {
	return Degraded(b.memory, l, title)
}

// GoBack gives the size before the last change where that did not prove itself.
func (b *Book) GoBack(t core.Topology) ([]core.VertexSize, string) { return GoBack(b.memory, t) }

// FellBehind gives the size before a change that made something smaller, where
// the job falls behind since.
func (b *Book) FellBehind(t core.Topology, e evaluate.Result, samples []core.Sample) ([]core.VertexSize, string) {
	return FellBehind(b.memory, t, e, samples, b.now, b.p)
}

// Against has a change held against what was before it.
func (b *Book) Against(before *core.Before) { b.memory.Before = before }

// WantedNow is the size that is asked of Flink as far as is known.
func (b *Book) WantedNow(t core.Topology) []core.VertexSize { return WantedNow(b.memory, t) }

// Late tells the book that the job is behind and falls behind further: sizes
// that failed before are then no bound.
func (b *Book) Late(late bool) { b.late = late }

// Avoid gives the size next to the wanted one at which the job has not failed.
func (b *Book) Avoid(id string, from, to int) (int, string) {
	if b.late && to > from {
		return to, ""
	}
	return Avoid(b.memory.Bad, id, from, to, b.now)
}

// FreeThen notes how many slots were free when the last outcome was taken in,
// and gives that. The first look after it counts.
func (b *Book) FreeThen(now core.Reading, at time.Time) *core.FreeThen {
	if f := b.memory.Free; f == nil || f.Attempt != b.memory.Settled {
		b.memory.Free = nil
		if b.memory.Settled > 0 && now.State() == core.Present {
			b.memory.Free = &core.FreeThen{Attempt: b.memory.Settled, At: at, Slots: now}
		}
	}
	return b.memory.Free
}
