package reference

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/event"
	"flinkscaler/core/policy"
)

// eventsPage lists what people outside are told.
func eventsPage() string {
	p := newPage("Events")
	p.say(fmt.Sprintf(`
What happens to a job is told as events. The worker writes each as one line of its log: %s as Info or, a warning, as Warn, with the job, the event's reason, the
decision's id and the message. Names of events are those of the Java autoscaler; it has none for what came of a change.

On Kubernetes each is also an event on the job's own object, so that `+"`kubectl describe`"+` and `+"`kubectl get events`"+` show it: reporting controller `+"`flinkscaler`"+`, the decision's id in the annotation
`+"`flinkscaler/decision-id`"+`, the message cut at 1024 bytes. What is told again raises the count of the event before and brings its message up to date.

An event that says the same as one before is told again only after %s (30 min), so that what holds for a day is told 48 times; with 0 s everything is told each
cycle. A job that is well as it is has no events. Events that a place cannot take within half a minute are lost; the job is managed as ever.`,
		code("event of a job"), code(policy.Prefix+"scaling.event.interval")))
	var rows [][]string
	for _, i := range event.Reasons() {
		typ := "Normal"
		if i.Warning {
			typ = "Warning"
		}
		rows = append(rows, []string{code(i.Reason), typ, cell(i.When), cell(i.Message), cell(i.Again)})
	}
	p.table([]string{"event", "type", "when", "what it says", "the same again is"}, rows)
	p.section("The form of a scaling report")
	p.say("After a header, one entry per vertex that changes, sorted by id: the rates are records per second, with two decimals and a point in every language. `Infinity` is the capacity of an idle vertex, `NaN` a number that is not known.")
	p.block("text", "{ Vertex ID <id> | Parallelism <now> -> <new> | Processing capacity <now> -> <expected> | Target data rate <rate>}")
	p.section("Holds that are told as " + event.AutoscalerError)
	p.say("Those of the [reasons](reasons.md) that need somebody. One look that fails is not told, the second in a row is; of a paused job the first is.")
	var list [][]string
	for _, r := range event.Failures() {
		if r == core.ReasonPolicyInvalid { // has an event of its own
			continue
		}
		list = append(list, []string{code(string(r))})
	}
	p.table([]string{"reason"}, list)
	return p.text()
}
