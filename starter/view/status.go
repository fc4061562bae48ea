package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

// DefaultWidth is used where there is no terminal to ask.
const DefaultWidth = 100

// Render writes one job's status for a person, plain, at most width characters
// wide. It is the simple form of Frame.
func Render(w io.Writer, s workflows.Status, width int) error {
	return Frame{Now: time.Now(), Width: width}.Render(w, s)
}

// Frame is how a status is drawn.
type Frame struct {
	Now    time.Time
	Width  int
	Colour Palette
	// Load and Lag are earlier values, oldest first, drawn as bars; NaN where
	// there was none.
	Load, Lag []float64
	// Trouble says why the status is old, empty when it is not.
	Trouble string
	// Rescale is how far the rescale is that is under way, nil when not known.
	Rescale *Progress
	// NoteLines is how many lines the note takes at least.
	NoteLines int
}

// Render writes the status.
func (f Frame) Render(w io.Writer, s workflows.Status) error {
	if f.Width <= 0 {
		f.Width = DefaultWidth
	}
	var b strings.Builder
	f.head(&b, s)
	f.load(&b, s)
	if len(s.Vertices) > 0 {
		b.WriteByte('\n')
		if err := f.vertices(&b, s); err != nil {
			return err
		}
	}
	b.WriteByte('\n')
	for _, line := range f.orders(s) {
		f.text(&b, line)
	}
	for _, line := range f.rescales(s) {
		f.text(&b, line)
	}
	f.text(&b, f.next(s))
	_, err := io.WriteString(w, b.String())
	return err
}

// head is the job, its state and why.
func (f Frame) head(b *strings.Builder, s workflows.Status) {
	fmt.Fprintf(b, "%s  %s", f.Colour.Bold(Clean(s.Cluster+"/"+s.Job)), f.Colour.State(s.State, string(s.State)))
	if s.Reason != "" && string(s.Reason) != string(s.State) {
		fmt.Fprintf(b, "  %s", s.Reason)
	}
	if !s.Since.IsZero() {
		fmt.Fprintf(b, " for %s", Ago(s.Since, f.Now))
	}
	b.WriteByte('\n')
	for _, line := range Wrap(Clean(f.Trouble), f.Width-len(indent)) {
		b.WriteString(indent + f.Colour.paint(red, line) + "\n")
	}
	b.WriteString(strings.Repeat("\n", max(0, f.NoteLines-f.text(b, s.Note))))
	if do := advice(s); do != "" {
		f.text(b, "what to do: "+do)
	}
}

// advice is what the reference says that an operator can do about the reason.
func advice(s workflows.Status) string {
	if s.State != workflows.Blocked && s.State != workflows.JobGone && s.State != workflows.Awaiting {
		return ""
	}
	for _, r := range core.Reasons() {
		if r.Reason == s.Reason {
			return r.Do
		}
	}
	return ""
}

// sparkWidth is how many earlier values are drawn at most; in a narrow window
// there are fewer, so that the line with them does not wrap.
const sparkWidth = 20

// load is the whole job in one line.
func (f Frame) load(b *strings.Builder, s workflows.Status) {
	load := "load " + f.spark(f.Load, 1) + Reading(Load(s), Percent)
	lag := "lag " + f.spark(f.Lag, 1) + Reading(s.Lag, Count)
	if seconds, ok := s.LagSeconds.Value(); ok {
		lag += " (" + Seconds(seconds) + ")"
	}
	f.text(b, strings.Join([]string{load, lag, Reading(s.Rate, Count) + " records/s", "parallelism " + Parallelism(s)}, " | "))
	if s.FlinkJobID != "" {
		job := "Flink job " + s.FlinkJobID
		if s.FlinkVersion != "" {
			job += ", Flink " + s.FlinkVersion
		}
		if s.Means != nil && s.Means.Method != "" {
			job += ", changed by " + s.Means.Method
		}
		f.text(b, job)
	}
}

func (f Frame) spark(values []float64, top float64) string {
	if len(values) < 2 {
		return ""
	}
	const besides = 70 // the line without its two sparks, at its longest
	width := min(sparkWidth, (f.Width-besides)/2)
	if width < 2 {
		return ""
	}
	return Spark(values, width, top) + " "
}

// Parallelism is that of the largest vertex, None as long as none is known.
func Parallelism(s workflows.Status) string {
	if s.Parallelism == 0 {
		return None
	}
	return strconv.Itoa(s.Parallelism)
}

// Load is the share of busy time of the busiest vertex.
func Load(s workflows.Status) core.Reading {
	var most core.Reading
	for _, v := range s.Vertices {
		if x, ok := v.Load.Value(); ok && x >= most.Or(x) {
			most = v.Load
		}
	}
	return most
}

func (f Frame) vertices(b *strings.Builder, s workflows.Status) error {
	const widestName = 40
	t := Table{Width: f.Width, Indent: indent, Columns: []Column{
		{Title: "VERTEX", Max: widestName}, {Title: "PARALLELISM", Align: Right}, {Title: "LOAD", Align: Right},
		{Title: "RECORDS/S", Align: Right}, {Title: "COULD DO", Align: Right}, {Title: "LAG", Align: Right}, {Title: "WHY"},
	}}
	const loadColumn = 2
	t.Style = func(row, column int, text string) string {
		if column == loadColumn {
			return f.Colour.load(s.Vertices[row].Load, text)
		}
		return text
	}
	for _, v := range s.Vertices {
		t.Row(v.Name, sizeCell(v, s.Rescale), Reading(v.Load, Percent), Reading(v.Rate, Count), Reading(v.TrueRate, Count), Reading(v.Lag, Count), string(v.Why))
	}
	_, err := t.WriteTo(b)
	return err
}

// sizeCell shows "4 → 6" while a rescale is under way, "4 (wants 6)" when a
// change is wanted but not made.
func sizeCell(v workflows.VertexStatus, open *workflows.OpenRescale) string {
	if open != nil {
		if to, ok := core.FindSize(open.Wanted, v.ID); ok && to != v.Parallelism {
			return fmt.Sprintf("%d → %d", v.Parallelism, to)
		}
		return fmt.Sprint(v.Parallelism)
	}
	if v.Wanted != 0 && v.Wanted != v.Parallelism {
		return fmt.Sprintf("%d (wants %d)", v.Parallelism, v.Wanted)
	}
	return fmt.Sprint(v.Parallelism)
}

// orders says what operators ordered, and what of it was refused.
func (f Frame) orders(s workflows.Status) []string {
	var out []string
	if p := s.Pause; p != nil {
		out = append(out, "paused"+who(p.By, p.Reason)+f.span(p.Since, p.Until))
	}
	if o := s.Override; o != nil {
		out = append(out, "override "+overrideSizes(o, s)+who(o.By, o.Reason)+f.span(o.Since, o.Until))
	}
	out = append(out, f.proposals(s)...)
	if a := s.Slots; a != nil {
		out = append(out, fmt.Sprintf("waits for %d slots: %s", a.SlotsWish.Slots, Clean(a.Standing())))
	}
	for _, k := range s.Set {
		out = append(out, fmt.Sprintf("policy %s = %s, set", k.Key, k.Value)+who(k.By, k.Reason)+f.span(k.Since, k.Until))
	}
	if n := len(s.Rejected); n > 0 {
		r := s.Rejected[n-1]
		var problems []string
		for _, p := range r.Problems {
			problems = append(problems, p.String())
		}
		out = append(out, fmt.Sprintf("refused signal %s %s ago, %d in all: %s", r.Message, Ago(r.At, f.Now), max(s.Refused, n), strings.Join(problems, "; ")))
	}
	return out
}

// proposals says what waits for a yes, and what was answered lately.
func (f Frame) proposals(s workflows.Status) []string {
	var out []string
	if p := s.Proposal; p != nil {
		then := "rejected"
		if p.Apply {
			then = "carried out"
		}
		out = append(out, fmt.Sprintf("proposal %s waits for approve or reject, for %s more, then it is %s: %s", p.ID, Duration(max(0, p.Deadline.Sub(f.Now)).Truncate(time.Second)), then, proposed(*p, s)))
	}
	if a := s.Approval; a != nil {
		out = append(out, fmt.Sprintf("approved %s: %s", a.Proposal.ID, proposed(a.Proposal, s))+who(a.By, a.Reason)+f.span(a.At, a.Until))
	}
	for _, a := range s.Rejections {
		out = append(out, fmt.Sprintf("rejected %s: %s", a.Proposal.ID, proposed(a.Proposal, s))+who(a.By, a.Reason)+f.span(a.At, a.Until))
	}
	return out
}

func proposed(p core.Proposal, s workflows.Status) string {
	return Changes(core.Outcome{From: p.From, Wanted: p.To}, s.Vertices)
}

func overrideSizes(o *core.Override, s workflows.Status) string {
	if o.Parallelism != 0 {
		return fmt.Sprintf("to %d everywhere", o.Parallelism)
	}
	var parts []string
	for _, v := range o.Vertices {
		parts = append(parts, fmt.Sprintf("%s to %d", Name(v.ID, s.Vertices), v.Parallelism))
	}
	return strings.Join(parts, ", ")
}

// Name is the name of the vertex with that id, else the beginning of the id.
func Name(id string, vertices []workflows.VertexStatus) string {
	for _, v := range vertices {
		if v.ID == id && v.Name != "" {
			return v.Name
		}
	}
	const hexID, short = 32, 8
	if len(id) == hexID {
		return id[:short]
	}
	return id
}

func who(by, reason string) string {
	text := ""
	if by != "" {
		text += " by " + by
	}
	if reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

func (f Frame) span(since, until time.Time) string {
	text := ", " + Ago(since, f.Now) + " ago"
	if until.IsZero() {
		return text + ", until further notice"
	}
	return text + ", for " + Duration(max(0, until.Sub(f.Now)).Truncate(time.Second)) + " more"
}

// rescales says what is being changed, and how the last change ended.
func (f Frame) rescales(s workflows.Status) []string {
	var out []string
	if r := s.Rescale; r != nil {
		line := fmt.Sprintf("rescale %d under way for %s", r.Attempt, Ago(r.Since, f.Now))
		if text := f.Rescale.Text(); text != "" {
			line += ": " + text + f.Rescale.patience(f.Now)
		}
		out = append(out, line)
	}
	if o := s.LastRescale; o != nil {
		line := fmt.Sprintf("last rescale (%d) %s %s ago", o.Attempt, o.Kind, Ago(o.EndedAt, f.Now))
		if changes := Changes(*o, s.Vertices); changes != "" {
			line += ": " + changes
		}
		if o.Note != "" {
			line += "; " + o.Note
		}
		out = append(out, line)
	}
	if s.RetryAfter.After(f.Now) {
		out = append(out, fmt.Sprintf("the next rescale may start in %s", Duration(s.RetryAfter.Sub(f.Now).Truncate(time.Second))))
	}
	return out
}

// Changes lists the vertices that a rescale was to change: "Map 4 → 6", with
// what it came to when that is something else.
func Changes(o core.Outcome, vertices []workflows.VertexStatus) string {
	var parts []string
	for _, want := range o.Wanted {
		from, ok := core.FindSize(o.From, want.ID)
		if ok && from == want.Parallelism {
			continue
		}
		part := fmt.Sprintf("%s %d → %d", Name(want.ID, vertices), from, want.Parallelism)
		if got, ok := core.FindSize(o.Got, want.ID); ok && got != want.Parallelism {
			part += fmt.Sprintf(" (runs at %d)", got)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func (f Frame) next(s workflows.Status) string {
	every := s.Interval
	if d, err := time.ParseDuration(s.Interval); err == nil {
		every = Duration(d)
	}
	text := fmt.Sprintf("every %s; cycle %d, run %d", every, s.Cycle, s.Runs)
	switch wait := s.NextEvaluation.Sub(f.Now); {
	case s.NextEvaluation.IsZero():
		return "next evaluation " + text
	case wait > 0:
		return "next evaluation in " + Duration(wait.Truncate(time.Second)) + ", " + text
	}
	return "evaluating, " + text
}

const indent = "  "

// text writes a line, wrapped, indented and clean, and gives the number of
// lines that it took.
func (f Frame) text(b *strings.Builder, s string) int {
	lines := Wrap(Clean(s), f.Width-len(indent))
	for _, line := range lines {
		b.WriteString(indent + line + "\n")
	}
	return len(lines)
}
