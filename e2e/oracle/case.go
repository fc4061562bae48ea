package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Trait is something that happens in a case besides load that comes and goes.
type Trait string

// The traits. A third of all cases has none.
const (
	TraitRestarts     Trait = "restarts"      // the job restarts by itself
	TraitSlowTasks    Trait = "slow-tasks"    // after a restart tasks run later than the job
	TraitUnapplied    Trait = "unapplied"     // decisions take cycles to be carried out, or never are
	TraitPartial      Trait = "partial"       // decisions are carried out in part
	TraitIncomplete   Trait = "incomplete"    // Flink loses sight of subtasks: zero counters, flagged
	TraitMissing      Trait = "missing"       // a metric that is needed is not there for some cycles
	TraitLegacy       Trait = "legacy"        // a source without busy time
	TraitNoBusy       Trait = "no-busy"       // busy time is NaN for some cycles
	TraitFrozen       Trait = "frozen"        // metrics stand still, the JobManager's clock too
	TraitReset        Trait = "reset"         // counters fall without a restart of the job
	TraitFinished     Trait = "finished"      // a source ends
	TraitGaps         Trait = "gaps"          // nobody looks for some cycles
	TraitLazyLag      Trait = "lazy-lag"      // the backlog metric appears late, or is lost
	TraitJitter       Trait = "jitter"        // cycles are not even
	TraitZero         Trait = "zero"          // no load at times
	TraitFractions    Trait = "fractions"     // numbers with many places
	TraitDryRun       Trait = "dry-run"       // scaling is switched off
	TraitClusters     Trait = "clusters"      // Kafka topics of one name on several clusters
	TraitSplits       Trait = "splits"        // metrics per split, as Flink 2.1 and later have
	TraitBounds       Trait = "bounds"        // utilization.min and .max, which the release does not know
	TraitNoGauge      Trait = "no-gauge"      // no vertex shows numRecordsInPerSecond
	TraitHot          Trait = "hot"           // all of a source's backlog waits in front of one subtask
	TraitLagNaN       Trait = "lag-nan"       // a source's backlog is NaN for some cycles
	TraitRegraph      Trait = "regraph"       // a restart comes with a smaller graph
	TraitContention   Trait = "contention"    // more subtasks bring little or nothing
	TraitMemory       Trait = "memory"        // memory gets short
	TraitQuota        Trait = "quota"         // cores and memory are limited
	TraitPeriods      Trait = "periods"       // nothing may be changed at times
	TraitManyVertices Trait = "many-vertices" // a graph of up to 20 vertices
)

// traits lists all, with how often one is drawn relative to the others.
func traits() []Trait {
	return []Trait{
		TraitRestarts, TraitRestarts, TraitSlowTasks, TraitUnapplied, TraitUnapplied, TraitPartial, TraitIncomplete, TraitMissing,
		TraitLegacy, TraitNoBusy, TraitFrozen, TraitReset, TraitFinished, TraitGaps, TraitLazyLag, TraitJitter, TraitJitter, TraitZero, TraitZero,
		TraitFractions, TraitDryRun, TraitClusters, TraitSplits, TraitBounds, TraitNoGauge, TraitHot, TraitLagNaN, TraitRegraph, TraitManyVertices,
		TraitContention, TraitContention, TraitMemory, TraitQuota, TraitPeriods,
	}
}

// Case is one made-up job and how it is configured. A seed and a number make the same case everywhere.
type Case struct {
	Seed   uint64
	Number int
	Traits []Trait
	// Options are for both autoscalers.
	Options map[string]string
	Cycles  int

	world *world
}

// String says how to make the case again.
func (c Case) String() string {
	return fmt.Sprintf("case %d of seed %d (%v)", c.Number, c.Seed, c.Traits)
}

// Generate makes one case.
func Generate(seed uint64, number int) Case {
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	c := Case{Seed: seed, Number: number, Cycles: between(r, 25, 60), Options: map[string]string{}}
	if !chance(r, 0.33) {
		for range between(r, 1, 3) {
			c.Traits = append(c.Traits, pick(r, traits()))
		}
		slices.Sort(c.Traits)
		c.Traits = slices.Compact(c.Traits)
	}
	interval := time.Duration(pick(r, []int{10, 15, 30, 60, 60, 60, 120})) * time.Second
	c.world = newWorld(r, interval, c.Traits)
	c.options(r, interval)
	return c
}

func (c Case) has(t Trait) bool { return slices.Contains(c.Traits, t) }

// between draws a whole number, both ends included.
func between(r *rand.Rand, least, most int) int { return least + r.IntN(most-least+1) }

func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

const (
	prefix    = "job.autoscaler."
	oldPrefix = "kubernetes.operator.job.autoscaler."
)

// options draws a value for most keys; what is not drawn keeps its default.
func (c *Case) options(r *rand.Rand, interval time.Duration) {
	set := func(p float64, key, value string) {
		if !chance(r, p) {
			return
		}
		spelling := prefix
		if chance(r, 0.1) {
			spelling = oldPrefix
		}
		c.Options[spelling+key] = value
	}
	cycles := func(least, most int) string {
		return fmt.Sprintf("%d ms", (time.Duration(between(r, least, most)) * interval).Milliseconds())
	}
	number := func(least, most float64) string { return fmt.Sprintf("%.2f", least+r.Float64()*(most-least)) }
	c.Options[prefix+"interval"] = fmt.Sprintf("%d s", int(interval.Seconds()))
	set(1, "metrics.window", cycles(2, 10))
	set(1, "stabilization.interval", pick(r, []string{"0 s", cycles(0, 4)}))
	set(0.5, "target.utilization", number(0.3, 1))
	set(0.5, "target.utilization.boundary", number(0, 0.6))
	set(0.85, pick(r, []string{"scale-down.interval", "scale-down.interval", "scale-down.interval", "scale-up.grace-period"}), pick(r, []string{"0 s", "0 s", cycles(1, 4), cycles(2, 15)}))
	least := pick(r, []int{1, 1, 2, 3, 8})
	set(0.3, "vertex.min-parallelism", fmt.Sprint(least))
	set(0.5, "vertex.max-parallelism", fmt.Sprint(pick(r, []int{8, 12, 30, 100, 200, 400})))
	set(0.5, "scale-down.max-factor", pick(r, []string{"0", "0.2", "0.5", "0.6", "1", "1.0", number(0, 1)}))
	set(0.3, "scale-up.max-factor", pick(r, []string{"0.3", "0.5", "1", "2.0", number(0, 4)}))
	set(0.6, "catch-up.duration", pick(r, []string{"0", "500 ms", "30 s", "1 min", "5 min", "10 min", "1 h"}))
	set(0.5, "restart.time", pick(r, []string{"0 s", "10 s", "90 s", "3 min", "10 min"}))
	set(0.4, "backlog-processing.lag-threshold", pick(r, []string{"0 s", "10 s", "1 min", "10 min", "1 h"}))
	set(0.4, "observed-true-processing-rate.lag-threshold", pick(r, []string{"0 s", "5 s", "1 min"}))
	set(0.3, "observed-true-processing-rate.switch-threshold", pick(r, []string{"0", "0.05", "0.3", "1"}))
	set(0.3, "observed-true-processing-rate.min-observations", pick(r, []string{"1", "3", "5"}))
	set(0.5, "metrics.busy-time.aggregator", pick(r, []string{"AVG", "MAX", "MIN", "avg"}))
	set(0.25, "restart.time-tracking.enabled", "true")
	set(0.2, "restart.time-tracking.limit", pick(r, []string{"10 s", "1 min", "1 h"}))
	set(0.3, "history.max.count", pick(r, []string{"1", "2", "5"}))
	set(0.2, "history.max.age", cycles(3, 40))
	c.rarer(r)
	c.limits(r)
}

// limits sets what forbids a change.
func (c *Case) limits(r *rand.Rand) {
	if c.has(TraitContention) || chance(r, 0.1) {
		c.Options[prefix+"scaling.effectiveness.detection.enabled"] = pick(r, []string{"true", "true", "true", "false"})
		c.Options[prefix+"scaling.effectiveness.threshold"] = pick(r, []string{"0.1", "0.3", "0.9", "0", "1"})
	}
	if c.has(TraitMemory) {
		c.Options[prefix+"memory.gc-pressure.threshold"] = pick(r, []string{"1", "0.5", "0.9", "0"})
		c.Options[prefix+"memory.heap-usage.threshold"] = pick(r, []string{"1.0", "0.6", "0.8", "0.5"})
	}
	if c.has(TraitQuota) {
		c.Options["taskmanager.numberOfTaskSlots"] = fmt.Sprint(between(r, 1, 4))
		c.Options["kubernetes.taskmanager.cpu"] = pick(r, []string{"1.0", "2.0", "0.5"})
		c.Options["taskmanager.memory.process.size"] = pick(r, []string{"2 gb", "4096 mb"})
		if chance(r, 0.7) {
			c.Options[prefix+"quota.cpu"] = pick(r, []string{"4", "16.5", "60"})
		}
		if chance(r, 0.5) {
			c.Options[prefix+"quota.memory"] = pick(r, []string{"8 gb", "40 gb", "200 gb"})
		}
	}
	if c.has(TraitPeriods) {
		var periods []string
		for range between(r, 1, 3) {
			periods = append(periods, pick(r, periodsOfACase()))
		}
		c.Options[prefix+"excluded.periods"] = strings.Join(periods, ";")
	}
}

// periodsOfACase are periods around the two hours in which a case lives, from noon on the third Monday of a month, UTC.
func periodsOfACase() []string {
	return []string{
		"12:00-12:20", "12:10:30-12:50:15", "9:00-12:05", "12:30:00:500-23:59", "* * 12 * * ?", "* 0-29 * * * ?", "*/7 10-40/3 12,13 * * ?", "* * * ? * 2-6",
		"* 15-45 12 ? * MON", "12:05-12:45 && * * * ? * 2", "12:05-12:45 && * * * ? * 3", "* 5-35 * ? * 2#3", "* * 12 20W * ?", "* * * L * ?", "* * 13 ? JUL MON-FRI 2026", "* 0-20 * 20 7 ? *",
	}
}

// rarer sets what belongs to a trait or to the graph.
func (c *Case) rarer(r *rand.Rand) {
	if chance(r, 0.2) {
		var ids []string
		for range between(r, 1, 2) {
			ids = append(ids, pick(r, c.world.vertices).id)
		}
		c.Options[prefix+"vertex.exclude.ids"] = strings.Join(ids, ";")
	}
	if c.has(TraitDryRun) {
		c.Options[prefix+"scaling.enabled"] = "false"
	}
	if c.has(TraitBounds) {
		delete(c.Options, prefix+"target.utilization")
		c.Options[prefix+"target.utilization"] = "0.6"
		c.Options[prefix+"utilization.max"] = pick(r, []string{"0.65", "0.8", "1"})
		c.Options[prefix+"utilization.min"] = pick(r, []string{"0", "0.3", "0.55"})
	}
}
