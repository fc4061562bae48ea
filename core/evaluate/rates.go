package evaluate

import (
	"math"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// seconds is a duration as the formulas take it: in whole seconds.
func seconds(d time.Duration) float64 { return core.Seconds(d) }

// Capacity is the rate a size is chosen for: what there is to do at a share u
// of busy time, what it takes to work off the lag, and, withRestart, the
// records that arrive while a rescale stops the job. +Inf for u = 0, NaN where
// a rate is.
func Capacity(target, catchUp, u float64, withRestart bool, p policy.Policy) float64 {
	s := core.Sum{Target: target, CatchUp: catchUp, Utilization: u}
	if withRestart {
		s.Restart, s.Within = p.RestartTime, p.CatchUp
	}
	return s.Rate()
}

// load is busy time as a share in one sample, by the aggregator, rounded.
func load(v core.VertexSample, by policy.Aggregator) core.Reading {
	busy := v.BusyMax
	switch by {
	case policy.AggregateMin:
		busy = v.BusyMin
	case policy.AggregateAvg:
		busy = v.BusyAvg
	case policy.AggregateMax:
	}
	return busy.Map(func(ms float64) float64 { return core.Round3(max(0, ms) / 1000) })
}

// busyMs is the mean of busy time in ms per second over the window, never
// negative: Flink derives it from what is left of a second, and on a nearly
// idle source its total was seen to go back a little.
func (s series) busyMs(parallelism int, by policy.Aggregator) float64 {
	if by == policy.AggregateAvg {
		return max(0, s.rate(busyTotal)) / float64(parallelism)
	}
	return float64(s.mean(func(v core.VertexSample) core.Reading { return load(v, by) }) * 1000)
}

// processed is the rate that busy time stands for.
func (s series) processed(source bool, by policy.Aggregator) float64 {
	if by == policy.AggregateAvg || source {
		return s.rate(recordsIn)
	}
	if r := s.mean(inPerSecond); !math.IsNaN(r) {
		return r
	}
	return s.rate(recordsIn)
}

// busyRate is what a vertex could do at full load, as its busy time tells.
func busyRate(processed, busyMs float64) float64 {
	if processed == 0 {
		return math.Inf(1)
	}
	return processed / float64(busyMs/1000)
}

// TrueRate chooses between the rate that busy time tells and the observed one.
func TrueRate(busy, observed, switchThreshold float64) float64 {
	switch {
	case math.IsNaN(observed):
		return busy
	case math.IsNaN(busy) || math.IsInf(busy, 0):
		return observed
	case busy > float64(observed*(1+switchThreshold)):
		return observed
	}
	return busy
}
