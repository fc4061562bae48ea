package reference

import (
	"os"
	"path/filepath"
	"strings"

	"flinkscaler/core"
)

// CommandsPage is the one page that Pages leaves out: it is made of the help
// of a built program.
const CommandsPage = "docs/reference/cli.md"

// mark is the first line of every page.
const mark = "<!-- Made from the code by `make generate`; not to be edited. -->\n\n"

// Pages makes every page but the one of the commands, by its path from the
// root of the checkout.
func Pages(root string) (map[string]string, error) {
	metrics, err := metricsPage()
	if err != nil {
		return nil, err
	}
	messages, err := messagesPage(root)
	if err != nil {
		return nil, err
	}
	worker, err := workerPage(root)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"docs/differences.md":        differencesPage(),
		"docs/reference/policy.md":   policyPage(),
		"docs/reference/reasons.md":  reasonsPage(),
		"docs/reference/messages.md": messages,
		"docs/reference/metrics.md":  metrics,
		"docs/reference/events.md":   eventsPage(),
		"docs/reference/worker.md":   worker,
	}, nil
}

// cell keeps a text from breaking a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(s)
}

// code is a text in code type, or nothing.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

// page collects the text of a page.
type page struct{ strings.Builder }

func newPage(title string) *page {
	p := &page{}
	p.WriteString(mark + "# " + title + "\n\n")
	return p
}

// say writes paragraphs.
func (p *page) say(text string) { p.WriteString(strings.TrimSpace(text) + "\n\n") }

func (p *page) section(title string) { p.WriteString("## " + title + "\n\n") }

// table writes a table; the cells are Markdown.
func (p *page) table(head []string, rows [][]string) {
	p.row(head)
	p.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, r := range rows {
		p.row(r)
	}
	p.WriteString("\n")
}

func (p *page) row(cells []string) { p.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

// block writes text in a code block.
func (p *page) block(language, text string) {
	p.WriteString("```" + language + "\n" + strings.TrimRight(text, "\n") + "\n```\n\n")
}

func (p *page) text() string { return strings.TrimRight(p.String(), "\n") + "\n" }

func reasonsPage() string {
	p := newPage("Reasons and outcomes")
	p.say("Every decision has one reason of this closed set; the last one is in `status`, the arithmetic in `explain`, all of them in `history`. Whatever is in doubt is a hold: the job stays as it is.")
	changes := map[core.Reason]bool{core.ReasonScaleUp: true, core.ReasonScaleDown: true, core.ReasonOverride: true}
	for _, part := range []struct {
		title  string
		change bool
	}{{"Reasons of a change", true}, {"Reasons of a hold", false}} {
		var rows [][]string
		for _, r := range core.Reasons() {
			if changes[r.Reason] == part.change {
				rows = append(rows, []string{code(string(r.Reason)), cell(r.Meaning), cell(r.Do)})
			}
		}
		p.section(part.title)
		p.table([]string{"reason", "what it says", "what to do"}, rows)
	}
	p.section("Outcomes of a rescale")
	p.say("A rescale always ends as one of these, judged by what Flink shows and not by what it answered.")
	var rows [][]string
	for _, o := range outcomes() {
		rows = append(rows, []string{code(string(o.kind)), o.meaning, o.next})
	}
	p.table([]string{"outcome", "what it says", "what comes next"}, rows)
	return p.text()
}

type outcome struct {
	kind          core.OutcomeKind
	meaning, next string
}

func outcomes() []outcome {
	return []outcome{
		{core.Applied, "every vertex runs at the wanted size", "the next decision, on fresh evidence"},
		{core.Partial, "the job runs, but not every vertex at the wanted size: mostly slots are missing, or somebody else changed the requirements", "a wait of `job.autoscaler.rescale.backoff`"},
		{core.Rejected, "nothing was written, or Flink refused it; the reason says which check said no", "a wait of two intervals at most where nothing was written, else of `job.autoscaler.rescale.backoff`"},
		{core.Undone, "an alarm: the job was not well after the change, and the size before runs again", "see the note; a wait of `job.autoscaler.rescale.backoff`; the size is not tried again for a while"},
		{core.Failed, "an alarm: after the write the job is not well, or Flink could not tell until the deadline", "look at the job; a wait of `job.autoscaler.rescale.backoff`"},
	}
}

func workerPage(root string) (string, error) {
	example, err := os.ReadFile(filepath.Join(root, "examples", "worker-full.yaml"))
	if err != nil {
		return "", err
	}
	p := newPage("Configuration of the worker")
	p.say("`flinkscaler-worker --config FILE`, or the file named by `FLINKSCALER_CONFIG`. `flinkscaler-worker --check --config FILE` checks it and connects to nothing. Every problem is listed at once with its path; an unknown key is one. What follows is [examples/worker-full.yaml](../../examples/worker-full.yaml), which a test loads.")
	p.block("yaml", string(example))
	p.section("Exit codes")
	p.table([]string{"code", "meaning"}, [][]string{
		{"0", "ended by SIGINT or SIGTERM; running activities got `limits.stopTimeout` to finish"},
		{"1", "a failure, or a second signal"},
		{"2", "the configuration or the command line is wrong"},
	})
	p.section("Evaluate by hand")
	p.say("`flinkscaler-worker evaluate --config FILE --cluster CLUSTER --job JOB` prints what would be decided for a job of one of these clusters, and why. It changes nothing and needs no Temporal. Its [help](cli.md) has the rest. Exit codes: 0 for a decision, hold or change; 1 when the job cannot be looked at, or the last look failed; 2 when the command line, the configuration, a file or the policy is wrong, whoever gave that.")
	p.section("Endpoints of http.listen")
	p.table([]string{"path", "answer"}, [][]string{
		{"`/healthz`", "200 while the process lives"},
		{"`/readyz`", "200 while it works and Temporal answers; else 503 with the reason"},
		{"`/metrics`", "Prometheus: see [metrics](metrics.md)"},
	})
	return p.text(), nil
}

// Command is one command with its help.
type Command struct{ Name, Help string }

// Commands makes the page of the operators' command.
func Commands(top string, commands []Command) string {
	p := newPage("The command flinkscaler")
	p.say("`make build` makes it: `bin/flinkscaler`. It talks to Temporal alone, never to Flink, and needs no configuration of its own.")
	p.block("text", top)
	for _, c := range commands {
		p.section("flinkscaler " + c.Name)
		p.block("text", c.Help)
	}
	return p.text()
}
