package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// draft is a Policy while it is being decoded: what derives from other keys is
// still open.
type draft struct {
	Policy

	boundary float64
	max, min *float64
}

// row is one key: its place in the reference and how its text is read.
type row struct {
	name    string // without prefix
	typ     string
	def     string // "" when the key has no default of its own
	rng     string
	meaning string
	// old are other names without prefix, still accepted under both prefixes.
	old []string
	// ours is true when the Java autoscaler does not know the key.
	ours bool
	// ignored says why the key has no effect.
	ignored string
	// family is true when the name stands for all keys that begin with it.
	family bool
	set    func(*draft, string) error
}

func (r row) key() string { return Prefix + r.name }

// spellings are all ways to write the key, the one that wins first.
func (r row) spellings() []string {
	out := []string{Prefix + r.name, OldPrefix + r.name}
	for _, o := range r.old {
		out = append(out, Prefix+o, OldPrefix+o)
	}
	return out
}

func (r row) info() KeyInfo {
	k := KeyInfo{Key: r.key(), Type: r.typ, Default: r.def, Range: r.rng, Meaning: r.meaning, Aliases: r.spellings()[1:], Java: !r.ours, Ignored: r.ignored}
	if r.family {
		k.Key += "<name>..."
		k.Aliases = nil
	}
	return k
}

const (
	notBuilt = "ignored: not built yet"
	longest  = time.Duration(math.MaxInt64)
	manyInt  = math.MaxInt32
)

// table is the one list of keys, sorted by name.
func table() []row {
	rows := slices.Concat(ownRows(), timeRows(), boundRows(), observedRows(), vertexRows(), laterRows())
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return rows
}

func ownRows() []row {
	return []row{
		oneOf(row{name: "strategy", def: "flink", ours: true, meaning: "the rule that decides: flink is the rule of the Java autoscaler"},
			func(d *draft) *string { return &d.Strategy }, []string{"flink"}),
		duration(row{name: "interval", def: "60 s", ours: true, meaning: "time between two looks at the job"},
			func(d *draft) *time.Duration { return &d.Interval }, time.Second, time.Hour),
		duration(row{name: "rescale.verify-timeout", def: "5 min", ours: true, meaning: "how long a rescale may take until all tasks run at the new size; after that it counts as partial or not reached"},
			func(d *draft) *time.Duration { return &d.VerifyTimeout }, time.Second, 24*time.Hour),
		duration(row{name: "rescale.backoff", def: "5 min", ours: true, meaning: "wait after a rescale that did not succeed, before the next one"},
			func(d *draft) *time.Duration { return &d.Backoff }, 0, 24*time.Hour),
		boolean(row{name: "rescale.without-checkpoints", def: "false", ours: true, meaning: "allow a rescale of a job that takes no checkpoints: its state is lost by it"},
			func(d *draft) *bool { return &d.WithoutCheckpoints }),
		boolean(row{name: "enabled", def: "", meaning: "switches the Java autoscaler on; here a running workflow is on, pause it or end it to turn it off", ignored: "ignored: a running workflow is on"},
			func(*draft) *bool { return new(bool) }),
		boolean(row{name: "scaling.enabled", def: "true", meaning: "false: decide and report, but change nothing (dry run)"},
			func(d *draft) *bool { return &d.ScalingEnabled }),
	}
}

func timeRows() []row {
	return []row{
		duration(row{name: "metrics.window", def: "15 min", meaning: "samples over this time are averaged; a decision needs it to be full, and it must not be shorter than the interval"},
			func(d *draft) *time.Duration { return &d.MetricsWindow }, time.Second, longest),
		duration(row{name: "stabilization.interval", def: "5 min", meaning: "samples in this time after a (re)start of the job are no evidence"},
			func(d *draft) *time.Duration { return &d.StabilizationInterval }, 0, longest),
		duration(row{name: "scale-down.interval", def: "1 h", old: []string{"scale-up.grace-period"}, meaning: "a vertex gets smaller only when it could have been smaller for this long, and then to the largest size wanted in that time; 0 s: at once"},
			func(d *draft) *time.Duration { return &d.ScaleDownInterval }, 0, longest),
		duration(row{name: "catch-up.duration", def: "30 min", meaning: "lag is to be worked off in this time after a rescale; 0 s: lag and restart are not planned for"},
			func(d *draft) *time.Duration { return &d.CatchUp }, 0, longest),
		duration(row{name: "restart.time", def: "5 min", meaning: "how long a rescale is expected to stop the job; the records of that time are planned for"},
			func(d *draft) *time.Duration { return &d.RestartTime }, 0, longest),
		duration(row{name: "backlog-processing.lag-threshold", def: "5 min", meaning: "a source whose lag takes longer than this at its present rate makes the job work off a backlog: it does not scale down, and up only when it cannot keep up at full load"},
			func(d *draft) *time.Duration { return &d.BacklogLagThreshold }, 0, longest),
	}
}

func boundRows() []row {
	return []row{
		number(row{name: "utilization.target", def: "0.7", old: []string{"target.utilization"}, rng: "above 0 and at most 1", meaning: "share of busy time that a new size is chosen for"},
			func(d *draft, f float64) { d.UtilizationTarget = f }, math.SmallestNonzeroFloat64, 1),
		number(row{name: "utilization.max", def: "", rng: "utilization.target to 1", meaning: "a vertex that cannot do its rate at this share of busy time gets more subtasks; without it the target plus the boundary"},
			func(d *draft, f float64) { d.max = &f }, 0, 1),
		number(row{name: "utilization.min", def: "", rng: "0 to utilization.target", meaning: "a vertex that needs less than this share of busy time gets fewer subtasks; without it the target minus the boundary; 0: never"},
			func(d *draft, f float64) { d.min = &f }, 0, 1),
		number(row{name: "target.utilization.boundary", def: "0.3", meaning: "distance of utilization.max and utilization.min from the target, where they are not given"},
			func(d *draft, f float64) { d.boundary = f }, 0, math.MaxFloat64),
		number(row{name: "scale-down.max-factor", def: "0.6", meaning: "a vertex loses at most this share of its subtasks in one step; 1: no limit"},
			func(d *draft, f float64) { d.ScaleDownMaxFactor = f }, 0, math.MaxFloat64),
		number(row{name: "scale-up.max-factor", def: "100000.0", meaning: "a vertex gains at most this many times its subtasks in one step; 1: at most double"},
			func(d *draft, f float64) { d.ScaleUpMaxFactor = f }, 0, math.MaxFloat64),
	}
}

func observedRows() []row {
	return []row{
		duration(row{name: "observed-true-processing-rate.lag-threshold", def: "30 s", meaning: "a source with at least this lag, at its present rate, shows its true processing rate"},
			func(d *draft) *time.Duration { return &d.ObservedLagThreshold }, 0, longest),
		number(row{name: "observed-true-processing-rate.switch-threshold", def: "0.15", meaning: "the observed rate is taken when the one computed from busy time is more than this share above it"},
			func(d *draft, f float64) { d.ObservedSwitchThreshold = f }, 0, math.MaxFloat64),
		integer(row{name: "observed-true-processing-rate.min-observations", def: "2", meaning: "observations needed before the observed rate counts"},
			func(d *draft) *int { return &d.ObservedMinObservations }, 1, manyInt),
		oneOf(row{name: "metrics.busy-time.aggregator", def: "MAX", meaning: "the subtask whose busy time stands for the vertex: the busiest, the mean or the least busy"},
			func(d *draft) *Aggregator { return &d.BusyTimeAggregator }, []Aggregator{AggregateMax, AggregateAvg, AggregateMin}),
	}
}

func vertexRows() []row {
	return []row{
		integer(row{name: "vertex.min-parallelism", def: "1", meaning: "no vertex is made smaller than this; one that already is stays"},
			func(d *draft) *int { return &d.MinParallelism }, 1, manyInt),
		integer(row{name: "vertex.max-parallelism", def: "200", meaning: "no vertex is made larger than this; one that already is stays"},
			func(d *draft) *int { return &d.MaxParallelism }, 1, manyInt),
		list(row{name: "vertex.exclude.ids", def: "", meaning: "ids of vertices that are left as they are; what is downstream is still scaled"},
			func(d *draft) *[]string { return &d.Exclude }),
		oneOf(row{name: "scaling.parallelism-alignment.mode", def: "BALANCED", meaning: "fits the size to key groups or partitions: BALANCED takes the next size that lowers the largest share, EVENLY_SPREAD the next divisor, OFF none"},
			func(d *draft) *Alignment { return &d.Alignment }, []Alignment{AlignBalanced, AlignEvenlySpread, AlignOff}),
	}
}

// laterRows are keys of the Java autoscaler that have no effect yet.
func laterRows() []row {
	later := func(name, typ, def, meaning string) row {
		return row{name: name, typ: typ, def: def, meaning: meaning, ignored: notBuilt}
	}
	family := func(name string) row {
		return row{name: name, typ: "text", meaning: "parameters of a plugin", ignored: notBuilt, family: true}
	}
	return []row{
		later("excluded.periods", "list", "", "times of day or cron expressions in which nothing is changed"),
		later("restart.time-tracking.enabled", "bool", "false", "plan with the longest restart seen"),
		later("restart.time-tracking.limit", "duration", "15 min", "cap of the restart time that was seen"),
		later("scaling.effectiveness.detection.enabled", "bool", "false", "do not repeat a scale-up that did not help"),
		later("scaling.effectiveness.threshold", "number", "0.1", "share of the expected gain below which a scale-up did not help"),
		later("memory.gc-pressure.threshold", "number", "1.0", "share of time in garbage collection above which nothing is changed"),
		later("memory.heap-usage.threshold", "number", "1.0", "used share of the heap above which nothing is changed"),
		later("memory.tuning.enabled", "bool", "false", "fit the memory of TaskManagers"),
		later("memory.tuning.scale-down-compensation.enabled", "bool", "true", "grow the heap when there are fewer TaskManagers"),
		later("memory.tuning.overhead", "number", "0.2", "headroom of tuned memory"),
		later("memory.tuning.maximize-managed-memory", "bool", "false", "give what is left to managed memory"),
		later("history.max.count", "int", "3", "past decisions kept per vertex"),
		later("history.max.age", "duration", "24 h", "age of past decisions kept"),
		later("scaling.event.interval", "duration", "30 min", "the same event is sent at most once in this time"),
		later("flink.rest-client.timeout", "duration", "10 s", "time-out of a call to Flink"),
		later("quota.memory", "memory", "", "memory of all TaskManagers that may not be exceeded"),
		later("quota.cpu", "number", "", "cores of all TaskManagers that may not be exceeded"),
		later("scaling.key-group.partitions.adjust.mode", "enum", "", "older form of scaling.parallelism-alignment.mode"),
		later("observed-scalability.enabled", "bool", "false", "correct sizes by how well past ones scaled"),
		later("observed-scalability.min-observations", "int", "3", "past decisions needed for it"),
		later("observed-scalability.coefficient-min", "number", "0.5", "floor of the correction"),
		later("metrics.custom-evaluators", "list", "", "names of evaluator plugins"),
		later("scaling.custom-executors", "list", "", "names of executor plugins"),
		family("metrics.custom-evaluator."),
		family("scaling.custom-executor."),
		family("scaling.parallelism-alignment.mode."),
	}
}

func duration(r row, field func(*draft) *time.Duration, lo, hi time.Duration) row {
	r.typ = "duration"
	r.rng = "at least " + FormatDuration(lo)
	if hi != longest {
		r.rng = FormatDuration(lo) + " to " + FormatDuration(hi)
	}
	r.set = within(r.rng, ParseDuration, func(d *draft, v time.Duration) { *field(d) = v }, lo, hi)
	return r
}

// within is the setter of a value that must lie in a range, whose words are
// given.
func within[T cmp.Ordered](words string, parse func(string) (T, error), put func(*draft, T), lo, hi T) func(*draft, string) error {
	return func(d *draft, text string) error {
		v, err := parse(text)
		if err != nil {
			return err
		}
		if v < lo || v > hi {
			return fmt.Errorf("must be %s", inRange(words))
		}
		put(d, v)
		return nil
	}
}

func number(r row, put func(*draft, float64), lo, hi float64) row {
	r.typ = "number"
	if r.rng == "" {
		r.rng = fmt.Sprintf("at least %g", lo)
	}
	r.set = within(r.rng, parseFloat, put, lo, hi)
	return r
}

func integer(r row, field func(*draft) *int, lo, hi int) row {
	r.typ = "int"
	r.rng = fmt.Sprintf("at least %d", lo)
	r.set = within(r.rng, parseInt, func(d *draft, v int) { *field(d) = v }, lo, hi)
	return r
}

func boolean(r row, field func(*draft) *bool) row {
	r.typ, r.rng = "bool", "true, false"
	r.set = func(d *draft, text string) error {
		v, err := parseBool(text)
		if err == nil {
			*field(d) = v
		}
		return err
	}
	return r
}

func list(r row, field func(*draft) *[]string) row {
	r.typ, r.rng = "list", "entries separated by ;"
	r.set = func(d *draft, text string) error {
		*field(d) = parseList(text)
		return nil
	}
	return r
}

func oneOf[T ~string](r row, field func(*draft) *T, words []T) row {
	all := make([]string, 0, len(words))
	for _, w := range words {
		all = append(all, string(w))
	}
	r.typ, r.rng = "enum", strings.Join(all, ", ")
	r.set = func(d *draft, text string) error {
		for _, w := range words {
			if strings.EqualFold(strings.TrimSpace(text), string(w)) {
				*field(d) = w
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", r.rng)
	}
	return r
}

// inRange puts the word "between" before a range from one number to another.
func inRange(rng string) string {
	if lo, hi, ok := strings.Cut(rng, " to "); ok && !strings.Contains(rng, ",") {
		return "between " + lo + " and " + hi
	}
	return rng
}
