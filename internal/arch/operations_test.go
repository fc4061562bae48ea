package arch

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"flinkscaler/core"
	"flinkscaler/core/event"
	"flinkscaler/internal/docgen/reference"
)

const (
	messagesPage = "docs/operations/messages.md"
	alarmsPage   = "docs/operations/alarms.md"
	alertRules   = "deploy/prometheus-rules.yaml"
)

// headings gives the headings of a page at a level.
func headings(text string, level int) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^(#+) (.+)$`).FindAllStringSubmatch(text, -1) {
		if len(m[1]) == level {
			out = append(out, m[2])
		}
	}
	return out
}

// part is the text below a heading, up to the next one that is not below it.
func part(text, heading string) string {
	_, rest, ok := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !ok {
		return ""
	}
	level := strings.Count(strings.SplitN(heading, " ", 2)[0], "#")
	if end := regexp.MustCompile(fmt.Sprintf(`(?m)^#{1,%d} `, level)).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return strings.TrimSpace(rest)
}

// messageProblems are the messages without a section or without an example for
// each tool, and the sections of what is no message.
func messageProblems(page string, names []string) []string {
	var out []string
	for _, name := range names {
		section := part(page, "## "+name)
		for _, how := range []string{
			"flinkscaler " + name + " ", "temporal workflow update execute --workflow-id flink/dev/orders --name " + name,
			"temporal workflow signal --workflow-id flink/dev/orders --name " + name, "tctl workflow signal --wid flink/dev/orders --name " + name,
		} {
			if !strings.Contains(section, how) {
				out = append(out, fmt.Sprintf("%s has no example with: %s", name, how))
			}
		}
		if strings.Count(section, "\n- ") < 1 {
			out = append(out, name+" does not say what it answers or how it ends")
		}
	}
	for _, h := range headings(page, 2) {
		if !slices.Contains(names, h) {
			out = append(out, h+" is no message")
		}
	}
	return out
}

func TestEachMessageHasItsSection(t *testing.T) {
	t.Parallel()
	var names []string
	for _, m := range reference.Messages() {
		names = append(names, m.Name)
	}
	if len(names) < 9 {
		t.Fatalf("only %v", names)
	}
	page := read(t, messagesPage)
	if got := messageProblems(page, names); len(got) > 0 {
		t.Errorf("%s:\n%s", messagesPage, strings.Join(got, "\n"))
	}
	for why, breach := range map[string]string{
		"a section that is gone":  strings.Replace(page, "## undo\n", "## redo\n", 1),
		"an example that is gone": strings.Replace(page, "tctl workflow signal --wid flink/dev/orders --name undo", "", 1),
	} {
		if len(messageProblems(breach, names)) == 0 {
			t.Errorf("%s is not found", why)
		}
	}
}

// alarming are the reasons that need a person.
func alarming() []core.Reason {
	out := event.Failures()
	for _, r := range core.Reasons() {
		if r.Do != "" && !slices.Contains(out, r.Reason) {
			out = append(out, r.Reason)
		}
	}
	return out
}

// alarmProblems are the alarms without a section, and sections of what is no
// reason.
func alarmProblems(page string) []string {
	const enough = 60 // characters, less says nothing
	var out []string
	for _, r := range alarming() {
		if len(part(page, fmt.Sprintf("### `%s`", r))) < enough {
			out = append(out, string(r)+" needs a section that says what it means and what to do")
		}
	}
	for _, kind := range []core.OutcomeKind{core.Failed, core.Undone, core.Partial, core.Rejected} {
		if len(part(page, "### "+string(kind))) < enough {
			out = append(out, "the outcome "+string(kind)+" needs a section")
		}
	}
	for _, h := range headings(page, 3) {
		reason := core.Reason(strings.Trim(h, "`"))
		if strings.HasPrefix(h, "`") && !slices.Contains(alarming(), reason) {
			out = append(out, h+" is no reason that needs a person")
		}
	}
	return out
}

func TestEachAlarmHasItsSection(t *testing.T) {
	t.Parallel()
	if n := len(alarming()); n < 35 {
		t.Fatalf("only %d alarming reasons", n)
	}
	page := read(t, alarmsPage)
	if got := alarmProblems(page); len(got) > 0 {
		t.Errorf("%s:\n%s", alarmsPage, strings.Join(got, "\n"))
	}
	for why, breach := range map[string]string{
		"a section that is gone":  strings.Replace(page, "### `degraded`", "### `downgraded`", 1),
		"a section that is empty": strings.Replace(page, part(page, "### `degraded`"), "", 1),
		"an outcome that is gone": strings.Replace(page, "### failed", "### ailed", 1),
	} {
		if len(alarmProblems(breach)) == 0 {
			t.Errorf("%s is not found", why)
		}
	}
}

// ruleFile is a file of alert rules.
type ruleFile struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

// ruleProblems holds rules against what there is: metrics, labels, reasons,
// outcomes, and the section that tells what to do.
func ruleProblems(t *testing.T, text string) (problems []string, rules int) {
	t.Helper()
	var file ruleFile
	if err := yaml.UnmarshalStrict([]byte(text), &file); err != nil {
		return []string{err.Error()}, 0
	}
	metrics := read(t, "docs/reference/metrics.md")
	seen := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			rules++
			bad := func(format string, args ...any) {
				problems = append(problems, r.Alert+": "+fmt.Sprintf(format, args...))
			}
			if seen[r.Alert] || r.Alert == "" {
				bad("has no name of its own")
			}
			seen[r.Alert] = true
			if !slices.Contains([]string{"info", "warning", "critical"}, r.Labels["severity"]) {
				bad("severity %q", r.Labels["severity"])
			}
			if r.Annotations["summary"] == "" {
				bad("has no summary")
			}
			named := regexp.MustCompile(`\b(flink_autoscaler|temporal)_\w+`).FindAllString(r.Expr, -1)
			if len(named) == 0 {
				bad("asks no metric")
			}
			for _, m := range named {
				if !strings.Contains(metrics, "`"+m+"`") {
					bad("there is no metric %s", m)
				}
			}
			for _, m := range regexp.MustCompile(`\b(reason|outcome|result)=~?"([^"]+)"`).FindAllStringSubmatch(r.Expr, -1) {
				for value := range strings.SplitSeq(m[2], "|") {
					if !slices.Contains(labelValues(m[1]), value) {
						bad("there is no %s %s", m[1], value)
					}
				}
			}
			file, anchor, _ := strings.Cut(r.Annotations["runbook"], "#")
			if file != path.Clean(alarmsPage) || !slices.Contains(anchors(read(t, alarmsPage)), anchor) {
				bad("there is no runbook %q", r.Annotations["runbook"])
			}
		}
	}
	return problems, rules
}

func labelValues(label string) []string {
	var out []string
	switch label {
	case "reason":
		for _, r := range core.Reasons() {
			out = append(out, string(r.Reason))
		}
	case "outcome":
		for _, k := range []core.OutcomeKind{core.Applied, core.Partial, core.Rejected, core.Undone, core.Failed} {
			out = append(out, string(k))
		}
	case "result":
		out = []string{"done", "refused"}
	}
	return out
}

// anchors are those that a page's headings get.
func anchors(text string) []string {
	var out []string
	for level := 1; level <= 4; level++ {
		for _, h := range headings(text, level) {
			h = regexp.MustCompile("[^a-z0-9 _-]").ReplaceAllString(strings.ToLower(h), "")
			out = append(out, strings.ReplaceAll(h, " ", "-"))
		}
	}
	return out
}

func TestAlertRulesAskWhatThereIs(t *testing.T) {
	t.Parallel()
	text := read(t, alertRules)
	problems, rules := ruleProblems(t, text)
	if rules < 10 || len(problems) > 0 {
		t.Errorf("%s, %d rules:\n%s", alertRules, rules, strings.Join(problems, "\n"))
	}
	for why, breach := range map[string][2]string{
		"an unknown metric":  {"flink_autoscaler_rescales_total", "flink_autoscaler_rescale_total"},
		"an unknown reason":  {"no-slots|degraded", "no-slot|degraded"},
		"an unknown outcome": {`outcome="failed"`, `outcome="broken"`},
		"no such runbook":    {"#no-decision", "#no-indecision"},
		"a mistyped field":   {"annotations:", "anotations:"},
		"no severity":        {"severity: critical", "severity: loud"},
	} {
		if got, _ := ruleProblems(t, strings.ReplaceAll(text, breach[0], breach[1])); len(got) == 0 {
			t.Errorf("%s is not found", why)
		}
	}
}
