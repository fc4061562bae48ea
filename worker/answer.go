package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
)

// answer is what an evaluation came to.
type answer struct {
	Cluster      string `json:"cluster"`
	Job          string `json:"job"`
	FlinkJobID   string `json:"flinkJobId,omitempty"`
	FlinkVersion string `json:"flinkVersion,omitempty"`
	// Looks were taken From the first To the last, on the JobManager's clock.
	Looks    int           `json:"looks"`
	From     time.Time     `json:"from"`
	To       time.Time     `json:"to"`
	Decision core.Decision `json:"decision"`
	// Text is the decision for people, a line each.
	Text []string `json:"text"`
	// Turns are the decisions that came to something else than the one before.
	Turns []turn `json:"turns"`
	// Policy is what was obeyed, Problems what is wrong with it.
	Policy   []policy.Origin `json:"policy"`
	Problems []core.Problem  `json:"problems,omitempty"`
	// Notes say what this cannot know.
	Notes []string `json:"notes,omitempty"`
}

func (e *evaluation) answer() answer {
	s := e.last
	return answer{
		Cluster: e.key.Cluster, Job: e.key.Job, FlinkJobID: s.Job.ID, FlinkVersion: s.Job.FlinkVersion,
		Looks: e.looks, From: e.first.Sample.At, To: s.Sample.At, Decision: s.Decision,
		Text:  strings.Split(strings.TrimRight(s.Decision.Text(s.Topology, s.Policy.Terms()), "\n"), "\n"),
		Turns: e.turns, Policy: s.Origins, Problems: s.Problems, Notes: e.notes(),
	}
}

// notes say what the answer cannot know, and what would let it.
func (e *evaluation) notes() []string {
	var out []string
	if e.interrupted {
		out = append(out, "interrupted: this is what is known so far")
	}
	live, d := e.look != nil, e.last.Decision
	switch {
	case e.last.Sample.Fault != "":
		return append(out, e.faulty())
	case e.judged() && d.Verdict == core.Change:
		return append(out, "a workflow would begin this rescale now; here nothing was changed")
	case e.judged() || d.Reason == core.ReasonPolicyInvalid || d.Reason == core.ReasonInternal:
		return out
	case live && e.looks == 1 && e.span == 0:
		return append(out, fmt.Sprintf("one look: a rate is the difference of two, and %s; give --for %s", wants(e.last), enough(e.last)),
			"on less evidence it would be: --for 3min --every 10s --policy metrics.window=2min --policy stabilization.interval=0s")
	case live:
		return append(out, fmt.Sprintf("the window could not be judged: %s; --for %s is enough from now on, if nothing gets in between", wants(e.last), enough(e.last)))
	}
	if d.Reason != core.ReasonWindowNotFull && d.Reason != core.ReasonStabilizing {
		return out
	}
	return append(out, fmt.Sprintf("the recording ends before its last look can be judged: %s; --policy metrics.window=... asks for less", wants(e.last)))
}

// faulty says that the last look brought no sample, and what to do about it. How
// long it takes from here nobody knows.
func (e *evaluation) faulty() string {
	text := fmt.Sprintf("the last look brought nothing to judge: %s", e.last.Sample.Fault)
	if do := remedy(e.last.Sample.Fault); do != "" {
		text += "; " + do
	}
	return text
}

// print gives the answer in the form that is wanted.
func (q *question) print(a answer) error {
	if q.output == outputJSON {
		enc := json.NewEncoder(q.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	}
	_, err := io.WriteString(q.out, a.text(q.all))
	return err
}

// text is the answer for people.
func (a answer) text(all bool) string {
	var b strings.Builder
	say := func(format string, args ...any) { b.WriteString(printable(fmt.Sprintf(format, args...)) + "\n") }
	if a.FlinkJobID != "" {
		say("%s/%s, Flink job %s, Flink %s", a.Cluster, a.Job, a.FlinkJobID, a.FlinkVersion)
	} else {
		say("%s/%s", a.Cluster, a.Job)
	}
	if a.Looks == 1 {
		say("1 look at %s", stamp(a.To))
	} else {
		say("%d looks from %s to %s", a.Looks, stamp(a.From), stamp(a.To))
	}
	if all {
		say("")
		for _, t := range a.Turns {
			say("%s  %-6s  %-20s  %s", stamp(t.At), t.Verdict, t.Reason, spec.Cut(t.Note, 160))
		}
	}
	say("")
	for _, line := range a.Text {
		say("%s", line)
	}
	a.tellPolicy(say)
	for _, n := range a.Notes {
		say("note: %s", n)
	}
	return b.String()
}

// tellPolicy lists what is not built in: the rest is in the reference.
func (a answer) tellPolicy(say func(string, ...any)) {
	say("")
	given := 0
	for _, o := range a.Policy {
		if o.From == policy.BuiltIn {
			continue
		}
		note := ""
		if o.Note != "" {
			note = "; " + o.Note
		}
		say("policy: %s = %s (%s%s)", o.Key, o.Value, o.From, note)
		given++
	}
	if given == 0 {
		say("policy: every key is as built in")
	}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// printable takes out what a terminal would obey: a vertex' name must not be
// able to clear the screen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r == utf8.RuneError || !unicode.IsPrint(r)) {
			return ' '
		}
		return r
	}, s)
}
