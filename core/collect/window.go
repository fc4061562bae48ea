package collect

import (
	"slices"
	"strconv"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Window is the part of the samples that counts as evidence.
type Window struct {
	// Samples count, oldest first: taken of the present attempt of the job,
	// after its stabilization, not older than the window.
	Samples []core.Sample
	// Full is true when they cover the window, so that they may be judged.
	Full bool
	// Stabilizing is true while the job is too young for any evidence.
	Stabilizing bool
	// Ends is when the window will be full, zero when it is or when that
	// cannot be told.
	Ends time.Time
	// KeepFrom is how far back samples are still of use.
	KeepFrom time.Time
	// Past is set with quirks alone: all samples of the attempt.
	Past []Past
}

// Span is the time between the first and the last sample that count.
func (w Window) Span() time.Duration {
	if len(w.Samples) == 0 {
		return 0
	}
	return w.Samples[len(w.Samples)-1].At.Sub(w.Samples[0].At)
}

// Counted tells which samples count. Time is that of the newest sample that is
// evidence, on the JobManager's clock like everything else in samples, so that
// a worker whose clock is wrong judges the same.
//
// It is the rule of the Java autoscaler but for this: samples with a fault or
// with a clock that did not move count no more than a hole; stabilization
// begins when all tasks run, not when the job says RUNNING; counters that fell
// or sizes that changed inside an attempt begin the window anew; and a hole of
// less than half the window at its old end does not make it less full.
func Counted(samples []core.Sample, p policy.Policy) Window {
	if p.Quirks.Has(policy.QuirkWindow) {
		return countedAsReleased(samples, p)
	}
	attempt, settled := present(samples)
	good := evidence(attempt)
	if len(good) == 0 {
		return Window{KeepFrom: keepWithoutEvidence(samples, attempt, settled, p)}
	}
	last := good[len(good)-1]
	longest := 2*p.MetricsWindow + p.StabilizationInterval
	if newest := samples[len(samples)-1].At; newest.Sub(last.At) > longest {
		// Nothing but faults for so long that the evidence is of no use.
		return Window{KeepFrom: newest}
	}
	begin := lastSplit(good, longest)
	good = good[begin:]
	stable := settled.Add(p.StabilizationInterval)
	from := attempt[0].At
	if begin > 0 {
		// The samples before belong to sizes or counters that are gone.
		from = good[0].At
	}
	stabilizing := last.At.Before(stable)
	for len(good) > 0 && good[0].At.Before(stable) {
		good = good[1:]
	}
	w := Window{Stabilizing: stabilizing, KeepFrom: from}
	if len(good) == 0 {
		w.Ends = stable.Add(p.MetricsWindow)
		return w
	}
	w.slide(good, last.At, p)
	return w
}

// slide cuts the samples to the window and says whether they fill it.
func (w *Window) slide(good []core.Sample, now time.Time, p policy.Policy) {
	edge := now.Add(-p.MetricsWindow)
	inside := 0
	for inside < len(good) && good[inside].At.Before(edge) {
		inside++
	}
	covers := inside > 0 || !good[0].At.After(edge)
	if !covers {
		w.Samples, w.Ends = good, good[0].At.Add(p.MetricsWindow)
		return
	}
	// One sample from before the window shows next time that it was full.
	anchor := max(inside-1, 0)
	if !good[inside].At.After(edge) {
		anchor = inside
	}
	w.KeepFrom = good[anchor].At
	w.Samples = good[inside:]
	if len(w.Samples) < 2 && anchor < inside && now.Sub(good[anchor].At) <= 2*p.MetricsWindow {
		// A window about as short as the cycle would else hold one sample.
		w.Samples = good[anchor:]
	}
	if len(w.Samples) >= 2 && w.Span() >= p.MetricsWindow/2 {
		w.Full = true
		return
	}
	w.Ends = w.Samples[0].At.Add(p.MetricsWindow / 2)
}

// present gives the samples of the job's present attempt, by time, and the
// moment since when all of its tasks run.
func present(samples []core.Sample) (attempt []core.Sample, settled time.Time) {
	for _, s := range samples {
		if s.RunningSince.After(settled) {
			settled = s.RunningSince
		}
	}
	running := settled
	for _, s := range samples {
		// A faulty sample may not know of the attempt; by its time it does.
		if s.RunningSince.Equal(running) || (s.RunningSince.IsZero() && !s.At.Before(running)) {
			attempt = append(attempt, s)
		}
	}
	slices.SortStableFunc(attempt, func(a, b core.Sample) int { return a.At.Compare(b.At) })
	waiting := false
	for _, s := range attempt {
		switch {
		case s.Fault == core.ReasonTasksNotRunning:
			waiting = true
			settled = s.At
		case waiting && s.Fault == "":
			waiting = false
			settled = s.At
		}
	}
	return attempt, settled
}

// evidence drops samples with a fault, and those whose clock did not move
// since any sample before.
func evidence(attempt []core.Sample) []core.Sample {
	var out []core.Sample
	before := core.Reading{}
	for _, s := range attempt {
		clock, ok := s.Clock.Value()
		if !ok {
			continue
		}
		moved := before.State() != core.Present || before.Or(0) != clock
		before = s.Clock
		if moved && s.Fault == "" {
			out = append(out, s)
		}
	}
	return out
}

// keepWithoutEvidence says how far back samples matter when none is evidence:
// those that show since when all tasks run, while that is not long ago; else
// only the newest.
func keepWithoutEvidence(samples, attempt []core.Sample, settled time.Time, p policy.Policy) time.Time {
	if len(samples) == 0 {
		return time.Time{}
	}
	newest := samples[len(samples)-1].At
	waited := slices.ContainsFunc(attempt, func(s core.Sample) bool { return s.Fault == core.ReasonTasksNotRunning })
	if waited && newest.Sub(settled) <= p.StabilizationInterval {
		return settled
	}
	return newest
}

// lastSplit gives the index of the newest sample that cannot be compared with
// the one before it: other vertices or sizes, a counter that fell, or too long
// a time in between. 0 when all can be compared.
func lastSplit(good []core.Sample, longest time.Duration) int {
	for i := len(good) - 1; i > 0; i-- {
		if good[i].At.Sub(good[i-1].At) > longest || !continues(good[i-1], good[i]) {
			return i
		}
	}
	return 0
}

// continues is true when b counts on where a left off.
func continues(a, b core.Sample) bool {
	if len(a.Vertices) != len(b.Vertices) {
		return false
	}
	for i, v := range b.Vertices {
		u := a.Vertices[i]
		if u.ID != v.ID {
			var ok bool
			if u, ok = a.Vertex(v.ID); !ok {
				return false
			}
		}
		if u.Parallelism != v.Parallelism || fell(u.RecordsIn, v.RecordsIn) || fell(u.RecordsOut, v.RecordsOut) {
			return false
		}
	}
	return true
}

func fell(before, after core.Reading) bool {
	b, ok1 := before.Value()
	a, ok2 := after.Value()
	return ok1 && ok2 && a < b
}

// Append puts a sample behind those of before, and trims them to maxBytes. Where
// the JobManager's clock went back, whether it was set or another JobManager has
// taken over, nothing of before can be compared with the sample: it is the only
// one then, and the window begins anew.
func Append(samples []core.Sample, s core.Sample, maxBytes int) []core.Sample {
	if onJobManagersClock(s) {
		for i := len(samples) - 1; i >= 0; i-- {
			before := samples[i]
			if !onJobManagersClock(before) {
				continue
			}
			if s.At.Before(before.At) || (!s.RunningSince.IsZero() && s.RunningSince.Before(before.RunningSince)) {
				samples = nil
			}
			break
		}
	}
	return Trim(append(samples[:len(samples):len(samples)], s), maxBytes)
}

// onJobManagersClock is false for a sample of a JobManager that did not answer:
// its time is the worker's.
func onJobManagersClock(s core.Sample) bool {
	return !s.RunningSince.IsZero() || s.Clock.State() == core.Present
}

// MaxBytes is as much as a workflow keeps of the samples of a job (I10).
const MaxBytes = 512 << 10

// Trim thins samples out until their JSON takes at most about maxBytes. The
// newest and the oldest stay as long as both fit; samples with a fault go
// first, then every second of the rest.
func Trim(samples []core.Sample, maxBytes int) []core.Sample {
	sizes, total := make([]int, len(samples)), 0
	for i, s := range samples {
		sizes[i] = jsonSize(s)
		total += sizes[i]
	}
	out := slices.Clone(samples)
	for faultsFirst := true; total > maxBytes && len(out) > 2; {
		before := len(out)
		out, sizes, total = thin(out, sizes, total, maxBytes, faultsFirst)
		if len(out) == before {
			faultsFirst = false
		}
	}
	for total > maxBytes && len(out) > 1 {
		total -= sizes[0]
		out, sizes = out[1:], sizes[1:]
	}
	return out
}

// thin drops every second sample between the ends, while there are too many
// bytes. Of faults only those between two faults go.
func thin(samples []core.Sample, sizes []int, total, maxBytes int, faultsOnly bool) ([]core.Sample, []int, int) {
	var kept []core.Sample
	var keptSizes []int
	dropped := false
	for i, s := range samples {
		inner := i > 0 && i < len(samples)-1
		may := inner && !dropped && total > maxBytes
		if faultsOnly {
			may = may && s.Fault != "" && samples[i-1].Fault != "" && samples[i+1].Fault != ""
		}
		if may {
			total -= sizes[i]
			dropped = true
			continue
		}
		dropped = false
		kept = append(kept, s)
		keptSizes = append(keptSizes, sizes[i])
	}
	return kept, keptSizes, total
}

// jsonSize estimates the bytes of a sample in JSON, from above by a little.
func jsonSize(s core.Sample) int {
	n := 240 + len(s.Fault) + len(s.Note) + readingSize(s.Clock)
	if !s.Started.IsZero() {
		n += 45
	}
	for _, r := range []core.Reading{s.Global.SlotsTotal, s.Global.SlotsFree, s.Global.GCPressure, s.Global.HeapRatio, s.Global.HeapUsed, s.Global.ManagedUsed, s.Global.MetaspaceUsed} {
		n += readingSize(r)
	}
	for _, b := range s.Wanted {
		n += 28 + len(b.ID) + digitsOf(b.Lower) + digitsOf(b.Upper)
	}
	for _, v := range s.Vertices {
		n += 94 + len(v.ID) + digitsOf(v.Parallelism)
		for _, r := range []core.Reading{v.RecordsIn, v.RecordsOut, v.InPerSecond, v.BusyMin, v.BusyAvg, v.BusyMax, v.BusyTotal, v.BackPressure, v.Lag, v.LagMax} {
			n += readingSize(r)
		}
	}
	return n
}

func readingSize(r core.Reading) int {
	f, ok := r.Value()
	if !ok {
		return len(r.State().String()) + 2
	}
	var buf [32]byte
	return len(strconv.AppendFloat(buf[:0], f, 'f', -1, 64))
}

func digitsOf(n int) int { return len(strconv.Itoa(n)) }
