package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/workflows"
)

// Message is an order of an operator as the page shows it.
type Message struct {
	Name, Meaning string
	// Fields are those beside by, reason and id.
	Fields string
	// Examples are payloads; empty for none at all.
	Examples []string
}

// Messages lists every message.
func Messages() []Message {
	const period = "`for` (a duration) or `until` (a time such as `2026-11-30T08:00:00Z`), at most a year"
	return []Message{
		{workflows.MsgPause, "Change nothing until resumed; the job is still observed, and what would be done is shown. A rescale under way is not broken off.", period, []string{
			"", `{"by": "ann", "reason": "release 1.7", "for": "2 h"}`,
		}},
		{workflows.MsgResume, "End a pause; the next decision is made at once.", "", []string{"", `{"by": "ann"}`}},
		{workflows.MsgOverride, "Pin the size. It goes before the strategy, passes the delays, and obeys the checks before a write: the job runs, checkpoints are on, their storage answers. Pause wins: an override set while paused waits.",
			"`parallelism` for all vertices, or `vertices` with a size per vertex id or exact name; " + period, []string{
				`{"parallelism": 4, "for": "1 h", "by": "ann", "reason": "sale"}`, `{"vertices": {"Source: orders": 4, "enrich": 12}}`,
			}},
		{workflows.MsgClearOverride, "End an override: the size is decided by the policy again.", "", []string{"", `{"by": "ann"}`}},
		{workflows.MsgUndo, "Go back to the size before the last change of ours that had an effect (`applied` or `partial`; the one under way, if there is one), as an override with an end. The answer says what will change, and which vertices are gone or were changed since. With nothing to undo, or to a size that Flink cannot run, it is refused with the reason.",
			period + "; an hour where neither is given", []string{"", `{"by": "ann", "reason": "the sink cannot keep up", "for": "8 h"}`}},
		{workflows.MsgApprove, "Say yes to a change that waits for it ([`job.autoscaler.approval.for`](policy.md)). The job is looked at anew, and what that asks for is carried out at once, no farther than was approved: up to 6 stays 6 where 9 are wanted by now, and 5 where 5 are enough. Vertices that the proposal does not name, and what is wanted beyond it, are a new proposal after the change; so is another direction, a size that has failed meanwhile, or a change without any vertex that is outside of its bounds. When nothing is wanted any more the proposal is withdrawn. A yes holds for `approval.deadline`. What was rejected can still be approved while the no holds, and so can the last three proposals that a grown one replaced, until their deadlines; with several answers the last one counts.",
			"`decision`, the proposal's id as `status` shows it", []string{`{"decision": "42-1796040000", "by": "ann"}`}},
		{workflows.MsgReject, "Say no to a change that waits for a yes, or that was approved and is not carried out yet; of several the one that waits. The same, or less in the same direction, is not proposed again for `approval.quiet`.",
			"`decision`, the proposal's id as `status` shows it", []string{`{"decision": "42-1796040000", "by": "bob", "reason": "not before the release"}`}},
		{workflows.MsgSetPolicy, "Set [policy keys](policy.md) of a running job, above all other layers. Keys that are not named stay as they are; `null` takes back what was set like this. The whole policy is checked: with any problem that this would bring, all are listed and nothing changes. The answer says for each key that is in force otherwise: before, after, and the layer it comes from.",
			"`policy`, an object of keys with text, numbers, booleans or `null`, at most 100 keys and 16 KiB over all such messages; " + period + ", for the keys that are named", []string{
				`{"policy": {"job.autoscaler.vertex.max-parallelism": "40"}, "by": "ann", "reason": "sale"}`,
				`{"policy": {"job.autoscaler.scaling.enabled": false}, "for": "2 h"}`,
				`{"policy": {"job.autoscaler.vertex.max-parallelism": null}}`,
			}},
		{workflows.MsgEvaluateNow, "Look and decide now instead of at the next cycle.", "", []string{""}},
	}
}

type entry struct{ name, meaning string }

func queries() []entry {
	return []entry{
		{workflows.QueryStatus, "what it does now, and why: state, reason, vertices with size, load and lag, orders in force, the proposal that waits for an answer, the last rescale, the next evaluation"},
		{workflows.QueryExplain, "the last decision with its arithmetic, as lines of text, and the proposal that waits"},
		{workflows.QueryHistory, "the last 50 decisions, 20 rescales and 50 orders, oldest first; equal holds in a row are one entry with a count; of an order who gave it, until when, and how it ended; proposals are among them"},
		{workflows.QueryPolicy, "every policy key with its value and where it comes from; of those set by message also by whom and until when"},
	}
}

func states() []entry {
	return []entry{
		{string(workflows.Starting), "nothing was seen yet"},
		{string(workflows.Watching), "all is well, or a change waits for its time"},
		{string(workflows.Rescaling), "a rescale is under way"},
		{string(workflows.Awaiting), "a change waits for a person's yes: see `approve` and `reject`"},
		{string(workflows.Paused), "an operator wants no changes"},
		{string(workflows.Blocked), "held for a reason that may need a look: see [reasons](reasons.md)"},
		{string(workflows.JobGone), "there is no such job now; it is looked for more and more rarely, at most every 10 min, and carried on when it comes back"},
	}
}

func attributes() [][]string {
	return [][]string{
		{code(workflows.AttrCluster), "Keyword", "the cluster's name"},
		{code(workflows.AttrState), "Keyword", "the state, as above"},
		{code(workflows.AttrParallelism), "Int", "parallelism of the largest vertex"},
		{code(workflows.AttrLastRescale), "Datetime", "when the last rescale ended"},
	}
}

// messagesPage makes the page of what operators can say and ask.
func messagesPage(root string) (string, error) {
	if err := complete(root); err != nil {
		return "", err
	}
	p := newPage("Workflows, messages and queries")
	p.table([]string{"workflow type", "workflow id", "what it is"}, [][]string{
		{code(workflows.ScaleName), "`flink/<cluster>/<job>`", "manages one Flink job until it is ended; its task queue is `" + workflows.TaskQueue + "` unless the worker's configuration says otherwise"},
		{code(workflows.RescaleName), "`flink-rescale/<cluster>/flink/<job name in Flink>`", "carries out one change; started by the other, never by hand"},
		{code(workflows.ShareName), "`flink-slots/<cluster>`", "shares the slots of a cluster among jobs that grow, where the worker's configuration limits them; started by the others, ends by itself; its query `" + workflows.QuerySlots + "` says who grows, who waits and why, see [operations](../operations.md)"},
	})
	p.section("Input")
	p.say(`One JSON object. Unknown fields and bad values fail the workflow at once with every problem listed by its path. Starting a workflow that runs changes nothing: the new input is ignored.`)
	p.table([]string{"field", "meaning"}, [][]string{
		{"`cluster`", "the cluster's name in the worker's configuration; addresses and credentials stay there"},
		{"`job`", "your name for the job, stable for good"},
		{"`target`", "optional: `{\"flink\": {\"jobName\": \"orders\"}}`, the job's name in Flink; without it that is `job`"},
		{"`policy`", "optional: [policy keys](policy.md) as text, numbers or booleans"},
	})
	p.block("json", `{"cluster": "dev", "job": "orders",
 "target": {"flink": {"jobName": "Orders v2"}},
 "policy": {"job.autoscaler.metrics.window": "5 min", "job.autoscaler.vertex.max-parallelism": "40"}}`)
	p.section("Messages")
	p.say("Each is a signal and an update of the same name. An update is checked and answered, and leaves no trace when it is refused; a signal is not: a malformed one does nothing and is shown in `status` under `rejectedSignals`. Every message takes `by`, `reason` (at most 200 bytes each) and `id`: a repeated id has one effect (for updates it is the update's id). A JSON string that holds JSON is read as that JSON.")
	for _, m := range Messages() {
		p.WriteString("### " + m.Name + "\n\n")
		p.say(m.Meaning)
		if m.Fields != "" {
			p.say("Fields: " + m.Fields + ".")
		}
		var lines []string
		for _, e := range m.Examples {
			lines = append(lines, commandFor(m.Name, e))
		}
		p.block("sh", strings.Join(lines, "\n"))
	}
	p.section("Queries")
	p.table([]string{"query", "answer"}, rowsOf(queries()))
	p.section("States")
	p.table([]string{"state", "meaning"}, rowsOf(states()))
	p.section("Search attributes")
	p.say("Set when the worker's `searchAttributes` is true, and only when they change. Register them first; see [operations](../operations.md).")
	p.table([]string{"name", "type", "value"}, attributes())
	return p.text(), nil
}

// commandFor sends a message with the temporal CLI.
func commandFor(name, payload string) string {
	s := "temporal workflow signal --workflow-id flink/dev/orders --name " + name
	if payload != "" {
		s += " --input '" + payload + "'"
	}
	return s
}

func rowsOf(list []entry) [][]string {
	var out [][]string
	for _, e := range list {
		out = append(out, []string{code(e.name), e.meaning})
	}
	return out
}

// complete makes sure that every name in workflows/names.go has its row.
func complete(root string) error {
	known := []string{workflows.ScaleName, workflows.RescaleName, workflows.ShareName, workflows.TaskQueue}
	for _, m := range Messages() {
		known = append(known, m.Name)
	}
	for _, q := range queries() {
		known = append(known, q.name)
	}
	for _, a := range attributes() {
		known = append(known, strings.Trim(a[0], "`"))
	}
	names, err := constants(filepath.Join(root, "workflows", "names.go"))
	if err != nil {
		return err
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return fmt.Errorf("%q of workflows/names.go is on no page; describe it in internal/docgen/reference/messages.go", n)
		}
	}
	if len(names) < len(known) {
		return fmt.Errorf("workflows/names.go has %d names, the page %d", len(names), len(known))
	}
	return nil
}

// constants gives the values of all text constants of a file.
func constants(file string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, err
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
		return true
	})
	return out, nil
}
