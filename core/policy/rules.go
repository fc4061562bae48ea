package policy

import (
	"fmt"

	"flinkscaler/core"
)

// finish derives what depends on more than one key, and checks it.
func (r *resolver) finish() {
	r.bounds()
	r.sizes()
	r.whenOn()
	r.times()
	r.align()
	r.plugins()
	r.noteDerived()
	r.notePeriods()
}

// rule reports a contradiction between keys, the first of which is blamed,
// unless one of them could not even be read.
func (r *resolver) rule(holds bool, message string, names ...string) {
	for _, n := range names {
		holds = holds || r.bad[n]
	}
	if !holds {
		r.problem(names[0], message)
	}
}

// bounds of utilization come from the target where nobody gives them.
func (r *resolver) bounds() {
	d := &r.draft
	d.UtilizationBoundary = d.boundary
	d.UtilizationMax, d.UtilizationMin = d.UtilizationTarget+d.boundary, d.UtilizationTarget-d.boundary
	if d.max != nil {
		d.UtilizationMax = *d.max
		r.rule(*d.max >= d.UtilizationTarget, fmt.Sprintf("must be between utilization.target (%g) and 1, got %g", d.UtilizationTarget, *d.max),
			"utilization.max", "utilization.target")
	}
	if d.min != nil {
		d.UtilizationMin = *d.min
		r.rule(*d.min <= d.UtilizationTarget, fmt.Sprintf("must be between 0 and utilization.target (%g), got %g", d.UtilizationTarget, *d.min),
			"utilization.min", "utilization.target")
	}
}

// sizes that no vertex could have all at once.
func (r *resolver) sizes() {
	const soft, most, hardMin, hardMax = "vertex.min-parallelism", "vertex.max-parallelism", "vertex.hard-min-parallelism", "vertex.hard-max-parallelism"
	d := r.draft
	r.rule(d.MinParallelism <= d.MaxParallelism, fmt.Sprintf("must be at most %s (%d), got %d", most, d.MaxParallelism, d.MinParallelism), soft, most)
	r.rule(d.HardMin <= d.MaxParallelism, fmt.Sprintf("must be at most %s (%d), got %d", most, d.MaxParallelism, d.HardMin), hardMin, most)
	if d.HardMax > 0 {
		r.rule(d.HardMin <= d.HardMax, fmt.Sprintf("must be at most %s (%d), got %d", hardMax, d.HardMax, d.HardMin), hardMin, hardMax)
		r.rule(d.MinParallelism <= d.HardMax, fmt.Sprintf("must be at most %s (%d), got %d", hardMax, d.HardMax, d.MinParallelism), soft, hardMax)
	}
	const schedule = "vertex.min-parallelism.schedule"
	limit, by := d.MaxParallelism, most
	if d.HardMax > 0 && d.HardMax < limit {
		limit, by = d.HardMax, hardMax
	}
	for _, f := range d.Floors {
		n := f.All
		for _, v := range f.Vertices {
			n = max(n, v.N)
		}
		r.rule(n <= limit, fmt.Sprintf("must be at most %s (%d), got %d in %q", by, limit, n, f.Period), schedule, by)
	}
}

// whenOn checks what counts only while a feature is on, as Java does.
func (r *resolver) whenOn() {
	d := r.draft
	share := func(on bool, name, feature string, f, lo float64) {
		r.rule(!on || (f >= lo && f <= 1), fmt.Sprintf("must be between %g and 1, got %g", lo, f), name, feature)
	}
	share(d.EffectivenessDetection, "scaling.effectiveness.threshold", "scaling.effectiveness.detection.enabled", d.EffectivenessThreshold, 0)
	share(d.MemoryTuning, "memory.tuning.overhead", "memory.tuning.enabled", d.TuningOverhead, 0)
	share(d.ObservedScalability, "observed-scalability.coefficient-min", "observed-scalability.enabled", d.ObservedScalabilityFloor, 0.01)
	r.rule(!d.ObservedScalability || d.HistoryMaxCount >= d.ObservedScalabilityMin,
		fmt.Sprintf("must be at least observed-scalability.min-observations (%d), got %d", d.ObservedScalabilityMin, d.HistoryMaxCount),
		"history.max.count", "observed-scalability.min-observations", "observed-scalability.enabled")
}

func (r *resolver) times() {
	d := r.draft
	r.rule(d.MetricsWindow >= d.Interval, fmt.Sprintf("must be at least %sinterval (%s), got %s", Prefix, FormatDuration(d.Interval), FormatDuration(d.MetricsWindow)),
		"metrics.window", "interval")
	r.rule(d.ObjectiveRecoverWithin == 0 || d.ObjectiveLag > 0, "needs objective.lag", "objective.recover-within", "objective.lag")
}

// notePeriods says what surprises with periods: whose clock they are about, and
// that a cron expression is the seconds it names, not a start.
func (r *resolver) notePeriods() {
	d := r.draft
	if _, given := r.given["time-zone"]; !given && len(d.ExcludedPeriods) > 0 {
		r.note("excluded.periods", "by the wall clock in UTC, see time-zone; Java takes the zone of its JVM")
	}
	told := map[string]bool{}
	single := func(key string, p Period) {
		if p.cron != nil && !p.cron.seconds.full(60) && !told[key] {
			told[key] = true // one says it for all
			r.note(key, fmt.Sprintf("%q holds for single seconds: * for seconds and minutes makes it whole hours", p))
		}
	}
	for _, p := range d.ExcludedPeriods {
		single("excluded.periods", p)
	}
	for _, p := range d.NoDownPeriods {
		single("scale-down.excluded.periods", p)
	}
	for _, p := range d.ApprovalPeriods {
		single("approval.periods", p)
	}
	for _, f := range d.Floors {
		single("vertex.min-parallelism.schedule", f.Period)
	}
}

// noteDerived shows the bounds that come out of target and boundary.
func (r *resolver) noteDerived() {
	d := r.draft
	if d.max == nil {
		r.derived("utilization.max", d.UtilizationMax, "target + boundary")
	}
	if d.UtilizationMax > 1 {
		r.note("utilization.max", "above 1 counts as 1")
	}
	if d.min == nil {
		r.derived("utilization.min", d.UtilizationMin, "target - boundary")
	}
	if d.NeverDown() {
		r.note("utilization.min", "0 or below: never scales down")
	}
}

func (r *resolver) derived(name string, value float64, how string) {
	r.origins[r.shown[name]].Value = fmt.Sprintf("%g", core.Round3(value))
	r.note(name, how)
}
