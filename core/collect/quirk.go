package collect

import (
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// SampleWith is Sample with differences to the Java autoscaler switched off.
// Only tests use it.
func SampleWith(m core.Measurement, previous *core.Sample, q policy.Quirk) (core.Sample, core.Topology) {
	if q == 0 {
		return Sample(m, previous)
	}
	s, t := Sample(believed(m, previous, q), previous)
	for i := range t.Vertices {
		v := &t.Vertices[i]
		if q.Has(policy.QuirkPartitions) && v.IsSource() {
			v.Partitions = topicPartitions(metrics(m, v.ID).Names)
		}
		if i < len(s.Vertices) {
			asRead(&s.Vertices[i], *v, metrics(m, v.ID), q)
		}
	}
	if q.Has(policy.QuirkMissing) && s.Fault == "" && lacksSourceMetric(t, m) {
		s = Faulty(s.At, core.ReasonMetricsMissing, "a metric of a source is not there")
		s.RunningSince, s.Clock = m.Status.RunningSince, m.Clock
	}
	return s, t
}

// believed takes numbers as they come: a partial count for a whole one, a clock
// that stands for one that moves, a backlog that is not shown for none.
func believed(m core.Measurement, previous *core.Sample, q policy.Quirk) core.Measurement {
	if q.Has(policy.QuirkIncomplete) {
		m.Status.Vertices = slices.Clone(m.Status.Vertices)
		for i := range m.Status.Vertices {
			v := &m.Status.Vertices[i]
			for _, r := range []*core.Reading{&v.RecordsRead, &v.RecordsWritten} {
				if r.State() == core.Incomplete {
					*r = core.Read(0)
				}
			}
		}
	}
	if q.Has(policy.QuirkFrozen) {
		m.Fresh, m.SilentTaskManagers = true, nil
		if previous != nil && previous.Clock == m.Clock {
			m.Clock = core.Read(m.Clock.Or(0) + 1)
		}
	}
	if q.Has(policy.QuirkLag) {
		m.Vertices = slices.Clone(m.Vertices)
		for i := range m.Vertices {
			v := &m.Vertices[i]
			if known, ok := m.Status.Topology.Find(v.ID); ok && known.IsSource() && !slices.ContainsFunc(v.Names, isLag) {
				v.Names = append(slices.Clone(v.Names), pendingRecords)
				v.Values = append(slices.Clone(v.Values), core.Aggregate{ID: pendingRecords})
			}
		}
	}
	return m
}

func isLag(name string) bool { return strings.HasSuffix(name, pendingRecords) }

// asRead changes the sample of one vertex to what the release makes of the same
// answer.
func asRead(x *core.VertexSample, v core.Vertex, vm core.VertexMetrics, q policy.Quirk) {
	if v.Finished {
		if q.Has(policy.QuirkFinished) {
			zero := core.Read(0)
			*x = core.VertexSample{
				ID: x.ID, Parallelism: x.Parallelism, RecordsIn: zero, RecordsOut: zero, InPerSecond: zero,
				BusyMin: zero, BusyAvg: zero, BusyMax: zero, BusyTotal: zero, BackPressure: x.BackPressure, Lag: x.Lag,
			}
			if v.IsSource() {
				x.Lag = zero
			}
		}
		return
	}
	if q.Has(policy.QuirkRounding) {
		raw(&x.BusyMin, vm, busyTime, func(a core.Aggregate) float64 { return a.Min })
		raw(&x.BusyAvg, vm, busyTime, func(a core.Aggregate) float64 { return a.Avg })
		raw(&x.BusyMax, vm, busyTime, func(a core.Aggregate) float64 { return a.Max })
		raw(&x.BackPressure, vm, backPressure, func(a core.Aggregate) float64 { return a.Avg })
		if v.IsSource() {
			raw(&x.InPerSecond, vm, sourceMetric(ids(vm.Values), sourceInRate), sumOf)
		}
	}
	if _, named := find(vm, busyTime); q.Has(policy.QuirkMissing) && !named {
		// Stale is what the window tells it by.
		x.BusyMin, x.BusyAvg, x.BusyMax = core.Absent(core.Stale), core.Absent(core.Stale), core.Absent(core.Stale)
	}
}

// raw puts a number that is there back to how it came.
func raw(r *core.Reading, vm core.VertexMetrics, id string, field func(core.Aggregate) float64) {
	if a, ok := find(vm, id); ok && r.State() == core.Present {
		*r = core.Read(field(a))
	}
}

// lacksSourceMetric is true when a source lacks a metric that the release
// cannot do without: then it makes no sample at all.
func lacksSourceMetric(t core.Topology, m core.Measurement) bool {
	for _, v := range t.Vertices {
		if !v.IsSource() || v.Finished {
			continue
		}
		names := metrics(m, v.ID).Names
		for _, suffix := range []string{busyTime, backPressure} {
			if !slices.Contains(names, suffix) {
				return true
			}
		}
		if sourceMetric(names, sourceInRate) == "" || sourceMetric(names, sourceIn) == "" {
			return true
		}
	}
	return false
}

// topicPartitions counts the partitions of Kafka and Pulsar that names tell,
// those of topics with one name on several clusters once.
func topicPartitions(names []string) int {
	seen := map[[2]string]bool{}
	for _, n := range names {
		if k, ok := kafkaPartition(n); ok {
			seen[[2]string{k[1], k[2]}] = true
		} else if k, ok := pulsarPartition(n); ok {
			seen[[2]string{k[1], k[2]}] = true
		}
	}
	return len(seen)
}

// countedAsReleased is the window of the release: it begins with the first
// sample of an attempt, is full when its first sample after stabilization is as
// old as the window, and is cut to the window only then.
func countedAsReleased(samples []core.Sample, p policy.Policy) Window {
	r := replay{p: p, past: make([]Past, 0, len(samples))}
	w := Window{}
	for _, s := range samples {
		w = r.take(s)
	}
	if len(samples) > 0 {
		w.KeepFrom = samples[len(samples)-1].At
	}
	if len(r.past) > 0 {
		w.KeepFrom = r.past[0].Sample.At
	}
	if w.Full || !w.Ends.IsZero() {
		for _, x := range r.past[r.begin:] {
			w.Samples = append(w.Samples, x.Sample)
		}
		w.Full = w.Full && len(w.Samples) >= 2
	}
	w.Past = r.past
	return w
}

// replay is the release's memory of a job.
type replay struct {
	p policy.Policy
	// past is all of the attempt, begin the first of it that is remembered.
	past  []Past
	begin int
	// named is true once every vertex has shown its metrics in this attempt, as
	// long as none is finished: then all are asked again each time.
	named bool
}

// Past is a sample, and since when samples were remembered when it was taken.
type Past struct {
	Sample core.Sample
	Since  time.Time
}

func (r *replay) take(s core.Sample) Window {
	if s.Fault != "" && s.Fault != core.ReasonMetricsMissing {
		return Window{}
	}
	if len(r.past) > 0 && (s.RunningSince.After(r.past[r.begin].Sample.At) || r.splits(s)) {
		*r = replay{p: r.p, past: r.past[:0]}
	}
	if s.Fault != "" || (!r.named && slices.ContainsFunc(s.Vertices, unnamed)) {
		return Window{}
	}
	r.named = !slices.ContainsFunc(s.Vertices, finished)
	stable := s.RunningSince.Add(r.p.StabilizationInterval)
	first, since := s.At, s.At
	remembered := r.past[r.begin:]
	if i := slices.IndexFunc(remembered, func(x Past) bool { return !x.Sample.At.Before(stable) }); i >= 0 {
		first = remembered[i].Sample.At
	}
	if len(remembered) > 0 {
		since = remembered[0].Sample.At
	}
	r.past = append(r.past, Past{Sample: s, Since: since})
	switch {
	case s.At.Before(stable):
		return Window{Stabilizing: true}
	case s.At.Before(first.Add(r.p.MetricsWindow)):
		return Window{Ends: first.Add(r.p.MetricsWindow)}
	}
	for edge := s.At.Add(-r.p.MetricsWindow); r.past[r.begin].Sample.At.Before(edge); {
		r.begin++
	}
	return Window{Full: true}
}

// finished is true for a vertex that is; each other one is asked how much it is
// held back.
func finished(v core.VertexSample) bool { return v.BackPressure.State() == core.NotApplicable }

func unnamed(v core.VertexSample) bool { return v.BusyMax.State() == core.Stale }

// splits is true where our own window begins anew.
func (r *replay) splits(s core.Sample) bool {
	return !r.p.Quirks.Has(policy.QuirkReset) && s.Fault == "" && !continues(r.past[len(r.past)-1].Sample, s)
}
