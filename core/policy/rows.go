package policy

import (
	"math"
	"strings"
	"time"
)

func ruleRows() []row {
	return []row{
		oneOf(row{name: "strategy", def: "flink", ours: true, meaning: "the rule that decides: flink is the rule of the Java autoscaler"},
			func(d *draft) *string { return &d.Strategy }, []string{"flink"}),
		duration(row{name: "interval", def: "60 s", ours: true, meaning: "time between two looks at the job"},
			func(d *draft) *time.Duration { return &d.Interval }, time.Second, time.Hour),
		boolean(row{name: "scaling.enabled", def: "true", meaning: "false: decide and report, but change nothing (dry run)"},
			func(d *draft) *bool { return &d.ScalingEnabled }),
	}
}

func evidenceRows() []row {
	return []row{
		duration(row{name: "metrics.window", def: "15 min", meaning: "samples over this time are averaged; a decision needs it to be full, and it must not be shorter than the interval"},
			func(d *draft) *time.Duration { return &d.MetricsWindow }, time.Second, longest),
		duration(row{name: "stabilization.interval", def: "5 min", meaning: "samples in this time after a (re)start of the job are no evidence"},
			func(d *draft) *time.Duration { return &d.StabilizationInterval }, 0, longest),
		oneOf(row{name: "metrics.busy-time.aggregator", def: "MAX", meaning: "the subtask whose busy time stands for the vertex: the busiest, the mean or the least busy"},
			func(d *draft) *Aggregator { return &d.BusyTimeAggregator }, []Aggregator{AggregateMax, AggregateAvg, AggregateMin}),
		duration(row{name: "observed-true-processing-rate.lag-threshold", def: "30 s", meaning: "a source with at least this lag, at its present rate, shows its true processing rate"},
			func(d *draft) *time.Duration { return &d.ObservedLagThreshold }, 0, longest),
		number(row{name: "observed-true-processing-rate.switch-threshold", def: "0.15", meaning: "the observed rate is taken when the one computed from busy time is more than this share above it"},
			func(d *draft, f float64) { d.ObservedSwitchThreshold = f }, 0, math.MaxFloat64),
		integer(row{name: "observed-true-processing-rate.min-observations", def: "2", meaning: "observations needed before the observed rate counts"},
			func(d *draft) *int { return &d.ObservedMinObservations }, 1),
		boolean(row{name: "observed-scalability.enabled", def: "false", meaning: "correct sizes by how well past ones scaled: a job that gained less than its share of new subtasks gets more of them"},
			func(d *draft) *bool { return &d.ObservedScalability }),
		integer(row{name: "observed-scalability.min-observations", def: "3", meaning: "past decisions needed for the correction; history.max.count must not be smaller"},
			func(d *draft) *int { return &d.ObservedScalabilityMin }, 1),
		looseNumber(row{name: "observed-scalability.coefficient-min", def: "0.5", rng: "0.01 to 1", meaning: "the correction asks for at most 1 divided by this times the subtasks; its range counts only with the correction on"},
			func(d *draft) *float64 { return &d.ObservedScalabilityFloor }),
	}
}

func boundRows() []row {
	return []row{
		number(row{name: "utilization.target", def: "0.7", old: []string{"target.utilization"}, rng: "above 0 and at most 1", meaning: "share of busy time that a new size is chosen for"},
			func(d *draft, f float64) { d.UtilizationTarget = f }, math.SmallestNonzeroFloat64, 1),
		number(row{name: "utilization.max", rng: "utilization.target to 1", meaning: "a vertex that cannot do its rate at this share of busy time gets more subtasks; without it the target plus the boundary"},
			func(d *draft, f float64) { d.max = &f }, 0, 1),
		number(row{name: "utilization.min", rng: "0 to utilization.target", meaning: "a vertex that needs less than this share of busy time gets fewer subtasks; without it the target minus the boundary; 0: never"},
			func(d *draft, f float64) { d.min = &f }, 0, 1),
		number(row{name: "target.utilization.boundary", def: "0.3", meaning: "distance of utilization.max and utilization.min from the target, where they are not given"},
			func(d *draft, f float64) { d.boundary = f }, 0, math.MaxFloat64),
		duration(row{name: "scale-down.interval", def: "1 h", old: []string{"scale-up.grace-period"}, meaning: "a vertex gets smaller only when it could have been smaller for this long, and then to the largest size wanted in that time; 0 s: at once"},
			func(d *draft) *time.Duration { return &d.ScaleDownInterval }, 0, longest),
		duration(row{name: "objective.lag", def: "0 s", ours: true, meaning: "how far behind its sources the job may be; 0 s: no objective"},
			func(d *draft) *time.Duration { return &d.ObjectiveLag }, 0, longest),
		duration(row{name: "objective.recover-within", def: "0 s", ours: true, meaning: "how long the job may take to come back to objective.lag, which it needs; 0 s: no objective"},
			func(d *draft) *time.Duration { return &d.ObjectiveRecoverWithin }, 0, longest),
	}
}

func sizeRows() []row {
	counts := row{name: "vertex.partitions", typ: "map", rng: "<vertex id>:<number>, separated by commas; each at least 1", ours: true, meaning: "partitions or splits of sources that do not tell how many they have; no such source gets more subtasks than that"}
	counts.set = parsed(parseCounts, func(d *draft) *[]VertexCount { return &d.Partitions })
	return []row{
		counts,
		integer(row{name: "vertex.min-parallelism", def: "1", meaning: "no vertex is made smaller than this; one that already is stays"},
			func(d *draft) *int { return &d.MinParallelism }, 1),
		integer(row{name: "vertex.max-parallelism", def: "200", meaning: "no vertex is made larger than this; one that already is stays"},
			func(d *draft) *int { return &d.MaxParallelism }, 1),
		integer(row{name: "vertex.hard-min-parallelism", def: "0", ours: true, meaning: "a vertex smaller than this is made this large; 0: none"},
			func(d *draft) *int { return &d.HardMin }, 0),
		integer(row{name: "vertex.hard-max-parallelism", def: "0", ours: true, meaning: "a vertex larger than this is made this small; 0: none"},
			func(d *draft) *int { return &d.HardMax }, 0),
		list(row{name: "vertex.exclude.ids", meaning: "ids of vertices that are left as they are; what is downstream is still scaled"},
			parseSet, func(d *draft) *[]string { return &d.Exclude }),
		number(row{name: "scale-down.max-factor", def: "0.6", meaning: "a vertex loses at most this share of its subtasks in one step; 1: no limit"},
			func(d *draft, f float64) { d.ScaleDownMaxFactor = f }, 0, math.MaxFloat64),
		number(row{name: "scale-up.max-factor", def: "100000.0", meaning: "a vertex gains at most this many times its subtasks in one step; 1: at most double"},
			func(d *draft, f float64) { d.ScaleUpMaxFactor = f }, 0, math.MaxFloat64),
	}
}

func alignRows() []row {
	mode := row{
		name: "scaling.parallelism-alignment.mode", typ: "name", def: string(AlignBalanced), rng: "BALANCED, EVENLY_SPREAD, OFF, or the name of a plugin",
		meaning: "fits the size to key groups or partitions: BALANCED takes the next size that lowers the largest share, EVENLY_SPREAD the next divisor, OFF none; written in capitals; a name that is not known is a problem, where Java takes BALANCED",
	}
	mode.set = func(d *draft, text string) error {
		d.mode = strings.TrimSpace(text)
		return nil
	}
	adjust := row{
		name:    "scaling.key-group.partitions.adjust.mode",
		meaning: "older form of scaling.parallelism-alignment.mode, used only where nobody gives that one; when no size fits, a smaller one than computed is taken",
	}
	adjust = oneOf(adjust, func(d *draft) *Alignment { return &d.adjust }, []Alignment{"EVENLY_SPREAD", "MAXIMIZE_UTILISATION"})
	read := adjust.set
	adjust.set = func(d *draft, text string) error {
		err := read(d, text)
		d.adjust = "LEGACY_" + d.adjust
		return err
	}
	return []row{
		mode, adjust,
		number(row{name: "scaling.parallelism-alignment.max-overshoot", def: "100000.0", ours: true, meaning: "an alignment gives at most this share more subtasks than were computed; where the next size that fits is larger, the computed one is taken: with 0.5, 7 is never taken where 4 would do"},
			func(d *draft, f float64) { d.AlignOvershoot = f }, 0, math.MaxFloat64),
		boolean(row{name: "scaling.align-to-slots", def: "false", ours: true, meaning: "round sizes up so that whole TaskManagers are in use; what gets smaller and frees none stays"},
			func(d *draft) *bool { return &d.AlignSlots }),
	}
}

func lagRows() []row {
	return []row{
		duration(row{name: "catch-up.duration", def: "30 min", meaning: "lag is to be worked off in this time after a rescale; 0 s: lag and restart are not planned for"},
			func(d *draft) *time.Duration { return &d.CatchUp }, 0, longest),
		duration(row{name: "backlog-processing.lag-threshold", def: "5 min", meaning: "a source whose lag takes longer than this at its present rate makes the job work off a backlog: it does not scale down, and up only when it cannot keep up at full load"},
			func(d *draft) *time.Duration { return &d.BacklogLagThreshold }, 0, longest),
		duration(row{name: "restart.time", def: "5 min", meaning: "how long a rescale is expected to stop the job; the records of that time are planned for"},
			func(d *draft) *time.Duration { return &d.RestartTime }, 0, longest),
		boolean(row{name: "restart.time-tracking.enabled", def: "false", meaning: "plan with restarts that were seen, instead of restart.time"},
			func(d *draft) *bool { return &d.RestartTracking }),
		duration(row{name: "restart.time-tracking.limit", def: "15 min", meaning: "a restart that was seen counts as at most this long; restart.time itself is not cut"},
			func(d *draft) *time.Duration { return &d.RestartTrackingLimit }, 0, longest),
	}
}

func effectRows() []row {
	return []row{
		boolean(row{
			name: "scaling.effectiveness.detection.enabled", def: "false", meaning: "do not go on to scale up a vertex that gained nothing by it",
			differs: "blocks for scaling.effectiveness.expiry once scaling.effectiveness.proofs looks in a row have shown it, where Java blocks for good after one",
		}, func(d *draft) *bool { return &d.EffectivenessDetection }),
		looseNumber(row{name: "scaling.effectiveness.threshold", def: "0.1", rng: "0 to 1", meaning: "a scale-up that gained less than this share of what was expected did not help; its range counts only with the detection on"},
			func(d *draft) *float64 { return &d.EffectivenessThreshold }),
		integer(row{name: "scaling.effectiveness.proofs", def: "2", ours: true, meaning: "how many looks in a row must show that the last scale-up of a vertex did not help; until then it waits from look to look, and one look that shows it did help lets it go on"},
			func(d *draft) *int { return &d.EffectivenessProofs }, 1),
		duration(row{name: "scaling.effectiveness.expiry", def: "1 h", ours: true, meaning: "how long a vertex is not scaled up once that is shown; after that it is tried again with one step as large as the last, and each try in vain doubles the time, up to a day or so"},
			func(d *draft) *time.Duration { return &d.EffectivenessExpiry }, 0, longest),
	}
}

func periodRows() []row {
	periods := func(r row, field func(*draft) *[]Period) row {
		r.typ, r.rng = "periods", "entries separated by ;"
		r.set = parsed(parsePeriods, field)
		return r
	}
	floors := row{name: "vertex.min-parallelism.schedule", typ: "floors", rng: "<period> = <number>, or <period> = <vertex id>:<number>,..., separated by ;", ours: true, meaning: "sizes that vertices have at least in a period; unlike vertex.min-parallelism they make a vertex larger"}
	floors.set = parsed(parseFloors, func(d *draft) *[]Floor { return &d.Floors })
	zone := row{name: "time-zone", typ: "zone", def: "UTC", rng: "a name of the IANA list, such as Europe/Berlin", ours: true, meaning: "whose wall clock periods are about; the Java autoscaler takes the default zone of its JVM"}
	zone.set = parsed(parseZone, func(d *draft) **time.Location { return &d.Zone })
	return []row{
		zone, floors,
		periods(row{name: "excluded.periods", meaning: "periods in which nothing is changed; decisions are made and shown all the same"},
			func(d *draft) *[]Period { return &d.ExcludedPeriods }),
		periods(row{name: "scale-down.excluded.periods", ours: true, meaning: "periods in which nothing gets smaller"},
			func(d *draft) *[]Period { return &d.NoDownPeriods }),
		duration(row{name: "vertex.min-parallelism.schedule.lead-time", def: "15 min", ours: true, meaning: "how long before its period such a size is asked for, so that it is there when the period begins"},
			func(d *draft) *time.Duration { return &d.FloorLead }, 0, 24*time.Hour),
	}
}

func quotaRows() []row {
	return []row{
		number(row{name: "memory.gc-pressure.threshold", def: "1.0", meaning: "nothing is changed while a TaskManager spends more than this share of its time in garbage collection; 1: no limit"},
			func(d *draft, f float64) { d.GCPressureThreshold = f }, 0, 1),
		number(row{name: "memory.heap-usage.threshold", def: "1.0", meaning: "nothing is changed while more than this share of the heap is in use, on average over the window; 1: no limit"},
			func(d *draft, f float64) { d.HeapUsageThreshold = f }, 0, 1),
		number(row{name: "quota.cpu", differs: "where the cores of a TaskManager are not known (kubernetes.taskmanager.cpu), what needs more TaskManagers is held, where Java lets it pass", meaning: "cores that all TaskManagers together may not exceed; 0 or nothing: no limit"},
			func(d *draft, f float64) { d.QuotaCPU = f }, 0, math.MaxFloat64),
		memory(row{name: "quota.memory", meaning: "memory that all TaskManagers together may not exceed; 0 or nothing: no limit"},
			func(d *draft) *int64 { return &d.QuotaMemory }),
	}
}

func tuningRows() []row {
	return []row{
		boolean(row{name: "memory.tuning.enabled", def: "false", differs: "without effect: what TaskManagers need at a new size is told with every change, and never applied", meaning: "set the memory of TaskManagers for a new size"},
			func(d *draft) *bool { return &d.MemoryTuning }),
		boolean(row{name: "memory.tuning.scale-down-compensation.enabled", def: "true", meaning: "recommend a larger heap when there will be fewer TaskManagers"},
			func(d *draft) *bool { return &d.TuningCompensation }),
		looseNumber(row{name: "memory.tuning.overhead", def: "0.2", rng: "0 to 1", meaning: "headroom of the recommended heap and metaspace, as a share of what was used; its range counts only with tuning on"},
			func(d *draft) *float64 { return &d.TuningOverhead }),
		boolean(row{name: "memory.tuning.maximize-managed-memory", def: "false", meaning: "recommend all that is left for managed memory, if that is in use"},
			func(d *draft) *bool { return &d.TuningMaximizeManaged }),
	}
}

func rescaleRows() []row {
	priority := row{
		name: "share.priority", typ: "int", def: "0", rng: "-10 to 10", ours: true,
		meaning: "which job grows first where the worker's configuration limits what the jobs of a cluster share: a point counts as a minute of waiting, so that no job waits for ever",
	}
	priority.set = within(priority.rng, parseInt, func(d *draft, v int) { d.SharePriority = v }, -10, 10)
	return []row{
		priority,
		duration(row{name: "rescale.verify-timeout", ours: true, meaning: "how long a rescale may take until all tasks run at the new size; after that it counts as partial, or is undone; without it as long as Flink may take by its own options (cool-down, waits for slots and for a checkpoint), twice a restart that was measured, and 30 s"},
			func(d *draft) *time.Duration { return &d.VerifyTimeout }, time.Second, 24*time.Hour),
		duration(row{name: "rescale.backoff", def: "5 min", ours: true, meaning: "wait after a rescale that did not succeed, before the next one"},
			func(d *draft) *time.Duration { return &d.Backoff }, 0, 24*time.Hour),
		integer(row{name: "rescale.budget.count", def: "0", ours: true, meaning: "how many rescales may be made in 24 hours; once spent, only what brings a job back to objective.lag passes, and an override; 0: no limit"},
			func(d *draft) *int { return &d.BudgetCount }, 0),
		boolean(row{name: "rescale.undo.enabled", def: "true", ours: true, meaning: "go back to the size before when the job is not well after a change; false: it is only told, as failed"},
			func(d *draft) *bool { return &d.Undo }),
		duration(row{name: "rescale.undo.lag-within", def: "1 h", ours: true, meaning: "a change that made something smaller is taken back when the job, on time before it, is further behind within this time than objective.lag (without it backlog-processing.lag-threshold) and falls behind further at no more load; it takes stabilization.interval and metrics.window until that can be seen; 0 s: never"},
			func(d *draft) *time.Duration { return &d.UndoLagWithin }, 0, 24*time.Hour),
		duration(row{name: "rescale.budget.downtime", def: "0 s", ours: true, meaning: "how long rescales may keep the job from running in 24 hours, all together; 0 s: no limit"},
			func(d *draft) *time.Duration { return &d.BudgetDowntime }, 0, 24*time.Hour),
		integer(row{name: "rescale.breaker.failures", def: "5", ours: true, meaning: "after so many rescales in a row that did not succeed none is tried but an override; 0: no limit"},
			func(d *draft) *int { return &d.BreakerFailures }, 0),
		duration(row{name: "rescale.breaker.reset", def: "1 h", ours: true, meaning: "one is tried again after this time; 0 s: never by itself"},
			func(d *draft) *time.Duration { return &d.BreakerReset }, 0, longest),
		duration(row{name: "rescale.foreign-writer.accept-after", def: "1 h", ours: true, meaning: "requirements that somebody else wrote over ours are left alone for this long, then they count as given and the job is sized on; evaluate-now, resume or an override does that at once; 0 s: only those do"},
			func(d *draft) *time.Duration { return &d.ForeignAcceptAfter }, 0, longest),
		boolean(row{name: "rescale.without-free-slots", def: "false", ours: true, meaning: "ask Flink for a larger size although no slot is free: for clusters in which something else adds TaskManagers when they are asked for; a cluster on Kubernetes or YARN that does so itself is always asked"},
			func(d *draft) *bool { return &d.WithoutFreeSlots }),
		boolean(row{name: "rescale.without-checkpoints", def: "false", ours: true, meaning: "allow a rescale of a job that takes no checkpoints: its state is lost by it"},
			func(d *draft) *bool { return &d.WithoutCheckpoints }),
		boolean(row{name: "redeploy.enabled", def: "false", ours: true, meaning: "change a job whose scheduler is not adaptive by a full stop with a savepoint and a new start from it; the worker's file must say how the job is submitted, in flink.redeploy of its cluster"},
			func(d *draft) *bool { return &d.Redeploy }),
	}
}

func historyRows() []row {
	return []row{
		integer(row{name: "history.max.count", def: "3", meaning: "past decisions kept per vertex, and restarts per job"},
			func(d *draft) *int { return &d.HistoryMaxCount }, 1),
		duration(row{name: "history.max.age", def: "24 h", meaning: "past decisions and restarts that are older are forgotten"},
			func(d *draft) *time.Duration { return &d.HistoryMaxAge }, 0, longest),
		duration(row{name: "scaling.event.interval", def: "30 min", meaning: "an event that says the same is sent at most once in this time"},
			func(d *draft) *time.Duration { return &d.EventInterval }, 0, longest),
	}
}

func pluginRows() []row {
	const differs = "classes are those that the worker is built with"
	family := func(name, meaning string) row {
		return row{name: name, typ: "text", rng: "class, and what the class knows", meaning: meaning, family: true}
	}
	return []row{
		list(row{name: "metrics.custom-evaluators", differs: differs, meaning: "names of plugins that correct what was measured; only the first is used"},
			parseList, func(d *draft) *[]string { return &d.evaluators }),
		list(row{name: "scaling.custom-executors", differs: differs, meaning: "names of plugins that change or veto a decision; each is run once"},
			parseList, func(d *draft) *[]string { return &d.executors }),
		family(evaluatorFamily, "the class of an evaluator and its parameters"),
		family(executorFamily, "the class of an executor and its parameters"),
		family(alignmentFamily, "the class of an alignment and its parameters"),
	}
}

func ignoredRows() []row {
	return []row{
		{name: "enabled", typ: "bool", meaning: "switches the Java autoscaler on; here a running workflow is on, pause it or end it to turn it off", ignored: "ignored: a running workflow is on"},
		{name: "flink.rest-client.timeout", typ: "duration", def: "10 s", meaning: "time-out of a call to Flink", ignored: "ignored: the cluster's entry in the worker's configuration says it"},
	}
}
