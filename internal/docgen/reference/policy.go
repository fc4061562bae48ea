package reference

import (
	"fmt"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func policyPage() string {
	p := newPage("Policy keys")
	p.say(fmt.Sprintf(`
The keys are those of the Java autoscaler, so a configuration can be copied over. The prefix %s is accepted too. What Java does not know is marked *ours*.

Contents: [who wins](#who-wins) · %s · [how values are written](#how-values-are-written) · [how periods are written](#how-periods-are-written) ·
[sizes by the clock](#sizes-by-the-clock) · [plugins](#plugins-and-their-parameters) · [recognised, without effect](#recognised-without-effect)`,
		code(policy.OldPrefix), groupLinks()))
	p.section("Who wins")
	p.say(fmt.Sprintf(`
Key by key, the first of these that gives a value: the workflow's input, the job's own configuration, the cluster's default in the worker's configuration, what is built
in. Where one of them gives a key in two spellings, the prefix %s wins over the older one, and a name over its older name.

%s shows each value with who said it, in which spelling, and a note where something is remarkable. The job's own configuration is what Flink's REST API shows for
the job, which in a session cluster is the cluster's configuration alone. A bad value in the input or in the worker's file starts nothing; one in the job's own
configuration holds the job with reason %s until it is corrected. Every problem is listed at once, with its key, value, range and who said it; a key that nobody
knows is one, and comes with the nearest that is known. Only the value that wins is judged.`,
		code(policy.Prefix), code("flinkscaler policy CLUSTER/JOB"), code(string(core.ReasonPolicyInvalid))))
	for _, g := range policyGroups() {
		p.section(g.title)
		p.say(g.about)
		p.table([]string{"key", "type", "default", "range", "meaning"}, keyRows(g.title))
	}
	valuesPart(p)
	periodsPart(p)
	pluginsPart(p)
	ignoredPart(p)
	return p.text()
}

// policyGroup is a section of keys.
type policyGroup struct{ title, about string }

// policyGroups are the groups whose keys have an effect, with a word on each.
func policyGroups() []policyGroup {
	return []policyGroup{
		{"What decides", "The rule, how often it is asked, and whether its answer is carried out."},
		{"Evidence", "What is measured, for how long, and how it is read."},
		{"When a vertex is resized", "A vertex that leaves its bounds of utilization makes the job rescale; every vertex is then fitted to the target."},
		{"Sizes", "How large a vertex may be, and how far it goes in one step. Soft bounds stop a change; hard ones make one."},
		{"Alignment", "Key groups and partitions are whole: a size that divides them badly gains nothing."},
		{"Lag and restarts", "What a new size has to do beside the present rate."},
		{"Scale-ups that did not help", "More subtasks do not help where an outside system, or skew, is the limit."},
		{"Periods", "When nothing may change, when nothing may shrink, and when there must be more. [How periods are written](#how-periods-are-written)."},
		{"Approval", "Changes that a person must approve before they are carried out, see [approve and reject](messages.md#approve). [How periods are written](#how-periods-are-written)."},
		{"Memory pressure and quotas", "What stops a change although the numbers ask for it."},
		{"Memory tuning", "How much memory TaskManagers would need. It is shown as a recommendation and never applied."},
		{"Rescaling", "How a change is carried out."},
		{"History and events", "What is remembered, and how often the same is told."},
		{"Plugins", "Code of your own, built into the worker. [How they are given parameters](#plugins-and-their-parameters)."},
	}
}

func groupLinks() string {
	var out []string
	for _, g := range policyGroups() {
		anchor := strings.ReplaceAll(strings.ToLower(g.title), " ", "-")
		out = append(out, fmt.Sprintf("[%s](#%s)", strings.ToLower(g.title[:1])+g.title[1:], anchor))
	}
	return strings.Join(out, " · ")
}

func keyRows(group string) [][]string {
	var out [][]string
	for _, k := range policy.Keys() {
		if k.Group != group || k.Ignored != "" {
			continue
		}
		meaning := cell(k.Meaning)
		if !k.Java {
			meaning = "*ours*: " + meaning
		}
		if k.Differs != "" {
			meaning += ". Not as in Java: " + cell(k.Differs)
		}
		if also := otherNames(k); also != "" {
			meaning += ". Older name: " + also
		}
		out = append(out, []string{code(k.Key), k.Type, code(k.Default), cell(k.Range), meaning})
	}
	return out
}

// otherNames lists spellings that differ by more than the prefix.
func otherNames(k policy.KeyInfo) string {
	var out []string
	for _, a := range k.Aliases {
		if strings.HasPrefix(a, policy.Prefix) {
			out = append(out, code(a))
		}
	}
	return strings.Join(out, ", ")
}

// valueForm is how values of a type are written. The examples are values of
// the key.
type valueForm struct {
	typ, how, key string
	examples      []string
}

func valueForms() []valueForm {
	return []valueForm{
		{"bool", "in any case", "scaling.enabled", []string{"true", "FALSE"}},
		{"int", "a whole number", "vertex.max-parallelism", []string{"40"}},
		{"number", "with a point; neither NaN nor infinite", "utilization.target", []string{"0.7", "1", "5e-1"}},
		{"duration", "a whole number and a unit, in any case: ns, µs, ms, s, min, h, d, or their long words; or as ISO 8601; a number alone counts milliseconds", "metrics.window", []string{"90 s", "5min", "2 hours", "PT1H30M", "600000"}},
		{"memory", "a whole number and a unit, in any case: b, kb, mb, gb, tb, which are powers of 1024; a number alone counts bytes", "quota.memory", []string{"64 gb", "512m", "1073741824"}},
		{"enum", "one of the words, in any case", "metrics.busy-time.aggregator", []string{"MAX", "avg"}},
		{"name", "exactly as it is called", "scaling.parallelism-alignment.mode", []string{"EVENLY_SPREAD"}},
		{"list", "separated by semicolons, or a YAML list in one line; an entry with a separator is put in quotes, and a quote inside is doubled", "vertex.exclude.ids", []string{"a;b", "[a, b]", "'a;1';\"b\""}},
		{"map", "pairs with a colon, separated by commas, or a YAML map in one line; quotes as in lists. In a YAML file put the whole value in quotes: without them a map in braces is a mapping, which the worker's configuration refuses", "vertex.partitions", []string{"cbc357ccb763df2852fee8c4fc7d55f2:12,bc764cd8ddf7a0cff126f51c16239658:3", "{cbc357ccb763df2852fee8c4fc7d55f2: 12}"}},
		{"zone", "a name of the IANA list; the zone of the machine is not taken, so that every worker decides the same", "time-zone", []string{"UTC", "Europe/Berlin", "America/New_York"}},
		{"periods", "a list of periods, see below", "excluded.periods", []string{"9:00-17:30;* * * ? * SAT,SUN"}},
		{"floors", "a list of periods with sizes, see below", "vertex.min-parallelism.schedule", []string{"8:00-18:00 = 12"}},
	}
}

func valuesPart(p *page) {
	p.section("How values are written")
	p.say("As in Flink. Blanks around a value do not count.")
	var rows [][]string
	for _, f := range valueForms() {
		var examples []string
		for _, e := range f.examples {
			examples = append(examples, code(e))
		}
		rows = append(rows, []string{f.typ, cell(f.how), strings.Join(examples, ", ")})
	}
	p.table([]string{"type", "how", "examples"}, rows)
}

// periodExample is a period with a moment of the zone that is in it and one
// that is not, as 2006-01-02 15:04:05.
type periodExample struct{ text, meaning, in, out string }

func periodExamples() []periodExample {
	return []periodExample{
		{"9:00-17:30", "each day; both ends are in it, to the millisecond", "2026-03-02 17:30:00", "2026-03-02 17:30:01"},
		{"09:13:17-11:15:18:500", "with seconds and milliseconds", "2026-03-02 09:13:17", "2026-03-02 09:13:16"},
		{"* * 8-17 ? * MON-FRI", "working days, from 8:00:00 to 17:59:59", "2026-03-02 17:59:59", "2026-03-01 12:00:00"},
		{"* * * ? * 1,7", "weekends: days count from Sunday, which is 1", "2026-03-01 12:00:00", "2026-03-02 12:00:00"},
		{"* * 22-5 * * ?", "nights: a range of a cron expression may go round", "2026-03-02 03:00:00", "2026-03-02 06:00:00"},
		{"* 0-14 * * * ?", "the first quarter of each hour", "2026-03-02 03:14:59", "2026-03-02 03:15:00"},
		{"* 0/20 * * * ?", "one minute in twenty, from the full hour", "2026-03-02 03:40:10", "2026-03-02 03:41:00"},
		{"* * * L * ?", "the last day of each month; L-2 is two days before", "2026-02-28 12:00:00", "2026-02-27 12:00:00"},
		{"* * * LW * ?", "the last working day of each month; 15W is the one nearest to the 15th", "2026-02-27 12:00:00", "2026-02-28 12:00:00"},
		{"* * * ? * 6#3", "the third Friday of each month", "2026-03-20 12:00:00", "2026-03-13 12:00:00"},
		{"* * * ? * 6L", "the last Friday of each month", "2026-03-27 12:00:00", "2026-03-20 12:00:00"},
		{"* * * ? NOV-DEC * 2026", "two months of one year", "2026-11-01 00:00:00", "2027-11-01 00:00:00"},
		{"14:00-16:00 && * * * ? * 2,5", "Mondays and Thursdays, two hours", "2026-03-02 15:00:00", "2026-03-03 15:00:00"},
	}
}

func periodsPart(p *page) {
	p.section("How periods are written")
	p.say(fmt.Sprintf(`
A period is a time of day %s, a cron expression as [Quartz](https://www.quartz-scheduler.org/) reads it, or one of each with %s between, when both must hold. Entries are
separated by semicolons; one that holds is enough.

A time of day begins before it ends. Over midnight it is two entries: %s.

A cron expression has the fields seconds, minutes, hours, day of the month, month, day of the week and, if wanted, year. **It is the set of seconds that it names, not a
start**: %s holds for one second each day, %s for an hour. Exactly one of the two days is %s. Numbers, names, lists with commas, ranges, steps with %s, %s, %s and %s are as in
Quartz.`,
		code("H:mm[:ss[:SSS]]-H:mm[:ss[:SSS]]"), code("&&"), code("22:00-23:59:59:999;0:00-6:00"), code("0 0 8 * * ?"), code("* * 8 * * ?"), code("?"), code("/"), code("L"), code("W"), code("#")))
	var rows [][]string
	for _, e := range periodExamples() {
		rows = append(rows, []string{code(e.text), cell(e.meaning)})
	}
	p.table([]string{"period", "when"}, rows)
	p.say(fmt.Sprintf(`
Periods are about the wall clock of %s. Where clocks are set, an hour that is skipped never holds and one that comes twice holds twice. The Java autoscaler takes the default
zone of its JVM, which in a container is mostly UTC.`, code(policy.Prefix+"time-zone")))
	p.section("Sizes by the clock")
	p.say(fmt.Sprintf(`
%s gives sizes that vertices have at least in a period: for all of them, or by vertex id. Unlike %s they make a vertex larger. They are asked for %s before the period begins,
so that the job is rescaled by then; where several hold, the largest counts. They need no full window, nor the end of the stabilization: a peak that is known to come does
not wait for evidence. They do wait while the job cannot be seen as it is: while metrics are frozen or missing, while it does not run, and while Flink does not answer.`,
		code(policy.Prefix+"vertex.min-parallelism.schedule"), code(policy.Prefix+"vertex.min-parallelism"), code(policy.Prefix+"vertex.min-parallelism.schedule.lead-time")))
	p.block("yaml", scheduleExample)
}

const scheduleExample = `job.autoscaler.time-zone: Europe/Berlin
job.autoscaler.vertex.min-parallelism.schedule: "* * 7-19 ? * MON-FRI = 12; * * * 1 * ? = cbc357ccb763df2852fee8c4fc7d55f2:40,bc764cd8ddf7a0cff126f51c16239658:16"
job.autoscaler.vertex.min-parallelism.schedule.lead-time: 20 min`

func pluginsPart(p *page) {
	p.section("Plugins and their parameters")
	p.say(`
A plugin is an instance of a class that the worker is built with; the name of the instance is free. Every key that begins with the instance's prefix is a parameter, known to
the class alone, and ` + code("class") + ` is one of them. Parameters are merged one by one: the prefix ` + code(policy.Prefix) + ` wins over the older one, a higher source over a
lower. A name that has no class is a problem; a class that the worker does not have is told by the decision.`)
	p.table([]string{"names", "parameters"}, [][]string{
		{code(policy.Prefix + "metrics.custom-evaluators"), code(policy.Prefix + "metrics.custom-evaluator.<name>.<parameter>")},
		{code(policy.Prefix + "scaling.custom-executors"), code(policy.Prefix + "scaling.custom-executor.<name>.<parameter>")},
		{code(policy.Prefix + "scaling.parallelism-alignment.mode"), code(policy.Prefix + "scaling.parallelism-alignment.mode.<name>.<parameter>")},
	})
}

func ignoredPart(p *page) {
	var ignored [][]string
	for _, k := range policy.Keys() {
		if k.Ignored != "" {
			ignored = append(ignored, []string{code(k.Key), k.Type, code(k.Default), cell(k.Meaning), cell(strings.TrimPrefix(k.Ignored, "ignored: "))})
		}
	}
	p.section("Recognised, without effect")
	p.say("These are accepted, so that a configuration can be copied over, and shown as ignored by the `policy` query. Their values are not looked at.")
	p.table([]string{"key", "type", "default in Java", "what it is for", "why it is ignored"}, ignored)
}
