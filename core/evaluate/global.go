package evaluate

import "flinkscaler/core"

// global sums the samples up: the newest of what is a state, the mean of what
// comes and goes.
func global(samples []core.Sample) Global {
	if len(samples) == 0 {
		return Global{}
	}
	last := samples[len(samples)-1].Global
	g := Global{GCPressure: last.GCPressure.Map(core.Round3)}
	total, ok1 := last.SlotsTotal.Value()
	free, ok2 := last.SlotsFree.Value()
	if ok1 && ok2 {
		g.SlotsUsed = core.Read(total - free)
	}
	g.HeapRatio = meanOf(samples, func(s core.GlobalSample) core.Reading { return s.HeapRatio })
	g.HeapUsed = meanOf(samples, func(s core.GlobalSample) core.Reading { return s.HeapUsed })
	g.ManagedUsed = meanOf(samples, func(s core.GlobalSample) core.Reading { return s.ManagedUsed })
	g.MetaspaceUsed = meanOf(samples, func(s core.GlobalSample) core.Reading { return s.MetaspaceUsed })
	return g
}

// meanOf is the rounded mean of the numbers there are, Missing for none.
func meanOf(samples []core.Sample, f func(core.GlobalSample) core.Reading) core.Reading {
	sum, n := 0.0, 0
	for _, s := range samples {
		if x, ok := f(s.Global).Value(); ok {
			sum += x
			n++
		}
	}
	if n == 0 {
		return core.Reading{}
	}
	return core.Read(core.Round3(sum / float64(n)))
}
